"""Active learning: mistakes of perceptrons with all labels and with requested labels, and the share requested."""

from pathlib import Path
from typing import Any

import numpy as np

import noregret as nr
from verification.experiments.common import Row, Table, mean, over_shuffles
from verification.reproduce.data import rows

FILES = ("a9a/a9a.svm.gz",)
ASKS = (0.1, 1.0, 10.0)


def run(base: Path) -> Table:
    def measure(X: Any, y: np.ndarray, seed: int) -> list[float]:
        asking = [nr.make("perceptron", labels="asked", ask=b, classes=[-1, 1], seed=seed) for b in ASKS]
        played = [one.learn(X, y) for one in (nr.make("perceptron"), *asking)]
        return [float(count) for one in played for count in (one.mistakes, 100.0 * one.asked / len(y))]

    found = over_shuffles(*rows(base, FILES[0]), measure)
    names = ["told all", *(f"ask = {b:g}" for b in ASKS)]
    lines: list[Row] = [(name, mean(found[2 * k], 0), mean(found[2 * k + 1])) for k, name in enumerate(names)]
    return ("a9a", "mistakes", "labels asked for, %"), lines
