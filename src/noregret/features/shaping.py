"""Transforms that look at nothing but the row: cut off, logarithm, length 1."""

import math
from typing import Any, ClassVar

import numpy as np

from noregret.algebra.verbs import unbound
from noregret.features.feature_selectors import Chosen
from noregret.features.fitted import LEARN, Options, Running, over_values
from noregret.rules.parameters import Param

read_indptr = read_idx = read_val = read_out = read_limit = read_p = unbound


def clip_rows(table: Any) -> int:
    clip_values(
        table[LEARN], (read_indptr(table), read_idx(table), read_val(table)), read_out(table), (read_limit(table),)
    )
    return 0


def clip_values(learn: Any, rows: Any, out: Any, told: Any) -> None:
    _, _, val = rows
    limit = told[0][0]
    for k in range(val.size):
        out[k] = min(max(val[k], -limit), limit)


class Clip(Running):
    """Values beyond the limit are cut off there."""

    name = "clip"
    params: ClassVar[Options] = {
        "limit": Param(3.0, above=0.0, about="the largest absolute value"),
        "only": Chosen(),
    }
    loop = over_values(clip_values, clip_rows, "limit")

    def options(self) -> tuple[np.ndarray, ...]:
        return (np.array([self.told["limit"]]),)


def log_rows(table: Any) -> int:
    log_values(table[LEARN], (read_indptr(table), read_idx(table), read_val(table)), read_out(table), ())
    return 0


def log_values(learn: Any, rows: Any, out: Any, told: Any) -> None:
    _, _, val = rows
    for k in range(val.size):
        out[k] = math.copysign(math.log1p(abs(val[k])), val[k])


class Log1p(Running):
    """sign(x) log(1 + |x|): small values stay, large ones grow slowly."""

    name = "log1p"
    loop = over_values(log_values, log_rows)


def norm_rows(table: Any) -> int:
    norm_values(table[LEARN], (read_indptr(table), read_idx(table), read_val(table)), read_out(table), (read_p(table),))
    return 0


def norm_values(learn: Any, rows: Any, out: Any, told: Any) -> None:
    """Each row divided by its length, in units of its largest value so that nothing overflows."""
    indptr, _, val = rows
    p = told[0][0]
    for row in range(indptr.size - 1):
        largest, total = 0.0, 0.0
        for k in range(indptr[row], indptr[row + 1]):
            largest = max(largest, abs(val[k]))
        for k in range(indptr[row], indptr[row + 1]):
            part = abs(val[k]) / largest if largest > 0.0 else 0.0
            if p == 1.0:
                total += part
            elif p == 2.0:
                total += part * part
            else:
                total += part**p
        length = math.sqrt(total) if p == 2.0 else total ** (1.0 / p)
        for k in range(indptr[row], indptr[row + 1]):
            out[k] = val[k] / largest / length if largest > 0.0 else 0.0


class UnitNorm(Running):
    """Every row is divided by its p-norm; a row of zeros stays."""

    name = "unit_norm"
    params: ClassVar[Options] = {
        "p": Param(2.0, at_least=1.0, about="of which norm the length is 1"),
        "only": Chosen(),
    }
    loop = over_values(norm_values, norm_rows, "p")

    def options(self) -> tuple[np.ndarray, ...]:
        return (np.array([self.told["p"]]),)
