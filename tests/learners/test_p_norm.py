"""The p-norm perceptron (Grove, Littlestone and Schuurmans 2001) and ALMA (Gentile 2001)."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

import noregret as nr
from tests.conformance.plays import same_bits, state
from tests.learners.reading import Objective, bound_of, same, steps, weights, written
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import seeds


def length(v: Array, p: float) -> Any:
    return np.sum(np.abs(v) ** p, axis=-1) ** (1.0 / p)


def dual(p: float) -> float:
    return p / (p - 1.0)


def sparse_target(rounds: int, d: int, seed: int) -> tuple[Array, Array, Array]:
    """Rows of -1 and +1, labelled by the majority of three features."""
    rng = np.random.default_rng(seed)
    u = np.zeros(d)
    u[rng.choice(d, 3, replace=False)] = [1.0, -1.0, 1.0]
    X = rng.choice([-1.0, 1.0], size=(rounds, d))
    return X, np.sign(X @ u), u


# ---- the p-norm perceptron ----------------------------------------------------------------------------------------


def test_two_updates_worked_by_hand() -> None:
    learner = nr.make("p_norm", p=4.0, native=False).learn(np.array([[1.0, 1.0]]), [1])
    written(weights(learner, 2), np.array([1.0, 1.0]) / math.sqrt(2.0))  # |theta|_4^2 = sqrt(2)
    learner.learn(np.array([[1.0, -1.0]]), [1])  # a score of zero: theta becomes (2, 0)
    written(weights(learner, 2), [2.0, 0.0])
    learner.learn(np.array([[0.0, 1.0]]), [-1])
    written(weights(learner, 2), np.array([8.0, -1.0]) / math.sqrt(17.0))


@pytest.mark.parametrize("told", [{}, {"native": False}, {"algebra": "reference"}, {"task": "multiclass"}])
@pytest.mark.parametrize(("name", "p"), [("p_norm", 24), ("p_norm", 24.5), ("mirror_descent", 24)])
def test_rows_so_short_that_their_powers_are_lost_are_learned_as_long_ones(
    name: str, p: float, told: dict[str, Any]
) -> None:
    X, y, _ = sparse_target(200, 6, seed=5)
    X = X * np.random.default_rng(5).uniform(0.5, 1.0, X.shape)
    if name == "mirror_descent":
        told = {**told, "link": "p_norm", "loss": "perceptron", "eta": 0.15}
    short, long = (nr.make(name, p=p, **told).play(2.0**by * X, y) for by in (-50, 0))
    np.testing.assert_allclose(2.0**100 * short.scores, long.scores, rtol=1e-9, atol=1e-9)
    assert short.mistakes.sum() < 80
    assert short.updated.tolist() == long.updated.tolist()


@pytest.mark.parametrize("told", [{}, {"native": False}, {"algebra": "dense"}, {"task": "multiclass"}])
def test_with_p_of_two_it_is_the_perceptron_to_the_last_bit(told: dict[str, Any]) -> None:
    X, y = streams.sparse(80, 12, density=0.4, seed=3)
    for eta in (1.0, 0.3):
        mine, other = (
            nr.make(name, eta=eta, **told, **more) for name, more in (("p_norm", {"p": 2}), ("perceptron", {}))
        )
        assert same_bits(mine.play(X, y).scores, other.play(X, y).scores)
        assert mine.updates == other.updates > 10


@pytest.mark.parametrize("p", [2.0, 2.5, 4.0, 7.0])
def test_the_weights_are_the_slope_of_half_the_squared_norm_of_the_sum(p: float) -> None:
    X, y = streams.dense(60, 5, seed=4)
    learner = nr.make("p_norm", p=p, native=False)
    added = np.zeros(5)
    for t in range(60):
        said = learner.play(X[t : t + 1], y[t : t + 1])
        assert said.updated[0] == (y[t] * said.scores[0] <= 0.0)
        added += y[t] * X[t] * said.updated[0]
        same(state(learner)["theta"][0], added)
    half: Objective = lambda v: 0.5 * length(v, p) ** 2  # noqa: E731
    slope = approx_fprime(added, half, 1e-7)
    np.testing.assert_allclose(weights(learner, 5), slope, atol=1e-6)
    assert length(weights(learner, 5), dual(p)) == pytest.approx(length(added, p))


@pytest.mark.thinned(2)
@pytest.mark.many_rounds
@seeds(3)
@pytest.mark.parametrize("p", [2.0, 3.5, 6.0, 12.0])
@pytest.mark.parametrize("d", [10, 300])
def test_no_more_updates_than_the_margin_allows(d: int, p: float, seed: int) -> None:
    X, y, u = sparse_target(400, d, seed)
    gamma = float((y * (X @ u)).min() / length(u, dual(p)))
    radius = float(length(X, p).max())
    learner = nr.make("p_norm", p=p)
    while learner.play(X, y).updated.any():
        assert learner.updates <= bound_of(learner, radius_p=radius, margin_q=gamma)
    assert learner.updates > 5


def test_one_feature_a_row_takes_every_update_that_the_bound_allows() -> None:
    y = np.array([1.0, -1.0, -1.0, 1.0])
    learner = nr.make("p_norm", p=2.0, native=False).learn(np.eye(4), y)
    assert learner.updates == bound_of(learner, radius_p=1.0, margin_q=0.5)  # u = y / 2


@pytest.mark.many_rounds
def test_irrelevant_features_cost_a_large_p_only_a_logarithm() -> None:
    X, y, _ = sparse_target(3000, 1000, seed=1)
    mistakes = {p: nr.make("p_norm", p=p).learn(X, y).mistakes for p in (2.0, 2.0 * math.log(1000.0))}
    assert 2 * mistakes[2.0 * math.log(1000.0)] < mistakes[2.0]


# ---- ALMA ---------------------------------------------------------------------------------------------------------


def best_margin(Z: Array, p: float) -> float:
    """The largest margin that some u with |u|_q = 1 has on rows of p-norm 1, by a solver."""
    q = dual(p)
    start = np.linalg.lstsq(Z, np.ones(len(Z)), rcond=None)[0]
    start = start / (Z @ start).min()
    size: Objective = lambda u: 0.5 * length(u, q) ** 2  # noqa: E731
    reached: Objective = {"type": "ineq", "fun": lambda u: Z @ u - 1.0, "jac": lambda u: Z}
    options: Objective = {"ftol": 1e-13, "maxiter": 1000}
    found = minimize(size, start, method="SLSQP", options=options, constraints=[reached])
    assert (Z @ found.x).min() > 1.0 - 1e-6
    return float((Z @ found.x).min() / length(found.x, q))


def test_alma_worked_by_hand() -> None:
    learner = nr.make("alma", alpha=0.5, native=False)
    learner.learn(np.array([[3.0, 4.0]]), [1])  # sqrt(2) (0.6, 0.8) is taken back to the ball
    written(weights(learner, 2), [0.6, 0.8])
    assert learner.model.arrays.n.k == 2.0
    said = learner.play(np.array([[0.0, 5.0]]), [1])  # 0.8 <= 0.5 sqrt(32) / sqrt(2) = 2
    assert said.updated[0]
    written(weights(learner, 2), np.array([0.6, 1.8]) / math.sqrt(3.6))


@pytest.mark.parametrize("p", [2.0, 2.7, 4.0])
@pytest.mark.parametrize("alpha", [0.3, 0.9, 1.0])
def test_alma_corrects_exactly_the_rounds_short_of_its_margin_and_stays_in_the_ball(p: float, alpha: float) -> None:
    X, y, _ = streams.separable(150, 6, margin=0.05, seed=6)
    learner, k = nr.make("alma", p=p, alpha=alpha, native=False), 2
    for t, before, after, said in steps(learner, X, y, rounds=149):
        z = y[t] * X[t] / length(X[t], p)
        asked = (1.0 - alpha) * math.sqrt(8.0) / alpha * math.sqrt((p - 1.0) / k)
        assert said.updated[0] == (z @ before <= asked)
        assert length(after, dual(p)) <= 1.0 + 1e-12
        k += int(said.updated[0])
        assert said.updated[0] or np.array_equal(before, after)
    assert learner.model.arrays.n.k == k > 5


@pytest.mark.thinned(3)
@pytest.mark.parametrize("p", [2.0, 3.0, 4.5])
def test_a_step_of_alma_minimises_its_divergence_and_then_its_distance_to_the_ball(p: float) -> None:
    """w' is where -eta z.w + 1/2 |w|_q^2 - f(w_t).w is least, f being the slope of 1/2 |.|_q^2; then it is scaled."""
    X, y, _ = streams.separable(60, 4, margin=0.02, seed=7)
    q, learner, k = dual(p), nr.make("alma", p=p, native=False), 2
    for t, before, after, said in steps(learner, X, y, rounds=59):
        if not said.updated[0]:
            continue
        z, eta = y[t] * X[t] / length(X[t], p), math.sqrt(2.0) / math.sqrt((p - 1.0) * k)
        k += 1
        size = length(before, q)
        f = np.sign(before) * np.abs(before) ** (q - 1.0) / size ** (q - 2.0)

        def objective(w: Array, toward: Array = eta * z + f) -> float:
            return float(0.5 * length(w, q) ** 2 - toward @ w)

        there = minimize(objective, before + eta * z, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-15,
                         "maxiter": 20_000, "maxfev": 20_000}).x  # fmt: skip
        np.testing.assert_allclose(after, there / max(1.0, float(length(there, q))), atol=1e-5)
    assert k > 5


