"""Problems on the simplex of portfolios (fractions >= 0 that sum to 1), as plain functions that are compiled."""

import math
from typing import Any

TOLERANCE = 1e-13  # of gradients, relative to the largest of them


def project(v: Any) -> None:
    """Replace v by the nearest point of the simplex.

    The point is max(v_i - shift, 0). Coordinates that the shift of those left makes negative are left out, until there
    are none (Michelot, J. Optimization Theory and Applications 50, 1986).
    """
    count, shift = -1, -math.inf
    while True:
        total, left = 0.0, 0
        for i in range(v.size):
            if v[i] > shift:
                total += v[i]
                left += 1
        if left == count:
            break
        count, shift = left, (total - 1.0) / left
    total = 0.0
    for i in range(v.size):
        v[i] = max(v[i] - shift, 0.0)
        total += v[i]
    for i in range(v.size):
        v[i] /= total


def minimise(A: Any, c: Any, q: Any, factor: Any, work: Any) -> None:
    """Move q, a point of the simplex, to the minimum of q'A q / 2 - c.q there.

    A is positive definite. An active-set method: the minimum over the faces that the coordinates above 0 span; a
    coordinate that would become negative leaves them, one whose gradient is too small joins them (Nocedal and Wright,
    Numerical Optimization, algorithm 16.3). Room for the work: `factor` is as large as A, `work` has four rows. Where
    rounding lets no minimum be found, q is not a number, which callers refuse.
    """
    m = int(q.size)
    inside, y = work[0], work[1]
    for i in range(m):
        inside[i] = 1.0 if q[i] > 0.0 else 0.0
    for _ in range(20 * m + 20):
        price = solve_face(A, c, inside, factor, work)
        share, first = 1.0, -1
        for i in range(m):
            if inside[i] > 0.0 and y[i] < 0.0 and q[i] / (q[i] - y[i]) < share:
                share, first = q[i] / (q[i] - y[i]), i
        for i in range(m):
            if inside[i] > 0.0:
                q[i] = y[i] if first < 0 else max(q[i] + share * (y[i] - q[i]), 0.0)
        if first >= 0:
            q[first] = inside[first] = 0.0
            continue
        joins = find_joining(A, c, q, inside, price)
        if joins < 0:
            normalise(q)
            return
        inside[joins] = 1.0
    for i in range(m):
        q[i] = math.nan


def find_joining(A: Any, c: Any, q: Any, inside: Any, price: float) -> int:
    """The coordinate at 0 along which the objective falls fastest, given the price of the sum; -1 if none."""
    least, joins = 0.0, -1
    for i in range(q.size):
        if inside[i] == 0.0:
            slope = price - c[i]
            size = abs(price) + abs(c[i])
            for j in range(q.size):
                slope += A[i, j] * q[j]
            if slope < least and slope < -TOLERANCE * size:
                least, joins = slope, i
    return joins


def normalise(q: Any) -> None:
    total = 0.0
    for i in range(q.size):
        total += q[i]
    for i in range(q.size):
        q[i] /= total


def solve_face(A: Any, c: Any, inside: Any, factor: Any, work: Any) -> float:
    """Write the minimum over the coordinates inside, which sum to 1 and may be negative, into work[1].

    Solves A y + price = c on the face, and the sum of y = 1, by a Cholesky factor of A there; returns the price.
    """
    m = inside.size
    y, ones, place = work[1], work[2], work[3]
    size = 0
    for i in range(m):
        if inside[i] > 0.0:
            place[size] = i
            size += 1
    for a in range(size):
        i = int(place[a])
        for b in range(a + 1):
            total = A[i, int(place[b])]
            for k in range(b):
                total -= factor[a, k] * factor[b, k]
            if b < a:
                factor[a, b] = total / factor[b, b]
            else:
                factor[a, a] = math.sqrt(total)
    for a in range(size):  # forward substitution for c and for the constraint
        first, second = c[int(place[a])], 1.0
        for k in range(a):
            first -= factor[a, k] * y[k]
            second -= factor[a, k] * ones[k]
        y[a], ones[a] = first / factor[a, a], second / factor[a, a]
    for back in range(size):
        a = size - 1 - back
        first, second = y[a], ones[a]
        for k in range(a + 1, size):
            first -= factor[k, a] * y[k]
            second -= factor[k, a] * ones[k]
        y[a], ones[a] = first / factor[a, a], second / factor[a, a]
    total, weight = 0.0, 0.0
    for a in range(size):
        total += y[a]
        weight += ones[a]
    price = (total - 1.0) / weight
    for back in range(size):  # from the last one: a coordinate never moves to a place that is still to be read
        a = size - 1 - back
        found = y[a] - price * ones[a]
        y[a] = 0.0
        y[int(place[a])] = found
    return float(price)
