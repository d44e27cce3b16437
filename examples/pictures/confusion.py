"""Confusion matrices for four classes, one of them rare, without and with class weights."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import noregret as nr
from figures import show
from noregret.metrics import Confusion
from noregret.plots.classes import draw_confusion

CLASSES = ("common", "frequent", "seldom", "rare")
SHARES = (0.6, 0.3, 0.08, 0.02)
WEIGHTS: dict[str, str | None] = {"no class weights": None, "balanced": "balanced"}


class Row(NamedTuple):
    """Recall and precision of one class."""

    weights: str
    label: str
    rounds: int
    recall: float
    precision: float
    predicted_as: tuple[float, ...]  # the share of its rounds predicted as each class, in the order of CLASSES


def stream(rounds: int, seed: int = 0) -> tuple[Any, Any]:
    """Overlapping Gaussian clusters around the corners of a square."""
    rng = np.random.default_rng(seed)
    code = rng.choice(len(CLASSES), size=rounds, p=SHARES)
    corners = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    return corners[code] + rng.normal(size=(rounds, 2)), np.array(CLASSES)[code]


def measure(rounds: int = 20000) -> list[Row]:
    """Every round predicted before it is learned, with and without weights."""
    X, y = stream(rounds)
    rows = []
    for name, weights in WEIGHTS.items():
        seen = Confusion()
        nr.play((X, y), nr.make("pa1", C=0.01, bias=True, class_weight=weights), [seen])
        order = [seen.labels.index(label) for label in CLASSES]
        shares = seen.normalised()[np.ix_(order, order)]
        for at, number in enumerate(order):
            found = float(seen.recall[number]), float(seen.precision[number])
            rows.append(Row(name, CLASSES[at], int(seen.rounds[number]), *found, tuple(shares[:, at].tolist())))
    return rows


def draw(axes: Any, rows: Sequence[Row]) -> None:
    """Columns are truths and sum to one; the colour of a cell is its share."""
    for panel, name in zip(axes, WEIGHTS, strict=True):
        draw_confusion(panel, np.array([row.predicted_as for row in rows if row.weights == name]).T, CLASSES)
        panel.set_title(name)


if __name__ == "__main__":
    measured = measure()
    show("confusion", Row._fields[:-1], [row[:-1] for row in measured], lambda axes: draw(axes, measured), panels=2)
