"""Functions of the caller as options: projections, links, schedules, sequences; compiled and saved like the rest."""

import math
import pickle
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.algebra import at, clip, norm, scale, sqnorm
from tests.learners.reading import same, weights
from tests.naive import streams
from tests.naive.gradient import hinge
from tests.naive.rules import Array
from tests.naive.truncated import T1

LIMITS = (0.2, 0.5)
GRAVITY = np.array([0.3, 0.0, 0.05])


def shell(p: Any, s: Any, g: Any) -> None:
    """Project onto the ball whose radius is a constant of this file."""
    size = norm(s.w, 2.0)
    if sqnorm(g) > 0.0 and size > LIMITS[1]:
        scale(s.w, LIMITS[1] / size)


def slab(p: Any, s: Any, g: Any) -> None:
    """A box that is not symmetric, as large as the rule's radius."""
    clip(s.w, -LIMITS[0], p.radius, g)


def sine(p: Any, s: Any, j: int) -> float:
    """The hyperbolic sine, of the potential sum of w asinh(w) - sqrt(1 + w^2)."""
    return math.sinh(at(s.theta, j))


def identity(p: Any, s: Any, j: int) -> float:
    return float(at(s.theta, j))


def log_beta(p: Any, t: float) -> float:
    return float(p.gamma * (1.0 + math.log(t)))


def root_beta(p: Any, t: float) -> float:
    return float(p.gamma * math.sqrt(t))


def listed(p: Any, t: float) -> float:
    return float(GRAVITY[int(t - 1.0) % 3])


def negative(p: Any, t: float) -> float:
    return -1.0


def steps_of_ten(p: Any, eta0: float, t: float, steps: float) -> float:
    return eta0 / (1.0 + math.floor((t - 1.0) / 10.0))


def halfway(p: Any, a: float) -> float:
    return max(a, 0.0)


def rounds(n: int = 60) -> tuple[Array, Array]:
    return streams.dense(n, 4, seed=3)


# ---- each option does what its function says ----------------------------------------------------------------------


def test_weights_are_projected_by_a_function_of_the_caller() -> None:
    X, y = rounds()
    ball = nr.make("ogd", onto="ball", radius=LIMITS[1]).play(X, y).scores
    assert (nr.make("ogd", onto=shell).play(X, y).scores == ball).all()
    learner = nr.make("ogd", onto=slab, radius=0.3, eta0=0.5, schedule="constant")
    w = np.zeros(4)
    for t in range(len(X)):
        w = np.clip(w - 0.5 * hinge(float(y[t] * w @ X[t])) * y[t] * X[t], -LIMITS[0], 0.3)
        same(weights(learner.learn(X[t : t + 1], y[t : t + 1]), 4), w)
    assert (weights(nr.make("adagrad", onto=halfway).learn(X, y), 4) >= 0.0).all()


def test_a_link_of_the_caller_maps_the_dual_vector_to_the_weights() -> None:
    X, y = rounds()
    np.testing.assert_allclose(
        nr.make("mirror_descent", link=identity).play(X, y).scores, nr.make("mirror_descent").play(X, y).scores
    )
    theta, learner = np.zeros(4), nr.make("mirror_descent", link=sine, eta=0.1)
    for t in range(len(X)):
        theta = theta - 0.1 * hinge(float(y[t] * np.sinh(theta) @ X[t])) * y[t] * X[t]
        same(weights(learner.learn(X[t : t + 1], y[t : t + 1]), 4), np.sinh(theta))


def test_dual_averaging_follows_a_sequence_of_the_caller() -> None:
    X, y = rounds()
    usual = nr.make("rda", gamma=2.0).play(X, y).scores
    np.testing.assert_allclose(nr.make("rda", gamma=2.0, beta=root_beta).play(X, y).scores, usual)
    learner, G = nr.make("rda", gamma=2.0, lam=0.01, beta=log_beta), np.zeros(4)
    for t in range(1, len(X) + 1):
        said = learner.play(X[t - 1 : t], y[t - 1 : t])
        G = G + hinge(float(y[t - 1] * said.scores[0])) * y[t - 1] * X[t - 1]
        mean, beta = G / t, 2.0 * (1.0 + math.log(t))
        same(weights(learner, 4), -(t / beta) * np.sign(mean) * np.maximum(np.abs(mean) - 0.01, 0.0))


