"""The voted perceptron (Freund and Schapire 1999): a majority of all vectors, each with the rounds it lasted."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.learners.reading import after_each_round, bound_of, radius_of, two_classes
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import seeds
from tests.support.engines import engines

LISTED = [((0, 0), 1), ((4, 0), 1), ((3, -1), 2), ((1, -3), 1)]
PROBES = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 4.0], [-1.0, 2.0], [1.0, 2.0], [3.0, 1.0], [0.0, 0.0]])


def voted(**told: Any) -> nr.RuleLearner:
    return nr.make("perceptron_voted", **{"native": False, **told})


def ballots(X: Array, y: Any, probes: Array) -> Array:
    """The votes by the definition: the sign of every vector the perceptron went through, the first being zero."""
    path = after_each_round(nr.make("perceptron", native=False), X, y)
    return np.asarray(np.sign(probes @ np.vstack([np.zeros((1, X.shape[1])), path]).T).sum(axis=1))


@engines
def test_the_four_points(native: bool) -> None:
    X, y = streams.four()
    learner = voted(native=native)
    assert learner.play(X, y).updated.tolist() == [True, True, False, True]
    expected = [sum(lasted * np.sign(np.dot(w, x)) for w, lasted in LISTED) for x in PROBES]
    assert learner.scores(PROBES).tolist() == expected
    assert expected[:3] == [4.0, -3.0, 2.0]


def test_a_majority_is_not_a_mean() -> None:
    X, y = np.array([[5.0, 0.0], [0.0, 1.0], [6.0, 0.0]]), np.array([1, -1, -1])
    rows = np.array([[1.0, 0.0]])
    assert voted().learn(X, y).scores(rows)[0] == 1.0  # 0, then 5 for two rounds, then -1
    X, y = np.array([[5.0, 0.0], [6.0, 0.0], [0.0, 1.0]]), np.array([1, -1, 1])
    mean, majority = (nr.make(name, native=False).learn(X, y) for name in ("perceptron_averaged", "perceptron_voted"))
    assert majority.scores(rows)[0] == -1.0  # scores 0, 5, -1, -1
    assert mean.scores(rows)[0] == 0.75
    assert majority.predict(rows)[0] != mean.predict(rows)[0]


@seeds(3)
def test_every_vector_of_the_perceptron_has_a_vote_for_every_round_it_lasted(seed: int) -> None:
    X, y = streams.dense(70, 5, seed=seed)
    X[11] = 0.0
    assert voted().learn(X, y).scores(X).tolist() == ballots(X, y, X).tolist()


def test_a_row_that_comes_again_moves_a_vector_of_a_later_time() -> None:
    X, y = streams.dense(30, 4, seed=5)
    X, y = np.tile(X, (3, 1)), np.tile(y, 3)
    learner = voted().learn(X, y)
    assert learner.updates == len(learner.model.arrays.w.coef[: learner.nonzeros]) > 30
    assert learner.scores(X[:30]).tolist() == ballots(X, y, X[:30]).tolist()


def test_trains_as_the_perceptron() -> None:
    X, y = two_classes("digits")
    plain, learner = nr.make("perceptron").play(X, y), nr.make("perceptron_voted").play(X, y)
    np.testing.assert_allclose(learner.margins, y * plain.scores, atol=1e-6)
    assert learner.updated.tolist() == plain.updated.tolist()


def test_two_classes_that_become_three_keep_their_votes() -> None:
    X, y = streams.dense(60, 4, seed=6)
    learner = voted().learn(X, np.where(y > 0, "yes", "no"))
    votes = learner.scores(X)
    learner.learn(np.zeros((1, 4)), ["maybe"])
    yes, no, maybe = (learner.scores(X)[:, learner.classes.index(label)] for label in ("yes", "no", "maybe"))
    sign = 1.0 if learner.classes.index("yes") > learner.classes.index("no") else -1.0
    assert (np.abs(sign * votes - (yes - no)) == 1.0).all()  # the round that brought the third class gave one vote more
    assert (maybe == 0.0).all()


def test_of_many_classes_each_vector_votes_for_the_one_that_leads() -> None:
    X, y, _ = streams.blobs(60, 3, k=4, spread=1.0, seed=3)
    path = after_each_round(nr.make("perceptron", task="multiclass", classes=range(4), native=False), X, y)
    votes = np.zeros((60, 4))
    for W in path:
        scores = X @ W.T
        votes[np.arange(60), scores.argmax(axis=1)] += scores.max(axis=1) > 0.0
    learner = voted(task="multiclass", classes=range(4)).learn(X, y)
    assert learner.scores(X).tolist() == votes.tolist()


def test_the_vote_errs_less_than_the_last_vector() -> None:
    X, y = two_classes("digits")
    y = streams.flip(y, 0.1, seed=1)
    wrong = {}
    for name in ("perceptron", "perceptron_voted"):
        learner = nr.make(name).learn(X[:200], y[:200])
        wrong[name] = int((learner.predict(X[200:]) != y[200:]).sum())
    assert wrong["perceptron_voted"] < wrong["perceptron"]


@pytest.mark.parametrize("margin", [0.05, 0.4])
@seeds(3)
def test_updates_are_at_most_radius_over_margin_squared(seed: int, margin: float) -> None:
    X, y, u = streams.separable(200, 5, margin, seed)
    learner = nr.make("perceptron_voted")
    bound = bound_of(learner, radius=radius_of(X), margin=float((y * (X @ u)).min()))
    while learner.play(X, y).updated.any() and learner.updates <= bound:
        pass
    assert 0 < learner.updates <= bound


def test_nobody_need_know_how_it_remembers(tmp_path: Path) -> None:
    X, y = streams.dense(50, 4, seed=7)
    plain, told = (
        nr.make("perceptron_voted").learn(X, y),
        nr.make("perceptron_voted", algebra="kernel", kernel="linear"),
    )
    assert (plain.algebra, plain.config.kernel) == ("kernel", "linear")
    assert plain.scores(X).tolist() == told.learn(X, y).scores(X).tolist()
    plain.save(tmp_path / "voted.nr")
    assert nr.load(tmp_path / "voted.nr").learn(X, y).scores(X).tolist() == told.learn(X, y).scores(X).tolist()
    curved = nr.make("perceptron_voted", kernel="rbf", gamma=0.5).learn(X, y)
    assert curved.config.kernel == "rbf"
    assert curved.scores(X).tolist() != plain.scores(X).tolist()
    with pytest.raises(nr.BadValue, match="perceptron_voted cannot play in the sparse algebra: it names append, votes"):
        nr.make("perceptron_voted", algebra="sparse")
    with pytest.raises(nr.BadValue, match="perceptron_voted cannot be merged"):
        plain.merge(told)
