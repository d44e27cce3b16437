"""Multiclass data: online error in percent of five learners and of scikit-learn, one pass."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

import noregret as nr
from verification.experiments.common import LETTER, MNIST, PENDIGITS, SHUFFLES, Table, images, mean, over_shuffles
from verification.reproduce.data import rows

SEGMENT = "segment/segment.scale.svm.gz"
FILES = (SEGMENT, PENDIGITS, LETTER, MNIST)
NAMES = ("perceptron", "pa1", "ogd", "arow", "scw1")
LARGE = 20_000  # of a data set with more rows there is one order, the first shuffle
CHUNK = 10  # rows that scikit-learn predicts before it learns them; one at a time would take an hour


def scikit_learn(X: Any, y: np.ndarray) -> float:
    """The error of PA-I, one class against the rest: every chunk is predicted, then learned row by row."""
    from sklearn.linear_model import SGDClassifier

    model = SGDClassifier(loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0, shuffle=False)
    classes, wrong = np.unique(y), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for at in range(0, len(y), CHUNK):
            some, truth = X[at : at + CHUNK], y[at : at + CHUNK]
            wrong += len(truth) if at == 0 else int(np.count_nonzero(model.predict(some) != truth))
            model.partial_fit(some, truth, classes=classes)
    return 100.0 * wrong / len(y)


def measure(X: Any, y: np.ndarray, seed: int) -> list[float]:
    ours = [nr.make(one, task="multiclass", bias=True).learn(X, y).mistakes for one in NAMES]
    return [*(100.0 * wrong / len(y) for wrong in ours), scikit_learn(X, y)]


def run(base: Path) -> Table:
    data = {
        "segment": rows(base, SEGMENT),
        "pendigits": rows(base, PENDIGITS),
        "letter": rows(base, LETTER),
        "mnist": images(base),
    }
    lines = []
    for name, (X, y) in data.items():
        found = over_shuffles(X, y, measure, SHUFFLES if len(y) <= LARGE else 1)
        lines.append((name, str(len(np.unique(y))), str(len(y)), *(mean(column, 2) for column in found)))
    return ("data", "classes", "rounds", *NAMES, "scikit-learn pa1"), lines
