"""Feature expansions: squares, products of two features (interactions), one-hot encoding."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.verbs import unbound
from noregret.data.blocks import Block
from noregret.errors import BadValue
from noregret.features.derived import PLAIN, ROW_ARRAYS, DerivedFeatures, DerivedTransform
from noregret.features.feature_selectors import SelectorParam
from noregret.features.fitted import LEARN, VALUES, Arrays, Floats, Groups, Loop, Options, Table, entries
from noregret.rules.parameters import Param

read_indptr = read_idx = read_val = read_out = read_first = read_second = read_groups = unbound
read_between = read_most = read_made = read_size = read_options = read_scratch = unbound

BATCH = 1 << 18  # features derived at a time


def square_row(table: Table) -> int:
    read_size(table)[0] = square_values(
        table[LEARN], (read_indptr(table), read_idx(table), read_val(table)), read_out(table),
        (read_first(table), read_second(table), read_groups(table), read_made(table), read_options(table)),
    )  # fmt: skip
    return 0


def square_values(learn: bool, rows: Arrays, out: Floats, others: Arrays) -> Any:
    """Write each value of a row, and its square where it is selected; return how many were written."""
    indptr, idx, val = rows
    first, second, groups, made, options = others
    at = 0
    for k in range(indptr[1]):
        first[at], second[at], out[at], made[at] = idx[k], PLAIN, val[k], groups[k]
        at += 1
        if options[0] == 0 or groups[k] & options[0] != 0:
            first[at], second[at], out[at], made[at] = idx[k], idx[k], val[k] * val[k], groups[k]
            at += 1
    return at


class Squares(DerivedTransform):
    """Adds the square of every feature."""

    name = "squares"
    row_loop = Loop(square_values, square_row, ROW_ARRAYS)

    def row_capacity(self, size: int) -> int:
        return 2 * size

    def derive_table(self, val: NDArray[Any], groups: Groups) -> DerivedFeatures:
        columns, copies = np.arange(val.shape[1]), self.count_copies(val.shape[1], groups)
        at, second = np.repeat(columns, copies), square_keys(columns, copies)
        values = np.where(second == PLAIN, val[:, at], val[:, at] * val[:, at])
        return DerivedFeatures(at, second, values, None if groups is None else groups[at])

    def derive_rows(self, block: Block, groups: Groups, offsets: NDArray[Any]) -> Iterator[DerivedFeatures]:
        _, idx, val = entries(block)
        copies = self.count_copies(idx.size, groups)
        first, second, values = np.repeat(idx, copies), square_keys(idx, copies), np.repeat(val, copies)
        with np.errstate(over="ignore"):
            values = np.where(second == PLAIN, values, values * values)
        after = None if groups is None else np.repeat(groups, copies)
        yield DerivedFeatures(first.astype(np.int64), second, values, after)

    def count_copies(self, size: int, groups: Groups) -> NDArray[Any]:
        """Return how many features each one becomes: 2 where it is squared, 1 elsewhere."""
        selected = self.select(groups)
        return np.where(np.ones(size, bool) if selected is None else selected, 2, 1)

    def offsets(self, block: Block, groups: Groups) -> NDArray[Any]:
        indptr, idx, _ = entries(block)
        return np.asarray(np.concatenate(([0], np.cumsum(self.count_copies(idx.size, groups))))[indptr])

    def name_feature(self, first: Any, second: int, before: Callable[[int], Any]) -> str:
        return f"{first}^2"

    def is_valid(self, saved: Mapping[str, NDArray[Any]]) -> bool:
        return bool(((saved["right"] == PLAIN) | (saved["right"] == saved["left"])).all())


def square_keys(idx: NDArray[Any], copies: NDArray[Any]) -> NDArray[Any]:
    """Return the second integers of the keys: PLAIN for a feature, its own number for the square that follows."""
    second = np.repeat(idx.astype(np.int64), copies)
    second[np.cumsum(copies) - copies] = PLAIN
    return second


def pair_rows(table: Table) -> int:
    pair_values(
        table[LEARN], (read_indptr(table), read_idx(table), read_val(table)), read_out(table),
        (read_first(table), read_second(table), read_groups(table), read_between(table)),
    )  # fmt: skip
    return 0


def pair_values(learn: bool, rows: Arrays, out: Floats, made: Arrays) -> Any:
    """Write the values of each row, then the products of its selected pairs; return how many were written."""
    indptr, idx, val = rows
    first, second, groups, between = made
    at = 0
    for row in range(indptr.size - 1):
        for k in range(indptr[row], indptr[row + 1]):
            first[at], second[at], out[at] = idx[k], PLAIN, val[k]
            at += 1
        for k in range(indptr[row], indptr[row + 1]):
            if groups[k] == 0:
                continue
            for other in range(k + 1, indptr[row + 1]):
                direction = 0 if groups[other] == 0 else pair_direction(groups[k], groups[other], between)
                if direction == 0:
                    continue
                swapped = direction == BACKWARD or (direction == EITHER and idx[k] > idx[other])
                first[at], second[at] = (idx[other], idx[k]) if swapped else (idx[k], idx[other])
                out[at] = val[k] * val[other]
                at += 1
    return at


def pair_row(table: Table) -> int:
    """Write the values of one row and the products of its pairs; `options`: see `Pairs.row_options`."""
    options, groups, made, n = read_options(table), read_groups(table), read_made(table), read_indptr(table)[1]
    paired = read_scratch(table)
    for k in range(n):
        paired[k] = 1 if options[1] == 0 else groups[k] & options[1]
    if n > options[0] or n > paired.size:
        raise ArithmeticError
    at = pair_values(
        table[LEARN], (read_indptr(table), read_idx(table), read_val(table)), read_out(table),
        (read_first(table), read_second(table), paired, options[2:]),
    )  # fmt: skip
    for k in range(at):
        made[k] = groups[k] if k < n else 0
    read_size(table)[0] = at
    return 0


def count_rows(table: Table) -> int:
    rows, options = (read_indptr(table), read_groups(table)), (read_between(table), read_most(table))
    count_pairs(table[LEARN], rows, read_out(table), options)
    return 0


def count_pairs(learn: bool, rows: Arrays, out: Floats, options: Arrays) -> None:
    """Count the products of each row; stops soon after the limit is passed."""
    indptr, groups = rows
    between, most = options
    for row in range(indptr.size - 1):
        out[row] = 0
        for k in range(indptr[row], indptr[row + 1]):
            if groups[k] == 0 or out[row] > most[0]:
                continue
            for other in range(k + 1, indptr[row + 1]):
                if groups[other] != 0 and pair_direction(groups[k], groups[other], between) != 0:
                    out[row] += 1


FORWARD, BACKWARD, EITHER = 1, 2, 3


def pair_direction(a: int, b: int, between: NDArray[np.int64]) -> Any:
    """Return whether features of groups a and b are multiplied (0: no), and which of them comes first in the name.

    The first pair in `between` that matches decides. EITHER means that it matches both ways.
    """
    for at in range(0, between.size, 2):
        forward = (a & between[at]) != 0 and (b & between[at + 1]) != 0
        backward = (b & between[at]) != 0 and (a & between[at + 1]) != 0
        if forward or backward:
            return (FORWARD if forward else 0) + (BACKWARD if backward else 0)
    return 0


ALL = np.array([1, 1], np.int64)  # without selectors all features are in group 1, which is paired with itself


class Pairs(DerivedTransform):
    """Adds the product of every two features of a row, or only of those that `between` selects."""

    name = "pairs"
    params: ClassVar[Options] = {
        "limit": Param(200.0, at_least=1.0, about="the most features a row may have"),
        "between": SelectorParam(paired=True),
    }
    loop = Loop(pair_values, pair_rows, VALUES | dict.fromkeys(("first", "second", "groups", "between"), np.int64))
    counting = Loop(count_pairs, count_rows, dict.fromkeys(("indptr", "groups", "out", "between", "most"), np.int64), 2)
    row_loop = Loop(pair_values, pair_row, ROW_ARRAYS)
    pair_cache: tuple[bytes, NDArray[Any], NDArray[Any]] | None = None  # groups and pairs of columns of the last matrix

    @property
    def between(self) -> NDArray[np.int64]:
        """The pairs of groups to multiply, flattened."""
        bits = [self.bits[name] for pair in self.options.get("between", ()) for name in pair]
        return np.array(bits, np.int64) if bits else ALL

    def row_options(self) -> NDArray[np.int64]:
        """Return the most features of a row, the groups that are paired (0: all are), and the pairs of groups."""
        mask = np.bitwise_or.reduce(self.between) if self.bits else 0
        return np.array([int(self.options["limit"]), mask, *self.between], np.int64)

    def row_capacity(self, size: int) -> int:
        return int(count_with_pairs(size))

    def pair_groups(self, groups: Groups, size: int) -> NDArray[Any]:
        """Return the groups of `size` entries, with 0 where an entry is in no pair."""
        if groups is None or not self.bits:
            return np.ones(size, np.int64)
        return np.asarray(groups & np.bitwise_or.reduce(self.between))

    def derive_table(self, val: NDArray[Any], groups: Groups) -> DerivedFeatures:
        columns = np.arange(val.shape[1])
        left, right = self.pair_columns(self.pair_groups(groups, columns.size))
        self.check_limit(np.full(len(val), columns.size), np.full(len(val), left.size))
        plain = np.full(columns.size, PLAIN)
        values = np.concatenate((val, val[:, left] * val[:, right]), axis=1)
        after = None if groups is None else np.concatenate((groups, np.zeros(left.size, np.int64)))
        return DerivedFeatures(np.concatenate((columns, left)), np.concatenate((plain, right)), values, after)

    def pair_columns(self, groups: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the pairs of columns to multiply."""
        if self.pair_cache is not None and self.pair_cache[0] == groups.tobytes():
            return self.pair_cache[1:]
        left, right = np.triu_indices(groups.size, 1)
        between = self.between
        possible = np.flatnonzero((groups[left] != 0) & (groups[right] != 0)).tolist()
        found = [pair_direction(groups[left[at]], groups[right[at]], between) for at in possible]
        directions = np.array(found, np.int64)
        left, right = left[possible][directions > 0], right[possible][directions > 0]
        swapped = directions[directions > 0] == BACKWARD
        self.pair_cache = (groups.tobytes(), np.where(swapped, right, left), np.where(swapped, left, right))
        return self.pair_cache[1:]

    def derive_rows(self, block: Block, groups: Groups, offsets: NDArray[Any]) -> Iterator[DerivedFeatures]:
        indptr, idx, val = entries(block)
        row, paired = 0, self.pair_groups(groups, idx.size)
        while row < block.rows:
            stop = max(row + 1, int(np.searchsorted(offsets, offsets[row] + BATCH, side="right")) - 1)
            size, here = int(offsets[stop] - offsets[row]), slice(int(indptr[row]), int(indptr[stop]))
            made = DerivedFeatures(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size))
            rows = (indptr[row : stop + 1] - indptr[row], idx[here], val[here])
            self.run(self.loop, False, (*rows, made.val, made.first, made.second, paired[here], self.between))
            if groups is not None:
                after = np.zeros(size, np.int64)
                after[made.second == PLAIN] = groups[here]
                made = made._replace(groups=after)
            yield made
            row = stop

    def offsets(self, block: Block, groups: Groups) -> NDArray[Any]:
        indptr, idx, _ = entries(block)
        lengths = np.diff(indptr)
        products = count_with_pairs(lengths) - lengths
        if self.bits:
            products = np.empty(block.rows, np.int64)
            options = (self.between, np.array([count_with_pairs(int(self.options["limit"]))]))
            self.run(self.counting, False, (indptr, self.pair_groups(groups, idx.size), products, *options))
        self.check_limit(lengths, products)
        return np.concatenate(([0], np.cumsum(lengths + products)))

    def check_limit(self, lengths: NDArray[Any], products: NDArray[Any]) -> None:
        """Refuse rows with too many products."""
        limit = self.options["limit"]
        if not self.bits and lengths.size and lengths.max() > limit:
            row = int(np.argmax(lengths > limit))
            raise BadValue(
                f"row {row}: it has {lengths[row]} features, of which pairs would make "
                f"{count_with_pairs(lengths[row])}; the limit is {limit:g} features in a row, set by pairs(limit=...)",
                row=row,
            )
        if self.bits and products.size and products.max() > count_with_pairs(int(limit)):
            row = int(np.argmax(products > count_with_pairs(int(limit))))
            raise BadValue(
                f"row {row}: pairs would make more than {count_with_pairs(int(limit))} products of it, the number for "
                f"{limit:g} features; select fewer pairs or set another limit by pairs(limit=...)",
                row=row,
            )

    def name_feature(self, first: Any, second: int, before: Callable[[int], Any]) -> str:
        return f"{first}*{before(second)}"

    def is_valid(self, saved: Mapping[str, NDArray[Any]]) -> bool:
        left, right = saved["left"], saved["right"]
        plain = set(left[right == PLAIN].tolist())  # both factors of a product must be features themselves
        product = (right > left) | (bool(self.bits) & (right >= 0) & (right != left))
        return bool(((right == PLAIN) | product).all()) and {*left.tolist(), *right.tolist()} - {PLAIN} <= plain


