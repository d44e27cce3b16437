"""Online gradient descent on a convex set (Zinkevich 2003): after each step, the nearest point of the set."""

from importlib import import_module
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.algebra import apportion, clip, contract, norm
from noregret.algebra.examples import Dense, SparseBlocks
from noregret.algebra.scaled import Scaled
from noregret.learners.gradient import SETS
from noregret.rules.schedules import bottou, constant, inv_mistakes, inv_sqrt, inv_t, power
from tests.conformance.plays import arrays, same_bits
from tests.learners.reading import bound_of, steps, unscaled, weights
from tests.naive import streams
from tests.naive.gradient import onto_l1, onto_simplex
from tests.naive.rules import Array
from tests.support.cover import ALL, seeds

minimize: Any = import_module("scipy.optimize").minimize
RADIUS = 0.4
BOUNDED = ("ball", "box", "l1", "simplex")


def inside(onto: str, w: Array, slack: float = 1e-12) -> bool:
    """Whether a point is in the set."""
    return {
        "everywhere": True,
        "ball": float(np.linalg.norm(w)) <= RADIUS + slack,
        "box": float(np.abs(w).max()) <= RADIUS,
        "orthant": float(w.min()) >= 0.0,
        "l1": float(np.abs(w).sum()) <= RADIUS + slack,
        "simplex": float(w.min()) >= 0.0 and abs(w.sum() - RADIUS) <= slack,
    }[onto]


def nearest(onto: str, v: Array) -> Array:
    """The nearest point of the set, by a solver that knows nothing of thresholds: w = a - b with a and b >= 0."""
    d = v.size
    limits = {
        "ball": [{"type": "ineq", "fun": lambda ab: RADIUS**2 - np.sum((ab[:d] - ab[d:]) ** 2)}],
        "l1": [{"type": "ineq", "fun": lambda ab: RADIUS - np.sum(ab)}],
        "simplex": [{"type": "eq", "fun": lambda ab: np.sum(ab[:d]) - RADIUS}],
    }.get(onto, [])
    positive = onto in ("simplex", "orthant")
    highest = RADIUS if onto == "box" else None
    bounds = [(0.0, highest)] * d + [(0.0, 0.0 if positive else highest)] * d
    start = np.concatenate((np.full(d, RADIUS / d), np.zeros(d)))
    patience = {"ftol": 1e-14, "maxiter": 500}
    found = minimize(
        lambda ab: np.sum((ab[:d] - ab[d:] - v) ** 2),
        start,
        bounds=bounds,
        constraints=limits,
        method="SLSQP",
        options=patience,
    )
    return np.asarray(found.x[:d] - found.x[d:])


@pytest.mark.thinned(2)
@pytest.mark.parametrize("onto", [name for name in SETS if name != "everywhere"])
def test_every_step_ends_at_the_nearest_point_of_the_set(onto: str) -> None:
    X, y = streams.dense(60, 4, seed=1)
    learner = nr.make("ogd", onto=onto, radius=RADIUS, eta0=0.8, schedule="constant", native=False)
    cut = 0
    for t, before, after, said in steps(learner, X, y, rounds=30):
        if not said.updated[0]:
            np.testing.assert_array_equal(after, before)
            continue
        v = before + 0.8 * y[t] * X[t]
        assert inside(onto, after)
        np.testing.assert_allclose(after, nearest(onto, v), atol=2e-6)
        cut += not inside(onto, v)
    assert cut >= 5


# ---- thresholds without sorting -----------------------------------------------------------------------------------


def vectors(seed: int) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [
        rng.normal(size=50),
        rng.normal(size=1) + 2.0,
        np.full(7, 0.3),
        np.concatenate((np.zeros(40), rng.normal(size=3))),
        np.repeat([1.0, -1.0, 0.5], 6),
        rng.standard_cauchy(size=300),
        1e8 * rng.normal(size=20),
        np.ones(5) + 1e-13 * rng.normal(size=5),
    ]


