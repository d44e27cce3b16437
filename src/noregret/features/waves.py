"""Cosines and sines of many numbers at once, by arithmetic alone, so that the compiler can use vector instructions."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 1e6  # beyond, the parts of pi / 2 are not exact enough, and the C library is asked
HALF_PI_1, HALF_PI_2, HALF_PI_3 = 1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21  # 33 bits each
TURNS = 2.0 / math.pi
ROUND = 6755399441055744.0  # 1.5 * 2^52: added and subtracted, it rounds to a whole number
S3, S5, S7, S9 = -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362880.0
S11, S13, S15 = -1.0 / 39916800.0, 1.0 / 6227020800.0, -1.0 / 1307674368000.0
C4, C6, C8, C10 = 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40320.0, -1.0 / 3628800.0
C12, C14, C16 = 1.0 / 479001600.0, -1.0 / 87178291200.0, 1.0 / 20922789888000.0


def write_waves(angles: NDArray[np.float64], size: Any, factor: Any, out: NDArray[np.float64]) -> None:
    """Write factor cos(angle) for each angle, then factor sin(angle) for each.

    An angle is reduced to the quarter turn around a multiple of pi / 2 (Cody and Waite 1980), where the Taylor series
    have an error below 1e-16.
    """
    cosines, sines = out[:size], out[size : 2 * size]
    for k in range(size):
        x = angles[k]
        turn = (x * TURNS + ROUND) - ROUND
        r = ((x - turn * HALF_PI_1) - turn * HALF_PI_2) - turn * HALF_PI_3
        z = r * r
        s = r + r * z * (S3 + z * (S5 + z * (S7 + z * (S9 + z * (S11 + z * (S13 + z * S15))))))
        c = 1.0 - 0.5 * z + z * z * (C4 + z * (C6 + z * (C8 + z * (C10 + z * (C12 + z * (C14 + z * C16))))))
        pairs = (turn * 0.5 - 0.25 + ROUND) - ROUND  # turn // 2
        odd = turn - 2.0 * pairs  # 1 where cosine and sine change places
        back = pairs - 2.0 * ((pairs * 0.5 - 0.25 + ROUND) - ROUND)  # 1 where the sine changes its sign
        cosines[k] = factor * (c + odd * (s - c)) * (1.0 - 2.0 * (odd + back - 2.0 * odd * back))
        sines[k] = factor * (s + odd * (c - s)) * (1.0 - 2.0 * back)
    for k in range(size):
        if abs(angles[k]) > LARGEST:
            cosines[k] = factor * math.cos(angles[k])
            sines[k] = factor * math.sin(angles[k])
