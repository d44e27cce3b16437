"""Vectors with a snapshot: taking it costs nothing; a cell is copied when it first changes afterwards.

A cell has w, the w of the snapshot if it has changed since then, and a stamp that says whether it has.
"""

from typing import Any, NamedTuple

from noregret.algebra.arrays import Floats
from noregret.algebra.internal_verbs import blocks, count, dots, factor, part, place, raw
from noregret.algebra.verbs import add, at, dot, snapshot_at, snapshot_dot, take_snapshot

NUMBERS = {"times": 0.0}


class Snapshot(NamedTuple):
    """n: how many snapshots were taken; a cell with this number as its stamp has changed since, and was old before."""

    v: Floats
    old: Floats
    stamp: Floats
    n: Floats


@take_snapshot.on(Snapshot)
def take_snapshot_lazily(w: Any) -> None:
    w.n[0] += 1.0


@snapshot_at.on(Snapshot)
def snapshot_at_lazily(w: Any, j: int) -> Any:
    """Both are read, so that there is no branch."""
    old = w.old[j]
    new = w.v[j]
    return old if w.stamp[j] == w.n[0] else new


@snapshot_dot.on(Snapshot)
def snapshot_dot_lazily(w: Any, x: Any) -> Any:
    total = 0.0
    for b in range(blocks(x)):
        q = part(x, b)
        c = 0.0
        for k in range(count(q)):
            c += snapshot_at(w, place(q, k)) * raw(q, k)
        total += factor(q) * c
    return total


@at.on(Snapshot)
def at_snapshot(w: Any, j: int) -> Any:
    return w.v[j]


@dot.on(Snapshot)
def dot_snapshot(w: Any, z: Any) -> Any:
    return dot(w.v, z)


@dots.on(Snapshot)
def dots_snapshot(w: Any, x: Any, stride: int, out: Floats) -> None:
    dots(w.v, x, stride, out)


@add.on(Snapshot)
def add_snapshot(w: Any, a: float, z: Any) -> None:
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
