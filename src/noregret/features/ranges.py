"""The running range: every value between 0 and 1, by the smallest and the largest value before it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from noregret.algebra.verbs import unbound
from noregret.features.fitted import LEARN, NEVER, Running, over_values

read_indptr = read_idx = read_val = read_out = read_seen = read_low = read_high = unbound


def range_rows(table: Any) -> int:
    range_values(
        table[LEARN], (read_indptr(table), read_idx(table), read_val(table)), read_out(table),
        (read_seen(table), read_low(table), read_high(table)),
    )  # fmt: skip
    return 0


def range_values(learn: Any, rows: Any, out: Any, past: Any) -> None:
    """The place of each value in the range of those before it, then learn from it; halves, so that none is infinite."""
    _, idx, val = rows
    seen, low, high = past
    for k in range(idx.size):
        j, x = idx[k], val[k]
        if seen[j] == NEVER:
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


class MinMax(Running):
    """Whether a feature was seen, and its smallest and largest value."""

    name = "min_max"
    fields = ("seen", "low", "high")
    spares = "seen"
    loop = over_values(range_values, range_rows, *fields)

    def possible(self, saved: Mapping[str, np.ndarray]) -> bool:
        return bool(np.isin(saved["seen"], (0.0, 1.0, NEVER)).all() and (saved["low"] <= saved["high"]).all())