def test_enhanced_dual_averaging_follows_a_sequence_of_the_caller() -> None:
    X, y = rounds()
    usual = nr.make("rda_enhanced", gamma=2.0, rho=0.1, native=False).play(X, y).scores
    own = nr.make("rda_enhanced", gamma=2.0, rho=0.1, beta=root_beta, native=False).play(X, y).scores
    np.testing.assert_allclose(own, usual)
    assert np.abs(usual).max() > 0.0
    learner, G = nr.make("rda_enhanced", gamma=2.0, lam=0.01, rho=0.05, beta=log_beta, native=False), np.zeros(4)
    assert learner.card.guarantee_for(learner.params) is None
    for t in range(1, len(X) + 1):
        said = learner.play(X[t - 1 : t], y[t - 1 : t])
        G = G + hinge(float(y[t - 1] * said.scores[0])) * y[t - 1] * X[t - 1]
        mean, beta = G / t, 2.0 * (1.0 + math.log(t))
        beyond = np.maximum(np.abs(mean) - 0.01 - 0.05 * beta / t, 0.0)
        same(weights(learner, 4), -(t / beta) * np.sign(mean) * beyond)


@pytest.mark.parametrize(("order", "K"), [("post", 1.0), ("post", 2.0), ("pre", 1.0)])
def test_gravity_may_be_a_sequence(order: str, K: float) -> None:
    X, y = rounds()
    told: dict[str, Any] = {"eta0": 0.2, "schedule": "constant", "K": K, "order": order}
    learner, w = nr.make("truncated_gradient", gravity_schedule=listed, **told), np.zeros(4)
    for t in range(1, len(X) + 1):
        w = w - 0.2 * hinge(float(y[t - 1] * w @ X[t - 1])) * y[t - 1] * X[t - 1]
        number = t + (order == "pre")
        if number % K == 0:
            w = T1(w, 0.2 * K * GRAVITY[(number - 1) % 3], np.inf)
        same(weights(learner.learn(X[t - 1 : t], y[t - 1 : t]), 4), w)


def test_a_gravity_below_zero_pulls_nothing() -> None:
    X, y = rounds()
    told: list[dict[str, Any]] = [{"gravity_schedule": negative}, {"gravity": 0.0}]
    pulled, free = (nr.make("truncated_gradient", native=False, **one).play(X, y).scores for one in told)
    assert (pulled == free).all()


