"""The parts of backpropagation, one at a time, by numpy and by hand."""

from typing import Any

import numpy as np
import pytest

from noregret.neural.backprop import add_rows


@pytest.mark.parametrize("count", range(14))
def test_rows_of_a_matrix_are_added_by_their_amounts(count: int) -> None:
    """Four at a time, and those that are left one by one."""
    rng = np.random.default_rng(count)
    w, places = rng.normal(size=20 * 3), 3 * rng.permutation(20)[:count]
    amounts, out = rng.normal(size=count), np.full(3, 7.0)
    add_rows(out, w, places, amounts)
    rows: Any = w.reshape(20, 3)[places // 3]
    np.testing.assert_allclose(out, amounts @ rows, rtol=1e-12, atol=1e-12)
