"""Vectors with a copy of themselves: taken in no time, it costs a cell only where the vector has moved since.

A cell holds w, and w as it was when last held, if it has moved since then; its stamp says whether it has.
"""

from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.verbs import (
    add,
    at,
    blocks,
    count,
    dot,
    dots,
    factor,
    part,
    place,
    raw,
    snapshot_at,
    snapshot_dot,
    take_snapshot,
)

NUMBERS = {"times": 0.0}


class Snapshot(NamedTuple):
    """n: how often w was held; a cell with that number for a stamp has moved since, and old is what it was."""

    v: np.ndarray
    old: np.ndarray
    stamp: np.ndarray
    n: np.ndarray


@take_snapshot.on(Snapshot)
def hold_held(w: Any) -> Any:
    w.n[0] += 1.0


@snapshot_at.on(Snapshot)
def held_at_held(w: Any, j: Any) -> Any:
    """Both are read, so that the processor need not guess which."""
    old = w.old[j]
    new = w.v[j]
    return old if w.stamp[j] == w.n[0] else new


@snapshot_dot.on(Snapshot)
def held_dot_held(w: Any, x: Any) -> Any:
    total = 0.0
    for b in range(blocks(x)):
        q = part(x, b)
        c = 0.0
        for k in range(count(q)):
            c += snapshot_at(w, place(q, k)) * raw(q, k)
        total += factor(q) * c
    return total


@at.on(Snapshot)
def at_held(w: Any, j: Any) -> Any:
    return w.v[j]


@dot.on(Snapshot)
def dot_held(w: Any, z: Any) -> Any:
    return dot(w.v, z)


@dots.on(Snapshot)
def dots_held(w: Any, x: Any, stride: Any, out: Any) -> Any:
    dots(w.v, x, stride, out)


@add.on(Snapshot)
def add_held(w: Any, a: Any, z: Any) -> Any:
    now = w.n[0]
    for b in range(blocks(z)):
        q = part(z, b)
        step = a * factor(q)
        for k in range(count(q)):
            j = place(q, k)
            new = w.v[j]
            old = w.old[j]
            w.old[j] = old if w.stamp[j] == now else new
            w.stamp[j] = now
            w.v[j] = new + step * raw(q, k)
