"""Tasks that come one after the other: how much a network forgets, and what replay and an anchor do about it."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import noregret as nr
from noregret.plots.classes import draw_accuracies
from verification.experiments.common import MNIST, MNIST_TEST, PIXELS, Row, Table, images
from verification.experiments.depths import rotate

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
FILES = (MNIST, MNIST_TEST)
TASKS, TRAINED, TESTED = 4, 2000, 1000
PASSES, BATCH = 5, 32
KINDS = ("permuted", "turned")
NETWORK: dict[str, Any] = {
    "layers": [100, 100], "optimizer": "sgd", "eta": 0.03, "scale": False, "task": "multiclass",
    "classes": list(range(10)),
}  # fmt: skip
WAYS: dict[str, dict[str, Any]] = {
    "online": {},
    "online, replay 500": {"replay": 500},
    "online, anchor 100": {"anchor": 100.0},
    "incremental: mini-batches, 5 passes over each task": {"batch": BATCH, "eta": 0.1},
    "batch: all tasks shuffled together, 5 passes": {"batch": BATCH, "eta": 0.1},
}


class Tasks:
    """Digits in tasks: the pixels of each are put in another order, or the digits are turned further."""

    def __init__(self, base: Path, kind: str, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        (X, y), (tested, truth) = images(base), images(base, MNIST_TEST)
        rows, few = rng.permutation(len(y))[: TASKS * TRAINED], rng.permutation(len(truth))[:TESTED]
        orders = [np.arange(PIXELS), *(rng.permutation(PIXELS) for _ in range(TASKS - 1))]
        self.train: list[tuple[Floats, Integers]] = []
        self.test: list[tuple[Floats, Integers]] = []
        for task in range(TASKS):
            own = rows[task * TRAINED : (task + 1) * TRAINED]
            for made, pixels, labels in ((self.train, X[own], y[own]), (self.test, tested[few], truth[few])):
                dense = pixels.toarray()
                changed = dense[:, orders[task]] if kind == "permuted" else rotate(dense, 45.0 * task)
                made.append((np.ascontiguousarray(changed), labels.astype(np.int64)))


def learn(way: str, tasks: Tasks) -> nr.AccuracyMatrix:
    """The accuracy on every task (column) after each has been learned (row); of batch learning after all of them."""
    learner: Any = nr.make("mlp", **{**NETWORK, **WAYS[way]})
    passes = PASSES if "batch" in WAYS[way] else 1
    if way.startswith("batch"):
        X, y = (np.concatenate(parts) for parts in zip(*tasks.train, strict=True))
        nr.epochs(learner, X, y, passes)
        return nr.AccuracyMatrix(np.array([[np.mean(learner.predict(X) == y) for X, y in tasks.test]]))
    after = (lambda mlp: mlp.consolidate()) if learner.params["anchor"] else None
    return nr.learn_tasks(learner, tasks.train, tasks.test, passes=passes, after_task=after)


@cache
def measure(base: Path) -> dict[tuple[str, str], nr.AccuracyMatrix]:
    """By kind of tasks and way to learn them."""
    return {(kind, way): learn(way, tasks) for kind in KINDS for tasks in [Tasks(base, kind)] for way in WAYS}


def run(base: Path) -> Table:
    """Accuracies in percent at the end, and what was lost on the way."""
    rows: list[Row] = []
    for names, found in measure(base).items():
        lost = [found.forgetting, found.backward_transfer] if len(found.values) > 1 else []
        cells = [f"{100.0 * value:.1f}" for value in (*found.values[-1], found.accuracy, *lost)]
        rows.append((*names, *cells, *("" for _ in range(2 - len(lost)))))
    tasks_head = [f"task {task + 1}" for task in range(TASKS)]
    return ("digits", "learning", *tasks_head, "mean", "forgetting", "backward transfer"), rows


def draw_matrices(base: Path, axes: Any) -> None:
    """The accuracies on all tasks after each: a heat map for every kind of tasks and way to learn them."""
    ways = [way for way in WAYS if not way.startswith("batch")]
    for line, kind in zip(axes, KINDS, strict=True):
        for panel, way in zip(line, ways, strict=True):
            draw_accuracies(panel, measure(base)[kind, way].values)
            panel.set_title(f"{kind}, {way.partition(':')[0]}", fontsize=9)


def draw(base: Path, axes: Any) -> None:
    """The mean accuracy on the tasks seen so far, after each task."""
    for panel, kind in zip(axes, KINDS, strict=True):
        for way in WAYS:
            matrix = measure(base)[kind, way].values
            if len(matrix) == 1:
                panel.axhline(100.0 * matrix.mean(), color="black", linestyle="--", linewidth=1.0, label=way)
                continue
            seen = [100.0 * row[: number + 1].mean() for number, row in enumerate(matrix)]
            panel.plot(range(1, TASKS + 1), seen, marker="o", label=way)
        panel.set_xticks(range(1, TASKS + 1))
        panel.set_title(f"MNIST, {kind}", fontsize=10)
        panel.set_xlabel("tasks learned")
    axes[0].set_ylabel("accuracy on the tasks seen so far, %")
    handles, names = axes[-1].get_legend_handles_labels()
    axes[-1].figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False, fontsize=8)
