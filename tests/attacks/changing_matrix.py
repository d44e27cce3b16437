"""A thread writes the arrays of a sparse matrix while calls read them: each call learns, or is refused."""

import sys
import threading
import time
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import noregret as nr
from noregret.learner.model_file import pack, unpack

SHAPES = ((1_000, 200_000, 2_000), (100_000, 1_000, 10))  # rows, columns, values in a row: a long row is read slowly
WRONG = {"indices": (2**31 - 1, -1, 10**6), "indptr": (2**62, -(2**62), 7), "data": (float("nan"), 1e308, -1e308)}
"""By array: what is written into it, and then taken back."""
LEARNERS = ("pa1", "arow", "perceptron")
SECONDS = 2.0


def make_matrix(rows: int, columns: int, length: int) -> Any:
    """Sorted rows; offsets and indices have the types that the library works with, so that it could share them."""
    rng = np.random.default_rng(0)
    X: Any = csr_array((rows, columns))
    steps = rng.integers(1, columns // length, size=(rows, length))
    X.indices = (np.cumsum(steps, axis=1) - 1).astype(np.int32).reshape(-1)
    X.indptr, X.data = np.arange(rows + 1, dtype=np.int64) * length, rng.normal(size=rows * length)
    return X


class Writer(threading.Thread):
    """Writes wrong numbers over a stretch of an array, and the right ones again, until it is stopped."""

    def __init__(self, array: Any, wrong: tuple[float, ...]) -> None:
        super().__init__(daemon=True)
        self.array, self.right, self.wrong, self.stopped = array, array.copy(), wrong, False

    def run(self) -> None:
        rng = np.random.default_rng(1)
        while not self.stopped:
            first = int(rng.integers(self.array.size))
            here = slice(first, first + int(rng.integers(1, 5000)))
            self.array[here] = self.wrong[int(rng.integers(len(self.wrong)))]
            self.array[here] = self.right[here]


def learn(learner: nr.RuleLearner, X: Any, y: Any) -> None:
    learner.learn(X, y)


def learn_some(learner: nr.RuleLearner, X: Any, y: Any) -> None:
    """Learn a few rows; scipy must not slice them, because it would itself read outside of its arrays."""
    some: Any = csr_array((300, X.shape[1]))
    some.indptr = X.indptr[:301]
    some.indices, some.data = X.indices, X.data
    learner.learn(some, y[:300])


def score(learner: nr.RuleLearner, X: Any, y: Any) -> None:
    learner.scores(X)


def attack(number: int, seconds: float = SECONDS) -> str:
    """Learn and score while an array changes; the learner must be as good as new afterwards."""
    array, name = list(WRONG)[number % len(WRONG)], LEARNERS[number // len(WRONG) % len(LEARNERS)]
    X = make_matrix(*SHAPES[number // (len(WRONG) * len(LEARNERS)) % len(SHAPES)])
    y = np.where(np.random.default_rng(number).random(X.shape[0]) < 0.5, 1, -1)
    learner = nr.make(name).learn(X[:50], y[:50])
    writer, end, refused = Writer(getattr(X, array), WRONG[array]), time.monotonic() + seconds, 0
    writer.start()
    try:
        while time.monotonic() < end:
            for call in (learn, score, learn_some):
                try:
                    call(learner, X, y)
                except nr.Error:
                    refused += 1
    finally:
        writer.stopped = True
        writer.join()
    getattr(X, array)[:] = writer.right
    scores = learner.learn(X, y).scores(X)
    assert np.isfinite(scores).all()
    assert np.array_equal(unpack(pack(learner), "m.nr").scores(X), scores)
    return "refused" if refused else "learned"


if __name__ == "__main__":
    for number in map(int, sys.argv[2:]):
        print(attack(number, float(sys.argv[1])))
