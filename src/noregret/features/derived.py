"""Transforms that derive new features from others, such as squares and products.

Each derived feature has a key of two integers and gets the next number when it first appears.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Block, DenseBlock, SparseBlock
from noregret.features.feature_selectors import FeatureSelectors, merge_groups
from noregret.features.fitted import (
    VALUES,
    FittedTransform,
    Groups,
    Loop,
    PipelineRows,
    Runner,
    check_finite,
    entries,
    expand_groups,
    unique_below,
)
from noregret.features.keys import HashedKeys, Keys

ROW_ARRAYS = VALUES | dict.fromkeys(("first", "second", "groups", "made", "size", "options", "scratch"), np.int64)
"""The arrays of a loop that derives the features of a single row; see `DerivedTransform.row_scratch` for the last.

It writes the keys, values and groups of the derived features, and how many there are; `options` are those of the
transform.
"""
PLAIN = -1  # as the second integer of a key: the input feature itself


class DerivedFeatures(NamedTuple):
    """Derived features: the two integers of each key, the values, and the selector groups if there are any."""

    first: NDArray[Any]
    second: NDArray[np.int64]
    val: NDArray[np.float64]
    groups: Groups = None


class DerivedTransform(FittedTransform):
    """Numbers derived features in the order in which they appear in the rounds learned, or hashes them."""

    fixed_columns: ClassVar[bool] = True  # whether every row of a matrix yields the same features
    row_loop: ClassVar[Loop | None] = None  # derives the features of a single row; None if only `derive_rows` does
    chains_keys: ClassVar[bool] = False  # whether the first integers of keys are positions of others; see `Keys.chain`
    makes_indicators: ClassVar[bool] = False  # whether features that were none become indicators

    def __init__(
        self,
        options: Mapping[str, Any],
        run: Runner,
        selectors: FeatureSelectors | None = None,
        keys: HashedKeys | None = None,
    ) -> None:
        super().__init__(options, run, selectors)
        self.keys: Keys | HashedKeys = keys or Keys(run)

    def derive_table(self, val: NDArray[np.float64], groups: Groups) -> DerivedFeatures:
        """Derive features from the columns of a matrix, with a row of values for each of its rows."""
        raise NotImplementedError

    def row_options(self) -> NDArray[np.int64]:
        """Return the options of `row_loop`."""
        return np.array([self.only], np.int64)

    def row_capacity(self, size: int) -> int:
        """Return how many features a row of so many may become."""
        return size

    def row_scratch(self, size: int, out: NDArray[np.float64]) -> tuple[NDArray[Any], ...]:
        """Return what else `row_loop` works with, for rows of so many entries whose derived values go to `out`."""
        return (np.zeros(size, np.int64),)

    def can_derive_rows(self) -> bool:
        """Return whether `row_loop` can be used with the options given."""
        return self.row_loop is not None

    def derive_rows(self, block: Block, groups: Groups, offsets: NDArray[np.int64]) -> Iterator[DerivedFeatures]:
        """Derive the features of every row, in parts where there are many."""
        raise NotImplementedError

    def offsets(self, block: Block, groups: Groups) -> NDArray[np.int64]:
        """Return where the derived features of each row begin."""
        return entries(block)[0]

    def name_feature(self, first: Any, second: int, before: Callable[[int], Any]) -> str:
        """Name a derived feature by the name of its first input and its second integer."""
        raise NotImplementedError

    @property
    def has_state(self) -> bool:
        return not self.keys.hashed

    def apply(self, rows: PipelineRows, learn: bool, include_unknown: bool) -> PipelineRows:
        rows = rows._replace(block=self.check(rows.block))
        size = len(self.keys)
        self.savepoint = size if learn else None
        try:
            if isinstance(rows.block, DenseBlock) and self.fixed_columns:
                return self.apply_table(rows.block, rows, grow=learn or include_unknown)
            return self.apply_rows(rows, grow=learn or include_unknown)
        finally:
            if include_unknown and not learn:
                self.keys.truncate(size)

    def apply_rows(self, rows: PipelineRows, grow: bool) -> PipelineRows:
        """Derive the features of every row; new keys get numbers with `grow`."""
        block, by_entry = rows.block, expand_groups(rows.groups, rows.block)
        idx, val, flags = [np.zeros(0, np.int32)], [np.zeros(0)], [np.zeros(0, np.int64)]
        parts, indptr = [np.zeros(0, np.int64)], self.offsets(block, by_entry)
        for made in self.derive_rows(block, by_entry, indptr):
            numbers, new_indicators = self.number(made, rows.indicators, block.width, grow)
            idx.append(numbers.astype(np.int32))
            val.append(made.val)
            flags.append(new_indicators)
            parts += [] if made.groups is None else [made.groups]
        features = np.concatenate(idx)
        values = check_finite(self.name, np.concatenate(val), indptr)
        out = SparseBlock(indptr, features, values, self.width_with(features))
        groups = None if rows.groups is None else np.concatenate(parts)
        indicators = np.unique(np.concatenate(flags))
        if isinstance(self.keys, Keys):
            return PipelineRows(out, indicators, groups)
        merged = self.keys.sort_rows(out)
        return PipelineRows(merged, indicators, None if groups is None else merge_groups(merged, out, groups))

    def apply_table(self, block: DenseBlock, rows: PipelineRows, grow: bool) -> PipelineRows:
        """Derive features from the columns of a matrix; new keys get numbers with `grow`."""
        with np.errstate(over="ignore"):
            made = self.derive_table(block.val, rows.groups)
        if not block.rows:
            made = DerivedFeatures(
                made.first[:0], made.second[:0], made.val[:, :0], None if made.groups is None else made.groups[:0]
            )
        check_finite(self.name, made.val.reshape(-1), np.arange(block.rows + 1) * made.first.size)
        numbers, indicators = self.number(made, rows.indicators, block.width, grow)
        table = np.zeros((block.rows, self.width_with(numbers)))
        table[:, numbers] = made.val
        if made.groups is None:
            return PipelineRows(DenseBlock(table), indicators)
        groups = np.zeros(table.shape[1], np.int64)
        groups[numbers] = made.groups
        return PipelineRows(DenseBlock(table), indicators, groups)

    def number(
        self, made: DerivedFeatures, indicators: NDArray[Any], width: int, grow: bool
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Return the numbers of derived features, and the distinct numbers of the indicators among them.

        Unknown features share the number past the known ones; unknown indicators share the number after it.
        """
        flags = self.find_indicators(made, indicators, width)
        numbers = self.keys.numbers(made.first, made.second, grow)
        known = len(self.keys)
        numbers = np.where(numbers < 0, known + flags, numbers)
        return numbers, unique_below(numbers[flags], known + 2)

    def width_with(self, numbers: NDArray[Any]) -> int:
        """Return the number of features, counting those in `numbers`."""
        return max(len(self.keys), 1 + int(numbers.max()) if numbers.size else 0)

    def find_indicators(self, made: DerivedFeatures, indicators: NDArray[Any], width: int) -> NDArray[np.bool_]:
        """Mark the derived features that are indicators: those derived from indicators alone."""
        if not indicators.size:
            return np.zeros(made.first.size, bool)
        flags = np.zeros(width, bool)
        flags[indicators] = True
        return np.asarray(flags[made.first] & ((made.second < 0) | flags[np.maximum(made.second, 0)]))

    def rollback(self) -> None:
        if self.savepoint is not None:
            self.keys.truncate(self.savepoint)
            self.savepoint = None

    def namer(self, before: Callable[[int], Any]) -> Callable[[int], Any]:
        if self.keys.hashed:
            return before

        def name(number: int) -> Any:
            first, second = self.keys.at(number)
            return before(first) if second == PLAIN else self.name_feature(before(first), second, before)

        return name

    def dump(self, width: int | None = None) -> dict[str, NDArray[Any]]:
        return self.keys.dump()

    def restore(self, saved: Mapping[str, NDArray[Any]], width: int | None = None) -> bool:
        if not self.keys.restore(saved) or not (self.keys.hashed or self.is_valid(saved)):
            return False
        return width is None or self.keys.hashed or bool((saved["left"] < width).all())

    def is_valid(self, saved: Mapping[str, NDArray[Any]]) -> bool:
        return bool((saved["right"] == PLAIN).all())

    def output_width(self) -> int | None:
        return None if self.keys.hashed else len(self.keys)
