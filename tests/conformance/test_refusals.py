"""Whatever is not a finite number is refused, and a refused call leaves no trace."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.learner.model_file import pack
from tests.conformance.plays import CARDS, FEW, ONE_OF_A_KIND, Play, either_engine, few, plays, rows_of, stream

BAD = [float("nan"), float("inf"), float("-inf")]
every_bad_value = pytest.mark.parametrize("bad", BAD, ids=str)
SHAPES: dict[str, Callable[[Any], Any]] = {"dense": np.array, "csr": csr_array, "dicts": rows_of}


def refused(learner: nr.RuleLearner, *calls: Callable[[], Any]) -> None:
    before = pack(learner)
    for call in calls:
        with pytest.raises(nr.Error):
            call()
        assert pack(learner) == before


def every_call(learner: nr.RuleLearner, rows: Any, one: Any, y: Any) -> list[Callable[[], Any]]:
    """Every way to show some rows, or one of them, to a learner."""
    return [
        partial(learner.learn, rows, y),
        partial(learner.play, rows, y),
        partial(learner.learn_one, one, y[-2]),
        partial(learner.predict, rows),
        partial(learner.scores, rows),
        partial(learner.predict_one, one),
        partial(learner.scores_one, one),
    ]


def with_bad_value(X: Any, shape: str, bad: float) -> Any:
    """Some rows, the last but one with a bad value in its last feature."""
    X = X.copy()
    X[-2, -1] = bad
    return SHAPES[shape](X)


@pytest.mark.parametrize("play", few(plays()), ids=str)
def test_a_feature_that_is_not_finite_is_refused(play: Play) -> None:
    X, y = stream(play.task, dense=False, seed=15)
    for shape, bad in zip(SHAPES, BAD, strict=True):
        learner = play.make().learn(SHAPES[shape](X[:9]), y[:9])
        rows = with_bad_value(X[9:], shape, bad)
        one = rows[-2] if shape != "csr" else rows[[-2]]
        refused(learner, *every_call(learner, rows, one, y[9:]))


@pytest.mark.parametrize("name", FEW)
def test_compiled_code_never_sees_a_feature_that_is_not_finite(name: str) -> None:
    X, y = stream("binary", dense=False, seed=15)
    named = nr.make(name).learn(rows_of(X[:9]), y[:9])
    numbered = nr.make(name).learn(csr_array(X[:9]), y[:9])
    for bad in BAD:
        rows = with_bad_value(X[9:], "csr", bad)
        refused(numbered, *every_call(numbered, rows, rows[[-2]], y[9:]))
        rows = with_bad_value(X[9:], "dicts", bad)
        refused(named, *every_call(named, rows, {"f0": 1.0, "f3": bad}, y[9:]))


@pytest.mark.parametrize("play", few(plays(algebras=["sparse", "kernel"])), ids=str)
def test_a_label_that_is_not_finite_is_refused(play: Play) -> None:
    X, y = stream(play.task, dense=False, seed=16)
    learner = play.make().learn(X[:9], y[:9])
    for bad in BAD:
        labels = np.append(y[9:-1].astype(float), bad)
        refused(
            learner,
            partial(learner.learn, X[9:], labels),
            partial(learner.play, X[9:], labels.tolist()),
            partial(learner.learn_one, X[9], bad),
        )


@pytest.mark.thinned(3)
@every_bad_value
@either_engine
def test_a_named_round_with_a_bad_label_is_refused(name: str, bad: float, native: bool) -> None:
    X, y = stream("binary", dense=False, seed=16)
    learner = nr.make(name, native=native).learn(rows_of(X), y)
    refused(learner, lambda: learner.learn_one({"f1": 1.0, "new": 1.0}, bad))


@pytest.mark.parametrize("name", [card.name for card in CARDS if card.supports_weights])
def test_a_weight_that_is_not_finite_or_is_negative_is_refused(name: str) -> None:
    X, y = stream("binary", dense=False, seed=17)
    learner = nr.make(name, native=False).learn(X[:9], y[:9])
    for bad in [*BAD, -1.0]:
        h = np.append(np.ones(30), bad)
        refused(
            learner,
            partial(learner.learn, X[9:], y[9:], weight=h),
            partial(learner.play, X[9:], y[9:], weight=h),
            partial(learner.learn, X[9:], y[9:], weight=bad),
            partial(learner.learn_one, X[9], 1.0, weight=bad),
        )


@pytest.mark.parametrize("name", ONE_OF_A_KIND)
def test_a_refused_first_call_leaves_a_fresh_learner(name: str) -> None:
    X, y = stream("binary", dense=False, seed=18)
    learner = nr.make(name, native=False)
    refused(
        learner,
        lambda: learner.learn(with_bad_value(X, "dicts", np.nan), y),
        lambda: learner.learn(X, [*y[:-1], np.nan]),
        lambda: learner.learn(X, y[:-1]),
    )
    assert learner.predict_one({"f1": 1.0}) is None
    assert pack(learner.learn(X, y)) == pack(nr.make(name, native=False).learn(X, y))
