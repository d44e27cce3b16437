"""Pictures of classes: the confusion matrix, accuracies on tasks, and the reliability of probabilities."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue, shown
from noregret.evaluation.evaluate import Evaluation
from noregret.evaluation.leaderboard import Entry, Leaderboard
from noregret.evaluation.report import plain_label, report_confusion
from noregret.metrics import Confusion, Reliability
from noregret.plots.figure import COLOURS, GREY, Axes, Figure, literal, make_figure
from noregret.plots.report_data import Report, entries_of, name_of, number
from noregret.training.task_sequence import AccuracyMatrix

NUMBERED = 15  # with more classes, the cells have no numbers
MOST = 50


def confusion(results: Confusion | Leaderboard | Entry | Report, learner: str | None = None) -> Figure:
    """The confusion matrix; columns are true labels and sum to 1, rows are predictions.

    `results` is a metric, an entry, or a leaderboard or JSON report, of which the best learner is drawn, or `learner`.
    """
    found, title = find_confusion(results, learner)
    labels, counts, rounds = found.get("labels"), found.get("counts"), found.get("rounds")
    if not isinstance(labels, Sequence) or not labels:
        raise BadValue("there is no confusion matrix to draw: no round has one label")
    if not isinstance(counts, Sequence) or len(labels) > MOST:
        raise BadValue(f"a confusion matrix of {len(labels):,} classes is too large to draw; the most are {MOST}")
    order = sorted(range(len(labels)), key=lambda place: (isinstance(labels[place], str), labels[place]))
    try:
        table = np.asarray(counts, float)[np.ix_(order, order)].T
        with np.errstate(divide="ignore", invalid="ignore"):
            table = np.asarray(table / np.asarray(rounds, float)[order])
    except (TypeError, ValueError, IndexError):
        raise BadValue("the confusion matrix of this report is damaged") from None
    side = min(max(0.55 * len(labels), 3.0), 12.0)
    figure, (panel,) = make_figure(width=side, height=side)
    draw_confusion(panel, table, [literal(plain_label(labels[place]), 14) for place in order])
    panel.set_title(literal(title, 60), fontsize=10)
    return figure


def draw_confusion(panel: Axes, table: NDArray[Any], names: Sequence[str]) -> None:
    """Draw shares of truths (columns) by prediction (rows); right cells are blue, wrong ones red."""
    from matplotlib.colors import LinearSegmentedColormap

    size = len(names)
    right = np.eye(size, dtype=bool)
    for colour, mask in ((COLOURS[0], ~right), (COLOURS[1], right)):
        shade = LinearSegmentedColormap.from_list("", ["white", colour])
        panel.imshow(np.where(mask, np.nan, table), cmap=shade, vmin=0.0, vmax=1.0)
    for i in range(size) if size <= NUMBERED else ():
        for j in range(size):
            if np.isfinite(table[i, j]):
                ink = "white" if table[i, j] > 0.6 else "black"
                panel.text(j, i, f"{table[i, j]:.2f}", ha="center", va="center", color=ink, fontsize=9)
    panel.set(xlabel="truth", ylabel="predicted", xticks=range(size), yticks=range(size))
    long = max(map(len, names)) * size > 40
    panel.set_xticklabels(names, rotation=90 if long else 0)
    panel.set_yticklabels(names)
    panel.grid(visible=False)


def accuracy_matrix(results: AccuracyMatrix, title: str = "") -> Figure:
    """The accuracy on every task (columns) after each was learned (rows), as a heat map in percent."""
    if not isinstance(results, AccuracyMatrix):
        raise BadValue(f"accuracy_matrix draws what nr.learn_tasks returns, not {shown(results)}")
    size = len(results.values)
    if size > MOST:
        raise BadValue(f"accuracies on {size:,} tasks are too many to draw; the most are {MOST}")
    side = min(max(0.55 * size, 3.0), 12.0)
    figure, (panel,) = make_figure(width=side, height=side)
    draw_accuracies(panel, results.values)
    panel.set_title(literal(title, 60), fontsize=10)
    return figure


def draw_accuracies(panel: Axes, values: NDArray[np.float64]) -> None:
    """Draw accuracies on tasks by what was learned last."""
    from matplotlib.colors import LinearSegmentedColormap

    size = len(values)
    shade = LinearSegmentedColormap.from_list("", ["white", COLOURS[0]])
    panel.imshow(values, cmap=shade, vmin=0.0, vmax=1.0)
    for i, j in np.ndindex(values.shape) if size <= NUMBERED else ():
        ink = "white" if values[i, j] > 0.6 else "black"
        panel.text(j, i, f"{100.0 * values[i, j]:.0f}", ha="center", va="center", color=ink, fontsize=9)
    numbers = range(1, size + 1)
    panel.set(xlabel="accuracy on task", ylabel="after learning task", xticks=range(size), yticks=range(size))
    panel.set_xticklabels(numbers)
    panel.set_yticklabels(numbers)
    panel.grid(visible=False)


def find_confusion(results: Confusion | Leaderboard | Entry | Report, learner: str | None) -> tuple[Report, str]:
    """The confusion matrix as JSON has it, and the name of the learner."""
    if isinstance(results, Confusion):
        return report_confusion(results), ""
    if isinstance(results, Mapping) and "learners" not in results and isinstance(results.get("confusion"), Mapping):
        return results["confusion"], str(results.get("model", ""))  # the report of `noregret evaluate`
    for entry in entries_of(results):
        if learner in (None, name_of(entry)):
            found = entry.get("confusion")
            if not isinstance(found, Mapping):
                raise BadValue(f"{name_of(entry)} has no confusion matrix: its rounds do not have one label each")
            return found, name_of(entry)
    raise BadValue(f"there is no learner {shown(learner)} in this report")


def reliability(results: Evaluation | Reliability | Report | Sequence[Report]) -> Figure:
    """How often predicted labels were right, by their probability, and how many rows had such a probability.

    `results` is a metric, an evaluation, its bins, or the JSON report of `noregret evaluate`.
    """
    bins = find_bins(results)
    if not bins:
        raise BadValue("there are no probabilities to draw; `noregret evaluate MODEL ROWS --json PATH` writes them")
    figure, (panel, below) = make_figure(2)
    mean, right = ([number(one.get(name)) for one in bins] for name in ("probability", "right"))
    panel.plot([0.0, 1.0], [0.0, 1.0], color=GREY, linestyle="--", linewidth=1.0, label="calibrated")
    panel.plot(mean, right, color=COLOURS[0], marker="o", label="measured")
    panel.set(xlabel="probability of the predicted label", ylabel="share that was right", xlim=(0, 1), ylim=(0, 1))
    panel.legend(frameon=False)
    width = [number(one.get("to")) - number(one.get("from")) for one in bins]
    left, rows = ([number(one.get(name)) for one in bins] for name in ("from", "rows"))
    below.bar(left, rows, width=width, align="edge", color=COLOURS[0], edgecolor="white")
    below.set(xlabel="probability of the predicted label", ylabel="rows", xlim=(0, 1))
    return figure


def find_bins(results: object) -> list[Report]:
    """The bins of a reliability metric."""
    if isinstance(results, Evaluation):
        results = results.reliability
    if isinstance(results, Reliability):
        return list(results.bins())
    found = results.get("reliability") if isinstance(results, Mapping) else results
    listed = found if isinstance(found, Sequence) and not isinstance(found, str) else []
    return [one for one in listed if isinstance(one, Mapping) and number(one.get("rows")) > 0.0]
