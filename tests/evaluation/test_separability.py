"""Separators and certificates that there are none, checked here by sums of their own and by linear programs."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from scipy.sparse import csr_matrix

from noregret.evaluation import separability
from noregret.evaluation.enclosure import encloses_zero
from noregret.evaluation.exact_arithmetic import (
    exact_dot,
    find_zero_combination,
    is_zero_combination,
    norm_above,
    solve_exactly,
)
from noregret.evaluation.hindsight import Rounds
from noregret.evaluation.hinge_sum import approach_hinge_sum, find_hinge_sum, hinge_losses, trace_comparators
from noregret.evaluation.min_norm_point import find_nearest_point
from noregret.evaluation.separability import Examples, Separability, find_separator, sign_examples, smallest_margin


def examples(Z: object) -> Examples:
    matrix = csr_matrix(np.asarray(Z, float))
    return Examples(matrix, np.arange(matrix.shape[0]), matrix.shape[0])


def separable_by_program(Z: np.ndarray) -> bool:
    """Whether z.w >= 1 for all z has a solution."""
    free = [(None, None)] * Z.shape[1]
    return bool(linprog(np.zeros(Z.shape[1]), A_ub=-Z, b_ub=-np.ones(len(Z)), bounds=free).status == 0)


def half_square(w: Any) -> float:
    return float(w @ w) / 2.0


def check_certificate(Z: np.ndarray, found: Separability) -> None:
    """What is claimed holds in rational arithmetic."""
    total = [Fraction(0)] * Z.shape[1]
    assert all(part > 0 for part in found.parts)
    assert sum(found.parts) == 1
    for row, part in zip(found.rows.tolist(), found.parts, strict=True):
        total = [one + part * Fraction(float(value)) for one, value in zip(total, Z[row], strict=True)]
    square = sum(one * one for one in total)
    assert square <= Fraction(found.margin_limit) ** 2
    if found.separable:
        assert found.weights is not None
        norm = Fraction(float(np.linalg.norm(found.weights)) * (1.0 + 1e-12))
        for z in Z:
            product = sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(z, found.weights, strict=True))
            assert product >= Fraction(found.margin) * norm * (1 - Fraction(1, 10**10)) > 0


@pytest.mark.parametrize("seed", range(24))
def test_rows_are_separable_where_a_linear_program_says_so(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(rng.integers(1, 30), rng.integers(1, 7)))
    Z = np.round(2 * Z) if seed % 2 else Z * 10.0 ** rng.integers(-4, 5, Z.shape[1])
    found = find_separator(examples(Z))
    assert found.separable is separable_by_program(Z)
    check_certificate(Z, found)
    assert found.exact or found.separable
    assert found.gap < 1e-6


@pytest.mark.parametrize("seed", [125, 201, 417, 1114, *range(8)])
def test_whole_numbers_always_have_an_exact_proof(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Z = rng.integers(-1, 2, size=(int(rng.integers(1, 40)), int(rng.integers(1, 9)))).astype(float)
    found = find_separator(examples(Z))
    assert found.separable or found.exact
    check_certificate(Z, found)


def test_the_margin_is_the_largest_one() -> None:
    rng = np.random.default_rng(7)
    Z = rng.normal(size=(40, 3)) + np.array([2.0, 0.0, 0.0])
    Z = Z[Z @ [1.0, 0.2, -0.1] > 0.2]
    found = find_separator(examples(Z))
    limits: Any = [{"type": "ineq", "fun": lambda w: Z @ w - 1.0}]
    start: Any = np.array([10.0, 0.0, 0.0])
    best: Any = minimize(half_square, start, constraints=limits, method="SLSQP")
    assert found.margin == pytest.approx(1.0 / np.linalg.norm(best.x), rel=1e-6)
    assert found.margin <= found.margin_limit <= found.margin * (1.0 + 1e-8)


@pytest.mark.parametrize("Z", [[[1, 2], [3, 1], [-1, -2]], [[0, 2], [5, 1], [0, -2]]])
def test_equal_rows_with_different_labels_are_the_proof(Z: list[list[float]]) -> None:
    found = find_separator(examples(Z))
    assert (found.separable, found.exact, found.rows.tolist()) == (False, True, [0, 2])
    check_certificate(np.array(Z, float), found)


def test_a_row_of_zeros_is_never_separated() -> None:
    found = find_separator(examples([[1.0, 0.0], [0.0, 0.0]]))
    assert (found.separable, found.exact, found.rows.tolist()) == (False, True, [1])


def test_a_row_that_is_all_but_zero_is_not_taken_for_zero() -> None:
    for Z in ([[1e-100, 0.0]], [[1e-100, 1e100], [1e-100, -1e100]], [[1e100, 1.0], [1.0, 1e-100]]):
        found = find_separator(examples(Z))
        assert found.separable is not False
        check_certificate(np.array(Z), found)


def test_margins_far_below_rounding_are_told_from_none() -> None:
    tiny = 2.0**-40
    assert find_separator(examples([[1.0, tiny], [-1.0, tiny]])).separable is not False
    assert find_separator(examples([[1.0, tiny], [-1.0, -tiny]])).separable is False


def test_rounding_does_not_make_a_separator() -> None:
    Z = csr_matrix([[1e16, 1.0, -1e16]])
    assert smallest_margin(Z, np.array([1.0, -1.0, 1.0]))[0] < 0.0
    assert smallest_margin(Z, np.array([1.0, 1.0, 1.0]))[0] > 0.0
    assert smallest_margin(Z, np.zeros(3))[0] == 0.0


def test_a_row_that_needs_no_weight_leaves_again() -> None:
    rng = np.random.default_rng(6219)
    n, d = int(rng.integers(1, 60)), int(rng.integers(1, 12))
    Z = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-20, 21, (n, 1))
    found = find_separator(examples(Z))
    assert found.separable is separable_by_program(Z / np.linalg.norm(Z, axis=1, keepdims=True))
    check_certificate(Z, found)


def test_the_nearest_point_of_a_hull() -> None:
    Z = csr_matrix([[1.0, 1.0], [1.0, -1.0], [3.0, 0.0]])
    nearest = find_nearest_point(Z)
    assert nearest.point == pytest.approx([1.0, 0.0])
    assert dict(zip(nearest.rows.tolist(), nearest.weights.tolist(), strict=True)) == pytest.approx({0: 0.5, 1: 0.5})


def test_exact_arithmetic_accepts_nothing_but_zero() -> None:
    Z = csr_matrix([[0.1, 0.2], [-0.1, -0.2], [1.0, 0.0]])
    assert find_zero_combination(Z, [0, 1]) == [Fraction(1, 2), Fraction(1, 2)]
    assert find_zero_combination(Z, [0, 2]) is None
    assert find_zero_combination(csr_matrix([[3.0], [-1.0]]), [0, 1]) == [Fraction(1, 4), Fraction(3, 4)]
    assert find_zero_combination(csr_matrix([[0.3], [-(0.1 + 0.2)]]), [0, 1]) not in (None, [Fraction(1, 2)] * 2)
    assert not is_zero_combination(Z, [], [])
    assert not is_zero_combination(Z, [0, 1], [Fraction(-1), Fraction(-1)])
    assert norm_above({0: Fraction(3), 1: Fraction(4)}) == pytest.approx(5.0)
    assert 0.0 < norm_above({0: Fraction(2.0**-800)}) < 2.0**-799
    assert solve_exactly(np.array([[1.0, 2.0], [2.0, 4.0]]), [Fraction(1), Fraction(2)]) is None
    assert solve_exactly(np.array([[0.0, 2.0], [1.0, 1.0]]), [Fraction(1), Fraction(2)]) == [
        Fraction(3, 2),
        Fraction(1, 2),
    ]


@pytest.mark.parametrize("classes", [2, 3])
def test_the_hinge_sum_is_the_smallest_one(classes: int) -> None:
    rng = np.random.default_rng(classes)
    X, codes = rng.normal(size=(25, 3)), rng.integers(0, classes, 25)
    signs = np.array([-1.0, 1.0]) if classes == 2 else None
    signed = sign_examples(csr_matrix(X), codes, signs, classes)
    found = find_hinge_sum(signed)
    assert found is not None
    Z = signed.Z.toarray()
    width, slack = Z.shape[1], np.zeros((len(Z), 25))
    slack[np.arange(len(Z)), signed.round_of] = -1.0
    whole = linprog(
        np.r_[np.zeros(width), np.ones(25)], A_ub=np.c_[-Z, slack], b_ub=-np.ones(len(Z)),
        bounds=[(None, None)] * width + [(0.0, None)] * 25,
    )  # fmt: skip
    assert found.total == pytest.approx(whole.fun, rel=1e-7)
    assert found.limit <= found.total <= found.limit * (1.0 + 1e-7)
    assert found.gap < 1e-6
    assert hinge_losses(signed, found.weights).sum() == pytest.approx(found.total)
    assert found.wrong == sum(min(Z[signed.round_of == t] @ found.weights) <= 0.0 for t in range(25))
    kind = ("signs", codes * 2.0 - 1.0) if classes == 2 else ("codes", codes)
    rounds = Rounds(csr_matrix(X), kind[1], kind[0], classes)
    traced = [
        (float(np.linalg.norm(u)), np.maximum(0.0, 1.0 - rounds.margins(u)).sum()) for u in trace_comparators(rounds)
    ]
    assert traced[0][0] < traced[-1][0]
    assert min(loss for _, loss in traced) == pytest.approx(found.total, rel=0.01)
    near = approach_hinge_sum(rounds)
    assert near.limit <= found.total <= near.total <= found.total * (1.0 + 1e-4)
    assert near.total == pytest.approx(hinge_losses(signed, near.weights).sum())
    assert near.wrong == found.wrong
    assert abs(near.short - found.short) <= 3


def test_signed_examples_of_many_classes() -> None:
    X = csr_matrix([[1.0, 2.0], [3.0, 0.0]])
    signed = sign_examples(X, np.array([1, 0]), None, 3)
    assert signed.round_of.tolist() == [0, 0, 1, 1]
    assert signed.Z.toarray().tolist() == [
        [-1, -2, 1, 2, 0, 0],
        [0, 0, 1, 2, -1, -2],
        [3, 0, -3, 0, 0, 0],
        [3, 0, 0, 0, -3, 0],
    ]
    assert signed.radius == pytest.approx(np.sqrt(18.0))


@pytest.mark.parametrize("seed", range(4))
def test_weights_that_are_enclosed_are_those_of_exact_arithmetic(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Z = csr_matrix(rng.normal(size=(6, 5)))
    exactly = find_zero_combination(Z, range(6))
    assert encloses_zero(Z, range(6)) == (exactly is not None)
    shares = rng.random(6) + 0.1
    around = rng.normal(size=(6, 5))
    around[5] = -(shares[:5] @ around[:5]) / shares[5]  # now some weights are positive, if the last row did not round
    inside = csr_matrix(around * np.exp2(rng.integers(-40, 40, 5)))
    assert encloses_zero(inside, range(6)) == (find_zero_combination(inside, range(6)) is not None) is True


def test_nothing_is_enclosed_where_rows_are_not_in_general_position() -> None:
    Z = csr_matrix([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    assert not encloses_zero(Z, [0, 1, 2])  # the third weight is 0
    assert encloses_zero(csr_matrix([[1.0, 0.0], [-1.0, 0.5], [0.0, -1.0]]), [0, 1, 2])
    assert not encloses_zero(Z, [0, 1, 2, 2])
    assert not encloses_zero(csr_matrix([[1.0, 1.0], [1.0, 1.0], [-1.0, -1.0]]), [0, 1, 2])
    assert not encloses_zero(csr_matrix([[0.0], [0.0]]), [0, 1])


def test_many_rows_are_refuted_without_exact_arithmetic() -> None:
    rng = np.random.default_rng(3)
    found = find_separator(examples(rng.normal(size=(420, 130))))
    assert (found.separable, found.exact, found.enclosed) == (False, False, True)
    assert len(found.rows) == 131
    assert found.margin_limit < 1e-10


def test_rows_that_are_surely_on_the_wrong_side_need_no_exact_arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    Z = csr_matrix([[1.0, 1.0], [0.1, -0.1 - 1e-18], [-1.0, 0.5], [3.0, -3.0]])
    calls: list[int] = []

    def count(Z: Any, row: int, w: np.ndarray) -> Fraction:
        calls.append(row)
        return exact_dot(Z, row, w)

    monkeypatch.setattr(separability, "exact_dot", count)
    assert smallest_margin(Z, np.array([1.0, 1.0]))[0] < 0.0
    assert calls == []
    assert smallest_margin(Z[[0, 1, 3]], np.array([1.0, 1.0]))[0] <= 0.0
    assert len(calls) == 1  # the first of two that are 0
