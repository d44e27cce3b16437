"""Parameters that follow the size of the rows: rows of any scale are learned alike, and theorems hold."""

import itertools
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import noregret as nr
from noregret.learners.gradient import following_regret
from noregret.rules.row_size import follows_rows, pool_sizes, unit_of_weights, with_size
from tests.learners.reading import after_each_round, bound_of, comparators, weights
from tests.naive import streams
from tests.naive.rules import Array

FOLLOW: dict[str, dict[str, Any]] = {
    "ogd": {},
    "fobos": {"lam": 0.0},
    "fobos_l2": {"lam": 0.0},
    "fobos_l2_squared": {"lam": 0.0},
    "truncated_gradient": {"gravity": 0.0},
    "rounding": {},
    "gradient_batch": {},
    "mirror_descent": {},
    "nherd": {},
    "norma": {},
    "ofs": {"lam": 0.0},
    "pa1": {},
    "pa2": {},
    "pegasos": {},
    "perceptron_margin": {},
    "rda": {"lam": 0.0},
    "rda_enhanced": {"lam": 0.0},
    "rda_strongly_convex": {"lam": 0.0},
    "group_lasso": {"lam": 0.0},
}
"""Learners whose default follows the rows, without the penalties that do not."""


def noisy(seed: int = 0) -> tuple[Array, Array]:
    X, y = streams.sparse(60, 8, density=0.4, seed=seed)
    return X, streams.flip(y, 0.1, seed)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", FOLLOW)
@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_rows_a_million_times_longer_or_shorter_are_learned_alike(name: str, task: str) -> None:
    X, y = noisy()
    labels = y if task == "binary" else (y > 0) + 2 * (X[:, 0] > 0)
    told = {**FOLLOW[name], "task": task, "algebra": "sparse", "native": False}
    usual = nr.make(name, **told).play(X, labels)
    for scale in (2.0**-20, 2.0**20):
        scaled = nr.make(name, **told).play(scale * X, labels)
        assert scaled.predictions.tolist() == usual.predictions.tolist()
        assert scaled.updated.tolist() == usual.updated.tolist()


PENALISED: dict[str, tuple[dict[str, float], Callable[[Array], Array]]] = {
    "ogd": ({}, lambda w: 0.0 * w[..., 0]),
    "rounding": ({"theta": 0.01, "K": 5.0}, lambda w: 0.0 * w[..., 0]),
    "fobos": ({"lam": 0.05}, lambda w: 0.05 * np.abs(w).sum(axis=-1)),
    "fobos_l2_squared": ({"lam": 0.05}, lambda w: 0.025 * (w**2).sum(axis=-1)),
}
"""What learners with a theorem for this rate are told, and their penalty."""


@pytest.mark.parametrize(("name", "loss"), [*((name, "hinge") for name in PENALISED), ("ogd", "logistic")])
def test_the_regret_at_a_rate_that_follows_the_rows_keeps_its_bound(name: str, loss: str) -> None:
    told, penalty = PENALISED[name]
    X, y = noisy(1)
    X = (X + 0.1) * np.random.default_rng(1).lognormal(size=(len(X), 1))
    sizes = np.linalg.norm(X, axis=1)
    learner = nr.make(name, loss=loss, native=False, **told)
    path = np.vstack([np.zeros(X.shape[1]), after_each_round(learner.copy(), X, y)[:-1]])
    ours = learner.play(X, y).losses.sum() + penalty(path).sum()
    known = {"radius": sizes.max(), "least_radius": sizes.min(), "rounds": float(len(X))}
    known["largest_gradient"] = sizes.max()
    for u in comparators(X, y):
        margins = y * (X @ u)
        losses = np.maximum(0.0, 1.0 - margins) if loss == "hinge" else np.logaddexp(0.0, -margins)
        far = float(np.linalg.norm(path - u, axis=1).max())
        theirs = losses.sum() + len(X) * float(penalty(u))
        bound = bound_of(learner, distance=far, norm_1=float(np.abs(u).sum()), **known)
        assert ours - theirs <= bound < np.inf


