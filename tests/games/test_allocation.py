"""Resources are split online by task="convex", and compared with the best fixed split, which is certified."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import noregret as nr
from noregret.games.best_split import project_onto_simplex
from tests.support import refusal
from tests.support.cover import ALL


def quadratic(seed: int, parts: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(20, parts)), rng.normal(size=20)
    return lambda x: float(((A @ x - b) ** 2).sum()), lambda x: 2.0 * A.T @ (A @ x - b)


def corners(seed: int, parts: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(20, parts)), rng.normal(size=20)
    return lambda x: float(np.abs(A @ x - b).sum()), lambda x: A.T @ np.sign(A @ x - b)


@pytest.mark.parametrize("make", [quadratic, corners])
@pytest.mark.parametrize("parts", [1, 2, 5])
def test_the_best_split_costs_no_more_than_any_other_and_the_gap_proves_it(make: Any, parts: int) -> None:
    for seed in range(10 if ALL else 2):
        cost, gradient = make(seed, parts)
        found = nr.games.find_best_split(cost, gradient, parts)
        assert found.shares.min() >= 0.0
        assert found.shares.sum() == pytest.approx(1.0)
        assert found.cost == pytest.approx(cost(found.shares))
        assert found.gap < 1e-6
        others = np.random.default_rng(seed).dirichlet(np.full(parts, 0.5), size=200)
        assert min(map(cost, others)) >= found.cost - found.gap - 1e-9
    if make is quadratic:
        sums: Any = {"type": "eq", "fun": lambda x: x.sum() - 1.0}
        start, limits = np.full(parts, 1.0 / parts), [(0.0, 1.0)] * parts
        other: Any = minimize(cost, start, jac=gradient, bounds=limits, constraints=sums, method="SLSQP")
        assert found.cost <= other.fun + 1e-6


@pytest.mark.parametrize("make", [quadratic, corners])
def test_a_search_that_is_cut_short_tells_a_gap_that_holds(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(10 if ALL else 3):
        cost, gradient = make(seed, 4)
        best = nr.games.find_best_split(cost, gradient, 4)
        with monkeypatch.context() as patched:
            patched.setattr("noregret.games.best_split.CUTS", 3)
            early = nr.games.find_best_split(cost, gradient, 4, rounds=1)
        assert early.cost > best.cost + 1e-6
        assert early.cost - early.gap <= best.cost + 1e-9
        assert early.cost == pytest.approx(cost(early.shares))


def test_the_projection_is_the_nearest_split() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        point = rng.normal(size=4)
        found = project_onto_simplex(point)
        assert found.sum() == pytest.approx(1.0)
        others = rng.dirichlet(np.ones(4), size=300)
        assert ((others - point) ** 2).sum(axis=1).min() >= ((found - point) ** 2).sum() - 1e-12


@pytest.mark.parametrize("name", ["ogd", "eg"])
def test_online_allocation_comes_near_the_best_fixed_split(name: str) -> None:
    """Any convex cost: here delays that grow with the load, by capacities that change."""
    rng, rounds = np.random.default_rng(1), 300
    capacity = np.clip(rng.normal([1.5, 1.2, 0.9], 0.1, (rounds, 3)), 0.5, 2.0)
    options = {"onto": "simplex"} if name == "ogd" else {"eta": 0.1}
    m = nr.make(name, task="convex", dimension=3, native=False, **options)
    for c in capacity:
        x = m.point
        m.suffer(2.0 * x / c**2, loss=float(((x / c) ** 2).sum()))
    best = nr.games.find_best_split(
        lambda x: float(((x / capacity) ** 2).sum()), lambda x: (2.0 * x / capacity**2).sum(axis=0), 3
    )
    even = float(((np.full(3, 1 / 3) / capacity) ** 2).sum())
    assert best.cost <= m.total_loss + 1e-9
    assert m.total_loss - best.cost < 0.5 * (even - best.cost)
    gradients = 2.0 / capacity.min() ** 2
    assert m.total_loss - best.cost <= 1.5 * gradients * np.sqrt(2.0) * np.sqrt(rounds)  # Zinkevich 2003


def test_a_gradient_of_the_wrong_length_is_refused() -> None:
    m = nr.make("ogd", task="convex", dimension=3, onto="simplex", native=False)
    assert "the gradient must be 3 finite numbers" in refusal(lambda: m.suffer([1.0, 2.0]))
    assert m.rounds == 0
    said = refusal(lambda: nr.games.find_best_split(lambda x: 1.0, lambda x: np.ones(2), 3))
    assert "the gradient must be 3 finite numbers, one for each part" in said
    assert "finite number" in refusal(lambda: nr.games.find_best_split(lambda x: np.nan, lambda x: x, 3))
    assert "parts must be a whole number" in refusal(lambda: nr.games.find_best_split(lambda x: 1.0, lambda x: x, 0))


def test_ads_are_chosen_by_bandit_feedback() -> None:
    rates, rng = {"shoes": 0.1, "books": 0.3, "tea": 0.15}, np.random.default_rng(0)
    m = nr.make("exp3", classes=list(rates), eta=0.05, seed=1, native=False)
    shown = dict.fromkeys(rates, 0)
    for _ in range(1500):
        chosen = m.choose_one()
        shown[chosen.label] += 1
        m.reward_one(None, chosen, right=bool(rng.random() < rates[chosen.label]))
    assert m.predict_one(None) == "books"
    regret = sum(count * (0.3 - rates[name]) for name, count in shown.items())
    assert regret <= nr.learners()["exp3"].bound({"eta": 0.05}, classes=3, rounds=1500)
    assert regret < 0.7 * 1500 * (0.3 - np.mean(list(rates.values())))
