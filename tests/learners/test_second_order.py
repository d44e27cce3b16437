"""The second-order perceptron (Cesa-Bianchi et al. 2005), AROW and IELLIP (2009), NHERD and NAROW (2010)."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import noregret as nr
from tests.conformance.plays import state
from tests.learners.reading import after_each_round, bound_of, comparators, hinge, same, weights, written
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import seeds


def full(name: str, **told: Any) -> nr.RuleLearner:
    return nr.make(name, covariance="full", native=False, **told)


def covariance(learner: nr.RuleLearner) -> Array:
    """The one matrix of a learner of two classes."""
    lower = np.tril(state(learner)["sigma"][0])
    return np.asarray(lower + np.tril(lower, -1).T)


# ---- worked examples ----------------------------------------------------------------------------------------------


def test_arow_on_the_four_points() -> None:
    X, y = streams.four()
    third, sigma_3 = [0.207547, -0.735849], [0.056604, -0.018868, 0.339623]
    written(after_each_round(full("arow"), X, y), [[0.235294, 0], [0.2, -0.6], third, third])
    learner, sigmas = full("arow"), []
    for t in range(4):
        learner.learn(X[t : t + 1], y[t : t + 1])
        sigmas.append(covariance(learner)[[0, 0, 1], [0, 1, 1]])
    written(np.array(sigmas), [[0.058824, 0, 1], [0.057143, -0.028571, 0.514286], sigma_3, sigma_3])


def test_the_second_order_perceptron_on_the_four_points() -> None:
    X, y = streams.four()
    learner = full("sop")
    transcript = learner.play(X, y)
    written(transcript.scores, [0, 0.114286, -0.396226, 0.261682])
    assert transcript.updated.tolist() == [True, True, False, False]
    written(state(learner)["v"][0], [3, -1])
    written(np.linalg.inv(covariance(learner)), [[18, 1], [1, 2]])


def test_nherd_on_the_four_points() -> None:
    X, y = streams.four()
    means = [[0.235294, 0], [0.233161, -0.61658], [0.233954, -0.693687], [0.233778, -0.709273]]
    written(after_each_round(full("nherd", C=1.0), X, y), means)
    learner, sigmas = full("nherd", C=1.0), []
    for t in range(4):
        sigmas.append(covariance(learner.learn(X[t : t + 1], y[t : t + 1]))[[0, 0, 1], [0, 1, 1]])
    third, fourth = [0.003442, -0.001653, 0.160661], [0.003429, -0.002766, 0.061657]
    written(np.array(sigmas), [[0.00346, 0, 1], [0.003451, -0.002589, 0.251726], third, fourth])


# ---- one step of AROW ---------------------------------------------------------------------------------------------


def arow_objective(mean: Array, sigma: Array, x: Array, y: float, r: float) -> Any:
    """KL to the old Gaussian, plus the squared hinge and the variance of the new round over 2 r."""
    precision, log_det, d = np.linalg.inv(sigma), np.linalg.slogdet(sigma)[1], len(x)

    def cost(v: Array) -> float:
        mu, root = v[:d], np.zeros((d, d))
        root[np.tril_indices(d)] = v[d:]
        S = root @ root.T
        far = mean - mu
        divergence = log_det - np.linalg.slogdet(S)[1] + np.trace(precision @ S) + far @ precision @ far - d
        short = max(0.0, float(1.0 - y * mu @ x))
        return float(0.5 * divergence + (short**2 + x @ S @ x) / (2.0 * r))

    return cost


def packed(mean: Array, sigma: Array) -> Array:
    return np.concatenate([mean, np.linalg.cholesky(sigma)[np.tril_indices(len(mean))]])


@pytest.mark.thinned(3)
@pytest.mark.parametrize("r", [0.3, 1.0, 4.0])
def test_an_arow_step_minimises_divergence_and_losses(r: float) -> None:
    X, y = streams.dense(30, 3, seed=1)
    learner = full("arow", r=r).learn(X[:20], y[:20])
    moved = 0
    for t in range(20, 30):
        before = weights(learner, 3), covariance(learner)
        if not learner.play(X[t : t + 1], y[t : t + 1]).updated[0]:
            continue
        moved += 1
        cost = arow_objective(*before, X[t], float(y[t]), r)
        best = minimize(cost, packed(*before), method="BFGS", options={"gtol": 1e-8, "maxiter": 2000})
        found = packed(weights(learner, 3), covariance(learner))
        np.testing.assert_allclose(found, best.x, atol=2e-5)
        assert cost(found) <= best.fun + 1e-12
    assert moved >= 5


def test_an_arow_round_moves_only_under_margin_one() -> None:
    X, y = streams.dense(80, 4, seed=2)
    learner = full("arow")
    for t in range(80):
        before, sigma = weights(learner, 4) if t else np.zeros(4), covariance(learner) if t else np.eye(4)
        margin = y[t] * before @ X[t]
        said = learner.play(X[t : t + 1], y[t : t + 1])
        assert said.updated[0] == (margin < 1.0)
        if said.updated[0]:
            v = X[t] @ sigma @ X[t]
            assert y[t] * weights(learner, 4) @ X[t] == pytest.approx(margin + (1.0 - margin) * v / (v + 1.0))
        else:
            same(covariance(learner), sigma)


def test_full_arow_is_the_ridge_regression_on_its_updates() -> None:
    X, y = noisy(seed=3)
    learner = full("arow", r=0.7)
    moved = learner.play(X, y).updated
    assert 0 < moved.sum() < 300
    Z = (y[:, None] * X)[moved]
    P = np.eye(5) + Z.T @ Z / 0.7
    np.testing.assert_allclose(covariance(learner), np.linalg.inv(P), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(weights(learner, 5), np.linalg.solve(P, Z.sum(axis=0) / 0.7), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kept", ["diagonal", "drop"])
@pytest.mark.parametrize("name", ["arow", "nherd"])
def test_confidence_only_grows(name: str, kept: str) -> None:
    X, y = streams.sparse(100, 8, density=0.4, seed=4)
    learner, last = nr.make(name, covariance=kept, native=False), np.ones(8)
    for t in range(100):
        learner.learn(X[t : t + 1], y[t : t + 1])
        now = state(learner)["sigma"][0]
        assert (now <= last).all()
        assert (now > 0.0).all()
        assert (now[X[t] == 0.0] == last[X[t] == 0.0]).all()
        last = now
    assert (last < 1.0).all()


# ---- one step of the second-order perceptron ----------------------------------------------------------------------


def test_the_second_order_perceptron_keeps_two_sums_and_solves_for_its_score() -> None:
    X, y = streams.dense(80, 5, seed=5)
    learner, A, v = full("sop"), np.eye(5), np.zeros(5)
    for t in range(80):
        said = learner.play(X[t : t + 1], y[t : t + 1])
        ahead = A + np.outer(X[t], X[t])
        score = float(v @ np.linalg.solve(ahead, X[t]))
        assert said.scores[0] == pytest.approx(score, abs=1e-12)
        assert said.updated[0] == (y[t] * score <= 0.0)
        if said.updated[0]:
            A, v = ahead, v + y[t] * X[t]
        np.testing.assert_allclose(state(learner)["v"][0], v, rtol=1e-12)
        np.testing.assert_allclose(covariance(learner), np.linalg.inv(A), rtol=1e-9, atol=1e-12)
    assert 10 < learner.updates < 70


# ---- one step of NHERD --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.1, 1.0, 7.0])
def test_nherd_moves_every_weight_vector_of_its_gaussian_toward_margin_one(C: float) -> None:
    """Each vector q moves to the minimum of (q' - q)' Sigma^-1 (q' - q) + C (1 - y q'.x)^2."""
    X, y = streams.dense(30, 3, seed=6)
    learner, moved = full("nherd", C=C).learn(X[:5], y[:5]), 0
    for t in range(5, 30):
        mean, sigma = weights(learner, 3), covariance(learner)
        if not learner.play(X[t : t + 1], y[t : t + 1]).updated[0]:
            assert y[t] * mean @ X[t] >= 1.0
            continue
        moved += 1
        P, root = np.linalg.inv(sigma), np.linalg.cholesky(sigma)
        flock = np.concatenate([mean + np.sqrt(3.0) * root.T, mean - np.sqrt(3.0) * root.T])
        herded = np.linalg.solve(P + C * np.outer(X[t], X[t]), (flock @ P + C * y[t] * X[t]).T)
        np.testing.assert_allclose(weights(learner, 3), herded.mean(axis=1), rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(covariance(learner), np.cov(herded, ddof=0), rtol=1e-5, atol=1e-10)
    assert moved >= 5


@pytest.mark.parametrize("kept", ["diagonal", "drop", "full"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_an_nherd_update_divides_the_loss_of_its_round(C: float, kept: str) -> None:
    X, y = noisy(seed=7)
    learner = nr.make("nherd", C=C, covariance=kept, native=False).learn(X[:5], y[:5])
    for t in range(5, 60):
        sigma = covariance(learner) if kept == "full" else np.diag(state(learner)["sigma"][0])
        loss = 1.0 - float(y[t] * weights(learner, 5) @ X[t])
        if learner.play(X[t : t + 1], y[t : t + 1]).updated[0]:
            left = 1.0 - float(y[t] * weights(learner, 5) @ X[t])
            expected = bound_of(learner, loss_before=loss, variance_before=float(X[t] @ sigma @ X[t]))
            assert left == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_nherd_is_surer_than_arow_after_the_same_step() -> None:
    X, y = streams.dense(1, 3, seed=8)
    herd, arow = full("nherd", C=2.0).learn(X, y), full("arow", r=0.5).learn(X, y)
    same(weights(herd, 3), weights(arow, 3))
    assert X[0] @ covariance(herd) @ X[0] < X[0] @ covariance(arow) @ X[0]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("kept", ["diagonal", "drop", "full"])
@pytest.mark.parametrize(
    ("name", "told"),
    [("nherd", {"C": C}) for C in (5e-324, 1e-300, 1e-9, 1e9)] + [("narow", {"b": b}) for b in (1e-300, 1e-9, 1e9)],
)
def test_any_parameter_that_is_allowed_stays_finite(name: str, told: dict[str, float], kept: str) -> None:
    X, y = noisy(seed=9)
    learner = nr.make(name, covariance=kept, native=False, **told)
    assert np.isfinite(learner.play(X, y).scores).all()
    assert all(np.isfinite(found).all() for found in state(learner).values())


@pytest.mark.parametrize("kept", ["diagonal", "drop", "full"])
def test_nherd_with_a_c_beyond_rounding_stays_finite_or_refuses(kept: str) -> None:
    X, y = noisy(seed=9)
    learner = nr.make("nherd", C=1e300, covariance=kept, native=False)
    for t in range(len(y)):
        try:
            learner.learn(X[t : t + 1], y[t : t + 1])
        except nr.BadValue:
            assert kept == "full"  # five rounds leave it nothing but rounding
    assert all(np.isfinite(found).all() for found in state(learner).values())


# ---- one step of NAROW --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("b", [0.3, 1.0, 5.0])
def test_narow_leaves_no_direction_with_a_variance_above_one_over_b(b: float) -> None:
    X, y = streams.dense(80, 4, seed=10)
    learner, A, theta = full("narow", b=b), np.eye(4), np.zeros(4)
    for t in range(80):
        said = learner.play(X[t : t + 1], y[t : t + 1])
        chi = float(X[t] @ np.linalg.solve(A, X[t]))
        ahead = A + np.outer(X[t], X[t]) * max(0.0, b * chi - 1.0) / chi
        left = float(X[t] @ np.linalg.solve(ahead, X[t]))
        assert left == pytest.approx(min(chi, 1.0 / b))
        score = float(theta @ np.linalg.solve(ahead, X[t]))
        assert said.scores[0] == pytest.approx(score, abs=1e-10)
        assert said.updated[0] == (y[t] * score < 1.0)
        if said.updated[0]:
            A, theta = ahead, theta + y[t] * X[t]
        np.testing.assert_allclose(state(learner)["theta"][0], theta, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(covariance(learner), np.linalg.inv(A), rtol=1e-9, atol=1e-12)
    assert learner.updates > 10


@pytest.mark.parametrize("kept", ["diagonal", "drop", "full"])
def test_narow_is_the_perceptron_with_margin_while_every_direction_counts_as_known(kept: str) -> None:
    X, y = noisy(seed=11)
    w = np.zeros(5)
    for t in range(len(y)):
        w = w + (y[t] * w @ X[t] < 1.0) * y[t] * X[t]
    same(weights(nr.make("narow", b=1e-9, covariance=kept, native=False).learn(X, y), 5), w)


# ---- the ellipsoid ------------------------------------------------------------------------------------------------


@pytest.mark.thinned(2)
@pytest.mark.parametrize("kept", ["diagonal", "drop", "full"])
@pytest.mark.parametrize("decay", ["round", "update"])
def test_iellip_takes_every_mistake_to_the_margin_it_promises(kept: str, decay: str) -> None:
    X, y = noisy(seed=12)
    learner = nr.make("iellip", covariance=kept, decay=decay, native=False)
    for t in range(len(y)):
        said = learner.play(X[t : t + 1], y[t : t + 1])
        if said.updated[0]:
            assert y[t] * learner.scores(X[t : t + 1])[0] == pytest.approx(bound_of(learner), abs=1e-9)
        else:
            assert y[t] * said.scores[0] > 0.0
    assert learner.updates > 20


def test_iellip_cuts_the_ellipsoid_as_the_paper_does() -> None:
    X, y = noisy(seed=13)
    learner, sigma, share = full("iellip", c=0.4, b=0.9), np.eye(5), 0.4
    for t in range(60):
        moved = learner.play(X[t : t + 1], y[t : t + 1]).updated[0]
        if moved:
            g = sigma @ X[t] / np.sqrt(X[t] @ sigma @ X[t])
            sigma = (sigma - share * np.outer(g, g)) / (1.0 - share)
        np.testing.assert_allclose(
            covariance(learner) * learner.model.arrays.n.sigma_scale, sigma, rtol=1e-9, atol=1e-12
        )
        share *= 0.9
    assert learner.updates > 10


@pytest.mark.parametrize("kept", ["diagonal", "drop", "full"])
def test_a_row_so_short_that_no_step_of_iellip_reaches_margin_one_teaches_nothing(kept: str) -> None:
    learner = nr.make("iellip", covariance=kept, native=False).learn(np.array([[1.0, 2.0]]), [1])
    before = weights(learner, 2)
    said = learner.play(np.array([[-1e-155, 0.0]]), [1])
    assert (said.updated[0], learner.updates) == (False, 1)
    assert weights(learner, 2).tolist() == before.tolist()
    assert learner.play(np.array([[-1e-140, 0.0]]), [1]).updated[0]


def test_iellip_without_a_cut_projects_onto_the_margin() -> None:
    X, y = noisy(seed=14)
    w = np.zeros(5)
    for t in range(len(y)):
        m = y[t] * w @ X[t]
        w = w + (m <= 0.0) * (1.0 - m) / (X[t] @ X[t]) * y[t] * X[t]
    same(weights(full("iellip", c=0.0).learn(X, y), 5), w)


# ---- the theorems -------------------------------------------------------------------------------------------------


def noisy(seed: int, rounds: int = 300) -> tuple[Array, Array]:
    X, y, _ = streams.separable(rounds, 5, 0.1, seed)
    return 2.0 * X, streams.flip(y, 0.1, seed)


@pytest.mark.parametrize("r", [0.1, 1.0, 10.0])
@seeds(4)
def test_arow_makes_few_mistakes_beside_any_comparator(seed: int, r: float) -> None:
    X, y = noisy(seed)
    learner = full("arow", r=r)
    transcript = learner.play(X, y)
    Z, labels = X[transcript.updated], y[transcript.updated]
    log_det = float(np.linalg.slogdet(np.eye(5) + Z.T @ Z / r)[1])
    mistakes = transcript.mistakes.sum()
    near_misses = float(np.sum(transcript.updated & ~transcript.mistakes))
    for u in comparators(X, y, seed):
        bound = bound_of(
            learner,
            norm=float(np.linalg.norm(u)),
            squared_scores_on_updates=float(np.sum((Z @ u) ** 2)),
            log_det=log_det,
            updates_without_mistake=near_misses,
            comparator_loss_on_updates=float(hinge(u, Z, labels).sum()),
        )
        assert mistakes <= bound + 1e-9


@pytest.mark.parametrize("gamma", [0.05, 0.3, 1.0])
@seeds(4)
def test_the_second_order_perceptron_makes_few_updates_beside_any_comparator(seed: int, gamma: float) -> None:
    X, y = noisy(seed)
    learner = full("sop")
    moved = learner.play(X, y).updated
    Z, labels = X[moved], y[moved]
    log_det = float(np.linalg.slogdet(np.eye(5) + Z.T @ Z)[1])
    for u in comparators(X, y, seed)[1:]:
        unit = u / np.linalg.norm(u)
        v = unit / gamma
        bound = bound_of(
            learner,
            norm=1.0 / gamma,
            comparator_loss_on_updates=float(hinge(v, Z, labels).sum()),
            squared_scores_on_updates=float(np.sum((Z @ v) ** 2)),
            log_det=log_det,
        )
        short = float(hinge(unit, Z, labels, gamma).sum())
        spread = 1.0 + float(np.sum((Z @ unit) ** 2))
        assert bound == pytest.approx((short + np.sqrt(spread * log_det)) / gamma)  # as the paper writes it
        assert moved.sum() <= bound


@pytest.mark.parametrize("b", [0.1, 1.0, 10.0])
@seeds(4)
def test_narow_keeps_up_with_the_margins_of_any_comparator(seed: int, b: float) -> None:
    X, y = noisy(seed)
    learner, variances, margins = full("narow", b=b), 0.0, 0.0
    moved = np.zeros(len(y), bool)
    for t in range(len(y)):
        said = learner.play(X[t : t + 1], y[t : t + 1])
        moved[t] = said.updated[0]
        if moved[t]:
            after = covariance(learner)
            variances, margins = variances + float(X[t] @ after @ X[t]), margins + float(y[t] * said.scores[0])
            assert X[t] @ after @ X[t] <= (1.0 + 1e-9) / b
    A = np.linalg.inv(covariance(learner))
    for u in comparators(X, y, seed):
        gained = float(np.sum(y[moved] * (X[moved] @ u))) - margins
        assert gained <= bound_of(learner, comparator_precision=float(u @ A @ u), variances_on_updates=variances) + 1e-6