def test_rates_that_follow_the_rows_are_those_of_the_proof() -> None:
    """Both sums of the proof are within their part of the bound: of the growth of 1 / rate, and of rate times |x|^2.

    The first rows are long or short, as the bound must hold where the size falls or grows.
    """
    rng = np.random.default_rng(5)
    rounds = np.arange(1.0, 5001.0)
    p = nr.learners().rules["ogd"].in_force({})[0]
    for sigma, first in itertools.product((0.1, 1.0, 3.0), (0.01, 1.0, 100.0)):
        squares = rng.lognormal(sigma=sigma, size=5000) ** 2 * np.where(rounds <= 50.0, first, 1.0)
        sizes = np.exp(np.cumsum(np.log(squares)) / rounds)
        rates = np.minimum(2.0, 32.0 / np.sqrt(rounds)) / sizes
        radius, least = float(np.sqrt(squares.max())), float(np.sqrt(squares.min()))
        growth = 1.0 / rates[0] + np.maximum(np.diff(1.0 / rates), 0.0).sum()
        apart = following_regret(p, 0.0, radius, least, 5000.0)
        assert (rates * squares).sum() <= 2.0 * apart
        assert growth <= 2.0 * (following_regret(p, 1.0, radius, least, 5000.0) - apart) + 1e-9 * apart
        learner = nr.make("ogd", native=False, loss="perceptron", algebra="dense").learn(
            np.sqrt(squares[:300, None]), [-1] * 300
        )
        assert float(learner.model.arrays.n.row_size) == pytest.approx(sizes[299])


@pytest.mark.parametrize("name", FOLLOW)
def test_a_rate_of_its_own_is_used_as_it_is(name: str) -> None:
    """Numbers above 0 are those of the textbook: rows of another scale are other rows."""
    number = next(
        n for n, p in nr.learners().rules[name].numbers.items() if p.default == 0.0 and "stands for" in p.about
    )
    X, y = noisy(2)
    told = {**FOLLOW[name], number: 0.5, "native": False, "algebra": "sparse"}
    scores = nr.make(name, **told).play(X, y).scores
    assert not np.allclose(nr.make(name, **told).play(1024.0 * X, y).scores, scores)


@pytest.mark.parametrize("eta", [0.5, 1.0, 3.0])
def test_updates_below_a_margin_that_follows_the_rows_are_few(eta: float) -> None:
    X, y, _ = streams.separable(100, 4, 0.2, 3)
    learner = nr.make("perceptron_margin", eta=eta, native=False)
    for _ in range(20):
        learner.learn(X, y)
    radius = float(np.linalg.norm(X, axis=1).max())
    bound = learner.card.bound(learner.params, radius=radius, margin=0.2)
    assert bound == pytest.approx((1.0 + 2.0 / eta) * (radius / 0.2) ** 2)
    assert 0 < learner.updates <= bound


def test_rows_of_zeros_at_the_start_leave_a_finite_rate() -> None:
    for name, told in FOLLOW.items():
        learner = nr.make(name, native=False, **told)
        learner.learn(np.zeros((3, 2)), [1, -1, 1]).learn(np.array([[1e-9, 0.0], [0.0, 1e9]]), [1, -1])
        assert np.isfinite(learner.scores(np.eye(2))).all()


def test_the_margin_that_follows_the_rows_by_hand() -> None:
    """The sizes are 16, 8, 8 (a row of zeros does not count), 5.04, 2.83 and 2.30."""
    learner = nr.make("perceptron_margin", native=False, algebra="dense")
    X = np.array([[4.0, 0.0], [0.0, 2.0], [0.0, 0.0], [1.0, 1.0], [0.5, 0.5], [0.0, 1.0]])
    played = learner.play(X, [1, 1, 1, 1, 1, 1])
    assert played.scores.tolist() == [0.0, 0.0, 0.0, 6.0, 3.0, 2.0]
    assert played.updated.tolist() == [True, True, False, False, False, True]
    assert float(learner.model.arrays.n.row_size) == pytest.approx((16.0 * 4.0 * 2.0 * 0.5) ** 0.2)


