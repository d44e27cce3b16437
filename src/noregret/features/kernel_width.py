"""The width of a kernel by default: gamma from the spread of the first rows, fixed after the first `WARM_UP` rows.

gamma is a share of 1 over the mean distance of a row from the mean of the earlier ones. So it does not depend on the
units of the features: rows that are a hundred times larger have the same map. Until it is fixed it is corrected after
1, 2, 4, 8 ... rows.
"""

from typing import Any

from noregret.algebra.verbs import unbound
from noregret.features.fitted import Arrays

WARM_UP = 256.0
FIELDS = ("total",)  # for each feature, the sum of its values
COUNTERS = ("known", "seen", "spread", "size", "gamma")
"""How many features are known, rows measured, the sum of their distances, the size of `total`, and gamma itself."""
SQUARED, ABSOLUTE, NORM, UNUSED = 0.0, 1.0, 2.0, 3.0
"""How rows are measured: squared and absolute distances from the mean, squared norms; not at all."""

read_total = read_known = read_seen = read_spread = read_size = read_gamma = unbound


def read_width(table: Any) -> Any:
    """The arrays of the width, in the order of FIELDS and COUNTERS."""
    return (read_total(table), read_known(table), read_seen(table), read_spread(table), read_size(table),
            read_gamma(table))  # fmt: skip


def start_width(law: Any, share: Any, idx: Any, val: Any, width: Arrays) -> None:
    """Before a row is mapped: count its features as known; if it is the first with values, it sets gamma."""
    known, seen, gamma = width[1], width[2], width[5]
    length = 0.0
    for k in range(idx.size):
        if val[k] != 0.0:
            known[0] = max(known[0], idx[k] + 1.0)
            length += abs(val[k]) if law == ABSOLUTE else val[k] * val[k]
    if gamma[0] == 0.0 and seen[0] < WARM_UP and length > 0.0:
        gamma[0] = share / length


def learn_width(law: Any, share: Any, idx: Any, val: Any, width: Arrays) -> None:
    """After a row is mapped: measure its distance from the mean, add it to the mean, correct gamma (Welford 1962)."""
    total, _, seen, spread, size, gamma = width
    if seen[0] >= WARM_UP:
        return
    n, distance = seen[0], 0.0
    if law != NORM and n > 0.0:
        distance = size[0] / n if law == ABSOLUTE else size[0] / (n * n)
    for k in range(idx.size):
        j, x = idx[k], val[k]
        mean = total[j] / n if law != NORM and n > 0.0 else 0.0
        if law == ABSOLUTE:
            distance += abs(x - mean) - abs(mean)
            size[0] += abs(total[j] + x) - abs(total[j])
        else:
            distance += (x - mean) * (x - mean) - mean * mean
            size[0] += (total[j] + x) * (total[j] + x) - total[j] * total[j]
        total[j] += x
    if law == NORM:
        spread[0] += distance
    elif n > 0.0:
        spread[0] += max(distance, 0.0) * n / (n + 1.0)
    seen[0] = n + 1.0
    rows, due = seen[0], 1.0
    while due < rows:
        due *= 2.0
    if due == rows and spread[0] > 0.0:
        gamma[0] = share * (rows if law == NORM else rows - 1.0) / spread[0]
