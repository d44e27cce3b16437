"""Truncated gradient and coefficient rounding (Langford, Li and Zhang 2009)."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from tests import naive
from tests.learners.reading import after_each_round, bound_of, comparators, hinge, radius_of, steps, weights, written
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import ALL, seeds

X3, Y3 = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]), np.array([1.0, 0.0, 1.0])
HAND: dict[str, Any] = {"eta0": 0.1, "schedule": "constant", "gravity": 0.1, "order": "pre", "loss": "squared"}


def test_three_rounds_worked_by_hand() -> None:
    """The pull of a round precedes its prediction: what is read between rounds has the next pull behind it."""
    learner = nr.make("truncated_gradient", task="regression", scale_target=False, native=False, **HAND)
    written(learner.copy().play(X3, Y3).scores, [0.0, 0.19, -0.056])
    stepped = np.array([[0.2, 0], [0.152, -0.038], [0.142, 0.3944]])
    written(after_each_round(learner, X3, Y3), np.sign(stepped) * np.maximum(np.abs(stepped) - 0.01, 0.0))
    twin = naive.regression("truncated_gradient", eps=0.0, **HAND)
    for t in range(3):
        twin.run(X3[t : t + 1], Y3[t : t + 1])
        written(twin.state["w"], stepped[t])


def test_pulling_before_is_pulling_after_the_round_before() -> None:
    X, y = streams.sparse(60, 8, density=0.4, seed=3)
    told: dict[str, Any] = {"gravity": 0.05, "theta": 0.4, "schedule": "constant", "native": False}
    pre, post = (nr.make("truncated_gradient", order=order, **told) for order in ("pre", "post"))
    assert pre.play(X, y).scores.tolist() == post.play(X, y).scores.tolist()
    pre, post = (nr.make("truncated_gradient", order=order, K=5.0, **told) for order in ("pre", "post"))
    assert pre.play(X, y).scores.tolist() != post.play(X, y).scores.tolist()


@pytest.mark.parametrize("theta", [0.0, 0.15])
@pytest.mark.parametrize("K", [1.0, 4.0])
def test_a_round_steps_then_pulls_what_is_small(K: float, theta: float) -> None:
    X, y = streams.sparse(60, 8, density=0.4, seed=1)
    learner = nr.make("truncated_gradient", eta0=0.1, gravity=0.1, theta=theta, K=K, schedule="constant", native=False)
    pulled = 0
    for t, before, after, said in steps(learner, X, y, 40):
        stepped = before + 0.1 * y[t] * X[t] * (y[t] * said.scores[0] < 1.0)
        near = np.abs(stepped) <= (theta or math.inf)
        pull = 0.1 * 0.1 * K * ((t + 1) % K == 0)
        expected = np.where(near, np.sign(stepped) * np.maximum(np.abs(stepped) - pull, 0.0), stepped)
        np.testing.assert_allclose(after, expected, rtol=0.0, atol=1e-14)
        pulled += int(np.sum((stepped != 0.0) & (after == 0.0)))
    assert pulled > 3


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", ["truncated_gradient", "rounding"])
@pytest.mark.parametrize("K", [1.0, 3.0, 7.0])
def test_what_is_caught_up_with_late_is_what_would_have_been_done_at_once(name: str, K: float) -> None:
    rng = np.random.default_rng(4)
    rounds = 3000 if ALL else 1200
    X, y = streams.sparse(rounds, 60, density=0.02, seed=4)
    X[:, 50:] *= rng.random(rounds)[:, None] < 0.02
    for theta in (0.02, 0.3, 0.0):
        told: dict[str, Any] = {"eta0": 0.1, "theta": theta, "K": K}
        if name == "truncated_gradient":
            told["gravity"] = 0.01
        learner = nr.make(name, algebra="sparse", **told)
        twin = naive.binary(name, **told)
        said, (scores, _) = learner.play(csr_array(X), y).scores, twin.run(X, y)
        np.testing.assert_allclose(said, scores, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(weights(learner, 60), twin.state["w"], rtol=0.0, atol=1e-12)
        assert ((weights(learner, 60) == 0.0) == (twin.state["w"] == 0.0)).all()


def suffered(u: Array, X: Array, y: Array, loss: str) -> Array:
    margins = y * (X @ u)
    if loss == "squared":
        return np.asarray((1.0 - margins) ** 2)
    return hinge(u, X, y) if loss == "hinge" else np.asarray(np.logaddexp(0.0, -margins))


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared"])
@pytest.mark.parametrize(("theta", "K"), [(0.0, 1.0), (0.1, 1.0), (0.5, 1.0), (0.1, 5.0), (0.0, 5.0)])
@seeds(2)
@pytest.mark.parametrize("schedule", ["constant", "inv_sqrt"])
@pytest.mark.thinned(6)
def test_loss_and_pull_keep_their_bound(seed: int, theta: float, K: float, loss: str, schedule: str) -> None:
    X, y, _ = streams.separable(120, 5, 0.1, seed)
    y = streams.flip(y, 0.1, seed)
    eta, gravity = 0.2, 0.05
    told: dict[str, Any] = {
        "schedule": schedule,
        "eta0": eta,
        "gravity": gravity,
        "theta": theta,
        "K": K,
        "loss": loss,
        "native": False,
    }
    after = after_each_round(nr.make("truncated_gradient", **told), X, y)
    learner = nr.make("truncated_gradient", **told)
    said = learner.play(X, y)
    losses = said.losses
    longest = float((X**2).sum(axis=1).max())
    A, B = (4.0 * longest, 0.0) if loss == "squared" else (0.0, longest)
    assert A * eta < 2.0
    g = np.where(np.arange(1, 121) % K == 0, K * gravity, 0.0)
    near = np.abs(after) <= (theta or math.inf)
    left = (1.0 - 0.5 * A * eta) * losses.sum() + float(g @ (np.abs(after) * near).sum(axis=1))
    margins = y * said.scores
    slopes = {
        "hinge": 1.0 * (margins < 1.0),
        "logistic": 1.0 / (1.0 + np.exp(margins)),
        "squared": 2.0 * (1.0 - margins),
    }
    gradients = np.abs(slopes[loss]) * np.linalg.norm(X, axis=1)
    path = np.vstack([np.zeros(5), after[:-1]])
    slack = []
    for u in comparators(X, y, seed):
        theirs = suffered(u, X, y, loss).sum() + float(g @ (near @ np.abs(u)))
        regret = losses.sum() + float(g @ (np.abs(after) * near).sum(axis=1)) - theirs
        if schedule == "inv_sqrt":
            far = float(np.linalg.norm(path - u, axis=1).max())
            assert regret <= bound_of(learner, distance=far, largest_gradient=float(gradients.max()), rounds=120)
            continue
        norm = float(np.linalg.norm(u))
        assert regret <= bound_of(learner, norm=norm, squared_gradients=float(np.sum(gradients**2)))
        right = 0.5 * eta * B * 120.0 + norm**2 / (2.0 * eta) + theirs  # as the paper writes it
        assert left <= right
        slack.append(right / left)
    assert schedule == "inv_sqrt" or min(slack) < 4.0


@pytest.mark.parametrize("theta", [0.0, 0.02, 0.1])
@seeds(2)
def test_the_regret_of_rounding_keeps_its_bound(seed: int, theta: float) -> None:
    X, y, _ = streams.separable(120, 5, 0.1, seed)
    y = streams.flip(y, 0.1, seed)
    learner = nr.make("rounding", eta0=2.0, theta=theta, K=6.0, schedule="constant", native=False)
    falling = nr.make("rounding", eta0=2.0, theta=theta, K=6.0, native=False)
    path = np.vstack([np.zeros(5), after_each_round(falling.copy(), X, y)[:-1]])
    said, later = learner.play(X, y), falling.play(X, y)
    squares = float(((X**2).sum(axis=1) * (y * said.scores < 1.0)).sum())
    for u in comparators(X, y, seed):
        theirs, all_sizes = hinge(u, X, y).sum(), float(np.abs(u).sum())
        sizes = {"norm": float(np.linalg.norm(u)), "norm_1": all_sizes, "rounds": 120.0}
        assert said.losses.sum() - theirs <= bound_of(learner, squared_gradients=squares, **sizes)
        far = float(np.linalg.norm(path - u, axis=1).max())
        assert later.losses.sum() - theirs <= bound_of(falling, distance=far, largest_gradient=radius_of(X), **sizes)


def test_rounding_drops_small_weights_every_K_rounds_and_only_then() -> None:
    X, y = streams.sparse(60, 8, density=0.4, seed=5)
    learner = nr.make("rounding", eta0=0.1, theta=0.12, K=5.0, schedule="constant", native=False)
    dropped = 0
    for t, before, after, said in steps(learner, X, y, 50):
        stepped = before + 0.1 * y[t] * X[t] * (y[t] * said.scores[0] < 1.0)
        small = np.abs(stepped) <= 0.12 if (t + 1) % 5 == 0 else np.zeros(8, bool)
        np.testing.assert_allclose(after, np.where(small, 0.0, stepped), rtol=0.0, atol=1e-15)
        dropped += int(np.sum(small & (stepped != 0.0)))
    assert dropped > 3


def test_without_gravity_or_before_K_rounds_it_is_plain_descent() -> None:
    X, y = streams.sparse(60, 8, density=0.4, seed=6)
    plain = nr.make("ogd", native=False).play(X, y).scores
    for name, told in (
        ("truncated_gradient", {"gravity": 0.0}),
        ("truncated_gradient", {"gravity": 5.0, "K": 61.0}),
        ("rounding", {"theta": 0.0, "K": 1.0}),
        ("rounding", {"theta": 1e6, "K": 1e9}),
    ):
        np.testing.assert_allclose(nr.make(name, native=False, **told).play(X, y).scores, plain, rtol=0.0, atol=1e-13)


def test_rounding_drops_whatever_is_no_larger_than_theta() -> None:
    for theta, left in ((3.0, 0.0), (2.5, 0.0), (2.4, 2.5)):
        learner = nr.make("rounding", theta=theta, K=1.0, eta0=2.5, schedule="constant", native=False)
        assert weights(learner.learn(np.array([[1.0]]), [1]), 1).tolist() == [left]


@pytest.mark.parametrize(("rounds", "times"), [(19.0, 1.0), (20.0, 2.0), (21.0, 2.0)])
def test_the_bound_of_rounding_counts_the_rounds_on_which_it_rounds(rounds: float, times: float) -> None:
    """Rounding every 10 rounds drops at most theta times each, beyond the bound of gradient descent."""
    rounding = nr.learners()["rounding"]
    for schedule in ("constant", "inv_sqrt"):
        told = {"schedule": schedule, "eta0": 0.5, "K": 10.0}
        needed = {name: 2.0 for guarantee in rounding.guarantees for name in guarantee.needs} | {"rounds": rounds}
        bounds = [rounding.bound({**told, "theta": theta}, **needed) for theta in (1e-9, 0.5, 1.0)]
        assert bounds[2] - bounds[0] == pytest.approx(2.0 * (bounds[1] - bounds[0]), rel=1e-6)
        less = rounding.bound({**told, "theta": 1.0, "K": rounds + 1.0}, **needed)
        once = rounding.bound({**told, "theta": 1.0, "K": rounds}, **needed)
        assert bounds[2] - less == pytest.approx(times * (once - less), rel=1e-12)
