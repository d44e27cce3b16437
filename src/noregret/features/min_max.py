"""Min-max scaling: maps every value to [0, 1] by the smallest and largest earlier value of its feature."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.verbs import unbound
from noregret.features.fitted import INDICATOR, LEARN, Arrays, FittedTransform, Floats, Table, value_loop

read_indptr = read_idx = read_val = read_out = read_seen = read_low = read_high = unbound


def range_rows(table: Table) -> int:
    range_values(
        table[LEARN], (read_indptr(table), read_idx(table), read_val(table)), read_out(table),
        (read_seen(table), read_low(table), read_high(table)),
    )  # fmt: skip
    return 0


def range_values(learn: bool, rows: Arrays, out: Floats, past: Arrays) -> None:
    """Scale each value to the range of earlier ones, then learn from it; halving avoids overflow of high - low."""
    _, idx, val = rows
    seen, low, high = past
    for k in range(idx.size):
        j, x = idx[k], val[k]
        if seen[j] == INDICATOR:
            out[k] = x
            continue
        out[k] = 0.0
        if seen[j] > 0.0 and x > low[j]:
            out[k] = 1.0
            if x < high[j]:
                out[k] = (0.5 * x - 0.5 * low[j]) / (0.5 * high[j] - 0.5 * low[j])
        if learn:
            if seen[j] == 0.0 or x < low[j]:
                low[j] = x
            if seen[j] == 0.0 or x > high[j]:
                high[j] = x
            seen[j] = 1.0


class MinMax(FittedTransform):
    """Min-max scaling. Keeps for each feature whether it was seen, and its smallest and largest value."""

    name = "min_max"
    fields = ("seen", "low", "high")
    indicator_field = "seen"
    loop = value_loop(range_values, range_rows, *fields)

    def is_valid(self, saved: Mapping[str, NDArray[Any]]) -> bool:
        return bool(np.isin(saved["seen"], (0.0, 1.0, INDICATOR)).all() and (saved["low"] <= saved["high"]).all())