def count_with_pairs(length: Any) -> Any:
    """Return the number of features with all their pairs."""
    return length * (length + 1) // 2


def hot_row(table: Table) -> int:
    read_size(table)[0] = hot_values(
        table[LEARN], (read_indptr(table), read_idx(table), read_val(table)), read_out(table),
        (read_first(table), read_second(table), read_groups(table), read_made(table), read_options(table),
         read_scratch(table)),
    )  # fmt: skip
    return 0


def hot_values(learn: bool, rows: Arrays, out: Floats, others: Arrays) -> Any:
    """Write a feature with the value 1 for each value of a row that is selected; return how many were written."""
    indptr, idx, val = rows
    first, second, groups, made, options, bits = others
    for k in range(indptr[1]):
        first[k], second[k], out[k], made[k] = idx[k], PLAIN, val[k], groups[k]
        if options[0] == 0 or groups[k] & options[0] != 0:
            out[k] = val[k] + 0.0  # -0.0 + 0.0 is 0.0
            second[k] = bits[k]  # the same memory as out
            out[k] = 1.0
    return indptr[1]


class OneHot(DerivedTransform):
    """One-hot encoding: the feature j with the value v becomes the feature j=v with the value 1."""

    name = "one_hot"
    fixed_columns = False
    row_loop = Loop(hot_values, hot_row, ROW_ARRAYS)
    makes_indicators = True

    def row_scratch(self, size: int, out: Floats) -> tuple[NDArray[Any], ...]:
        return (out.view(np.int64),)  # to read the bits of values

    def derive_rows(self, block: Block, groups: Groups, offsets: NDArray[Any]) -> Iterator[DerivedFeatures]:
        _, idx, val = entries(block)
        first, values = idx.astype(np.int64), (val + 0.0).view(np.int64)  # -0.0 + 0.0 is 0.0
        selected = self.select(groups)
        if selected is None:
            yield DerivedFeatures(first, values, np.ones(val.size), groups)
        else:
            yield DerivedFeatures(first, np.where(selected, values, PLAIN), np.where(selected, 1.0, val), groups)

    def find_indicators(self, made: DerivedFeatures, indicators: NDArray[Any], width: int) -> NDArray[Any]:
        inputs = made._replace(second=np.full(made.first.size, PLAIN))
        return np.asarray((made.second != PLAIN) | super().find_indicators(inputs, indicators, width))

    def name_feature(self, first: Any, second: int, before: Callable[[int], Any]) -> str:
        value = float(np.int64(second).view(np.float64))
        return f"{first}={int(value) if value.is_integer() else value}"

    def is_valid(self, saved: Mapping[str, NDArray[Any]]) -> bool:
        unselected = (saved["right"] == PLAIN) & bool(self.only)
        return bool((np.isfinite(saved["right"].view(np.float64)) | unselected).all())