@pytest.mark.parametrize(("radius", "seed"), list(product([1e-3, 0.4, 5.0, 1e6], range(3))))
def test_the_threshold_is_that_of_a_sorted_vector(radius: float, seed: int) -> None:
    for v in vectors(seed):
        for found, expected in (
            (contracted(v, radius), onto_l1(v, radius)),
            (apportioned(v, radius), onto_simplex(v, radius)),
        ):
            np.testing.assert_allclose(found, expected, rtol=0.0, atol=4e-15 * max(np.abs(v).sum(), radius))


def contracted(v: Array, radius: float) -> Array:
    w = v.copy()
    contract(w, radius, Dense(w, 1.0, 1.0))
    return w


def apportioned(v: Array, radius: float) -> Array:
    w = v.copy()
    apportion(w, radius, Dense(w, 1.0, 1.0), float(v.size), 1.0)
    return w


def test_a_radius_far_below_the_cells_or_as_small_as_they_are_is_kept_to_the_bit() -> None:
    assert contracted(np.array([1.0, -1e20, 5.0]), 1e-3).tolist() == [0.0, -1e-3, 0.0]
    assert apportioned(np.array([1.0, 1e20, 5.0]), 1e-3).tolist() == [0.0, 1e-3, 0.0]
    np.testing.assert_allclose(contracted(np.array([1e-20, -3e-20]), 1e-20), [0.0, -1e-20], rtol=1e-15)
    np.testing.assert_allclose(apportioned(np.array([1e-20, 3e-20]), 1e-20), [0.0, 1e-20], rtol=1e-15)


def test_a_vector_on_the_border_of_the_l1_ball_stays_as_it_is_to_the_bit() -> None:
    v = np.array([0.1, -0.7, 0.2])
    assert contracted(v, (0.1 + 0.7) + 0.2).tolist() == v.tolist()


def test_a_vector_inside_the_l1_ball_stays_as_it_is_to_the_bit() -> None:
    v = np.random.default_rng(0).normal(size=30)
    assert same_bits(contracted(v, float(np.abs(v).sum()) * 1.01), v)


def test_a_vector_of_zeros_is_inside_the_l1_ball() -> None:
    assert contracted(np.zeros(4), 0.5).tolist() == [0.0] * 4


@pytest.mark.parametrize(("scale", "order"), list(product([1.0, 2.0, -0.5], [1.0, 2.0])))
def test_of_a_scaled_vector_it_is_the_product_that_is_brought_back(scale: float, order: float) -> None:
    v = np.array([0.9, -0.6, 0.1, -2.5])
    z = Dense(v, 1.0, 1.0)
    for onto, told, expected in (
        (clip, (-0.3, 0.7, z), np.clip(scale * v, -0.3, 0.7)),
        (clip, (0.15, np.inf, z), np.maximum(scale * v, 0.15)),
        (contract, (RADIUS, z), onto_l1(scale * v, RADIUS)),
        (apportion, (RADIUS, z, 4.0, 1.0), onto_simplex(scale * v, RADIUS)),
    ):
        w = Scaled(v.copy(), np.array([scale, 0.0, 0.0, 0.0]), np.ones(1, np.int64))
        norm(w, order)
        onto(w, *told)
        found = w.n[0] * w.v
        np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)
        assert norm(w, order) == pytest.approx(np.linalg.norm(found, order), rel=1e-14)


def test_the_simplex_leaves_the_cells_of_other_features_and_classes_alone() -> None:
    w = np.arange(12.0)  # three features, four classes to a feature
    z = SparseBlocks(np.zeros(1, np.uint32), np.ones(1), (1.0, -1.0), (0, 1), 4, 1.0)
    apportion(w, 1.0, z, 2.0, 3.0)
    own = w.reshape(3, 4)[:2, :3]
    np.testing.assert_allclose(own.ravel(), onto_simplex(np.arange(12.0).reshape(3, 4)[:2, :3].ravel(), 1.0))
    assert w.reshape(3, 4)[2].tolist() == [8.0, 9.0, 10.0, 11.0]
    assert w.reshape(3, 4)[:, 3].tolist() == [3.0, 7.0, 11.0]


# ---- the start, the growth, the mean ------------------------------------------------------------------------------


