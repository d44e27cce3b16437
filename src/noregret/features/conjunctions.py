"""Conjunctions: products of several distinct features of a row, and of negated features where these are asked for."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.verbs import unbound
from noregret.data.blocks import LARGEST_INDEX, Block
from noregret.errors import BadValue
from noregret.features.derived import PLAIN, ROW_ARRAYS, DerivedFeatures, DerivedTransform
from noregret.features.feature_selectors import SelectorParam
from noregret.features.fitted import LEARN, Arrays, Floats, Groups, Loop, Options, Table, entries, unique_below
from noregret.rules.parameters import Param

read_ptr = read_code = read_val = read_begin = read_out = unbound
read_place = read_parent = read_literal = read_last = read_order = unbound
read_indptr = read_idx = read_first = read_second = read_groups = read_made = read_size = unbound
read_options = read_scratch = read_factor = read_bounds = unbound

NEGATED = -2  # as the second integer of a key: a negated feature, numbered by its position in `negate`
BATCH = 1 << 18  # features made at a time
MOST = 1 << 26  # the most features that all rows of a call may become: 1.6 GB while they are put together


@dataclass(frozen=True)
class WholeParam(Param):
    """A whole number."""

    def check(self, owner: str, name: str, given: Any) -> float:
        value = super().check(owner, name, given)
        if not value.is_integer():
            raise BadValue(f"{owner}: {name} must be a whole number {self.limits}, not {given!r}")
        return value


def multiply_rows(table: Table) -> int:
    multiply_literals(
        table[LEARN], (read_ptr(table), read_code(table), read_val(table), read_begin(table)), read_out(table),
        (read_place(table), read_parent(table), read_literal(table), read_last(table), read_order(table)),
    )  # fmt: skip
    return 0


def multiply_literals(learn: bool, literals: Arrays, out: Floats, made: Arrays) -> None:
    """Write the products of 2, then of 3 literals of each row, and so on, from `begin` on.

    Each is an earlier one (its parent) times a literal that comes after all literals of the parent.
    """
    ptr, code, val, begin = literals
    place, parent, literal, last, order = made
    for row in range(ptr.size - 1):
        at, end = begin[row], ptr[row + 1]
        for k in range(ptr[row], end if order[0] > 1 else ptr[row]):
            for other in range(k + 1, end):
                parent[at], literal[at], last[at], out[at] = place[k], code[other], other, val[k] * val[other]
                at += 1
        shorter = begin[row]
        for _ in range(2, order[0]):
            longer = at
            for k in range(shorter, longer):
                for other in range(last[k] + 1, end):
                    parent[at], literal[at], last[at], out[at] = k, code[other], other, out[k] * val[other]
                    at += 1
            shorter = longer


def multiply_row(table: Table) -> int:
    """Write the values of one row and the products of its factors; `options`: see `Conjunctions.row_options`."""
    idx, val, out, n = read_idx(table), read_val(table), read_out(table), read_indptr(table)[1]
    first, second, groups, made = read_first(table), read_second(table), read_groups(table), read_made(table)
    code, place, factor, bounds = read_scratch(table), read_place(table), read_factor(table), read_bounds(table)
    only, limit, order, count = read_options(table)[0], read_options(table)[1], read_options(table)[2], 0
    for k in range(n):
        first[k], second[k], out[k], made[k] = PLAIN, idx[k], val[k], groups[k]
        if val[k] == 0.0 or (only != 0 and groups[k] & only == 0):
            continue
        at = count
        while at > 0 and code[at - 1] > idx[k]:
            code[at], place[at], factor[at] = code[at - 1], place[at - 1], factor[at - 1]
            at -= 1
        code[at], place[at], factor[at] = idx[k], k, val[k]
        count += 1
    products, total = count, n
    for parts in range(2, order + 1):
        products = products * (count - parts + 1) // parts
        total += products
        if total > limit or total > out.size:
            raise ArithmeticError
    bounds[0], bounds[1], bounds[2] = 0, count, n
    multiply_literals(
        table[LEARN], (bounds[:2], code, factor, bounds[2:]), out,
        (place, first, second, read_last(table), read_options(table)[2:]),
    )  # fmt: skip
    for k in range(n, total):
        made[k] = 0
    read_size(table)[0] = total
    return 0


class Literals(NamedTuple):
    """The literals of rows, sorted by their codes in each row: offsets, codes, values, places in the output.

    The code of a feature is its number; that of the negated feature at position i of `negate` is LARGEST_INDEX + i.
    """

    ptr: NDArray[np.int64]
    code: NDArray[np.int64]
    val: NDArray[np.float64]
    place: NDArray[np.int64]


class Conjunctions(DerivedTransform):
    """Adds negated features, and the products of up to `order` features; the parent of a product is its first part."""

    name = "conjunctions"
    fixed_columns = False
    params: ClassVar[Options] = {
        "order": WholeParam(2.0, at_least=1.0, at_most=16.0, about="the most features in a product"),
        "limit": Param(20_000.0, at_least=1.0, at_most=1e7, about="the most features that a row may become"),
        "negate": SelectorParam(),
        "only": SelectorParam(),
    }
    loop = Loop(
        multiply_literals,
        multiply_rows,
        {"ptr": np.int64, "code": np.int64, "val": np.float64, "begin": np.int64, "out": np.float64}
        | dict.fromkeys(("place", "parent", "literal", "last", "order"), np.int64),
        inputs=4,
    )

    row_loop = Loop(
        multiply_literals,
        multiply_row,
        ROW_ARRAYS | {"place": np.int64, "factor": np.float64, "last": np.int64, "bounds": np.int64},
    )
    chains_keys = True

    def can_derive_rows(self) -> bool:
        return not self.negate

    def row_options(self) -> NDArray[np.int64]:
        """Return the groups that are multiplied (0: all), the most features of a row, and of a product."""
        return np.array([self.only, int(self.options["limit"]), self.order], np.int64)

    def row_capacity(self, size: int) -> int:
        return max(size, min(int(self.options["limit"]), size + count_products(size, self.order)))

    def row_scratch(self, size: int, out: Floats) -> tuple[NDArray[Any], ...]:
        words = (np.zeros(size, np.int64), np.zeros(size, np.int64))
        return *words, np.zeros(size), np.zeros(out.size, np.int64), np.zeros(3, np.int64)

    @property
    def order(self) -> int:
        """The most literals in a product."""
        return int(self.options["order"])

    @property
    def negate(self) -> tuple[str, ...]:
        """The names of the features to negate."""
        return tuple(self.options.get("negate", ()))

    # ---- rows --------------------------------------------------------------------------------------------------------

    def offsets(self, block: Block, groups: Groups) -> NDArray[Any]:
        indptr, _, val = entries(block)
        lengths = np.diff(indptr)
        negated = self.find_negated(block, groups).sum(axis=1)
        used = np.concatenate(([0], np.cumsum(self.find_factors(val, groups))))
        factors = used[indptr[1:]] - used[indptr[:-1]] + negated
        sizes, inverse = np.unique(factors, return_inverse=True)
        most = int(self.options["limit"]) + 1
        products = np.array([min(count_products(size, self.order), most) for size in sizes.tolist()], np.int64)
        counts = lengths + negated + products[inverse]
        self.check_limits(counts, factors, lengths + negated)
        return np.concatenate(([0], np.cumsum(counts)))

    def check_limits(self, counts: NDArray[Any], factors: NDArray[Any], singles: NDArray[Any]) -> None:
        """Refuse rows that would become too many features."""
        limit = self.options["limit"]
        if counts.size and counts.max() > limit:
            row = int(np.argmax(counts > limit))
            made = int(singles[row]) + count_products(int(factors[row]), self.order)
            raise BadValue(
                f"row {row}: conjunctions of order {self.order} would make {made} features of its {factors[row]}; "
                f"the limit is {limit:g}, set by conjunctions(limit=...)",
                row=row,
            )
        if counts.sum() > MOST:
            raise BadValue(f"conjunctions would make {counts.sum()} features of these {counts.size} rows; the most is "
                           f"{MOST}: give fewer rows at a time, or a lower order")  # fmt: skip

    def find_factors(self, val: NDArray[Any], groups: Groups) -> NDArray[np.bool_]:
        """Mark the entries that are multiplied: those selected that are not 0."""
        selected = self.select(groups)
        return np.asarray(val != 0.0) if selected is None else (val != 0.0) & selected

    def find_negated(self, block: Block, groups: Groups) -> NDArray[np.bool_]:
        """Mark for each row the negated features that are true: all features that the name covers are 0 or absent."""
        indptr, _, val = entries(block)
        true = np.ones((block.rows, len(self.negate)), bool)
        if groups is None or not self.negate:
            return true
        rows = np.repeat(np.arange(block.rows), np.diff(indptr))
        for position, name in enumerate(self.negate):
            covered = (groups & self.bits[name]) != 0
            wrong = covered & (val != 0.0) & (val != 1.0)
            if not self.keys.hashed and wrong.any():  # hashing adds values up, and changes signs
                row, value = int(rows[np.argmax(wrong)]), val[np.argmax(wrong)]
                raise BadValue(f"row {row}: a feature of {name!r} has the value {value:g}; only features that are 0 "
                               "or 1 can be negated", row=row)  # fmt: skip
            true[rows[covered & (val != 0.0)], position] = False
        return true

    def derive_rows(self, block: Block, groups: Groups, offsets: NDArray[Any]) -> Iterator[DerivedFeatures]:
        indptr, idx, val = entries(block)
        negated, factors, row = self.find_negated(block, groups), self.find_factors(val, groups), 0
        while row < block.rows:
            stop = max(row + 1, int(np.searchsorted(offsets, offsets[row] + BATCH, side="right")) - 1)
            here, starts = slice(int(indptr[row]), int(indptr[stop])), offsets[row : stop + 1] - offsets[row]
            rows = (indptr[row : stop + 1] - indptr[row], idx[here], val[here])
            made, literals, begin = place_literals(rows, factors[here], negated[row:stop], starts)
            last, order = np.zeros(made.val.size, np.int64), np.array([self.order], np.int64)
            self.run(
                self.loop, False, (*literals[:3], begin, made.val, literals.place, made.first, made.second, last, order)
            )
            if groups is not None:
                after = np.zeros(made.val.size, np.int64)
                after[made.first == PLAIN] = groups[here]
                made = made._replace(groups=after)
            yield made
            row = stop

    # ---- numbers and names -------------------------------------------------------------------------------------------

    def number(
        self, made: DerivedFeatures, indicators: NDArray[Any], width: int, grow: bool
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        flags = self.find_indicators(made, indicators, width)
        numbers = self.keys.chain(made.first, made.second, self.order, grow)
        known = len(self.keys)
        numbers = np.where(numbers < 0, known + flags, numbers)
        return numbers, unique_below(numbers[flags], known + 2)

    def find_indicators(self, made: DerivedFeatures, indicators: NDArray[Any], width: int) -> NDArray[np.bool_]:
        """Mark negated features, and products of indicators alone."""
        negated = (made.first == NEGATED) | (made.second >= LARGEST_INDEX)
        if not indicators.size and not negated.any():
            return np.asarray(negated)
        marks = np.zeros(width + 1, bool)
        marks[indicators] = True
        flags = negated | marks[np.where(negated, width, made.second)]
        for _ in range(1, self.order):
            flags = flags & ((made.first < 0) | flags[np.maximum(made.first, 0)])
        return np.asarray(flags)

    def namer(self, before: Callable[[int], Any]) -> Callable[[int], Any]:
        if self.keys.hashed:
            return before

        def name(number: int) -> Any:
            first, second = self.keys.at(number)
            if second == PLAIN:
                return before(first)
            return self.name_negated(first) if second == NEGATED else self.name_feature(name(first), second, before)

        return name

    def name_feature(self, first: Any, second: int, before: Callable[[int], Any]) -> str:
        return f"{first}*{before(second) if second < LARGEST_INDEX else self.name_negated(second - LARGEST_INDEX)}"

    def name_negated(self, position: int) -> str:
        return f"not {self.negate[position]}"

    # ---- in a model file ---------------------------------------------------------------------------------------------

    def restore(self, saved: Mapping[str, NDArray[Any]], width: int | None = None) -> bool:
        if not self.keys.restore(saved) or not (self.keys.hashed or self.is_valid(saved)):
            return False
        return width is None or self.keys.hashed or bool((saved["left"][saved["right"] == PLAIN] < width).all())

    def is_valid(self, saved: Mapping[str, NDArray[Any]]) -> bool:
        left, right = saved["left"], saved["right"]
        product = right >= 0
        parents, codes = left[product], np.where(right == NEGATED, left + LARGEST_INDEX, left)[~product]
        if (right < NEGATED).any() or (left[right == NEGATED] >= len(self.negate)).any():
            return False
        if (parents >= np.flatnonzero(product)).any() or not np.isin(right[product], codes).all():
            return False
        last = np.where(product, right, np.where(right == NEGATED, left + LARGEST_INDEX, left))
        if (last[parents] >= right[product]).any():
            return False
        lengths = np.ones(left.size, np.int64)
        for _ in range(self.order):
            lengths[product] = lengths[parents] + 1
        return bool((lengths <= self.order).all())


def count_products(size: int, order: int) -> int:
    """Return the number of products of 2 to `order` of so many literals."""
    return sum(math.comb(size, factors) for factors in range(2, order + 1))


def place_literals(
    rows: Arrays, factors: NDArray[np.bool_], negated: NDArray[np.bool_], starts: NDArray[Any]
) -> tuple[DerivedFeatures, Literals, NDArray[Any]]:
    """Return the output with the features and negated features of each row, their literals, and where products begin.

    `starts` says where the features of each row begin in the output.
    """
    indptr, idx, val = rows
    lengths, size = np.diff(indptr), int(starts[-1])
    made = DerivedFeatures(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size))
    row = np.repeat(np.arange(lengths.size), lengths)
    place = np.arange(idx.size) + (starts[:-1] - indptr[:-1])[row]
    made.first[place], made.second[place], made.val[place] = PLAIN, idx, val
    row_not, position = np.nonzero(negated)
    place_not = (starts[:-1] + lengths)[row_not] + np.arange(row_not.size) - np.searchsorted(row_not, row_not)
    made.first[place_not], made.second[place_not], made.val[place_not] = NEGATED, position, 1.0
    rows_of = np.concatenate((row[factors], row_not))
    code = np.concatenate((idx[factors], position + LARGEST_INDEX)).astype(np.int64)
    order = np.lexsort((code, rows_of))
    place = np.concatenate((place[factors], place_not))[order]
    ptr = np.concatenate(([0], np.cumsum(np.bincount(rows_of, minlength=lengths.size))))
    return made, Literals(ptr, code[order], made.val[place], place), starts[:-1] + lengths + negated.sum(axis=1)
