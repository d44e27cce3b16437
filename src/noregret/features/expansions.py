"""What features can be made of features: squares, products of two, categories."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from noregret.algebra.verbs import unbound
from noregret.data.blocks import Block
from noregret.errors import BadValue
from noregret.features.derived import PLAIN, Derived, Kinds, Made
from noregret.features.feature_selectors import Chosen
from noregret.features.fitted import LEARN, VALUES, Loop, Options, entries
from noregret.rules.parameters import Param

read_indptr = read_idx = read_val = read_out = read_first = read_second = read_kinds = unbound
read_between = read_most = unbound

PIECE = 1 << 18  # features made in one go


class Squares(Derived):
    """Every feature and its square."""

    name = "squares"

    def from_table(self, val: np.ndarray, kinds: Kinds) -> Made:
        columns, squared = np.arange(val.shape[1]), self.repeats(val.shape[1], kinds)
        at, second = np.repeat(columns, squared), keys_of_squares(columns, squared)
        values = np.where(second == PLAIN, val[:, at], val[:, at] * val[:, at])
        return Made(at, second, values, None if kinds is None else kinds[at])

    def from_rows(self, block: Block, kinds: Kinds, offsets: np.ndarray) -> Iterator[Made]:
        _, idx, val = entries(block)
        squared = self.repeats(idx.size, kinds)
        first, second, values = np.repeat(idx, squared), keys_of_squares(idx, squared), np.repeat(val, squared)
        with np.errstate(over="ignore"):
            values = np.where(second == PLAIN, values, values * values)
        yield Made(first.astype(np.int64), second, values, None if kinds is None else np.repeat(kinds, squared))

    def repeats(self, size: int, kinds: Kinds) -> np.ndarray:
        """How many features each becomes: itself, and its square where it is chosen."""
        some = self.chosen(kinds)
        return np.where(np.ones(size, bool) if some is None else some, 2, 1)

    def offsets(self, block: Block, kinds: Kinds) -> np.ndarray:
        indptr, idx, _ = entries(block)
        return np.asarray(np.concatenate(([0], np.cumsum(self.repeats(idx.size, kinds))))[indptr])

    def called(self, first: Any, second: int, before: Callable[[int], Any]) -> str:
        return f"{first}^2"

    def possible(self, saved: Mapping[str, np.ndarray]) -> bool:
        return bool(((saved["right"] == PLAIN) | (saved["right"] == saved["left"])).all())


def keys_of_squares(idx: np.ndarray, squared: np.ndarray) -> np.ndarray:
    """The second numbers: of a feature none, of its square behind it the feature again."""
    second = np.repeat(idx.astype(np.int64), squared)
    second[np.cumsum(squared) - squared] = PLAIN
    return second


def pair_rows(table: Any) -> int:
    pair_values(
        table[LEARN], (read_indptr(table), read_idx(table), read_val(table)), read_out(table),
        (read_first(table), read_second(table), read_kinds(table), read_between(table)),
    )  # fmt: skip
    return 0


def pair_values(learn: Any, rows: Any, out: Any, made: Any) -> None:
    """The values of each row, then the products of every two of them that are to be multiplied."""
    indptr, idx, val = rows
    first, second, kinds, between = made
    at = 0
    for row in range(indptr.size - 1):
        for k in range(indptr[row], indptr[row + 1]):
            first[at], second[at], out[at] = idx[k], PLAIN, val[k]
            at += 1
        for k in range(indptr[row], indptr[row + 1]):
            if kinds[k] == 0:
                continue
            for other in range(k + 1, indptr[row + 1]):
                way = 0 if kinds[other] == 0 else way_between(kinds[k], kinds[other], between)
                if way == 0:
                    continue
                turned = way == BACKWARD or (way == EITHER and idx[k] > idx[other])
                first[at], second[at] = (idx[other], idx[k]) if turned else (idx[k], idx[other])
                out[at] = val[k] * val[other]
                at += 1


def count_rows(table: Any) -> int:
    count_pairs(
        table[LEARN], (read_indptr(table), read_kinds(table)), read_out(table), (read_between(table), read_most(table)),
    )  # fmt: skip
    return 0


def count_pairs(learn: Any, rows: Any, out: Any, told: Any) -> None:
    """How many products are made of each row, counted as far as one too many."""
    indptr, kinds = rows
    between, most = told
    for row in range(indptr.size - 1):
        out[row] = 0
        for k in range(indptr[row], indptr[row + 1]):
            if kinds[k] == 0 or out[row] > most[0]:
                continue
            for other in range(k + 1, indptr[row + 1]):
                if kinds[other] != 0 and way_between(kinds[k], kinds[other], between) != 0:
                    out[row] += 1


FORWARD, BACKWARD, EITHER = 1, 2, 3


def way_between(a: Any, b: Any, between: Any) -> Any:
    """Whether features of these kinds are to be multiplied, and which of them is named first: by the first pair that
    holds both, or by number where it holds them either way."""
    for at in range(0, between.size, 2):
        forward = (a & between[at]) != 0 and (b & between[at + 1]) != 0
        backward = (b & between[at]) != 0 and (a & between[at + 1]) != 0
        if forward or backward:
            return (FORWARD if forward else 0) + (BACKWARD if backward else 0)
    return 0


ALL = np.array([1, 1], np.int64)  # every feature is of one kind, and multiplied with all of it


class Pairs(Derived):
    """Every feature, and the product of every two features of a row, or of those between names that are told."""

    name = "pairs"
    params: ClassVar[Options] = {
        "limit": Param(200.0, at_least=1.0, about="the most features a row may have"),
        "between": Chosen(paired=True),
    }
    loop = Loop(pair_values, pair_rows, VALUES | dict.fromkeys(("first", "second", "kinds", "between"), np.int64))
    counting = Loop(count_pairs, count_rows, dict.fromkeys(("indptr", "kinds", "out", "between", "most"), np.int64), 2)
    latest: tuple[bytes, np.ndarray, np.ndarray] | None = None  # the kinds of the last table, and its columns paired

    @property
    def between(self) -> np.ndarray:
        """The kinds to be multiplied, two and two."""
        told = [self.bits[name] for pair in self.told.get("between", ()) for name in pair]
        return np.array(told, np.int64) if told else ALL

    def relevant(self, kinds: Kinds, size: int) -> np.ndarray:
        """The kinds of so many features, 0 where a feature is not to be multiplied."""
        if kinds is None or not self.bits:
            return np.ones(size, np.int64)
        return np.asarray(kinds & np.bitwise_or.reduce(self.between))

    def from_table(self, val: np.ndarray, kinds: Kinds) -> Made:
        columns = np.arange(val.shape[1])
        left, right = self.columns_paired(self.relevant(kinds, columns.size))
        self.must_be_few(np.full(len(val), columns.size), np.full(len(val), left.size))
        plain = np.full(columns.size, PLAIN)
        values = np.concatenate((val, val[:, left] * val[:, right]), axis=1)
        after = None if kinds is None else np.concatenate((kinds, np.zeros(left.size, np.int64)))
        return Made(np.concatenate((columns, left)), np.concatenate((plain, right)), values, after)

    def columns_paired(self, kinds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The columns to be multiplied."""
        if self.latest is not None and self.latest[0] == kinds.tobytes():
            return self.latest[1:]
        left, right = np.triu_indices(kinds.size, 1)
        told = self.between
        some = np.flatnonzero((kinds[left] != 0) & (kinds[right] != 0)).tolist()
        ways = np.array([way_between(kinds[left[at]], kinds[right[at]], told) for at in some], np.int64)
        left, right = left[some][ways > 0], right[some][ways > 0]
        turned = ways[ways > 0] == BACKWARD
        self.latest = (kinds.tobytes(), np.where(turned, right, left), np.where(turned, left, right))
        return self.latest[1:]

    def from_rows(self, block: Block, kinds: Kinds, offsets: np.ndarray) -> Iterator[Made]:
        indptr, idx, val = entries(block)
        row, relevant = 0, self.relevant(kinds, idx.size)
        while row < block.rows:
            stop = max(row + 1, int(np.searchsorted(offsets, offsets[row] + PIECE, side="right")) - 1)
            size, here = int(offsets[stop] - offsets[row]), slice(int(indptr[row]), int(indptr[stop]))
            made = Made(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size))
            rows = (indptr[row : stop + 1] - indptr[row], idx[here], val[here])
            self.run(self.loop, False, (*rows, made.val, made.first, made.second, relevant[here], self.between))
            if kinds is not None:
                after = np.zeros(size, np.int64)
                after[made.second == PLAIN] = kinds[here]
                made = made._replace(kinds=after)
            yield made
            row = stop

    def offsets(self, block: Block, kinds: Kinds) -> np.ndarray:
        indptr, idx, _ = entries(block)
        lengths = np.diff(indptr)
        products = made_by(lengths) - lengths
        if self.bits:
            products = np.empty(block.rows, np.int64)
            told = (self.between, np.array([made_by(int(self.told["limit"]))]))
            self.run(self.counting, False, (indptr, self.relevant(kinds, idx.size), products, *told))
        self.must_be_few(lengths, products)
        return np.concatenate(([0], np.cumsum(lengths + products)))

    def must_be_few(self, lengths: np.ndarray, products: np.ndarray) -> None:
        """Refuse rows of which too much would be made."""
        limit = self.told["limit"]
        if not self.bits and lengths.size and lengths.max() > limit:
            row = int(np.argmax(lengths > limit))
            raise BadValue(
                f"row {row}: it has {lengths[row]} features, of which pairs would make {made_by(lengths[row])}; its "
                f"limit is {limit:g} features in a row, pairs(limit=...) sets another",
                row=row,
            )
        if self.bits and products.size and products.max() > made_by(int(limit)):
            row = int(np.argmax(products > made_by(int(limit))))
            raise BadValue(
                f"row {row}: pairs would make more than {made_by(int(limit))} products of it, as many as of {limit:g} "
                "features; choose fewer, or set another limit by pairs(limit=...)",
                row=row,
            )

    def called(self, first: Any, second: int, before: Callable[[int], Any]) -> str:
        return f"{first}*{before(second)}"

    def possible(self, saved: Mapping[str, np.ndarray]) -> bool:
        left, right = saved["left"], saved["right"]
        alone = set(left[right == PLAIN].tolist())  # a product has two features, and each was there by itself
        apart = (right > left) | (bool(self.bits) & (right >= 0) & (right != left))
        return bool(((right == PLAIN) | apart).all()) and {*left.tolist(), *right.tolist()} - {PLAIN} <= alone


