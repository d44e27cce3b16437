"""The landmarks of the Nystrom map: rows that were kept, and kernels of other rows with them.

Landmarks are stored by feature: the features that some landmark has are numbered as they come (`slot`), and each has a
line of the table with its values in all landmarks. So the kernels of a row with all landmarks take one pass over its
features. The functions run compiled and as plain Python.
"""

import math
from typing import Any

from noregret.features.fitted import Arrays

RBF, LAPLACIAN, POLYNOMIAL, COSINE, LINEAR = 0.0, 1.0, 2.0, 3.0, 4.0


def kernel_of(kernel: Any, measures: Any, gamma: Any, coef0: Any, degree: Any) -> Any:
    """Return k(x, z). `measures` are x.z (laplacian: |x - z|_1 - |x|_1 - |z|_1), and the sizes of x and z.

    Sizes are squared norms (laplacian: sums of absolute values).
    """
    product, size, other = measures
    if kernel == RBF:
        return math.exp(-gamma * max(size + other - 2.0 * product, 0.0))
    if kernel == LAPLACIAN:
        return math.exp(-gamma * max(size + other + product, 0.0))
    if kernel == POLYNOMIAL:
        value, base = 1.0, gamma * product + coef0
        for _ in range(int(degree)):
            value *= base
        return value
    if kernel == COSINE:
        return product / math.sqrt(size * other) if size > 0.0 and other > 0.0 else 0.0
    return product


def kernel_row(row: Arrays, known: Any, kept: Arrays, options: Any, gamma: Any, count: Any) -> Any:
    """Write the kernels of a row with the first `count` landmarks to the last array of `kept`; return k(x, x)."""
    idx, val = row
    slot, table, sizes, dots = kept
    kernel, coef0, degree, most = options[2], options[3], options[4], sizes.size
    here = dots[:count]
    here[:] = 0.0
    size = 0.0
    for k in range(idx.size):
        j, x = idx[k], val[k]
        if x == 0.0 or j >= known:
            continue
        size += abs(x) if kernel == LAPLACIAN else x * x
        at = int(slot[j]) - 1
        if at < 0:
            continue
        line = table[at * most : at * most + count]
        if kernel == LAPLACIAN:
            for i in range(count):
                here[i] += abs(x - line[i]) - abs(x) - abs(line[i])
        else:
            for i in range(count):
                here[i] += x * line[i]
    for i in range(count):
        here[i] = kernel_of(kernel, (here[i], size, sizes[i]), gamma, coef0, degree)
    if kernel == LAPLACIAN:
        return 1.0
    return kernel_of(kernel, (size, size, size), gamma, coef0, degree)


def substitute(count: Any, lower: Any, inverse: Any, dots: Any) -> Any:
    """Solve L phi = kernels in place, where L is the Cholesky factor of the landmarks; return |phi|^2.

    Two columns at a time are faster.
    """
    most, total = inverse.size, 0.0
    for i in range(0, count, 2):
        first = dots[i] * inverse[i]
        dots[i] = first
        total += first * first
        if i + 1 == count:
            break
        second = (dots[i + 1] - first * lower[i * most + i + 1]) * inverse[i + 1]
        dots[i + 1] = second
        total += second * second
        rest, column = dots[i + 2 : count], lower[i * most + i + 2 : i * most + count]
        next_column = lower[(i + 1) * most + i + 2 : (i + 1) * most + count]
        for j in range(rest.size):
            rest[j] = (rest[j] - first * column[j]) - second * next_column[j]
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
