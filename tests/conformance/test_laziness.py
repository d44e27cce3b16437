"""Laziness: what a round costs does not depend on how many features there are, and changes nothing but the cost."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from noregret.algebra.verbs import Verb
from noregret.learner.engine import Rounds
from tests.conformance.plays import CARDS, Play, firsts, plays, unusual
from tests.naive import streams
from tests.support.cover import ALL, cover
from tests.support.encoding import encoded

PLAYS = [
    play
    for play in plays(["binary", "multiclass"], ["sparse"])
    if all(option == play.card.defaults[name] for name, option in play.options if name in ("loss", "schedule"))
]
BY_ROW = [
    play
    for play in (PLAYS if ALL else firsts(PLAYS))
    if play.card.touches(play.make().config.choices) != "all"
    and not play.full
    and not {("strict", "yes"), ("flavour", "norm")}
    & set(play.options)  # it needs a random start, which is another one at other features
    and "random" not in play.card.counters  # what is drawn depends on how many features there are
]
STORES = [play for play in PLAYS if {field.kind for field in play.card.state.values()} - {"vector", "covariance"}]
LAZY = STORES if ALL else cover(STORES, lambda play: [(field.kind, play.task) for field in play.card.state.values()])


class Counting(np.ndarray):
    """An array that counts the cells that are read or written through it."""

    cells = 0

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        Counting.cells += np.size(found)
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        Counting.cells += np.size(super().__getitem__(key))
        super().__setitem__(key, value)


def counted(value: Any) -> Any:
    """The same state over the same memory, with every array of floats counting."""
    if isinstance(value, np.ndarray):
        return value.view(Counting) if value.dtype == np.float64 else value
    if isinstance(value, tuple) and not isinstance(value, np.void):
        return type(value)(*map(counted, value))
    return value


def cells_touched(play: Play, features: int) -> int:
    """What 20 rounds read and write, the same rows spread over so many features, after as many rounds before."""
    X, signs = streams.sparse(40, 25, density=0.3, seed=5)
    y: Any = signs
    if play.task == "multiclass":
        y = np.arange(40) % 3
    rows = csr_array(X)
    spread = (rows.indices.astype(np.int64) * (features // 25)).astype(np.int32)
    wide = csr_array((rows.data, spread, rows.indptr), shape=(40, features))
    told: dict[str, Any] = {"classes": [0, 1, 2]} if play.task == "multiclass" else {}
    if play.name == "eg_signed":
        told |= {
            "U": 1.0,
            "eta": 0.1,
        }  # no score exceeds 1: every round is an update, for any number of features
    learner = play.make(**told)
    learner.learn(wide[:20], y[:20])
    learner.model.arrays = counted(learner.model.arrays)
    learner._loops.bind(learner.model)
    block = encoded(learner, wide[20:])
    out = np.zeros((20, 3) if play.task == "multiclass" else 20)
    truth = np.asarray(y[20:], dtype=float)
    Counting.cells = 0
    given = Rounds(learner._loops.engine.rows(block, 0, 20), truth, np.ones(20))
    learner._loops.engine.play(given, out, np.zeros(20, np.uint8), np.zeros(20))
    return Counting.cells


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verbs take arrays that count for what they are."""
    find = Verb.find

    def seen_as_plain(verb: Verb, kinds: tuple[type, ...]) -> Any:
        return find(verb, tuple(np.ndarray if kind is Counting else kind for kind in kinds))

    monkeypatch.setattr(Verb, "find", seen_as_plain)


@pytest.mark.usefixtures("counting")
@pytest.mark.parametrize("play", BY_ROW, ids=str)
@pytest.mark.thinned(8)
def test_the_cells_a_round_touches_do_not_depend_on_the_number_of_features(play: Play) -> None:
    few = cells_touched(play, 100)
    assert few > 0
    assert cells_touched(play, 100_000) == few


@pytest.mark.parametrize("play", LAZY, ids=str)
@pytest.mark.thinned(4)
def test_lazy_is_eager(play: Play) -> None:
    rounds = 150 if ALL else 40
    X, signs = streams.sparse(rounds, 30, density=0.2, seed=6)
    y: Any = signs
    if play.task == "multiclass":
        y = np.random.default_rng(6).integers(0, 4, size=rounds)
    for told in ({}, unusual(play.card, options=play.options)):
        shrinks = told.get("random_start", 0.0) > 0.0 and play.card.shrinks_start(
            {**play.card.defaults, **dict(play.options)}
        )
        named = (
            {"classes": range(4)} if shrinks and play.task == "multiclass" else {}
        )  # the reference has cells for these
        lazy, eager = (replace(play, algebra=one).make(**told, **named) for one in (play.algebra, "reference"))
        said, expected = lazy.play(csr_array(X), y), eager.play(X, y)
        for found, wanted in ((said.scores, expected.scores), (lazy.scores(X), eager.scores(X))):
            largest = np.abs(wanted[np.isfinite(wanted)]).max()
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12 * largest)


def test_every_kind_of_vector_is_tried() -> None:
    kinds = {field.kind for card in CARDS if card.algebras != ("kernel",) for field in card.state.values()}
    assert {field.kind for play in LAZY for field in play.card.state.values()} >= kinds - {"vector", "covariance"}
