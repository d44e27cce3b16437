"""Standard scaling: subtracts the mean of the earlier values of a feature and divides by their standard deviation."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.verbs import unbound
from noregret.features.fitted import INDICATOR, LEARN, Arrays, FittedTransform, Floats, Table, value_loop

read_indptr = read_idx = read_val = read_out = read_count = read_mean = read_spread = unbound


def scale_rows(table: Table) -> int:
    scale_values(
        table[LEARN], (read_indptr(table), read_idx(table), read_val(table)), read_out(table),
        (read_count(table), read_mean(table), read_spread(table)),
    )  # fmt: skip
    return 0


def scale_values(learn: bool, rows: Arrays, out: Floats, seen: Arrays) -> None:
    """Scale each value by earlier ones, then learn from it (Welford 1962).

    Among n + 1 values, none is more than sqrt(n) standard deviations away from their mean. A larger result means that
    the scale of the feature is not known yet; it is clipped to sqrt(n).
    """
    _, idx, val = rows
    count, mean, spread = seen
    for k in range(idx.size):
        j, x = idx[k], val[k]
        n = count[j]
        if n == INDICATOR:
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


class Scaling(FittedTransform):
    """Standard scaling. Keeps for each feature the count, mean and sum of squared deviations of its values."""

    name = "scale"
    fields = ("count", "mean", "spread")
    indicator_field = "count"
    loop = value_loop(scale_values, scale_rows, *fields)
    merges = True

    @property
    def count(self) -> NDArray[Any]:
        return self.arrays["count"]

    @property
    def mean(self) -> NDArray[Any]:
        return self.arrays["mean"]

    def absorb(self, other: FittedTransform, order: NDArray[np.int64]) -> None:
        """Counts, means and sums of squared deviations of both together (Chan, Golub and LeVeque 1979)."""
        size = other.width
        self.reserve(int(order.max()) + 1 if size else 0)
        count, mean, spread = (self.arrays[name][order] for name in self.fields)
        more, its_mean, its_spread = (other.arrays[name][:size] for name in self.fields)
        total = np.maximum(count + more, 1.0)
        apart = its_mean - mean
        indicator = (count == INDICATOR) | (more == INDICATOR)
        self.arrays["count"][order] = np.where(indicator, INDICATOR, count + more)
        self.arrays["mean"][order] = np.where(indicator, 0.0, mean + apart * (more / total))
        self.arrays["spread"][order] = np.where(indicator, 0.0, spread + its_spread + apart**2 * (count * more / total))
        self.width = max(self.width, int(order.max()) + 1 if size else 0)

    def overflow_message(self) -> str:
        return "values this large cannot be scaled: their squares are not finite. Learn without scaling"

    def is_valid(self, saved: Mapping[str, NDArray[Any]]) -> bool:
        count, spread = saved["count"], saved["spread"]
        counted = (count == INDICATOR) | (count >= 1.0) | ((count == 0.0) & (spread == 0.0))
        return bool((counted & (spread >= 0.0)).all())
