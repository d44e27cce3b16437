"""The reference algebra: every verb in NumPy over all coordinates, nothing lazy, never compiled.

Coordinates are laid out by class. It is there to be read, and to be compared with the compiled algebras.
"""

from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.arrays import Floats, Integers
from noregret.algebra.internal_verbs import (
    block,
    blocks,
    class_block,
    coordinate,
    count,
    difference,
    part,
    place,
    row,
    scaled_by,
    value,
)
from noregret.algebra.verbs import (
    breadth,
    extent,
    partial_features,
    peak,
    side,
    sqnorm,
    sqsource,
)


class ReferenceRows(NamedTuple):
    """A block of dense rows; stride: the number of features; classes: the number of class blocks."""

    val: Floats
    stride: int
    classes: int


class ReferenceExample(NamedTuple):
    """An example as a vector over all coordinates.

    sign: the multiple of the signed example that it is; sq: the square of the signed example's norm; truth: the class
    that has x itself in a difference, otherwise negative.
    """

    v: Floats
    stride: int
    classes: int
    sq: float = 0.0
    sign: float = 1.0
    truth: int = -1


class ReferenceVector(NamedTuple):
    """A weight vector over all coordinates; stride: the number of features."""

    v: Floats
    stride: int = 1


class ReferenceGroups(NamedTuple):
    """A weight vector over all coordinates, and the group of every feature."""

    v: Floats
    group: Integers


class ReferenceSnapshot(NamedTuple):
    """A weight vector over all coordinates, and a copy of it when the last snapshot was taken."""

    v: Floats
    old: Floats


def dot_nonzeros(a: Floats, b: Floats) -> float:
    """a . b, summed over the non-zeros of b: features that are only known change no digit."""
    at = np.flatnonzero(b)
    return float(a[at] @ b[at])


@row.on(ReferenceRows)
def row_reference(X: Any, t: Any) -> Any:
    x = np.zeros(X.stride)
    x[: X.val.shape[1]] = X.val[t]
    return ReferenceExample(x, X.stride, X.classes, dot_nonzeros(x, x))


@scaled_by.on(ReferenceExample)
def scaled_by_reference(z: Any, a: float) -> Any:
    return ReferenceExample(a * z.v, z.stride, z.classes, z.sq, a * z.sign, z.truth)


@class_block.on(ReferenceExample)
def class_block_reference(x: Any, c: Any, stride: int) -> Any:
    z = np.zeros((x.classes, x.stride))
    z[c] = x.v
    return ReferenceExample(z.ravel(), x.stride, x.classes, x.sq)


@difference.on(ReferenceExample)
def difference_reference(x: Any, c: Any, r: Any, stride: int) -> Any:
    v = class_block(x, c, stride).v - class_block(x, r, stride).v
    return ReferenceExample(v, x.stride, x.classes, 2.0 * x.sq, truth=c)


@partial_features.on(ReferenceExample)
def partial_features_reference(z: Any, w: Any, draw: Any, known: float, new: float) -> Any:
    j = np.arange(z.v.size) % z.stride
    weighted = w.v[: z.v.size] != 0.0
    read = weighted
    if draw.among > 0.0:
        read = (j < draw.among) & ((draw.a * j + draw.b) % draw.among < draw.most)
    return ReferenceExample(np.where(read, z.v * np.where(weighted, known, new), 0.0), z.stride, z.classes)


@side.on(ReferenceExample)
def side_reference(z: Any) -> Any:
    return z.sign


@breadth.on(ReferenceExample)
def breadth_reference(z: Any) -> Any:
    touched = np.flatnonzero(z.v.reshape(-1, z.stride).any(axis=1))
    return float(touched[-1] + 1) if touched.size else 1.0


@sqnorm.on(ReferenceExample)
def sqnorm_reference(z: Any) -> Any:
    return dot_nonzeros(z.v, z.v)


@peak.on(ReferenceExample)
def peak_reference(z: Any) -> Any:
    return float(np.abs(z.v).max(initial=0.0))


@sqsource.on(ReferenceExample)
def sqsource_reference(g: Any) -> Any:
    return g.sq


@extent.on(ReferenceExample)
def extent_reference(z: Any) -> Any:
    touched = np.flatnonzero(z.v.reshape(-1, z.stride).any(axis=0))
    return float(touched[-1] + 1) if touched.size else 0.0


@blocks.on(ReferenceExample)
def blocks_reference(z: Any) -> Any:
    return 1


@block.on(ReferenceExample)
def block_reference(z: Any, b: int) -> Any:
    return 0


@part.on(ReferenceExample)
def part_reference(z: Any, b: int) -> Any:
    return z


@count.on(ReferenceExample)
def count_reference(z: Any) -> Any:
    return z.v.size


@place.on(ReferenceExample)
def place_reference(z: Any, k: int) -> Any:
    return k


@coordinate.on(ReferenceExample)
def coordinate_reference(z: Any, k: int) -> Any:
    return k % z.stride


@value.on(ReferenceExample)
def value_reference(z: Any, k: int) -> Any:
    return float(z.v[k])
