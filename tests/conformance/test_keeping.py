"""A learner that was saved, copied or pickled goes on as if nothing had happened."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import pack
from tests.conformance.plays import FEW, NAMES, Play, few, plays, rows_of, same_bits, stream

every_play = pytest.mark.parametrize("play", few(plays()), ids=str)
COVARIANCES = [play for play in plays(["multiclass"], ["sparse"]) if "covariance" in dict(play.options)]


@pytest.mark.parametrize("play", list(dict.fromkeys([*few(plays()), *COVARIANCES])), ids=str)
@pytest.mark.thinned(6)
def test_save_load_and_go_on_is_never_having_stopped(play: Play, tmp_path: Path) -> None:
    X, y = stream(play.task, dense=False, seed=11)
    unbroken = play.make(columns="grow").learn(X[:15, :7], y[:15])
    unbroken.save(tmp_path / "model")
    resumed = nr.load(tmp_path / "model")
    assert same_bits(resumed.scores(X), unbroken.scores(X))
    said, expected = resumed.play(X[15:], y[15:]), unbroken.play(X[15:], y[15:])
    assert same_bits(said.scores, expected.scores)
    assert pack(resumed) == pack(unbroken)


@pytest.mark.parametrize("name", FEW)
def test_compiled_and_named_save_load_and_go_on(name: str, tmp_path: Path) -> None:
    X, y = stream("multiclass" if "multiclass" in nr.learners()[name].tasks else "binary", dense=False, seed=12)
    rows, labels = rows_of(X), [f"class {label}" for label in y]
    unbroken = nr.make(name).learn(rows[:15], labels[:15])
    unbroken.save(tmp_path / "model")
    resumed = nr.load(tmp_path / "model")
    for learner in (resumed, unbroken):
        learner.learn(rows[15:30], labels[15:30])
        for x, label in zip(rows[30:], labels[30:], strict=True):
            learner.learn_one(x, label)
    assert pack(resumed) == pack(unbroken)
    assert resumed.predict(rows).tolist() == unbroken.predict(rows).tolist()


@every_play
def test_a_copy_goes_its_own_way(play: Play) -> None:
    X, y = stream(play.task, dense=False, seed=13)
    learner = play.make().learn(X[:20], y[:20])
    before = pack(learner)
    twin = learner.copy()
    assert pack(twin) == before
    twin.learn(X[20:], y[20:])
    assert pack(learner) == before
    assert pack(learner.learn(X[20:], y[20:])) == pack(twin)


@pytest.mark.parametrize("play", few(plays(["multiclass"])), ids=str)
@pytest.mark.thinned(6)
def test_pickling_keeps_every_bit(play: Play) -> None:
    X, y = stream(play.task, dense=False, seed=14)
    learner = play.make().learn(X, y)
    again = pickle.loads(pickle.dumps(learner))
    assert pack(again) == pack(learner)
    assert same_bits(again.scores(X), learner.scores(X))


@pytest.mark.parametrize("name", NAMES)
def test_a_learner_that_saw_nothing_is_kept_as_such(name: str, tmp_path: Path) -> None:
    learner = nr.make(name, native=False)
    learner.save(tmp_path / "model")
    for fresh in (nr.load(tmp_path / "model"), learner.copy(), pickle.loads(pickle.dumps(learner))):
        assert fresh.predict_one({"a": 1.0}) is None
        with pytest.raises(nr.NotLearned, match=name):
            fresh.predict(np.ones((1, 2)))
