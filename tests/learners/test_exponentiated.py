"""Exponentiated gradients, EG and EG+- (Kivinen and Warmuth 1997)."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import rel_entr

import noregret as nr
from tests.conformance.plays import CLASSES, Play, near
from tests.conformance.test_twins import agree
from tests.learners.reading import Objective, after_each_round, bound_of, hinge, same, steps, weights, written
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import only_in_test_all, seeds
from tests.support.engines import engines

MIXED: dict[str, Any] = {"task": "binary", "loss": "hinge"}  # features of both signs, as of experts
BOTH = pytest.mark.parametrize("name", ["eg", "eg_signed"])


SLOPES: dict[str, Callable[[float], float]] = {
    "hinge": lambda m: -float(m < 1.0),
    "logistic": lambda m: -1.0 / (1.0 + math.exp(m)),
    "squared": lambda m: 2.0 * (m - 1.0),
}


def whole(name: str) -> dict[str, float]:
    """What makes the sizes of all weights sum to one."""
    return {"U": 1.0} if name == "eg_signed" else {}


def divergence(u: Array) -> float:
    """KL(u, uniform)."""
    return float(rel_entr(u, 1.0 / len(u)).sum())


def on_the_simplex(d: int, seed: int) -> list[Array]:
    """Some u >= 0 that sum to one: corners, the middle, and others."""
    rng = np.random.default_rng(seed)
    return [*np.eye(d)[:3], np.full(d, 1.0 / d), *rng.dirichlet(np.full(d, 0.2), size=4)]


def test_two_rounds_worked_by_hand() -> None:
    learner = nr.make("eg", **MIXED, eta=math.log(2.0), features=3, native=False)
    said = learner.play(np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]]), [1, -1])
    written(said.scores, [1.0, 1.0 / 3.0])  # no loss at margin 1, so nothing moves
    assert said.updated.tolist() == [False, True]
    written(weights(learner, 3), [0.4, 0.2, 0.4])


def test_one_feature_alone_has_the_whole() -> None:
    learner = nr.make("eg", **MIXED, eta=0.1, native=False)
    assert learner.play(np.array([[3.0], [-2.0], [0.5]]), [-1, 1, -1]).scores.tolist() == [3.0, -2.0, 0.5]


@pytest.mark.parametrize(("name", "features"), [("eg", 1), ("eg_signed", 1), ("eg", 3), ("eg_signed", 3)])
def test_with_many_classes_the_whole_is_shared_among_all_of_them(name: str, features: int) -> None:
    X = np.random.default_rng(1).normal(size=(12, features))
    skipping = np.array([CLASSES - 1, 0, 1] * 4)  # the last class first, and then lower ones
    for y in (np.arange(12) % CLASSES, np.arange(12)[::-1] % CLASSES, skipping):
        agree(Play(name, "multiclass", "sparse", (("loss", "hinge"),)), {}, X, y, fixed=True)
    told: Any = {"task": "multiclass", "classes": range(CLASSES), "native": False, **whole(name)}
    learner = nr.make(name, **told).learn(X, np.arange(12) % CLASSES)
    sizes = np.abs(weights(learner, features)).sum()
    assert sizes == pytest.approx(1.0) if name == "eg" else sizes < 1.0


def test_signed_rounds_worked_by_hand() -> None:
    learner = nr.make("eg_signed", eta=math.log(2.0), U=1.0, features=2, native=False)
    said = learner.play(np.array([[1.0, -1.0], [1.0, 0.0]]), [1, -1])
    written(said.scores, [0.0, 1.5 / 5.0])
    written(weights(learner, 2), [0.0, -1.5 / 4.5])


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared"])
def test_a_step_of_eg_stays_near_its_weights_and_goes_down_the_slope(loss: str) -> None:
    """w' is where eta g.w + KL(w, w_t) is least among the weights that sum to one."""
    X, y = streams.dense(30, 4, seed=1)
    eta = 0.3
    learner = nr.make("eg", task="binary", eta=eta, loss=loss, features=4, native=False)
    for t, before, after, _ in steps(learner, X, y, rounds=12):
        g = SLOPES[loss](y[t] * (before @ X[t])) * y[t] * X[t]

        cost: Objective = lambda w, g=g, before=before: eta * g @ w + rel_entr(w, before).sum()  # noqa: E731
        one: Objective = {"type": "eq", "fun": lambda w: w.sum() - 1.0}
        options: Objective = {"ftol": 1e-14, "maxiter": 500}
        best = minimize(cost, before, method="SLSQP", bounds=[(1e-9, 1.0)] * 4, options=options, constraints=[one]).x
        np.testing.assert_allclose(after, best, atol=2e-6)
        assert after.sum() == pytest.approx(1.0, abs=1e-12)
        assert after.min() > 0.0


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared"])
@pytest.mark.parametrize("U", [0.5, 3.0])
def test_signed_eg_is_eg_over_every_feature_and_its_opposite(U: float, loss: str) -> None:
    X, y = streams.dense(120, 5, seed=2)
    signed = nr.make("eg_signed", eta=0.2 / U**2, U=U, loss=loss, features=5, native=False)
    doubled = nr.make("eg", task="binary", eta=0.2 / U**2, loss=loss, features=10, native=False)
    near(signed.play(X, y).scores, doubled.play(np.hstack([U * X, -U * X]), y).scores, tolerance=1e-11)
    assert signed.updates == doubled.updates > 20


