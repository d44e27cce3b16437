"""The kernel algebra: a vector is a sum of kernel functions at stored rows, its supports.

All vectors of a learner share one bank of supports. `row` evaluates the kernel between the new row and every support
once; all scores of the round are sums of these numbers.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.arrays import Floats, Indices, Integers
from noregret.algebra.banks import Bank
from noregret.algebra.internal_verbs import (
    class_block,
    difference,
    dots,
    expand_support,
    kernel_with_itself,
    measure,
    nudge,
    powers,
    row,
    same_row,
    scaled_by,
    sweep,
    write_row,
)
from noregret.algebra.kernel_functions import sum_own
from noregret.algebra.kernel_verbs import append, votes
from noregret.algebra.verbs import add, dot, helper, norm, scale, side, sqnorm, sqsource

SAME = 1e-9  # relative: kernels of equal rows, which may be summed in another order, differ by less


class KernelRows(NamedTuple):
    """A block of sparse rows, and the bank of supports."""

    indptr: Integers
    idx: Indices
    val: Floats
    stride: int
    bank: Bank


class Kernel(NamedTuple):
    """sign * Psi(phi(x), of); sq = k(x, x), qq = x . x."""

    idx: Indices
    val: Floats
    sign: float
    of: int
    stride: int
    sq: float
    qq: float
    bank: Bank


class KernelPair(NamedTuple):
    """sign * (Psi(phi(x), of) - Psi(phi(x), rival))."""

    idx: Indices
    val: Floats
    sign: float
    of: int
    rival: int
    stride: int
    sq: float
    qq: float
    bank: Bank


class Expansion(NamedTuple):
    """w = sum over supports i and classes c of coef[i * stride + c] Psi(phi(x_i), c)."""

    coef: Floats
    bank: Bank


@row.on(KernelRows)
def row_kernel(X: Any, t: Any) -> Any:
    bank = X.bank
    idx = X.idx[X.indptr[t] : X.indptr[t + 1]]
    val = X.val[X.indptr[t] : X.indptr[t + 1]]
    qq = sum_own(bank.kernel, val)
    sq = kernel_with_itself(bank, bank.kernel, idx, val, qq)
    measure(bank, bank.kernel, idx, val, qq, bank.near)
    bank.n[1] = -1
    return Kernel(idx, val, 1.0, 0, 1, sq, qq, bank)


@scaled_by.on(Kernel)
def scaled_by_kernel(z: Any, a: float) -> Any:
    return Kernel(z.idx, z.val, z.sign * a, z.of, z.stride, z.sq, z.qq, z.bank)


@scaled_by.on(KernelPair)
def scaled_by_pair(z: Any, a: float) -> Any:
    return KernelPair(z.idx, z.val, z.sign * a, z.of, z.rival, z.stride, z.sq, z.qq, z.bank)


@class_block.on(Kernel)
def class_block_kernel(x: Any, c: Any, stride: int) -> Any:
    return Kernel(x.idx, x.val, x.sign, c, stride, x.sq, x.qq, x.bank)


@difference.on(Kernel)
def difference_kernel(x: Any, c: Any, r: Any, stride: int) -> Any:
    return KernelPair(x.idx, x.val, x.sign, c, r, stride, x.sq, x.qq, x.bank)


@sqnorm.on(Kernel)
def sqnorm_kernel(z: Any) -> Any:
    return z.sq * (z.sign * z.sign)


@sqnorm.on(KernelPair)
def sqnorm_pair(z: Any) -> Any:
    return z.sq * (2.0 * z.sign * z.sign)


@side.on(Kernel)
def side_kernel(z: Any) -> Any:
    return z.sign


@sqsource.on(Kernel)
def sqsource_kernel(g: Any) -> Any:
    return g.sq


@sqsource.on(KernelPair)
def sqsource_pair(g: Any) -> Any:
    return 2.0 * g.sq


@norm.on(Kernel)
@norm.on(KernelPair)
def norm_kernel(z: Any, p: float) -> Any:
    """The Euclidean norm; no other is defined in feature space."""
    return math.sqrt(sqnorm(z))


@helper
def block_sum(w: Any, bank: Any, stride: int, c: Any) -> Any:
    a = b = d = e = 0.0
    n = bank.n[0] - bank.n[0] % 4
    for i in range(0, n, 4):
        a += w.coef[i * stride + c] * bank.near[i]
        b += w.coef[(i + 1) * stride + c] * bank.near[i + 1]
        d += w.coef[(i + 2) * stride + c] * bank.near[i + 2]
        e += w.coef[(i + 3) * stride + c] * bank.near[i + 3]
    for i in range(n, bank.n[0]):
        a += w.coef[i * stride + c] * bank.near[i]
    return (a + b) + (d + e)


@dot.on(Expansion, Kernel)
def dot_expansion(w: Any, z: Any) -> Any:
    return z.sign * block_sum(w, z.bank, z.stride, z.of)


@dot.on(Expansion, KernelPair)
def dot_expansion_pair(w: Any, z: Any) -> Any:
    own = block_sum(w, z.bank, z.stride, z.of)
    return z.sign * (own - block_sum(w, z.bank, z.stride, z.rival))


@dots.on(Expansion)
def dots_expansion(w: Any, x: Any, stride: int, out: Floats) -> None:
    for c in range(out.size):
        out[c] = block_sum(w, x.bank, stride, c)


@helper
def find_row(z: Any) -> Any:
    """Look for the row at hand among the supports."""
    bank = z.bank
    for i in range(bank.n[0]):
        if bank.sq[i] == z.qq and abs(bank.near[i] - z.sq) <= SAME * abs(z.sq) and same_row(bank, i, z.idx, z.val):
            bank.n[1] = i


@helper
def store_row(z: Any) -> Any:
    """Return the number of the row at hand in the bank; add it if it is new."""
    if z.bank.n[1] < 0:
        find_row(z)
    return z.bank.n[1] if z.bank.n[1] >= 0 else store_new_row(z)


@helper
def store_new_row(z: Any) -> Any:
    """Add the row at hand to the bank and return its number."""
    i = write_support(z.bank, z.idx, z.val, z.qq)
    z.bank.near[i] = z.sq
    z.bank.n[1] = i
    return i


@helper
def write_support(bank: Any, idx: Any, val: Any, xx: float) -> Any:
    """Add a row to the bank and return its number; xx is what the kernel needs of it."""
    i = bank.n[0]
    if i >= bank.sq.size:
        raise IndexError("there is no room for another support")
    write_row(bank, i, idx, val)
    bank.sq[i] = xx
    bank.born[i] = bank.n[2]
    bank.n[2] += 1
    bank.n[0] = i + 1
    return i


@add.on(Expansion, object, Kernel)
def add_expansion(w: Any, a: float, z: Any) -> None:
    if a * z.sign != 0.0:
        w.coef[store_row(z) * z.stride + z.of] += a * z.sign


@add.on(Expansion, object, KernelPair)
def add_expansion_pair(w: Any, a: float, z: Any) -> None:
    if a * z.sign != 0.0:
        i = store_row(z)
        w.coef[i * z.stride + z.of] += a * z.sign
        w.coef[i * z.stride + z.rival] -= a * z.sign


@append.on(Expansion)
def append_expansion(w: Any, a: float, z: Any) -> None:
    if a * z.sign != 0.0:
        store_new_row(z)
        add(w, a, z)


@helper
def vote(scores: Any, classes: Any, of: int) -> Any:
    """The sign of the only score; with several classes, 1 if class `of` has the highest score and it is positive."""
    if classes == 1:
        return np.sign(scores[0])
    lead = 0
    for c in range(1, classes):
        if scores[c] > scores[lead]:
            lead = c
    return 1.0 if lead == of and scores[lead] > 0.0 else 0.0


@votes.on(Expansion)
def votes_expansion(w: Any, u: Any, x: Any, t: Any) -> Any:
    """Supports are in the order of the rounds, so one pass over them goes through every w there was."""
    scores = x.bank.scratch
    total = since = 0.0
    for i in range(x.bank.n[0]):
        until = 0.0
        for c in range(x.stride):
            until = max(until, abs(u.coef[i * x.stride + c]))
        total += vote(scores, x.stride, x.of) * (until - since)
        since = until
        for c in range(x.stride):
            scores[c] += w.coef[i * x.stride + c] * x.bank.near[i]
    total += vote(scores, x.stride, x.of) * (t - since)
    for c in range(x.stride):
        scores[c] = 0.0
    return total


@scale.on(Expansion)
def scale_expansion(w: Any, a: float) -> None:
    for i in range(w.coef.size):
        w.coef[i] *= a


@sweep.on(Expansion)
def sweep_expansion(w: Any, a: float) -> None:
    scale(w, a)


@nudge.on(Expansion)
def nudge_expansion(w: Any, a: float, z: Any, p: float) -> Any:
    """|w + a z|^2 - |w|^2 = 2 a w.z + a^2 z.z; only the Euclidean norm is defined in feature space."""
    change = 2.0 * a * dot(w, z) + a * a * sqnorm(z)
    add(w, a, z)
    return change


@powers.on(Expansion)
def powers_expansion(w: Any, p: float) -> Any:
    """|w|^2, from the kernel of every pair of supports."""
    bank = w.bank
    supports = bank.n[0]
    classes = w.coef.size // max(bank.sq.size, 1)
    total = 0.0
    for i in range(supports):
        expand_support(bank, i, bank.beside)
        for j in range(supports):
            both = 0.0
            for c in range(classes):
                both += w.coef[i * classes + c] * w.coef[j * classes + c]
            total += both * bank.beside[j]
    return total
