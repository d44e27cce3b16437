"""Non-zero weights and error of truncated gradient, FOBOS and RDA as the penalty grows."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import noregret as nr
from figures import COLOURS, show

STRENGTHS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
# The name of the penalty on the card, and the step sizes that go with it.
LEARNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "truncated_gradient": ("gravity", {"eta0": 0.1, "schedule": "constant", "K": 10}),
    "fobos": ("lam", {"eta0": 2.0}),
    "rda": ("lam", {"gamma": 0.5}),
}


class Row(NamedTuple):
    """One learner with one penalty; means over several streams."""

    learner: str
    strength: float
    nonzeros: float
    test_error: float


def stream(rounds: int, features: int, relevant: int, seed: int) -> tuple[Any, Any]:
    """Rows with a tenth of the features each, few of which are relevant; labels are drawn from a logistic model."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, features)) * (rng.random((rounds, features)) < 0.1)
    truth = np.zeros(features)
    truth[rng.choice(features, size=relevant, replace=False)] = rng.choice([-1.0, 1.0], size=relevant)
    return X, np.where(rng.random(rounds) < 1.0 / (1.0 + np.exp(-4.0 * X @ truth)), 1, -1)


def measure(
    strengths: Sequence[float] = STRENGTHS,
    rounds: int = 8000,
    features: int = 300,
    relevant: int = 30,
    streams: int = 3,
    tested: int = 5000,
) -> list[Row]:
    """One pass of the logistic loss for each learner and penalty."""
    drawn = [stream(rounds + tested, features, relevant, seed) for seed in range(streams)]
    rows = []
    for learner, (penalty, steps) in LEARNERS.items():
        for strength in strengths:
            left, errors = [], []
            for X, y in drawn:
                m = nr.make(learner, loss="logistic", **steps, **{penalty: strength}).learn(X[:rounds], y[:rounds])
                left.append(m.nonzeros)
                errors.append(float(np.mean(m.predict(X[rounds:]) != y[rounds:])))
            rows.append(Row(learner, strength, float(np.mean(left)), float(np.mean(errors))))
    return rows


def draw(axes: Any, rows: Sequence[Row]) -> None:
    for learner, colour in zip(LEARNERS, COLOURS, strict=False):
        mine = [row for row in rows if row.learner == learner]
        errors = [100.0 * row.test_error for row in mine]
        axes.plot([row.nonzeros for row in mine], errors, "o-", color=colour, label=learner)
    axes.set(xlabel="non-zero weights, of 300", ylabel="test error, %", xscale="symlog")
    axes.legend(frameon=False)


if __name__ == "__main__":
    measured = measure()
    show("sparsity_against_error", Row._fields, measured, lambda axes: draw(axes, measured))