def test_a_rate_above_one_over_lam_forgets_all_and_turns_nothing_around() -> None:
    """Of rows of the length 1/10 the rate is 100, and lam times it 10; then |w| is cut to 1 / sqrt(lam)."""
    learner = nr.make("ofs", lam=0.1, native=False, algebra="dense")
    played = learner.play(np.array([[0.1, 0.0], [0.1, 0.0], [0.1, 0.0]]), [1, 1, 1])
    assert played.scores.tolist() == pytest.approx([0.0, 0.1 / math.sqrt(0.1), 0.1 / math.sqrt(0.1)])


def test_merged_learners_have_seen_the_rows_of_both() -> None:
    X, y = noisy(3)
    whole = nr.make("rda", native=False, algebra="dense").learn(X, y)
    a, b = nr.make("rda", native=False, algebra="dense"), nr.make("rda", native=False, algebra="dense")
    merged = a.learn(X[:50], y[:50]).merge(b.learn(X[50:] * 3.0, y[50:]))
    state = merged.model.arrays.n
    squares = np.concatenate([(X[:50] ** 2).sum(axis=1), 9.0 * (X[50:] ** 2).sum(axis=1)])
    counted = squares[squares > 0.0]
    assert float(state.rows) == len(counted) <= whole.rounds
    assert float(state.row_logs) == pytest.approx(np.log(counted).sum())
    assert float(state.row_size) == pytest.approx(np.exp(np.log(counted).mean()))


def earlier_size(learner: Any, X: Array) -> None:
    """Make a learner one of an earlier version, which counted the rows X by the largest mean of |x|^2."""
    squares, n = (X**2).sum(axis=1), learner.model.arrays.n
    means = np.cumsum(squares) / np.arange(1.0, len(squares) + 1.0)
    n.rows, n.row_squares, n.row_logs, n.row_size = len(squares), squares.sum(), 0.0, means.max()