@BOTH
def test_the_weights_share_one_whole_after_every_round(name: str) -> None:
    X, y = streams.sparse(100, 8, density=0.4, seed=3)
    found = after_each_round(nr.make(name, eta=0.7, features=8, native=False, **MIXED, **whole(name)), X, y)
    sizes = np.abs(found).sum(axis=1)
    if name == "eg":
        np.testing.assert_allclose(sizes, 1.0, rtol=1e-12)
    else:
        assert (sizes <= 1.0).all()
        assert (found < 0.0).any()


@seeds(3)
@pytest.mark.parametrize("eta", [0.02, 0.3, 2.0])
def test_the_regret_of_eg_stays_below_its_bound(eta: float, seed: int) -> None:
    d = 12
    X, y = streams.dense(300, d, seed)
    y = np.where(np.arange(300) % 3 == 0, y, np.sign(X[:, 0] + 0.5))
    learner = nr.make("eg", **MIXED, eta=eta, features=d)
    said = learner.play(X, y)
    squares = float((np.abs(X).max(axis=1) ** 2)[said.updated].sum())
    for u in on_the_simplex(d, seed):
        regret = said.losses.sum() - hinge(u, X, y).sum()
        assert regret <= bound_of(learner, divergence=divergence(u), squared_gradients_inf=squares)


@seeds(3)
@pytest.mark.parametrize(("eta", "U"), [(0.02, 1.0), (0.1, 4.0), (1.0, 0.5)])
def test_the_regret_of_signed_eg_stays_below_its_bound(eta: float, U: float, seed: int) -> None:
    d = 12
    X, y = streams.dense(300, d, seed)
    y = np.where(np.arange(300) % 4 == 0, y, np.sign(X[:, 0] - X[:, 1]))
    learner = nr.make("eg_signed", eta=eta, U=U, features=d)
    said = learner.play(X, y)
    squares = float((np.abs(X).max(axis=1) ** 2)[said.updated].sum())
    rng = np.random.default_rng(seed)
    for u in (*on_the_simplex(d, seed), np.zeros(d), 0.5 * np.eye(d)[0] - 0.5 * np.eye(d)[1]):
        comparator = U * u * rng.choice([1.0, -1.0], size=d) if u[2:].any() else U * u
        regret = said.losses.sum() - hinge(comparator, X, y).sum()
        assert regret <= bound_of(learner, features=d, squared_gradients_inf=squares)


def test_a_regret_close_to_what_is_allowed() -> None:
    """A round that slopes one way only: eg must learn which of two features is right, and pays the divergence."""
    X, y, eta = np.tile([[1.0, -1.0]], (60, 1)), np.ones(60), 0.05
    learner = nr.make("eg", **MIXED, eta=eta, features=2, native=False)
    said = learner.play(X, y)
    u = np.array([1.0, 0.0])
    bound = bound_of(learner, divergence=divergence(u), squared_gradients_inf=float(said.updated.sum()))
    assert 0.6 * bound < said.losses.sum() - hinge(u, X, y).sum() <= bound


@pytest.mark.thinned(2)
@pytest.mark.many_rounds
@pytest.mark.parametrize("part", [0.1, 2.0 / 3.0, 1.5])
@seeds(4)
@pytest.mark.parametrize("d", [4, 100])
def test_squared_errors_are_few_where_some_weights_on_the_simplex_fit(d: int, seed: int, part: float) -> None:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 2.0, size=(400, d))
    u = np.zeros(d)
    u[:2] = [0.7, 0.3]
    y = X @ u + 0.1 * rng.normal(size=400)
    R = float((X.max(axis=1) - X.min(axis=1)).max())
    learner = nr.make("eg", task="regression", scale_target=False, loss="squared", eta=part / R**2, features=d)
    suffered = learner.play(X, y).losses.sum()
    for v in (u, *on_the_simplex(d, seed)):
        theirs = float(((y - X @ v) ** 2).sum())
        bound = bound_of(learner, divergence=divergence(v), row_range=R, comparator_squared_errors=theirs)
        assert suffered <= bound
        if part == 2.0 / 3.0:
            assert bound == pytest.approx(1.5 * (theirs + R**2 * divergence(v)))


