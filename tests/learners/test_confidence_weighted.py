"""CW (Dredze et al. 2008, Crammer et al. 2008) and soft CW (Hoi, Wang and Zhao 2012)."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

import noregret as nr
from noregret.learners.confidence_weighted import quantile
from tests.conformance.plays import state
from tests.learners import test_second_order
from tests.learners.reading import after_each_round, bound_of, weights, written
from tests.learners.test_second_order import covariance, noisy, packed
from tests.naive import streams
from tests.naive.rules import Array
from tests.support import cover
from tests.support.engines import engines

ALL = ["cw", "cw_variance", "scw1", "scw2"]
SOFT = {"eta": 0.75, "C": 1.0, "floor": 1e-12}  # as in the paper
Gaussian = tuple[Array, Array]


def full(name: str, **told: Any) -> nr.RuleLearner:
    """A learner with whole matrices; of SCW, as in the paper."""
    return test_second_order.full(name, **({**SOFT, **told} if name.startswith("scw") else told))


def phi(learner: nr.RuleLearner) -> float:
    return float(norm.ppf(learner.params["eta"]))


def gaussian(learner: nr.RuleLearner, d: int) -> Gaussian:
    return weights(learner, d), covariance(learner)


# ---- worked examples ----------------------------------------------------------------------------------------------


def on_the_four_points(name: str, **told: Any) -> tuple[Array, Array]:
    """The weights and the covariance (its cells 11, 12 and 22) after each of the four points."""
    X, y = streams.four()
    learner, sigmas = full(name, **told), []
    for t in range(4):
        sigmas.append(covariance(learner.learn(X[t : t + 1], y[t : t + 1]))[[0, 0, 1], [0, 1, 1]])
    return after_each_round(full(name, **told), X, y), np.array(sigmas)


def test_cw_on_the_four_points() -> None:
    means, sigmas = on_the_four_points("cw")
    last, sigma = [0.376326, -1.088816], [0.297844, -0.212985, 0.437215]
    written(means, [[0.788386, 0], last, last, last])
    written(sigmas, [[0.378448, 0, 1], sigma, sigma, sigma])


def test_capped_cw_on_the_four_points() -> None:
    means, sigmas = on_the_four_points("scw1", eta=0.9, C=0.1)
    written(means, [[0.4, 0], [0.33978, -0.1], [0.345403, -0.190663], [0.241769, -0.341218]])
    third, fourth = [0.56794, -0.04977, 0.802545], [0.515081, -0.126561, 0.690986]
    written(sigmas, [[0.602199, 0, 1], [0.56834, -0.056225, 0.906633], third, fourth])


def test_softened_cw_on_the_four_points() -> None:
    means, sigmas = on_the_four_points("scw2", eta=0.9, C=0.1)
    written(means, [[0.650754, 0], [0.520975, -0.292177], [0.535252, -0.388985], [0.389207, -0.661874]])
    third, fourth = [0.392825, -0.095961, 0.650658], [0.347634, -0.180401, 0.492878]
    written(sigmas, [[0.444181, 0, 1], [0.395002, -0.11072, 0.750733], third, fourth])


# ---- the normal quantile ------------------------------------------------------------------------------------------


def test_the_quantile_is_exact_to_rounding() -> None:
    middle = np.linspace(0.5, 1.0, 20_001)[1:-1]
    tail = 1.0 - np.logspace(-1.0, -15.9, 400)
    for some in (middle, tail):
        np.testing.assert_allclose([quantile(float(eta)) for eta in some], norm.ppf(some), rtol=2e-15)
    assert quantile(0.5) == 0.0


# ---- one step solves the problem it is defined by -----------------------------------------------------------------


def divergence(new: Gaussian, old: Gaussian) -> float:
    """KL(N(new), N(old))"""
    precision, far = np.linalg.inv(old[1]), new[0] - old[0]
    log_dets = np.linalg.slogdet(old[1])[1] - np.linalg.slogdet(new[1])[1]
    return float(0.5 * (log_dets + np.trace(precision @ new[1]) + far @ precision @ far - len(far)))


def unpacked(v: Array, d: int) -> Gaussian:
    root = np.zeros((d, d))
    root[np.tril_indices(d)] = v[d : d + d * (d + 1) // 2]
    return v[:d], root @ root.T


def spread(name: str, variance: float) -> float:
    """What the margin is measured by: the deviation, or in the older form the variance."""
    return variance if name == "cw_variance" else float(np.sqrt(variance))


def shortfall(learner: nr.RuleLearner, name: str, now: Gaussian, x: Array, y: float) -> float:
    """What the margin of a round lacks; negative if it has more than is asked for."""
    return phi(learner) * spread(name, float(x @ now[1] @ x)) - float(y * now[0] @ x)


def price(learner: nr.RuleLearner, name: str, short: float) -> float:
    return float({"scw1": short, "scw2": short**2}[name] * learner.params["C"])


def solved(learner: nr.RuleLearner, name: str, old: Gaussian, x: Array, y: float) -> Array:
    """The Gaussian nearest to the old one that has the margin, where SCW may buy a slack, found by a solver.

    The old Gaussian is taken as the unit one, of coordinates in which the solver is at ease.
    """
    root, soft, d = np.linalg.cholesky(old[1]), name.startswith("scw"), len(x)
    unit, seen, had = (np.zeros(d), np.eye(d)), root.T @ x, float(y * old[0] @ x)

    def cost(v: Array) -> float:
        return divergence(unpacked(v, d), unit) + (price(learner, name, v[-1]) if soft else 0.0)

    def kept(v: Array) -> float:
        return (v[-1] if soft else 0.0) + had - shortfall(learner, name, unpacked(v, d), seen, y)

    start = np.append(packed(*unit), [max(0.0, shortfall(learner, name, old, x, y))] * soft)
    limits: Any = [{"type": "ineq", "fun": kept}, *([{"type": "ineq", "fun": lambda v: v[-1]}] if soft else [])]
    best = minimize(cost, start, method="SLSQP", constraints=limits, options={"ftol": 1e-15, "maxiter": 200})
    mean, sigma = unpacked(best.x, d)
    return packed(old[0] + root @ mean, root @ sigma @ root.T)


def updates(name: str, seed: int, d: int = 3, **told: Any) -> Any:
    """The updates of a stream, each with the Gaussian before and after it."""
    X, y = streams.dense(20, d, seed=seed)
    learner = full(name, **told).learn(X[:3], y[:3])
    moved = 0
    for t in range(3, 20):
        before = gaussian(learner, d)
        due = shortfall(learner, name, before, X[t], y[t]) > 0.0
        assert bool(learner.play(X[t : t + 1], y[t : t + 1]).updated[0]) == due
        if due:
            moved += 1
            yield learner, before, gaussian(learner, d), X[t], float(y[t])
    assert moved >= 5


@pytest.mark.parametrize("eta", [0.6, 0.9, 0.99])
@pytest.mark.parametrize(
    ("name", "told"),
    [("cw", {}), ("cw_variance", {}), *((name, {"C": C}) for name in ("scw1", "scw2") for C in (0.05, 0.5, 5.0))],
)
@pytest.mark.thinned(8)
def test_a_step_is_the_one_a_solver_finds(name: str, told: dict[str, float], eta: float) -> None:
    for number, (learner, before, after, x, y) in enumerate(updates(name, seed=1, d=2, eta=eta, **told)):
        if number % 3 and not cover.ALL:  # a solver takes its time
            continue
        best = solved(learner, name, before, x, y)
        np.testing.assert_allclose(packed(*after), best, rtol=0.0, atol=1e-5 * np.abs(best).max())


@pytest.mark.parametrize("eta", [0.51, 0.7, 0.95, 0.9999])
@pytest.mark.parametrize("name", ["cw", "cw_variance"])
def test_after_an_update_the_round_has_just_the_margin_it_was_asked_for(name: str, eta: float) -> None:
    for learner, before, after, x, y in updates(name, seed=2, eta=eta):
        variance = float(x @ after[1] @ x)
        assert y * after[0] @ x == pytest.approx(bound_of(learner, variance_after=variance), rel=1e-9)
        assert np.linalg.eigvalsh(before[1] - after[1]).min() > -1e-12
        assert variance < x @ before[1] @ x


@pytest.mark.parametrize("eta", [0.6, 0.9])
@pytest.mark.parametrize("C", [0.01, 0.3, 10.0])
@pytest.mark.parametrize("name", ["scw1", "scw2"])
def test_a_soft_step_costs_no_more_than_the_loss_it_was_made_for(name: str, C: float, eta: float) -> None:
    for learner, before, after, x, y in updates(name, seed=3, eta=eta, C=C):
        left = max(0.0, shortfall(learner, name, after, x, y))
        was = shortfall(learner, name, before, x, y)
        paid = divergence(after, before) + price(learner, name, left)
        assert 0.0 < paid < bound_of(learner, loss_before=was)
        assert left < was


@pytest.mark.parametrize("kept", ["diagonal", "drop"])
@pytest.mark.parametrize("name", ALL)
def test_only_the_features_of_the_round_gain_confidence(name: str, kept: str) -> None:
    X, y = streams.sparse(15, 8, density=0.4, seed=4)
    learner, last = nr.make(name, covariance=kept, native=False), np.ones(8)
    for t in range(15):
        moved = learner.play(X[t : t + 1], y[t : t + 1]).updated[0]
        now = state(learner)["sigma"][0]
        assert ((now < last) == (moved & (X[t] != 0.0))).all()
        assert (now > 0.0).all()
        last = now


@pytest.mark.parametrize("kept", ["diagonal", "drop", "full"])
@pytest.mark.parametrize("name", ALL)
@pytest.mark.thinned(4)
def test_labels_that_contradict_each_other_leave_a_variance_to_learn_with(name: str, kept: str) -> None:
    learner, x = nr.make(name, covariance=kept, native=False), np.array([[3.0, -1.0]])
    for t in range(400):
        learner.learn(x, [-1.0 if t % 2 else 1.0])
    sigma = covariance(learner) if kept == "full" else np.diag(state(learner)["sigma"][0])
    assert (x @ sigma @ x.T).item() > 1e-12
    for label in (1.0, -1.0):
        assert np.sign(learner.learn(x, [label]).scores(x))[0] == label or name.startswith("scw")


@pytest.mark.parametrize("name", ALL)
def test_the_variance_that_is_left_is_measured_by_the_length_of_the_row(name: str) -> None:
    for length in (1.0, 1e3):
        learner, x = full(name), length * np.array([[3.0, -1.0]])
        for t in range(200):
            learner.learn(x, [-1.0 if t % 2 else 1.0])
        assert (x @ covariance(learner) @ x.T).item() > 1e-12 * (x @ x.T).item()


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("name", "told", "runs"),
    [
        ("cw_variance", {}, [(0.9, [first, then]) for first in np.geomspace(1e10, 1e12, 50) for then in (first, 1.0)]),
        ("scw1", {"C": 1e9}, [(eta, [2.0] * 12) for eta in np.linspace(0.7, 0.99, 25)]),
        ("scw2", {"C": 1e30}, [(eta, [2.0] * 12) for eta in np.linspace(0.7, 0.99, 25)]),
        ("cw", {}, [(eta, [2.0] * 12) for eta in np.linspace(0.7, 0.99, 25)]),
        ("scw1", {"C": 1e9, "floor": 0.02}, [(eta, [2.0] * 6) for eta in np.linspace(0.6, 0.99, 100)]),
        ("scw2", {"C": 1e30, "floor": 0.02}, [(eta, [2.0] * 6) for eta in np.linspace(0.6, 0.99, 100)]),
    ],
    ids=[*ALL[1:], ALL[0], "scw1-floor", "scw2-floor"],
)
def test_a_variance_shrinks_just_as_long_as_what_is_left_is_above_its_floor(
    name: str, told: dict[str, float], runs: list[tuple[float, list[float]]]
) -> None:
    """Labels that contradict each other: a step that would leave floor |x|^2 or less moves the weights alone."""
    ratios, floor = [], told.get("floor", 1e-12)
    for eta, lengths in runs:
        learner, w, variance, quantile_of = full(name, eta=eta, **told), 0.0, 1.0, float(norm.ppf(eta))
        for t, length in enumerate(lengths):
            label = -1.0 if t % 2 else 1.0
            if not learner.play(np.array([[length]]), [label]).updated[0]:
                break
            alpha, v = label * (weights(learner, 1)[0] - w) / (variance * length), variance * length**2
            a = alpha * v * quantile_of
            left = v / (1.0 + 2.0 * a) if name == "cw_variance" else (2.0 * v / (a + np.sqrt(a * a + 4.0 * v))) ** 2
            ratios.append(left / (floor * length**2))
            expected = left / length**2 if ratios[-1] > 1.0 else variance
            assert covariance(learner).item() == pytest.approx(expected, rel=1e-6)
            w, variance = weights(learner, 1)[0], covariance(learner).item()
    above, below = (np.array(ratios) > 1.0), (np.array(ratios) <= 1.0)
    assert min(above.sum(), below.sum()) > 10
    assert np.array(ratios)[above].min() < 2.0


@pytest.mark.parametrize("name", ["cw", "cw_variance"])
def test_a_step_beyond_all_measure_is_not_taken(name: str) -> None:
    for variance, moves in ((1.5e-300, False), (1e-298, True)):
        learner = full(name, eta=0.999999).learn(np.array([[1.0]]), [1.0])
        x = np.sqrt(variance / covariance(learner).item())
        assert learner.play(np.array([[x]]), [-1.0]).updated.tolist() == [moves]


def test_a_step_of_cw_variance_keeps_its_digits_where_little_is_asked_for_on_the_wrong_side() -> None:
    eta = 0.5 + 1e-10
    phi = (eta - 0.5) * math.sqrt(2.0 * math.pi)  # so near to one half this is all of the quantile
    learner = full("cw_variance", eta=eta).learn(np.array([[1.0]]), [1.0]).learn(np.array([[1e4]]), [-1.0])
    assert -1e4 * weights(learner, 1)[0] == pytest.approx(phi * covariance(learner).item() * 1e8, rel=1e-9)


def test_a_step_of_cw_variance_is_exact_however_little_is_asked_for() -> None:
    learner = nr.make("cw_variance", eta=0.5 + 1e-10, native=False).learn(np.array([[1.0]]), [1.0])
    assert weights(learner, 1)[0] == pytest.approx(norm.ppf(0.5 + 1e-10), rel=1e-5)


# ---- between the learners -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", ["diagonal", "drop", "full"])
@pytest.mark.parametrize("name", ["scw1", "scw2"])
def test_with_a_huge_c_soft_cw_is_cw(name: str, kept: str) -> None:
    X, y = streams.dense(60, 4, seed=5)
    soft = nr.make(name, eta=0.8, C=1e12, floor=1e-12, covariance=kept, native=False).learn(X, y)
    hard = nr.make("cw", eta=0.8, covariance=kept, native=False).learn(X, y)
    np.testing.assert_allclose(weights(soft, 4), weights(hard, 4), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(state(soft)["sigma"], state(hard)["sigma"], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["scw1", "scw2"])
def test_with_a_tiny_c_soft_cw_hardly_moves(name: str) -> None:
    X, y = streams.dense(60, 4, seed=6)
    learner = full(name, C=1e-9).learn(X, y)
    assert 0.0 < np.abs(weights(learner, 4)).max() < 1e-6
    assert np.abs(covariance(learner) - np.eye(4)).max() < 1e-6


def test_soft_cw_survives_wrong_labels_that_mislead_cw() -> None:
    for seed in range(4):
        X, y = noisy(seed)
        hard, soft = full("cw").learn(X, y), full("scw1", C=0.1).learn(X, y)
        assert soft.mistakes < hard.mistakes


# ---- edges --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", ["diagonal", "drop", "full"])
@pytest.mark.parametrize("eta", [np.nextafter(0.5, 1.0), 0.5 + 1e-9, 1.0 - 1e-9, np.nextafter(1.0, 0.0)])
@pytest.mark.parametrize("name", ALL)
@pytest.mark.thinned(4)
def test_any_confidence_that_is_allowed_stays_finite(name: str, eta: float, kept: str) -> None:
    X, y = noisy(seed=7) if cover.ALL else noisy(seed=7, rounds=100)
    for told in [{}] if name.startswith("cw") else [{"C": C} for C in (5e-324, 1e-300, 1e-9, 1e9, 1e300)]:
        learner = nr.make(name, eta=float(eta), covariance=kept, native=False, **told)
        assert np.isfinite(learner.play(X, y).scores).all()
        assert all(np.isfinite(found).all() for found in state(learner).values())


@pytest.mark.parametrize("name", ALL)
def test_with_a_confidence_near_one_half_a_right_round_changes_next_to_nothing(name: str) -> None:
    learner = full(name, eta=float(np.nextafter(0.5, 1.0))).learn(np.eye(2), [1.0, -1.0])
    assert np.abs(weights(learner, 2)).max() < 1e-12
    np.testing.assert_allclose(covariance(learner), np.eye(2), atol=1e-12)


@engines
@pytest.mark.parametrize("name", ALL)
def test_a_round_without_variance_changes_nothing(name: str, native: bool) -> None:
    learner = nr.make(name, native=native).learn(np.eye(2, 3), [1.0, -1.0])
    learner.learn(np.array([[0.0, 0.0, 0.0], [1e-170, 0.0, 5e-324]]), [1.0, 1.0])
    before = state(learner)
    rows = np.array([[1e-170, 0, 0], [0, 5e-324, 0], [0, 0, 0], [1e-155, 0, 0], [0, 0, 1e-155], [0, 0, 5e-324]])
    transcript = learner.play(rows, [-1.0, 1.0, 1.0, -1.0, 1.0, -1.0])
    assert not transcript.updated.any()
    assert all((found == before[field]).all() for field, found in state(learner).items())
