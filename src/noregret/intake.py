"""Intake: from what a user hands over to a block of the learner's algebra: names, scaling, the constant feature."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.chunk import Block, Rows, SparseBlock, as_block, to_dense, to_sparse, verified, with_bias
from noregret.features import scaling, tidying

if TYPE_CHECKING:
    from noregret.learner import Learner

NOTHING = np.zeros(0, np.int32)


def taken(learner: "Learner", X: Any, grow: bool, heed: bool) -> Block:
    """A block of the learner's algebra; names, scales and the algebra itself are learned only when growing.

    Names that are not learned now are left out unless the learner is to heed them.
    """
    if isinstance(X, (list, tuple, Rows)) and not len(X):
        return SparseBlock(np.zeros(1, np.int64), NOTHING, np.zeros(0), 0)
    block, never = numbered(learner, X, grow, heed)
    if learner.scaling is not None:
        block = learner.scaling.scaled(block, grow, never)
    if learner.settled_algebra(block) in ("sparse", "kernel"):
        block = to_sparse(block)
    elif isinstance(block, SparseBlock):
        block = to_dense(verified(block))
    return with_bias(verified(block)) if learner.settings.bias else block


def numbered(learner: "Learner", X: Any, grow: bool, heed: bool) -> tuple[Block, np.ndarray]:
    """Rows with a number for every feature, and the numbers of those that must not be scaled."""
    names = learner.names
    if isinstance(X, Rows):
        if X.names is not None:
            rows, numbers = names.renumbered(X, grow, heed, arranged if learner.settings.native else None)
            if X.indicator is None or learner.scaling is None:
                return rows, NOTHING
            return rows, numbers[np.flatnonzero(X.indicator)]
        names.settle("columns", fix=grow)
        return X.block, NOTHING
    if isinstance(X, (list, tuple)) and isinstance(X[0], Mapping):
        return names.block(X, grow, heed), NOTHING
    block = as_block(X)
    names.settle("columns", fix=grow)
    return block, NOTHING


def scaler(native: bool) -> Callable[..., None]:
    """What scales values: compiled, or the same text in plain Python."""
    return compiled_run if native else scaling.plain_run


def compiled_run(learn: bool, idx: np.ndarray, val: np.ndarray, out: np.ndarray, seen: tuple[np.ndarray, ...]) -> None:
    from noregret.compiled import over_arrays

    real = np.zeros(1)
    reals = {"val": scaling.VAL, "out": scaling.OUT, "count": scaling.COUNT}
    reals |= {"mean": scaling.MEAN, "spread": scaling.SPREAD}
    places = {"idx": (scaling.IDX, np.zeros(1, np.int32)), **{name: (slot, real) for name, slot in reals.items()}}
    table = np.zeros(scaling.SLOTS, np.int64)
    table[scaling.LEARN] = learn
    over_arrays(scaling.scale_rows, places)(table, idx, val, out, *seen)


def arranged(numbers: np.ndarray, block: SparseBlock) -> SparseBlock:
    """Rows with other numbers for their features, at full speed."""
    from noregret.compiled import over_arrays

    return tidying.arranged(numbers, block, over_arrays(tidying.tidy, tidying.places()))
