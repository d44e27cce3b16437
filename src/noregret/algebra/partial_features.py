"""Glimpses: examples of which only a few features may be read, and a source of chance that can be repeated.

A draw picks features by an affine map, so that whether a feature was picked is known without a list of those that were.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.examples import Dense, DenseBlocks, Sparse, SparseBlocks
from noregret.algebra.top_k import TopK
from noregret.algebra.verbs import (
    at,
    blocks,
    coordinate,
    count,
    dot,
    factor,
    helper,
    part,
    partial_features,
    place,
    raw,
    sqnorm,
    value,
)

PRIME = 2147483647.0


def first_random(seed: int) -> float:
    """Where the random numbers of a seed begin."""
    return float(np.random.default_rng(seed).integers(1, int(PRIME)))


@helper
def remainder(a: float, b: float) -> float:
    """What is left of a whole number below 2^53 when it is divided by another one.

    A rounded quotient may be one too large, never more.
    """
    rest = a - math.floor(a / b) * b
    return rest + b if rest < 0.0 else rest


@helper
def next_random(random: float) -> float:
    """The next of the numbers 1 to PRIME - 1 (Park and Miller 1988); no product is too large for a float."""
    return float(remainder(16807.0 * random, PRIME))


def coprime(a: float, d: float) -> float:
    """The first number from a on, going round after d, that has no divisor in common with d."""
    while common_divisor(a, d) > 1.0:
        a = remainder(a, d) + 1.0
    return a


def common_divisor(a: float, b: float) -> float:
    while b > 0.0:
        a, b = b, remainder(a, b)
    return a


class Draw(NamedTuple):
    """The features j below `among` with (a j + b) mod among below `most`; of none at all, those that have a weight."""

    a: float
    b: float
    among: float
    most: float


class Glimpse(NamedTuple):
    """z where it may be read, times `known` where w is not zero and times `new` where it is."""

    z: Any
    w: Any
    draw: Draw
    known: float
    new: float


class GlimpsePart(NamedTuple):
    """One block of a partial_features."""

    q: Any
    w: Any
    draw: Draw
    known: float
    new: float


@partial_features.on(Sparse)
@partial_features.on(SparseBlocks)
@partial_features.on(Dense)
@partial_features.on(DenseBlocks)
def glimpse_any(z: Any, w: Any, draw: Any, known: Any, new: Any) -> Any:
    return Glimpse(z, w, draw, known, new)


@helper
def picked(draw: Any, j: Any) -> Any:
    return j < draw.among and remainder(draw.a * j + draw.b, draw.among) < draw.most


@raw.on(GlimpsePart)
def raw_glimpse(q: Any, k: Any) -> Any:
    weighted = at(q.w, place(q.q, k)) != 0.0
    if draw_reads(q.draw, weighted, coordinate(q.q, k)):
        return raw(q.q, k) * (q.known if weighted else q.new)
    return 0.0


@helper
def draw_reads(draw: Any, weighted: Any, j: Any) -> Any:
    return picked(draw, j) if draw.among > 0.0 else weighted


@blocks.on(Glimpse)
def blocks_glimpse(z: Any) -> Any:
    return blocks(z.z)


@part.on(Glimpse)
def part_glimpse(z: Any, b: Any) -> Any:
    return GlimpsePart(part(z.z, b), z.w, z.draw, z.known, z.new)


@count.on(GlimpsePart)
def count_glimpse(q: Any) -> Any:
    return count(q.q)


@place.on(GlimpsePart)
def place_glimpse(q: Any, k: Any) -> Any:
    return place(q.q, k)


@factor.on(GlimpsePart)
def factor_glimpse(q: Any) -> Any:
    return factor(q.q)


@value.on(GlimpsePart)
def value_glimpse(q: Any, k: Any) -> Any:
    return factor(q) * raw(q, k)


@dot.on(TopK, Glimpse)
def dot_kept_glimpse(w: Any, z: Any) -> Any:
    """Only what has a weight need be read."""
    total = 0.0
    for b in range(blocks(z)):
        q = part(z, b)
        found = 0.0
        for k in range(count(q)):
            if w.v[place(q, k)] != 0.0:
                found += w.v[place(q, k)] * raw(q, k)
        total += factor(q) * found
    return w.n[0] * total


@sqnorm.on(Glimpse)
def sqnorm_glimpse(z: Any) -> Any:
    total = 0.0
    for b in range(blocks(z)):
        q = part(z, b)
        for k in range(count(q)):
            total += value(q, k) * value(q, k)
    return total
