"""Exclusive or, two rings and an interval: what a line cannot separate, and a kernel can."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import noregret as nr
from figures import show
from noregret.plots.plane import draw_decision, draw_score

LINEAR = ("perceptron", "pa1", "arow")
KERNEL = "perceptron@rbf(gamma=1)"


class Row(NamedTuple):
    """The share of mistakes of a learner in each pass over the same rows, and its supports."""

    problem: str
    learner: str
    passes: tuple[float, ...]
    supports: int


def exclusive_or() -> tuple[Any, Any]:
    """A grid of 16 points: positive where both numbers have one sign."""
    side = (-2.0, -1.0, 1.0, 2.0)
    X = np.array([(a, b) for a in side for b in side])
    return shuffled(X, X[:, 0] * X[:, 1] > 0.0)


def two_rings() -> tuple[Any, Any]:
    """24 points on each of two circles: the inner one is positive."""
    angle = np.arange(24) * np.pi / 12
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return shuffled(np.vstack([circle, 2.0 * circle]), np.arange(48) < 24)


def interval() -> tuple[Any, Any]:
    """31 points on a line: those in the middle are positive."""
    X = np.linspace(-3.0, 3.0, 31)[:, None]
    return shuffled(X, np.abs(X[:, 0]) < 1.0)


def shuffled(X: Any, positive: Any) -> tuple[Any, Any]:
    order = np.random.default_rng(1).permutation(len(X))
    return X[order], np.where(positive, 1, -1)[order]


PROBLEMS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "exclusive or": exclusive_or, "two rings": two_rings, "interval": interval,
}  # fmt: skip


def train(learner: str, X: Any, y: Any, passes: int) -> tuple[Any, tuple[float, ...]]:
    """A learner after some passes, and its share of mistakes in each; linear ones have a constant feature."""
    made = nr.make(learner, native=False, bias="@" not in learner)
    found = []
    for _ in range(passes):
        found.append(float(made.play(X, y).mistakes.mean()))
    return made, tuple(found)


def measure(passes: int = 4) -> list[Row]:
    """All learners on all problems."""
    rows = []
    for problem, make_rows in PROBLEMS.items():
        for name in (*LINEAR, KERNEL):
            learner, found = train(name, *make_rows(), passes)
            rows.append(Row(problem, name, found, learner.nonzeros if name == KERNEL else 0))
    return rows


def draw(axes: Any, passes: int = 2) -> None:
    """The regions of the kernel perceptron with its supports; of the interval its score."""
    for panel, (problem, make_rows) in zip(axes, PROBLEMS.items(), strict=True):
        X, y = make_rows()
        learner, _ = train(KERNEL, X, y, passes)
        (draw_decision if X.shape[1] == 2 else draw_score)(panel, learner, X, y.tolist())
        panel.set_title(f"{problem}: {len(learner.supports)} supports", fontsize=10)
    axes[-1].legend(frameon=False, fontsize=7)


if __name__ == "__main__":
    measured = measure()
    head = ("problem", "learner", "pass 1", "pass 2", "pass 3", "pass 4", "supports")
    cells = [(row.problem, row.learner, *row.passes, row.supports) for row in measured]
    show("kernels", head, cells, draw, panels=3)
