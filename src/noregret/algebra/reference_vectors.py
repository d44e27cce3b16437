"""Vectors of the reference algebra: every verb over all coordinates at once."""

import math
from typing import Any

import numpy as np

from noregret.algebra.arrays import Floats
from noregret.algebra.internal_verbs import class_block, dots
from noregret.algebra.reference import (
    ReferenceExample,
    ReferenceGroups,
    ReferenceSnapshot,
    ReferenceVector,
    dot_nonzeros,
)
from noregret.algebra.verbs import (
    add,
    apportion,
    at,
    clip,
    clip_peaks,
    contract,
    dot,
    exp_dot,
    exp_total,
    group_norm,
    group_size,
    keep,
    link_dot,
    multiply,
    norm,
    prune,
    put,
    scale,
    share_dot,
    shorten,
    shrink,
    snapshot_at,
    snapshot_dot,
    take_snapshot,
)


@dot.on(ReferenceGroups)
@dot.on(ReferenceSnapshot)
@dot.on(ReferenceVector)
def dot_reference(w: Any, z: Any) -> Any:
    return dot_nonzeros(w.v, z.v)


@dots.on(ReferenceGroups)
@dots.on(ReferenceSnapshot)
@dots.on(ReferenceVector)
def dots_reference(w: Any, x: Any, stride: int, out: Floats) -> None:
    for c in range(out.size):
        out[c] = dot(w, class_block(x, c, stride))


@add.on(ReferenceGroups)
@add.on(ReferenceSnapshot)
@add.on(ReferenceVector)
def add_reference(w: Any, a: float, z: Any) -> None:
    w.v[: z.v.size] += a * z.v


@multiply.on(ReferenceVector)
def multiply_reference(w: Any, base: float, z: Any) -> None:
    w.v[: z.v.size] *= base**z.v


@prune.on(ReferenceVector)
def prune_reference(w: Any, base: float, z: Any) -> None:
    multiply(w, base, z)
    w.v[: z.v.size][z.v < 0.0] = 0.0


@scale.on(ReferenceVector)
def scale_reference(w: Any, a: float) -> None:
    w.v[:] *= a


@shrink.on(ReferenceVector)
def shrink_reference(w: Any, a: float, theta: float) -> None:
    near = np.abs(w.v) <= theta
    w.v[near] = np.sign(w.v[near]) * np.maximum(np.abs(w.v[near]) - a, 0.0)


@clip_peaks.on(ReferenceVector)
def clip_peaks_reference(w: Any, a: float) -> None:
    """Find the height from the sorted sizes: the k largest lose a together and do not fall below the next."""
    sizes = -np.sort(-np.abs(w.v))
    heights = (np.cumsum(sizes) - a) / np.arange(1, sizes.size + 1)
    height = max(float(heights[sizes > heights][-1]) if (sizes > heights).any() else np.inf, 0.0)
    w.v[:] = np.clip(w.v, -height, height)


