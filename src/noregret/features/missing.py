"""Missing values (NaN or None): replaced by zero, by the mean, or flagged by an indicator feature."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.verbs import unbound
from noregret.data.blocks import UNSORTED, Block, DenseBlock, check_rows, sort_rows, verify
from noregret.features.derived import PLAIN, DerivedFeatures, DerivedTransform
from noregret.features.fitted import (
    LEARN,
    Arrays,
    FittedTransform,
    Floats,
    Groups,
    Loop,
    Options,
    PipelineRows,
    Table,
    entries,
    replace_values,
    value_loop,
)
from noregret.rules.parameters import Choice

read_indptr = read_idx = read_val = read_out = read_count = read_mean = unbound

MISSING = -2  # as the second integer of a key: the indicator that the feature is missing


def check_except_missing(block: Block) -> Block:
    """Sort and check the rows, but permit missing values."""
    if isinstance(block, DenseBlock) or block.ready:
        return block
    block = block._replace(idx=block.idx.copy(), val=block.val.copy())  # the caller's may change while they are checked
    filled = block._replace(val=np.nan_to_num(block.val, nan=0.0, posinf=np.inf, neginf=-np.inf))
    if check_rows(filled) % 4 == UNSORTED:
        return check_except_missing(sort_rows(block))
    verify(filled)
    return block._replace(ready=True)


def fill_rows(table: Table) -> int:
    fill_values(
        table[LEARN], (read_indptr(table), read_idx(table), read_val(table)), read_out(table),
        (read_count(table), read_mean(table)),
    )  # fmt: skip
    return 0


def fill_values(learn: bool, rows: Arrays, out: Floats, seen: Arrays) -> None:
    """Replace each missing value by the mean of earlier values; learn from the others."""
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


class Missing(FittedTransform):
    """Replaces missing values by 0."""

    name = "missing"
    params: ClassVar[Options] = {
        "policy": Choice("zero", dict.fromkeys(("zero", "mean", "indicator")), "how to replace missing values")
    }
    accepts_missing = True

    def check(self, block: Block) -> Block:
        return check_except_missing(block)

    def row_loops(self) -> tuple[Loop, ...] | None:
        return ()  # finite values stay as they are

    def apply(self, rows: PipelineRows, learn: bool, include_unknown: bool) -> PipelineRows:
        block = self.check(rows.block)
        values = entries(block)[2]
        return rows._replace(block=replace_values(block, np.where(np.isnan(values), 0.0, values)))


class MissingMean(Missing):
    """Replaces missing values by the mean of the feature's earlier values, or 0 if there are none."""

    fields = ("count", "mean")
    loop = value_loop(fill_values, fill_rows, *fields)
    apply = FittedTransform.apply
    row_loops = FittedTransform.row_loops

    def is_valid(self, saved: Mapping[str, NDArray[Any]]) -> bool:
        return bool((saved["count"] >= 0.0).all())


class MissingIndicator(DerivedTransform):
    """Replaces missing values by 0 and adds an indicator feature "... is missing"."""

    name, params, accepts_missing = Missing.name, Missing.params, True

    def check(self, block: Block) -> Block:
        return check_except_missing(block)

    def derive_table(self, val: NDArray[Any], groups: Groups) -> DerivedFeatures:
        absent, columns = np.isnan(val), np.arange(val.shape[1])
        both = np.stack((np.where(absent, 0.0, val), absent.astype(np.float64)), axis=2).reshape(len(val), -1)
        twice = None if groups is None else np.repeat(groups, 2)
        return DerivedFeatures(np.repeat(columns, 2), np.tile((PLAIN, MISSING), columns.size), both, twice)

    def derive_rows(self, block: Block, groups: Groups, offsets: NDArray[Any]) -> Iterator[DerivedFeatures]:
        _, idx, val = entries(block)
        absent = np.isnan(val)
        yield DerivedFeatures(
            idx.astype(np.int64), np.where(absent, MISSING, PLAIN), np.where(absent, 1.0, val), groups
        )

    def find_indicators(self, made: DerivedFeatures, indicators: NDArray[Any], width: int) -> NDArray[Any]:
        return np.asarray(super().find_indicators(made, indicators, width) | (made.second == MISSING))

    def name_feature(self, first: Any, second: int, before: Callable[[int], Any]) -> str:
        return f"{first} is missing"

    def is_valid(self, saved: Mapping[str, NDArray[Any]]) -> bool:
        return bool(np.isin(saved["right"], (PLAIN, MISSING)).all())


POLICIES: dict[str, type[FittedTransform]] = {"zero": Missing, "mean": MissingMean, "indicator": MissingIndicator}
