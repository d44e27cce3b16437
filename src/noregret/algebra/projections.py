"""Projections: the nearest vector in a box, in an L1 ball, on a simplex.

The last two subtract one threshold from all cells, and cells below it become zero. The threshold is found as in
Michelot (1986): it rises as cells become zero, and is right when none does. This usually takes a few passes over all
cells. Cells are measured from the largest one: a small radius would otherwise be lost in rounding.
"""

import math
from typing import Any

from noregret.algebra.examples import Dense, DenseBlocks, Sparse, SparseBlocks
from noregret.algebra.internal_verbs import blocks, cell, count, part, place, sweep
from noregret.algebra.scaled import Scaled
from noregret.algebra.verbs import Plain, apportion, clip, contract


@clip.on(Plain)
def clip_plain(w: Any, low: float, high: float, z: Any) -> None:
    for b in range(blocks(z)):
        q = part(z, b)
        for k in range(count(q)):
            if w[place(q, k)] < low:
                w[place(q, k)] = low
            elif w[place(q, k)] > high:
                w[place(q, k)] = high


@contract.on(Plain)
def contract_plain(w: Any, radius: float, z: Any) -> None:
    size = 0.0
    top = 0.0
    for j in range(w.size):
        size += abs(w[j])
        top = max(top, abs(w[j]))
    if size <= radius:
        return
    threshold = -math.inf
    before = w.size + 1
    while True:
        total = 0.0
        above = 0
        for j in range(w.size):
            if abs(w[j]) - top > threshold:
                total += abs(w[j]) - top
                above += 1
        if above == 0 or above >= before:
            break
        before = above
        threshold = (total - radius) / above
    for j in range(w.size):
        w[j] = math.copysign(abs(w[j]) - top - threshold, w[j]) if abs(w[j]) - top > threshold else 0.0


@apportion.on(Plain)
def apportion_plain(w: Any, radius: float, z: Any, features: Any, classes: Any) -> None:
    top = -math.inf
    for j in range(int(features)):
        for c in range(int(classes)):
            top = max(top, w[cell(z, j, c)])
    threshold = -math.inf
    before = int(features) * int(classes) + 1
    while True:
        total = 0.0
        above = 0
        for j in range(int(features)):
            for c in range(int(classes)):
                if w[cell(z, j, c)] - top > threshold:
                    total += w[cell(z, j, c)] - top
                    above += 1
        if above == 0 or above >= before:
            break
        before = above
        threshold = (total - radius) / above
    for j in range(int(features)):
        for c in range(int(classes)):
            w[cell(z, j, c)] = max(w[cell(z, j, c)] - top - threshold, 0.0)


def clip_scaled(w: Any, low: float, high: float, z: Any) -> Any:
    """The cached norm is no longer valid, here and below."""
    clip(w.v, min(low / w.n[0], high / w.n[0]), max(low / w.n[0], high / w.n[0]), z)
    w.n[3] = 0.0


def contract_scaled(w: Any, radius: float, z: Any) -> Any:
    contract(w.v, radius / abs(w.n[0]), z)
    w.n[3] = 0.0


def apportion_scaled(w: Any, radius: float, z: Any, features: Any, classes: Any) -> Any:
    """The scale is multiplied in first: a negative one would reverse the order of the cells."""
    if w.n[0] != 1.0:
        sweep(w.v, w.n[0])
        w.n[0] = 1.0
    apportion(w.v, radius, z, features, classes)
    w.n[3] = 0.0


for _kind in (Sparse, SparseBlocks, Dense, DenseBlocks):  # a scaled kernel expansion has no coordinates to project
    clip.on(Scaled, object, object, _kind)(clip_scaled)
    contract.on(Scaled, object, _kind)(contract_scaled)
    apportion.on(Scaled, object, _kind)(apportion_scaled)
