"""Two features: the rows, the decision boundary, and how updates move the weights."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noregret.errors import BadValue
from noregret.evaluation.capabilities import class_sides, classes_of, scores_of, supports_of, task_of
from noregret.learner.factory import make
from noregret.learner.protocol import Learner
from noregret.learner.variants import name_learner
from noregret.plots.figure import COLOURS, GREY, Axes, Figure, literal, make_figure

Floats = NDArray[np.float64]
GRID = 160
MOST_CLASSES = len(COLOURS)


def decision(learner: Learner, X: ArrayLike, y: Sequence[Any]) -> Figure:
    """Rows of two features by class, and the regions that a learner predicts; with two classes also the margins.

    The supports of a kernel learner have circles around them. Of rows with one feature, the score is drawn against it.
    """
    rows = check_plane(X, len(y), features=(1, 2))
    figure, (panel,) = make_figure(width=4.6, height=4.2)
    (draw_decision if rows.shape[1] == 2 else draw_score)(panel, learner, rows, y)
    panel.legend(frameon=False, fontsize=8)
    panel.set_title(f"{name_learner(learner)}: {learner.mistakes} mistakes in {learner.rounds} rounds", fontsize=10)
    return figure


def draw_decision(panel: Axes, learner: Learner, rows: Floats, y: Sequence[Any]) -> None:
    """The regions that a learner predicts for rows of two features, and the rows."""
    names = check_classes(learner, y)
    low, high = limits(rows)
    across, up = np.meshgrid(np.linspace(low[0], high[0], GRID), np.linspace(low[1], high[1], GRID))
    grid = np.column_stack([across.ravel(), up.ravel()])
    codes = np.array([names.index(label) for label in learner.predict(grid).tolist()], float).reshape(across.shape)
    colours = [COLOURS[place % len(COLOURS)] for place in range(len(names))]
    levels = np.arange(len(names) + 1) - 0.5
    panel.contourf(across, up, codes, levels=levels, colors=colours, alpha=0.15)
    scores = scores_of(learner, grid)
    if scores is not None and scores.ndim == 1:
        heights = scores.reshape(across.shape)
        panel.contour(across, up, heights, levels=[-1.0, 0.0, 1.0], colors="black", linewidths=[0.8, 1.6, 0.8],
                      linestyles=["dashed", "solid", "dashed"])  # fmt: skip
    draw_rows(panel, rows, y, names)
    draw_supports(panel, learner, 2)
    panel.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="$x_1$", ylabel="$x_2$")


def draw_score(panel: Axes, learner: Learner, rows: Floats, y: Sequence[Any]) -> None:
    """The score of a learner of two classes against the only feature, and the rows at height zero."""
    names = check_classes(learner, y)
    low, high = limits(rows)
    across = np.linspace(low[0], high[0], 4 * GRID)
    scores = scores_of(learner, across[:, None])
    if scores is None or scores.ndim != 1:
        raise BadValue(f"the score along one feature is drawn for two classes, not for {learner.task}")
    sides = [COLOURS[names.index(side) % len(COLOURS)] for side in class_sides(learner)]
    for above, colour in zip((scores < 0.0, scores > 0.0), sides, strict=True):
        panel.fill_between(across, 0.0, scores, where=above.tolist(), color=colour, alpha=0.15, linewidth=0.0)
    panel.plot(across, scores, color="black", linewidth=1.4)
    draw_rows(panel, np.column_stack([rows[:, 0], np.zeros(len(rows))]), y, names)
    draw_supports(panel, learner, 1)
    panel.set(xlim=(low[0], high[0]), xlabel="$x$", ylabel="score")


def draw_supports(panel: Axes, learner: Learner, features: int) -> None:
    """Circles around the supports of a kernel learner, where these are rows of so many numbers."""
    rows = [one.row for one in supports_of(learner) if set(one.row) <= {*range(features)}]
    places = np.array([[row.get(0, 0.0), row.get(1, 0.0)] for row in rows])
    if len(rows):
        panel.scatter(places[:, 0], places[:, 1], s=90, facecolors="none", edgecolors="black", linewidths=0.9,
                      label="supports")  # fmt: skip


def check_classes(learner: Learner, y: Sequence[Any]) -> list[Any]:
    """The classes of rows and learner, in the order of their colours."""
    labels = sorted(set(y), key=str)
    if task_of(learner).prediction != "label" or len(labels) > MOST_CLASSES:
        raise BadValue(f"regions are drawn for up to {MOST_CLASSES} classes, not for {learner.task}")
    return sorted({*labels, *classes_of(learner)}, key=str)


def draw_rows(panel: Axes, rows: Floats, y: Sequence[Any], names: Sequence[Any]) -> None:
    """Points by class, each with its own colour and mark."""
    for place, name in enumerate(names):
        own = rows[np.array([label == name for label in y])]
        panel.scatter(own[:, 0], own[:, 1], s=18, color=COLOURS[place % len(COLOURS)], marker="ox^sDv*P+1"[place],
                      label=literal(name), linewidths=1.0)  # fmt: skip


def check_plane(X: ArrayLike, labels: int, features: tuple[int, ...] = (2,)) -> Floats:
    """Rows of two numbers, or of so many features, as many as there are labels."""
    rows = np.asarray(X, float)
    if (
        rows.ndim != 2
        or rows.shape[1] not in features
        or len(rows) != labels
        or not len(rows)
        or not np.isfinite(rows).all()
    ):
        raise BadValue(f"the picture needs rows of two finite numbers and a label for each, not shape {rows.shape}")
    return rows


def limits(rows: Floats, room: float = 0.12) -> tuple[Floats, Floats]:
    """The corners of a box around rows, with some room."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    wide = np.where(high > low, high - low, 1.0)
    return low - room * wide, high + room * wide


