"""The Gaussian density of a stream: mean and covariance of all rows so far, exact, and the log-loss of every row."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import all_finite
from noregret.data.inputs import RowsLike
from noregret.decomposition.base import Scored
from noregret.decomposition.density_learner import PRIOR, VARIANCE, DensityLearner
from noregret.decomposition.factors_file import read_array
from noregret.decomposition.gaussian_scores import LOG_TWO_PI, draw_rows, find_root
from noregret.decomposition.kept import Kept, keep
from noregret.decomposition.matrix_rows import FARTHEST, MatrixRows, row_dots, row_products
from noregret.decomposition.memory import require_sample_memory
from noregret.decomposition.parameters import batch_param
from noregret.decomposition.row_encoder import ROW_OPTIONS
from noregret.learner.arguments import check_integer
from noregret.learner.header_fields import corrupt, read_count
from noregret.learner.model_file import Arrays, Header, register_kind
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card

Floats = NDArray[np.float64]
CHAN = (
    "Chan, Golub, LeVeque, Algorithms for computing the sample variance: analysis and recommendations, The American "
    "Statistician 37, 1983"
)
SHOWN = 20  # features


class Whitening(NamedTuple):
    """What turns differences from the mean into standard deviations."""

    matrix: Floats  # the inverse root of the covariance, its transpose
    log_root: float  # half of the logarithm of the determinant


@dataclass
class Moments:
    """How many rows there were, their mean, and the sum of (x - mean)(x - mean)'."""

    mean: Floats
    scatter: Floats
    count: int = 0
    kept: Kept[Whitening] | None = None

    @property
    def features(self) -> int:
        return int(self.mean.size)

    def grow(self, features: int) -> None:
        wider = np.zeros((features, features))
        wider[: self.features, : self.features] = self.scatter
        self.mean, self.scatter = np.concatenate((self.mean, np.zeros(features - self.features))), wider

    def copy(self) -> Self:
        return type(self)(self.mean.copy(), self.scatter.copy(), self.count)

    def is_finite(self) -> bool:
        return all_finite(self.mean) and all_finite(self.scatter)

    def add(self, rows: Floats) -> None:
        """The moments of all rows, from those of the rows so far and those of the new ones, each about its own mean."""
        new, total = len(rows), self.count + len(rows)
        own = rows.mean(axis=0)
        around, shift = rows - own, own - self.mean
        self.scatter = self.scatter + around.T @ around + (self.count * new / total) * np.outer(shift, shift)
        self.mean = self.mean + (new / total) * shift
        self.count = total


@register_kind
@method_card(
    name="gaussian",
    paper=CHAN,
    kind="gaussian",
    title="Gaussian density",
    tasks=("unsupervised",),
    params={
        "batch": batch_param(16),
        "prior": PRIOR,
        "variance": VARIANCE,
    },
    options=ROW_OPTIONS,
    merge=Merge("none", "features of two learners may be numbered differently"),
)  # fmt: skip
class Gaussian(DensityLearner[Moments]):
    """Gaussian density with the mean and covariance of all rows so far; the loss of a row is -log of its density."""

    kind: ClassVar[str] = "gaussian"
    shows_distance: ClassVar[bool] = True

    def __init__(self, batch: float, prior: float, variance: float, **options: Any) -> None:
        super().__init__(batch, **options)
        self.prior, self.variance = prior, variance

    @property
    def params(self) -> dict[str, Any]:
        return {"batch": self.batch, "prior": self.prior, "variance": self.variance}

    # ---- rounds --------------------------------------------------------------------------------------------------

    def start_state(self, features: int) -> Moments:
        return Moments(np.zeros(features), np.zeros((features, features)))

    def count_numbers(self, features: int) -> int:
        return features * features

    def learn_rows(self, state: Moments, rows: MatrixRows) -> None:
        state.add(rows.dense)

    def smoothed(self, state: Moments) -> Floats:
        """The covariance by which rows are scored: that of the rows, and that of the start as `prior` rows more."""
        start = np.diag(np.full(state.features, self.prior * self.variance))
        return np.asarray((state.scatter + start) / (state.count + self.prior))

    def score_rows(self, state: Moments, rows: MatrixRows) -> Scored:
        """Distance in standard deviations of every row, and -log of the density."""
        own = (state.scatter, state.count, self.prior, self.variance)
        state.kept = keep(state.kept, lambda: self.find_whitening(state), *own)
        whiten, log_root = state.kept.value
        distances = row_products(rows.dense - state.mean, whiten)
        squares = row_dots(distances, distances) + rows.beyond / self.variance
        losses = 0.5 * (squares + state.features * LOG_TWO_PI) + log_root
        return Scored(np.sqrt(squares)[:, None], losses)

    def find_whitening(self, state: Moments) -> Whitening:
        root = find_root(self.smoothed(state), "gaussian")
        whiten = np.linalg.solve(root, np.eye(state.features))
        return Whitening(np.ascontiguousarray(whiten.T), float(np.log(np.diag(root)).sum()))

    # ---- results -------------------------------------------------------------------------------------------------

    @property
    def mean(self) -> Floats:
        """The mean of all rows."""
        return self.latest.mean.copy()

    @property
    def covariance(self) -> Floats:
        """The covariance of all rows, divided by their number."""
        state = self.latest
        return np.asarray(state.scatter / state.count)

    def predict(self, X: RowsLike) -> Floats:
        """The log-density of every row."""
        return self.log_density(X)

    def sample(self, n: int = 1, seed: int = 0) -> Floats:
        """Rows drawn from the density."""
        random, count = np.random.default_rng(check_integer("seed", seed, 0)), check_integer("n", n, 0)
        state = self.latest
        require_sample_memory("gaussian", count, state.features**2)
        normal, numbers = random.standard_normal((count, state.features)), np.zeros(count, np.intp)
        return draw_rows(state.mean[None], self.smoothed(state)[None], numbers, normal, "gaussian")

    def describe_results(self) -> list[str]:
        """Mean and standard deviation of the first features."""
        if not self.rounds:
            return []
        lines = [f"{'mean':>14}{'deviation':>14}  feature"]
        means, deviations = self.mean, np.sqrt(np.diag(self.covariance))
        for at, name in enumerate(self.feature_names[:SHOWN]):
            lines.append(f"{means[at]:>14.6g}{deviations[at]:>14.6g}  {name}")
        return lines if self.features <= SHOWN else [*lines, f"    and {self.features - SHOWN} more"]

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump_state(self, state: Moments) -> tuple[Header, Arrays]:
        return {"count": state.count}, {"mean": state.mean, "scatter": np.ascontiguousarray(state.scatter)}

    def restore_state(self, header: Header, arrays: Arrays, features: int) -> Moments:
        mean, scatter = read_array(arrays, "mean", 1), read_array(arrays, "scatter", 2)
        if mean.shape != (features,) or scatter.shape != (features, features):
            raise corrupt("its mean and covariance do not fit its features")
        if (np.diag(scatter) < 0.0).any() or (np.abs(mean) > FARTHEST).any():
            raise corrupt("a variance is negative, or its mean is farther away than any row can be")
        return Moments(mean, scatter, read_count(header, "count", self.learned_rows, 1))
