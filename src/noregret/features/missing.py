"""Values that are missing, NaN or None: what stands in their place. It comes before all that needs numbers."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from noregret.algebra.verbs import unbound
from noregret.data.blocks import UNSORTED, Block, DenseBlock, check_rows, sort_rows, verify
from noregret.features.derived import PLAIN, Derived, Kinds, Made
from noregret.features.fitted import LEARN, Options, Passed, Running, entries, over_values, with_values
from noregret.rules.card import Choice

read_indptr = read_idx = read_val = read_out = read_count = read_mean = unbound

MISSING = -2  # in the place of a second feature: whether the first one is missing


def apart_from_gaps(block: Block) -> Block:
    """The rows, sorted and checked but for the values that are missing."""
    if isinstance(block, DenseBlock) or block.ready:
        return block
    filled = block._replace(val=np.nan_to_num(block.val, nan=0.0, posinf=np.inf, neginf=-np.inf))
    if check_rows(filled) % 4 == UNSORTED:
        return apart_from_gaps(sort_rows(block))
    verify(filled)
    return block._replace(ready=True)


def fill_rows(table: Any) -> int:
    fill_values(
        table[LEARN], (read_indptr(table), read_idx(table), read_val(table)), read_out(table),
        (read_count(table), read_mean(table)),
    )  # fmt: skip
    return 0


def fill_values(learn: Any, rows: Any, out: Any, seen: Any) -> None:
    """The mean of the values before it for one that is missing; the others stay, and are learned."""
    _, idx, val = rows
    count, mean = seen
    for k in range(idx.size):
        j, x = idx[k], val[k]
        if x != x:
            out[k] = mean[j]
            continue
        out[k] = x
        if learn:
            count[j] += 1.0
            mean[j] += x / count[j] - mean[j] / count[j]


class Missing(Running):
    """What is missing counts as 0."""

    name = "missing"
    params: ClassVar[Options] = {
        "policy": Choice("zero", dict.fromkeys(("zero", "mean", "indicator")), "what stands for a missing value")
    }
    takes_gaps = True

    def checked(self, block: Block) -> Block:
        return apart_from_gaps(block)

    def apply(self, rows: Passed, learn: bool, include_unknown: bool) -> Passed:
        block = self.checked(rows.block)
        values = entries(block)[2]
        return rows._replace(block=with_values(block, np.where(np.isnan(values), 0.0, values)))


class MissingMean(Missing):
    """What is missing counts as the mean of the feature's values before it, 0 where there are none."""

    fields = ("count", "mean")
    loop = over_values(fill_values, fill_rows, *fields)
    apply = Running.apply

    def possible(self, saved: Mapping[str, np.ndarray]) -> bool:
        return bool((saved["count"] >= 0.0).all())


class MissingIndicator(Derived):
    """What is missing counts as 0, and a feature says that it is missing."""

    name, params, takes_gaps = Missing.name, Missing.params, True

    def checked(self, block: Block) -> Block:
        return apart_from_gaps(block)

    def from_table(self, val: np.ndarray, kinds: Kinds) -> Made:
        gone, columns = np.isnan(val), np.arange(val.shape[1])
        both = np.stack((np.where(gone, 0.0, val), gone.astype(np.float64)), axis=2).reshape(len(val), -1)
        twice = None if kinds is None else np.repeat(kinds, 2)
        return Made(np.repeat(columns, 2), np.tile((PLAIN, MISSING), columns.size), both, twice)

    def from_rows(self, block: Block, kinds: Kinds, offsets: np.ndarray) -> Iterator[Made]:
        _, idx, val = entries(block)
        gone = np.isnan(val)
        yield Made(idx.astype(np.int64), np.where(gone, MISSING, PLAIN), np.where(gone, 1.0, val), kinds)

    def says_yes(self, made: Made, never: np.ndarray, width: int) -> np.ndarray:
        return np.asarray(super().says_yes(made, never, width) | (made.second == MISSING))

    def called(self, first: Any, second: int, before: Callable[[int], Any]) -> str:
        return f"{first} is missing"

    def possible(self, saved: Mapping[str, np.ndarray]) -> bool:
        return bool(np.isin(saved["right"], (PLAIN, MISSING)).all())


POLICIES: dict[str, type[Running]] = {"zero": Missing, "mean": MissingMean, "indicator": MissingIndicator}
