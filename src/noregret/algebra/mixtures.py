"""A row in the blocks of all classes, with a share of each: the gradient of a loss that looks at every score."""

from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.arrays import Floats, Indices
from noregret.algebra.banks import Bank
from noregret.algebra.class_blocks import register_alike
from noregret.algebra.examples import Dense, DenseBlocks, DensePart, Sparse, SparseBlocks, SparsePart
from noregret.algebra.internal_verbs import block, blocks, cell, mixture, part, scaled_by
from noregret.algebra.kernel import Expansion, Kernel, block_sum, store_row
from noregret.algebra.kernel_verbs import near, remove_coefficients, remove_support
from noregret.algebra.reference import ReferenceExample
from noregret.algebra.vectors import dense_add
from noregret.algebra.verbs import (
    Plain,
    add,
    apportion,
    breadth,
    clip,
    contract,
    dot,
    extent,
    helper,
    link_dot,
    norm,
    partial_features,
    peak,
    sqnorm,
    sqsource,
)


class SparseMixture(NamedTuple):
    """The sum over classes c of sign * shares[c] * Psi(x, c) for a sparse x with |x|^2 = sq."""

    idx: Indices
    val: Floats
    sign: float
    shares: Floats
    stride: int
    sq: float


class DenseMixture(NamedTuple):
    """The sum over classes c of sign * shares[c] * Psi(x, c) for a dense x with |x|^2 = sq."""

    val: Floats
    sign: float
    shares: Floats
    stride: int
    sq: float


class KernelMixture(NamedTuple):
    """The sum over classes c of sign * shares[c] * Psi(phi(x), c); sq = k(x, x), qq = x . x."""

    idx: Indices
    val: Floats
    sign: float
    shares: Floats
    stride: int
    sq: float
    qq: float
    bank: Bank


@mixture.on(Sparse)
def mixture_sparse(x: Any, shares: Any, stride: int) -> Any:
    return SparseMixture(x.idx, x.val, x.sign, shares, stride, x.sq)


@mixture.on(Dense)
def mixture_dense(x: Any, shares: Any, stride: int) -> Any:
    return DenseMixture(x.val, x.sign, shares, stride, x.sq)


@mixture.on(Kernel)
def mixture_kernel(x: Any, shares: Any, stride: int) -> Any:
    return KernelMixture(x.idx, x.val, x.sign, shares, stride, x.sq, x.qq, x.bank)


@mixture.on(ReferenceExample)
def mixture_reference(x: Any, shares: Any, stride: int) -> Any:
    z = np.zeros((x.classes, x.stride))
    z[: shares.size] = np.outer(shares, x.v)
    return ReferenceExample(z.ravel(), x.stride, x.classes, 2.0 * x.sq)


@scaled_by.on(SparseMixture)
def scaled_by_sparse_mixture(z: Any, a: float) -> Any:
    n = z.idx.size if a != 0.0 else 0
    return SparseMixture(z.idx[:n], z.val[:n], z.sign * a, z.shares, z.stride, z.sq)


@scaled_by.on(DenseMixture)
def scaled_by_dense_mixture(z: Any, a: float) -> Any:
    n = z.val.size if a != 0.0 else 0
    return DenseMixture(z.val[:n], z.sign * a, z.shares, z.stride, z.sq)


@scaled_by.on(KernelMixture)
def scaled_by_kernel_mixture(z: Any, a: float) -> Any:
    return KernelMixture(z.idx, z.val, z.sign * a, z.shares, z.stride, z.sq, z.qq, z.bank)


# ---- parts and sizes -------------------------------------------------------------------------------------------------


@blocks.on(SparseMixture)
@blocks.on(DenseMixture)
def blocks_mixture(z: Any) -> Any:
    return z.shares.size


@block.on(SparseMixture)
@block.on(DenseMixture)
def block_mixture(z: Any, b: int) -> Any:
    return b


@part.on(SparseMixture)
def part_sparse_mixture(z: Any, b: int) -> Any:
    return SparsePart(z.idx, z.val, z.sign * z.shares[b], b, z.stride)


