"""What the factors of the rows so far say of missing entries, on factors that are worked by hand."""

import numpy as np
import pytest

from noregret.decomposition.factors import Factors, Limits
from noregret.decomposition.missing_entries import fill_missing, solve


def fill(noise: float, unit: float = 1.0) -> list[float]:
    """The row (1, missing) by the direction (3, 4) / 5; directions below a half of the largest are left out."""
    factors = Factors(Limits(1, 0.5), np.array([[0.6], [0.8]]), np.eye(1), np.array([unit]), np.zeros(1))
    factors.rows, factors.lost, factors.freedom = 1, noise, 1.0
    return [float(one) for one in fill_missing(factors, np.array([[unit, np.nan]]), np.array([[True, False]])).rows[0]]


@pytest.mark.parametrize("noise", [0.0, 0.2, 0.25])
def test_noise_that_is_no_larger_than_what_is_left_out_is_not_penalised(noise: float) -> None:
    assert fill(noise) == pytest.approx([1.0, 0.8 / 0.6])


@pytest.mark.parametrize("noise", [0.26, 0.3, 1.0])
def test_larger_noise_is_penalised(noise: float) -> None:
    """The smallest (1 - 0.6 z)^2 + noise z^2 is at 0.6 / (0.36 + noise)."""
    assert fill(noise) == pytest.approx([1.0, 0.8 * 0.6 / (0.36 + noise)])


@pytest.mark.parametrize("unit", [1e-20, 1e20])
def test_what_is_filled_in_does_not_depend_on_the_unit_of_the_rows(unit: float) -> None:
    assert fill(0.0, unit) == pytest.approx([unit, unit * 0.8 / 0.6], rel=1e-9, abs=0.0)


@pytest.mark.parametrize(
    ("sizes", "least", "expected"),
    [
        ([1.0, 1e-16, 1e-30], 1e-20, [1.0, 0.0, 0.0]),  # what is rounding beside the largest is left out in any case
        ([1e3, 0.5, 1e-2], 0.1, [1e-3, 2.0, 0.0]),
        ([1e-3, 1e-4, 1e-6], 1e-5, [1e3, 1e4, 0.0]),
        ([1e3, 0.5, 1e-2], 1e3, [0.0, 0.0, 0.0]),
    ],
)
def test_directions_that_are_too_small_explain_nothing(sizes: list[float], least: float, expected: list[float]) -> None:
    np.testing.assert_allclose(solve(np.diag(sizes), np.ones(3), least), expected, rtol=1e-9)
