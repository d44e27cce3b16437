"""BOGD and BOGD++ (Zhao, Wang, Wu, Jin and Hoi 2012): a budget that is kept by chance, right in expectation."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import pack
from tests.learners.reading import bound_of, comparators, hinge, radius_of, weights
from tests.naive import streams
from tests.naive.rules import Array

PRIME = 2**31 - 1
BEFORE = pow(16807, -1, PRIME)  # leads from a random number to the one before it
REMOVALS = ("size", "uniform")


def bogd(**told: Any) -> nr.RuleLearner:
    return nr.make("bogd", **{"native": False, "kernel": "rbf", "gamma": 0.3, **told})


def fixed_draw(learner: nr.RuleLearner, share: float) -> nr.RuleLearner:
    """A copy whose next random number is this share of the largest."""
    copy = learner.copy()
    copy.model.arrays.n["random"] = float(int(share * PRIME) * BEFORE % PRIME)
    return copy


def coefficients(learner: nr.RuleLearner) -> Array:
    return np.array(learner.model.arrays.w.coef[: learner.nonzeros])


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared"])
def test_while_there_is_room_it_is_gradient_descent(loss: str) -> None:
    X, y = streams.dense(60, 3, seed=1)
    found = bogd(budget=60, eta=0.1, lam=0.2, loss=loss).play(X, y).scores
    K, alpha = np.exp(-0.3 * np.sum((X[:, None] - X[None]) ** 2, axis=2)), np.zeros(60)
    for t in range(60):
        f = float(alpha @ K[t])
        assert found[t] == pytest.approx(f, abs=1e-12)
        m = y[t] * f
        slope = {"hinge": -float(m < 1.0), "logistic": -1.0 / (1.0 + np.exp(m)), "squared": 2.0 * (m - 1.0)}[loss]
        alpha *= 0.98
        alpha[t] = -0.1 * slope * y[t]


@pytest.mark.parametrize("removal", REMOVALS)
@pytest.mark.parametrize("task", ["binary", "regression"])
def test_there_are_never_more_supports_than_the_budget(removal: str, task: str) -> None:
    X, y = streams.dense(150, 3, seed=2)
    learner = bogd(budget=9.9, removal=removal, task=task)
    for t in range(150):
        learner.learn(X[t : t + 1], y[t : t + 1])
        assert learner.nonzeros <= 9
        assert learner.updates == 0 or np.abs(coefficients(learner)).max() <= learner.params["eta"] * (1.0 + 1e-12)
    assert learner.nonzeros == 9
    one = bogd(budget=1, removal=removal, task=task).learn(X, y)
    assert one.nonzeros == 1


# ---- a round --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("removal", "kernel", "n"),
    [("size", "polynomial", 6), ("size", "rbf", 6), ("size", "rbf", 2), ("uniform", "rbf", 6)],
)
def test_the_expected_function_is_that_of_gradient_descent(removal: str, kernel: str, n: int) -> None:
    """Every removal comes of its share of the random numbers; weighted by it, the functions have the right mean."""
    X, y = streams.dense(40, 3, seed=3)
    told = {"removal": removal, "kernel": kernel, "eta": 0.2, "lam": 0.3, "ceiling": 1e6}
    full = bogd(budget=n, **told).learn(X[:30], y[:30])
    t = next(t for t in range(30, 40) if y[t] * full.scores(X[t : t + 1])[0] < 1.0)
    sizes = np.abs(coefficients(full)) * full.model.arrays.size.coef[:n]
    chances = (1.0 - sizes / sizes.sum()) / (n - 1) if removal == "size" else np.full(n, 1.0 / n)
    mean, edge = np.zeros(40), 0.0
    for chance in chances:
        draws = (edge + 1e-6, edge + chance - 1e-6)
        first, last = (fixed_draw(full, draw).learn(X[t : t + 1], y[t : t + 1]).scores(X) for draw in draws)
        assert first.tolist() == last.tolist()
        mean, edge = mean + chance * first, edge + chance
    assert edge == pytest.approx(1.0)
    expected = (1.0 - 0.2 * 0.3) * full.scores(X) + 0.2 * y[t] * kernel_row(full, X, X[t])
    np.testing.assert_allclose(mean, expected, atol=1e-12 * np.abs(expected).max())


def kernel_row(learner: nr.RuleLearner, X: Array, x: Array) -> Array:
    gamma = learner.params.get("gamma", 0.3)
    if learner.model.config.kernel == "polynomial":
        return np.asarray((gamma * X @ x + 1.0) ** 3)
    return np.asarray(np.exp(-gamma * np.sum((X - x) ** 2, axis=1)))


def test_the_larger_a_term_the_less_likely_it_is_dropped() -> None:
    """The probability of staying is what the coefficient is divided by."""
    X, y = streams.dense(40, 3, seed=4)
    told = {"budget": 5, "eta": 0.2, "lam": 0.5, "ceiling": 1e6}
    full = bogd(**told).learn(X[:39], y[:39])
    before = 0.9 * np.abs(coefficients(full))
    chances = (1.0 - before / before.sum()) / 4.0  # k(x, x) = 1
    assert full.scores(X[39:])[0] * y[39] < 1.0
    edges = np.cumsum(chances)
    for dropped in range(5):
        share = edges[dropped] - 0.5 * chances[dropped]
        after = coefficients(fixed_draw(full, share).learn(X[39:], y[39:]))
        expected = np.append(np.delete(before / (1.0 - chances), dropped), 0.2)
        np.testing.assert_allclose(np.sort(np.abs(after)), np.sort(expected), rtol=1e-9)


def test_no_coefficient_is_above_the_ceiling() -> None:
    X, y = streams.dense(80, 3, seed=5)
    free, bounded = (bogd(budget=5, eta=0.2, lam=0.0, ceiling=c, removal="uniform").learn(X, y) for c in (1e6, 2.0))
    assert np.abs(coefficients(free)).max() > 0.5
    assert np.abs(coefficients(bounded)).max() == pytest.approx(0.4)


@pytest.mark.parametrize("removal", REMOVALS)
def test_the_same_seed_gives_the_same_bits_and_another_other_ones(removal: str) -> None:
    X, y = streams.dense(80, 3, seed=6)
    first, second, other = (bogd(budget=8, removal=removal, seed=seed).learn(X, y) for seed in (1, 1, 2))
    assert pack(first) == pack(second)
    assert first.scores(X).tolist() != other.scores(X).tolist()


# ---- the theorem ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("removal", REMOVALS)
def test_the_expected_penalised_loss_keeps_its_bound(removal: str) -> None:
    T, runs, lam = 90, 4, 0.5
    X, y = streams.dense(T, 3, seed=7)
    told = {"removal": removal, "kernel": "linear", "budget": 12, "eta": 0.2, "lam": lam}
    suffered = []
    for seed in range(runs):
        learner = nr.make("bogd", native=False, seed=seed, **told)
        total = 0.0
        for t in range(T):
            total += float(learner.play(X[t : t + 1], y[t : t + 1]).losses[0])
            total += 0.5 * lam * float(np.sum(weights(learner, 3) ** 2)) if t < T - 1 else 0.0
            assert np.abs(coefficients(learner)).max(initial=0.0) <= 0.2 * (1.0 + 1e-12)
        suffered.append(total)
    for u in comparators(X, y):
        theirs = hinge(u, X, y).sum() + 0.5 * lam * T * u @ u
        bound = bound_of(learner, radius=radius_of(X), norm=float(np.linalg.norm(u)), rounds=T)
        assert np.mean(suffered) <= theirs + bound


def test_the_theorem_needs_coefficients_that_do_not_grow() -> None:
    card = nr.learners()["bogd"]
    for budget, eta, lam in ((11.0, 0.2, 0.5), (3.0, 0.5, 1.0), (3.9, 2.0, 0.25), (4.0, 2.0, 0.5)):
        assert card.why_no_guarantee({"budget": budget, "eta": eta, "lam": lam}) is None
    for budget, eta, lam in ((10.9, 0.2, 0.5), (3.9, 0.5, 0.9), (2.9, 1.0, 1.0)):
        assert "eta lam >= 1 / (B - 1)" in str(card.why_no_guarantee({"budget": budget, "eta": eta, "lam": lam}))
    told = {"budget": 11.0, "eta": 0.2, "lam": 0.5}
    assert card.why_no_guarantee({**told, "ceiling": 1.5}) is None
    assert "ceiling" in str(card.why_no_guarantee({**told, "ceiling": 0.9}))


def test_a_step_may_not_turn_the_function_around() -> None:
    with pytest.raises(nr.BadValue, match="bogd: eta times lam must be at most 1, not 2"):
        bogd(eta=4.0, lam=0.5)


@pytest.mark.parametrize("removal", REMOVALS)
def test_a_function_that_was_forgotten_is_replaced(removal: str) -> None:
    """With eta lam = 1 every round begins at zero, so that there are terms of no size to drop."""
    X, y = streams.dense(30, 3, seed=8)
    learner = bogd(budget=2, eta=2.0, lam=0.5, removal=removal, ceiling=9.0)
    for t in range(30):
        learner.learn(X[t : t + 1], y[t : t + 1])
        found = np.abs(coefficients(learner))
        assert sorted(found) == [0.0] * (len(found) - 1) + [2.0] or sorted(found) == [0.0] * len(found)
