"""Averaged vectors: w, and a sum u from which the mean of w over the rounds follows.

If round s changes w by delta_s, the mean of w over rounds a + 1 to t + 1 is w - u / (t - a + 1), where u is the sum of
(s - a) delta_s over the rounds s after a.
"""

from typing import Any, NamedTuple

from noregret.algebra.arrays import Floats
from noregret.algebra.internal_verbs import add_dots, class_block, dots, mean_dot, mean_dots
from noregret.algebra.verbs import add, at, dot

NUMBERS = {"after": 0.0}


class Averaged(NamedTuple):
    """w and u, vectors with dot and add; clock: the number of the round; n: after how many rounds the mean begins."""

    v: Any
    u: Any
    clock: Floats
    n: Floats


@dot.on(Averaged)
def dot_averaged(w: Any, z: Any) -> Any:
    return dot(w.v, z)


@dots.on(Averaged)
def dots_averaged(w: Any, x: Any, stride: int, out: Floats) -> None:
    dots(w.v, x, stride, out)


@at.on(Averaged)
def at_averaged(w: Any, j: int) -> Any:
    return at(w.v, j)


@add.on(Averaged)
def add_averaged(w: Any, a: float, z: Any) -> None:
    add(w.v, a, z)
    late = w.clock[0] - w.n[0]
    if late > 0.0:
        add(w.u, late * a, z)


@mean_dot.on(Averaged)
def mean_dot_averaged(w: Any, x: Any) -> Any:
    late = w.clock[0] - w.n[0]
    if late > 0.0:
        return dot(w.v, x) - dot(w.u, x) / (late + 1.0)
    return dot(w.v, x)


@mean_dots.on(Averaged)
def mean_dots_averaged(w: Any, x: Any, stride: int, out: Floats) -> None:
    late = w.clock[0] - w.n[0]
    if late > 0.0:
        dots(w.u, x, stride, out)
        for c in range(out.size):
            out[c] = -out[c] / (late + 1.0)
        add_dots(w.v, x, stride, out)
    else:
        dots(w.v, x, stride, out)


@add_dots.on(object)
def add_dots_one_by_one(w: Any, x: Any, stride: int, out: Floats) -> None:
    for c in range(out.size):
        out[c] += dot(w, class_block(x, c, stride))
