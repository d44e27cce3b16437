"""Kernel functions k(x, z), each from a sum over the features that both rows have, and one number of each row.

A kernel has three parts: `common`, what a feature of both rows adds to the sum; `own`, what a feature of one row adds
to the number of that row; and `kernel`, the value from the sum and the two numbers. So every kernel works with every
layout of the supports, and the sum takes only the features that both rows have.
"""

import math
from typing import Any, NamedTuple, TypeAlias

from noregret.algebra.arrays import Floats
from noregret.algebra.exponential import exp_below_zero
from noregret.algebra.internal_verbs import common, kernel, kernels, own
from noregret.algebra.verbs import helper


class Linear(NamedTuple):
    """k(x, z) = x . z"""

    shape: Floats


class Polynomial(NamedTuple):
    """k(x, z) = (gamma x . z + coef0) ** degree; shape: gamma, coef0, degree."""

    shape: Floats


class RBF(NamedTuple):
    """k(x, z) = exp(-gamma |x - z|^2); shape: gamma."""

    shape: Floats


class Laplacian(NamedTuple):
    """k(x, z) = exp(-gamma |x - z|_1); shape: gamma."""

    shape: Floats


class Sigmoid(NamedTuple):
    """k(x, z) = tanh(gamma x . z + coef0); shape: gamma, coef0. Some Gram matrices of it have negative eigenvalues."""

    shape: Floats


class Cosine(NamedTuple):
    """k(x, z) = x . z / (|x| |z|), and 0 if a row is zero."""

    shape: Floats


KernelFunction: TypeAlias = Linear | Polynomial | RBF | Laplacian | Sigmoid | Cosine
KERNELS: dict[str, type[KernelFunction]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "rbf": RBF,
    "laplacian": Laplacian,
    "sigmoid": Sigmoid,
    "cosine": Cosine,
}


def product_of_values(k: Any, a: float, b: float) -> Any:
    return a * b


def square_of_value(k: Any, a: float) -> Any:
    return a * a


for _kind in (Linear, Polynomial, RBF, Sigmoid, Cosine):
    common.on(_kind)(product_of_values)
    own.on(_kind)(square_of_value)


@common.on(Laplacian)
def common_laplacian(k: Any, a: float, b: float) -> Any:
    """|a - b| - |a| - |b|: what |x - z|_1 has less than |x|_1 + |z|_1 by this feature; exactly 0 if one value is 0."""
    return abs(a - b) - abs(a) - abs(b)


@own.on(Laplacian)
def own_laplacian(k: Any, a: float) -> Any:
    return abs(a)


@kernel.on(Linear)
def kernel_linear(k: Any, xz: float, xx: float, zz: float) -> Any:
    return xz


@kernel.on(Polynomial)
def kernel_polynomial(k: Any, xz: float, xx: float, zz: float) -> Any:
    return (k.shape[0] * xz + k.shape[1]) ** k.shape[2]


@kernel.on(RBF)
def kernel_rbf(k: Any, xz: float, xx: float, zz: float) -> Any:
    return exp_below_zero(-k.shape[0] * max(xx + zz - 2.0 * xz, 0.0))


@kernel.on(Laplacian)
def kernel_laplacian(k: Any, xz: float, xx: float, zz: float) -> Any:
    return exp_below_zero(-k.shape[0] * max(xx + zz + xz, 0.0))


@kernel.on(Sigmoid)
def kernel_sigmoid(k: Any, xz: float, xx: float, zz: float) -> Any:
    return math.tanh(k.shape[0] * xz + k.shape[1])


@kernel.on(Cosine)
def kernel_cosine(k: Any, xz: float, xx: float, zz: float) -> Any:
    sizes = math.sqrt(xx) * math.sqrt(zz)
    return xz / sizes if sizes > 0.0 else 0.0


@kernels.on(RBF)
def kernels_rbf(k: Any, sums: Any, sq: Any, xx: float, n: int) -> Any:
    gamma = k.shape[0]
    for i in range(n):
        sums[i] = exp_below_zero(-gamma * max(sq[i] + xx - 2.0 * sums[i], 0.0))


@kernels.on(Laplacian)
def kernels_laplacian(k: Any, sums: Any, sq: Any, xx: float, n: int) -> Any:
    gamma = k.shape[0]
    for i in range(n):
        sums[i] = exp_below_zero(-gamma * max(sq[i] + xx + sums[i], 0.0))


def kernels_one_by_one(k: Any, sums: Any, sq: Any, xx: float, n: int) -> Any:
    for i in range(n):
        sums[i] = kernel(k, sums[i], sq[i], xx)


for _kind in (Polynomial, Sigmoid, Cosine):
    kernels.on(_kind)(kernels_one_by_one)


@kernels.on(Linear)
def kernels_linear(k: Any, sums: Any, sq: Any, xx: float, n: int) -> Any:
    return None


@helper
def sum_own(k: Any, val: Any) -> Any:
    """The number of a row: |x|^2, or what a kernel has in its place, in four partial sums."""
    a = b = c = d = 0.0
    n = val.size - val.size % 4
    for i in range(0, n, 4):
        a += own(k, val[i])
        b += own(k, val[i + 1])
        c += own(k, val[i + 2])
        d += own(k, val[i + 3])
    for i in range(n, val.size):
        a += own(k, val[i])
    return (a + b) + (c + d)


@helper
def sum_same(k: Any, val: Any) -> Any:
    """The sum of a kernel over the features of a row and the same row, in the order of `sum_own`."""
    a = b = c = d = 0.0
    n = val.size - val.size % 4
    for i in range(0, n, 4):
        a += common(k, val[i], val[i])
        b += common(k, val[i + 1], val[i + 1])
        c += common(k, val[i + 2], val[i + 2])
        d += common(k, val[i + 3], val[i + 3])
    for i in range(n, val.size):
        a += common(k, val[i], val[i])
    return (a + b) + (c + d)
