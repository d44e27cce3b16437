"""Tasks that come one after the other: how much a network forgets, and what replay and an anchor do about it."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import noregret as nr
from verification.experiments.common import MNIST, MNIST_TEST, PIXELS, Row, Table, images
from verification.experiments.depths import rotate

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
FILES = (MNIST, MNIST_TEST)
TASKS, TRAINED, TESTED = 4, 2000, 1000
PASSES, BATCH = 5, 32
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


def accuracies(learner: Any, tasks: Tasks) -> list[float]:
    return [float(np.mean(learner.predict(X) == y)) for X, y in tasks.test]


def learn_tasks(way: str, tasks: Tasks) -> Floats:
    """The accuracy on every task (column) after each has been learned (row)."""
    learner: Any = nr.make("mlp", **{**NETWORK, **WAYS[way]})
    rng, passes = np.random.default_rng(0), PASSES if "batch" in WAYS[way] else 1
    parts = tasks.train
    if way.startswith("batch"):
        parts = [(np.concatenate([X for X, _ in tasks.train]), np.concatenate([y for _, y in tasks.train]))]
    matrix = []
    for X, y in parts:
        for turn in range(passes):
            order = rng.permutation(len(y)) if turn or way.startswith("batch") else np.arange(len(y))
            learner.learn(X[order], y[order])
        if learner.params["anchor"]:
            learner.consolidate()
        matrix.append(accuracies(learner, tasks))
    return np.array(matrix)


def run(base: Path) -> Table:
    """Accuracies in percent at the end, and how much of the best accuracy on earlier tasks was lost."""
    rows: list[Row] = []
    for kind in ("permuted", "turned"):
        tasks = Tasks(base, kind)
        for way in WAYS:
            matrix = 100.0 * learn_tasks(way, tasks)
            lost = (matrix[:, :-1].max(axis=0) - matrix[-1, :-1]).mean()
            cells = [*(f"{value:.1f}" for value in matrix[-1]), f"{matrix[-1].mean():.1f}", f"{lost:.1f}"]
            rows.append((kind, way, *cells))
    tasks_head = [f"task {task + 1}" for task in range(TASKS)]
    return ("digits", "learning", *tasks_head, "mean", "forgotten"), rows


def draw(base: Path, axes: Any) -> None:
    """The mean accuracy on the tasks seen so far, after each task."""
    for panel, kind in zip(axes, ("permuted", "turned"), strict=True):
        tasks = Tasks(base, kind)
        for way in WAYS:
            matrix = learn_tasks(way, tasks)
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
