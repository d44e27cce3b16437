"""Projections: the nearest vector in a box, in a ball of the sum of sizes, on a simplex.

The last two take the same amount from every cell that stays above it. The amount is found as Michelot (1986) does: it
grows as cells fall out, and is right when none does. Most of the time that takes a handful of looks at all cells. All
is measured from the largest cell: beside it, a small radius would be lost.
"""

import math
from typing import Any

from noregret.algebra.examples import Dense, DenseBlocks, Sparse, SparseBlocks
from noregret.algebra.scaled import Scaled
from noregret.algebra.verbs import Plain, apportion, blocks, cell, clip, contract, count, part, place, sweep


@clip.on(Plain)
def clip_plain(w: Any, low: Any, high: Any, z: Any) -> Any:
    for b in range(blocks(z)):
        q = part(z, b)
        for k in range(count(q)):
            if w[place(q, k)] < low:
                w[place(q, k)] = low
            elif w[place(q, k)] > high:
                w[place(q, k)] = high


@contract.on(Plain)
def contract_plain(w: Any, radius: Any, z: Any) -> Any:
    size = 0.0
    top = 0.0
    for j in range(w.size):
        size += abs(w[j])
        top = max(top, abs(w[j]))
    if size <= radius:
        return
    taken = -math.inf
    before = w.size + 1
    while True:
        total = 0.0
        above = 0
        for j in range(w.size):
            if abs(w[j]) - top > taken:
                total += abs(w[j]) - top
                above += 1
        if above == 0 or above >= before:
            break
        before = above
        taken = (total - radius) / above
    for j in range(w.size):
        w[j] = math.copysign(abs(w[j]) - top - taken, w[j]) if abs(w[j]) - top > taken else 0.0


@apportion.on(Plain)
def apportion_plain(w: Any, radius: Any, z: Any, features: Any, classes: Any) -> Any:
    top = -math.inf
    for j in range(int(features)):
        for c in range(int(classes)):
            top = max(top, w[cell(z, j, c)])
    taken = -math.inf
    before = int(features) * int(classes) + 1
    while True:
        total = 0.0
        above = 0
        for j in range(int(features)):
            for c in range(int(classes)):
                if w[cell(z, j, c)] - top > taken:
                    total += w[cell(z, j, c)] - top
                    above += 1
        if above == 0 or above >= before:
            break
        before = above
        taken = (total - radius) / above
    for j in range(int(features)):
        for c in range(int(classes)):
            w[cell(z, j, c)] = max(w[cell(z, j, c)] - top - taken, 0.0)


def clip_scaled(w: Any, low: Any, high: Any, z: Any) -> Any:
    """What was known of the norm is forgotten, here and below."""
    clip(w.v, min(low / w.n[0], high / w.n[0]), max(low / w.n[0], high / w.n[0]), z)
    w.n[3] = 0.0


def contract_scaled(w: Any, radius: Any, z: Any) -> Any:
    contract(w.v, radius / abs(w.n[0]), z)
    w.n[3] = 0.0


def apportion_scaled(w: Any, radius: Any, z: Any, features: Any, classes: Any) -> Any:
    """A negative scale would turn the vector around; any is multiplied in before."""
    if w.n[0] != 1.0:
        sweep(w.v, w.n[0])
        w.n[0] = 1.0
    apportion(w.v, radius, z, features, classes)
    w.n[3] = 0.0


for _kind in (Sparse, SparseBlocks, Dense, DenseBlocks):  # a scaled vector may also be one without coordinates
    clip.on(Scaled, object, object, _kind)(clip_scaled)
    contract.on(Scaled, object, _kind)(contract_scaled)
    apportion.on(Scaled, object, _kind)(apportion_scaled)
