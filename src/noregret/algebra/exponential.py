"""exp(x) for x <= 0 in plain arithmetic, so that loops over many values are vectorized: four times faster than a call.

x = k ln 2 + r with |r| <= ln(2) / 2, and exp(x) = 2^k exp(r), where exp(r) is its Taylor polynomial of degree 13:
within two units in the last place. The same bits compiled and interpreted.
"""

import math
from typing import Any

from noregret.algebra.verbs import helper

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # ln 2 in two parts: k times the first is exact
ROUND = 6755399441055744.0  # 1.5 2^52: adding it rounds to a whole number
LEAST = -708.0  # exp of less is taken to be exp of this, 3.3e-308
C2, C3, C4, C5, C6, C7 = 1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040
C8, C9, C10, C11 = 1 / 40320, 1 / 362880, 1 / 3628800, 1 / 39916800
C12, C13 = 1 / 479001600, 1 / 6227020800


def power_of_two(k: float) -> float:
    """2^k for a whole number k between -1022 and 1023; in compiled code, k becomes the exponent of a float."""
    return math.ldexp(1.0, int(k))


@helper
def exp_below_zero(x: float) -> Any:
    x = max(x, LEAST)
    k = (x * LOG2_E + ROUND) - ROUND
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    q = r * r
    u = q * q
    a = (r + 1.0) + q * (C3 * r + C2)
    b = (C5 * r + C4) + q * (C7 * r + C6)
    c = (C9 * r + C8) + q * (C11 * r + C10)
    d = C13 * r + C12
    return ((a + u * b) + (u * u) * (c + u * d)) * power_of_two(k)
