"""The landmarks of the Nystrom map: rows that were kept, and kernels of other rows with them.

Landmarks are stored by feature: the features that some landmark has are numbered as they come (`slot`), and each has a
line of the table with its values in all landmarks. So the kernels of a row with all landmarks take one pass over its
features. The functions run compiled and as plain Python.
"""

import math
from typing import Any

from noregret.algebra.exponential import exp_below_zero
from noregret.features.fitted import Arrays

RBF, LAPLACIAN, POLYNOMIAL, COSINE, LINEAR = 0.0, 1.0, 2.0, 3.0, 4.0


def kernel_of(kernel: Any, measures: Any, gamma: Any, coef0: Any, degree: Any) -> Any:
    """Return k(x, z). `measures` are x.z (laplacian: |x - z|_1 - |x|_1 - |z|_1), and the sizes of x and z.

    Sizes are squared norms (laplacian: sums of absolute values).
    """
    product, size, other = measures
    if kernel == RBF:
        return exp_below_zero(-gamma * max(size + other - 2.0 * product, 0.0))
    if kernel == LAPLACIAN:
        return exp_below_zero(-gamma * max(size + other + product, 0.0))
    if kernel == POLYNOMIAL:
        value, base = 1.0, gamma * product + coef0
        for _ in range(int(degree)):
            value *= base
        return value
    if kernel == COSINE:
        return product / math.sqrt(size * other) if size > 0.0 and other > 0.0 else 0.0
    return product


def apart(x: Any, z: Any) -> Any:
    """What two values add to |x - z|_1 - |x|_1 - |z|_1."""
    return abs(x - z) - abs(x) - abs(z)


def next_line(row: Arrays, k: Any, size: Any, known: Any, kernel: Any, kept: Arrays) -> Any:
    """The next value of a row, from its entry k on, that some landmark has: value, line of the table, size, next entry.

    A value of 0 where there is none: it adds nothing. Four lines at a time are added in their order.
    """
    idx, val = row
    slot, _, sizes, _ = kept
    while k < idx.size:
        j, x = idx[k], val[k]
        k += 1
        if x != 0.0 and j < known:
            size += abs(x) if kernel == LAPLACIAN else x * x
            at = int(slot[j]) - 1
            if at >= 0:
                return x, at * sizes.size, size, k
    return 0.0, 0, size, k


def kernel_row(row: Arrays, known: Any, kept: Arrays, options: Any, gamma: Any, count: Any) -> Any:
    """Write the kernels of a row with the first `count` landmarks to the last array of `kept`; return k(x, x)."""
    entries = row[0].size
    _, table, sizes, dots = kept
    kernel, coef0, degree = options[2], options[3], options[4]
    here = dots[:count]
    here[:] = 0.0
    size, k = 0.0, 0
    while k < entries:
        x0, line0, size, k = next_line(row, k, size, known, kernel, kept)
        if x0 == 0.0:  # no landmark has any; the table may be empty
            break
        x1, line1, size, k = next_line(row, k, size, known, kernel, kept)
        x2, line2, size, k = next_line(row, k, size, known, kernel, kept)
        x3, line3, size, k = next_line(row, k, size, known, kernel, kept)
        t0, t1, t2, t3 = table[line0:], table[line1:], table[line2:], table[line3:]
        if kernel == LAPLACIAN:
            for i in range(count):
                here[i] = (((here[i] + apart(x0, t0[i])) + apart(x1, t1[i])) + apart(x2, t2[i])) + apart(x3, t3[i])
        else:
            for i in range(count):
                here[i] = (((here[i] + x0 * t0[i]) + x1 * t1[i]) + x2 * t2[i]) + x3 * t3[i]
    if kernel == RBF:  # a loop of its own is vectorized
        for i in range(count):
            here[i] = kernel_of(RBF, (here[i], size, sizes[i]), gamma, coef0, degree)
        return 1.0
    for i in range(count):
        here[i] = kernel_of(kernel, (here[i], size, sizes[i]), gamma, coef0, degree)
    if kernel == LAPLACIAN:
        return 1.0
    return kernel_of(kernel, (size, size, size), gamma, coef0, degree)


def substitute(count: Any, lower: Any, inverse: Any, dots: Any) -> Any:
    """Solve L phi = kernels in place, where L is the Cholesky factor of the landmarks; return |phi|^2.

    Four columns at a time are faster; the terms are subtracted in their order all the same.
    """
    most, total = inverse.size, 0.0
    for i in range(0, count, 4):
        last = min(i + 4, count)
        for j in range(i, last):
            solved = dots[j]
            for k in range(i, j):
                solved -= dots[k] * lower[k * most + j]
            solved *= inverse[j]
            dots[j] = solved
            total += solved * solved
        if last == count:
            break
        a, b, c, d = dots[i], dots[i + 1], dots[i + 2], dots[i + 3]
        at, rest = i * most + last, dots[last:count]
        col_a, col_b = lower[at : at + rest.size], lower[at + most : at + most + rest.size]
        at += 2 * most
        col_c, col_d = lower[at : at + rest.size], lower[at + most : at + most + rest.size]
        for j in range(rest.size):
            rest[j] = (((rest[j] - a * col_a[j]) - b * col_b[j]) - c * col_c[j]) - d * col_d[j]
    return total


def extend_factor(count: Any, residual: Any, lower: Any, inverse: Any, dots: Any) -> None:
    """Add the row of the landmark `count` to L; a landmark that adds nothing has a feature that is always 0."""
    most = inverse.size
    for i in range(count):
        lower[i * most + count] = dots[i]
    inverse[count] = 1.0 / math.sqrt(residual) if residual > 0.0 else 0.0


def store_landmark(row: Arrays, count: Any, kept: Arrays, slots: Any, landmarks: Arrays, absolute: Any) -> None:
    """Store a row as landmark number `count`; there must be room for it."""
    idx, val = row
    slot, table, sizes, _ = kept
    starts, its_idx, its_val = landmarks
    most, at, size = sizes.size, starts[count], 0.0
    for line in range(int(slots[0])):
        table[line * most + count] = 0.0
    for k in range(idx.size):
        j, x = idx[k], val[k]
        if x == 0.0:
            continue
        if slot[j] == 0.0:
            line = int(slots[0])
            table[line * most : (line + 1) * most] = 0.0
            slots[0] += 1.0
            slot[j] = slots[0]
        table[(int(slot[j]) - 1) * most + count] = x
        its_idx[at], its_val[at] = j, x
        size += abs(x) if absolute else x * x
        at += 1
    starts[count + 1] = at
    sizes[count] = size
