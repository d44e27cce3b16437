"""Kernel learners: the perceptron beside a numpy twin that keeps its supports in one array, and budgets.

a9a, or without NOREGRET_DATA generated rows of the same size, in one pass; covtype (class 2 against the rest), or
generated rows, with a budget of 500 supports. `python -m benchmarks kernel` prints the table.
"""

import gzip
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, random_array
from threadpoolctl import threadpool_limits

import noregret
from benchmarks.kernel_maps import rounds
from benchmarks.measure import Act, Prepare, Row, best, in_turn
from benchmarks.stream import Floats, Integers

TITLE = (
    "Kernels: a9a in one pass, and a budget of 500 supports on 54 dense columns (generated rows without NOREGRET_DATA)"
)
FILE, ROWS, COLUMNS, GAMMA = "a9a/a9a.svm.gz", 32_561, 123, 0.01
BUDGET, PART, DENSE = 500, 20_000, 54
POLICIES = {"oldest": 60.0, "smallest": 60.0, "random": 60.0}  # thousand rounds a second


def sparse_rounds() -> tuple[csr_array, Integers]:
    try:
        with gzip.open(Path(os.environ["NOREGRET_DATA"]) / FILE, "rt") as lines:
            return read_svm(lines)
    except (KeyError, OSError):
        rng = np.random.default_rng(0)
        X = csr_array(random_array((ROWS, COLUMNS), density=14 / COLUMNS, rng=rng))
        X.data[:] = 1.0
        noisy = X @ rng.normal(size=COLUMNS) + rng.normal(size=ROWS)
        return X, np.where(noisy > 1.0, 1, -1).astype(np.int64)


def read_svm(lines: Iterator[str]) -> tuple[csr_array, Integers]:
    labels, idx, ends = [], list[int](), [0]
    for line in lines:
        label, *values = line.split()
        labels.append(1 if float(label) > 0.0 else -1)
        idx += [int(value.partition(":")[0]) - 1 for value in values]
        ends.append(len(idx))
    return csr_array((np.ones(len(idx)), idx, ends), shape=(len(labels), COLUMNS)), np.array(labels)


def ours(X: csr_array, y: Integers, told: dict[str, int]) -> Act:
    learner = noregret.make("perceptron", algebra="kernel", gamma=GAMMA)

    def act() -> None:
        learner.learn(X, y)
        told["ours"] = learner.mistakes

    return act


def twin(X: csr_array, y: Integers, told: dict[str, int]) -> Act:
    """Supports in one array that doubles; the kernel with all of them by one product of a matrix and a row."""
    rows = np.ascontiguousarray(X.toarray())
    sizes = (rows * rows).sum(axis=1)

    def act() -> None:
        kept, signs, lengths = np.empty((1024, COLUMNS)), np.empty(1024), np.empty(1024)
        n = mistakes = 0
        for row, size, label in zip(rows, sizes, y.tolist(), strict=True):
            distances = np.maximum(lengths[:n] + size - 2.0 * (kept[:n] @ row), 0.0)
            score = float(signs[:n] @ np.exp(-GAMMA * distances))
            mistakes += (score >= 0.0) != (label > 0)
            if label * score <= 0.0:
                if n == len(signs):
                    kept, signs, lengths = (np.concatenate((one, np.empty_like(one))) for one in (kept, signs, lengths))
                kept[n], signs[n], lengths[n] = row, label, size
                n += 1
        told["twin"] = mistakes

    return act


def budgeted(policy: str, X: Floats, y: Integers, told: dict[str, int]) -> Act:
    learner = noregret.make("perceptron", algebra="kernel", gamma=1.0 / DENSE, budget=BUDGET, policy=policy)
    learner.learn(X[:10], y[:10])

    def act() -> None:
        learner.learn(X, y)
        told[policy] = learner.mistakes

    return act


def run() -> list[Row]:
    told: dict[str, int] = {}
    with threadpool_limits(1, user_api="blas"):
        X, y = sparse_rounds()
        noregret.make("perceptron", algebra="kernel", gamma=GAMMA).learn(X[:10], y[:10])
        times = in_turn({"ours": partial(ours, X, y, told), "twin": partial(twin, X, y, told)}, 2)
        a, b = best(times, "ours"), best(times, "twin")
        found = [
            Row("kernel perceptron, one pass", f"{a:.2f} s, {told['ours']} mistakes",
                f"numpy and BLAS, a row at a time: {b:.2f} s, {told['twin']} mistakes", b / a, "x", at_least=5.0,
                seconds=times),
        ]  # fmt: skip
        D, labels = rounds(PART)
        linear = noregret.make("arow").learn(D, labels).mistakes / PART
        contestants: dict[str, Prepare] = {name: partial(budgeted, name, D, labels, told) for name in POLICIES}
        times = in_turn(contestants, 3)
    for policy, target in POLICIES.items():
        speed = PART / best(times, policy) / 1e3
        found.append(
            Row(f"budget {BUDGET}, policy {policy}", f"{speed:.0f} k rounds/s, error {told[policy] / PART:.4f}",
                f"arow (linear), error {linear:.4f}", speed, " k rounds/s", at_least=target, seconds=times)
        )  # fmt: skip
    return found
