"""No infinity and no NaN ever stays in a model: a call that would leave one is undone, and its round is named."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from noregret.learner.model_file import pack
from tests.support import by_name, by_number, refused, small_stream
from tests.support.cover import ALL

X, Y = small_stream(rows=40)
HUGE = X.copy()
HUGE[16] = 1e200  # its square is not a float any more
SMALL_STEPS = {"loss": "squared"}  # every round moves the weights

KINDS: dict[str, Any] = {
    "dense": np.asarray,
    "CSR": sp.csr_matrix,
    "COO": sp.coo_matrix,
    "by number": lambda rows: [by_number(row) for row in rows],
    "by name": lambda rows: [by_name(row) for row in rows],
}
BOTH = pytest.mark.parametrize("native", [False, True], ids=["interpreted", "compiled"])


@pytest.mark.thinned(2)
@pytest.mark.compiles
@BOTH
@pytest.mark.parametrize("kind", KINDS)
def test_an_overflow_names_its_round_and_undoes_the_whole_call(kind: str, native: bool) -> None:
    learner = nr.make("ogd", native=native, **SMALL_STEPS)
    assert "round 17 (row 16 of this call)" in refused(learner, lambda: learner.learn(KINDS[kind](HUGE), Y))
    learner.learn(KINDS[kind](X[:5]), Y[:5])
    assert "round 22 (row 16 of this call)" in refused(learner, lambda: learner.play(KINDS[kind](HUGE), Y))
    twin = nr.make("ogd", native=native, **SMALL_STEPS).learn(KINDS[kind](X[:5]), Y[:5])
    assert pack(learner.learn(KINDS[kind](X), Y)) == pack(twin.learn(KINDS[kind](X), Y))


@BOTH
@pytest.mark.parametrize("as_row", [by_number, by_name])
def test_an_overflow_in_a_single_round_is_undone(as_row: Any, native: bool) -> None:
    learner = nr.make("ogd", native=native, **SMALL_STEPS)
    for t in range(16):
        learner.learn_one(as_row(X[t]), Y[t])
    assert "round 17" in refused(learner, lambda: learner.learn_one(as_row(HUGE[16]), Y[16]))
    assert learner.learn_one(as_row(X[16]), Y[16]).rounds == 17


@BOTH
def test_a_new_name_in_a_round_that_overflows_is_forgotten(native: bool) -> None:
    learner = nr.make("ogd", native=native, **SMALL_STEPS).learn([by_name(row) for row in X], Y)
    refused(learner, lambda: learner.learn_one({"f0": 1e200, "new": 1.0}, 1))
    assert learner.model.names.as_list() == ["f0", "f1", "f2", "f3"]


@BOTH
def test_a_class_that_came_in_a_call_that_overflows_is_forgotten(native: bool) -> None:
    learner = nr.make("ogd", native=native, **SMALL_STEPS).learn(X, Y)
    refused(learner, lambda: learner.learn(HUGE, ["third", *Y[1:]]))
    assert learner.classes == list(dict.fromkeys(Y.tolist()))
    assert learner.task == "binary"


@pytest.mark.parametrize(
    "told",
    [
        {"rule": "sop", "covariance": "full"},
        {"rule": "sop"},
        {"rule": "perceptron", "algebra": "kernel", "kernel": "polynomial"},
        {"rule": "winnow"},
        {"rule": "ogd", "loss": "squared", "task": "regression"},
        {"rule": "ogd", "loss": "squared", "task": "multiclass"},
    ],
    ids=str,
)
def test_every_kind_of_state_is_put_back(told: dict[str, str]) -> None:
    learner = nr.make(native=False, **told).learn(X, Y)
    worse = X.copy()
    worse[16:] = 1.7e308
    refused(learner, lambda: learner.learn(worse, Y))


def test_a_few_rows_are_undone_in_a_large_state() -> None:
    rows = sp.random_array((50, 100_000), density=1e-3, rng=np.random.default_rng(0))
    learner = nr.make("ogd", **SMALL_STEPS).learn(rows, np.arange(50) % 2)
    wide = sp.csr_array(([1.0, 1e200, 1e200], ([0, 1, 1], [99_999, 5, 99_999])), shape=(2, 100_000))
    assert "row 1 of this call" in refused(learner, lambda: learner.learn(wide, [0, 1]))
    assert learner.learn(wide[:1], [0]).rounds == 51


@pytest.mark.thinned(2)
@pytest.mark.compiles
@pytest.mark.parametrize("rule", ["ogd", "eg", "gradient_batch", "fobos", "eg_signed"][: None if ALL else 2])
def test_features_that_many_rows_share_are_undone_in_a_large_state(rule: str) -> None:
    rng = np.random.default_rng(1)
    columns = np.sort([rng.choice(12_000, 20, replace=False) * 20 for _ in range(301)], axis=1)
    values = 0.1 * rng.standard_normal((301, 20))
    values[-1] = 1e200
    rows = sp.csr_array((values.ravel(), columns.ravel(), np.arange(0, 6021, 20)), shape=(301, 240_000))
    labels = np.arange(301) % 2
    learner, twin = (nr.make(rule, algebra="sparse", **SMALL_STEPS).learn(rows[:100], labels[:100]) for _ in "ab")
    message = refused(learner, lambda: learner.learn(rows, labels, np.append(np.ones(300), 1e200)))
    assert "row 300 of this call" in message
    assert pack(learner.learn(rows[:300], labels[:300])) == pack(twin.learn(rows[:300], labels[:300]))


def test_single_rounds_go_on_after_a_refused_call_that_had_grown_the_state() -> None:
    rows, labels = [{"a": 1.0}, {"a": -2.0}, {"a": 0.5}], [1, -1, 1]
    learner, twin = (nr.make("ogd", **SMALL_STEPS).learn(rows, labels) for _ in range(2))
    refused(learner, lambda: learner.learn([{f"n{j}": 1e200 for j in range(9)}] * 2, [1, -1]))
    assert pack(learner.learn_one({"a": 5.0}, 1)) == pack(twin.learn_one({"a": 5.0}, 1))


def test_a_weight_can_be_the_cause() -> None:
    learner = nr.make("perceptron", native=False, eta=10.0)
    assert "round 1 (row 0" in refused(learner, lambda: learner.learn(X, Y, [1e308] + 39 * [1.0]))
