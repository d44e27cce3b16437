"""Threads lose no round and see no half-learned state; large vocabularies, long rows and many classes just work."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from noregret.learner.model_file import pack
from tests.support import load_own_rules
from tests.support.cover import only_in_test_all

own = load_own_rules()


# ---- threads ------------------------------------------------------------------------------------------------------


@pytest.mark.thinned(2)
@pytest.mark.compiles
@pytest.mark.parametrize("named", [True, False], ids=["by name", "by number"])
def test_two_threads_lose_no_round(named: bool) -> None:
    learner = nr.make(own.summing)
    rows: list[Any] = [{j % 7: 1.0, 7 + j % 5: 2.0} for j in range(35)]
    if named:
        rows = [{f"f{j}": value for j, value in row.items()} for row in rows]
    learner.learn(rows, [1] * 35)

    def add_many(label: int) -> None:
        for t in range(100_000):
            learner.learn_one(rows[t % 35], label)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(add_many, (1, 1)))
    assert learner.rounds == learner.updates == 200_035
    w = [learner.scores_one({f"f{j}" if named else j: 1.0}) for j in range(12)]
    assert (sum(w[:7]), sum(w[7:])) == (200_035.0, 400_070.0)


@pytest.mark.compiles
def test_a_thread_that_predicts_sees_only_states_between_calls() -> None:
    calls, rows = 60, 4_000
    learner = nr.make(own.summing).learn(np.eye(2), [1, 1])
    block = np.repeat(np.eye(2), rows, axis=0)
    seen = set()

    def learn_on() -> int:
        for _ in range(calls):
            learner.learn(block, [1] * 2 * rows)
            time.sleep(0.001)
        return learner.rounds

    with ThreadPoolExecutor(1) as thread:
        learning = thread.submit(learn_on)
        while not learning.done():
            first, second = learner.scores(np.eye(2)).tolist()
            assert first == second
            seen.add(first)
    assert learning.result() == 2 + calls * 2 * rows
    assert len(seen) > 1
    assert all((score - 1.0) % rows == 0.0 for score in seen)


def test_learners_play_in_threads_of_their_own() -> None:
    rows = sp.random_array((2_000, 500), density=0.05, rng=np.random.default_rng(0), format="csr")
    labels = np.arange(2_000) % 3

    def played(rule: str) -> bytes:
        return pack(nr.make(rule, task="multiclass").learn(rows, labels))

    with ThreadPoolExecutor(2) as threads:
        together = list(threads.map(played, ("pa1", "perceptron", "pa1", "perceptron")))
    assert together == [played(rule) for rule in ("pa1", "perceptron", "pa1", "perceptron")]


# ---- size ---------------------------------------------------------------------------------------------------------

MILLION = 1_000_000


@only_in_test_all
def test_a_million_names_one_round_at_a_time() -> None:
    learner = nr.make("pa1")
    for first in range(0, MILLION, 10):
        learner.learn_one({f"w{number}": 1.0 for number in range(first, first + 10)}, first % 20 == 0)
    assert len(learner.model.names.known) == MILLION
    assert learner.model.names.name(MILLION - 1) == f"w{MILLION - 1}"
    assert learner.predict_one({"w0": 1.0}) is True
    assert learner.predict_one({f"w{MILLION - 1}": 1.0}) is False


@only_in_test_all
def test_a_million_names_in_batches() -> None:
    learner = nr.make("pa1")
    for start in range(0, MILLION, 100_000):
        rows = [
            {f"w{number}": 1.0 for number in range(first, first + 10)} for first in range(start, start + 100_000, 10)
        ]
        learner.learn(rows, [t % 2 == 0 for t in range(10_000)])
    assert len(learner.model.names.known) == MILLION
    assert learner.predict([{"w0": 1.0}, {f"w{MILLION - 1}": 1.0}]).tolist() == [True, False]


def test_rows_of_a_hundred_thousand_values() -> None:
    wide = 100_000
    values = np.sin(1.0 + np.arange(2 * wide)).reshape(2, wide)
    matrix = nr.make("pa1").learn(sp.csr_array(values), [1, -1])
    loop = nr.make("pa1")
    for row, label in zip(values, (1, -1), strict=True):
        loop.learn_one(dict(enumerate(row.tolist())), label)
    assert pack(matrix) == pack(loop)
    assert [loop.predict_one(dict(enumerate(row.tolist()))) for row in values] == [1, -1]


@only_in_test_all
@pytest.mark.parametrize("kind", [sp.csr_array, np.asarray], ids=["sparse", "dense"])
def test_a_thousand_classes(kind: Any) -> None:
    classes = [f"class {number}" for number in range(1_000)]
    order = np.random.default_rng(0).permutation(1_000)
    rows, labels = np.eye(1_000)[order], [classes[number] for number in order]
    learner = nr.make("perceptron").learn(kind(rows), labels)
    assert learner.classes == labels
    learner.learn(kind(rows), labels)
    assert learner.scores(kind(rows)).shape == (1_000, 1_000)
    assert learner.predict(kind(rows)).tolist() == labels
    assert learner.predict_one({int(order[5]): 1.0}) == labels[5]
