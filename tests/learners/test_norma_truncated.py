"""NORMA with truncation: a term lasts a number of rounds, and what is dropped is small."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import pack
from tests.learners.reading import bound_of, comparators, hinge, radius_of, weights
from tests.naive import streams

LINEAR = {"algebra": "kernel", "kernel": "linear"}
RBF = {"algebra": "kernel", "kernel": "rbf", "gamma": 0.3}


def truncated(**told: Any) -> nr.RuleLearner:
    return nr.make("norma_truncated", **{"native": False, **told})


def coefficients(learner: nr.RuleLearner) -> list[float]:
    return list(learner.model.arrays.w.coef[: learner.nonzeros]) if learner.rounds else []


@pytest.mark.parametrize(
    "told", [{}, {"nu": 0.2, "offset": True}, {"task": "regression"}, {"loss": "squared", "eta": 0.01}]
)
def test_while_no_term_is_old_it_is_norma(told: dict[str, Any]) -> None:
    X, y = streams.dense(80, 4, seed=1)
    told = {"eta": 0.2, "lam": 0.1, **RBF, **told}
    whole = nr.make("norma", native=False, **told).play(X, y)
    found = truncated(budget=80, **told).play(X, y)
    np.testing.assert_allclose(found.scores, whole.scores, atol=1e-12)
    assert found.updated.tolist() == whole.updated.tolist()


def test_the_terms_are_those_of_the_last_rounds() -> None:
    """With a margin that no row has, every round adds a term."""
    X, y = streams.dense(40, 3, seed=2)
    learner = truncated(budget=7.9, eta=0.5, lam=0.2, rho=1e6, **RBF)
    for t in range(40):
        learner.learn(X[t : t + 1], y[t : t + 1])
        assert learner.nonzeros == min(t + 1, 7)
        ages = np.arange(min(t + 1, 7))
        expected = y[t - ages] * 0.5 * 0.9**ages
        assert sorted(coefficients(learner)) == pytest.approx(sorted(expected))
        f = sum(a * math.exp(-0.3 * np.sum((X[s] - X[0]) ** 2)) for a, s in zip(expected, t - ages, strict=True))
        assert learner.scores(X[:1])[0] == pytest.approx(f)


@pytest.mark.parametrize("budget", [3, 12])
def test_what_is_dropped_is_as_small_as_the_theorem_says(budget: int) -> None:
    """A term has been shrunk by every round that it lasted."""
    X, y = streams.dense(120, 4, seed=3)
    learner = truncated(budget=budget, eta=0.4, lam=0.3, **RBF)
    for t in range(120):
        before = coefficients(learner)
        learner.learn(X[t : t + 1], y[t : t + 1])
        left = sorted(abs(a) for a in coefficients(learner))
        gone = [abs(a) * 0.88 for a in before if not np.isclose(left, abs(a) * 0.88, rtol=1e-12).any()]
        assert len(gone) <= 1
        assert all(a <= 0.4 * 0.88**budget * (1.0 + 1e-12) for a in gone)


@pytest.mark.parametrize("budget", [2, 10, 60])
def test_the_penalised_loss_keeps_its_bound(budget: int) -> None:
    T, lam = 200, 0.25
    X, y = streams.dense(T, 4, seed=4)
    learner = truncated(budget=budget, eta=0.1, lam=lam, **LINEAR)
    suffered, longest = 0.0, 0.0
    for t in range(T):
        suffered += float(learner.play(X[t : t + 1], y[t : t + 1]).losses[0])
        length = float(np.linalg.norm(weights(learner, 4)))
        suffered += 0.5 * lam * length**2 if t < T - 1 else 0.0
        longest = max(longest, length)
    assert longest <= bound_of(learner, radius=radius_of(X))
    for u in comparators(X, y):
        theirs = hinge(u, X, y).sum() + 0.5 * lam * T * u @ u
        assert suffered <= theirs + bound_of(learner, radius=radius_of(X), norm=float(np.linalg.norm(u)), rounds=T)


def test_a_row_that_comes_again_is_a_term_of_its_own() -> None:
    learner = truncated(budget=2, eta=0.5, lam=0.0, rho=1e6, **RBF)
    learner.learn(np.ones((5, 2)), np.ones(5))
    assert coefficients(learner) == [0.5, 0.5]


def test_a_step_may_not_turn_the_function_around() -> None:
    with pytest.raises(nr.BadValue, match="norma_truncated: eta times lam must be at most 1, not 2"):
        truncated(eta=4.0, lam=0.5)
    assert truncated(eta=2.0, lam=0.5).learn([[1.0]], [1]).updates == 1


def test_a_learner_saved_without_terms_goes_on_as_if_never_stopped(tmp_path: Path) -> None:
    """A file has the order of the supports, not how many there were before them."""
    X, y = np.ones((3, 1)), -np.ones(3)
    whole = truncated(budget=1, kernel="linear").learn(X, y)
    half = truncated(budget=1, kernel="linear").learn(X[:2], y[:2])
    assert half.nonzeros == 0
    half.save(tmp_path / "half.nr")
    assert pack(nr.load(tmp_path / "half.nr").learn(X[2:], y[2:])) == pack(whole)
