"""Running scaling: every value is measured from the mean of the values before it, in their standard deviations."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from noregret.algebra.verbs import unbound
from noregret.features.fitted import LEARN, NEVER, Running, over_values

read_indptr = read_idx = read_val = read_out = read_count = read_mean = read_spread = unbound


def scale_rows(table: Any) -> int:
    scale_values(
        table[LEARN], (read_indptr(table), read_idx(table), read_val(table)), read_out(table),
        (read_count(table), read_mean(table), read_spread(table)),
    )  # fmt: skip
    return 0


def scale_values(learn: Any, rows: Any, out: Any, seen: Any) -> None:
    """Scale each value by those before it, then learn from it (Welford 1962).

    No value is further from the mean of n + 1 values it belongs to than sqrt(n) of their deviations; one that seems
    to be is a newcomer whose scale is not known yet, and is cut off there.
    """
    _, idx, val = rows
    count, mean, spread = seen
    for k in range(idx.size):
        j, x = idx[k], val[k]
        n = count[j]
        if n == NEVER:
            out[k] = x
            continue
        out[k] = 0.0
        if spread[j] > 0.0:
            farthest = math.sqrt(n)
            out[k] = min(max((x - mean[j]) / math.sqrt(spread[j] / n), -farthest), farthest)
        if learn:
            count[j] = n + 1.0
            step = x - mean[j]
            mean[j] += step / (n + 1.0)
            spread[j] += step * (x - mean[j])


class Scaling(Running):
    """The count, mean and sum of squared deviations of every feature's values in the rounds learned."""

    name = "scale"
    fields = ("count", "mean", "spread")
    spares = "count"
    loop = over_values(scale_values, scale_rows, *fields)

    @property
    def count(self) -> np.ndarray:
        return self.arrays["count"]

    @property
    def mean(self) -> np.ndarray:
        return self.arrays["mean"]

    def too_large(self) -> str:
        return "values this large cannot be scaled: their squares are not finite. Learn without scaling"

    def possible(self, saved: Mapping[str, np.ndarray]) -> bool:
        return bool((saved["spread"] >= 0.0).all())
