"""Partial features: examples of which only a few features may be read, and reproducible random numbers.

A draw selects features by an affine map, so that no list of the selected ones is needed.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.examples import Dense, DenseBlocks, Sparse, SparseBlocks
from noregret.algebra.internal_verbs import blocks, coordinate, count, factor, part, place, raw, value
from noregret.algebra.top_k import TopK
from noregret.algebra.verbs import at, dot, helper, partial_features, sqnorm

PRIME = 2147483647.0


def first_random(seed: int) -> float:
    """Return the first random number of a seed."""
    return float(np.random.default_rng(seed).integers(1, int(PRIME)))


@helper
def remainder(a: float, b: float) -> float:
    """Return a mod b for whole numbers below 2^53.

    A rounded quotient may be one too large, never more.
    """
    rest = a - math.floor(a / b) * b
    return rest + b if rest < 0.0 else rest


@helper
def next_random(random: float) -> float:
    """Return the next of the random numbers 1 to PRIME - 1 (Park and Miller 1988); all products are exact floats."""
    return float(remainder(16807.0 * random, PRIME))


def coprime(a: float, d: float) -> float:
    """Return the first number from a on, continuing at 1 after d, that is coprime to d."""
    while common_divisor(a, d) > 1.0:
        a = remainder(a, d) + 1.0
    return a


def common_divisor(a: float, b: float) -> float:
    while b > 0.0:
        a, b = b, remainder(a, b)
    return a


class Draw(NamedTuple):
    """Selects the features j < among with (a j + b) mod among < most; if among is 0, those with a weight."""

    a: float
    b: float
    among: float
    most: float


class PartialExample(NamedTuple):
    """z at the selected features, times `known` where w is not zero and `new` where it is; 0 elsewhere."""

    z: Any
    w: Any
    draw: Draw
    known: float
    new: float


class PartialPart(NamedTuple):
    """One block of a partial example."""

    q: Any
    w: Any
    draw: Draw
    known: float
    new: float


@partial_features.on(Sparse)
@partial_features.on(SparseBlocks)
@partial_features.on(Dense)
@partial_features.on(DenseBlocks)
def partial_features_any(z: Any, w: Any, draw: Any, known: float, new: float) -> Any:
    return PartialExample(z, w, draw, known, new)


@helper
def is_drawn(draw: Any, j: int) -> Any:
    return j < draw.among and remainder(draw.a * j + draw.b, draw.among) < draw.most


@raw.on(PartialPart)
def raw_partial(q: Any, k: int) -> Any:
    weighted = at(q.w, place(q.q, k)) != 0.0
    if is_readable(q.draw, weighted, coordinate(q.q, k)):
        return raw(q.q, k) * (q.known if weighted else q.new)
    return 0.0


@helper
def is_readable(draw: Any, weighted: Any, j: int) -> Any:
    return is_drawn(draw, j) if draw.among > 0.0 else weighted


@blocks.on(PartialExample)
def blocks_partial(z: Any) -> Any:
    return blocks(z.z)


@part.on(PartialExample)
def part_partial(z: Any, b: int) -> Any:
    return PartialPart(part(z.z, b), z.w, z.draw, z.known, z.new)


@count.on(PartialPart)
def count_partial(q: Any) -> Any:
    return count(q.q)


@place.on(PartialPart)
def place_partial(q: Any, k: int) -> Any:
    return place(q.q, k)


@factor.on(PartialPart)
def factor_partial(q: Any) -> Any:
    return factor(q.q)


@value.on(PartialPart)
def value_partial(q: Any, k: int) -> Any:
    return factor(q) * raw(q, k)


@dot.on(TopK, PartialExample)
def dot_top_k_partial(w: Any, z: Any) -> Any:
    """Only features with a weight are read."""
    total = 0.0
    for b in range(blocks(z)):
        q = part(z, b)
        part_sum = 0.0
        for k in range(count(q)):
            if w.v[place(q, k)] != 0.0:
                part_sum += w.v[place(q, k)] * raw(q, k)
        total += factor(q) * part_sum
    return w.n[0] * total


@sqnorm.on(PartialExample)
def sqnorm_partial(z: Any) -> Any:
    total = 0.0
    for b in range(blocks(z)):
        q = part(z, b)
        for k in range(count(q)):
            total += value(q, k) * value(q, k)
    return total
