"""Running scaling: every value is measured from the mean of the values before it, in their standard deviations."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from noregret.algebra.verbs import unbound
from noregret.chunk import Block, DenseBlock, SparseBlock, all_finite, verified
from noregret.errors import BadValue

read_idx = read_val = read_out = read_count = read_mean = read_spread = unbound

LEARN, IDX, VAL, OUT, COUNT, MEAN, SPREAD, SLOTS = 0, 1, 3, 5, 7, 9, 11, 13
NEVER = -1.0  # the count of a feature that is not scaled


def scale_rows(table: Any) -> int:
    """Scale the values of some rows; slots of the table: whether to LEARN from them, and six arrays."""
    scale_values(
        table[LEARN], read_idx(table), read_val(table), read_out(table),
        (read_count(table), read_mean(table), read_spread(table)),
    )  # fmt: skip
    return 0


def scale_values(learn: Any, idx: Any, val: Any, out: Any, seen: Any) -> None:
    """Scale each value by those before it, then learn from it (Welford 1962).

    No value is further from the mean of n + 1 values it belongs to than sqrt(n) of their deviations; one that seems
    to be is a newcomer whose scale is not known yet, and is cut off there.
    """
    count, mean, spread = seen
    for k in range(idx.size):
        j, x = idx[k], val[k]
        n = count[j]
        if n == NEVER:
            out[k] = x
            continue
        out[k] = 0.0
        if spread[j] > 0.0:
            farthest = math.sqrt(n)
            out[k] = min(max((x - mean[j]) / math.sqrt(spread[j] / n), -farthest), farthest)
        if learn:
            count[j] = n + 1.0
            step = x - mean[j]
            mean[j] += step / (n + 1.0)
            spread[j] += step * (x - mean[j])


class Scaling:
    """The count, mean and sum of squared deviations of every feature's values in the rounds learned."""

    def __init__(self, run: Callable[..., None]) -> None:
        self.run = run
        self.count, self.mean, self.spread = np.zeros(0), np.zeros(0), np.zeros(0)
        self.before: tuple[Any, ...] | None = None

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.count, self.mean, self.spread

    def reach(self, width: int) -> None:
        """Make room for so many features."""
        more = width - self.count.size
        if more > 0:
            self.count, self.mean, self.spread = (np.concatenate((a, np.zeros(max(more, a.size)))) for a in self.arrays)

    def scaled(self, block: Block, learn: bool, never: np.ndarray) -> Block:
        """The block with its values scaled. `never` are the numbers of features to be left as they are."""
        block = verified(block)
        self.reach(block.width)
        idx = columns(block)
        if learn:
            touched = distinct(np.concatenate((idx, never)), block.width)
            self.before = (touched, *(array[touched] for array in self.arrays))
        fresh = never[self.count[never] == 0.0]
        self.count[fresh] = NEVER
        out = np.empty(idx.size)
        self.run(learn, idx, np.ascontiguousarray(block.val).reshape(-1)[: idx.size], out, self.arrays)
        if not learn:  # a feature that is only looked at may turn out to be a number when it is learned
            self.count[fresh] = 0.0
        elif not (all_finite(self.mean[touched]) and all_finite(self.spread[touched])):
            raise BadValue("values this large cannot be scaled: their squares are not finite. Learn without scaling")
        if isinstance(block, DenseBlock):
            return DenseBlock(out.reshape(block.val.shape))
        return block._replace(val=out)

    def keep(self) -> None:
        """What was learned last stays."""
        self.before = None

    def restore(self) -> None:
        """Forget what was learned last, if it was not kept."""
        if self.before is not None:
            touched, *olds = self.before
            for array, old in zip(self.arrays, olds, strict=True):
                array[touched] = old
            self.before = None


def distinct(numbers: np.ndarray, width: int) -> np.ndarray:
    """The different numbers, all below the width: marked where they are many, sorted where they are few."""
    if 16 * numbers.size < width:
        return np.unique(numbers)
    marked = np.zeros(width, bool)
    marked[numbers] = True
    return np.flatnonzero(marked)


def columns(block: Block) -> np.ndarray:
    """The column of every value."""
    if isinstance(block, SparseBlock):
        return np.ascontiguousarray(block.idx[: block.indptr[-1]], dtype=np.int32)
    return np.tile(np.arange(block.width, dtype=np.int32), block.rows)


def plain_run(learn: bool, idx: np.ndarray, val: np.ndarray, out: np.ndarray, seen: tuple[np.ndarray, ...]) -> None:
    """The same text without compilation."""
    with np.errstate(all="ignore"):
        scale_values(learn, idx, val, out, seen)
