"""DUOL (Zhao, Hoi and Jin 2011): PA-I with a second step, on the support that contradicts the example most."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import noregret as nr
from noregret.learners.duol import Pair, dual_gain, solve_pair
from tests.learners.reading import bound_of
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import seeds

GAMMA = 0.4


def duol(**told: Any) -> nr.RuleLearner:
    chosen = {"native": False, "kernel": "rbf", "gamma": GAMMA, **told}
    return nr.make("duol", **{name: one for name, one in chosen.items() if one is not None})


def gram(X: Array) -> Array:
    return np.asarray(np.exp(-GAMMA * np.sum((X[:, None] - X[None]) ** 2, axis=2)))


def noisy(rows: int, seed: int) -> tuple[Array, Array]:
    X, _ = streams.dense(rows, 3, seed=seed)
    return X, streams.flip(np.where(np.sum(X**2, axis=1) > 2.4, 1.0, -1.0), 0.1, seed)


class Run:
    """A run, with the dual variables, Gram matrix and margins of the supports after every round."""

    def __init__(self, X: Array, y: Array, **told: Any) -> None:
        self.learner, self.X, self.y, self.K = duol(**told), X, y, gram(X)
        self.at: list[int] = []

    def variables(self) -> Array:
        n = self.learner.nonzeros
        return np.asarray(self.learner.model.arrays.w.coef[:n] * self.y[self.at]) if n else np.zeros(0)

    def dual(self, at: list[int], g: Array) -> float:
        signed = g * self.y[at]
        return float(g.sum() - 0.5 * signed @ self.K[np.ix_(at, at)] @ signed)

    def play(self, t: int) -> tuple[Array, Array, nr.Transcript]:
        """The dual variables before and after a round, which adds one if it updates."""
        before = self.variables()
        said = self.learner.play(self.X[t : t + 1], self.y[t : t + 1])
        if said.updated[0]:
            self.at.append(t)
        return before, self.variables(), said


# ---- the two variables ----------------------------------------------------------------------------------------------


@seeds(30)
def test_a_pair_of_steps_solves_its_bounded_problem(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size_a, size_e = rng.uniform(0.2, 2.0, 2)
    product = rng.uniform(-1.0, 1.0) * np.sqrt(size_a * size_e)
    q = Pair(rng.uniform(0.0, 2.0), rng.uniform(-1.0, 2.0), size_a, size_e, product)
    C, g = rng.choice([0.1, 0.5, 2.0, 10.0]), rng.uniform()
    a, e = solve_pair(q, C, C - g * C)
    assert 0.0 <= a <= C
    assert -g * C <= e <= C - g * C
    limits: Any = [(0.0, C), (-g * C, C - g * C)]

    def lost(v: Array) -> float:
        return -dual_gain(q, float(v[0]), float(v[1]))

    starts = (np.zeros(2), np.array([C, C - g * C]))
    best = max(-float(minimize(lost, start, bounds=limits, method="L-BFGS-B", tol=1e-14).fun) for start in starts)
    assert dual_gain(q, a, e) >= best - 1e-9


def test_pairs_by_hand() -> None:
    assert dual_gain(Pair(3.0, 5.0, 2.0, 4.0, -1.0), 2.0, 3.0) == 6.0 + 15.0 - 0.5 * (8.0 + 36.0) + 6.0
    assert solve_pair(Pair(1.0, 1.0, 1.0, 1.0, -0.5), 10.0, 9.0) == (2.0, 2.0)  # within the box
    assert solve_pair(Pair(2.0, 1.0, 2.0, 4.0, -2.0), 10.0, 9.0) == (2.5, 1.5)
    assert solve_pair(Pair(1.0, 1.0, 1.0, 1.0, -0.5), 1.0, 0.25) == (1.0, 0.25)  # in a corner
    assert solve_pair(Pair(1.0, 1.0, 2.0, 4.0, -1.0), 10.0, 0.25) == (0.625, 0.25)  # on an edge: (1 + e) / 2
    assert solve_pair(Pair(9.0, 1.0, 2.0, 4.0, -1.0), 2.0, 2.0) == (2.0, 0.75)  # (1 + a) / 4
    assert solve_pair(Pair(2.0, 0.0, 2.0, 2.0, 2.0), 10.0, 9.0) == (2.0, -1.0)  # equal rows, one at its lower limit
    assert solve_pair(Pair(0.5, 4.0, 1.0, 2.0, 1.0), 10.0, 9.0) == (0.0, 2.0)  # only the second moves: 4 / 2
    assert solve_pair(Pair(0.5, 0.5, 1.0, 1.0, -1.0), 3.0, 3.0) == (3.0, 3.0)  # the same row with both labels


def test_a_kernel_of_exactly_minus_rho_is_opposed_enough() -> None:
    X, y = np.array([[0.5], [1.0]]), np.array([1, -1])
    both = duol(kernel="linear", C=9.0, rho=0.5, gamma=None).learn(X, y).model.arrays.w.coef[:2].tolist()
    assert both[0] > 4.0 == (1.0 - 0.0) / 0.25
    assert duol(kernel="linear", C=9.0, rho=0.51, gamma=None).learn(X, y).model.arrays.w.coef[0] == 4.0


# ---- a round --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.3, 1.0, 10.0])
@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_every_round_is_the_best_step_on_at_most_two_variables(C: float, rho: float) -> None:
    X, y = noisy(70, seed=1)
    run, pairs = Run(X, y, C=C, rho=rho), 0
    for t in range(len(X)):
        before, after, said = run.play(t)
        margin = y[t] * said.scores[0]
        assert said.updated[0] == (margin < 1.0)
        if margin >= 1.0:
            assert after.tolist() == before.tolist()
            continue
        old = run.at[:-1]
        signed = y[t] * y[old] * run.K[t, old]
        margins = y[old] * (run.K[np.ix_(old, old)] @ (before * y[old]))
        low = np.flatnonzero(margins <= 1.0 + 1e-9)
        changed = np.flatnonzero(np.abs(after[:-1] - before) > 1e-12)
        opposed = [int(low[np.argmin(signed[low])])] if low.size and signed[low].min() <= -rho else []
        assert changed.tolist() in (opposed, [])
        pairs += bool(opposed)

        def lost(v: Array, t: int = t, before: Array = before, opposed: list[int] = opposed) -> float:
            g = np.append(before, v[0])
            g[opposed] += v[1:]
            return -run.dual(run.at, g)

        limits = [(0.0, C), *((-before[b], C - before[b]) for b in opposed)]
        best = minimize(lost, np.zeros(len(limits)), bounds=limits, method="L-BFGS-B", tol=1e-14)
        assert run.dual(run.at, after) >= -best.fun - 1e-9
        alone = min(C, 1.0 - margin)  # k(x, x) = 1
        single = alone * (1.0 - margin) - 0.5 * alone**2
        assert run.dual(run.at, after) >= run.dual(run.at, np.append(before, 0.0)) + single - 1e-12
        assert (after >= 0.0).all()
        assert (after <= C + 1e-12).all()
        cached = run.learner.model.arrays.F.coef[: len(run.at)]
        np.testing.assert_allclose(
            cached, y[run.at] * (run.K[np.ix_(run.at, run.at)] @ (after * y[run.at])), atol=1e-10
        )
    assert pairs > 10


@pytest.mark.parametrize("kernel", [{}, {"kernel": "laplacian"}])
def test_without_double_updates_it_is_pa1(kernel: dict[str, Any]) -> None:
    X, y = noisy(200, seed=2)
    ours = duol(C=0.7, rho=1.01, **kernel).play(X, y)
    theirs = nr.make("pa1", C=0.7, algebra="kernel", gamma=GAMMA, native=False, **kernel).play(X, y)
    np.testing.assert_allclose(ours.scores, theirs.scores, atol=1e-12)
    assert ours.updated.tolist() == theirs.updated.tolist()
    assert not np.allclose(duol(C=0.7, **kernel).play(X, y).scores, theirs.scores, atol=0.01)


def test_the_same_row_with_both_labels_raises_both_to_the_limit() -> None:
    X, y = np.ones((2, 2)), np.array([1, -1])
    learner = duol(C=3.0).learn(X, y)
    assert learner.model.arrays.w.coef[:2].tolist() == [3.0, -3.0]
    assert learner.scores(X[:1])[0] == 0.0


# ---- the theorem ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.2, 1.0, 10.0])
def test_mistakes_keep_their_bound(C: float) -> None:
    """Against functions that a batch solver finds, and against none at all."""
    X, y = noisy(150, seed=3)
    learner, K = duol(C=C), gram(X)
    mistakes = int(learner.play(X, y).mistakes.sum())
    for ridge in (1e-3, 0.1, 1.0, np.inf):
        u = np.linalg.solve(K + ridge * np.eye(150), y) if np.isfinite(ridge) else np.zeros(150)
        loss = float(np.maximum(0.0, 1.0 - y * (K @ u)).sum())
        assert mistakes <= bound_of(learner, radius=1.0, norm=float(np.sqrt(u @ K @ u)), comparator_loss=loss)


def test_it_plays_two_classes_with_kernels_and_takes_no_weights() -> None:
    assert nr.learners()["duol"].algebras == ("kernel",)
    with pytest.raises(nr.BadValue, match="duol plays two classes only, and 'c' is a third"):
        duol().learn([[1.0], [2.0], [3.0]], ["a", "b", "c"])
    with pytest.raises(nr.BadValue, match="weight"):
        duol().learn([[1.0]], [1], weight=[2.0])
