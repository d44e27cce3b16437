"""Passive-aggressive learners: each step solves a small convex problem (Crammer et al. 2006)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import noregret as nr
from tests.learners.reading import (
    ONE_PASS,
    after_each_round,
    bound_of,
    comparators,
    datasets,
    hinge,
    radius_of,
    same,
    sklearn,
    steps,
    two_classes,
    weights,
    written,
)
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import only_in_test_all, seeds
from tests.support.engines import engines

FAMILY: list[tuple[str, dict[str, float]]] = [
    ("pa", {}),
    ("pa1", {"C": 0.02}),
    ("pa1", {"C": 0.5}),
    ("pa2", {"C": 0.02}),
    ("pa2", {"C": 0.5}),
]
every_variant = pytest.mark.parametrize(("name", "told"), FAMILY)
NEAR_ONE = 1e-12


# ---- worked examples ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "told", "losses", "path"),
    [
        ("pa", {}, [1, 1.25, 0.375, 0], [[0.25, 0], [-0.375, -0.625], [-0.375, -1], [-0.375, -1]]),
        ("pa1", {"C": 0.1}, [1, 1.25, 0.9, 0.9], [[0.25, 0], [0.15, -0.1], [0.15, -0.2], [-0.05, -0.4]]),
        (
            "pa2",
            {"C": 0.1},
            [1, 1.190476, 0.829932, 0.424036],
            [[0.190476, 0], [0.020408, -0.170068], [0.020408, -0.30839], [-0.044828, -0.373626]],
        ),
    ],
)
def test_the_four_points(name: str, told: dict[str, float], losses: list[float], path: list[list[float]]) -> None:
    X, y = streams.four()
    written(nr.make(name, native=False, **told).play(X, y).losses, losses)
    written(after_each_round(nr.make(name, native=False, **told), X, y), path)


def test_three_classes_worked_by_hand() -> None:
    X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [1.0, 1.0]])
    learner = nr.make("pa", task="multiclass", classes=[0, 1, 2], native=False)
    written(
        after_each_round(learner, X, np.array([0, 1, 2, 0])),
        [
            [[0.5, 0], [-0.5, 0], [0, 0]],
            [[0.5, -0.5], [-0.5, 0.5], [0, 0]],
            [[0.75, -0.25], [-0.5, 0.5], [-0.25, -0.25]],
            [[0.875, -0.125], [-0.625, 0.375], [-0.25, -0.25]],
        ],
    )


@pytest.mark.parametrize(
    ("name", "told", "path"),
    [
        ("pa", {}, [[0.25, 0], [-0.375, -0.625], [-0.375, -0.625], [-0.375, -0.625]]),
        ("pa1", {"C": 0.1}, [[0.25, 0], [0.15, -0.1], [0.15, -0.1], [-0.05, -0.3]]),
        ("pa1", {"C": 0.4}, [[0.25, 0], [-0.15, -0.4], [-0.15, -0.4], [-0.15, -0.4]]),
        ("pa2", {"C": 0.5}, [[4 / 17, 0], [4 / 17 - 7 / 17, -7 / 17], [-3 / 17, -7 / 17], [-3 / 17, -7 / 17]]),
    ],
)
def test_gated_by_mistakes_the_four_points_move_it_only_while_it_is_wrong(
    name: str, told: dict[str, float], path: list[list[float]]
) -> None:
    X, y = streams.four()
    written(after_each_round(nr.make(name, gate="mistake", native=False, **told), X, y), path)


# ---- one step -----------------------------------------------------------------------------------------------------


def nearest(name: str, C: float, before: Array, slack: Callable[[Array], Array]) -> Array:
    """argmin over w of |w - before|^2 / 2 plus what the variant charges for slack; slack(w) <= 0 is the aim."""
    size = before.size

    def cost(v: Array) -> float:
        change = 0.5 * np.sum((v[:size] - before.ravel()) ** 2)
        charge = {"pa": 0.0, "pa1": C * v[-1], "pa2": C * v[-1] ** 2}[name]
        return float(change + charge)

    allowed = (lambda v: 0.0) if name == "pa" else (lambda v: v[-1])
    constraints: Any = [
        {"type": "ineq", "fun": lambda v: allowed(v) - slack(v[:size].reshape(before.shape))},
        {"type": "ineq", "fun": lambda v: v[-1]},
    ]
    start = np.append(before.ravel(), 1.0 + abs(float(np.max(slack(before)))))
    found = minimize(cost, start, method="SLSQP", constraints=constraints, options={"ftol": 1e-15, "maxiter": 500})
    return np.asarray(found.x[:size].reshape(before.shape))


@every_variant
def test_a_step_is_the_smallest_change_that_pays(name: str, told: dict[str, float]) -> None:
    X, y = streams.dense(60, 4, seed=1)
    moved = 0
    for t, before, after, said in steps(nr.make(name, native=False, **told), X, y, rounds=12):
        best = nearest(name, told.get("C", 0.0), before, lambda w: np.array([1.0 - y[t] * w @ X[t]]))  # noqa: B023
        np.testing.assert_allclose(after, best, atol=2e-6)
        moved += int(said.updated[0])
    assert moved >= 6


@every_variant
def test_a_step_of_regression_leaves_no_more_error_than_it_must(name: str, told: dict[str, float]) -> None:
    X, y, _ = streams.linear(40, 4, noise=0.5, seed=2)
    moved = 0
    learner = nr.make(name, task="regression", scale_target=False, eps=0.2, native=False, **told)
    for t, before, after, said in steps(learner, X, y, 12):
        short = lambda w: np.array([w @ X[t] - y[t] - 0.2, y[t] - w @ X[t] - 0.2])  # noqa: B023, E731
        np.testing.assert_allclose(after, nearest(name, told.get("C", 0.0), before, short), atol=2e-6)
        moved += int(said.updated[0])
    assert moved >= 6


@every_variant
def test_a_step_among_classes_is_against_the_best_of_the_others(name: str, told: dict[str, float]) -> None:
    X, y, _ = streams.blobs(60, 3, k=4, spread=1.0, seed=3)
    learner = nr.make(name, task="multiclass", classes=range(4), native=False, **told)
    moved = 0
    for t, before, after, said in steps(learner, X, y, rounds=12):
        truth = int(y[t])
        rival = max((c for c in range(4) if c != truth), key=lambda c: float(said.scores[0, c]))
        short = lambda W: np.array([1.0 - (W[truth] - W[rival]) @ X[t]])  # noqa: B023, E731
        np.testing.assert_allclose(after, nearest(name, told.get("C", 0.0), before, short), atol=2e-6)
        moved += int(said.updated[0])
    assert moved >= 4


def test_after_a_step_the_margin_is_one_or_as_near_as_the_variant_allows() -> None:
    X, y = streams.dense(60, 5, seed=4)
    C = 0.05
    reached: dict[str, Callable[[float, float], float]] = {
        "pa": lambda m, n: 1.0,
        "pa1": lambda m, n: min(1.0, m + C * n),
        "pa2": lambda m, n: m + (1.0 - m) * n / (n + 1.0 / (2.0 * C)),
    }
    for name, margin_after in reached.items():
        told: dict[str, float] = {} if name == "pa" else {"C": C}
        for t, before, after, said in steps(nr.make(name, native=False, **told), X, y, rounds=30):
            m = float(y[t] * before @ X[t])
            assert said.updated[0] == (m < 1.0)
            expected = margin_after(m, float(X[t] @ X[t])) if m < 1.0 else m
            assert y[t] * after @ X[t] == pytest.approx(expected, abs=NEAR_ONE)


def test_after_a_step_of_regression_the_error_is_eps() -> None:
    X, y, _ = streams.linear(40, 5, noise=1.0, seed=5)
    learner = nr.make("pa", task="regression", scale_target=False, eps=0.3, native=False)
    for t, _, after, said in steps(learner, X, y, rounds=20):
        assert abs(y[t] - after @ X[t]) <= 0.3 + NEAR_ONE
        assert not said.updated[0] or abs(y[t] - after @ X[t]) == pytest.approx(0.3)


@pytest.mark.parametrize("name", ["pa", "pa1", "pa2"])
def test_two_classes_are_the_binary_task_with_twice_the_step(name: str) -> None:
    X, y = streams.dense(80, 5, seed=6)
    told: dict[str, Any] = {"native": False} if name == "pa" else {"native": False, "C": 0.1}
    double: dict[str, Any] = told if name == "pa" else {**told, "C": 0.2}
    two = nr.make(name, task="multiclass", classes=[-1, 1], **told).learn(X, y)
    one = nr.make(name, **double).learn(X, y)
    W = weights(two, 5)
    same(W[1] - W[0], weights(one, 5))


# ---- the gate -----------------------------------------------------------------------------------------------------


@engines
@every_variant
def test_gated_by_mistakes_only_those_rounds_move_it_and_by_the_same_step(
    name: str, told: dict[str, float], native: bool
) -> None:
    X, y = streams.dense(120, 5, seed=8)
    gated = nr.make(name, gate="mistake", native=native, **told)
    spared = moved = 0
    for t, before, after, said in steps(gated, X, y, rounds=60):
        m = float(y[t] * before @ X[t])
        assert said.updated[0] == (m <= 0.0)
        spared += int(0.0 < m < 1.0)
        moved += int(m <= 0.0)
        n = float(X[t] @ X[t])
        C = told.get("C", 0.0)
        tau = {"pa": (1.0 - m) / n, "pa1": min(C, (1.0 - m) / n), "pa2": (1.0 - m) / (n + 0.5 / max(C, 1e-9))}[name]
        np.testing.assert_allclose(after, before + (tau * y[t] * X[t] if m <= 0.0 else 0.0), atol=1e-12)
    assert spared > 3
    assert moved > 3


def test_a_zero_score_moves_it_through_either_gate() -> None:
    for gate in ("loss", "mistake"):
        assert nr.make("pa1", gate=gate, native=False).play([[2.0, 0.0]], [1.0]).updated.tolist() == [True]


def test_the_loss_is_the_gate_unless_another_is_asked_for() -> None:
    X, y = streams.dense(80, 5, seed=9)
    plain, told = nr.make("pa1", native=False), nr.make("pa1", gate="loss", native=False)
    other = nr.make("pa1", gate="mistake", native=False)
    assert (plain.learn(X, y).scores(X) == told.learn(X, y).scores(X)).all()
    assert (plain.scores(X) != other.learn(X, y).scores(X)).any()


@only_in_test_all
@pytest.mark.compiles
def test_gates_are_compiled_into_loops_of_their_own() -> None:
    X, y = streams.dense(80, 5, seed=9)
    in_turn = [
        nr.make("pa2", gate=gate, algebra="sparse", native=True) for gate in ("loss", "mistake", "loss", "mistake")
    ]
    scores = [learner.learn(X, y).scores(X).tolist() for learner in in_turn]
    assert scores[0] == scores[2]
    assert scores[1] == scores[3]
    assert scores[0] != scores[1]
    for gate, found in zip(("loss", "mistake"), scores, strict=False):
        plain = nr.make("pa2", gate=gate, algebra="sparse").learn(X, y)
        np.testing.assert_allclose(found, plain.scores(X), rtol=1e-12)


def test_the_gate_is_part_of_what_is_saved_and_merged(tmp_path: Path) -> None:
    X, y = streams.dense(80, 5, seed=10)
    learner = nr.make("pa1", gate="mistake", native=False).learn(X[:40], y[:40])
    learner.save(tmp_path / "gated.nr")
    again = nr.load(tmp_path / "gated.nr").learn(X[40:], y[40:])
    np.testing.assert_allclose(again.scores(X), learner.learn(X[40:], y[40:]).scores(X), rtol=1e-12)
    with pytest.raises(nr.BadValue, match="the same parameters"):
        learner.merge(nr.make("pa1", native=False).learn(X, y))


@pytest.mark.parametrize("name", ["pa", "pa1", "pa2"])
def test_a_gate_of_mistakes_plays_no_regression(name: str) -> None:
    assert set(nr.learners()[name].tasks) >= {"binary", "multiclass", "regression"}
    with pytest.raises(nr.BadValue, match=f"{name} cannot play regression with gate='mistake'"):
        nr.make(name, task="regression", gate="mistake")
    with pytest.raises(nr.BadValue, match=f"{name}: gate must be one of loss, mistake, not 'mistakes'; did you mean"):
        nr.make(name, gate="mistakes")


@seeds(3)
def test_gated_by_mistakes_the_bounds_hold_over_the_rounds_that_moved(seed: int) -> None:
    X, y, u = streams.separable(400, 6, 0.1, seed)
    radius, size = float(np.linalg.norm(X, axis=1).max()), 1.0 / float((y * (X @ u)).min())
    learner = nr.make("pa", gate="mistake", native=False)
    said = learner.play(X, y)
    assert 0.0 < np.sum(said.losses[said.updated] ** 2) <= bound_of(learner, radius=radius, norm=size)
    noisy = streams.flip(y, 0.1, seed)
    for C in (0.01, 0.3, 10.0):
        one, two = (nr.make(name, C=C, gate="mistake", native=False) for name in ("pa1", "pa2"))
        mistakes = one.play(X, noisy).mistakes.sum()
        said = two.play(X, noisy)
        suffered = np.sum(said.losses[said.updated] ** 2)
        for v in comparators(X, noisy, seed):
            short = hinge(v, X, noisy)
            beside = {"radius": radius, "norm": float(np.linalg.norm(v))}
            assert mistakes <= bound_of(one, comparator_loss=float(short.sum()), **beside)
            charged = float(np.sum(short[said.updated] ** 2))
            assert suffered <= bound_of(two, comparator_squares=charged, **beside)


# ---- the theorems -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("margin", [0.05, 0.3])
@seeds(5)
def test_squared_losses_sum_to_at_most_radius_times_size_squared(seed: int, margin: float) -> None:
    X, y, u = streams.separable(500, 6, margin, seed)
    learner = nr.make("pa", native=False)
    transcript = learner.play(X, y)
    most = bound_of(learner, radius=radius_of(X), norm=1.0 / float((y * (X @ u)).min()))
    assert 0.0 < np.sum(transcript.losses**2) <= most
    assert transcript.mistakes.sum() <= most


@pytest.mark.parametrize("C", [0.01, 0.3, 10.0])
@seeds(3)
def test_pa1_makes_few_mistakes_beside_any_comparator(seed: int, C: float) -> None:
    X, y, _ = streams.separable(300, 6, 0.1, seed)
    y = streams.flip(y, 0.1, seed)
    learner = nr.make("pa1", C=C, native=False)
    mistakes = learner.play(X, y).mistakes.sum()
    for u in comparators(X, y, seed):
        lost = float(hinge(u, X, y).sum())
        assert mistakes <= bound_of(learner, radius=radius_of(X), norm=float(np.linalg.norm(u)), comparator_loss=lost)


@pytest.mark.parametrize("C", [0.01, 0.3, 10.0])
@seeds(3)
def test_pa2_suffers_little_beside_any_comparator(seed: int, C: float) -> None:
    X, y, _ = streams.separable(300, 6, 0.1, seed)
    y = streams.flip(y, 0.1, seed)
    learner = nr.make("pa2", C=C, native=False)
    suffered = np.sum(learner.play(X, y).losses ** 2)
    for u in comparators(X, y, seed):
        beside = {"radius": radius_of(X), "norm": float(np.linalg.norm(u))}
        assert suffered <= bound_of(learner, comparator_squares=float(np.sum(hinge(u, X, y) ** 2)), **beside)


@pytest.mark.parametrize("gate", ["loss", "mistake"])
@seeds(3)
def test_at_a_C_that_follows_the_rows_both_keep_their_bounds(seed: int, gate: str) -> None:
    """The rows are of many lengths, so that C moves; the sums of the proofs hold for it round by round."""
    X, y, _ = streams.separable(300, 6, 0.1, seed)
    X, y = X * np.random.default_rng(seed).lognormal(sigma=0.4, size=(300, 1)), streams.flip(y, 0.1, seed)
    sizes, told = np.linalg.norm(X, axis=1), {"gate": gate, "native": False}
    one, two = nr.make("pa1", **told), nr.make("pa2", **told)
    known = {"radius": float(sizes.max()), "least_radius": float(sizes.min())}
    mistakes, said = one.play(X, y).mistakes.sum(), two.play(X, y)
    suffered = float(np.sum(said.losses[said.updated] ** 2))
    counted = sizes[y * said.scores < 1.0]
    assert float(two.model.arrays.n.row_size) == pytest.approx(np.exp(np.log(counted**2).mean()))
    for u in comparators(X, y, seed):
        beside, short = {**known, "norm": float(np.linalg.norm(u))}, hinge(u, X, y)
        assert mistakes <= bound_of(one, comparator_loss=float(short.sum()), **beside)
        charged = float(np.sum(short[said.updated] ** 2))
        assert suffered <= bound_of(two, comparator_squares=charged, **beside)


@pytest.mark.parametrize("name", ["pa1", "pa2"])
def test_the_sum_of_the_proof_is_at_most_what_it_says(name: str) -> None:
    """Sum of tau (2 l - tau |x|^2) <= |u|^2 + 2 sum of C_t l*_t (PA-I), of l^2 / (|x|^2 + 1/(2 C_t)) with l*^2 (PA-II).

    Importance weights, which scale C_t, are part of it.
    """
    X, y, _ = streams.separable(300, 6, 0.1, 3)
    X, y = X * np.random.default_rng(3).lognormal(sigma=0.6, size=(300, 1)), streams.flip(y, 0.1, 3)
    h, squares = np.random.default_rng(4).uniform(0.2, 3.0, 300), (X**2).sum(axis=1)
    said = nr.make(name, native=False).play(X, y, weight=h)
    lost = said.losses
    logs = np.cumsum(np.where(lost > 0.0, np.log(squares), 0.0)) / np.maximum(np.cumsum(lost > 0.0), 1)
    C = h * {"pa1": 1.0, "pa2": 0.5}[name] / np.exp(logs)
    if name == "pa1":
        tau = np.minimum(C, lost / squares)
        left, power = tau * (2.0 * lost - tau * squares), 1
    else:
        left, power = lost**2 / (squares + 0.5 / C), 2
    for u in comparators(X, y):
        charged = 2.0 * C * hinge(u, X, y) ** power
        assert left.sum() <= u @ u + charged[lost > 0.0].sum() + 1e-9


# ---- the same weights as scikit-learn -----------------------------------------------------------------------------


@pytest.mark.parametrize("data", ["breast_cancer", "digits"])
@pytest.mark.parametrize("name", ["pa1", "pa2"])
def test_has_the_weights_of_scikit_learn(name: str, data: str) -> None:
    X, y = two_classes(data)
    C = 1e-7 if data == "breast_cancer" else 1e-4  # small enough to be felt
    oracle = sklearn.SGDClassifier(loss="hinge", penalty=None, learning_rate=name, eta0=C, **ONE_PASS).fit(X, y)
    same(weights(nr.make(name, C=C).learn(X, y), X.shape[1]), oracle.coef_[0])


def test_regression_has_the_weights_of_scikit_learn() -> None:
    X, y = datasets.load_diabetes(return_X_y=True)
    oracle = sklearn.SGDRegressor(
        loss="epsilon_insensitive", penalty=None, learning_rate="pa1", eta0=2.0, epsilon=0.5, **ONE_PASS
    ).fit(X, y)
    learner = nr.make("pa1", task="regression", scale_target=False, C=2.0, eps=0.5).learn(X, y)
    same(weights(learner, X.shape[1]), oracle.coef_)


def test_a_row_so_short_that_no_step_reaches_margin_one_moves_nothing() -> None:
    for x, moves in ((1e-74, True), (1e-76, False)):
        learner = nr.make("pa", native=False)
        assert learner.play(np.array([[x]]), [1]).updated.tolist() == [moves]
        assert (learner.scores(np.array([[x]]))[0] > 0.0) == moves
