"""NORMA (Kivinen, Smola and Williamson 2004): gradient descent on a loss plus a penalty, with kernels or weights."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import noregret as nr
from noregret.evaluation.regret import why_no_regret
from noregret.learners.norma import huber, soft_margin, squared
from tests.learners.reading import bound_of, comparators, hinge, radius_of, steps, unscaled, weights, written
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import seeds

RBF = {"algebra": "kernel", "kernel": "rbf", "gamma": 0.3}


def norma(**told: Any) -> nr.RuleLearner:
    return nr.make("norma", **{"native": False, **told})


def rho_of(learner: nr.RuleLearner) -> float:
    return float(learner.params["rho"] + learner.model.arrays.n.risen)


def test_norma_by_hand() -> None:
    X, y = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 3.0]]), np.array([1, -1, 1])
    learner = norma(eta=0.5, lam=0.2)
    path = np.array([weights(learner.learn(X[t : t + 1], y[t : t + 1]), 2) for t in range(3)])
    written(path, [[1, 0], [0.9 - 0.5, -0.5], [0.36, -0.45 + 1.5]])


# ---- what it is a case of, and what is a case of it -----------------------------------------------------------------


@pytest.mark.parametrize("told", [{}, RBF], ids=["weights", "rbf"])
@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_without_a_penalty_and_a_margin_it_is_the_perceptron(told: dict[str, Any], task: str) -> None:
    X, y = streams.dense(150, 4, seed=3)
    labels: Any = y if task == "binary" else (np.arange(150) + (y > 0)) % 3
    ours = norma(task=task, eta=0.3, lam=0.0, rho=0.0, **told).play(X, labels)
    theirs = nr.make("perceptron", task=task, eta=0.3, native=False, **told).play(X, labels)
    assert ours.scores.tolist() == theirs.scores.tolist()
    assert ours.updated.tolist() == theirs.updated.tolist()


@pytest.mark.parametrize(
    ("task", "nu", "schedule"), list(product(["binary", "regression"], [0.0, 0.3], ["constant", "inv_sqrt"]))
)
def test_the_linear_kernel_is_gradient_descent_on_weights(task: str, nu: float, schedule: str) -> None:
    X, y = streams.dense(120, 4, seed=4)
    told = {"task": task, "eta": 0.2, "lam": 0.05, "nu": nu, "schedule": schedule, **unscaled(task)}
    found = norma(algebra="kernel", kernel="linear", **told).play(X, y).scores
    np.testing.assert_allclose(norma(**told).play(X, y).scores, found, atol=1e-12 * np.abs(found).max())
    w, rho, expected = np.zeros(4), 1.0, []
    for t, (x, truth) in enumerate(zip(X, y, strict=True)):
        f = float(w @ x)
        expected.append(f)
        eta = 0.2 / (math.sqrt(t + 1) if schedule == "inv_sqrt" else 1.0)
        if task == "binary":
            lost, direction = truth * f < rho, truth
        else:
            lost, direction = abs(truth - f) > 0.1 + 1.0 - rho, np.sign(truth - f)
        w = w - eta * (0.05 * w - lost * direction * x)
        rho += eta * (nu - lost) if nu > 0.0 else 0.0
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(found).max())


LOSSES = {
    ("binary", "hinge"): lambda f, y: max(0.0, 1.0 - y * f),
    ("binary", "squared"): lambda f, y: (1.0 - y * f) ** 2,
    ("regression", "eps_insensitive"): lambda f, y: max(0.0, abs(y - f) - 0.1),
    ("regression", "absolute"): lambda f, y: abs(y - f),
    ("regression", "squared"): lambda f, y: (y - f) ** 2,
    ("regression", "huber"): lambda f, y: 0.5 * (y - f) ** 2 if abs(y - f) < 1.0 else abs(y - f) - 0.5,
}


@pytest.mark.parametrize(("task", "loss"), list(LOSSES))
def test_a_step_goes_down_the_slope_of_the_loss_and_the_penalty(task: str, loss: str) -> None:
    X, y = streams.dense(60, 4, seed=2)
    learner = norma(task=task, **unscaled(task), loss=loss, eta=0.05, lam=0.3)
    for t, before, after, _ in steps(learner, X, y, rounds=55):

        def objective(w: Array, t: int = t) -> float:
            return float(0.5 * 0.3 * w @ w + LOSSES[task, loss](float(w @ X[t]), y[t]))

        np.testing.assert_allclose(after, before - 0.05 * approx_fprime(before, objective, 1e-7), atol=1e-5)


def test_slopes_of_losses_with_a_margin_to_reach() -> None:
    """Of max(0, rho - m), (rho - m)^2, and half its square up to 1 and a line from there."""
    assert [soft_margin(m, 0.5) for m in (-1.0, 0.4, 0.5, 0.6)] == [1.0, 1.0, 0.0, 0.0]
    assert [soft_margin(m, 0.0) for m in (-0.1, 0.0, 0.1)] == [1.0, 1.0, 0.0]
    assert [squared(m, 0.5) for m in (-1.0, 0.5, 1.5)] == [3.0, 0.0, -2.0]
    assert [huber(m, 0.5) for m in (-1.0, 0.25, 0.75)] == [1.0, 0.25, 0.0]


def test_in_regression_eps_is_where_the_width_begins() -> None:
    X, y = streams.dense(40, 3, seed=1)
    learner = norma(task="regression", scale_target=False, eps=0.25, nu=0.5, eta=0.1)
    said = learner.play(X, y)
    width = 0.25
    for score, truth, updated in zip(said.scores, y, said.updated, strict=True):
        assert updated == (abs(truth - score) > width)
        width += 0.1 * (updated - 0.5)
    assert rho_of(learner) == pytest.approx(1.0 + 0.25 - width)


# ---- theorems -------------------------------------------------------------------------------------------------------

RATES = {
    "constant": {"eta": 0.05, "lam": 0.1},
    "inv_sqrt": {"eta": 0.5, "lam": 0.5},
    "inv_t": {"eta": 4.0, "lam": 0.25},
}


@pytest.mark.parametrize(("task", "schedule"), list(product(["binary", "regression"], RATES)))
def test_the_penalised_loss_keeps_its_bound(task: str, schedule: str) -> None:
    T, told = 300, RATES[schedule]
    X, y = streams.dense(T, 5, seed=1)
    learner = norma(task=task, **unscaled(task), schedule=schedule, **told)
    longest, suffered = 0.0, 0.0
    for t in range(T):
        suffered += float(learner.play(X[t : t + 1], y[t : t + 1]).losses[0])
        length = float(np.linalg.norm(weights(learner, 5)))
        longest = max(longest, length)
        suffered += 0.5 * told["lam"] * length**2 if t < T - 1 else 0.0
    R = radius_of(X)
    assert longest <= bound_of(learner, radius=R) == R / told["lam"]
    for u in comparators(X, y):
        losses = hinge(u, X, y) if task == "binary" else np.maximum(0.0, np.abs(X @ u - y) - 0.1)
        theirs = losses.sum() + 0.5 * told["lam"] * T * u @ u
        assert suffered <= theirs + bound_of(learner, radius=R, norm=float(np.linalg.norm(u)), rounds=T)


def test_each_theorem_is_in_force_where_its_conditions_are() -> None:
    def in_force(**told: Any) -> list[str]:
        return [one.bound.__name__ for one in nr.learners()["norma"].guarantees_for(told)]

    assert in_force() == ["following_rate_regret"]
    assert in_force(lam=0.1) == ["following_rate_regret", "longest_weights_following"]
    assert in_force(lam=0.1, schedule="inv_sqrt") == ["longest_weights_following"]
    assert in_force(eta=1.0, lam=0.1) == ["constant_rate_regret", "longest_weights"]
    assert in_force(eta=1.0) == ["constant_rate_regret"]
    assert in_force(eta=1.0, lam=0.1, schedule="inv_sqrt") == ["falling_rate_regret", "longest_weights"]
    assert in_force(eta=1.0, schedule="inv_sqrt") == []
    fastest = {"schedule": "inv_t", "eta": 4.0, "lam": 0.25}
    assert in_force(**fastest) == ["fastest_rate_regret", "longest_weights"]
    assert in_force(**{**fastest, "eta": 3.9}) == in_force(**{**fastest, "eta": 4.1}) == ["longest_weights"]
    for other in ({"nu": 0.1}, {"rho": 2.0}):
        for schedule in ({}, {"schedule": "inv_sqrt"}, fastest):
            assert in_force(**{"eta": 1.0, "lam": 0.1, **other, **schedule}) == ["longest_weights"]
        assert in_force(**other, lam=0.1) == ["longest_weights_following"]


@pytest.mark.parametrize("lam", [0.0, 0.3])
def test_at_a_rate_that_follows_the_rows_the_penalised_loss_keeps_its_bound(lam: float) -> None:
    T = 300
    X, y = streams.dense(T, 5, seed=1)
    X = (X + 0.3) * np.random.default_rng(1).lognormal(sigma=0.5, size=(T, 1))
    X *= 0.6 / np.linalg.norm(X, axis=1).min()
    learner = norma(lam=lam)
    path, suffered = [np.zeros(5)], 0.0
    for t in range(T):
        suffered += float(learner.play(X[t : t + 1], y[t : t + 1]).losses[0])
        path.append(weights(learner, 5))
    before, lengths = np.array(path[:-1]), np.linalg.norm(path, axis=1)
    suffered += float(np.sum(0.5 * lam * lengths[:-1] ** 2))
    known = {"radius": radius_of(X), "least_radius": float(np.linalg.norm(X, axis=1).min())}
    if lam > 0.0:
        assert lengths.max() <= bound_of(learner, **known) == known["radius"] / lam
    for u in comparators(X, y):
        theirs = hinge(u, X, y).sum() + 0.5 * lam * T * u @ u
        far = float(np.linalg.norm(before - u, axis=1).max())
        assert suffered <= theirs + bound_of(learner, **known, distance=far, rounds=T) < np.inf


@seeds(3)
@pytest.mark.parametrize("lam", [0.02, 0.3])
def test_no_weights_are_longer_than_the_bound_and_with_equal_rows_they_reach_it(lam: float, seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=(1, 4))
    R = float(np.linalg.norm(x))
    learner = norma(eta=1.0, lam=lam, rho=1e6).learn(np.repeat(x, 600, axis=0), np.ones(600))
    assert 0.99 * R / lam < np.linalg.norm(weights(learner, 4)) <= R / lam * (1.0 + 1e-12)


# ---- the nu-trick ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["binary", "regression", "one-class"])
@pytest.mark.parametrize("nu", [0.05, 0.4])
def test_the_rounds_with_a_loss_are_the_fraction_nu(task: str, nu: float) -> None:
    """Every round moves rho by eta (nu - loss or not), so that the moves add up to what rho is at the end."""
    X, y = streams.dense(1500, 4, seed=5)
    learner = norma(task=task, **unscaled(task), eta=0.1, lam=0.01, nu=nu, algebra="sparse")
    said = learner.play(X) if task == "one-class" else learner.play(X, y)
    lost = said.updated.mean()
    assert lost == pytest.approx(nu - (rho_of(learner) - 1.0) / (0.1 * 1500), abs=1e-9)
    assert abs(lost - nu) < 0.03


def test_only_losses_with_a_margin_have_one_to_adapt() -> None:
    with pytest.raises(nr.BadValue, match="norma: nu adapts the margin of the losses hinge and eps_insensitive"):
        norma(loss="squared", nu=0.2)


def test_a_step_may_not_turn_the_weights_around() -> None:
    with pytest.raises(nr.BadValue, match="norma: eta times lam must be at most 1, not 2"):
        norma(eta=4.0, lam=0.5)
    assert norma(eta=1.0 + 1e-9, lam=1.0).params["lam"] == 1.0  # 1 / lam is rounded
    learner = norma(eta=1.0, lam=0.5, rho=9.0).learn([[1.0]], [1]).learn([[1.0]], [1], weight=[4.0])
    assert weights(learner, 1)[0] == 4.0  # a weight of 4 makes it 2: nothing is left of the first step


# ---- novelty --------------------------------------------------------------------------------------------------------


def ring(rows: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    angle, far = rng.uniform(0.0, 2.0 * np.pi, rows), rng.normal(1.0, 0.1, rows)
    return np.stack([far * np.cos(angle), far * np.sin(angle)], axis=1)


def test_novelty_is_a_score_below_a_level_that_moves_with_the_rows() -> None:
    X = ring(60, 0)
    learner = norma(task="one-class", algebra="kernel", kernel="rbf", gamma=2.0, eta=0.2, lam=0.05, nu=0.2)
    said = learner.play(X)
    alpha, rho = np.zeros(60), 1.0
    for t in range(60):
        f = float(alpha @ np.exp(-2.0 * np.sum((X - X[t]) ** 2, axis=1)))
        assert said.scores[t] == pytest.approx(rho - f, abs=1e-12)
        lost = f < rho
        assert said.updated[t] == lost
        alpha *= 1.0 - 0.2 * 0.05
        alpha[t] = 0.2 * lost
        rho += 0.2 * (0.2 - lost)
    np.testing.assert_allclose(said.losses, np.maximum(said.scores, 0.0), atol=1e-15)
    assert said.predictions.tolist() == np.where(said.scores <= 0.0, 1, -1).tolist()


def test_novelty_finds_a_ring_and_not_its_middle() -> None:
    learner = norma(task="one-class", algebra="kernel", kernel="rbf", gamma=4.0, eta=0.1, lam=0.02, nu=0.1)
    learner.learn(ring(600, 1))
    inside = learner.predict(ring(200, 2)) == 1
    assert inside.mean() > 0.8
    assert learner.predict([[0.0, 0.0], [3.0, 0.0], [-1.0, -2.0]]).tolist() == [-1, -1, -1]


def test_rows_labelled_as_novel_are_scored_and_not_learned() -> None:
    X = ring(40, 3)
    told = {"task": "one-class", **RBF, "nu": 0.1}
    alone, mixed = norma(**told).learn(X), norma(**told)
    said = mixed.play(np.vstack([X, 5.0 * X]), np.repeat([1, -1], 40))
    assert not said.updated[40:].any()
    assert mixed.scores(X).tolist() == alone.scores(X).tolist()


def test_a_level_has_no_radius() -> None:
    for told in ({"radius": 2.0}, {"learn_radius": True}):
        with pytest.raises(nr.BadValue, match="norma finds a level of the scores, not a ball; leave radius"):
            norma(task="one-class", **told)


def test_a_level_has_no_regret_and_the_reason_is_told() -> None:
    assert "its level moves with the rows" in str(why_no_regret(norma(task="one-class")))
    assert why_no_regret(norma()) is None


def test_a_saved_novelty_detector_goes_on_as_if_never_stopped(tmp_path: Any) -> None:
    X = ring(80, 4)
    told = {"task": "one-class", **RBF, "nu": 0.1}
    whole = norma(**told).learn(X)
    norma(**told).learn(X[:50]).save(tmp_path / "half.nr")
    again = nr.load(tmp_path / "half.nr").learn(X[50:])
    assert again.scores(X).tolist() == whole.scores(X).tolist()


# ---- the offset -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_an_offset_moves_with_the_steps_and_is_not_penalised(task: str) -> None:
    X, y = streams.dense(80, 3, seed=6)
    learner = norma(task=task, **unscaled(task), eta=0.1, lam=0.5, offset=True, bias=False)
    w, b = np.zeros(3), 0.0
    for t in range(80):
        f = float(w @ X[t]) + b
        assert learner.play(X[t : t + 1], y[t : t + 1]).scores[0] == pytest.approx(f, abs=1e-12)
        lost = y[t] * f < 1.0 if task == "binary" else abs(y[t] - f) > 0.1
        a = 0.1 * lost * (y[t] if task == "binary" else np.sign(y[t] - f))
        w, b = 0.95 * w + a * X[t], b + a


def test_an_offset_changes_its_sign_with_the_classes() -> None:
    """Of classes without a sign, the first seen becomes the negative one when the second comes."""
    X, y = np.abs(streams.dense(60, 3, seed=7)[0]), np.repeat(["one", "two"], 30)
    named, signed = (norma(offset=True, eta=0.2, lam=0.01) for _ in range(2))
    named.learn(X, y)
    signed.learn(X, np.where(y == "two", 1, -1))
    np.testing.assert_allclose(named.scores(X), signed.scores(X), atol=1e-12)


def test_merged_learners_have_the_mean_offset_and_level() -> None:
    X, y = streams.dense(90, 3, seed=8)
    a, b = (norma(offset=True, nu=0.2).learn(X[rows], y[rows]) for rows in (slice(0, 30), slice(30, 90)))
    expected = (a.scores(X) + 2.0 * b.scores(X)) / 3.0
    level = (rho_of(a) + 2.0 * rho_of(b)) / 3.0
    merged = a.merge(b)
    np.testing.assert_allclose(merged.scores(X), expected, atol=1e-12)
    assert rho_of(merged) == pytest.approx(level)


def test_an_offset_is_for_tasks_with_one_score() -> None:
    with pytest.raises(nr.BadValue, match="norma cannot play multiclass"):
        norma(task="multiclass", offset=True)
    learner = norma(offset=True).learn([[1.0], [2.0]], ["a", "b"])
    with pytest.raises(nr.BadValue, match="norma plays two classes only, and 'c' is a third"):
        learner.learn([[3.0]], ["c"])
