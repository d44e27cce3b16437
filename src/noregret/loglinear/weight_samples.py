"""Weight vectors and how likely each is: draws around the first weights, or the points of a grid."""

import hashlib

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue

Floats = NDArray[np.float64]
MOST_POINTS = 1 << 16  # of a grid
MOST_CELLS = 1 << 27  # numbers in all samples together


class Samples:
    """A row of `points` for each weight vector and its log-weight; `resampled` counts how often they were replaced."""

    def __init__(self, points: Floats, log_weights: Floats, resampled: int = 0) -> None:
        self.points, self.log_weights, self.resampled = points, log_weights, resampled

    def copy(self) -> "Samples":
        return Samples(self.points.copy(), self.log_weights.copy(), self.resampled)

    def is_finite(self) -> bool:
        return bool(np.isfinite(self.points).all() and np.isfinite(self.log_weights).all())

    @property
    def weights(self) -> Floats:
        """The posterior probability of every sample."""
        return normalise(self.log_weights)

    @property
    def mean(self) -> Floats:
        """The posterior mean of the weights."""
        return np.asarray(self.weights @ self.points)


def normalise(log_weights: Floats) -> Floats:
    """Probabilities proportional to exp(log-weight)."""
    found = np.exp(log_weights - log_weights.max())
    return np.asarray(found / found.sum())


def effective_size(log_weights: Floats) -> float:
    """1 / sum of squares of the probabilities: how many samples of equal weight these are worth."""
    return float(1.0 / np.square(normalise(log_weights)).sum())


def draw_column(seed: int, name: str, samples: int) -> Floats:
    """Standard normal numbers for one feature; they depend on the seed and its name alone, so that learners agree."""
    key = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    words = np.frombuffer(key, np.uint32)[:4].tolist()
    return np.random.default_rng([seed, *words]).standard_normal(samples)


def add_draws(samples: Samples, seed: int, names: list[str], start: Floats, deviation: float) -> None:
    """Give every sample a weight for new features, drawn around their first weights."""
    size = samples.log_weights.size
    if size * (samples.points.shape[1] + len(names)) > MOST_CELLS:
        raise BadValue(f"bayesian_reranker keeps {size:,} samples of every weight, too many for so many features; "
                       "lower samples, or use fewer features")  # fmt: skip
    columns = [first + deviation * draw_column(seed, name, size) for name, first in zip(names, start, strict=True)]
    samples.points = np.column_stack([samples.points, *columns])


def add_grid(samples: Samples, start: Floats, deviation: float, points: int, width: float) -> None:
    """Every point of the grid with every value of the new features, weighed by its prior density."""
    steps = width * np.linspace(-1.0, 1.0, points)
    prior = np.log(normalise(-0.5 * steps**2))
    for first in start:
        size = samples.log_weights.size
        if size * points > MOST_POINTS:
            raise BadValue(f'bayesian_reranker with design="grid" has {points} values for every feature, more than '
                           f'{MOST_POINTS:,} points in all; use design="random", or fewer features')  # fmt: skip
        column = np.tile(first + deviation * steps, size)
        samples.points = np.column_stack([np.repeat(samples.points, points, axis=0), column])
        samples.log_weights = np.repeat(samples.log_weights, points) + np.tile(prior, size)


def resample(samples: Samples, seed: int, jitter: float) -> None:
    """Replace samples by draws among them, by their probabilities, each moved at random (Liu and West 2001).

    Draws are pulled towards the mean before they are moved, so that the mean and the variances stay what they are.
    """
    samples.resampled += 1
    random = np.random.default_rng([seed, samples.resampled])
    p, size = samples.weights, samples.log_weights.size
    chosen = np.searchsorted(np.cumsum(p), (random.random() + np.arange(size)) / size)
    mean = p @ samples.points
    deviation = np.sqrt(p @ np.square(samples.points - mean))
    kept = samples.points[np.minimum(chosen, size - 1)]
    noise = random.standard_normal(kept.shape) * deviation
    samples.points = mean + np.sqrt(1.0 - jitter**2) * (kept - mean) + jitter * noise
    samples.log_weights = np.zeros(size)
