"""Columns whose cells make several features: lists, and texts of words."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import LARGEST_INDEX, SparseBlock
from noregret.features import canonicalize
from noregret.streams.words import WordCounter

ABSENT = LARGEST_INDEX  # the number of a feature that the row does not have


class WordColumn:
    """A column of texts: counts their words, and keeps the feature number of each word."""

    def __init__(self, ngrams: int) -> None:
        self.counter = WordCounter(ngrams)
        self.numbers, self.size = np.zeros(0, np.int32), 0

    def count(self, column: Any) -> None:
        """Count the words of every cell."""
        self.counts = self.counter.count_column(column)

    def add(self, numbers: range) -> None:
        """Set the feature numbers of the next new words."""
        last = self.size + len(numbers)
        if last > self.numbers.size:
            self.numbers = np.concatenate((self.numbers, np.zeros(max(last, 1024), np.int32)))
        self.numbers[self.size : last] = numbers
        self.size = last


def add_word_counts(
    block: SparseBlock, offsets: NDArray[Any], numbers: NDArray[Any], counts: NDArray[np.float64]
) -> SparseBlock:
    """Add features with counts to every row; those of row r are numbers[offsets[r] : offsets[r + 1]]."""
    if (numbers == ABSENT).any():
        present = numbers != ABSENT
        offsets = np.concatenate(([0], np.cumsum(present)))[offsets]
        numbers, counts = numbers[present], counts[present]
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
    return canonicalize_block(SparseBlock(indptr, idx, val, block.width))


def canonicalize_block(block: SparseBlock) -> SparseBlock:
    """Sort the features of every row and sum duplicates, with compiled code."""
    from noregret.jit.compiled import compile_function

    identity = np.arange(block.width, dtype=np.int32)
    return canonicalize.renumber_block(identity, block, compile_function(canonicalize.entry, canonicalize.slots()))
