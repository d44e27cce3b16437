"""Online error in percent with full information, with bandit feedback, and without features."""

from pathlib import Path
from typing import Any

import numpy as np

import noregret as nr
from verification.experiments.common import LETTER, MNIST, PENDIGITS, Table, images, mean, over_shuffles
from verification.reproduce.data import rows

FILES = (LETTER, PENDIGITS, MNIST)
PLAYERS: dict[str, dict[str, Any]] = {
    "banditron, gamma = 0.05": {"rule": "banditron", "gamma": 0.05},
    "banditron, gamma = 0.2": {"rule": "banditron", "gamma": 0.2},
    "exp3": {"rule": "exp3", "rate": "inv_sqrt", "eta": 0.5},
}


def run(base: Path) -> Table:
    data = {"letter": rows(base, LETTER), "pendigits": rows(base, PENDIGITS), "mnist": images(base)}
    lines = []
    for name, (X, y) in data.items():
        classes = np.unique(y).tolist()

        def measure(X: Any, y: np.ndarray, seed: int, classes: list[Any] = classes) -> list[float]:
            told = {"classes": classes, "seed": seed, "bias": True}
            players = [nr.make(**{**told, **options}) for options in PLAYERS.values()]
            told_all = nr.full_information(players[0])
            assert told_all is not None
            return [100.0 * one.learn(X, y).mistakes / len(y) for one in (told_all, *players)]

        lines.append((name, str(len(classes)), str(len(y)), *map(mean, over_shuffles(X, y, measure))))
    return ("data", "classes", "rounds", "perceptron, told all", *PLAYERS), lines
