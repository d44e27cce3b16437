"""Projectron and Projectron++ (Orabona, Keshet and Caputo 2009): project a mistake onto the span of the supports."""

import math
from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests import naive
from tests.learners.kernel_reading import (
    KERNELS,
    check_refused_call_is_undone,
    gram,
    make,
    restore,
    supports_of,
    twin_of,
)
from tests.learners.reading import bound_of, hinge, weights
from tests.naive import streams
from tests.naive.rules import Array
from tests.naive.tasks import Multiclass
from tests.support.cover import seeds

BOTH = ("projectron", "projectron_plus_plus")


def basis_of(learner: nr.RuleLearner) -> Array:
    """The coefficients of the basis functions, a row each."""
    basis = learner.model.arrays.basis
    size = int(basis.n[0])
    return np.where(np.arange(size) < basis.reach[:size, None], basis.m[:size, :size], 0.0)


def orthonormal(learner: nr.RuleLearner, kernel: str, d: int) -> float:
    """How far the inner products of the basis functions are from those of an orthonormal basis."""
    rows, _ = supports_of(learner, d)  # in the order they came, which is that of the basis as long as none went
    m = basis_of(learner)
    return float(np.abs(m @ gram(kernel, rows, rows) @ m.T - np.eye(len(m))).max(initial=0.0))


def test_three_rows_by_hand() -> None:
    """x2 is 3/5 x1 plus 4/5 of something new: within eta of x1 it adds -3/5 to its coefficient, otherwise it is new."""
    X, y = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]), [1, -1, -1]
    near, far = (make("projectron", "linear", eta=eta).learn(X, y) for eta in (0.81, 0.79))
    assert weights(near, 2).tolist() == pytest.approx([0.4, -1.0])  # x3 is 1 away from x1
    assert weights(far, 2).tolist() == pytest.approx([0.4, -0.8])
    assert [len(supports_of(one, 2)[1]) for one in (near, far)] == [2, 2]


def test_an_error_of_exactly_eta_is_allowed() -> None:
    learner = make("projectron", "linear", eta=0.5).learn(np.array([[1.0, 0.0], [0.0, 0.5]]), [1, -1])
    assert learner.updates == 2
    assert weights(learner, 2).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("rows", "labels", "last", "moved"),
    [
        ([[4.0, 0.0]], [1], [0.1, 0.2], 0.1),  # all of the projection
        ([[4.0, 0.0]], [1], [0.1, 1.199], 0.01),  # 2 (0.6 - 1.199 / 2) / 0.01 of it
        ([[4.0, 0.0]], [1], [0.1, 1.201], None),  # the loss of 0.6 does not pay for it
        ([[4.0, 0.0], [3.9, 0.0]], [1, -1], [2.0, 0.1], 0.4),  # 0.8 / 4 of it: then the margin is 1
    ],
)
def test_a_margin_below_one_moves_within_the_span_by_hand(
    rows: list[list[float]], labels: list[int], last: list[float], moved: float | None
) -> None:
    learner = make("projectron_plus_plus", "linear", eta=2.0).learn(np.array(rows), labels)
    before = weights(learner, 2)
    updated = learner.play(np.array([last]), [1]).updated[0]
    assert updated == (moved is not None)
    assert (weights(learner, 2) - before).tolist() == pytest.approx([moved or 0.0, 0.0], rel=1e-9)
    assert len(supports_of(learner, 2)[1]) == 1


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize(("name", "eta", "budget"), [("projectron", 0.5, 7), ("projectron_plus_plus", 0.8, 9)])
def test_plays_as_its_twin_with_small_budgets(name: str, eta: float, budget: int, kernel: str) -> None:
    X, y = streams.dense(80, 5, seed=budget)
    found, twin = make(name, kernel, eta=eta, budget=budget), twin_of(name, kernel, eta=eta, budget=budget)
    transcript, (scores, updated) = found.play(X, y), twin.run(X, y)
    np.testing.assert_allclose(transcript.scores, scores, rtol=1e-8, atol=1e-9 * np.abs(scores).max())
    assert transcript.updated.tolist() == updated.tolist()
    assert len(supports_of(found, 5)[1]) == len(twin.rule.supports) <= budget


@seeds(4, usual=2)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_step_is_the_projection_that_least_squares_finds(kernel: str, seed: int) -> None:
    X, y = streams.dense(70, 3, seed=seed)
    learner = make("projectron", kernel, eta=0.4, budget=12)
    kinds = set()
    for t in range(len(y)):
        rows, alpha = supports_of(learner, 3)
        if not learner.play(X[t : t + 1], y[t : t + 1]).updated[0]:
            continue
        K, k = gram(kernel, rows, rows), gram(kernel, rows, X[t : t + 1])[:, 0]
        d = np.linalg.lstsq(K, k, rcond=None)[0] if len(rows) else k
        error = math.sqrt(max(0.0, KERNELS[kernel](X[t], X[t]) - float(k @ d)))
        after, coefficients = supports_of(learner, 3)
        if error <= 0.4 or len(rows) == 12:
            assert len(after) == len(rows)
            np.testing.assert_allclose(coefficients, alpha + y[t] * d, rtol=1e-8, atol=1e-8)
            kinds.add("near" if error <= 0.4 else "full")
        else:
            np.testing.assert_allclose(coefficients, [*alpha, y[t]], rtol=1e-12)
            assert np.array_equal(after[-1], X[t])
            kinds.add("new")
        assert orthonormal(learner, kernel, 3) < 1e-9
    assert kinds >= ({"near", "new"} if kernel == "linear" else {"near", "new", "full"})


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("kernel", list(KERNELS))
def test_without_an_error_to_allow_it_is_the_kernel_perceptron(name: str, kernel: str) -> None:
    X, y = streams.dense(60, 5, seed=1)
    X[40:] = X[:20]
    found, plain = make(name, kernel, eta=0.0).play(X, y), make("perceptron", kernel).play(X, y)
    np.testing.assert_allclose(found.scores, plain.scores, rtol=1e-9, atol=1e-9 * np.abs(plain.scores).max())
    assert found.updated.tolist() == plain.updated.tolist()


