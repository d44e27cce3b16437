"""The reference algebra: eager NumPy over all coordinates, nothing lazy, nothing clever. Never compiled.

Coordinates are laid out by class. It exists to be read and to be compared with.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.verbs import (
    add,
    apportion,
    at,
    block,
    blocks,
    breadth,
    class_block,
    clip,
    clip_peaks,
    contract,
    coordinate,
    count,
    difference,
    dot,
    dots,
    extent,
    flush,
    group_norm,
    group_size,
    keep,
    linked,
    multiply,
    norm,
    part,
    partial_features,
    place,
    prune,
    put,
    row,
    scale,
    scaled_by,
    share,
    shared,
    shorten,
    shrink,
    side,
    snapshot_at,
    snapshot_dot,
    sqnorm,
    sqsource,
    swelled,
    swelled_total,
    take_snapshot,
    total,
    value,
)


class ReferenceRows(NamedTuple):
    """A block of dense rows; stride is the number of features, classes the number of class blocks."""

    val: np.ndarray
    stride: int
    classes: int


class ReferenceExample(NamedTuple):
    """An example as a vector over all coordinates.

    Of a multiple of a signed example, sq is the square of that, and sign what was multiplied into it. Of a difference,
    truth is the class that has x itself; of a single block it is below zero.
    """

    v: np.ndarray
    stride: int
    classes: int
    sq: float = 0.0
    sign: float = 1.0
    truth: int = -1


class ReferenceVector(NamedTuple):
    """A weight vector over all coordinates; stride is the number of features."""

    v: np.ndarray
    stride: int = 1


class ReferenceGroups(NamedTuple):
    """A weight vector over all coordinates, and the group of every feature."""

    v: np.ndarray
    group: np.ndarray


class ReferenceSnapshot(NamedTuple):
    """A weight vector over all coordinates, and a copy of what it was when last held."""

    v: np.ndarray
    old: np.ndarray


@row.on(ReferenceRows)
def row_reference(X: Any, t: Any) -> Any:
    x = np.zeros(X.stride)
    x[: X.val.shape[1]] = X.val[t]
    return ReferenceExample(x, X.stride, X.classes, float(x @ x))


@scaled_by.on(ReferenceExample)
def stretch_reference(z: Any, a: Any) -> Any:
    return ReferenceExample(a * z.v, z.stride, z.classes, z.sq, a * z.sign, z.truth)


@class_block.on(ReferenceExample)
def seat_reference(x: Any, c: Any, stride: Any) -> Any:
    z = np.zeros((x.classes, x.stride))
    z[c] = x.v
    return ReferenceExample(z.ravel(), x.stride, x.classes, x.sq)


@difference.on(ReferenceExample)
def difference_reference(x: Any, c: Any, r: Any, stride: Any) -> Any:
    v = class_block(x, c, stride).v - class_block(x, r, stride).v
    return ReferenceExample(v, x.stride, x.classes, 2.0 * x.sq, truth=c)


@partial_features.on(ReferenceExample)
def glimpse_reference(z: Any, w: Any, draw: Any, known: Any, new: Any) -> Any:
    j = np.arange(z.v.size) % z.stride
    weighted = w.v[: z.v.size] != 0.0
    read = weighted
    if draw.among > 0.0:
        read = (j < draw.among) & ((draw.a * j + draw.b) % draw.among < draw.most)
    return ReferenceExample(np.where(read, z.v * np.where(weighted, known, new), 0.0), z.stride, z.classes)


@dot.on(ReferenceGroups)
@dot.on(ReferenceSnapshot)
@dot.on(ReferenceVector)
def dot_reference(w: Any, z: Any) -> Any:
    return float(w.v[: z.v.size] @ z.v)


@dots.on(ReferenceGroups)
@dots.on(ReferenceSnapshot)
@dots.on(ReferenceVector)
def dots_reference(w: Any, x: Any, stride: Any, out: Any) -> Any:
    for c in range(out.size):
        out[c] = dot(w, class_block(x, c, stride))


@add.on(ReferenceGroups)
@add.on(ReferenceSnapshot)
@add.on(ReferenceVector)
def add_reference(w: Any, a: Any, z: Any) -> Any:
    w.v[: z.v.size] += a * z.v


@multiply.on(ReferenceVector)
def multiply_reference(w: Any, base: Any, z: Any) -> Any:
    w.v[: z.v.size] *= base**z.v


@prune.on(ReferenceVector)
def prune_reference(w: Any, base: Any, z: Any) -> Any:
    multiply(w, base, z)
    w.v[: z.v.size][z.v < 0.0] = 0.0


@scale.on(ReferenceVector)
def scale_reference(w: Any, a: Any) -> Any:
    w.v[:] *= a


@shrink.on(ReferenceVector)
def soften_reference(w: Any, a: Any, theta: Any) -> Any:
    near = np.abs(w.v) <= theta
    w.v[near] = np.sign(w.v[near]) * np.maximum(np.abs(w.v[near]) - a, 0.0)


@clip_peaks.on(ReferenceVector)
def level_reference(w: Any, a: Any) -> Any:
    """The height, from the sizes in order: so many of the largest lose a together and do not fall below the next."""
    sizes = -np.sort(-np.abs(w.v))
    heights = (np.cumsum(sizes) - a) / np.arange(1, sizes.size + 1)
    height = max(float(heights[sizes > heights][-1]) if (sizes > heights).any() else np.inf, 0.0)
    w.v[:] = np.clip(w.v, -height, height)


@keep.on(ReferenceVector)
def keep_reference(w: Any, B: Any) -> Any:
    """Of equal sizes lower features stay, then lower classes."""
    place = np.arange(w.v.size)
    order = np.lexsort((place // w.stride, place % w.stride, -np.abs(w.v)))
    w.v[order[int(B) :]] = 0.0


@clip.on(ReferenceVector)
def clip_reference(w: Any, low: Any, high: Any, z: Any) -> Any:
    w.v[:] = np.clip(w.v, low, high)


def left(cells: np.ndarray, radius: float) -> np.ndarray:
    """What each cell keeps when all give the same, and those that stay above zero sum to radius; found by sorting.

    All are measured from the largest: beside it, a small radius would be lost.
    """
    below = cells - cells.max()
    falling = np.sort(below)[::-1]
    amounts = (np.cumsum(falling) - radius) / np.arange(1, cells.size + 1)
    return np.asarray(np.maximum(below - amounts[np.flatnonzero(falling > amounts)[-1]], 0.0))


@contract.on(ReferenceVector)
def contract_reference(w: Any, radius: Any, z: Any) -> Any:
    sizes = np.abs(w.v)
    if sizes.sum() > radius:
        w.v[:] = np.sign(w.v) * left(sizes, radius)


@apportion.on(ReferenceVector)
def apportion_reference(w: Any, radius: Any, z: Any, features: Any, classes: Any) -> Any:
    cells = w.v.reshape(-1, w.stride)[: int(classes), : int(features)]
    if cells.size:
        cells[...] = left(cells.ravel(), radius).reshape(cells.shape)


def terms(theta: np.ndarray, sides: float) -> np.ndarray:
    return np.asarray(np.exp(theta) + np.exp(-theta) if sides == 2.0 else np.exp(sides * theta))


@total.on(ReferenceVector)
def total_reference(w: Any, sides: Any, cells: Any) -> Any:
    moved = w.v[w.v != 0.0]
    return float(terms(moved, sides).sum() + max(cells - moved.size, 0.0) * terms(np.zeros(1), sides)[0])


@share.on(ReferenceVector)
def share_reference(w: Any, j: Any, sides: Any, cells: Any) -> Any:
    """Every term is divided by the largest, so that none overflows and not all vanish."""
    moved = w.v[w.v != 0.0]
    rest = max(cells - moved.size, 0.0)
    heights = np.abs(moved) if sides == 2.0 else sides * moved
    top = max(heights.max(initial=-np.inf), 0.0 if rest > 0.0 else -np.inf)
    whole = np.exp(heights - top).sum()
    if rest > 0.0:
        whole += (2.0 if sides == 2.0 else 1.0) * rest * np.exp(-top)
    if sides != 2.0:
        return float(np.exp(sides * w.v[j] - top) / whole)
    whole += np.exp(-heights - top).sum()
    if abs(w.v[j]) < 1.0:
        return float(2.0 * np.sinh(w.v[j]) * np.exp(-top) / whole)
    return float(np.sign(w.v[j]) * (np.exp(abs(w.v[j]) - top) - np.exp(-abs(w.v[j]) - top)) / whole)


@shared.on(ReferenceVector)
def shared_reference(w: Any, x: Any, sides: Any, cells: Any) -> Any:
    return float(sum(share(w, j, sides, cells) * x.v[j] for j in np.flatnonzero(x.v)))


@swelled_total.on(ReferenceVector)
def swelled_total_reference(w: Any, sides: Any, cells: Any, lift: Any) -> Any:
    return total(w, sides, cells) * float(np.exp(lift))


@swelled.on(ReferenceVector)
def swelled_reference(w: Any, x: Any, sides: Any, lift: Any) -> Any:
    return float(np.exp(sides * w.v[: x.v.size] + lift) @ x.v)


@side.on(ReferenceExample)
def side_reference(z: Any) -> Any:
    return z.sign


@group_norm.on(ReferenceGroups)
def group_norm_reference(w: Any, j: Any, a: Any) -> Any:
    own = w.group == w.group[j % w.group.size]
    block_of_j = w.v.reshape(-1, w.group.size)[j // w.group.size]
    return float(np.linalg.norm(np.maximum(np.abs(block_of_j[own]) - a, 0.0)))


@shorten.on(ReferenceGroups)
def shorten_reference(w: Any, a: Any) -> Any:
    for of_class in w.v.reshape(-1, w.group.size):
        for own in (w.group == g for g in range(w.group.max() + 1)):
            length = float(np.linalg.norm(of_class[own]))
            of_class[own] *= 1.0 - a / length if length > a else 0.0


@group_size.on(ReferenceGroups)
def group_size_reference(w: Any, j: Any) -> Any:
    return float(np.count_nonzero(w.group == w.group[j % w.group.size]))


@take_snapshot.on(ReferenceSnapshot)
def hold_reference(w: Any) -> Any:
    w.old[:] = w.v


@snapshot_at.on(ReferenceSnapshot)
def held_at_reference(w: Any, j: Any) -> Any:
    return float(w.old[j])


@snapshot_dot.on(ReferenceSnapshot)
def held_dot_reference(w: Any, x: Any) -> Any:
    return float(w.old[: x.v.size] @ x.v)


@breadth.on(ReferenceExample)
def breadth_reference(z: Any) -> Any:
    touched = np.flatnonzero(z.v.reshape(-1, z.stride).any(axis=1))
    return float(touched[-1] + 1) if touched.size else 1.0


@flush.on(ReferenceVector)
def pour_reference(w: Any, u: Any) -> Any:
    w.v[:] += u.v
    u.v[:] = 0.0


@put.on(ReferenceVector)
def put_reference(w: Any, j: Any, a: Any) -> Any:
    w.v[j] = a


@at.on(ReferenceGroups)
@at.on(ReferenceSnapshot)
@at.on(ReferenceVector)
def at_reference(w: Any, j: Any) -> Any:
    return float(w.v[j])


@sqnorm.on(ReferenceExample)
def sqnorm_reference(z: Any) -> Any:
    return float(z.v @ z.v)


@sqsource.on(ReferenceExample)
def sqsource_reference(g: Any) -> Any:
    return g.sq


@norm.on(ReferenceVector)
@norm.on(ReferenceExample)
def norm_reference(w: Any, p: Any) -> Any:
    """Summed exactly, so that room for more features changes no digit."""
    largest = float(np.abs(w.v).max(initial=0.0))
    if largest == 0.0:
        return 0.0
    return largest * math.fsum(((np.abs(w.v) / largest) ** p).tolist()) ** (1.0 / p)


@linked.on(ReferenceVector)
def linked_reference(w: Any, x: Any, p: Any) -> Any:
    size = norm(w, p)
    return float((np.sign(w.v) * (np.abs(w.v) / size) ** (p - 1.0) * size)[: x.v.size] @ x.v) if size > 0.0 else 0.0


@extent.on(ReferenceExample)
def extent_reference(z: Any) -> Any:
    touched = np.flatnonzero(z.v.reshape(-1, z.stride).any(axis=0))
    return float(touched[-1] + 1) if touched.size else 0.0


@blocks.on(ReferenceExample)
def blocks_reference(z: Any) -> Any:
    return 1


@block.on(ReferenceExample)
def block_reference(z: Any, b: Any) -> Any:
    return 0


@part.on(ReferenceExample)
def part_reference(z: Any, b: Any) -> Any:
    return z


@count.on(ReferenceExample)
def count_reference(z: Any) -> Any:
    return z.v.size


@place.on(ReferenceExample)
def place_reference(z: Any, k: Any) -> Any:
    return k


@coordinate.on(ReferenceExample)
def coordinate_reference(z: Any, k: Any) -> Any:
    return k % z.stride


@value.on(ReferenceExample)
def value_reference(z: Any, k: Any) -> Any:
    return float(z.v[k])
