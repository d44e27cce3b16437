"""The perceptron depends on the order of its rounds; the average of its weight vectors hardly does."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import noregret as nr
from figures import COLOURS, show

LEARNERS = ("perceptron", "perceptron_averaged")


class Row(NamedTuple):
    """The test errors of one learner, one for each order of the same rounds."""

    learner: str
    errors: Any

    def summary(self) -> tuple[object, ...]:
        low, middle, high = np.quantile(self.errors, [0.0, 0.5, 1.0])
        return (self.learner, float(low), float(middle), float(high), float(np.std(self.errors)))


HEAD = ("learner", "best_order", "middle", "worst_order", "deviation")


def measure(orders: int = 200, rounds: int = 1000, tested: int = 5000, features: int = 20, seed: int = 0) -> list[Row]:
    """One pass over the same rounds in many orders; a tenth of the training labels is wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds + tested, features))
    y = np.where(X @ rng.normal(size=features) > 0.0, 1, -1)
    told = np.where(rng.random(rounds) < 0.1, -y[:rounds], y[:rounds])
    shuffles = [rng.permutation(rounds) for _ in range(orders)]

    def error(learner: str, order: Any) -> float:
        m = nr.make(learner).learn(X[order], told[order])
        return float(np.mean(m.predict(X[rounds:]) != y[rounds:]))

    return [Row(learner, np.array([error(learner, order) for order in shuffles])) for learner in LEARNERS]


def draw(axes: Any, rows: Sequence[Row]) -> None:
    highest = max(float(row.errors.max()) for row in rows)
    bins = np.linspace(0.0, 100.0 * highest, 50)
    for row, colour in zip(rows, (COLOURS[1], COLOURS[0]), strict=True):
        axes.hist(100.0 * row.errors, bins=bins, color=colour, label=row.learner)
    axes.set(xlabel="test error after one pass, %", ylabel="orders of the same rounds")
    axes.legend(frameon=False)


if __name__ == "__main__":
    measured = measure()
    show("order_and_average", HEAD, [row.summary() for row in measured], lambda axes: draw(axes, measured))
