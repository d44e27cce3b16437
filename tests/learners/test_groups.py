"""Dual averaging over groups: the group lasso (Yang and others 2010) and many tasks (Yang and others 2013)."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import expit

import noregret as nr
from noregret.training.stack_tasks import stack_tasks
from tests import naive
from tests.learners.reading import after_each_round, bound_of, comparators, weights
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import ALL, only_in_test_all, seeds

Told = dict[str, Any]
Penalty = Callable[[Array], float]


def lengths(groups: list[list[int]], grow: bool = True) -> Penalty:
    return lambda w: float(sum((len(own) ** 0.5 if grow else 1.0) * np.linalg.norm(w[own]) for own in groups))


def sizes(w: Array) -> float:
    return float(np.abs(w).sum())


HALVES, MIXED = [[0, 1], [2, 3]], [[0, 2], [1], [3]]
CASES: list[tuple[str, Told, Penalty, float]] = [  # with the part of |w|_1 that counts like |w|^2 / 2
    ("group_lasso", {"groups": 2}, lengths(HALVES), 0.0),
    ("group_lasso", {"groups": [0, 1, 0]}, lengths(MIXED), 0.0),
    ("group_lasso", {"groups": 2, "r": 0.7}, lambda w: lengths(HALVES)(w) + 0.7 * sizes(w), 0.0),
    ("group_lasso", {"groups": 2, "r": 0.3, "rho": 0.1}, lambda w: lengths(HALVES)(w) + 0.3 * sizes(w), 0.1),
    ("multitask", {"groups": 2}, lengths(HALVES, grow=False), 0.0),
    ("multitask", {"groups": 2, "shared": "within"}, sizes, 0.0),
    ("multitask", {"groups": 2, "shared": "both", "r": 0.5}, lambda w: lengths(HALVES, False)(w) + 0.5 * sizes(w), 0.0),
]
every_case = pytest.mark.parametrize(("name", "told", "penalty", "rho"), CASES, ids=[str(i) for i in range(len(CASES))])


@every_case
def test_the_weights_minimise_the_mean_gradient_and_the_penalties(
    name: str, told: Told, penalty: Penalty, rho: float
) -> None:
    X, _ = streams.sparse(60, 4, density=0.7, seed=1)
    y = np.where(X @ np.array([1.0, -0.2, 0.1, -0.1]) >= 0.0, 1.0, -1.0)
    lam, gamma, total, rng, zeros = 0.07, 0.7, np.zeros(4), np.random.default_rng(1), 0
    learner = nr.make(name, lam=lam, gamma=gamma, native=False, **told)
    for t in range(60):
        said = learner.play(X[t : t + 1], y[t : t + 1])
        total -= y[t] * X[t] * expit(-y[t] * said.scores[0])
        if t % 5 < 4 or (not ALL and t % 15 < 14):
            continue
        mean, curve = total / (t + 1), gamma / np.sqrt(t + 1)

        def cost(w: Array, mean: Array = mean, curve: float = curve) -> float:
            return float(mean @ w + lam * penalty(w) + curve * (0.5 * w @ w + rho * sizes(w)))

        w = weights(learner, 4)
        found = minimize(
            cost, w + 0.1, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-14, "maxiter": 20_000}
        )
        assert cost(w) <= found.fun + 1e-12
        near = w + rng.normal(size=(200, 4)) * rng.choice([1e-1, 1e-3, 1e-5], size=(200, 1))
        assert min(map(cost, near)) >= cost(w)
        zeros += int(np.sum(w == 0.0))
    assert 0 < zeros < 45


@every_case
@seeds(2)
def test_regret_with_the_penalties_keeps_its_bound(
    name: str, told: Told, penalty: Penalty, rho: float, seed: int
) -> None:
    X, y, _ = streams.separable(120, 4, 0.1, seed)
    y = streams.flip(y, 0.1, seed)
    told = {"lam": 0.03, "gamma": 0.8, "native": False, **told}
    path = np.vstack([np.zeros(4), after_each_round(nr.make(name, **told), X, y)[:-1]])
    suffered = nr.make(name, **told).play(X, y).losses.sum() + 0.03 * sum(map(penalty, path))
    largest = float(np.linalg.norm(X, axis=1).max())
    learner = nr.make(name, **told)
    for u in comparators(X, y, seed):
        regret = suffered - np.logaddexp(0.0, -y * (X @ u)).sum() - 120 * 0.03 * penalty(u)
        norm = float(np.linalg.norm(u))
        assert regret <= bound_of(learner, norm=norm, norm_1=sizes(u), largest_gradient=largest, rounds=120)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("group_lasso", {}),
        ("multitask", {}),
        ("multitask", {"shared": "within"}),
        ("multitask", {"shared": "within", "groups": 3}),
    ],
)
def test_a_group_of_one_is_dual_averaging_with_an_l1_penalty(name: str, told: Told) -> None:
    X, y = streams.sparse(300, 12, density=0.3, seed=2)
    one = nr.make(name, lam=0.05, gamma=0.4, loss="logistic", native=False, **told).play(X, y).scores
    other = nr.make("rda", lam=0.05, gamma=0.4, loss="logistic", native=False).play(X, y).scores
    np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-13)


LATE: list[tuple[str, Told]] = [
    ("group_lasso", {"groups": 5, "r": 0.2, "rho": 0.01}),
    ("group_lasso", {"groups": [j % 7 for j in range(25)]}),
    ("multitask", {"groups": 4, "shared": "both"}),
]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("algebra", ["sparse", "dense"])
@pytest.mark.parametrize(("name", "told"), LATE, ids=lambda value: value if isinstance(value, str) else "")
def test_groups_are_those_of_the_twin(name: str, told: Told, algebra: str) -> None:
    rounds = 200 if ALL else 90
    X, y = streams.sparse(rounds, 30, density=0.2, seed=3)
    labels = np.random.default_rng(3).integers(3, size=rounds)
    labels[:3] = range(3)
    told = {"lam": 0.02, "gamma": 1.0, **told}
    rows = csr_array(X) if algebra == "sparse" else X
    learner, twin = nr.make(name, algebra=algebra, **told), naive.binary(name, **told)
    np.testing.assert_allclose(learner.play(rows, y).scores, twin.run(X, y)[0], rtol=0.0, atol=1e-11)
    assert learner.nonzeros == np.count_nonzero(twin.state["w"])
    many = nr.make(name, algebra=algebra, classes=range(3), task="multiclass", **told).learn(rows, labels)
    twins = naive.multiclass(name, 3, fixed=True, **told)
    twins.run(X, labels)
    np.testing.assert_allclose(many.scores(rows), twins.final(X), rtol=0.0, atol=1e-11)


def test_one_feature_and_many_classes() -> None:
    X, y = np.arange(1.0, 13.0).reshape(12, 1), np.arange(12) % 4
    for algebra in ("sparse", "dense"):
        learner = nr.make("group_lasso", algebra=algebra, groups=[0], lam=0.0).learn(X, y)
        plain = nr.make("rda", algebra=algebra, lam=0.0, loss="logistic").learn(X, y)
        np.testing.assert_allclose(learner.scores(X), plain.scores(X), rtol=1e-12)


@only_in_test_all
@pytest.mark.many_rounds
def test_a_feature_is_in_use_for_all_tasks_or_for_none() -> None:
    rng = np.random.default_rng(4)
    X, task = rng.normal(size=(1500, 20)), rng.integers(3, size=1500)
    U = np.zeros((3, 20))
    U[:, :4] = rng.normal(size=(3, 4)) + 1.0
    y = np.where(np.sum(X * U[task], axis=1) >= 0.0, 1, -1)
    told: Told = {"groups": 3, "lam": 0.03, "algebra": "sparse"}
    learner = nr.make("multitask", **told).learn(stack_tasks(X, task, 3), y)
    W = weights(learner, 60).reshape(20, 3)
    assert np.flatnonzero(W.any(axis=1)).tolist() == [0, 1, 2, 3]
    assert W[:4].all()
    alone = nr.make("multitask", shared="within", **told).learn(stack_tasks(X, task, 3), y)
    assert not weights(alone, 60).reshape(20, 3)[:4].all()


def test_merging_adds_gradients_and_rounds() -> None:
    X, y = streams.sparse(60, 12, density=0.4, seed=5)
    for name in ("group_lasso", "multitask"):
        a = nr.make(name, groups=3, native=False).learn(X[:20], y[:20])
        b = nr.make(name, groups=3, native=False).learn(X[20:], y[20:])
        merged = a.merge(b)
        np.testing.assert_allclose(
            merged.model.arrays.G.v, a.model.arrays.G.v + b.model.arrays.G.v, rtol=0.0, atol=1e-15
        )
        assert merged.model.arrays.n.t == 60.0
