"""A round may weigh more than another; a learner that cannot tell them apart says so."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.learner.model_file import pack
from tests.conformance.plays import (
    ALL,
    CARDS,
    CLASSES,
    FEW,
    FEW_IN,
    Play,
    leads,
    near,
    plays,
    same_bits,
    some,
    state,
    stream,
    unusual,
)

WEIGHERS = [card.name for card in CARDS if card.supports_weights]
OTHERS = [card.name for card in CARDS if not card.supports_weights]
WEIGHED = [
    play
    for play in plays(algebras=["sparse", "kernel"])
    if play.card.supports_weights and (ALL or leads(play) or play.name in FEW_IN["kernel"])
]


@pytest.mark.thinned(4)
@pytest.mark.parametrize("play", WEIGHED, ids=str)
def test_weighs_as_its_twin(play: Play) -> None:
    X, y = stream(play.task, dense=False, seed=19)
    h = np.random.default_rng(19).choice([0.0, 0.3, 1.0, 2.5], size=len(y))
    first = [int(np.flatnonzero(y == c)[0]) for c in range(CLASSES)] if play.task == "multiclass" else []
    h[first] = 1.0
    learner = play.make(**unusual(play.card, play.algebra, play.options))
    twin = play.twin(unusual(play.card, play.algebra, play.options))
    transcript = learner.play(X, y, weight=h)
    scores, updated = twin.run(X, y, weight=h)
    if first:
        scores[first, range(CLASSES)] = -np.inf
    near(transcript.scores, scores)
    assert transcript.updated.tolist() == updated.tolist()
    near(learner.scores(X), twin.final(X))


@pytest.mark.parametrize("play", some(WEIGHED), ids=str)
def test_weight_one_changes_nothing(play: Play) -> None:
    X, y = stream(play.task, dense=False, seed=20)
    plain = pack(play.make().learn(X, y))
    assert pack(play.make().learn(X, y, weight=1.0)) == plain
    assert pack(play.make().learn(X, y, weight=np.ones(len(y)))) == plain


@pytest.mark.parametrize("play", some(WEIGHED), ids=str)
def test_weight_zero_learns_nothing(play: Play) -> None:
    X, y = stream(play.task, dense=False, seed=21)
    learner = play.make().learn(X, y)
    before, scores, t = state(learner), learner.scores(X), learner.model.arrays.n.t
    transcript = learner.play(X[::-1], y[::-1], weight=0.0)
    assert not transcript.updated.any()
    assert all(same_bits(found, before[name]) for name, found in state(learner).items())
    assert same_bits(learner.scores(X), scores)
    assert learner.model.arrays.n.t == t


@pytest.mark.parametrize("play", some(WEIGHED), ids=str)
def test_rounds_of_weight_zero_are_as_if_they_had_not_been(play: Play) -> None:
    X, y = stream(play.task, dense=False, seed=22)
    h = np.random.default_rng(22).choice([0.0, 1.0], size=len(y))
    if play.task == "multiclass":
        h[[int(np.flatnonzero(y == c)[0]) for c in range(CLASSES)]] = 1.0
    some, few = play.make().learn(X, y, weight=h), play.make().learn(X[h > 0.0], y[h > 0.0])
    assert same_bits(some.scores(X), few.scores(X))


@pytest.mark.parametrize("name", [name for name in WEIGHERS if name in FEW])
def test_compiled_rounds_weigh_what_plain_ones_do(name: str) -> None:
    X, y = stream("binary", dense=False, seed=23)
    h = np.random.default_rng(23).choice([0.0, 0.3, 1.0, 2.5], size=len(y))
    fast, slow = nr.make(name), nr.make(name, native=False)
    for learner in (fast, slow):
        learner.learn(csr_array(X), y, weight=h)
        learner.learn_one(csr_array(X[[3]]), 1.0, weight=0.25)
    assert all(same_bits(found, state(slow)[field]) for field, found in state(fast).items())


@pytest.mark.parametrize("name", WEIGHERS)
def test_a_class_weight_is_the_weight_of_its_rounds(name: str) -> None:
    X, y = stream("binary", dense=False, seed=24)
    by_class = nr.make(name, native=False, class_weight={1: 0.4, -1: 2.0}).learn(X, y)
    by_round = nr.make(name, native=False).learn(X, y, weight=np.where(y > 0.0, 0.4, 2.0))
    assert same_bits(by_class.scores(X), by_round.scores(X))


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", OTHERS)
def test_refuses_weights_by_name_when_it_cannot_weigh(name: str) -> None:
    X, y = stream("binary", dense=False, seed=25)
    learner = nr.make(name, native=False).learn(X, y)
    before = pack(learner)
    for weight in (0.5, 1.0, np.ones(len(y))):
        with pytest.raises(nr.Error, match=f"{name} cannot weigh"):
            learner.learn(X, y, weight=weight)
    with pytest.raises(nr.Error, match=f"{name} cannot weigh"):
        learner.learn_one(X[0], 1.0, weight=0.5)
    with pytest.raises(nr.Error, match=f"{name} cannot weigh"):
        nr.make(name, class_weight={1: 2.0})
    assert pack(learner) == before
