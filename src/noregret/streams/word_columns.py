"""Bags: columns that make many features of a cell, from lists or from the words of a text."""

from typing import Any

import numpy as np

from noregret.data.blocks import LARGEST_INDEX, SparseBlock
from noregret.features import canonicalize
from noregret.streams.words import Words

ABSENT = LARGEST_INDEX  # the number of a feature that is not there


class WordColumn:
    """The words of a column, and the number of the feature that each of them makes."""

    def __init__(self, ngrams: int) -> None:
        self.counter = Words(ngrams)
        self.numbers, self.size = np.zeros(0, np.int32), 0

    def count(self, column: Any) -> None:
        self.bags = self.counter.count_column(column)

    def add(self, numbers: range) -> None:
        """The next words of the counter make these features."""
        last = self.size + len(numbers)
        if last > self.numbers.size:
            self.numbers = np.concatenate((self.numbers, np.zeros(max(last, 1024), np.int32)))
        self.numbers[self.size : last] = numbers
        self.size = last


def with_bag(block: SparseBlock, offsets: np.ndarray, numbers: np.ndarray, counts: np.ndarray) -> SparseBlock:
    """The same rows with words beside, each counted as often as it stands there."""
    if (numbers == ABSENT).any():
        there = numbers != ABSENT
        offsets = np.concatenate(([0], np.cumsum(there)))[offsets]
        numbers, counts = numbers[there], counts[there]
    if block.idx.size:
        old, new = np.diff(block.indptr), np.diff(offsets)
        indptr = block.indptr + offsets
        at = np.repeat(indptr[:-1] - block.indptr[:-1], old) + np.arange(block.idx.size)
        idx, val = np.empty(indptr[-1], np.int32), np.empty(indptr[-1])
        idx[at], val[at] = block.idx, block.val
        at = np.repeat(block.indptr[1:], new) + np.arange(numbers.size)
        idx[at], val[at] = numbers, counts
    else:
        indptr, idx, val = offsets.astype(np.int64), numbers.astype(np.int32), counts
    return in_order(SparseBlock(indptr, idx, val, block.width))


def in_order(block: SparseBlock) -> SparseBlock:
    """The same rows, sorted, each feature once."""
    from noregret.jit.compiled import compile_function

    same = np.arange(block.width, dtype=np.int32)
    return canonicalize.renumber_block(same, block, compile_function(canonicalize.entry, canonicalize.slots()))
