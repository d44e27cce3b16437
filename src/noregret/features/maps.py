"""What features can be made of features: squares, products of two, categories."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from noregret.algebra.verbs import unbound
from noregret.card import Choice, Param
from noregret.chunk import Block, SparseBlock
from noregret.errors import BadValue
from noregret.features.derived import PLAIN, Derived, Made
from noregret.features.running import LEARN, VALUES, Loop, entries

read_indptr = read_idx = read_val = read_out = read_first = read_second = unbound

PIECE = 1 << 18  # features made in one go


class Squares(Derived):
    """Every feature and its square."""

    name = "squares"

    def from_table(self, val: np.ndarray) -> Made:
        both = np.stack((val, val * val), axis=2).reshape(len(val), -1)
        return Made(*keys_of_squares(np.arange(val.shape[1])), both)

    def from_rows(self, block: Block) -> Iterator[Made]:
        _, idx, val = entries(block)
        with np.errstate(over="ignore"):
            both = np.stack((val, val * val), axis=1).reshape(-1)
        yield Made(*keys_of_squares(idx.astype(np.int64)), both)

    def offsets(self, block: Block) -> np.ndarray:
        return 2 * entries(block)[0]

    def called(self, first: Any, second: int, before: Callable[[int], Any]) -> str:
        return f"{first}^2"

    def possible(self, saved: Mapping[str, np.ndarray]) -> bool:
        return bool(((saved["right"] == PLAIN) | (saved["right"] == saved["left"])).all())


def keys_of_squares(idx: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat(idx, 2), np.stack((np.full(idx.size, PLAIN), idx), axis=1).reshape(-1)


def pair_rows(table: Any) -> int:
    pair_values(
        table[LEARN], (read_indptr(table), read_idx(table), read_val(table)), read_out(table),
        (read_first(table), read_second(table)),
    )  # fmt: skip
    return 0


def pair_values(learn: Any, rows: Any, out: Any, made: Any) -> None:
    """The values of each row, then the products of every two of them."""
    indptr, idx, val = rows
    first, second = made
    at = 0
    for row in range(indptr.size - 1):
        for k in range(indptr[row], indptr[row + 1]):
            first[at], second[at], out[at] = idx[k], PLAIN, val[k]
            at += 1
        for k in range(indptr[row], indptr[row + 1]):
            for other in range(k + 1, indptr[row + 1]):
                first[at], second[at] = min(idx[k], idx[other]), max(idx[k], idx[other])
                out[at] = val[k] * val[other]
                at += 1


class Pairs(Derived):
    """Every feature, and the product of every two features of a row."""

    name = "pairs"
    params: ClassVar[Mapping[str, Param | Choice]] = {
        "limit": Param(200.0, at_least=1.0, about="the most features a row may have")
    }
    loop = Loop(pair_values, pair_rows, VALUES | {"first": np.int64, "second": np.int64})

    def checked(self, block: Block) -> Block:
        block = super().checked(block)
        lengths = np.diff(block.indptr) if isinstance(block, SparseBlock) else np.full(block.rows, block.width)
        if lengths.size and lengths.max() > self.told["limit"]:
            row = int(np.argmax(lengths > self.told["limit"]))
            raise BadValue(
                f"row {row}: it has {lengths[row]} features, of which pairs would make {made_by(lengths[row])}; its "
                f"limit is {self.told['limit']:g} features in a row, pairs(limit=...) sets another",
                row=row,
            )
        return block

    def from_table(self, val: np.ndarray) -> Made:
        columns = np.arange(val.shape[1])
        left, right = np.triu_indices(columns.size, 1)
        plain = np.full(columns.size, PLAIN)
        values = np.concatenate((val, val[:, left] * val[:, right]), axis=1)
        return Made(np.concatenate((columns, left)), np.concatenate((plain, right)), values)

    def from_rows(self, block: Block) -> Iterator[Made]:
        indptr, idx, val = entries(block)
        offsets, row = self.offsets(block), 0
        while row < block.rows:
            stop = max(row + 1, int(np.searchsorted(offsets, offsets[row] + PIECE, side="right")) - 1)
            size, here = int(offsets[stop] - offsets[row]), slice(int(indptr[row]), int(indptr[stop]))
            made = Made(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size))
            rows = (indptr[row : stop + 1] - indptr[row], idx[here], val[here])
            self.run(self.loop, False, (*rows, made.val, made.first, made.second))
            yield made
            row = stop

    def offsets(self, block: Block) -> np.ndarray:
        return np.concatenate(([0], np.cumsum(made_by(np.diff(entries(block)[0])))))

    def called(self, first: Any, second: int, before: Callable[[int], Any]) -> str:
        return f"{first}*{before(second)}"

    def possible(self, saved: Mapping[str, np.ndarray]) -> bool:
        left, right = saved["left"], saved["right"]
        alone = set(left[right == PLAIN].tolist())  # a product has two features, and each was there by itself
        return bool(((right == PLAIN) | (right > left)).all()) and {*left.tolist(), *right.tolist()} - {PLAIN} <= alone


def made_by(length: Any) -> Any:
    """How many features are made of so many, these included."""
    return length * (length + 1) // 2


class OneHot(Derived):
    """Numbers that are categories: the feature j with the value v becomes the feature j=v, which is 1."""

    name = "one_hot"
    regular = False

    def from_rows(self, block: Block) -> Iterator[Made]:
        _, idx, val = entries(block)
        yield Made(idx.astype(np.int64), (val + 0.0).view(np.int64), np.ones(val.size))  # -0.0 + 0.0 is 0.0

    def says_yes(self, made: Made, never: np.ndarray, width: int) -> np.ndarray:
        return np.ones(made.first.size, bool)

    def called(self, first: Any, second: int, before: Callable[[int], Any]) -> str:
        value = float(np.int64(second).view(np.float64))
        return f"{first}={int(value) if value.is_integer() else value}"

    def possible(self, saved: Mapping[str, np.ndarray]) -> bool:
        return bool(np.isfinite(saved["right"].view(np.float64)).all())
