"""Label noise: confidence-weighted learners when some labels are flipped; error on clean rounds, online mistakes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import noregret as nr
from figures import COLOURS, show

C = 0.03  # the largest step; with C = 1 PA-I does as badly as CW, AROW's r hardly matters, and CW has no such parameter
LEARNERS: dict[str, dict[str, float]] = {
    "cw": {},
    "arow": {},
    "scw1": {"C": C, "eta": 0.75, "floor": 1e-12},
    "scw2": {"C": C, "eta": 0.9, "floor": 1e-12},
    "pa1": {"C": C},
}
NOISE = (0.0, 0.05, 0.1, 0.2)


class Row(NamedTuple):
    """One learner at one noise level; error rates, means over several streams."""

    learner: str
    noise: float
    clean_error: float
    online_mistakes: float


def stream(rounds: int, features: int, seed: int) -> tuple[Any, Any]:
    """Gaussian rows with features of different scales, labelled by a hidden hyperplane."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, features)) * np.linspace(0.2, 1.0, features)
    return X, np.where(X @ rng.normal(size=features) > 0.0, 1, -1)


def measure(
    noise: Sequence[float] = NOISE, rounds: int = 4000, features: int = 30, streams: int = 8, tested: int = 4000
) -> list[Row]:
    """Learn rounds with some flipped labels, then predict rounds with correct labels."""
    rows = []
    for learner, told in LEARNERS.items():
        for share in noise:
            errors, mistakes = [], []
            for seed in range(streams):
                X, y = stream(rounds + tested, features, seed)
                lies = np.random.default_rng([seed, 1]).random(rounds) < share
                m = nr.make(learner, **told).learn(X[:rounds], np.where(lies, -y[:rounds], y[:rounds]))
                errors.append(float(np.mean(m.predict(X[rounds:]) != y[rounds:])))
                mistakes.append(m.mistakes / rounds)
            rows.append(Row(learner, share, float(np.mean(errors)), float(np.mean(mistakes))))
    return rows


def draw(axes: Any, rows: Sequence[Row]) -> None:
    for learner, colour in zip(LEARNERS, COLOURS, strict=False):
        mine = [row for row in rows if row.learner == learner]
        noise = [100.0 * row.noise for row in mine]
        axes[0].plot(noise, [100.0 * row.clean_error for row in mine], "o-", color=colour, label=learner)
        axes[1].plot(noise, [100.0 * row.online_mistakes for row in mine], "o-", color=colour, label=learner)
    axes[1].plot(noise, noise, ":", color="grey", label="the flipped labels")
    axes[0].set(xlabel="flipped labels, %", ylabel="error on clean rounds, %")
    axes[1].set(xlabel="flipped labels, %", ylabel="online mistakes, %")
    axes[1].legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))


if __name__ == "__main__":
    measured = measure()
    show("label_noise", Row._fields, measured, lambda axes: draw(axes, measured), panels=2)