@part.on(DenseMixture)
def part_dense_mixture(z: Any, b: int) -> Any:
    return DensePart(z.val, z.sign * z.shares[b], b, z.stride)


@sqnorm.on(SparseMixture)
@sqnorm.on(DenseMixture)
@sqnorm.on(KernelMixture)
def sqnorm_mixture(z: Any) -> Any:
    total = 0.0
    for c in range(z.shares.size):
        total += z.shares[c] * z.shares[c]
    return z.sq * (z.sign * z.sign) * total


@sqsource.on(SparseMixture)
@sqsource.on(DenseMixture)
@sqsource.on(KernelMixture)
def sqsource_mixture(g: Any) -> Any:
    """The most it can be: a row against a single rival, as shares that sum to zero have it at most."""
    return 2.0 * g.sq


@helper
def largest_share(z: Any) -> Any:
    largest = 0.0
    for c in range(z.shares.size):
        largest = max(largest, abs(z.shares[c]))
    return abs(z.sign) * largest


@peak.on(SparseMixture)
@peak.on(DenseMixture)
def peak_mixture(z: Any) -> Any:
    largest = 0.0
    for k in range(z.val.size):
        largest = max(largest, abs(z.val[k]))
    return largest_share(z) * largest


@extent.on(SparseMixture)
def extent_sparse_mixture(z: Any) -> Any:
    largest = 0
    for k in range(z.val.size):
        largest = max(largest, int(z.idx[k]) + 1 if z.val[k] != 0.0 else 0)
    return float(largest) if largest_share(z) > 0.0 else 0.0


@extent.on(DenseMixture)
def extent_dense_mixture(z: Any) -> Any:
    largest = 0
    for k in range(z.val.size):
        largest = max(largest, k + 1 if z.val[k] != 0.0 else 0)
    return float(largest) if largest_share(z) > 0.0 else 0.0


@breadth.on(SparseMixture)
@breadth.on(DenseMixture)
def breadth_mixture(z: Any) -> Any:
    return float(z.shares.size)


# ---- weights ---------------------------------------------------------------------------------------------------------


@add.on(Plain, object, SparseMixture)
def add_sparse_mixture(w: Any, a: float, z: Any) -> None:
    """Feature by feature: the weights of all its classes lie side by side."""
    step = a * z.sign
    for k in range(z.idx.size):
        first = np.int64(z.idx[k]) * z.stride
        along = step * z.val[k]
        cells = w[first : first + z.shares.size]
        for c in range(z.shares.size):
            cells[c] += along * z.shares[c]


@add.on(Plain, object, DenseMixture)
def add_dense_mixture(w: Any, a: float, z: Any) -> None:
    for c in range(z.shares.size):
        dense_add(w[c * z.stride : c * z.stride + z.val.size], a * z.sign * z.shares[c], z.val)


@dot.on(Expansion, KernelMixture)
def dot_expansion_mixture(w: Any, z: Any) -> Any:
    total = 0.0
    for c in range(z.shares.size):
        total += z.shares[c] * block_sum(w, z.bank, z.stride, c)
    return z.sign * total


@add.on(Expansion, object, KernelMixture)
def add_expansion_mixture(w: Any, a: float, z: Any) -> None:
    if a * largest_share(z) != 0.0:
        i = store_row(z)
        for c in range(z.shares.size):
            w.coef[i * z.stride + c] += a * z.sign * z.shares[c]


@norm.on(KernelMixture)
def norm_kernel_mixture(z: Any, p: float) -> Any:
    """The Euclidean norm; no other is defined in feature space."""
    return np.sqrt(sqnorm(z))


ALIKE = (norm, cell, link_dot, partial_features, clip, contract, apportion)
"""Verbs written over the parts of any example, which are listed by its type."""


def register_mixtures() -> None:
    """Use the implementations for two blocks, or for one kernel function; called when all of them are registered."""
    register_alike(SparseBlocks, SparseMixture, ALIKE)
    register_alike(DenseBlocks, DenseMixture, ALIKE)
    register_alike(Kernel, KernelMixture, (near, remove_coefficients, remove_support))
