"""Centres, for one-class learning: a point w in the middle of the rows, and examples that are unit steps toward rows.

Adding a u to w, where u = (x - w) / |x - w|, scales w down and adds a multiple of x. With a scaled w this costs no more
than the row. A centre may lie above the rows: its height is one more coordinate, which is zero in every row.
"""

import math
from typing import Any, NamedTuple

from noregret.algebra.arrays import Floats
from noregret.algebra.internal_verbs import scaled_by
from noregret.algebra.scaled import NUMBERS as SCALED
from noregret.algebra.verbs import Verb, add, dot, norm, scale, sqnorm, sqsource

NUMBERS = {**SCALED, "height": 0.0}


@Verb
def distance(w: Any, x: Any) -> Any:
    """|x - w|, where w may lie above the rows"""


@Verb
def toward(w: Any, x: Any, length: float) -> Any:
    """(x - w) / |x - w|, where |x - w| is the length"""


class Centre(NamedTuple):
    """w, a vector with dot, add and scale, and its height above the rows."""

    v: Any
    height: Floats


class Toward(NamedTuple):
    """sign (x - w) / |x - w|, where |x - w| = length; zero when the sign is zero."""

    x: Any
    length: float
    sign: float


@distance.on(Centre)
def distance_centre(w: Any, x: Any) -> Any:
    size = norm(w.v, 2.0)
    return math.sqrt(max(sqnorm(x) - 2.0 * dot(w.v, x) + size * size, 0.0) + w.height[0] * w.height[0])


@toward.on(Centre)
def toward_centre(w: Any, x: Any, length: float) -> Any:
    return Toward(x, length, 1.0) if length > 0.0 else Toward(x, 1.0, 0.0)


@add.on(Centre)
def add_centre(w: Any, a: float, u: Any) -> None:
    part = a * u.sign / u.length
    if part != 0.0:
        scale(w.v, 1.0 - part)
        add(w.v, part, u.x)
        w.height[0] *= 1.0 - part


@scaled_by.on(Toward)
def scaled_by_toward(u: Any, a: float) -> Any:
    return Toward(u.x, u.length, u.sign * a)


@sqnorm.on(Toward)
def sqnorm_toward(u: Any) -> Any:
    return u.sign * u.sign


@sqsource.on(Toward)
def sqsource_toward(u: Any) -> Any:
    return 1.0