@BOTH
@engines
def test_no_weight_is_ever_lost_to_rounding(name: str, native: bool) -> None:
    """Feature 0 speaks for the wrong side until its weight is exp(-10000); then it is right, and recovers."""
    learner = nr.make(name, eta=100.0, features=3, native=native, **MIXED, **whole(name))
    x, all_of_them = np.array([[1.0, 0.0, 0.0]]), np.ones((1, 3))
    learner.learn(np.tile(x, (100, 1)), -np.ones(100))
    expected = {"eg": [0.0, 0.5, 0.5], "eg_signed": [-1.0, 0.0, 0.0]}[name]
    same(weights(learner, 3), np.array(expected))
    assert learner.scores(all_of_them)[0] == pytest.approx(sum(expected))
    learner.learn(np.tile(x, (150, 1)), np.ones(150))
    same(weights(learner, 3), np.array([1.0, 0.0, 0.0]))


def test_features_never_met_have_their_share_from_the_start() -> None:
    X, y = streams.sparse(40, 6, density=0.5, seed=4)
    told, seen = (nr.make("eg", **MIXED, eta=0.1, native=False, **more) for more in ({"features": 50}, {}))
    assert told.play(csr_array(X), y).scores[0] == pytest.approx(X[0].sum() / 50.0)
    reach = np.flatnonzero(X[0]).max() + 1
    assert seen.play(csr_array(X), y).scores[0] == pytest.approx(X[0].sum() / reach)


@only_in_test_all
@pytest.mark.many_rounds
def test_irrelevant_features_cost_signed_eg_only_a_logarithm() -> None:
    rng = np.random.default_rng(5)
    X = rng.choice([-1.0, 1.0], size=(2000, 1000))
    y = np.sign(X[:, 0] - X[:, 1] + X[:, 2])
    told: dict[str, Any] = {"eta": 0.01, "U": 8.0, "features": 1000}
    assert 2 * nr.make("eg_signed", **told).learn(X, y).mistakes < nr.make("perceptron").learn(X, y).mistakes


# ---- two classes --------------------------------------------------------------------------------------------------


def test_without_a_task_eg_has_weights_for_each_of_two_classes_so_that_features_speak_for_both() -> None:
    """With rows of no negative value, no positive weights give the score of a negative label its sign."""
    X, y = streams.sparse(300, 10, density=0.3, seed=2)
    X, y = np.abs(X), np.where(np.abs(X[:, 0]) > np.abs(X[:, 1]), 1, -1)
    X, y = X[np.abs(X[:, 0]) != np.abs(X[:, 1])], y[np.abs(X[:, 0]) != np.abs(X[:, 1])]
    mapped, mixed = nr.make("eg", native=False), nr.make("eg", task="binary", native=False)
    assert (mapped.task, mixed.task) == ("multiclass", "binary")
    assert mixed.learn(X, y).mistakes == (y < 0).sum()
    assert mapped.learn(X, y).mistakes < 0.5 * min((y < 0).sum(), (y > 0).sum())
    assert set(mapped.predict(X).tolist()) == {-1, 1}


def test_a_mixture_of_experts_whose_votes_have_both_signs_is_learned_in_binary() -> None:
    rng = np.random.default_rng(3)
    y = rng.choice([-1.0, 1.0], size=200)
    wrong = rng.random((200, 8)) < np.array([0.02, *[0.5] * 7])
    votes = np.where(wrong, -y[:, None], y[:, None])
    learner = nr.make("eg", task="binary", native=False).learn(votes, y)
    assert learner.mistakes < 40
    assert int(np.argmax(weights(learner, 8))) == 0


def test_of_rows_of_any_scale_signed_eg_makes_the_same_of_its_defaults() -> None:
    X, y = streams.sparse(80, 8, density=0.4, seed=5)
    usual = nr.make("eg_signed", native=False, algebra="sparse").play(X, y)
    for scale in (2.0**-20, 2.0**20):
        scaled = nr.make("eg_signed", native=False, algebra="sparse").play(scale * X, y)
        np.testing.assert_allclose(scaled.scores, usual.scores, rtol=1e-9)