@pytest.mark.parametrize("name", BOTH)
def test_rows_that_nearly_depend_on_the_supports_do_not_blow_up_the_basis(name: str) -> None:
    """Rows on a short line: the smooth functions of so few dimensions soon leave nothing that digits can tell apart."""
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.uniform(-1.0, 1.0, size=150), np.zeros(150)])
    X[50:100] = X[:50] + 1e-9 * rng.normal(size=(50, 2))
    y = rng.choice([-1.0, 1.0], size=150)
    learner = make(name, "rbf", eta=0.0 if name == "projectron" else 1e-6, budget=100)
    learner.learn(X, y)
    assert len(supports_of(learner, 2)[1]) < 30
    assert np.abs(basis_of(learner)).max() <= 1.001e4
    assert orthonormal(learner, "rbf", 2) < 1e-5
    assert np.isfinite(learner.scores(X)).all()


def test_rows_of_different_sizes_do_not_depend_on_each_other() -> None:
    X = np.diag([1e-6, 1.0, 1e3]) + 1e-6
    learner = make("projectron", "linear", eta=0.0).learn(X, [1, -1, -1])
    assert len(supports_of(learner, 3)[1]) == learner.updates


@seeds(3)
@pytest.mark.parametrize("name", BOTH)
def test_mistakes_are_within_the_bound_where_the_budget_lasts(name: str, seed: int) -> None:
    X, y, u = streams.separable(150, 6, margin=0.3, seed=seed)
    y = streams.flip(y, 0.05, seed=seed)
    for eta in (0.0, 0.05, 0.12):
        learner = make(name, "linear", eta=eta).learn(X, y)
        for size in (0.5, 2.0, 1.0 / 0.3):
            told = {"radius": 1.0, "norm": size, "comparator_loss": float(hinge(size * u, X, y).sum())}
            assert (learner.mistakes if name == BOTH[1] else learner.updates) <= bound_of(learner, **told)


def test_a_comparator_that_is_too_long_for_eta_has_no_bound() -> None:
    card = nr.learners()["projectron"]
    assert card.bound({"eta": 0.25}, radius=1.0, norm=1.0, comparator_loss=0.0) == 2.0
    assert card.bound({"eta": 0.25}, radius=1.0, norm=2.0, comparator_loss=0.0) == math.inf


@pytest.mark.parametrize(("name", "eta"), [("projectron", 0.5), ("projectron_plus_plus", 2.0)])
def test_plays_many_classes_as_its_twin(name: str, eta: float) -> None:
    X, y, _ = streams.blobs(60, 3, 4, spread=1.0, seed=3)
    X *= 3.0
    learner = make(name, "polynomial", eta=eta, budget=12, task="multiclass", classes=range(4))
    rule: Any = naive.with_kernel(naive.rule(name, eta=eta, budget=12), KERNELS["polynomial"])
    twin = Multiclass(rule, 4, fixed=True)
    transcript, (scores, updated) = learner.play(X, y), twin.run(X, y)
    np.testing.assert_allclose(transcript.scores, scores, rtol=1e-8, atol=1e-9 * np.abs(scores).max())
    assert transcript.updated.tolist() == updated.tolist()
    assert int(learner.model.bank.n[0]) == len(rule.supports)


def test_a_call_that_is_refused_leaves_no_trace() -> None:
    X, y = streams.dense(60, 6, seed=4)
    check_refused_call_is_undone(make("projectron", "linear", eta=0.3, budget=4), X, y)


def test_a_basis_in_a_file_that_does_not_fit_is_refused() -> None:
    X, y = streams.dense(40, 4, seed=5)
    learner = make("projectron").learn(X, y)
    size = len(supports_of(learner, 4)[1])
    for name, wrong, words in (
        ("m", np.zeros((size - 1, size - 1)), "state.basis.m has type"),
        ("reach", np.full(size, size + 1), "state.basis.reach has a row that is longer"),
        ("squares", np.full(size, np.nan), "state.basis.squares has numbers that are not finite"),
    ):
        with pytest.raises(nr.BadValue, match=words):
            restore(learner, **{f"state.basis.{name}": wrong})


def test_projections_need_a_kernel_that_defines_distances() -> None:
    for name in (*BOTH, "budgeted_pa"):
        with pytest.raises(nr.BadValue, match=f"{name} measures distances, which the sigmoid kernel does not define"):
            nr.make(name, kernel="sigmoid")
