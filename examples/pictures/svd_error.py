"""What one pass of the online SVD leaves of the handwritten digits, by its rank, beside the best possible."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits

import noregret as nr
from figures import COLOURS, show

RANKS = (1, 2, 4, 8, 12, 16, 24, 32, 48)


class Row(NamedTuple):
    """The share of the squared size of all rows that is lost, in percent."""

    rank: int
    before_learning: float
    at_the_end: float
    least_possible: float


def measure(ranks: Sequence[int] = RANKS, rows: int = 1797) -> list[Row]:
    """One pass for each rank."""
    X = load_digits().data[:rows]
    size, best = float(np.sum(X * X)), np.linalg.svd(X, compute_uv=False) ** 2
    found = []
    for rank in ranks:
        learner: Any = nr.make("svd", rank=rank)
        before = learner.play(X).losses.sum()
        rest = X - learner.transform(X) @ np.pad(learner.components, ((0, rank - len(learner.components)), (0, 0)))
        shares = (100.0 * part / size for part in (before, np.sum(rest * rest), best[rank:].sum()))
        found.append(Row(rank, *map(float, shares)))
    return found


def draw(axes: Any, rows: Sequence[Row]) -> None:
    titles = {"before_learning": "before each row is learned", "at_the_end": "at the end", "least_possible": "best"}
    for (name, title), colour in zip(titles.items(), COLOURS, strict=False):
        style = "--" if name == "least_possible" else "o-"
        axes.plot([row.rank for row in rows], [getattr(row, name) for row in rows], style, color=colour, label=title)
    axes.set(xlabel="rank", ylabel="lost, %", yscale="log")
    axes.legend(frameon=False)


if __name__ == "__main__":
    measured = measure()
    show("svd_error", Row._fields, measured, lambda axes: draw(axes, measured))