def made_by(length: Any) -> Any:
    """How many features are made of so many, these included."""
    return length * (length + 1) // 2


class OneHot(Derived):
    """Numbers that are categories: the feature j with the value v becomes the feature j=v, which is 1."""

    name = "one_hot"
    regular = False

    def from_rows(self, block: Block, kinds: Kinds, offsets: np.ndarray) -> Iterator[Made]:
        _, idx, val = entries(block)
        some, values = self.chosen(kinds), (val + 0.0).view(np.int64)  # -0.0 + 0.0 is 0.0
        if some is None:
            yield Made(idx.astype(np.int64), values, np.ones(val.size), kinds)
        else:
            yield Made(idx.astype(np.int64), np.where(some, values, PLAIN), np.where(some, 1.0, val), kinds)

    def says_yes(self, made: Made, never: np.ndarray, width: int) -> np.ndarray:
        alone = made._replace(second=np.full(made.first.size, PLAIN))
        return np.asarray((made.second != PLAIN) | super().says_yes(alone, never, width))

    def called(self, first: Any, second: int, before: Callable[[int], Any]) -> str:
        value = float(np.int64(second).view(np.float64))
        return f"{first}={int(value) if value.is_integer() else value}"

    def possible(self, saved: Mapping[str, np.ndarray]) -> bool:
        left_alone = (saved["right"] == PLAIN) & bool(self.only)
        return bool((np.isfinite(saved["right"].view(np.float64)) | left_alone).all())