@keep.on(ReferenceVector)
def keep_reference(w: Any, B: float) -> None:
    """Of equal sizes, lower features are kept, then lower classes."""
    place = np.arange(w.v.size)
    order = np.lexsort((place // w.stride, place % w.stride, -np.abs(w.v)))
    w.v[order[int(B) :]] = 0.0


@clip.on(ReferenceVector)
def clip_reference(w: Any, low: float, high: float, z: Any) -> None:
    w.v[:] = np.clip(w.v, low, high)


def project_simplex(cells: Floats, radius: float) -> Floats:
    """Project onto the simplex of this radius: subtract one threshold, found by sorting, and clip at zero.

    Cells are measured from the largest one: a small radius would otherwise be lost in rounding.
    """
    below = cells - cells.max()
    falling = np.sort(below)[::-1]
    thresholds = (np.cumsum(falling) - radius) / np.arange(1, cells.size + 1)
    return np.asarray(np.maximum(below - thresholds[np.flatnonzero(falling > thresholds)[-1]], 0.0))


@contract.on(ReferenceVector)
def contract_reference(w: Any, radius: float, z: Any) -> None:
    sizes = np.abs(w.v)
    if sizes.sum() > radius:
        w.v[:] = np.sign(w.v) * project_simplex(sizes, radius)


@apportion.on(ReferenceVector)
def apportion_reference(w: Any, radius: float, z: Any, features: Any, classes: Any) -> None:
    cells = w.v.reshape(-1, w.stride)[: int(classes), : int(features)]
    if cells.size:
        cells[...] = project_simplex(cells.ravel(), radius).reshape(cells.shape)


def exp_terms(theta: Floats, sides: float) -> Floats:
    return np.asarray(np.exp(theta) + np.exp(-theta) if sides == 2.0 else np.exp(sides * theta))


def share(w: Any, j: int, sides: float, cells: float) -> Any:
    """Every term is divided by the largest, so that none overflows and not all vanish."""
    nonzero = w.v[w.v != 0.0]
    rest = max(cells - nonzero.size, 0.0)
    heights = np.abs(nonzero) if sides == 2.0 else sides * nonzero
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


@share_dot.on(ReferenceVector)
def share_dot_reference(w: Any, x: Any, sides: float, cells: float) -> Any:
    return float(sum(share(w, int(j), sides, cells) * x.v[j] for j in np.flatnonzero(x.v)))


@exp_total.on(ReferenceVector)
def exp_total_reference(w: Any, sides: float, cells: float, lift: float) -> Any:
    nonzero = w.v[w.v != 0.0]
    total = exp_terms(nonzero, sides).sum() + max(cells - nonzero.size, 0.0) * exp_terms(np.zeros(1), sides)[0]
    return float(total) * float(np.exp(lift))


@exp_dot.on(ReferenceVector)
def exp_dot_reference(w: Any, x: Any, sides: float, lift: float) -> Any:
    return dot_nonzeros(np.exp(sides * w.v[: x.v.size] + lift), x.v)


@group_norm.on(ReferenceGroups)
def group_norm_reference(w: Any, j: int, a: float) -> Any:
    own = w.group == w.group[j % w.group.size]
    block_of_j = w.v.reshape(-1, w.group.size)[j // w.group.size]
    return float(np.linalg.norm(np.maximum(np.abs(block_of_j[own]) - a, 0.0)))


@shorten.on(ReferenceGroups)
def shorten_reference(w: Any, a: float) -> None:
    for of_class in w.v.reshape(-1, w.group.size):
        for own in (w.group == g for g in range(w.group.max() + 1)):
            length = float(np.linalg.norm(of_class[own]))
            of_class[own] *= 1.0 - a / length if length > a else 0.0


@group_size.on(ReferenceGroups)
def group_size_reference(w: Any, j: int) -> Any:
    return float(np.count_nonzero(w.group == w.group[j % w.group.size]))


@take_snapshot.on(ReferenceSnapshot)
def take_snapshot_reference(w: Any) -> None:
    w.old[:] = w.v


@snapshot_at.on(ReferenceSnapshot)
def snapshot_at_reference(w: Any, j: int) -> Any:
    return float(w.old[j])


@snapshot_dot.on(ReferenceSnapshot)
def snapshot_dot_reference(w: Any, x: Any) -> Any:
    return dot_nonzeros(w.old, x.v)


@put.on(ReferenceVector)
def put_reference(w: Any, j: int, a: float) -> None:
    w.v[j] = a


@at.on(ReferenceGroups)
@at.on(ReferenceSnapshot)
@at.on(ReferenceVector)
def at_reference(w: Any, j: int) -> Any:
    return float(w.v[j])


@norm.on(ReferenceVector)
@norm.on(ReferenceExample)
def norm_reference(w: Any, p: float) -> Any:
    """Summed exactly, so that spare room changes no digit."""
    largest = float(np.abs(w.v).max(initial=0.0))
    if largest == 0.0:
        return 0.0
    return largest * math.fsum(((np.abs(w.v) / largest) ** p).tolist()) ** (1.0 / p)


@link_dot.on(ReferenceVector)
def link_dot_reference(w: Any, x: Any, p: float) -> Any:
    size = norm(w, p)
    return dot_nonzeros(np.sign(w.v) * (np.abs(w.v) / size) ** (p - 1.0) * size, x.v) if size > 0.0 else 0.0
