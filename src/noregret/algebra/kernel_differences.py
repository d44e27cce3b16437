"""The difference of two rows in the feature space of a kernel, which ranking learns from: phi(x) - phi(other)."""

import math
from typing import Any, NamedTuple

from noregret.algebra.arrays import Floats, Indices
from noregret.algebra.banks import Bank, clear_row, spread_row, sum_in_order
from noregret.algebra.internal_verbs import kernel, measure, row_difference, same_row, scaled_by
from noregret.algebra.kernel import Expansion, Kernel, write_support
from noregret.algebra.verbs import add, dot, helper, norm, sqnorm, sqsource


class KernelDifference(NamedTuple):
    """sign * (phi(x) - phi(o)), whose squared length without the sign is sq; xx and oo are the numbers of the rows."""

    x_idx: Indices
    x_val: Floats
    xx: float
    o_idx: Indices
    o_val: Floats
    oo: float
    sign: float
    sq: float
    bank: Bank


@row_difference.on(Kernel)
def row_difference_kernel(x: Any, other: Any, places: Any, values: Any) -> Any:
    bank = x.bank
    spread_row(bank.scratch, other.idx, other.val)
    both = sum_in_order(bank.kernel, x.idx, x.val, bank.scratch)
    clear_row(bank.scratch, other.idx)
    sq = max(x.sq + other.sq - 2.0 * kernel(bank.kernel, both, x.qq, other.qq), 0.0)
    return KernelDifference(x.idx, x.val, x.qq, other.idx, other.val, other.qq, 1.0, sq, bank)


@scaled_by.on(KernelDifference)
def scaled_by_difference(z: Any, a: float) -> Any:
    return KernelDifference(z.x_idx, z.x_val, z.xx, z.o_idx, z.o_val, z.oo, z.sign * a, z.sq, z.bank)


@sqnorm.on(KernelDifference)
def sqnorm_difference(z: Any) -> Any:
    return z.sq * (z.sign * z.sign)


@sqsource.on(KernelDifference)
def sqsource_difference(z: Any) -> Any:
    return z.sq


@norm.on(KernelDifference)
def norm_difference(z: Any, p: float) -> Any:
    """The Euclidean norm; no other is defined in feature space."""
    return math.sqrt(sqnorm(z))


@helper
def score_row(w: Any, bank: Any, idx: Any, val: Any, xx: float) -> Any:
    """w(x), by the kernel between x and all supports anew."""
    measure(bank, bank.kernel, idx, val, xx, bank.beside)
    total = 0.0
    for i in range(bank.n[0]):
        total += w.coef[i] * bank.beside[i]
    return total


@dot.on(Expansion, KernelDifference)
def dot_difference(w: Any, z: Any) -> Any:
    own = score_row(w, z.bank, z.x_idx, z.x_val, z.xx)
    return z.sign * (own - score_row(w, z.bank, z.o_idx, z.o_val, z.oo))


@helper
def keep_row(bank: Any, idx: Any, val: Any, xx: float) -> Any:
    """Return the number of a row in the bank; add it if it is new."""
    for i in range(bank.n[0]):
        if bank.sq[i] == xx and same_row(bank, i, idx, val):
            return i
    return write_support(bank, idx, val, xx)


@add.on(Expansion, object, KernelDifference)
def add_difference(w: Any, a: float, z: Any) -> None:
    if a * z.sign != 0.0:
        w.coef[keep_row(z.bank, z.x_idx, z.x_val, z.xx)] += a * z.sign
        w.coef[keep_row(z.bank, z.o_idx, z.o_val, z.oo)] -= a * z.sign