def test_the_first_step_brings_the_weights_onto_the_simplex() -> None:
    learner = nr.make("ogd", onto="simplex", radius=1.0, eta0=0.3, schedule="constant", native=False)
    said = learner.play(np.array([[1.0, 0.0, -1.0, 2.0]]), [1])
    assert said.scores[0] == 0.0
    np.testing.assert_allclose(weights(learner, 4), onto_simplex(np.array([0.3, 0.0, -0.3, 0.6]), 1.0))


def test_a_feature_that_comes_later_comes_with_nothing() -> None:
    learner = nr.make("ogd", onto="simplex", eta0=0.2, schedule="constant", native=False, columns="grow")
    learner.learn(np.array([[1.0, 0.5]]), [1])
    before = weights(learner, 2)
    learner.learn(np.array([[0.0, 0.0, 1.0]]), [-1])  # a row that pushes its own weight below zero
    after = weights(learner, 3)
    np.testing.assert_allclose(after, onto_simplex(np.append(before, -0.2), 1.0))
    assert after[2] == 0.0


@pytest.mark.parametrize("algebra", ["sparse", "dense"])
def test_the_simplex_spans_all_classes_also_where_a_round_is_about_the_first_ones(algebra: str) -> None:
    told: dict[str, Any] = {"schedule": "constant", "classes": [0, 1, 2], "algebra": algebra, "native": False}
    learner = nr.make("ogd", onto="simplex", eta0=0.3, task="multiclass", **told)
    learner.learn(np.array([[1.0, 0.5], [0.2, 1.0]]), [2, 1])
    for label in (0, 1, 0, 1, 0):
        learner.learn(np.array([[1.0, 0.7]]), [label])
        found = weights(learner, 2)
        assert found[2].max() > 0.0, "the class that no round is about keeps a share"
        assert found.sum() == pytest.approx(1.0, abs=1e-12)
        assert found.min() >= 0.0


