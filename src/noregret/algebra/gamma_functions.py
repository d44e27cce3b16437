"""The digamma function psi, its exponential and the logarithm of the gamma function, for x > 0, in plain arithmetic.

Small x are moved up by the recurrence psi(x) = psi(x + 1) - 1 / x; from 8 on an asymptotic series is exact to the last
places. exp(psi(x)) needs no logarithm: with z = x - 1/2 it is z + 1 / (24 z) - 37 / (5760 z^3) + ..., and a loop over
many of them is vectorized.
"""

import math

from noregret.algebra.exponential import exp_below_zero

STEPS = 8  # of the recurrence
LARGE = 1e30  # beyond it, what the recurrence adds is 0
E1, E2, E3, E4 = 1 / 24, -37 / 5760, 10313 / 2903040, -5509121 / 1393459200
E5, E6 = 2709398569 / 367873228800, -499769010050743 / 24103053950976000
E7 = 47655701498228027 / 578473294823424000
P1, P2, P3, P4, P5, P6, P7 = 1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12
G1, G2, G3, G4, G5, G6, G7 = 1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156
HALF_LOG_TWO_PI = 0.9189385332046727


def exp_digamma(x: float) -> float:
    """exp(psi(x)), which is about x - 1/2 for large x, and exp(-1 / x) for small ones, at least 2e-307."""
    a = min(x, LARGE)
    top, bottom = (a + 1.0) + a, a * (a + 1.0)  # their quotient becomes 1 / a + 1 / (a + 1) + ... + 1 / (a + 7)
    top, bottom = top * (a + 2.0) + bottom, bottom * (a + 2.0)
    top, bottom = top * (a + 3.0) + bottom, bottom * (a + 3.0)
    top, bottom = top * (a + 4.0) + bottom, bottom * (a + 4.0)
    top, bottom = top * (a + 5.0) + bottom, bottom * (a + 5.0)
    top, bottom = top * (a + 6.0) + bottom, bottom * (a + 6.0)
    top, bottom = top * (a + 7.0) + bottom, bottom * (a + 7.0)
    z = x + 7.5
    u = 1.0 / (z * z)
    series = 1.0 + u * (E1 + u * (E2 + u * (E3 + u * (E4 + u * (E5 + u * (E6 + u * E7))))))
    below: float = exp_below_zero(-(top / bottom))
    return z * series * below


def digamma(x: float) -> float:
    """psi(x), the derivative of log gamma(x)."""
    below = 0.0
    while x < STEPS:
        below += 1.0 / x
        x += 1.0
    u = 1.0 / (x * x)
    series = u * (P1 + u * (P2 + u * (P3 + u * (P4 + u * (P5 + u * (P6 + u * P7))))))
    return math.log(x) - 0.5 / x - series - below


def log_gamma(x: float) -> float:
    """log gamma(x), by the series of Stirling."""
    product = 1.0
    while x < STEPS:
        product *= x
        x += 1.0
    u = 1.0 / (x * x)
    series = (G1 + u * (G2 + u * (G3 + u * (G4 + u * (G5 + u * (G6 + u * G7)))))) / x
    return (x - 0.5) * math.log(x) - x + HALF_LOG_TWO_PI + series - math.log(product)
