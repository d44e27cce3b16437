"""Intake: from what a user hands over to a block of the learner's algebra: names, transforms, the constant feature."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.chunk import (
    Block,
    DenseBlock,
    Rows,
    SparseBlock,
    as_block,
    narrowed,
    to_dense,
    to_sparse,
    verified,
    with_bias,
    with_gaps,
)
from noregret.errors import BadValue, shown
from noregret.features import tidying
from noregret.features.running import LEARN, Loop, Runner, Running, interpreted
from noregret.state import physical_memory

if TYPE_CHECKING:
    from noregret.learner import Learner

NOTHING = np.zeros(0, np.int32)


def taken(learner: "Learner", X: Any, grow: bool, heed: bool) -> Block:
    """A block of the learner's algebra; names, transforms and the algebra itself are learned only when growing.

    Names that are not learned now are left out unless the learner is to heed them.
    """
    if isinstance(X, (list, tuple, Rows)) and not len(X):
        return SparseBlock(np.zeros(1, np.int64), NOTHING, np.zeros(0), 0)
    block, never = numbered(learner, X, grow, heed)
    for transform in learner.transforms:
        must_fit(transform, block.width)
        block, never = transform.apply(block, grow, never, heed)
    if learner.settings.transforms and learner.space is not None and not (grow or heed):
        block = folded(block, learner.space.features - learner.settings.bias)
    if learner.settled_algebra(block) in ("sparse", "kernel"):
        block = to_sparse(block)
    elif isinstance(block, SparseBlock):
        block = to_dense(verified(block))
    return with_bias(verified(block)) if learner.settings.bias else block


def numbered(learner: "Learner", X: Any, grow: bool, heed: bool) -> tuple[Block, np.ndarray]:
    """Rows with a number for every feature, and the numbers of those that only say yes or no."""
    names, gaps = learner.names, learner.settings.takes_gaps
    if isinstance(X, Rows):
        if X.names is not None:  # a transform may look at all of a row, so what is new in it must not be put together
            several = heed or bool(learner.settings.transforms)
            rows, numbers = names.renumbered(X, grow, several, arranged if learner.settings.native else None)
            if X.indicator is None or not learner.transforms:
                return rows, NOTHING
            return rows, numbers[np.flatnonzero(X.indicator)]
        names.settle("columns", fix=grow)
        return X.block, NOTHING
    if isinstance(X, (list, tuple)) and isinstance(X[0], Mapping):
        return names.block(X, grow, heed, gaps), NOTHING
    block = as_block(X, gaps)
    names.settle("columns", fix=grow)
    return block, NOTHING


def must_fit(transform: Running, width: int) -> None:
    """Refuse more features than this machine can be expected to keep arrays for, before they are made."""
    if width > transform.room and 8 * len(transform.fields) * width > physical_memory() // 2:
        raise BadValue(f"what {transform.name} keeps of {width} features does not fit in memory; use feature names "
                       "(strings), or number the features without gaps")  # fmt: skip


def folded(block: Block, known: int) -> Block:
    """The same rows; features never learned, which have no say, look at one cell past the known ones."""
    if isinstance(block, DenseBlock):
        return narrowed(block, known)
    if block.width <= known + 1:
        return block
    return block._replace(idx=np.minimum(block.idx, np.int32(known)), width=known + 1)


def runner(native: bool) -> Runner:
    """What runs the loops of transforms: compiled, or the same texts in plain Python."""
    return compiled if native else interpreted


def compiled(loop: Loop, learn: bool, arrays: tuple[np.ndarray, ...]) -> None:
    from noregret.compiled import over_arrays

    places = {name: (LEARN + 1 + 2 * at, np.zeros(1, kind)) for at, (name, kind) in enumerate(loop.arrays.items())}
    table = np.zeros(LEARN + 1 + 2 * len(places), np.int64)
    table[LEARN] = learn
    over_arrays(loop.text, places)(table, *arrays)


def arranged(numbers: np.ndarray, block: SparseBlock) -> SparseBlock:
    """Rows with other numbers for their features, at full speed."""
    from noregret.compiled import over_arrays

    return tidying.arranged(numbers, block, over_arrays(tidying.tidy, tidying.places()))


def one_row(x: Any, gaps: bool = False) -> Any:
    """A single row as a batch of one; with `gaps`, values may be None."""
    if isinstance(x, Mapping):
        return [x]
    try:
        row = x if hasattr(x, "tocsr") else with_gaps(x) if gaps else np.asarray(x)
    except ValueError:
        row = np.asarray(None)
    if row.ndim == 1:
        row = row.reshape(1, -1)
    if row.ndim != 2 or row.shape[0] != 1 or row.dtype.kind not in "fiub":
        raise BadValue(f"a row is a dict of features or a list of numbers, not {shown(x)}")
    return row
