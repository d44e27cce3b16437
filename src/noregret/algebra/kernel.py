"""The kernel algebra: a vector is a sum of kernel functions around remembered rows, its supports.

All expansions of a learner share one bank of supports. `row` evaluates the kernel of the new row against every support
once; whatever a rule then asks (a score for every class, a second vector) only combines those numbers.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.examples import squares
from noregret.algebra.verbs import (
    add,
    append,
    class_block,
    difference,
    dot,
    dots,
    helper,
    kernel,
    norm,
    nudge,
    powers,
    row,
    scale,
    scaled_by,
    sqnorm,
    sqsource,
    sweep,
    votes,
)


class LinearBank(NamedTuple):
    """Supports under k(x, z) = x . z."""

    start: np.ndarray
    idx: np.ndarray
    val: np.ndarray
    sq: np.ndarray
    near: np.ndarray
    scratch: np.ndarray
    n: np.ndarray
    shape: np.ndarray


class PolynomialBank(NamedTuple):
    """Supports under k(x, z) = (gamma x . z + coef0) ** degree; shape holds gamma, coef0, degree."""

    start: np.ndarray
    idx: np.ndarray
    val: np.ndarray
    sq: np.ndarray
    near: np.ndarray
    scratch: np.ndarray
    n: np.ndarray
    shape: np.ndarray


class RBFBank(NamedTuple):
    """Supports under k(x, z) = exp(-gamma |x - z|^2); shape holds gamma."""

    start: np.ndarray
    idx: np.ndarray
    val: np.ndarray
    sq: np.ndarray
    near: np.ndarray
    scratch: np.ndarray
    n: np.ndarray
    shape: np.ndarray


BANKS = {"linear": LinearBank, "polynomial": PolynomialBank, "rbf": RBFBank}
# bank.n has two cells: how many supports are stored, and where the current row is stored (-1 when it is not)


class KernelRows(NamedTuple):
    """A block of sparse rows, and the bank they are compared with."""

    indptr: np.ndarray
    idx: np.ndarray
    val: np.ndarray
    stride: int
    bank: Any


class Kernel(NamedTuple):
    """sign * Psi(phi(x), of); sq = k(x, x), qq = x . x."""

    idx: np.ndarray
    val: np.ndarray
    sign: float
    of: int
    stride: int
    sq: float
    qq: float
    bank: Any


class KernelPair(NamedTuple):
    """sign * (Psi(phi(x), of) - Psi(phi(x), rival))."""

    idx: np.ndarray
    val: np.ndarray
    sign: float
    of: int
    rival: int
    stride: int
    sq: float
    qq: float
    bank: Any


class Expansion(NamedTuple):
    """w = sum over supports i and classes c of coef[i * stride + c] Psi(phi(x_i), c)."""

    coef: np.ndarray
    bank: Any


@kernel.on(LinearBank)
def kernel_linear(bank: Any, xz: Any, xx: Any, zz: Any) -> Any:
    return xz


@kernel.on(PolynomialBank)
def kernel_polynomial(bank: Any, xz: Any, xx: Any, zz: Any) -> Any:
    return (bank.shape[0] * xz + bank.shape[1]) ** bank.shape[2]


@kernel.on(RBFBank)
def kernel_rbf(bank: Any, xz: Any, xx: Any, zz: Any) -> Any:
    return math.exp(-bank.shape[0] * max(xx + zz - 2.0 * xz, 0.0))


@helper
def dot_scattered(idx: Any, val: Any, scratch: Any) -> Any:
    """A sparse row times a row laid out in full, in four running sums."""
    a = b = c = d = 0.0
    n = idx.size - idx.size % 4
    for i in range(0, n, 4):
        a += scratch[idx[i]] * val[i]
        b += scratch[idx[i + 1]] * val[i + 1]
        c += scratch[idx[i + 2]] * val[i + 2]
        d += scratch[idx[i + 3]] * val[i + 3]
    for i in range(n, idx.size):
        a += scratch[idx[i]] * val[i]
    return (a + b) + (c + d)


@helper
def same_row(bank: Any, i: Any, idx: Any, val: Any) -> Any:
    first = bank.start[i]
    if bank.start[i + 1] - first != idx.size:
        return False
    different = 0
    for k in range(idx.size):
        different += 1 if bank.idx[first + k] != idx[k] or bank.val[first + k] != val[k] else 0
    return different == 0


@row.on(KernelRows)
def row_kernel(X: Any, t: Any) -> Any:
    bank = X.bank
    idx = X.idx[X.indptr[t] : X.indptr[t + 1]]
    val = X.val[X.indptr[t] : X.indptr[t + 1]]
    qq = squares(val)
    for k in range(idx.size):
        bank.scratch[idx[k]] = val[k]
    bank.n[1] = -1
    for i in range(bank.n[0]):
        first = bank.start[i]
        last = bank.start[i + 1]
        xz = dot_scattered(bank.idx[first:last], bank.val[first:last], bank.scratch)
        bank.near[i] = kernel(bank, xz, bank.sq[i], qq)
        if xz == qq and bank.sq[i] == qq and same_row(bank, i, idx, val):
            bank.n[1] = i
    for k in range(idx.size):
        bank.scratch[idx[k]] = 0.0
    return Kernel(idx, val, 1.0, 0, 1, kernel(bank, qq, qq, qq), qq, bank)


@scaled_by.on(Kernel)
def stretch_kernel(z: Any, a: Any) -> Any:
    return Kernel(z.idx, z.val, z.sign * a, z.of, z.stride, z.sq, z.qq, z.bank)


@scaled_by.on(KernelPair)
def stretch_pair(z: Any, a: Any) -> Any:
    return KernelPair(z.idx, z.val, z.sign * a, z.of, z.rival, z.stride, z.sq, z.qq, z.bank)


@class_block.on(Kernel)
def seat_kernel(x: Any, c: Any, stride: Any) -> Any:
    return Kernel(x.idx, x.val, x.sign, c, stride, x.sq, x.qq, x.bank)


@difference.on(Kernel)
def difference_kernel(x: Any, c: Any, r: Any, stride: Any) -> Any:
    return KernelPair(x.idx, x.val, x.sign, c, r, stride, x.sq, x.qq, x.bank)


@sqnorm.on(Kernel)
def sqnorm_kernel(z: Any) -> Any:
    return z.sq * (z.sign * z.sign)


@sqnorm.on(KernelPair)
def sqnorm_pair(z: Any) -> Any:
    return z.sq * (2.0 * z.sign * z.sign)


@sqsource.on(Kernel)
def sqsource_kernel(g: Any) -> Any:
    return g.sq


@sqsource.on(KernelPair)
def sqsource_pair(g: Any) -> Any:
    return 2.0 * g.sq


@norm.on(Kernel)
@norm.on(KernelPair)
def norm_kernel(z: Any, p: Any) -> Any:
    """Only the Euclidean norm means something in feature space."""
    return math.sqrt(sqnorm(z))


@helper
def block_sum(w: Any, bank: Any, stride: Any, c: Any) -> Any:
    total = 0.0
    for i in range(bank.n[0]):
        total += w.coef[i * stride + c] * bank.near[i]
    return total


@dot.on(Expansion, Kernel)
def dot_expansion(w: Any, z: Any) -> Any:
    return z.sign * block_sum(w, z.bank, z.stride, z.of)


@dot.on(Expansion, KernelPair)
def dot_expansion_pair(w: Any, z: Any) -> Any:
    own = block_sum(w, z.bank, z.stride, z.of)
    return z.sign * (own - block_sum(w, z.bank, z.stride, z.rival))


@dots.on(Expansion)
def dots_expansion(w: Any, x: Any, stride: Any, out: Any) -> Any:
    for c in range(out.size):
        out[c] = block_sum(w, x.bank, stride, c)


@helper
def remember(z: Any) -> Any:
    """Where the current row is stored in the bank; stored now if it is new."""
    bank = z.bank
    if bank.n[1] < 0:
        i = bank.n[0]
        first = bank.start[i]
        for k in range(z.idx.size):
            bank.idx[first + k] = z.idx[k]
            bank.val[first + k] = z.val[k]
        bank.start[i + 1] = first + z.idx.size
        bank.sq[i] = z.qq
        bank.near[i] = z.sq
        bank.n[0] = i + 1
        bank.n[1] = i
    return bank.n[1]


@add.on(Expansion, object, Kernel)
def add_expansion(w: Any, a: Any, z: Any) -> Any:
    if a * z.sign != 0.0:
        w.coef[remember(z) * z.stride + z.of] += a * z.sign


@add.on(Expansion, object, KernelPair)
def add_expansion_pair(w: Any, a: Any, z: Any) -> Any:
    if a * z.sign != 0.0:
        i = remember(z)
        w.coef[i * z.stride + z.of] += a * z.sign
        w.coef[i * z.stride + z.rival] -= a * z.sign


@append.on(Expansion)
def append_expansion(w: Any, a: Any, z: Any) -> Any:
    z.bank.n[1] = -1
    add(w, a, z)


@helper
def vote(scores: Any, classes: Any, of: Any) -> Any:
    """The sign of the one score; of many classes, 1 if this one leads with a score above zero."""
    if classes == 1:
        return np.sign(scores[0])
    lead = 0
    for c in range(1, classes):
        if scores[c] > scores[lead]:
            lead = c
    return 1.0 if lead == of and scores[lead] > 0.0 else 0.0


@votes.on(Expansion)
def votes_expansion(w: Any, u: Any, x: Any, t: Any) -> Any:
    """Supports stand in the order of the rounds, so one walk over them meets every w in turn."""
    scores = x.bank.scratch
    found = since = 0.0
    for i in range(x.bank.n[0]):
        until = 0.0
        for c in range(x.stride):
            until = max(until, abs(u.coef[i * x.stride + c]))
        found += vote(scores, x.stride, x.of) * (until - since)
        since = until
        for c in range(x.stride):
            scores[c] += w.coef[i * x.stride + c] * x.bank.near[i]
    found += vote(scores, x.stride, x.of) * (t - since)
    for c in range(x.stride):
        scores[c] = 0.0
    return found


@scale.on(Expansion)
def scale_expansion(w: Any, a: Any) -> Any:
    for i in range(w.coef.size):
        w.coef[i] *= a


@sweep.on(Expansion)
def sweep_expansion(w: Any, a: Any) -> Any:
    scale(w, a)


@nudge.on(Expansion)
def nudge_expansion(w: Any, a: Any, z: Any, p: Any) -> Any:
    """|w + a z|^2 - |w|^2 = 2 a w.z + a^2 z.z: in feature space only the Euclidean norm means something."""
    change = 2.0 * a * dot(w, z) + a * a * sqnorm(z)
    add(w, a, z)
    return change


@powers.on(Expansion)
def powers_expansion(w: Any, p: Any) -> Any:
    """|w|^2 from the kernel of every pair of supports."""
    bank = w.bank
    supports = bank.n[0]
    classes = w.coef.size // max(bank.sq.size, 1)
    found = 0.0
    for i in range(supports):
        idx = bank.idx[bank.start[i] : bank.start[i + 1]]
        val = bank.val[bank.start[i] : bank.start[i + 1]]
        for k in range(idx.size):
            bank.scratch[idx[k]] = val[k]
        for j in range(supports):
            other = bank.idx[bank.start[j] : bank.start[j + 1]]
            xz = dot_scattered(other, bank.val[bank.start[j] : bank.start[j + 1]], bank.scratch)
            both = 0.0
            for c in range(classes):
                both += w.coef[i * classes + c] * w.coef[j * classes + c]
            found += both * kernel(bank, xz, bank.sq[i], bank.sq[j])
        for k in range(idx.size):
            bank.scratch[idx[k]] = 0.0
    return found