@pytest.mark.thinned(2)
@pytest.mark.compiles
@pytest.mark.parametrize(
    ("onto", "task", "algebra"),
    [
        ("ball", "binary", "sparse"),
        ("simplex", "multiclass", "dense"),
        ("box", "multiclass", "dense"),
        ("orthant", "multiclass", "sparse"),
        ("l1", "multiclass", "sparse"),
        ("simplex", "binary", "sparse"),
    ][: None if ALL else 2],
)
def test_compiled_sets_are_the_plain_ones(onto: str, task: str, algebra: str) -> None:
    X, y = streams.sparse(60, 9, density=0.4, seed=5)
    labels = y if task == "binary" else np.arange(60) % 3
    rows: Any = csr_array(X) if algebra == "sparse" else X
    told: dict[str, Any] = {"task": task, "algebra": algebra, "onto": onto, "radius": RADIUS, "eta0": 0.5}
    told["columns"] = "grow"
    fast, slow = (nr.make("ogd", native=native, **told) for native in (True, False))
    for learner in (fast, slow):
        for first in range(0, 60, 20):
            learner.learn(rows[first : first + 20, : 5 + first // 10], labels[first : first + 20])
    for name, found in arrays(fast).items():
        if algebra == "sparse":
            assert same_bits(found, arrays(slow)[name]), name
        else:
            np.testing.assert_allclose(found, arrays(slow)[name], rtol=1e-12, atol=1e-14)
    assert fast.nonzeros > 0


def test_steps_on_the_whole_space_can_be_averaged_and_steps_on_a_set_cannot() -> None:
    X, y = streams.dense(50, 3, seed=2)
    mean = nr.make("ogd", average=True, native=False).learn(X, y)
    learner = nr.make("ogd", native=False)
    path = [np.zeros(3)]
    for t in range(50):
        path.append(weights(learner.learn(X[t : t + 1], y[t : t + 1]), 3))
    np.testing.assert_allclose(weights(mean, 3), np.mean(path, axis=0), atol=1e-12)
    for onto in set(SETS) - {"everywhere"}:
        with pytest.raises(nr.BadValue, match="cannot be averaged"):
            nr.make("ogd", onto=onto, average=True)


@pytest.mark.parametrize("onto", ["box", "orthant", "l1", "simplex"])
def test_sets_of_coordinates_are_refused_where_there_are_none(onto: str) -> None:
    with pytest.raises(nr.BadValue, match="kernel algebra"):
        nr.make("ogd", onto=onto, algebra="kernel")


# ---- the theorem --------------------------------------------------------------------------------------------------


@seeds(2)
@pytest.mark.parametrize(("onto", "loss"), list(product(BOUNDED, ["hinge", "logistic", "eps_insensitive"])))
def test_regret_on_a_set_keeps_its_bound(onto: str, loss: str, seed: int) -> None:
    T, d = 400, 4
    rng = np.random.default_rng(seed)
    X, noise = streams.dense(T, d, seed=seed)
    u = rng.normal(size=d)
    task = "regression" if loss == "eps_insensitive" else "binary"
    y = X @ u + 0.3 * noise if task == "regression" else streams.flip(np.sign(X @ u), 0.2, seed)
    largest = float(np.linalg.norm(X, axis=1).max())  # slopes are at most 1
    diameter = {"ball": 2.0, "box": 2.0 * np.sqrt(d), "l1": 2.0, "simplex": np.sqrt(2.0)}[onto] * RADIUS
    learner = nr.make(
        "ogd",
        task=task,
        **unscaled(task),
        loss=loss,
        onto=onto,
        radius=RADIUS,
        eta0=diameter / largest,
        schedule="inv_sqrt",
        native=False,
    )
    suffered = learner.play(X, y).losses.sum()
    for v in [
        u,
        *rng.normal(size=(20 if ALL else 3, d)),
        *np.eye(d),
        *-np.eye(d),
        np.linalg.lstsq(X, y, rcond=None)[0],
    ]:
        far = 3.0 * RADIUS * v
        best = far / max(1.0, np.linalg.norm(far) / RADIUS) if onto == "ball" else nearest(onto, far)
        errors = np.abs(y - X @ best)
        theirs = {
            "hinge": np.maximum(0.0, 1.0 - y * (X @ best)),
            "logistic": np.logaddexp(0.0, -y * (X @ best)),
            "eps_insensitive": np.maximum(0.0, errors - 0.1),
        }[loss].sum()
        anywhere = bound_of(learner, distance=diameter, largest_gradient=largest, rounds=T)
        assert suffered - theirs <= anywhere <= 1.5 * largest * diameter * np.sqrt(T)  # the best rate for the diameter
        norm = float(np.linalg.norm(best))
        assert suffered - theirs <= bound_of(learner, norm=norm, features=d, largest_gradient=largest, rounds=T)


# ---- schedules ----------------------------------------------------------------------------------------------------


def test_schedules_by_hand() -> None:
    p = SimpleNamespace(power=1.5, decay=0.25)
    by_round = [schedule(p, 0.6, 4.0, 3.0) for schedule in (constant, inv_sqrt, inv_t, power, bottou)]
    assert by_round == [0.6, 0.3, 0.15, pytest.approx(0.075), pytest.approx(0.375)]
    assert [inv_mistakes(p, 0.6, 4.0, steps) for steps in (0.0, 1.0, 3.0)] == [0.6, 0.6, pytest.approx(0.2)]


def test_the_rate_of_inv_mistakes_falls_with_the_rounds_that_had_a_gradient() -> None:
    X = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    learner = nr.make("ogd", loss="perceptron", schedule="inv_mistakes", eta0=6.0, native=False)
    path = np.array([weights(learner.learn(X[t : t + 1], [y]), 2) for t, y in enumerate([1, 1, -1, 1, -1])])
    np.testing.assert_allclose(path, [[6.0, 0.0], [6.0, 0.0], [3.0, 0.0], [3.0, 2.0], [3.0, 0.5]])


@pytest.mark.parametrize("cut", [1, 7, 60])
def test_the_steps_are_counted_across_calls_and_kept_in_the_file(cut: int, tmp_path: Any) -> None:
    X, y = streams.dense(60, 3, seed=8)
    whole = nr.make("ogd", schedule="inv_mistakes", native=False).learn(X, y)
    parts = nr.make("ogd", schedule="inv_mistakes", native=False)
    for first in range(0, 60, cut):
        parts.learn(X[first : first + cut], y[first : first + cut])
        parts.save(tmp_path / "parts.nr")
        parts = nr.load(tmp_path / "parts.nr")
    assert same_bits(whole.scores(X), parts.scores(X))
