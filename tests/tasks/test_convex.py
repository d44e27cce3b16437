"""Online convex optimization: points are played, convex losses suffered, and regret stays within its bound."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr

RULES = [card.name for card in nr.learners() if "convex" in card.tasks and card.built_in]
RNG = np.random.default_rng(3)
CENTRES = RNG.normal(size=(200, 4)) * 0.3 + np.array([0.5, 0.2, 0.0, 0.3])


def run(learner: nr.RuleLearner, centres: np.ndarray = CENTRES) -> tuple[np.ndarray, float]:
    """Play |w - c_t|^2 round by round; the points played, and what was suffered."""
    points, suffered = [], 0.0
    for c in centres:
        w = learner.point
        points.append(w)
        loss = float((w - c) @ (w - c))
        suffered += loss
        learner.suffer(2.0 * (w - c), loss=loss)
    return np.array(points), suffered


def test_every_gradient_and_mirror_rule_plays_it() -> None:
    rules = nr.learners().rules.values()
    moving = {card.name for card in rules if card.kind in ("gradient", "coordinate") and card.final is None}
    moving -= {"bogd"}  # it moves in a feature space, and only where rows are examples
    assert moving == {card.name for card in nr.learners() if "convex" in card.tasks}
    assert {"ogd", "eg", "mirror_descent", "adagrad", "rda", "ftrl"} <= set(RULES)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", RULES)
def test_a_batch_of_gradients_is_the_loop_and_a_saved_learner_goes_on(name: str, tmp_path: Path) -> None:
    G = np.random.default_rng(5).normal(size=(12, 4)) * 0.1
    loop, batch = (nr.make(name, task="convex", dimension=4, native=False) for _ in range(2))
    losses = []
    for g in G[:6]:
        losses.append(float(loop.point @ g))
        loop.suffer(g)
    loop.save(tmp_path / "half.nr")
    loop = nr.load(tmp_path / "half.nr")
    for g in G[6:]:
        losses.append(float(loop.point @ g))
        loop.suffer(g)
    assert batch.point.size == 4
    transcript = batch.play(G)
    np.testing.assert_allclose(transcript.losses, losses, rtol=1e-9, atol=1e-12)
    assert batch.point.tolist() == loop.point.tolist()
    assert (batch.rounds, batch.mistakes) == (12, 0)
    assert batch.total_loss == pytest.approx(sum(losses), rel=1e-9, abs=1e-12)


@pytest.mark.compiles
def test_ogd_is_the_textbook_on_a_ball() -> None:
    learner = nr.make("ogd", task="convex", dimension=4, onto="ball", radius=0.5, eta0=0.3)
    points, _ = run(learner)
    w = np.zeros(4)
    for t, c in enumerate(CENTRES, start=1):
        np.testing.assert_allclose(points[t - 1], w, rtol=1e-9, atol=1e-12)
        w = w - 0.3 / math.sqrt(t) * 2.0 * (w - c)
        w *= min(1.0, 0.5 / np.linalg.norm(w))


@pytest.mark.parametrize("onto", ["simplex", "ball", "box", "l1", "orthant"])
def test_every_point_played_is_in_the_set(onto: str) -> None:
    learner = nr.make("ogd", task="convex", dimension=4, onto=onto, radius=0.7, eta0=0.5)
    points, _ = run(learner)
    inside = {
        "simplex": np.isclose(points.sum(axis=1), 0.7) & (points >= -1e-12).all(axis=1),
        "ball": np.linalg.norm(points, axis=1) <= 0.7 + 1e-12,
        "box": (np.abs(points) <= 0.7 + 1e-12).all(axis=1),
        "l1": np.abs(points).sum(axis=1) <= 0.7 + 1e-12,
        "orthant": (points >= 0.0).all(axis=1),
    }[onto]
    assert inside.all()


def test_exponentiated_gradient_begins_with_equal_shares() -> None:
    assert nr.make("eg", task="convex", dimension=5).point.tolist() == pytest.approx([0.2] * 5)


def best_on_the_simplex(centres: np.ndarray) -> float:
    """The loss of the best point: the projection of the mean, found by bisection over what is taken from each cell."""
    mean = centres.mean(axis=0)
    low, high = mean.min() - 1.0, mean.max()
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.maximum(mean - middle, 0.0).sum() > 1.0 else (low, middle)
    w = np.maximum(mean - high, 0.0)
    return float(((w - centres) ** 2).sum())


def test_regret_on_the_simplex_is_within_the_bounds_of_ogd_and_eg() -> None:
    """Zinkevich: 3/2 G D sqrt(T) for rates D / (G sqrt(t)); Kivinen, Warmuth: ln(d) / eta + eta T G^2 / 2."""
    best, rounds = best_on_the_simplex(CENTRES), len(CENTRES)
    G, D = 2.0 * (1.0 + np.linalg.norm(CENTRES, axis=1).max()), math.sqrt(2.0)
    _, suffered = run(nr.make("ogd", task="convex", dimension=4, onto="simplex", eta0=D / G))
    assert suffered - best <= 1.5 * G * D * math.sqrt(rounds)
    largest = 2.0 * (1.0 + np.abs(CENTRES).max())
    eta = math.sqrt(2.0 * math.log(4.0) / rounds) / largest
    _, suffered = run(nr.make("eg", task="convex", dimension=4, eta=eta))
    assert suffered - best <= math.log(4.0) / eta + eta * rounds * largest**2 / 2.0


def test_a_half_space_and_a_projection_of_ones_own_keep_the_points_inside() -> None:
    normal, offset = np.array([1.0, 1.0, 0.0, 0.0]), 0.2
    inside, _ = run(nr.make("ogd", task="convex", dimension=4, project=nr.half_space(normal, offset)))
    assert (inside @ normal <= offset + 1e-12).all()
    w = np.zeros(4)
    for t, c in enumerate(CENTRES, start=1):
        np.testing.assert_allclose(inside[t - 1], w, rtol=1e-9, atol=1e-12)
        w = w - 0.1 / math.sqrt(t) * 2.0 * (w - c)
        w = w - max(normal @ w - offset, 0.0) / 2.0 * normal
    rounded, _ = run(nr.make("adagrad", task="convex", dimension=4, project=lambda w: np.round(w, 2)))
    assert np.array_equal(rounded, np.round(rounded, 2))


def test_a_projection_that_fails_leaves_the_learner_as_it_was() -> None:
    calls = iter([None, None, ValueError("no"), None])

    def project(w: np.ndarray) -> np.ndarray:
        error = next(calls)
        if error is not None:
            raise error
        return w

    learner = nr.make("ogd", task="convex", dimension=2, project=project)
    learner.suffer([1.0, 0.0])
    before, rounds = learner.point, learner.rounds
    with pytest.raises(ValueError, match="no"):
        learner.suffer([0.0, 1.0])
    assert (learner.point.tolist(), learner.rounds) == (before.tolist(), rounds)
    assert learner.suffer([0.0, 1.0]).rounds == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs dimension="),
        ({"dimension": 0}, "dimension must be at least 1"),
        ({"dimension": 2.5}, "dimension must be a whole number"),
        ({"dimension": 2, "project": 3}, "project must be a function"),
        ({"dimension": 2, "classes": [0, 1]}, "no classes"),
        ({"dimension": 2, "loss": "hinge"}, "does not fit convex"),
    ],
)
def test_what_cannot_be_made_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(nr.BadValue, match=message):
        nr.make("ogd", task="convex", **options)


@pytest.mark.parametrize("gradient", [[1.0], [1.0, 2.0, 3.0], [np.nan, 0.0], "ab", None, [[1.0, 2.0]]])
def test_a_gradient_of_the_wrong_length_or_not_finite_is_refused(gradient: Any) -> None:
    learner = nr.make("ogd", task="convex", dimension=2, native=False).suffer([1.0, -1.0])
    before = learner.point.tolist()
    with pytest.raises(nr.BadValue, match="the gradient must be 2 finite numbers"):
        learner.suffer(gradient)
    with pytest.raises(nr.BadValue, match="loss"):
        learner.suffer([0.0, 0.0], loss=math.inf)
    assert (learner.point.tolist(), learner.rounds) == (before, 1)


def test_it_is_for_rules_driven_by_gradients_and_for_this_task_alone() -> None:
    with pytest.raises(nr.BadValue, match="cannot play convex"):
        nr.make("pa1", task="convex", dimension=2)
    with pytest.raises(nr.BadValue, match=r'point and suffer are for learners made with task="convex"'):
        nr.make("ogd").suffer([1.0])
    with pytest.raises(nr.BadValue, match="keeps no weights that could be projected"):
        nr.make("rda", task="convex", dimension=2, project=lambda w: w)
    with pytest.raises(nr.BadValue, match="half space"):
        nr.half_space([0.0, 0.0], 1.0)


def test_the_point_that_is_played_is_the_one_that_moves() -> None:
    assert "sgd_bottou_averaged" not in RULES
    with pytest.raises(nr.BadValue, match="the gradient is taken at"):
        nr.make("ogd", task="convex", dimension=2, average=True)