# ---- the sequence of updates ----------------------------------------------------------------------------------------

EXAMPLE_X = ((2.0, -1.0), (1.5, 2.0), (0.0, -2.0), (2.0, -2.0), (1.5, -0.5), (-1.5, -1.0), (0.5, 1.0), (2.5, -1.5),
             (2.0, 1.5), (1.5, -2.0))  # fmt: skip
EXAMPLE_Y = (-1, -1, 1, 1, -1, 1, -1, -1, -1, 1)


def updates(X: ArrayLike = EXAMPLE_X, y: Sequence[Any] = EXAMPLE_Y, learner: str = "perceptron") -> Figure:
    """How a learner without a constant feature moves, in the space of rows and in the space of weights.

    In the space of rows (left) the weights are the normal of a line, which each update turns. In the space of weights
    (right) every row is a line through the origin, its right side is where the weights classify it correctly, and the
    version space, where all rows are, is shaded.
    """
    rows = check_plane(X, len(y))
    path, changed, player = follow(rows, y, learner)
    signs = np.where(np.array([label == class_sides(player)[1] for label in y]), 1.0, -1.0)
    figure, (left, right) = make_figure(2, width=4.4, height=4.4)
    draw_rows(left, rows, y, sorted(set(y), key=str))
    reach = 1.15 * float(np.abs(rows).max())
    for place in changed:
        late = (changed.index(place) + 1) / len(changed)
        draw_line(left, path[place], reach, color="black", alpha=0.15 + 0.85 * late, linewidth=0.7 + late)
    left.set(xlim=(-reach, reach), ylim=(-reach, reach), xlabel="$x_1$", ylabel="$x_2$")
    left.set_title("rows, and the line after each update", fontsize=10)
    left.legend(frameon=False, fontsize=8)
    far = 1.2 * max(float(np.abs(path).max()), 1e-9)
    draw_version_space(right, rows * signs[:, None], far)
    steps = np.vstack([np.zeros(2), path[changed]])
    right.plot(steps[:, 0], steps[:, 1], color=COLOURS[1], marker="o", markersize=4, linewidth=1.2)
    for number, step in enumerate(steps):
        right.annotate(str(number), step, xytext=(4, 4), textcoords="offset points", fontsize=8)
    right.set(xlim=(-far, far), ylim=(-far, far), xlabel="$w_1$", ylabel="$w_2$")
    right.set_title("weights after each update", fontsize=10)
    for panel in (left, right):
        panel.set_aspect("equal")
    figure.suptitle(f"{learner}: {len(changed)} updates in {len(rows)} rounds", fontsize=10)
    return figure


def follow(rows: Floats, y: Sequence[Any], learner: str) -> tuple[Floats, list[int], Learner]:
    """The weights after every round, the rounds that changed them, and the learner."""
    player = make(learner, native=False, bias=False)
    path, changed = [], list[int]()
    for place, (row, label) in enumerate(zip(rows, y, strict=True)):
        if player.play(row[None, :], [label]).updated[0]:
            changed.append(place)
        path.append(plane_weights(player))
    if not changed:
        raise BadValue(f"{learner} made no update on these rows")
    return np.array(path), changed, player


def plane_weights(learner: Learner) -> Floats:
    """The two weights of a linear learner, by the scores of the unit rows."""
    scores = scores_of(learner, np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    if scores is None or scores.ndim != 1:
        raise BadValue(f"{learner.card.name} has no weights for two classes")
    return np.asarray(scores[1:] - scores[0])


def draw_line(panel: Axes, normal: Floats, reach: float, **style: Any) -> None:
    """The line through the origin that is orthogonal to a vector."""
    size = float(np.hypot(*normal))
    if size > 0.0:
        along = np.array([-normal[1], normal[0]]) / size * 2.0 * reach
        panel.plot([-along[0], along[0]], [-along[1], along[1]], **style)


def draw_version_space(panel: Axes, signed: Floats, far: float) -> None:
    """The lines of the signed rows, and the weights that have a positive margin on all of them, shaded."""
    for row in signed:
        draw_line(panel, row, far, color=GREY, linewidth=0.7)
    across, up = np.meshgrid(np.linspace(-far, far, GRID), np.linspace(-far, far, GRID))
    smallest = np.min(np.stack([across, up], axis=-1) @ signed.T, axis=-1)
    if (smallest > 0.0).any():
        panel.contourf(across, up, smallest, levels=[0.0, np.inf], colors=[COLOURS[2]], alpha=0.25)
