"""Features made of features. Each is known by two whole numbers, and numbered as it first appears."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from noregret.data.blocks import Block, DenseBlock, SparseBlock
from noregret.features.feature_selectors import Choosing, gathered
from noregret.features.fitted import Passed, Runner, Running, by_entry, distinct, entries, finite
from noregret.features.keys import HashedKeys, Keys

PLAIN = -1  # in the place of the second number: the feature as it is
Kinds = np.ndarray | None


class Made(NamedTuple):
    """Made features: the two numbers each is known by, values, and kinds where features are chosen by them."""

    first: np.ndarray
    second: np.ndarray
    val: np.ndarray
    kinds: Kinds = None


class Derived(Running):
    """Numbers the features it makes in the order in which they appear in the rounds learned, or hashes them."""

    regular: ClassVar[bool] = True  # whether a table makes the same features in every row, whatever its values

    def __init__(
        self, told: Mapping[str, Any], run: Runner, choosing: Choosing | None = None, keys: HashedKeys | None = None
    ) -> None:
        super().__init__(told, run, choosing)
        self.keys: Keys | HashedKeys = keys or Keys(run)

    def from_table(self, val: np.ndarray, kinds: Kinds) -> Made:
        """The features that the columns of a table make, and their values in each row."""
        raise NotImplementedError

    def from_rows(self, block: Block, kinds: Kinds, offsets: np.ndarray) -> Iterator[Made]:
        """The features that rows make, some rows at a time where they make many."""
        raise NotImplementedError

    def offsets(self, block: Block, kinds: Kinds) -> np.ndarray:
        """Where each row of made features begins."""
        return entries(block)[0]

    def called(self, first: Any, second: int, before: Callable[[int], Any]) -> str:
        """How a made feature is called, from how its first one is, and any other."""
        raise NotImplementedError

    @property
    def keeps(self) -> bool:
        return not self.keys.hashed

    def apply(self, rows: Passed, learn: bool, include_unknown: bool) -> Passed:
        rows = rows._replace(block=self.checked(rows.block))
        size = len(self.keys)
        self.before = size if learn else None
        try:
            if isinstance(rows.block, DenseBlock) and self.regular:
                return self.table_of(rows.block, rows, grow=learn or include_unknown)
            return self.rows_of(rows, grow=learn or include_unknown)
        finally:
            if include_unknown and not learn:
                self.keys.truncate(size)

    def rows_of(self, rows: Passed, grow: bool) -> Passed:
        block, entry_kinds = rows.block, by_entry(rows.kinds, rows.block)
        idx, val, says_yes = [np.zeros(0, np.int32)], [np.zeros(0)], [np.zeros(0, np.int64)]
        kinds, indptr = [np.zeros(0, np.int64)], self.offsets(block, entry_kinds)
        for made in self.from_rows(block, entry_kinds, indptr):
            numbers, yes = self.numbered(made, rows.never, block.width, grow)
            idx.append(numbers.astype(np.int32))
            val.append(made.val)
            says_yes.append(yes)
            kinds += [] if made.kinds is None else [made.kinds]
        numbers = np.concatenate(idx)
        values = finite(self.name, np.concatenate(val), indptr)
        out = SparseBlock(indptr, numbers, values, self.reached(numbers))
        now, never = None if rows.kinds is None else np.concatenate(kinds), np.unique(np.concatenate(says_yes))
        if isinstance(self.keys, Keys):
            return Passed(out, never, now)
        whole = self.keys.sort_rows(out)
        return Passed(whole, never, None if now is None else gathered(whole, out, now))

    def table_of(self, block: DenseBlock, rows: Passed, grow: bool) -> Passed:
        with np.errstate(over="ignore"):
            made = self.from_table(block.val, rows.kinds)
        if not block.rows:
            made = Made(
                made.first[:0], made.second[:0], made.val[:, :0], None if made.kinds is None else made.kinds[:0]
            )
        finite(self.name, made.val.reshape(-1), np.arange(block.rows + 1) * made.first.size)
        numbers, yes = self.numbered(made, rows.never, block.width, grow)
        table = np.zeros((block.rows, self.reached(numbers)))
        table[:, numbers] = made.val
        if made.kinds is None:
            return Passed(DenseBlock(table), yes)
        kinds = np.zeros(table.shape[1], np.int64)
        kinds[numbers] = made.kinds
        return Passed(DenseBlock(table), yes, kinds)

    def numbered(self, made: Made, never: np.ndarray, width: int, grow: bool) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of made features, and the different ones of those that only say yes or no.

        The unknown ones share the number past the known ones, those that only say yes or no the one after it.
        """
        yes = self.says_yes(made, never, width)
        numbers = self.keys.numbers(made.first, made.second, grow)
        known = len(self.keys)
        numbers = np.where(numbers < 0, known + yes, numbers)
        return numbers, distinct(numbers[yes], known + 2)

    def reached(self, numbers: np.ndarray) -> int:
        return max(len(self.keys), 1 + int(numbers.max()) if numbers.size else 0)

    def says_yes(self, made: Made, never: np.ndarray, width: int) -> np.ndarray:
        """Which of the features made only say yes or no: those made of such alone."""
        if not never.size:
            return np.zeros(made.first.size, bool)
        yes = np.zeros(width, bool)
        yes[never] = True
        return np.asarray(yes[made.first] & ((made.second < 0) | yes[np.maximum(made.second, 0)]))

    def restore(self) -> None:
        if self.before is not None:
            self.keys.truncate(self.before)
            self.before = None

    def namer(self, before: Callable[[int], Any]) -> Callable[[int], Any]:
        if self.keys.hashed:
            return before

        def name(number: int) -> Any:
            first, second = self.keys.at(number)
            return before(first) if second == PLAIN else self.called(before(first), second, before)

        return name

    def saved(self, width: int | None = None) -> dict[str, np.ndarray]:
        return self.keys.saved()

    def revive(self, saved: Mapping[str, np.ndarray], width: int | None = None) -> bool:
        if not self.keys.revive(saved) or not (self.keys.hashed or self.possible(saved)):
            return False
        return width is None or self.keys.hashed or bool((saved["left"] < width).all())

    def possible(self, saved: Mapping[str, np.ndarray]) -> bool:
        return bool((saved["right"] == PLAIN).all())

    def outputs(self) -> int | None:
        return None if self.keys.hashed else len(self.keys)
