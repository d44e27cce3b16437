"""Transforms of single rows, without statistics: clipping, logarithm, unit norm."""

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.verbs import unbound
from noregret.features.feature_selectors import SelectorParam
from noregret.features.fitted import LEARN, Arrays, FittedTransform, Floats, Options, Table, value_loop
from noregret.rules.parameters import Param

read_indptr = read_idx = read_val = read_out = read_limit = read_p = unbound


def clip_rows(table: Table) -> int:
    clip_values(
        table[LEARN], (read_indptr(table), read_idx(table), read_val(table)), read_out(table), (read_limit(table),)
    )
    return 0


def clip_values(learn: bool, rows: Arrays, out: Floats, options: Arrays) -> None:
    """Clip each value to [-limit, limit]."""
    _, _, val = rows
    limit = options[0][0]
    for k in range(val.size):
        out[k] = min(max(val[k], -limit), limit)


class Clip(FittedTransform):
    """Clips values to [-limit, limit]."""

    name = "clip"
    params: ClassVar[Options] = {
        "limit": Param(3.0, above=0.0, about="the largest absolute value"),
        "only": SelectorParam(),
    }
    loop = value_loop(clip_values, clip_rows, "limit")

    def extra_arrays(self) -> tuple[NDArray[Any], ...]:
        return (np.array([self.options["limit"]]),)


def log_rows(table: Table) -> int:
    log_values(table[LEARN], (read_indptr(table), read_idx(table), read_val(table)), read_out(table), ())
    return 0


def log_values(learn: bool, rows: Arrays, out: Floats, options: Arrays) -> None:
    """Compute sign(x) log(1 + |x|)."""
    _, _, val = rows
    for k in range(val.size):
        out[k] = math.copysign(math.log1p(abs(val[k])), val[k])


class Log1p(FittedTransform):
    """Computes sign(x) log(1 + |x|): nearly the identity for small values, logarithmic for large ones."""

    name = "log1p"
    loop = value_loop(log_values, log_rows)


def norm_rows(table: Table) -> int:
    norm_values(table[LEARN], (read_indptr(table), read_idx(table), read_val(table)), read_out(table), (read_p(table),))
    return 0


def norm_values(learn: bool, rows: Arrays, out: Floats, options: Arrays) -> None:
    """Divide each row by its p-norm; values are first divided by the largest one to avoid overflow."""
    indptr, _, val = rows
    p = options[0][0]
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


class UnitNorm(FittedTransform):
    """Divides every row by its p-norm; a row of zeros stays as it is."""

    name = "unit_norm"
    params: ClassVar[Options] = {
        "p": Param(2.0, at_least=1.0, about="the p of the p-norm"),
        "only": SelectorParam(),
    }
    loop = value_loop(norm_values, norm_rows, "p")

    def extra_arrays(self) -> tuple[NDArray[Any], ...]:
        return (np.array([self.options["p"]]),)
