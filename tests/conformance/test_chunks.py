"""How a stream is cut into calls changes nothing, not one bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.learner.model_file import pack
from noregret.state.growth import settle
from tests.conformance.loops import EVERYDAY
from tests.conformance.plays import (
    CARDS,
    FEW_IN,
    NAMES,
    ONE_OF_A_KIND,
    Play,
    either_engine,
    engine_names,
    few,
    near,
    plays,
    rows_of,
    same_bits,
    state,
    stream,
)
from tests.naive.rules import Array
from tests.support.cover import ALL

MANY = [card.name for card in CARDS if "multiclass" in card.tasks]
REGRESSING = NAMES if ALL else [name for name, tasks in EVERYDAY.items() if "regression" in tasks]
REGRESSORS = [
    (name, native)
    for name in NAMES
    for native in (False, True)
    if "regression" in nr.learners()[name].tasks and name in (REGRESSING if native else ONE_OF_A_KIND)
]
KERNELISERS = [name for name in ONE_OF_A_KIND if "kernel" in nr.learners()[name].algebras]


def growing(name: str, native: bool = False) -> tuple[Array, list[str]]:
    """Forty rounds in which features keep appearing, and classes in rounds 0, 3, 10 and 22 (or only 0 and 3)."""
    rng = np.random.default_rng(5)
    X, _ = stream("binary", dense=False, seed=5)
    for t in range(len(X)):
        X[t, 3 + t // 4 :] = 0.0
    known = np.searchsorted([0, 3, 10, 22], np.arange(40), side="right")
    y = [("ant", "bee", "cat", "dog")[rng.integers(k)] for k in known]
    for t, label in ((0, "ant"), (3, "bee"), (10, "cat"), (22, "dog")):
        y[t] = label
    if name not in MANY or (native and not ALL and name not in EVERYDAY):  # few loops for many classes are compiled
        y = [{"cat": "ant", "dog": "bee"}.get(label, label) for label in y]
    return X, y


def csr_pieces(X: Array) -> Callable[[int, int], Any]:
    """Rows first to last as a sparse matrix just as wide as they need, so that its width grows with the stream."""

    def piece(first: int, last: int) -> Any:
        rows = X[first:last]
        return csr_array(rows[:, : 1 + int(np.flatnonzero(rows.any(axis=0)).max(initial=0))])

    return piece


def in_calls(learner: nr.RuleLearner, piece: Callable[[int, int], Any], y: Any, size: int) -> list[nr.Transcript]:
    return [learner.play(piece(t, min(t + size, len(y))), y[t : t + size]) for t in range(0, len(y), size)]


def told(transcripts: list[nr.Transcript]) -> list[tuple[Any, ...]]:
    """What was said of every round, whatever the call it was part of."""
    return [
        one
        for said in transcripts
        for one in zip(
            said.predictions.tolist(),
            said.mistakes.tolist(),
            said.updated.tolist(),
            said.losses.tolist(),
            said.truth.tolist(),
            strict=True,
        )
    ]


def same_in_any_calls(make: Callable[[], nr.RuleLearner], piece: Callable[[int, int], Any], y: Any) -> None:
    whole = make()
    story = told(in_calls(whole, piece, y, len(y)))
    for size in (1, 7):
        parts = make()
        assert told(in_calls(parts, piece, y, size)) == story
        assert pack(parts) == pack(whole)


@either_engine
@pytest.mark.thinned(4)
def test_named_rows_in_any_calls_while_classes_and_features_appear(name: str, native: bool) -> None:
    X, y = growing(name, native)
    rows = rows_of(X)
    same_in_any_calls(lambda: nr.make(name, native=native), lambda a, b: rows[a:b], y)


@either_engine
@pytest.mark.thinned(4)
def test_sparse_matrices_that_grow_wider_in_any_calls(name: str, native: bool) -> None:
    X, y = growing(name, native)
    same_in_any_calls(lambda: nr.make(name, native=native), csr_pieces(X), y)


@pytest.mark.parametrize("name", KERNELISERS)
def test_supports_in_any_calls_while_classes_and_features_appear(name: str) -> None:
    X, y = growing(name)
    same_in_any_calls(lambda: nr.make(name, algebra="kernel", native=False), csr_pieces(X), y)


@pytest.mark.parametrize("name", ["arow", "sop"])
def test_full_matrices_in_any_calls_while_classes_and_features_appear(name: str) -> None:
    X, y = growing(name)
    same_in_any_calls(lambda: nr.make(name, covariance="full", native=False), csr_pieces(X), y)


@pytest.mark.parametrize("name", ["arow", "sop"])
def test_compiled_full_matrices_in_any_calls_while_features_appear(name: str) -> None:
    X, y = growing(name)
    signs = [1 if label == "bee" else -1 for label in y]
    same_in_any_calls(lambda: nr.make(name, covariance="full"), csr_pieces(X), signs)


@pytest.mark.parametrize("play", few(plays(algebras=["sparse", "dense", "reference"])), ids=str)
@pytest.mark.thinned(4)
def test_dense_matrices_in_any_calls(play: Play) -> None:
    X, y = stream(play.task, dense=True, seed=6)
    same_in_any_calls(play.make, lambda a, b: X[a:b], y)


@pytest.mark.parametrize("name", sorted(FEW_IN["dense"] - {"mira"}))  # which needs three classes
def test_compiled_dense_matrices_in_any_calls(name: str) -> None:
    X, y = stream("binary", dense=True, seed=6)
    same_in_any_calls(lambda: nr.make(name), lambda a, b: X[a:b], y)


@pytest.mark.parametrize("name", ["perceptron", "arow"])
def test_compiled_dense_rows_that_grow_wider_differ_by_rounding_only(name: str) -> None:
    X, y = growing(name)
    rows = rows_of(X)
    signs = np.array([1.0 if label == "bee" else -1.0 for label in y])
    whole, parts = nr.make(name, algebra="dense"), nr.make(name, algebra="dense")
    in_calls(whole, lambda a, b: rows[a:b], signs, 40)
    in_calls(parts, lambda a, b: rows[a:b], signs, 7)
    near(parts.scores(rows), whole.scores(rows), tolerance=1e-12)


@pytest.mark.thinned(4)
@either_engine
def test_learn_one_in_a_loop_is_learn(name: str, native: bool) -> None:
    X, y = growing(name, native)
    one_by_one, at_once = nr.make(name, native=native), nr.make(name, native=native)
    for x, label in zip(rows_of(X), y, strict=True):
        one_by_one.learn_one(x, label)
    at_once.learn(rows_of(X), y)
    assert pack(one_by_one) == pack(at_once)


@pytest.mark.parametrize("play", few(plays()), ids=str)
def test_learn_one_takes_a_row_of_numbers_too(play: Play) -> None:
    X, y = stream(play.task, dense=True, seed=7, rounds=20)
    one_by_one = play.make()
    for x, label in zip(X, y, strict=True):
        one_by_one.learn_one(x, label)
    assert pack(one_by_one) == pack(play.make().learn(X, y))


@pytest.mark.parametrize(("name", "native"), REGRESSORS, ids=engine_names)
def test_learn_one_in_a_loop_is_learn_in_regression(name: str, native: bool) -> None:
    X, y = stream("regression", dense=False, seed=7)
    one_by_one = nr.make(name, task="regression", native=native)
    at_once = nr.make(name, task="regression", native=native)
    for x, target in zip(rows_of(X), y.tolist(), strict=True):
        one_by_one.learn_one(x, target)
    at_once.learn(rows_of(X), y)
    assert pack(one_by_one) == pack(at_once)


@pytest.mark.parametrize("play", few(plays()), ids=str)
def test_play_learns_what_learn_learns(play: Play) -> None:
    X, y = stream(play.task, dense=False, seed=8)
    played, learned = play.make(), play.make()
    played.play(X, y)
    learned.learn(X, y)
    assert pack(played) == pack(learned)


@pytest.mark.parametrize("play", few(plays(["multiclass", "regression"])), ids=str)
@pytest.mark.thinned(4)
def test_the_same_data_twice_give_the_same_bits(play: Play) -> None:
    X, y = stream(play.task, dense=False, seed=9)
    assert pack(play.make().learn(X, y)) == pack(play.make().learn(X.copy(), y.copy()))


@either_engine
@pytest.mark.thinned(6)
def test_predicting_changes_nothing(name: str, native: bool) -> None:
    X, y = growing(name, native)
    learner = nr.make(name, native=native).learn(rows_of(X), y)
    before = pack(learner)
    strange = [*rows_of(X), {}, {"never seen": 2.0, "f1": 1.0}]
    first = learner.scores(strange)
    for x in strange:
        learner.predict_one(x)
        learner.scores_one(x)
        learner.explain_one(x)
    learner.predict(strange)
    assert same_bits(learner.scores(strange), first)
    assert pack(learner) == before


@pytest.mark.thinned(4)
@either_engine
def test_predicting_one_row_is_predicting_it_among_others(name: str, native: bool) -> None:
    X, y = growing(name, native)
    learner = nr.make(name, native=native).learn(rows_of(X), y)
    rows = [*rows_of(X), {}, {"never seen": 2.0, "f1": 1.0}]
    assert [learner.predict_one(x) for x in rows] == learner.predict(rows).tolist()
    said = [learner.scores_one(x) for x in rows]
    singly = [list(scores.values()) if isinstance(scores, dict) else scores for scores in said]
    assert singly == learner.scores(rows).tolist()


@pytest.mark.parametrize("name", [name for name in MANY if nr.make(name).task == "binary"])
def test_a_third_class_halves_the_weights_and_copies_the_confidence(name: str) -> None:
    X, y = stream("binary", dense=False, seed=10)
    kernel = (
        {"kernel": "linear"} if nr.learners()[name].algebras == ("kernel",) else {}
    )  # in which zeros change nothing
    learner = nr.make(name, native=False, **kernel).learn(X, np.where(y > 0, "yes", "no"))
    signs = dict(zip(learner.classes, (-1.0, 1.0), strict=True))
    rested = learner.copy()
    settle(rested.model.arrays)
    before = {field: array[0] for field, array in state(rested).items()}
    learner.learn(np.zeros((1, 12)), ["maybe"], weight=0.0 if learner.card.supports_weights else None)
    law = {
        "add": lambda w, sign: sign * w / 2.0 + 0.0,  # no zero is negative
        "multiply": lambda w, sign: w ** (sign / 2.0),
        "copy": lambda w, sign: w,
        "keep": lambda w, sign: w,
    }
    for name_of_field, field in learner.config.card.state.items():
        if field.kind in ("reservoir", "basis"):
            continue  # it has no weights
        array = state(learner)[name_of_field]
        if field.kind == "scaled":  # what is kept is scaled, and a round may shorten it
            assert (array[0] == -array[1]).all()
            assert array[0].any()
            continue
        for code, label in enumerate(learner.classes[:2]):
            assert same_bits(array[code], law[field.law](before[name_of_field], signs[label]))
        assert (array[2] == field.start).all()
    assert learner.classes[2] == "maybe"
