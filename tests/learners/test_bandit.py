"""Banditron and Exp3: their steps are unbiased, and their losses bounded in the mean."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from tests import naive
from tests.conformance.plays import near, unusual
from tests.naive.tasks.bandit import Bandit
from tests.tasks.bandits import K, player, stream, weights

ALGEBRAS = ["sparse", "dense", "reference", "kernel"]
every_player = pytest.mark.parametrize("name", ["banditron", "exp3"])


@every_player
@pytest.mark.parametrize("algebra", ALGEBRAS)
def test_plays_as_its_twin(name: str, algebra: str) -> None:
    X, y = stream()
    numbers = unusual(nr.learners().rules[name])
    for told in ({}, {one: value for one, value in numbers.items() if one != "random_start"}):
        twin, kernel = Bandit(naive.twin(name, **told), K, seed=5), {"kernel": "linear"} if algebra == "kernel" else {}
        scores, played, changed = twin.run(X, y)
        learner = player(name, algebra=algebra, **kernel, **told)
        transcript = learner.play(sp.csr_array(X) if algebra == "sparse" else X, y)
        assert transcript.predictions.tolist() == played.tolist()
        assert transcript.mistakes.tolist() == (played != y).tolist()
        assert transcript.losses.tolist() == (played != y).astype(float).tolist()
        near(transcript.scores, scores)
        assert transcript.updated.tolist() == changed.tolist()
        assert learner.mistakes == np.count_nonzero(played != y)
        assert learner.rounds == len(y)
        near(learner.scores(X), np.array([twin.player.scores(x) for x in X]))


@pytest.mark.parametrize("rate", ["inv_sqrt", "inv_t", "power", "bottou"])
def test_exp3_plays_as_its_twin_when_its_rate_falls(rate: str) -> None:
    X, y = stream(seed=3)
    _, played, _ = Bandit(naive.twin("exp3", rate=rate, eta=0.7), K, seed=5).run(X, y)
    assert player("exp3", rate=rate, eta=0.7).play(X, y).predictions.tolist() == played.tolist()


def test_the_chance_at_the_time_of_choosing_counts() -> None:
    learner = player("banditron").reward_one([1.0, 2.0], (3, 0.125), right=True)
    assert weights(learner).tolist() == [[-1.0, -2.0], [0.0, 0.0], [0.0, 0.0], [8.0, 16.0]]
    learner = player("banditron").reward_one([1.0, 2.0], (3, 1.0), right=True)
    assert weights(learner).tolist() == [[-1.0, -2.0], [0.0, 0.0], [0.0, 0.0], [1.0, 2.0]]
    learner = player("exp3").reward_one(None, nr.Chosen(3, 0.125), loss=0.5)
    assert weights(learner).tolist() == [[0.0], [0.0], [0.0], [-4.0]]


def test_what_was_certain_and_right_changes_nothing() -> None:
    learner = player("banditron").reward_one([1.0, 2.0], (0, 1.0), right=True)
    assert (learner.updates, learner.rounds) == (0, 1)
    assert not weights(learner).any()


def test_exp3_weighs_losses_of_any_size() -> None:
    learner = player("exp3", eta=0.7)
    for c in range(K):
        learner.reward_one(None, (c, 1e-6), loss=1.0)
    assert learner.choose_one().chance == 0.25
    learner.reward_one(None, (2, 1e-6), loss=1.0)
    chosen = learner.choose([None] * 300)
    assert set(chosen.label.tolist()) == {0, 1, 3}
    assert set(chosen.chance.tolist()) == {1.0 / 3.0}


def test_the_row_of_zeros_teaches_banditron_nothing() -> None:
    learner = player("banditron").learn(np.zeros((3, 2)), [0, 1, 2])
    assert (learner.updates, learner.rounds) == (0, 3)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("truth", [0, 2])
def test_the_expected_step_of_banditron_is_that_of_the_perceptron(truth: int) -> None:
    """Every round has a feature of its own, so that each begins anew and leaves its step in its own column."""
    rounds = 20_000
    X = sp.eye_array(rounds, format="csr")
    learner = player("banditron", gamma=0.4, native=True).learn(X, np.full(rounds, truth))
    steps = weights(learner)
    expected = np.zeros(K)
    expected[truth] += 1.0
    expected[0] -= 1.0
    error = 5.0 * steps.std(axis=1) / np.sqrt(rounds)
    assert np.all(np.abs(steps.mean(axis=1) - expected) <= error + 1e-12)
    assert error.max() < 0.12


@pytest.mark.parametrize("name", ["banditron", "exp3"])
def test_the_step_is_unbiased_whatever_the_state(name: str) -> None:
    """What every class would change, weighed by how often it is drawn, is the step of a learner that is told all."""
    X, y = stream()
    learner = player(name, gamma=0.3).learn(X, y)
    x, losses, drawn = X[-1], np.array([1.0, 0.0, 1.0, 1.0]), learner.copy()
    before, best = weights(learner), int(np.argmax(learner.scores(X[-1:])))
    chances, steps = np.zeros(K), np.zeros((K, *before.shape))
    for _ in range(500):
        chosen = drawn.choose_one(x)
        chances[chosen.label] = chosen.chance
    assert chances.sum() == pytest.approx(1.0)
    for c in range(K):
        steps[c] = weights(learner.copy().reward_one(x, (c, chances[c]), loss=losses[c])) - before
    expected = np.zeros_like(before)
    if name == "banditron":
        expected[1] += x
        expected[best] -= x
    else:
        expected -= losses[:, None]
    near(np.einsum("c,cij->ij", chances, steps), expected)
    many = learner.copy().choose(np.tile(x, (4000, 1)))
    counted = np.bincount(many.label, minlength=K) / 4000
    assert np.all(np.abs(counted - chances) <= 5.0 * np.sqrt(chances * (1.0 - chances) / 4000))


def exp3_mistakes(y: Any, k: int, seed: int, **told: Any) -> int:
    return nr.make("exp3", classes=range(k), seed=seed, **told).learn([None] * len(y), y).mistakes


@pytest.mark.many_rounds
@pytest.mark.parametrize("gamma", [0.0, 0.05])
def test_exp3_keeps_its_bound_in_the_mean(gamma: float) -> None:
    rounds, k = 800, 3
    rng = np.random.default_rng(4)
    y = np.concatenate([rng.choice(k, rounds // 2, p=p) for p in ([0.05, 0.8, 0.15], [0.05, 0.65, 0.3])])
    eta = float(np.sqrt(2.0 * np.log(k) / (k * rounds)))
    best = rounds - np.bincount(y).max()
    regrets = [exp3_mistakes(y, k, seed, eta=eta, gamma=gamma) - best for seed in range(20)]
    exp3 = nr.learners()["exp3"]
    bound = exp3.bound({"eta": eta, "gamma": gamma}, classes=k, rounds=rounds)
    assert np.mean(regrets) <= bound
    assert exp3.bound({"eta": eta}, classes=k, rounds=rounds) == pytest.approx(np.sqrt(2 * rounds * k * np.log(k)))
    assert bound < rounds * (1.0 - 1.0 / k) - best  # drawing without learning fails


@pytest.mark.many_rounds
def test_exp3_with_a_falling_rate_keeps_the_bound_that_needs_no_horizon() -> None:
    rounds, k = 800, 3
    y = np.random.default_rng(6).choice(k, rounds, p=[0.05, 0.15, 0.8])
    eta = float(np.sqrt(np.log(k) / k))
    best = rounds - np.bincount(y).max()
    regrets = [exp3_mistakes(y, k, seed, eta=eta, rate="inv_sqrt") - best for seed in range(20)]
    bound = nr.learners()["exp3"].bound({"eta": eta, "rate": "inv_sqrt"}, classes=k, rounds=rounds)
    assert np.mean(regrets) <= bound <= 2.0 * np.sqrt(rounds * k * np.log(k)) < rounds * (1.0 - 1.0 / k) - best


def test_banditron_learns_what_the_perceptron_learns_and_pays_for_it() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(3000, 5))
    y = np.argmax(X @ rng.normal(size=(K, 5)).T, axis=1)
    learner = player("banditron", gamma=0.2)
    told_all = nr.full_information(learner)
    assert told_all is not None
    assert told_all.params["competitor"] == "predicted"
    told_all.learn(X, y)
    learner.learn(X, y)
    assert told_all.mistakes < learner.mistakes < 0.5 * len(y)
    assert np.mean(learner.predict(X) != y) < 0.2
