"""Sigma, the covariance of second-order learners, as a full matrix for every class."""

from typing import Any, NamedTuple

from noregret.algebra.arrays import Floats, Integers
from noregret.algebra.covariance import blocks_image, move_and_sharpen_any
from noregret.algebra.examples import Dense, DenseBlocks, Sparse, SparseBlocks
from noregret.algebra.internal_verbs import block, blocks, coordinate, count, factor, part, place, raw, spread, value
from noregret.algebra.verbs import (
    image,
    inner,
    move_and_sharpen,
    posterior_image,
    reassociate,
    sharpen,
)


class Full(NamedTuple):
    """A symmetric matrix for every class (its lower triangle counts), scratch rows, the number of features in use.

    The precisions grow: of z z', the blocks of the classes count, and what couples two classes is left out.
    """

    S: Floats
    pad: Floats
    used: Integers


class FullImage(NamedTuple):
    """factor * Sigma z, with a scratch row for each block of z."""

    z: Any
    pad: Floats
    factor: float


class FeaturesPart(NamedTuple):
    """A value for every feature, in a vector laid out by feature."""

    val: Floats
    sign: float
    of: int
    stride: int


class ClassPart(NamedTuple):
    """A value for every feature, in a vector laid out by class."""

    val: Floats
    sign: float
    of: int
    stride: int


blocks.on(FullImage)(blocks_image)
move_and_sharpen.on(object, object, Full)(move_and_sharpen_any)


@reassociate
def symmetric_column(S: Any, a: float, j: int, u: Any) -> Any:
    """u += a S[:, j], from the lower triangle of S"""
    head = S[j]
    for i in range(j):
        u[i] += a * head[i]
    for i in range(j, u.size):
        u[i] += a * S[i, j]


@reassociate
def symmetric_product(S: Any, sign: float, x: Any, u: Any) -> Any:
    """u = sign S x, from the lower triangle of S, each cell read once"""
    for i in range(u.size):
        u[i] = 0.0
    for i in range(x.size):
        head = S[i]
        a = sign * x[i]
        total = 0.0
        for j in range(i):
            u[j] += a * head[j]
            total += head[j] * x[j]
        u[i] += sign * total + a * head[i]
    for i in range(x.size, u.size):
        head = S[i]
        total = 0.0
        for j in range(x.size):
            total += head[j] * x[j]
        u[i] = sign * total


@reassociate
def symmetric_downdate(S: Any, beta: float, u: Any) -> Any:
    """S -= beta u u', in the lower triangle"""
    for i in range(u.size):
        head = S[i]
        a = beta * u[i]
        for j in range(i + 1):
            head[j] -= a * u[j]


@image.on(Full, Sparse)
@image.on(Full, SparseBlocks)
def image_full_sparse(sigma: Any, z: Any) -> Any:
    for b in range(blocks(z)):
        S = sigma.S[block(z, b)]
        q = part(z, b)
        u = sigma.pad[b][: sigma.used[0]]
        for i in range(u.size):
            u[i] = 0.0
        for k in range(count(q)):
            symmetric_column(S, value(q, k), coordinate(q, k), u)
    return FullImage(z, sigma.pad[:, : sigma.used[0]], 1.0)


@image.on(Full, Dense)
@image.on(Full, DenseBlocks)
def image_full_dense(sigma: Any, z: Any) -> Any:
    for b in range(blocks(z)):
        q = part(z, b)
        symmetric_product(sigma.S[block(z, b)], q.sign, q.val, sigma.pad[b][: sigma.used[0]])
    return FullImage(z, sigma.pad[:, : sigma.used[0]], 1.0)


@posterior_image.on(Full)
def posterior_image_full(sigma: Any, kappa: float, z: Any) -> Any:
    u = image(sigma, z)
    return FullImage(z, u.pad, 1.0 / (1.0 + kappa * inner(z, u)))


@inner.on(object, FullImage)
def inner_full(z: Any, u: Any) -> Any:
    total = 0.0
    for b in range(blocks(z)):
        q = part(z, b)
        image_row = u.pad[b]
        for k in range(count(q)):
            total += value(q, k) * image_row[coordinate(q, k)]
    return total * u.factor


@sharpen.on(Full)
def sharpen_full(sigma: Any, kappa: float, u: Any) -> None:
    """Sigma_b^-1 += kappa z_b z_b' for the class of every block: what couples two classes is left out."""
    for b in range(blocks(u)):
        q = part(u.z, b)
        own = 0.0
        for k in range(count(q)):
            own += value(q, k) * u.pad[b][coordinate(q, k)]
        symmetric_downdate(sigma.S[block(u.z, b)], kappa / (1.0 + kappa * own), u.pad[b])


@part.on(FullImage)
def part_full(u: Any, b: int) -> Any:
    return spread(u.z, b, u.pad[b], u.factor)


@spread.on(Sparse)
def spread_sparse(z: Any, b: int, u: Any, a: float) -> Any:
    return FeaturesPart(u, a, 0, 1)


@spread.on(SparseBlocks)
def spread_sparse_blocks(z: Any, b: int, u: Any, a: float) -> Any:
    return FeaturesPart(u, a, z.classes[b], z.stride)


@spread.on(Dense)
def spread_dense(z: Any, b: int, u: Any, a: float) -> Any:
    return ClassPart(u, a, 0, 0)


@spread.on(DenseBlocks)
def spread_dense_blocks(z: Any, b: int, u: Any, a: float) -> Any:
    return ClassPart(u, a, z.classes[b], z.stride)


@count.on(FeaturesPart)
@count.on(ClassPart)
def count_full(q: Any) -> Any:
    return q.val.size


@place.on(FeaturesPart)
def place_features(q: Any, k: int) -> Any:
    return k * q.stride + q.of


@place.on(ClassPart)
def place_class(q: Any, k: int) -> Any:
    return q.of * q.stride + k


@factor.on(FeaturesPart)
@factor.on(ClassPart)
def factor_full(q: Any) -> Any:
    return q.sign


@raw.on(FeaturesPart)
@raw.on(ClassPart)
def raw_full(q: Any, k: int) -> Any:
    return q.val[k]
