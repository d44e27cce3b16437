"""Decayed vectors: w shrinks by the factor 1 - decay in every round, at no cost for the features that are not in it.

w = c (1 - decay)^(t - a) v, where t is the number of the round and a the round in which the scale c was last renewed.
The numbers n are counters: the decay, c and a.
"""

import math
from typing import Any, NamedTuple

from noregret.algebra.arrays import Flag, Floats
from noregret.algebra.internal_verbs import dots, sweep
from noregret.algebra.reference import ReferenceVector
from noregret.algebra.verbs import add, at, dot, helper

NUMBERS = {"decay": 0.0, "scale": 1.0, "at": 0.0}
SMALL = 1e-100


class Decayed(NamedTuple):
    """v, a vector with dot, add and sweep; clock: the number of the round; may: whether a round may change all of v."""

    v: Any
    clock: Floats
    n: Floats
    may: Flag


@helper
def scale_now(w: Any) -> Any:
    """What v is multiplied by in this round."""
    late = w.clock[0] - w.n[2]
    if late == 0.0:
        return w.n[1]
    if late == 1.0:
        return w.n[1] * (1.0 - w.n[0])
    return w.n[1] * (1.0 - w.n[0]) ** late


@helper
def renew_scale(w: Any) -> Any:
    """Bring the scale to this round; one that is too small is multiplied into v, or fails where v may not change."""
    c = scale_now(w)
    w.n[2] = w.clock[0]
    if c < SMALL:
        if w.may[0] == 0:
            c = math.nan
        else:
            sweep(w.v, c)
            c = 1.0
    w.n[1] = c


@dot.on(Decayed)
def dot_decayed(w: Any, z: Any) -> Any:
    return scale_now(w) * dot(w.v, z)


@dots.on(Decayed)
def dots_decayed(w: Any, x: Any, stride: int, out: Floats) -> None:
    dots(w.v, x, stride, out)
    c = scale_now(w)
    for k in range(out.size):
        out[k] *= c


@at.on(Decayed)
def at_decayed(w: Any, j: int) -> Any:
    return scale_now(w) * at(w.v, j)


@add.on(Decayed)
def add_decayed(w: Any, a: float, z: Any) -> None:
    renew_scale(w)
    add(w.v, a / w.n[1], z)


@sweep.on(ReferenceVector)
def sweep_reference(v: Any, a: float) -> None:
    for j in range(v.v.size):
        v.v[j] *= a
