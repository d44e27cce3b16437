"""Accuracy on MNIST in percent, online and on the test set, compared with the figures in SOL's README.

The learners, the toolbox's grids and where its formula is another are those of the table on a1a. Parameters are those
that put most of 2,000 rows right after 8,000 others, of the first order; then the mean of some orders counts.
"""

from pathlib import Path
from typing import Any

import numpy as np

from verification.experiments.common import MNIST, MNIST_TEST, Row, Table, images, mean
from verification.reproduce.data import shuffled
from verification.reproduce.sol import ABSENT, ENTRIES, learned, right

FILES = (MNIST, MNIST_TEST)
ORDERS, LEARNED, JUDGED = 3, 8_000, 2_000
ALLOWED = 1.0
MANY: dict[str, Any] = {"task": "multiclass", "classes": list(range(10))}
PUBLISHED = {  # while learning, and on the test rows with its deviation
    "perceptron": (84.60, 86.71, 1.64),
    "ogd": (89.43, 91.71, 0.08),
    "pa": (85.53, 87.53, 1.64),
    "pa1": (85.53, 87.53, 1.64),
    "pa2": (85.85, 88.11, 1.31),
    "alma2": (89.72, 91.88, 0.22),
    "sop": (85.52, 88.11, 0.99),
    "cw": (87.84, 88.61, 0.34),
    "eccw": (87.64, 86.88, 4.93),
    "arow": (90.51, 92.26, 0.14),
    "ada-fobos": (90.55, 92.39, 0.20),
    "ada-rda": (89.99, 92.01, 0.22),
    "rda": (78.68, 80.27, 0.27),
    "erda": (88.39, 91.32, 0.42),
}


def compared(name: str, X: Any, y: np.ndarray, T: Any, truth: np.ndarray) -> Row:
    entry, (while_learning, tested, scatter) = ENTRIES[name], PUBLISHED[name]
    mixed, labels = shuffled(X, y, 0)
    judged = slice(LEARNED, LEARNED + JUDGED)

    def held_out(told: dict[str, Any]) -> float:
        made, factor = learned(entry.learner, told, mixed[:LEARNED], labels[:LEARNED], MANY)
        return right(made, factor, mixed[judged], labels[judged])

    points = entry.points()
    told = max(points, key=held_out) if len(points) > 1 else points[0]
    while_here, tested_here = [], []
    for seed in range(ORDERS):
        made, factor = learned(entry.learner, told, *shuffled(X, y, seed), MANY)
        while_here.append(100.0 * (1.0 - made.mistakes / len(y)))
        tested_here.append(100.0 * right(made, factor, T, truth))
    near = abs(np.mean(while_here) - while_learning) <= ALLOWED
    near_tested = abs(np.mean(tested_here) - tested) <= max(ALLOWED, 2.0 * scatter)
    said = " and ".join(part for part, apart in (("online", not near), ("test", not near_tested)) if apart)
    verdict = f"departs ({said})" if said else "agrees"
    chosen = ", ".join(f"{key} = {value:g}" for key, value in told.items())
    published = (f"{while_learning:.2f}", f"{tested:.2f} ± {scatter:.2f}")
    return (name, chosen, mean(while_here, 2), published[0], mean(tested_here, 2), published[1], verdict)


def run(base: Path) -> Table:
    rows = [compared(name, *images(base), *images(base, MNIST_TEST)) for name in PUBLISHED]
    absent = [(name, why, "", "", "", "", "not run") for name, why in ABSENT.items()]
    return ("SOL's name", "parameters", "online", "SOL", "test", "SOL", "within 1"), [*rows, *absent]
