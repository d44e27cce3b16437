"""At the edges of arithmetic and of data a learner stays finite, or refuses and says so."""

from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.learner.model_file import pack
from noregret.rules.parameters import Param
from tests.conformance.plays import FEW, NAMES, Play, arrays, few, firsts, in_first_task, leads, plays, rows_of, stream
from tests.naive.rules import Array
from tests.support.cover import ALL

Stream = tuple[Array, Any]
PLAYS = plays(algebras=["sparse", "dense", "kernel"])
EVERY_RULE = [play for play in firsts(PLAYS) if leads(play) and in_first_task(play)]


def zero_rows(X: Array, y: Any) -> Stream:
    X[::2] = 0.0
    return X, y


def nothing_but_zeros(X: Array, y: Any) -> Stream:
    return np.zeros_like(X), y


def one_label(X: Array, y: Any) -> Stream:
    return X, np.full(len(y), y[0])


def one_huge_feature(X: Array, y: Any) -> Stream:
    X[::3, 2] = 1e150
    return X, y


def huge_everywhere(X: Array, y: Any) -> Stream:
    return X * 1e154, y


def denormals(X: Array, y: Any) -> Stream:
    X[:] = np.where(X != 0.0, 5e-324, 0.0)
    return X, y


def squares_that_vanish(X: Array, y: Any) -> Stream:
    return X * 1e-160, y


def the_same_row(X: Array, y: Any) -> Stream:
    X[:] = X[0]
    return X, y


EDGES: list[Callable[[Array, Any], Stream]] = [
    zero_rows,
    nothing_but_zeros,
    one_label,
    one_huge_feature,
    huge_everywhere,
    denormals,
    squares_that_vanish,
    the_same_row,
]
MAY_BE_REFUSED = [one_huge_feature, huge_everywhere]
HARSH = [one_huge_feature, huge_everywhere, denormals, squares_that_vanish]


def stays_finite(learner: nr.RuleLearner, X: Any, y: Any, probe: Any) -> None:
    """Learn every row that is not refused; whatever is kept or said is a finite number."""
    for t in range(0, len(y), 4):
        before = pack(learner)
        try:
            transcript = learner.play(X[t : t + 4], y[t : t + 4])
        except nr.Error:
            assert pack(learner) == before
            continue
        assert not np.isnan(transcript.scores).any()
        assert not np.isposinf(transcript.scores).any()
        assert not np.isnan(transcript.losses).any()
    for found in arrays(learner).values():
        assert np.isfinite(found).all()
    if learner.rounds:
        # Huge supports are finite, and what they add up to may not be: then the score is refused.
        huge = learner.algebra == "kernel" and isinstance(X, np.ndarray) and np.abs(X).max() > 1e100
        with suppress(nr.BadValue) if huge else nullcontext():
            assert not np.isnan(learner.scores(probe)).any()


@pytest.mark.parametrize("play", list(dict.fromkeys([*EVERY_RULE, *few(PLAYS)])), ids=str)
@pytest.mark.thinned(6)
def test_stays_finite(play: Play) -> None:
    probe, _ = stream(play.task, dense=False)
    for edge in EDGES:
        X, y = edge(*stream(play.task, dense=False, seed=27, rounds=12))
        learner = play.make()
        stays_finite(learner, X, y, probe)
        assert learner.rounds == len(y) or edge in MAY_BE_REFUSED, edge.__name__


@pytest.mark.thinned(6)
@pytest.mark.parametrize("name", FEW)
def test_compiled_stays_finite(name: str) -> None:
    probe, _ = stream("binary", dense=False)
    for edge in EDGES:
        X, y = edge(*stream("binary", dense=False, seed=27, rounds=16))
        stays_finite(nr.make(name), X, y, probe)
        stays_finite(nr.make(name), csr_array(X), y, probe)
        stays_finite(nr.make(name), rows_of(X), y, rows_of(probe))


def extremes(param: Param) -> list[float]:
    """Numbers as near to the limits of a parameter as makes sense, or as far away."""
    low = param.at_least if np.isfinite(param.at_least) else param.above + 1e-12 * max(1.0, abs(param.above))
    high = param.at_most if np.isfinite(param.at_most) else param.below - 1e-12 * max(1.0, abs(param.below))
    return [low if np.isfinite(low) else -1e12, high if np.isfinite(high) else 1e12]


@pytest.mark.parametrize("play", EVERY_RULE, ids=str)
@pytest.mark.thinned(8)
def test_stays_finite_whatever_its_parameters(play: Play) -> None:
    probe, _ = stream(play.task, dense=False)
    for name, param in play.card.numbers.items():
        for number in extremes(param):
            try:
                learner = play.make(**{name: number})
            except nr.BadValue:  # these numbers cannot work together, as the card says
                continue
            for edge in EDGES if ALL else HARSH:
                X, y = edge(*stream(play.task, dense=False, seed=27, rounds=12))
                stays_finite(learner.copy(), X, y, probe)


@pytest.mark.parametrize("play", few(PLAYS), ids=str)
def test_an_empty_call_changes_nothing(play: Play) -> None:
    X, y = stream(play.task, dense=False, seed=28)
    learner = play.make()
    learner.learn(X[:0], y[:0])
    learner.learn(X, y)
    before = pack(learner)
    transcript = learner.play(X[:0], y[:0])
    assert transcript.rounds == 0
    assert len(learner.predict(X[:0])) == 0
    assert pack(learner) == before


@pytest.mark.parametrize("name", NAMES)
def test_one_class_is_all_that_is_ever_predicted(name: str) -> None:
    X, _ = stream("binary", dense=False, seed=29)
    for told in ({"task": task} for task in {None, "multiclass"} & {None, *nr.learners()[name].tasks}):
        learner = nr.make(name, native=False, **told)
        transcript = learner.play(X, ["only"] * len(X))
        assert learner.predict(X).tolist() == ["only"] * len(X)
        assert transcript.predictions.tolist() == [None, *["only"] * (len(X) - 1)]
