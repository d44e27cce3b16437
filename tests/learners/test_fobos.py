"""Forward-backward splitting (Duchi and Singer 2009)."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

import noregret as nr
from tests import naive
from tests.learners.reading import after_each_round, bound_of, comparators, hinge, radius_of, steps, weights
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import ALL, seeds

Told = dict[str, Any]
PAIRS = [0, 0, 1]  # the fourth feature and those after it are groups of their own
PENALTIES: list[tuple[str, Told, Callable[[Array], float]]] = [
    ("fobos", {}, lambda w: float(np.abs(w).sum())),
    ("fobos", {"lam2": 2.0}, lambda w: float(np.abs(w).sum() + 2.0 / 0.4 * 0.5 * w @ w)),
    ("fobos_l2", {}, lambda w: float(np.linalg.norm(w))),
    ("fobos_l2_squared", {}, lambda w: float(0.5 * w @ w)),
    ("fobos_group", {"groups": 2}, lambda w: float(np.linalg.norm(w[:2]) + np.linalg.norm(w[2:]))),
    ("fobos_group", {"groups": PAIRS}, lambda w: float(np.linalg.norm(w[:2]) + np.abs(w[2:]).sum())),
    ("fobos_infinity", {}, lambda w: float(np.abs(w).max())),
]
of_every_penalty = pytest.mark.parametrize(
    ("name", "told", "penalty"), PENALTIES, ids=lambda value: value if isinstance(value, str) else ""
)


@pytest.mark.thinned(4)
@of_every_penalty
def test_a_round_solves_its_problem(name: str, told: Told, penalty: Callable[[Array], float]) -> None:
    X, y = streams.sparse(30, 4, density=0.7, seed=1)
    lam, rng, moved = 0.4, np.random.default_rng(1), 0
    learner = nr.make(name, eta0=0.5, lam=lam, native=False, **told)
    for t, before, after, said in steps(learner, X, y, 12):
        eta = 0.5 / np.sqrt(t + 1)
        v = before + eta * y[t] * X[t] * (y[t] * said.scores[0] < 1.0)

        def cost(w: Array, v: Array = v, eta: float = eta) -> float:
            return float(0.5 * (w - v) @ (w - v) + eta * lam * penalty(w))

        found = minimize(cost, v, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-14, "maxiter": 20_000})
        assert cost(after) <= found.fun + 1e-12
        near = after + rng.normal(size=(200, 4)) * rng.choice([1e-1, 1e-3, 1e-5], size=(200, 1))
        assert min(map(cost, near)) >= cost(after)
        moved += int(np.abs(after - v).max() > 1e-3)
    assert moved > 6


@of_every_penalty
@seeds(2)
def test_regret_with_the_penalty_keeps_its_bound(
    name: str, told: Told, penalty: Callable[[Array], float], seed: int
) -> None:
    X, y, _ = streams.separable(120, 4, 0.1, seed)
    y = streams.flip(y, 0.1, seed)
    told = {"eta0": 0.3, "schedule": "constant", "lam": 0.4, "native": False, **told}
    path = np.vstack([np.zeros(4), after_each_round(nr.make(name, **told), X, y)[:-1]])
    said = nr.make(name, **told).play(X, y)
    suffered = said.losses.sum() + sum(0.4 * penalty(w) for w in path)
    squares = float(((X**2).sum(axis=1) * (y * said.scores < 1.0)).sum())
    learner = nr.make(name, **told)
    for u in [*comparators(X, y, seed), *(0.1 * u for u in comparators(X, y, seed))]:
        regret = suffered - hinge(u, X, y).sum() - 120 * 0.4 * penalty(u)
        assert regret <= bound_of(learner, norm=float(np.linalg.norm(u)), squared_gradients=squares)


@of_every_penalty
@pytest.mark.parametrize(("seed", "eta0"), [(0, 0.1), (0, 2.0), (1, 0.5)])
@pytest.mark.thinned(4)
def test_regret_with_the_penalty_keeps_its_bound_at_the_default_schedule(
    name: str, told: Told, penalty: Callable[[Array], float], seed: int, eta0: float
) -> None:
    X, y, _ = streams.separable(120, 4, 0.1, seed)
    y = streams.flip(y, 0.1, seed)
    learner = nr.make(name, eta0=eta0, lam=0.1, native=False, **told)
    path = np.vstack([np.zeros(4), after_each_round(learner.copy(), X, y)[:-1]])
    suffered = learner.play(X, y).losses.sum() + sum(0.1 * penalty(w) for w in path)
    assert learner.params["schedule"] == "inv_sqrt"
    for u in [*comparators(X, y, seed), *(0.1 * u for u in comparators(X, y, seed))]:
        regret = suffered - hinge(u, X, y).sum() - 120 * 0.1 * penalty(u)
        far = float(np.linalg.norm(path - u, axis=1).max())
        assert regret <= bound_of(learner, distance=far, largest_gradient=radius_of(X), rounds=120)


LATE: list[tuple[str, Told]] = [
    ("fobos", {}),
    ("fobos", {"lam2": 0.3}),
    ("fobos_l2", {}),
    ("fobos_l2_squared", {}),
    ("fobos_group", {"groups": 4}),
    ("fobos_group", {"groups": [j % 7 for j in range(45)]}),
    ("fobos_infinity", {}),
]


@pytest.mark.parametrize(("name", "told"), LATE, ids=lambda value: value if isinstance(value, str) else "")
@pytest.mark.parametrize("schedule", ["constant", "inv_sqrt"])
@pytest.mark.thinned(6)
def test_what_is_caught_up_with_late_is_what_would_have_been_done_at_once(name: str, told: Told, schedule: str) -> None:
    X, y = streams.sparse(1500 if ALL else 600, 60, density=0.03, seed=4)
    for lam in (0.003, 0.06):
        numbers: Told = {"eta0": 0.1, "lam": lam, "schedule": schedule, **told}
        learner, twin = nr.make(name, algebra="sparse", **numbers), naive.binary(name, **numbers)
        said, (scores, _) = learner.play(csr_array(X), y).scores, twin.run(X, y)
        np.testing.assert_allclose(said, scores, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(weights(learner, 60), twin.state["w"], rtol=0.0, atol=1e-12)
        zeros = int((twin.state["w"] == 0.0).sum())
        assert learner.nonzeros == 60 - zeros
        assert zeros > 0 or name in ("fobos_l2", "fobos_l2_squared", "fobos_infinity") or lam < 0.01


@pytest.mark.parametrize("algebra", ["sparse", "dense", "reference"])
@pytest.mark.parametrize("width", [9, 1])
def test_groups_of_many_classes_are_those_of_each(algebra: str, width: int) -> None:
    X, _ = streams.dense(80, width, seed=5)
    y = np.random.default_rng(5).integers(4, size=80)
    y[:4] = range(4)
    numbers: Told = {"eta0": 0.1, "lam": 0.3, "groups": [0, 1, 1, 0, 2, 2]}
    told: Told = {**numbers, "task": "multiclass", "algebra": algebra, "classes": range(4), "native": False}
    learner, twin = nr.make("fobos_group", **told), naive.multiclass("fobos_group", 4, fixed=True, **numbers)
    learner.learn(X[:30], y[:30])
    learner = learner.copy().learn(X[30:], y[30:])
    twin.run(X, y)
    np.testing.assert_allclose(learner.scores(X), twin.final(X), rtol=0.0, atol=1e-12)


def test_truncated_gradient_without_a_limit_is_fobos() -> None:
    X, y = streams.sparse(400, 40, density=0.1, seed=6)
    for native in (False, True) if ALL else (False,):
        one = nr.make("fobos", eta0=0.2, lam=0.07, schedule="constant", native=native)
        other = nr.make("truncated_gradient", eta0=0.2, gravity=0.07, schedule="constant", native=native)
        assert one.play(csr_array(X), y).scores.tolist() == other.play(csr_array(X), y).scores.tolist()
        assert one.nonzeros == other.nonzeros < 40


def test_groups_of_one_are_the_l1_penalty() -> None:
    X, y = streams.sparse(200, 12, density=0.3, seed=7)
    one = nr.make("fobos_group", lam=0.1, native=False).play(X, y).scores
    np.testing.assert_allclose(one, nr.make("fobos", lam=0.1, native=False).play(X, y).scores, rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("name", sorted({name for name, _ in LATE}))
def test_without_a_penalty_it_is_plain_descent_and_with_a_large_one_nothing(name: str) -> None:
    X, y = streams.sparse(60, 8, density=0.4, seed=8)
    plain = nr.make("ogd", native=False).play(X, y).scores
    np.testing.assert_allclose(nr.make(name, lam=0.0, native=False).play(X, y).scores, plain, rtol=0.0, atol=1e-13)
    for native in (False, True) if ALL else (False,):
        nothing = nr.make(name, lam=1e9, native=native)
        assert np.abs(nothing.learn(csr_array(X), y).scores(X)).max() <= 1e-7
        for x, label in zip(X[:5], y[:5], strict=True):
            nothing.learn_one({int(j): float(x[j]) for j in np.flatnonzero(x)}, label)
        assert name == "fobos_l2_squared" or nothing.nonzeros == 0


def test_weights_of_two_groups_merge_and_split_at_rest() -> None:
    X, y = streams.sparse(80, 12, density=0.3, seed=9)
    told: Told = {"groups": 3, "lam": 0.05, "native": False}
    a, b = nr.make("fobos_group", **told).learn(X[:20], y[:20]), nr.make("fobos_group", **told).learn(X[20:], y[20:])
    mixed = 0.25 * weights(a, 12) + 0.75 * weights(b, 12)
    np.testing.assert_allclose(weights(a.merge(b), 12), mixed, rtol=0.0, atol=1e-14)
    with pytest.raises(nr.BadValue, match="the same parameters"):
        a.merge(nr.make("fobos_group", **{**told, "groups": 4}).learn(X, y))


@pytest.mark.parametrize(("name", "told"), [("fobos", {"lam2": 0.2}), ("fobos_l2_squared", {"lam": 0.2})])
def test_what_is_kept_of_a_start_is_the_product_of_all_shrinkages(name: str, told: dict[str, float]) -> None:
    """By it, weights that a learner started with are told from what it has learned."""
    learner = nr.make(name, eta0=0.5, schedule="constant", native=False, **told)
    for rounds in range(1, 4):
        learner.learn(np.array([[1.0, -2.0]]), [1])
        assert learner.model.arrays.n.kept == pytest.approx(1.1**-rounds)
