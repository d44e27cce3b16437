"""A basis of the span of the supports: functions e_a = sum_j m[a, j] k(x_j, .), orthonormal in feature space.

So m'm is the inverse of the Gram matrix of the supports, and m a square root of it: its entries grow with one over a
distance where those of the inverse grow with one over its square, and half as many digits are lost. A new support adds
a row, by a step of Gram-Schmidt; a support that goes takes a row along, after a reflection. Until one goes, m is a
triangle.

A row that nearly depends on the supports would add a function with huge coefficients, whose digits cancel. So only
a row whose function has coefficients of moderate size can be a support: see DEPENDENT.
"""

import math
from typing import Any, NamedTuple

from noregret.algebra.arrays import Floats, Integers
from noregret.algebra.kernel import Expansion, Kernel, KernelPair
from noregret.algebra.kernel_verbs import (
    add_projection,
    coefficient,
    distance,
    drop,
    extend,
    fill_distances,
    independent,
    near,
    project,
    set_coefficient,
    substitute,
)
from noregret.algebra.verbs import helper, sqnorm

DEPENDENT = 1e-8
"""A row x depends on the supports if its squared distance from their span is at most this share of k(x, x) plus the sum
of d_j^2 k(x_j, x_j), where d_j are the coefficients of its projection. So no function of the basis has coefficients
above 1e4, relative to the supports, and of the 16 digits of its values at most 4 are lost."""


class Basis(NamedTuple):
    """The rows of m; k(x_j, x_j); how far each row of m reaches; n: how many rows there are.

    Scratch: of the row projected last, its coordinates, its shares of the supports, and its squared distance.
    """

    m: Floats
    squares: Floats
    reach: Integers
    coordinates: Floats
    shares: Floats
    rest: Floats
    n: Integers


@helper
def dot_reach(row: Any, values: Any, size: Any) -> Any:
    """The product of the first numbers of two arrays, in eight partial sums."""
    a = b = c = d = e = f = g = h = 0.0
    whole = size - size % 8
    for j in range(0, whole, 8):
        a += row[j] * values[j]
        b += row[j + 1] * values[j + 1]
        c += row[j + 2] * values[j + 2]
        d += row[j + 3] * values[j + 3]
        e += row[j + 4] * values[j + 4]
        f += row[j + 5] * values[j + 5]
        g += row[j + 6] * values[j + 6]
        h += row[j + 7] * values[j + 7]
    for j in range(whole, size):
        a += row[j] * values[j]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@helper
def add_reach(total: Any, a: float, row: Any, size: Any) -> Any:
    """total += a row, for the first numbers."""
    for j in range(size):
        total[j] += a * row[j]


@helper
def project_row(basis: Any, z: Any) -> Any:
    """Fill the coordinates of the row at hand and its shares of the supports; return the squares of the coordinates."""
    size = basis.n[0]
    for j in range(size):
        basis.shares[j] = near(z, j)
    squares = 0.0
    for a in range(size):
        at = dot_reach(basis.m[a], basis.shares, basis.reach[a])
        basis.coordinates[a] = at
        squares += at * at
    for j in range(size):
        basis.shares[j] = 0.0
    for a in range(size):
        add_reach(basis.shares, basis.coordinates[a], basis.m[a], basis.reach[a])
    return squares


@project.on(Basis)
def project_basis(basis: Any, z: Any) -> Any:
    """z may be the row in several blocks, each with the same squared distance."""
    basis.rest[0] = max(z.sq - project_row(basis, z), 0.0)
    return basis.rest[0] * (sqnorm(z) / z.sq)


@helper
def add_shares(w: Any, a: float, basis: Any, stride: int, c: Any) -> Any:
    for j in range(basis.n[0]):
        w.coef[j * stride + c] += a * basis.shares[j]


@add_projection.on(Expansion, object, Basis, Kernel)
def add_projection_kernel(w: Any, a: float, basis: Any, z: Any) -> None:
    add_shares(w, a * z.sign, basis, z.stride, z.of)


@add_projection.on(Expansion, object, Basis, KernelPair)
def add_projection_pair(w: Any, a: float, basis: Any, z: Any) -> None:
    add_shares(w, a * z.sign, basis, z.stride, z.of)
    add_shares(w, -a * z.sign, basis, z.stride, z.rival)


@independent.on(Basis)
def independent_basis(basis: Any, z: Any) -> Any:
    size = z.sq
    for j in range(basis.n[0]):
        size += basis.shares[j] * basis.shares[j] * basis.squares[j]
    return basis.rest[0] > DEPENDENT * size


@extend.on(Basis)
def extend_basis(basis: Any, z: Any) -> None:
    size = basis.n[0]
    if size >= basis.reach.size:
        raise IndexError("there is no room for another support")
    inverse = 1.0 / math.sqrt(basis.rest[0])
    for j in range(size):
        basis.m[size, j] = -inverse * basis.shares[j]
    basis.m[size, size] = inverse
    basis.squares[size] = z.sq
    basis.reach[size] = size + 1
    basis.n[0] = size + 1


@fill_distances.on(Basis)
def fill_distances_basis(basis: Any) -> None:
    """One over the diagonal of the inverse of the Gram matrix."""
    size = basis.n[0]
    for j in range(size):
        basis.shares[j] = 0.0
    for a in range(size):
        for j in range(basis.reach[a]):
            basis.shares[j] += basis.m[a, j] * basis.m[a, j]
    for j in range(size):
        basis.shares[j] = 1.0 / basis.shares[j]


@distance.on(Basis)
def distance_basis(basis: Any, i: int) -> Any:
    return basis.shares[i]


@substitute.on(Expansion, object, Basis)
def substitute_expansion(w: Any, i: int, basis: Any) -> None:
    """Column i of the inverse, over its diagonal, are the coefficients of what the others cannot express."""
    size = basis.n[0]
    for j in range(size):
        basis.shares[j] = 0.0
    for a in range(size):
        if i < basis.reach[a]:
            add_reach(basis.shares, basis.m[a, i], basis.m[a], basis.reach[a])
    part = coefficient(w, i) / basis.shares[i]
    for j in range(size):
        set_coefficient(w, j, 0.0 if j == i else coefficient(w, j) - part * basis.shares[j])


@drop.on(Basis)
def drop_basis(basis: Any, i: int) -> None:
    """Reflect the rows so that only the last one has a part of support i, and drop that row."""
    last = basis.n[0] - 1
    if i < 0 or i > last:
        raise IndexError("there is no such support")
    squares = 0.0
    for a in range(last + 1):
        for j in range(basis.reach[a], last + 1):
            basis.m[a, j] = 0.0
        basis.coordinates[a] = basis.m[a, i]
        squares += basis.coordinates[a] * basis.coordinates[a]
        basis.shares[a] = 0.0
    own = basis.coordinates[last]
    longer = own + math.copysign(math.sqrt(squares), own)
    basis.coordinates[last] = longer
    squares += longer * longer - own * own
    for a in range(last + 1):
        add_reach(basis.shares, basis.coordinates[a], basis.m[a], last + 1)
    for a in range(last):
        add_reach(basis.m[a], -2.0 / squares * basis.coordinates[a], basis.shares, last + 1)
        basis.m[a, i] = basis.m[a, last]
        basis.reach[a] = last
    basis.squares[i] = basis.squares[last]
    basis.n[0] = last