@pytest.mark.many_rounds
@seeds(2)
@pytest.mark.parametrize("alpha", [0.5, 0.9])
@pytest.mark.parametrize("p", [2.0, 4.0])
def test_alma_stops_in_time_and_with_most_of_the_largest_margin(p: float, alpha: float, seed: int) -> None:
    X, y, _ = streams.separable(40, 4, margin=0.15, seed=seed)
    Z = y[:, None] * X / length(X, p)[:, None]
    gamma = best_margin(Z, p)
    learner = nr.make("alma", p=p, alpha=alpha)
    limit = bound_of(learner, relative_margin=gamma)
    while learner.play(X, y).updated.any():
        assert learner.updates <= limit
    w = weights(learner, 4)
    assert (Z @ w).min() / length(w, dual(p)) >= (1.0 - alpha) * gamma
    assert learner.updates > 3


@pytest.mark.parametrize("p", [2.0, 6.0, 40.0])
@pytest.mark.parametrize("factor", [1e-100, 1e100])
def test_the_length_of_a_row_does_not_matter_to_alma(p: float, factor: float) -> None:
    X, y = streams.dense(50, 4, seed=8)
    plain, stretched = (nr.make("alma", p=p, alpha=0.7, native=False).learn(a * X, y) for a in (1.0, factor))
    np.testing.assert_allclose(weights(stretched, 4), weights(plain, 4), rtol=1e-9)
    assert plain.updates == stretched.updates > 5


def test_the_theorem_of_alma_is_for_its_own_constants() -> None:
    alma = nr.learners()["alma"]
    proved = [{"alpha": 0.5}, {"alpha": 0.5, "B": 2.0 * math.sqrt(8.0)}, {"alpha": 0.5, "C": math.sqrt(2.0)}]
    others = [{"alpha": 0.5, "B": B} for B in (math.sqrt(8.0), 0.5 * math.sqrt(8.0), 2.0, 16.0, 6.0)]
    assert all(len(alma.guarantees_for(told)) == 1 for told in proved)
    assert not any(alma.guarantees_for(told) for told in [*others, {"alpha": 0.5, "C": 1.0}])