def test_a_schedule_of_the_caller_gives_the_rate_of_every_round() -> None:
    X, y = rounds()
    learner, w = nr.make("ogd", schedule=steps_of_ten, eta0=0.3), np.zeros(4)
    for t in range(len(X)):
        w = w - 0.3 / (1 + t // 10) * hinge(float(y[t] * w @ X[t])) * y[t] * X[t]
        same(weights(learner.learn(X[t : t + 1], y[t : t + 1]), 4), w)


# ---- compiled, and as part of a learner ---------------------------------------------------------------------------


@pytest.mark.compiles
@pytest.mark.parametrize(("name", "told"), [("ogd", {"onto": shell}), ("mirror_descent", {"link": sine})])
def test_a_function_of_the_caller_is_compiled_with_the_rule(name: str, told: dict[str, Any]) -> None:
    X, y = rounds()
    compiled, plain = (nr.make(name, algebra="sparse", native=native, **told).learn(X, y) for native in (True, False))
    assert compiled.scores(X).tolist() == plain.scores(X).tolist()


def test_functions_of_one_name_are_not_taken_for_each_other() -> None:
    def own(limit: float) -> Any:
        return FunctionType(slab.__code__, {"clip": clip, "LIMITS": (limit,)}, "own")

    X, y = rounds()
    one, other, again = (nr.make("ogd", onto=own(limit), radius=limit).learn(X, y) for limit in (0.1, 0.3, 0.1))
    assert np.abs(weights(one, 4)).max() == 0.1
    assert np.abs(weights(other, 4)).max() == 0.3
    assert one.config.plan(one.model.task, "dense") != other.config.plan(other.model.task, "dense")
    assert weights(again, 4).tolist() == weights(one, 4).tolist()


def test_a_copy_has_the_function_and_the_card_knows_no_theorem_for_it() -> None:
    X, y = rounds()
    learner = nr.make("rda", gamma=0.2, beta=log_beta).learn(X, y)
    assert (learner.copy().scores(X) == learner.scores(X)).all()
    assert learner.params["beta"] == learner.copy().params["beta"] != "log_beta"
    assert "beta=log_beta" in repr(learner)
    assert learner.card.guarantee_for(learner.params) is None
    assert learner.merge(learner).rounds == 120


def mistaken(p: Any, s: Any, g: Any) -> None:
    clip(s.w, -p.breadth, p.breadth, g)


@pytest.mark.compiles
@pytest.mark.parametrize("native", [True, False])
def test_an_error_names_the_line_of_the_function(native: bool) -> None:
    line = mistaken.__code__.co_firstlineno + 1
    with pytest.raises(nr.Error, match=rf"test_own_functions.py:{line}: rule ogd .*'?breadth'?"):
        nr.make("ogd", onto=mistaken, native=native).learn(*rounds())


# ---- model files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [log_beta, [log_beta, sine], {"log_beta": log_beta}])
def test_a_saved_learner_goes_on_when_its_function_is_given_again(given: Any, tmp_path: Path) -> None:
    X, y = rounds()
    learner = nr.make("rda", gamma=0.2, beta=log_beta).learn(X[:30], y[:30])
    learner.save(tmp_path / "own.nr")
    again = nr.load(tmp_path / "own.nr", functions=given)
    assert (again.learn(X[30:], y[30:]).scores(X) == learner.learn(X[30:], y[30:]).scores(X)).all()
    assert (pickle.loads(pickle.dumps(learner)).scores(X) == learner.scores(X)).all()


def test_without_its_function_a_file_is_not_loaded(tmp_path: Path) -> None:
    nr.make("rda", gamma=0.2, beta=log_beta).learn(*rounds()).save(tmp_path / "own.nr")
    says = "the model was learned with beta=log_beta, a function that rda does not know; give it to load as functions="
    for functions in (None, sine, {"other": log_beta}):
        with pytest.raises(nr.Error, match=says):
            nr.load(tmp_path / "own.nr", functions=functions)
    with pytest.raises(nr.Error, match=r"own.nr: .*rda: beta must be a function \(p, t\) of your own; sine takes"):
        nr.load(tmp_path / "own.nr", functions={"log_beta": sine})


# ---- what is refused ----------------------------------------------------------------------------------------------


def ball(p: Any, s: Any, g: Any) -> None:
    """Has the name of an option."""


def defaulted(p: Any, s: Any, *g: Any) -> None:
    """Takes any number of gradients."""


def inner_function() -> Any:
    limit = 0.5

    def cut(p: Any, s: Any, g: Any) -> None:
        clip(s.w, -limit, limit, g)

    return cut


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (listed, r"onto must be a function \(p, s, g\) of your own; listed takes \(p, t\)"),
        (defaulted, "defaulted takes"),
        (ball, "'ball' is the name of an option that comes with the rule; choose another"),
        (lambda p, s, g: None, "it needs a name of its own"),
        (inner_function(), "cut uses limit of the function around it, not a constant of its module"),
        (print, "is not a plain Python function"),
        (Path, "is not a plain Python function"),
        ("shell", r"must be one of everywhere, .*, or a function \(p, s, g\) of your own, not 'shell'"),
    ],
)
def test_a_function_that_cannot_be_used_is_refused(given: Any, says: str) -> None:
    with pytest.raises(nr.BadValue, match=says):
        nr.make("ogd", onto=given)


def test_an_option_without_functions_takes_none() -> None:
    with pytest.raises(nr.BadValue, match="perceptron: strict must be one of no, yes, not"):
        nr.make("perceptron", strict=shell)
