"""Bottou's stochastic gradient descent: the penalised loss, one row at a time, at rates that fall with the penalty."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import noregret as nr
from tests.learners.reading import (
    ONE_PASS,
    bound_of,
    comparators,
    hinge,
    radius_of,
    same,
    sklearn,
    steps,
    unscaled,
    weights,
    written,
)
from tests.naive import bottou, streams
from tests.naive.rules import Array


def test_bottou_by_hand() -> None:
    X, y = np.array([[2.0, 0.0], [1.0, 1.0]]), [1, -1]
    for name in ("sgd_bottou", "sgd_bottou_averaged"):
        learner = nr.make(name, eta0=1.0, lam=0.5, native=False)
        learner.learn(X[:1], y[:1])
        written(weights(learner, 2), [4 / 3, 0])  # eta is 2/3, then 1/2
        learner.learn(X[1:], y[1:])
        last = np.array([0.75 * 4 / 3 - 0.5, -0.5])
        written(weights(learner, 2), last if name == "sgd_bottou" else (last + np.array([4 / 3, 0])) / 2)


@pytest.mark.parametrize(("task", "lam"), list(product(["binary", "regression"], [0.01, 0.5])))
def test_a_step_goes_down_the_slope_of_the_penalised_loss(task: str, lam: float) -> None:
    X, y = streams.dense(60, 4, seed=2)
    learner = nr.make("sgd_bottou", task=task, **unscaled(task), eta0=0.3, lam=lam, native=False)
    for t, before, after, _ in steps(learner, X, y, rounds=40):

        def objective(w: Array, t: int = t) -> float:
            loss = max(0.0, 1.0 - y[t] * w @ X[t]) if task == "binary" else max(0.0, abs(w @ X[t] - y[t]) - 0.1)
            return float(0.5 * lam * w @ w + loss)

        eta = 0.3 / (1.0 + lam * 0.3 * (t + 1))
        np.testing.assert_allclose(after, before - eta * approx_fprime(before, objective, 1e-7), atol=1e-5)


@pytest.mark.thinned(8)
@pytest.mark.parametrize("name", ["sgd_bottou", "sgd_bottou_averaged"])
@pytest.mark.parametrize(("task", "lam", "eta0"), list(product(["binary", "regression"], [1e-3, 0.3], [0.1, 3.0])))
def test_the_penalised_loss_keeps_its_bound(name: str, task: str, lam: float, eta0: float) -> None:
    X, y = streams.dense(300, 5, seed=3)
    late = {"after": 300.0} if name == "sgd_bottou_averaged" else {}  # what trains also predicts, until the mean begins
    learner = nr.make(name, task=task, **unscaled(task), lam=lam, eta0=eta0, native=False, **late)
    suffered = 0.0
    for t in range(300):
        suffered += 0.5 * lam * float(np.sum(weights(learner, 5) ** 2)) if t else 0.0
        suffered += float(learner.play(X[t : t + 1], y[t : t + 1]).losses[0])
    for u in comparators(X, y):
        losses = hinge(u, X, y) if task == "binary" else np.maximum(0.0, np.abs(X @ u - y) - 0.1)
        theirs = losses.sum() + 0.5 * lam * 300 * u @ u
        most = bound_of(learner, radius=radius_of(X), norm=float(np.linalg.norm(u)), rounds=300)
        assert suffered <= theirs + most


@pytest.mark.parametrize("after", [0.0, 25.0, 200.0])
def test_the_mean_is_over_the_weights_after_each_round_that_counts(after: float) -> None:
    X, y = streams.dense(120, 4, seed=4)
    told: dict[str, Any] = {"eta0": 0.5, "lam": 0.05, "native": False}
    one, mean = nr.make("sgd_bottou", **told), nr.make("sgd_bottou_averaged", after=after, **told)
    path = []
    for t in range(120):
        said = mean.play(X[t : t + 1], y[t : t + 1])
        assert said.margins is not None
        same(said.margins, y[t : t + 1] * one.play(X[t : t + 1], y[t : t + 1]).scores)
        path.append(weights(one, 4))
    late = path[int(after) :] or path[-1:]
    same(weights(mean, 4), np.mean(late, axis=0))


@pytest.mark.parametrize("lam", [1e-4, 0.01])
def test_its_weights_and_their_mean_are_those_of_scikit_learn(lam: float) -> None:
    """Whose "optimal" rate is 1 / (lam (t0 + t - 1)), which is Bottou's for 1 / (lam eta0) = t0 - 1."""
    X, y = streams.dense(400, 5, seed=7)
    eta0 = 1.0 / (lam * (1.0 / (lam * lam**-0.25) - 1.0))
    for name, mean in (("sgd_bottou", False), ("sgd_bottou_averaged", True)):
        told = {"loss": "hinge", "penalty": "l2", "alpha": lam, "learning_rate": "optimal", "average": mean}
        theirs = sklearn.SGDClassifier(**told, **ONE_PASS).fit(X, y).coef_[0]
        np.testing.assert_allclose(weights(nr.make(name, eta0=eta0, lam=lam).learn(X, y), 5), theirs, rtol=1e-9)


