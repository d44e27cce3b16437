"""Choosing few of many for a test, so that nothing that could make a difference is left out."""

import os
from collections.abc import Callable, Hashable, Iterable
from itertools import groupby
from random import Random
from typing import TypeVar

import pytest

ALL = bool(os.environ.get("NOREGRET_TEST_ALL"))  # `make test-all`: leave nothing out
PARTS = 16  # of what takes too long even there, a run has one part; these many runs, one of each part, have all
PART = int(os.environ.get("NOREGRET_TEST_PART") or 0) % PARTS

only_in_test_all = pytest.mark.skipif(not ALL, reason="make test-all has it")

T = TypeVar("T")


def cover(several: Iterable[T], traits: Callable[[T], Iterable[Hashable]]) -> list[T]:
    """Few items that together have every trait there is: each adds the most traits that are still missing."""
    left = {place: (one, set(traits(one))) for place, one in enumerate(several)}
    missing = {trait for _, has in left.values() for trait in has}
    chosen: dict[int, T] = {}
    while missing:
        best = max(left, key=lambda place: (len(left[place][1] & missing), -place))
        one, has = left.pop(best)
        missing -= has
        chosen[best] = one
    return [chosen[place] for place in sorted(chosen)]


def one_part(several: Iterable[T], group: Callable[[T], Hashable], part: int = PART) -> list[T]:
    """The part that this run has, drawn from every group of neighbours alike; no two parts have an item in common."""
    shuffled: list[T] = []
    for _, neighbours in groupby(several, group):
        items = list(neighbours)
        Random(len(shuffled)).shuffle(items)
        shuffled += items
    return shuffled[part::PARTS]


def seeds(number: int, usual: int = 1) -> pytest.MarkDecorator:
    """So many random streams for a test of a property that holds on every one; usually fewer."""
    return pytest.mark.parametrize("seed", range(number if ALL else usual))
