"""Online gradient descent (Zinkevich 2003) and Adaline (Widrow and Hoff 1960)."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import noregret as nr
from tests.learners.reading import (
    ONE_PASS,
    after_each_round,
    bound_of,
    comparators,
    datasets,
    radius_of,
    same,
    sklearn,
    steps,
    two_classes,
    unscaled,
    weights,
    written,
)
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import seeds

RATES: dict[str, Callable[[int], float]] = {
    "constant": lambda t: 0.05,
    "inv_sqrt": lambda t: 0.05 / np.sqrt(t),
    "inv_t": lambda t: 0.05 / t,
}
OF_MARGIN: dict[str, Callable[[float], float]] = {
    "hinge": lambda m: max(0.0, 1.0 - m),
    "logistic": lambda m: float(np.logaddexp(0.0, -m)),
    "squared": lambda m: (1.0 - m) ** 2,
    "perceptron": lambda m: max(0.0, -m),
    "squared_hinge": lambda m: max(0.0, 1.0 - m) ** 2,
    "exponential": lambda m: float(np.exp(-m)),
}
OF_ERROR: dict[str, Callable[[float], float]] = {
    "squared": lambda e: e**2,
    "eps_insensitive": lambda e: max(0.0, abs(e) - 0.1),
    "absolute": lambda e: abs(e),
    "huber": lambda e: 0.5 * e**2 if abs(e) <= 1.0 else abs(e) - 0.5,
}


def loss_of(task: str, loss: str, x: Array, y: Any) -> Callable[[Array], float]:
    """The loss of one round as a function of the weights."""
    if task == "binary":
        return lambda w: OF_MARGIN[loss](float(y * w @ x))
    if task == "regression":
        return lambda w: OF_ERROR[loss](float(w @ x - y))

    def among_classes(w: Array) -> float:
        scores = w.reshape(-1, x.size) @ x
        return OF_MARGIN[loss](float(scores[y] - max(np.delete(scores, y))))

    return among_classes


def rounds(task: str, seed: int) -> tuple[Array, Any]:
    if task == "multiclass":
        X, labels, _ = streams.blobs(60, 4, k=3, spread=1.0, seed=seed)
        return X, labels
    if task == "regression":
        X, y, _ = streams.linear(60, 4, noise=0.5, seed=seed)
        return X, y
    return streams.dense(60, 4, seed=seed)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("schedule", RATES)
@pytest.mark.parametrize(
    ("task", "loss"),
    [
        *(("binary", loss) for loss in OF_MARGIN),
        *(("multiclass", loss) for loss in OF_MARGIN),
        *(("regression", loss) for loss in OF_ERROR),
    ],
)
def test_a_step_goes_down_the_slope_of_the_loss(task: str, loss: str, schedule: str) -> None:
    X, y = rounds(task, seed=1)
    told: dict[str, Any] = {"classes": range(3)} if task == "multiclass" else {}
    learner = nr.make("ogd", task=task, **unscaled(task), loss=loss, schedule=schedule, eta0=0.05, native=False, **told)
    moved = 0
    for t, before, after, said in steps(learner, X, y, rounds=20):
        suffer = loss_of(task, loss, X[t], y[t])
        assert said.losses[0] == pytest.approx(suffer(before.ravel()))
        gradient = approx_fprime(before.ravel(), suffer, 1e-7).reshape(before.shape)
        np.testing.assert_allclose(after - before, -RATES[schedule](t + 1) * gradient, atol=1e-6)
        moved += int(said.updated[0])
    assert moved >= (1 if loss == "perceptron" else 8)


def test_a_margin_of_exactly_one_costs_nothing_and_moves_nothing() -> None:
    learner = nr.make("ogd", eta0=1.0, schedule="constant", native=False)
    learner.learn(np.array([[1.0, 0.0]]), [1])
    said = learner.play(np.array([[1.0, 0.0]]), [1])
    assert (said.scores[0], said.losses[0], said.updated[0]) == (1.0, 0.0, False)


# ---- the theorem --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schedule", "eta0"),
    [("constant", 0.005), ("constant", 0.03), ("inv_sqrt", 0.02), ("inv_sqrt", 0.2), ("power", 0.3), ("bottou", 0.02)],
)
@seeds(3)
@pytest.mark.parametrize(
    ("task", "loss"),
    [*(("binary", loss) for loss in OF_MARGIN), *(("regression", loss) for loss in OF_ERROR)],
)
@pytest.mark.thinned(6)
def test_regret_against_any_comparator_keeps_its_bound(
    task: str, loss: str, seed: int, schedule: str, eta0: float
) -> None:
    X, y = streams.dense(300, 5, seed=seed)
    u = np.random.default_rng(seed).normal(size=5)
    y = streams.flip(np.sign(X @ u), 0.1, seed) if task == "binary" else X @ u + 0.3 * y
    told = {"schedule": schedule, "eta0": eta0, "power": 0.75, "decay": 0.1}
    learner = nr.make("ogd", task=task, **unscaled(task), loss=loss, native=False, **told)
    transcript = learner.copy().play(X, y)
    scores = transcript.scores
    slopes = {
        "hinge": -y * (y * scores < 1.0),
        "logistic": -y / (1.0 + np.exp(y * scores)),
        "squared": 2.0 * (scores - y),
        "perceptron": -y * (y * scores <= 0.0),
        "squared_hinge": -2.0 * y * np.maximum(0.0, 1.0 - y * scores),
        "exponential": -y * np.exp(-y * scores),
        "eps_insensitive": np.sign(scores - y) * (np.abs(scores - y) > 0.1),
        "absolute": np.sign(scores - y),
        "huber": np.clip(scores - y, -1.0, 1.0),
    }[loss]
    gradients = np.abs(slopes) * np.linalg.norm(X, axis=1)
    largest, squared = float(gradients.max()), float(np.sum(gradients**2))
    path = np.vstack([np.zeros(5), after_each_round(learner.copy(), X, y)[:-1]]) if schedule != "constant" else X
    for u in comparators(X, y, seed):
        theirs = sum(loss_of(task, loss, X[t], y[t])(u) for t in range(300))
        regret = transcript.losses.sum() - theirs
        if schedule == "constant":
            bound = bound_of(learner, norm=float(np.linalg.norm(u)), squared_gradients=squared)
        else:
            far = float(np.linalg.norm(path - u, axis=1).max())
            bound = bound_of(learner, distance=far, largest_gradient=largest, rounds=300)
        assert regret <= bound


# ---- the same weights as scikit-learn -----------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_has_the_weights_of_scikit_learn(loss: str) -> None:
    X, y = two_classes("digits")
    oracle = sklearn.SGDClassifier(
        loss=loss, penalty=None, learning_rate="invscaling", eta0=0.01, power_t=0.5, **ONE_PASS
    ).fit(X, y)
    name = "logistic" if loss == "log_loss" else loss
    learner = nr.make("ogd", loss=name, schedule="inv_sqrt", eta0=0.01).learn(X, y)
    same(weights(learner, X.shape[1]), oracle.coef_[0])


# ---- Adaline ------------------------------------------------------------------------------------------------------

TWO_TASKS = pytest.mark.parametrize("task", ["binary", "regression"])


@TWO_TASKS
def test_adaline_on_the_four_points(task: str) -> None:
    X, y = streams.four()
    path = after_each_round(nr.make("adaline", task=task, **unscaled(task), rho=0.1, native=False), X, y)
    written(path, [[0.4, 0], [0.26, -0.14], [0.26, -0.226], [0.0464, -0.4396]])


@TWO_TASKS
@pytest.mark.parametrize("rho", [0.02, 0.1, 0.3])
def test_adaline_takes_the_share_rho_of_the_error_times_the_squared_length(task: str, rho: float) -> None:
    X, y = streams.dense(60, 4, seed=3)
    learner = nr.make("adaline", task=task, **unscaled(task), rho=rho, native=False)
    too_right = 0
    for t, before, after, said in steps(learner, X, y, rounds=40):
        error = y[t] - before @ X[t]
        assert said.updated[0]
        assert said.losses[0] == pytest.approx(error**2)
        assert y[t] - after @ X[t] == pytest.approx((1.0 - rho * X[t] @ X[t]) * error)
        np.testing.assert_allclose(after - before, rho * error * X[t], atol=1e-12)
        too_right += int(y[t] * before @ X[t] > 1.0)
    assert too_right > 0 or rho < 0.1


def test_adaline_steps_back_from_a_margin_that_is_too_large() -> None:
    learner = nr.make("adaline", rho=1.0, native=False).learn(np.array([[1.0, 0.0]]), [1])
    said = learner.play(np.array([[3.0, 0.0]]), [1])
    assert (said.scores[0], said.losses[0], said.mistakes[0], said.updated[0]) == (3.0, 4.0, False, True)
    written(weights(learner, 2), [1.0 - 2.0 * 3.0, 0.0])


def test_adaline_is_at_rest_where_there_is_no_error() -> None:
    learner = nr.make("adaline", rho=1.0, native=False).learn(np.array([[1.0, 0.0]]), [1])
    said = learner.play(np.array([[1.0, 0.0]]), [1])
    assert (said.scores[0], said.losses[0], said.updated[0]) == (1.0, 0.0, False)


@TWO_TASKS
@pytest.mark.parametrize("part", [0.01, 0.5, 1.5])
@pytest.mark.parametrize("noise", [0.0, 0.3])
@seeds(3)
def test_adaline_suffers_at_most_twice_what_any_comparator_does(
    seed: int, noise: float, task: str, part: float
) -> None:
    X, y, u = streams.linear(300, 5, noise, seed)
    if task == "binary":
        y = streams.flip(np.sign(X @ u), noise, seed)
    radius = float(np.linalg.norm(X, axis=1).max())
    learner = nr.make("adaline", task=task, **unscaled(task), rho=part / radius**2, native=False)
    suffered = learner.play(X, y).losses.sum()
    for v in [u, *comparators(X, y, seed)]:
        theirs, norm = float(np.sum((y - X @ v) ** 2)), float(np.linalg.norm(v))
        bound = bound_of(learner, radius=radius, norm=norm, comparator_squared_errors=theirs)
        assert suffered <= bound
        if part == 0.5:
            assert bound <= 2.0 * theirs + 2.0 * radius**2 * norm**2


def test_all_that_adaline_may_suffer_can_be_reached() -> None:
    X, y = np.tile([[2.0, 0.0]], (200, 1)), np.full(200, 3.0)
    learner = nr.make("adaline", task="regression", scale_target=False, rho=1.0 / 8.0, native=False)
    assert learner.play(X, y).losses.sum() == pytest.approx(9.0 / (1.0 - 0.5**2))
    assert bound_of(learner, radius=2.0, norm=1.5, comparator_squared_errors=0.0) == pytest.approx(12.0)
    assert bound_of(learner, radius=4.0, norm=1.5, comparator_squared_errors=0.0) == np.inf


@pytest.mark.parametrize(("rho", "settles"), [(1.9 / 4.0, True), (2.1 / 4.0, False)])
def test_adaline_settles_only_while_rho_is_below_two_over_the_squared_length(rho: float, settles: bool) -> None:
    X, y = np.tile([[2.0, 0.0]], (200, 1)), np.ones(200)
    losses = nr.make("adaline", task="regression", scale_target=False, rho=rho, native=False).play(X, y).losses
    assert (losses[-1] < 1e-6) == settles
    assert (losses[-1] > 1e6) != settles


@pytest.mark.many_rounds
def test_adaline_comes_to_the_least_squares_when_its_steps_are_short() -> None:
    X, y, _ = streams.linear(50, 3, noise=0.5, seed=4)
    learner = nr.make("adaline", task="regression", scale_target=False, rho=1e-4)
    for _ in range(3000):
        learner.learn(X, y)
    np.testing.assert_allclose(weights(learner, 3), np.linalg.lstsq(X, y, rcond=None)[0], atol=1e-3)


def test_adaline_has_the_weights_of_scikit_learn() -> None:
    X, y = datasets.load_diabetes(return_X_y=True)
    oracle = sklearn.SGDRegressor(
        loss="squared_error", penalty=None, learning_rate="constant", eta0=0.7, **ONE_PASS
    ).fit(X, y)
    learner = nr.make("adaline", task="regression", scale_target=False, rho=0.7).learn(X, y)
    same(weights(learner, X.shape[1]), oracle.coef_)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_without_a_rate_adaline_predicts_the_same_whatever_the_unit_of_the_rows(scale: float) -> None:
    X, y = streams.dense(80, 4, seed=3)
    X[5] *= 20.0
    plain, other = (nr.make("adaline", native=False).play(unit * X, y).scores for unit in (1.0, scale))
    np.testing.assert_allclose(other, plain, rtol=1e-9, atol=1e-12)
    assert np.abs(plain).max() < 100.0


@seeds(3)
@pytest.mark.parametrize("task", ["binary", "regression"])
def test_without_a_rate_the_squared_errors_of_adaline_are_bounded(task: str, seed: int) -> None:
    X, y = streams.dense(120, 5, seed=seed)
    X *= np.random.default_rng(seed).lognormal(size=(120, 1))
    learner = nr.make("adaline", task=task, rho=0.0, **unscaled(task), native=False)
    path = np.vstack((np.zeros(5), after_each_round(learner.copy(), X, y)))
    transcript = learner.play(X, y)
    errors = float(((y - transcript.scores) ** 2).sum())
    for u in (np.zeros(5), np.linalg.lstsq(X, y, rcond=None)[0], np.random.default_rng(seed).normal(size=5)):
        far = float(np.linalg.norm(path - u, axis=1).max())
        theirs = float(((y - X @ u) ** 2).sum())
        assert errors <= bound_of(learner, radius=radius_of(X), distance=far, comparator_squared_errors=theirs)


def test_defaults_depend_on_whether_scores_are_measured() -> None:
    assert nr.make("ogd", native=False).params["eta0"] == 0.0
    assert nr.make("ogd", task="ranking", native=False).params["eta0"] == 0.0
    for told in ({"task": "regression"}, {"task": "convex", "dimension": 2}, {"task": "one-class"}):
        assert nr.make("ogd", native=False, **told).params["eta0"] == 0.1
    with pytest.raises(nr.BadValue, match="default of measured scores"):
        nr.Param(1.0, above=0.0, measured=-1.0)


# ---- the rate that follows the rows ---------------------------------------------------------------------------------


def test_each_theorem_of_adaline_is_for_its_own_kind_of_rate() -> None:
    """With a rate the bound needs |u|; with none it needs the largest distance to u."""
    adaline = nr.learners()["adaline"]
    of_a_rate = {"radius": 1.0, "norm": 2.0, "comparator_squared_errors": 3.0}
    of_none = {"radius": 1.0, "distance": 2.0, "comparator_squared_errors": 3.0}
    assert len(adaline.guarantees_for({"rho": 0.25})) == len(adaline.guarantees_for({"rho": 0.0})) == 1
    assert adaline.bound({"rho": 0.25}, **of_a_rate) > 3.0
    assert adaline.bound({"rho": 0.0}, **of_none) > 3.0
    with pytest.raises(nr.BadValue, match="the bound needs norm"):
        adaline.bound({"rho": 0.25}, **of_none)
    with pytest.raises(nr.BadValue, match="the bound needs distance"):
        adaline.bound({"rho": 0.0}, **of_a_rate)


@pytest.mark.parametrize("name", ["adaline", "adaline_batch"])
def test_rows_of_zeros_before_any_other_leave_the_weights_at_zero(name: str) -> None:
    """The rate that follows the rows divides by the largest norm so far, which is then zero."""
    learner = nr.make(name, rho=0.0, task="binary", algebra="dense", native=False)
    learner.learn(np.zeros((3, 2)), [1, -1, 1])
    assert weights(learner, 2).tolist() == [0.0, 0.0]
    learner.learn(np.array([[1.0, 2.0]] * 1000), [1] * 1000)
    assert np.isfinite(weights(learner, 2)).all()
    assert weights(learner, 2)[1] > 0.0


def test_the_bound_for_falling_rates_by_hand() -> None:
    """D = 2, G = 3, T = 16: 4 * 4 / (2 * 0.5) + 0.5 * 9 * (4 - 1/2)."""
    facts = {"distance": 2.0, "largest_gradient": 3.0, "rounds": 16.0}
    assert nr.learners()["ogd"].bound({"schedule": "inv_sqrt", "eta0": 0.5}, **facts) == 31.75


@pytest.mark.parametrize(("rho", "radius"), [(0.0, 1.0), (2.0, 1.0), (0.5, 2.0), (3.0, 1.0)])
def test_no_rate_and_too_large_a_rate_promise_nothing(rho: float, radius: float) -> None:
    adaline = nr.learners()["adaline"]
    p, _ = adaline.in_force({"rho": rho})
    facts = {"radius": radius, "norm": 2.0, "comparator_squared_errors": 3.0}
    assert adaline.guarantees[0].evaluate(p, facts) == np.inf