# ---- the rate -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "lam"), [(0.01, 1e-4), (1.0, 1e-2), (30.0, 1e-3)])
def test_the_whole_program_is_that_of_an_obvious_loop(size: float, lam: float) -> None:
    X, y = streams.dense(300, 5, seed=5)
    X, y = size * X, streams.flip(np.sign(X @ np.array([1.0, -2.0, 0.5, 0.0, 1.0])), 0.1, 5)
    found = {}
    for name in ("sgd_bottou", "sgd_bottou_averaged"):
        eta0 = nr.choose_rate("sgd_bottou", X[:100], y[:100], lam=lam, native=False)
        found[name] = weights(nr.make(name, eta0=eta0, lam=lam, native=False).learn(X, y), 5)
        assert eta0 == bottou.choose_eta0(X[:100], y[:100], lam)
    last, mean, _ = bottou.pass_over(X, y, eta0, lam)
    same(found["sgd_bottou"], last)
    same(found["sgd_bottou_averaged"], mean)
    assert eta0 < 1.0 if size > 10.0 else eta0 > 1.0 if size < 0.1 else True


def test_a_rate_is_chosen_for_any_rule_and_within_the_limits_of_its_number() -> None:
    X, _ = streams.dense(60, 4, seed=6)
    y = np.sign(X @ np.array([1.0, -2.0, 0.5, 0.0]))
    assert nr.choose_rate("adagrad", X, y, "eta", native=False) < 1.0
    assert 0.0 < nr.choose_rate("adaline_normalised", X, 1e3 * X[:, 0], "rho", task="regression", native=False) < 2.0
    wild = 1e5 * X  # at a rate of 1 the weights overflow
    assert 0.0 < nr.choose_rate("ogd", wild, y, loss="squared", native=False) < 1e-8


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"parameter": "rate"}, "ogd has no number 'rate' to choose; it has eta0, radius, power, decay"),
        ({"eta0": 1.0}, "ogd: eta0 is what choose_rate chooses; leave it out"),
        ({"X": [[float("nan")], [1.0]]}, "row 0"),
        ({"X": [[1.0]]}, "X has 1 rows and y has 2 labels"),
        ({"los": "hinge"}, "ogd has no parameter 'los'; did you mean 'loss'"),
    ],
)
def test_what_cannot_be_chosen_is_refused(told: dict[str, Any], says: str) -> None:
    given = {"X": [[1.0], [2.0]], "y": [1, -1], "native": False, **told}
    with pytest.raises(nr.BadValue, match=says):
        nr.choose_rate("ogd", **given)


def test_what_is_kept_of_a_start_is_the_product_of_all_shrinkages() -> None:
    """1 - a / (1 + a t), with a = lam eta0, telescopes to 1 / (1 + a T)."""
    learner = nr.make("sgd_bottou", eta0=0.5, lam=0.2, native=False)
    for rounds in range(1, 5):
        learner.learn(np.array([[1.0, -2.0]]), [1])
        assert learner.model.arrays.n.kept == pytest.approx(1.0 / (1.0 + 0.1 * rounds))
