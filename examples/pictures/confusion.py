"""Who is taken for whom: four classes, one of them rare, learned as they come and with balanced weights."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import noregret as nr
from figures import COLOURS, show
from noregret.metrics import Confusion

CLASSES = ("common", "frequent", "seldom", "rare")
SHARES = (0.6, 0.3, 0.08, 0.02)
WEIGHTS: dict[str, str | None] = {"as they come": None, "balanced": "balanced"}


class Row(NamedTuple):
    """How well one class was found, and how often its name was right."""

    weights: str
    label: str
    rounds: int
    recall: float
    precision: float
    taken_for: tuple[float, ...]  # the shares of its rounds taken for each class, in the order of CLASSES


def stream(rounds: int, seed: int = 0) -> tuple[Any, Any]:
    """Clouds around the corners of a square that overlap."""
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
    from matplotlib.colors import LinearSegmentedColormap

    size = len(CLASSES)
    for panel, name in zip(axes, WEIGHTS, strict=True):
        table = np.array([row.taken_for for row in rows if row.weights == name]).T
        right = np.eye(size, dtype=bool)
        for colour, mask in ((COLOURS[0], ~right), (COLOURS[1], right)):
            shade = LinearSegmentedColormap.from_list("", ["white", colour])
            panel.imshow(np.where(mask, np.nan, table), cmap=shade, vmin=0.0, vmax=1.0)
        for i in range(size):
            for j in range(size):
                ink = "white" if table[i, j] > 0.6 else "black"
                panel.text(j, i, f"{table[i, j]:.2f}", ha="center", va="center", color=ink, fontsize=9)
        panel.set(title=name, xlabel="truth", xticks=range(size), yticks=range(size))
        panel.set_xticklabels(CLASSES)
        panel.set_yticklabels(CLASSES)
        panel.set_ylabel("predicted")
        panel.set_axisbelow(True)


if __name__ == "__main__":
    measured = measure()
    show("confusion", Row._fields[:-1], [row[:-1] for row in measured], lambda axes: draw(axes, measured), panels=2)
