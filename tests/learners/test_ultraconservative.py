"""Rules of many classes that move every class at once: what their steps solve, and their theorems."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

import noregret as nr
from tests.conformance.plays import near, same_bits
from tests.learners.reading import bound_of, radius_of
from tests.naive.rules import Array
from tests.naive.streams import separable_classes as separable
from tests.naive.streams import sparse
from tests.support.cover import seeds

K = 4


def rounds(seed: int) -> tuple[Array, Any]:
    X, _ = sparse(60, 12, density=0.3, seed=seed)
    U = np.random.default_rng(seed).normal(size=(K, X.shape[1]))
    return X, np.argmax(X @ U.T, axis=1)


def stepped(learner: nr.RuleLearner, W: Array, x: Array, y: int) -> Array:
    """The weights after one round from W, the class of which is y."""
    k, d = W.shape
    for c in range(k):
        learner.learn(np.zeros((1, d)), [c])
    learner.model.arrays.w.reshape(learner.model.space.class_room, -1)[:k, :d] = W  # type: ignore[union-attr]
    learner.learn(x[None], [y])
    return np.array(learner.model.arrays.w.reshape(learner.model.space.class_room, -1)[:k, :d])  # type: ignore[union-attr]


def dense(name: str, k: int, **told: Any) -> nr.RuleLearner:
    return nr.make(name, classes=range(k), algebra="dense", native=False, **told)


@pytest.mark.parametrize("C", [0.05, 0.3, 1e6])
@seeds(6)
def test_all_constraints_solve_their_problem(seed: int, C: float) -> None:
    rng = np.random.default_rng(seed)
    k, x, y = 5, rng.normal(size=3), int(rng.integers(5))
    W, costs = rng.normal(size=(5, 3)), (1.0 - np.eye(5)) * rng.uniform(0.2, 3.0, size=(5, 5))
    found = stepped(dense("pa_all", k, C=C, cost=costs), W, x, y)
    others = [r for r in range(k) if r != y]

    def price(v: Array) -> float:
        step = v[:-1].reshape(k, 3) - W
        return float(0.5 * np.sum(step * step) + C * v[-1])

    margins: list[Any] = [
        {
            "type": "ineq",
            "fun": lambda v, r=r: (v[:-1].reshape(k, 3)[y] - v[:-1].reshape(k, 3)[r]) @ x - costs[y, r] + v[-1],
        }
        for r in others
    ]
    start = np.append(W.ravel(), 0.0 if C > 1.0 else 10.0)
    hard = C > 1.0  # then the slack is left out, which the solver does not find by itself
    free: Any = {"type": "eq" if hard else "ineq", "fun": lambda v: v[-1]}
    options: Any = {"ftol": 1e-14, "maxiter": 500}
    best = minimize(price, start, method="SLSQP", constraints=[*margins, free], options=options)
    slack = max(0.0, *(costs[y, r] - (found[y] - found[r]) @ x for r in others))
    mine = price(np.append(found.ravel(), slack))
    assert mine <= best.fun + 1e-7 * max(1.0, best.fun)
    np.testing.assert_allclose(found, best.x[:-1].reshape(k, 3), atol=2e-4)
    assert not hard or slack < 1e-9


@seeds(8)
def test_mira_leaves_the_smallest_weights(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    k, x, y = 5, rng.normal(size=3), int(rng.integers(5))
    W = (0.1 if seed % 2 else 1.0) * rng.normal(size=(5, 3))
    found = stepped(dense("mira", k, flavour="norm", random_start=0.1), W, x, y)
    tau = (found - W) @ x / (x @ x)
    options: Any
    np.testing.assert_allclose(found, W + np.outer(tau, x), atol=1e-12)
    limits = (np.arange(k) == y).astype(float)

    def size(steps: Array) -> float:
        return float(0.5 * np.sum((W + np.outer(steps, x)) ** 2))

    bounds, options = [(None, limit) for limit in limits.tolist()], {"ftol": 1e-15, "maxiter": 500}
    zero: Any = {"type": "eq", "fun": np.sum}
    best = minimize(size, np.zeros(k), method="SLSQP", bounds=bounds, constraints=[zero], options=options)
    np.testing.assert_allclose(tau, best.x, atol=1e-5)
    scores = W @ x
    errors = scores > scores[y]
    assert abs(tau.sum()) < 1e-12
    assert (tau <= limits + 1e-12).all()
    assert (tau[~errors & (np.arange(k) != y)] == 0.0).all()
    assert np.linalg.norm(found) <= np.linalg.norm(W) + 1e-12
    if not errors.any():
        assert same_bits(found, W)


@pytest.mark.parametrize("name", ["perceptron_ultraconservative", "mira", "pa_all"])
def test_kernels_carry_the_exact_steps_too(name: str) -> None:
    X, y = rounds(seed=8)
    plain = nr.make(name, native=False).learn(csr_array(X), y)
    kernel = nr.make(name, algebra="kernel", kernel="linear", native=False).learn(csr_array(X), y)
    near(kernel.scores(csr_array(X)), plain.scores(csr_array(X)), 1e-9)


@pytest.mark.parametrize(
    ("spread", "back"),
    [("max", [0.0, -2.0, 0.0, 0.0]), ("uniform", [-1.0, -1.0, 0.0, 0.0]), ("proportional", [-0.5, -1.5, 0.0, 0.0])],
)
def test_the_rivals_share_the_step_back(spread: str, back: list[float]) -> None:
    """Scores 1, 3, 0, -1, of which the third is right: the first two are ahead of it, by 1 and by 3."""
    W, x = np.array([[1.0, 7.0], [3.0, 7.0], [0.0, 7.0], [-1.0, 7.0]]), np.array([1.0, 0.0])
    found = stepped(dense("perceptron_ultraconservative", K, eta=2.0, spread=spread), W, x, 2)
    expected = np.array(back)
    expected[2] = 2.0
    np.testing.assert_allclose(found - W, np.outer(expected, x), atol=1e-12)
    ahead = stepped(dense("perceptron_ultraconservative", K, spread=spread), W, x, 1)
    assert same_bits(ahead, W)


def test_level_scores_share_the_blame_equally() -> None:
    found = stepped(dense("perceptron_ultraconservative", 3, spread="proportional"), np.zeros((3, 1)), np.ones(1), 0)
    np.testing.assert_allclose(found, [[1.0], [-0.5], [-0.5]])


@seeds(3)
@pytest.mark.parametrize("spread", ["max", "uniform", "proportional"])
def test_the_perceptron_keeps_its_bound_however_it_is_spread(seed: int, spread: str) -> None:
    X, y, _, gamma = separable(seed)
    learner = nr.make("perceptron_ultraconservative", classes=range(4), spread=spread, native=False).learn(X, y)
    assert 0 < learner.updates <= bound_of(learner, row_radius=radius_of(X), margin=gamma)


@seeds(3)
def test_pa_with_all_constraints_keeps_its_loss_bound(seed: int) -> None:
    X, y, M, gamma = separable(seed)
    learner = nr.make("pa_all", classes=range(4), C=1e9, native=False)
    bound = bound_of(learner, row_radius=radius_of(X), norm=float(np.linalg.norm(M)) / gamma)  # M / gamma wins by 1
    transcript = learner.play(X, y)
    assert 0.0 < (transcript.losses**2).sum() <= bound
    assert transcript.mistakes.sum() <= bound


def test_mira_keeps_its_bound() -> None:
    X, y, _, gamma = separable(4)
    learner = nr.make("mira", flavour="norm", random_start=0.1, classes=range(4), algebra="dense", native=False)
    learner.learn(np.zeros((1, 8)), [0])
    before = np.linalg.norm(learner.model.arrays.w)
    total, last = 0.0, learner.model.arrays.w.reshape(-1, 8)[:4].copy()
    for x, label in zip(X, y, strict=True):
        learner.learn(x[None], [label])
        now = learner.model.arrays.w.reshape(-1, 8)[:4].copy()
        total += (now - last)[label] @ x / (x @ x)
        last = now
    assert 0.0 < total <= bound_of(learner, initial_norm=float(before), margin=gamma)
    assert np.linalg.norm(last) <= before


@pytest.mark.parametrize("C", [0.01, 0.3, 10.0])
@seeds(2)
def test_mira_of_the_hinge_makes_few_mistakes_beside_any_comparator(seed: int, C: float) -> None:
    X, y, M, gamma = separable(seed)
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(len(y)) < 0.1, rng.integers(0, 4, len(y)), y)
    learner = nr.make("mira", C=C, classes=range(4), native=False)
    mistakes = int(learner.play(X, y).mistakes.sum())
    for U in [0.0 * M, *(scale / gamma * M for scale in (0.1, 0.5, 1.0)), *rng.normal(size=(3, *M.shape))]:
        scores = X @ U.T
        rivals = np.where(np.eye(4, dtype=bool)[y], -np.inf, scores).max(axis=1)
        lost = float(np.maximum(0.0, 1.0 - (scores[np.arange(len(y)), y] - rivals)).sum())
        beside = {"row_radius": radius_of(X), "norm": float(np.linalg.norm(U))}
        assert mistakes <= bound_of(learner, comparator_loss=lost, **beside)
    assert mistakes > 10


def test_mira_cannot_begin_at_zero_where_it_seeks_the_smallest_weights() -> None:
    with pytest.raises(nr.BadValue, match='mira: flavour="norm" never leaves weights of zero'):
        nr.make("mira", flavour="norm")
    assert nr.make("mira", flavour="norm", random_start=1.0).params["flavour"] == "norm"
    assert nr.make("mira").params["random_start"] == 0.0


def test_a_round_is_counted_unless_it_weighs_nothing() -> None:
    X, y = rounds(seed=4)
    h = np.random.default_rng(4).choice([0.0, 1.0], size=len(y))
    learner = nr.make("pa_all", native=False).learn(X, y, weight=h)
    assert learner.model.arrays.n.t == h.sum()
