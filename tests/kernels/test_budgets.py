"""Budgets: at most so many supports after every round, the policy decides which, and a refused call is undone."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.algebra.partial_features import PRIME, first_random, next_random
from noregret.learner.model_file import pack
from noregret.tasks.budgets import POLICIES
from tests.naive.kernels import Kernel
from tests.support.engines import engines


def stream(n: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 5))
    return X, (X[:, 0] * X[:, 1] + 0.3 * random.standard_normal(n) > 0.0).astype(int)


def play_naively(X: np.ndarray, y: np.ndarray, budget: int, policy: str, C: float) -> tuple[list[float], int]:
    """Kernel PA-I with a list of supports, one of which goes when there are too many."""
    kernel, draw, scores = Kernel("rbf", gamma=0.7), first_random(0), list[float]()
    supports: list[tuple[np.ndarray, float]] = []
    for x, label in zip(X, y, strict=True):
        f = sum(a * kernel(z, x) for z, a in supports)
        sign = 1.0 if label else -1.0
        scores.append(f)
        loss = 1.0 - sign * f
        if loss > 0.0:
            supports.append((x, sign * min(C, loss)))  # k(x, x) = 1
        if len(supports) > budget:
            old = len(supports) - 1
            gone = 0
            if policy == "smallest":
                gone = int(np.argmin([abs(a) for _, a in supports[:-1]]))
            if policy == "random":  # the last takes its place
                draw = next_random(draw)
                gone = min(int(draw / PRIME * old), old - 1)
                supports[gone] = supports[-1]
                supports.pop()
            else:
                supports.pop(gone)
    return scores, len(supports)


@engines
@pytest.mark.parametrize("policy", POLICIES)
def test_policies_equal_a_plain_list_of_supports(policy: str, native: bool) -> None:
    X, y = stream()
    expected, left = play_naively(X, y, 9, policy, C=1.0)
    for data in (X, csr_array(X)):
        learner = nr.make(
            "pa1", algebra="kernel", gamma=0.7, C=1.0, budget=9, policy=policy, classes=[0, 1], native=native
        )
        found = learner.play(data, y).scores
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        assert learner.nonzeros == left == 9


def test_a_random_policy_is_uniform_and_spares_the_newest() -> None:
    """With budget 2 and steps at every round, each of the two older supports goes half of the time."""
    X, _ = stream(4000, seed=3)
    learner = nr.make("pa1", algebra="kernel", gamma=0.7, budget=2, policy="random", native=False, C=1e6)
    learner.learn(X, np.arange(4000) % 2)
    bank = learner.model.bank
    assert bank.n[0] == 2
    ages = []
    for t in range(600):
        learner.learn(X[t : t + 1] + 9.0 * (t + 1), [t % 2])
        born = np.sort(learner.model.bank.born[:2])
        assert born[1] == learner.model.bank.n[2] - 1  # the newest stays
        ages.append(born[1] - born[0])
    share = float(np.mean(np.array(ages) == 1))
    assert 0.42 < share < 0.58


@pytest.mark.thinned(2)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("task", "name"),
    [("binary", "perceptron"), ("multiclass", "pa1"), ("multiclass", "perceptron_ultraconservative"),
     ("regression", "pa2"), ("one-class", "pa1"), ("ranking", "pa1"), ("multilabel", "pa"),
     ("binary", "perceptron_averaged"),
     ("binary", "pegasos"), ("multiclass", "ogd")],
)  # fmt: skip
def test_every_task_keeps_the_budget(task: str, name: str, policy: str) -> None:
    X, y = stream(60)
    random = np.random.default_rng(1)
    more: dict[str, Any] = {"query": np.repeat(np.arange(12), 5)} if task == "ranking" else {}
    labels: Any = {
        "multiclass": random.integers(0, 3, 60),
        "regression": X[:, 0] ** 2,
        "one-class": None,
        "ranking": random.integers(0, 3, 60),
        "multilabel": [[a, b + 3] for a, b in random.integers(0, 3, (60, 2)).tolist()],
    }.get(task, y)
    learner = nr.make(name, task=task, algebra="kernel", budget=4, policy=policy, native=False)
    learner.learn(X, labels, **more)
    assert learner.nonzeros <= 4
    assert learner.updates > 4
    assert np.isfinite(np.asarray(learner.scores(X))).all()


@engines
def test_memory_is_flat_and_a_refused_call_is_undone(native: bool) -> None:
    X, y = stream(400)
    learner = nr.make("perceptron", algebra="kernel", budget=6, policy="random", kernel="linear", native=native)
    learner.learn(csr_array(X[:100]), y[:100])
    sizes = [array.size for array in learner.model.bank[:-1]]
    learner.learn(csr_array(X[100:]), y[100:])
    assert [array.size for array in learner.model.bank[:-1]] == sizes
    before = pack(learner)
    bad = X[:50].copy()
    bad[45:] = 1e200
    with pytest.raises(nr.Error):
        learner.learn(csr_array(bad), y[:50])
    assert pack(learner) == before
    assert learner.nonzeros == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [({"budget": 0}, "at least 1"), ({"budget": -3}, "at least 1"), ({"budget": 2.5}, "whole number"),
     ({"budget": "many"}, "whole number"), ({"budget": True}, "whole number"),
     ({"budget": float("nan")}, "whole number"), ({"policy": "oldest"}, "needs budget"),
     ({"budget": 5, "policy": "oldst"}, "did you mean 'oldest'"), ({"gamma": 0.0}, "gamma"),
     ({"gamma": -1.0}, "gamma"), ({"kernel": "polynomial", "degree": 0}, "degree"),
     ({"kernel": "rbff"}, "did you mean 'rbf'"), ({"kernel": "linear", "gamma": 1.0}, "gamma")],
    ids=str,
)  # fmt: skip
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(nr.Error, match=message):
        nr.make("perceptron", algebra="kernel", **options)


def test_a_budget_needs_supports() -> None:
    with pytest.raises(nr.Error, match='needs algebra="kernel"'):
        nr.make("perceptron", budget=5)
    with pytest.raises(nr.Error, match="needs all its supports"):
        nr.make("perceptron_voted", algebra="kernel", budget=5)