@pytest.mark.parametrize("name", ["ogd", "perceptron_margin"])
def test_a_model_of_an_earlier_version_goes_on_by_the_largest_mean(name: str) -> None:
    """So far the largest mean is 5, that of the first two rows; with the next row, |x|^2 = 9, the mean stays below."""
    X = np.array([[1.0, 0.0], [3.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    learner = nr.make(name, native=False, algebra="dense").learn(X, [1, 1, 1, 1])
    earlier_size(learner, X)
    n, before = learner.model.arrays.n, learner.scores(np.eye(2))[1]
    learner.learn([[0.0, 3.0]], [1])
    assert float(n.row_size) == 5.0
    assert (float(n.rows), float(n.row_squares), float(n.row_logs)) == (5.0, 21.0, 0.0)
    step = 1.0 / 5.0 if name == "ogd" else 1.0
    assert learner.scores(np.eye(2))[1] - before == pytest.approx(3.0 * step)


THEOREMS: list[tuple[str, dict[str, float], int]] = [
    ("eg", {"eta": 0.1}, 1),
    ("eg", {"eta": 0.0}, 0),
    ("eg_signed", {"eta": 0.1, "U": 1.0}, 1),
    ("eg_signed", {"eta": 0.0, "U": 1.0}, 0),
    ("eg_signed", {"eta": 0.1, "U": 0.0}, 0),
    ("gradient_batch", {"eta": 0.1}, 1),
    ("gradient_batch", {"eta": 0.0}, 0),
    ("nherd", {"C": 1.0}, 1),
    ("nherd", {"C": 0.0}, 0),
    ("pegasos", {"lam": 0.1}, 1),
    ("pegasos", {"lam": 0.0}, 0),
    ("rda_strongly_convex", {"s": 1.0}, 1),
    ("rda_strongly_convex", {"s": 0.0}, 0),
    ("rda", {"gamma": 1.0}, 1),
    ("rda", {"gamma": 0.0}, 0),
    ("sgd_bottou", {"eta0": 0.3}, 1),
    ("sgd_bottou", {"eta0": 0.0}, 0),
    ("ogd", {"eta0": 0.3}, 1),
    ("ogd", {"eta0": 0.0}, 1),
    ("pa1", {"C": 1.0}, 1),
    ("pa1", {"C": 0.0}, 1),
    ("pa2", {"C": 1.0}, 1),
]


def test_a_theorem_for_a_given_parameter_does_not_speak_of_one_that_follows_the_rows() -> None:
    for name, told, theorems in THEOREMS:
        assert (name, told, len(nr.learners()[name].guarantees_for(told))) == (name, told, theorems)


def test_a_rate_that_falls_with_the_steps_follows_the_rows_until_it_is_the_smaller() -> None:
    y = [1, -1] * 20
    learner = nr.make("ogd", schedule="inv_mistakes", loss="hinge", bias=False, native=False).learn(np.ones((40, 1)), y)
    by_hand = sum(label * min(2.0, 32.0 / step) for step, label in enumerate(y, 1))
    assert learner.updates == 40
    assert learner.scores([[1.0]])[0] == pytest.approx(by_hand, rel=1e-12)


def test_rows_of_equal_values_give_eg_no_bound_on_squared_errors() -> None:
    learner = nr.make("eg", loss="squared", eta=0.1)
    bounds = [bound_of(learner, divergence=1.0, row_range=wide, comparator_squared_errors=1.0) for wide in (0.0, 1.0)]
    assert np.isfinite(bounds).tolist() == [False, True]


class Told(NamedTuple):
    """Parameters of which the second follows the rows."""

    C: float
    eta: float


setattr(Told, "size_places", ((1, 8.0),))  # noqa: B010, as cards do


@pytest.mark.parametrize("eta", [0.25, 1.0])
def test_a_parameter_follows_the_rows_only_where_it_is_0(eta: float) -> None:
    assert follows_rows(Told(0.0, 0.0))
    assert not follows_rows(Told(0.0, eta))
    assert with_size(Told(0.0, 0.0), 4.0) == Told(0.0, 2.0)
    assert with_size(Told(0.0, eta), 4.0) == Told(0.0, eta)


def sizes(**numbers: float) -> Any:
    return SimpleNamespace(**{"rows": 0.0, "row_logs": 0.0, "row_squares": 0.0, "row_size": 0.0, **numbers})


@pytest.mark.parametrize(("counted", "unit"), [
    ({}, 1.0), ({"row_size": 0.25}, 2.0), ({"row_size": 16.0}, 0.25),
    ({"row_size": 16.0, "row_squares": 0.5}, 1.0), ({"row_size": 16.0, "row_squares": 5.0}, 1.0),
])  # fmt: skip
def test_the_unit_of_weights_is_one_over_the_root_of_the_size(counted: dict[str, float], unit: float) -> None:
    """It is 1 before any row has a value, and in models of earlier versions."""
    assert unit_of_weights(SimpleNamespace(n=sizes(**counted))) == unit


def test_merged_sums_give_a_size_unless_there_are_no_rows_or_those_of_an_earlier_version() -> None:
    for counted, size in (
        ({"rows": 1.0}, 4.0),
        ({"rows": 2.0}, 2.0),
        ({}, 9.0),
        ({"rows": 1.0, "row_squares": 3.0}, 9.0),
    ):
        n = sizes(row_logs=math.log(4.0), row_size=9.0, **counted)
        pool_sizes(n)
        assert n.row_size == pytest.approx(size, rel=1e-15)


def test_rows_without_a_hinge_loss_do_not_count() -> None:
    """Also not those whose margin is 1 to the last bit."""
    learner = nr.make("pa1", native=False, algebra="dense").learn([[1.0, 0.0]], [1])
    assert learner.learn([[1.0, 0.0], [3.0, 0.0], [0.5, 0.0]], [1, 1, 1]).model.arrays.n.rows == 2.0
    assert learner.model.arrays.n.row_size == pytest.approx(0.5, rel=1e-15)


@pytest.mark.parametrize("features", [64, 65, 130, 200])
def test_rows_of_many_features_are_learned_feature_by_feature(features: int) -> None:
    """Loops over coordinates take 64 of them at a time; of equal features all weights are equal."""
    for name in ("adagrad", "rda"):
        learner = nr.make(name, native=False, bias=False).learn(np.ones((3, features)), [1, -1, 1])
        found = weights(learner, features)
        assert found.tolist() == [found[0]] * features
        assert found[0] > 0.0
        assert learner.scores(np.ones((1, features)))[0] == pytest.approx(features * found[0], rel=1e-12)
