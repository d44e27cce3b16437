"""Intake: from what a user hands over to a block of the learner's algebra: names, transforms, the constant feature."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.data.blocks import (
    Block,
    DenseBlock,
    Rows,
    SparseBlock,
    add_bias,
    as_block,
    missing_as_nan,
    narrow,
    sort_rows,
    to_dense,
    to_sparse,
    verify,
)
from noregret.errors import BadValue, shown
from noregret.features import canonicalize
from noregret.features.feature_selectors import FeatureSelectors, dicts_to_rows, merge_groups
from noregret.features.fitted import LEARN, FittedTransform, Loop, PipelineRows, Runner, run_interpreted
from noregret.features.frames import convert_frame, row_to_dict
from noregret.features.hashing import HashedNames
from noregret.features.keys import HashedKeys
from noregret.features.transforms import scale
from noregret.learner.config import Settings
from noregret.state.growth import physical_memory

if TYPE_CHECKING:
    from noregret.learner.rule_learner import Learner

NOTHING = np.zeros(0, np.int32)


def taken(learner: "Learner", X: Any, grow: bool, include_unknown: bool) -> Block:
    """A block of the learner's algebra; names, transforms and the algebra itself are learned only when growing.

    Names that are not learned now are left out unless the learner is to include_unknown them.
    """
    X = convert_frame(X, learner.settings.accepts_missing)
    if isinstance(X, (list, tuple, Rows)) and not len(X):
        return SparseBlock(np.zeros(1, np.int64), NOTHING, np.zeros(0), 0)
    if learner.card.ignores_features:
        return unseen(learner, X, grow)
    rows = numbered(learner, X, grow, include_unknown)
    for transform in learner.transforms:
        must_fit(transform, rows.block.width)
        rows = transform.apply(rows, grow, include_unknown)
    block = rows.block
    if learner.settings.transforms and learner.space is not None and not (grow or include_unknown):
        block = folded(block, learner.space.features - learner.settings.bias)
    if learner.settled_algebra(block) in ("sparse", "kernel"):
        block = to_sparse(block)
    elif isinstance(block, SparseBlock):
        block = to_dense(verify(block))
    return add_bias(verify(block)) if learner.settings.bias else block


def unseen(learner: "Learner", X: Any, grow: bool) -> Block:
    """For a rule that does not look at rows: each of them is one constant feature."""
    rows = X.shape[0] if hasattr(X, "shape") and len(X.shape) else len(X) if hasattr(X, "__len__") else None
    if rows is None or isinstance(X, (str, bytes, Mapping)):
        raise BadValue(f"X must be a matrix, a sparse matrix or a list of rows, not {shown(X)}")
    learner.names.check_mode("columns", fix=grow)
    block = SparseBlock(np.arange(rows + 1), np.zeros(rows, np.int32), np.ones(rows), 1)
    return block if learner.settled_algebra(block) in ("sparse", "kernel") else to_dense(block)


def numbered(learner: "Learner", X: Any, grow: bool, include_unknown: bool) -> PipelineRows:
    """Rows with a number for every feature, the numbers of those that only say yes or no, and the kinds of all."""
    names, gaps, selectors = learner.names, learner.settings.accepts_missing, learner.selectors
    if isinstance(X, (list, tuple)) and isinstance(X[0], Mapping):
        first = next((name for row in X if isinstance(row, Mapping) for name in row), None)
        if not selectors.bits or not isinstance(first, str):
            return with_kinds(learner, names.encode_dicts(X, grow, include_unknown, gaps))
        X = dicts_to_rows(X, gaps)
    if isinstance(X, Rows):
        if X.names is not None:  # a transform may look at all of a row, so what is new in it must not be put together
            several = include_unknown or bool(learner.settings.transforms)
            rows, numbers = names.encode_rows(X, grow, several, arranged if learner.settings.native else None)
            never = NOTHING if X.indicator is None or not learner.transforms else numbers[np.flatnonzero(X.indicator)]
            return named_kinds(learner, rows, never, X, numbers)
        names.check_mode("columns", fix=grow)
        return with_kinds(learner, X.block)
    block = as_block(X, gaps)
    names.check_mode("columns", fix=grow)
    return with_kinds(learner, block)


def with_kinds(learner: "Learner", block: Block) -> PipelineRows:
    """Rows whose features have only numbers, with the kinds of these where transforms choose by them."""
    if not learner.selectors.bits:
        return PipelineRows(block, NOTHING)
    block = learner.transforms[0].check(block)
    return PipelineRows(block, NOTHING, learner.selectors.groups_of_columns(block))


def named_kinds(
    learner: "Learner", block: SparseBlock, never: np.ndarray, given: Rows, numbers: np.ndarray
) -> PipelineRows:
    """Rows with the learner's numbers, and the kinds of features that have names where transforms choose by them."""
    if not learner.selectors.bits or given.names is None:
        return PipelineRows(block, never)
    kinds, checked = learner.selectors.groups_of_names(given.names), learner.transforms[0].check(block)
    assert isinstance(checked, SparseBlock)
    if isinstance(learner.names, HashedNames):  # what shares a cell in a row belongs to all that its names belong to
        used = given.block.idx[: int(given.block.indptr[-1])]
        return PipelineRows(checked, never, merge_groups(checked, given.block._replace(idx=numbers[used]), kinds[used]))
    by_number = np.zeros(max(checked.width, 1), np.int64)
    by_number[numbers] = kinds
    return PipelineRows(checked, never, by_number[checked.idx[: int(checked.indptr[-1])]])


def at_work(settings: Settings, selectors: FeatureSelectors) -> list[FittedTransform]:
    """The transforms of a learner; what scale=True asks for is the last."""
    steps = (*settings.transforms, *(scale() if settings.scale else ()))
    tidy = sorted_out if settings.native else sort_rows
    keys = None if settings.bits is None else HashedKeys(1 << settings.bits, tidy)
    return [step.create_fitted(runner(settings.native), selectors, keys) for step in steps]


def one_row(x: Any, gaps: bool = False) -> Any:
    """A single row as a batch of one; with `gaps`, values may be None."""
    x = convert_frame(row_to_dict(x), gaps)
    if isinstance(x, Mapping):
        return [x]
    if isinstance(x, Rows):
        if len(x) == 1:
            return x
        raise BadValue(f"a row is a dict of features or a list of numbers, not a frame of {len(x)} rows")
    try:
        row = x if hasattr(x, "tocsr") else missing_as_nan(x) if gaps else np.asarray(x)
    except ValueError:
        row = np.asarray(None)
    if row.ndim == 1:
        row = row.reshape(1, -1)
    if row.ndim != 2 or row.shape[0] != 1 or row.dtype.kind not in "fiub":
        raise BadValue(f"a row is a dict of features or a list of numbers, not {shown(x)}")
    return row


def must_fit(transform: FittedTransform, width: int) -> None:
    """Refuse more features than this machine can be expected to keep arrays for, before they are made."""
    if width > transform.capacity and 8 * len(transform.fields) * width > physical_memory() // 2:
        raise BadValue(f"what {transform.name} keeps of {width} features does not fit in memory; use feature names "
                       "(strings), or number the features without gaps")  # fmt: skip


def folded(block: Block, known: int) -> Block:
    """The same rows; features never learned, which have no say, look at one cell past the known ones."""
    if isinstance(block, DenseBlock):
        return narrow(block, known)
    if block.width <= known + 1:
        return block
    return block._replace(idx=np.minimum(block.idx, np.int32(known)), width=known + 1)


def runner(native: bool) -> Runner:
    """What runs the loops of transforms: compiled, or the same texts in plain Python."""
    return compiled if native else run_interpreted


def compiled(loop: Loop, learn: bool, arrays: tuple[np.ndarray, ...]) -> None:
    from noregret.jit.compiled import over_arrays

    places = {name: (LEARN + 1 + 2 * at, np.zeros(1, kind)) for at, (name, kind) in enumerate(loop.arrays.items())}
    table = np.zeros(LEARN + 1 + 2 * len(places), np.int64)
    table[LEARN] = learn
    over_arrays(loop.entry, places)(table, *arrays)


def arranged(numbers: np.ndarray, block: SparseBlock) -> SparseBlock:
    """Rows with other numbers for their features, at full speed."""
    from noregret.jit.compiled import over_arrays

    return canonicalize.renumber_block(numbers, block, over_arrays(canonicalize.entry, canonicalize.slots()))


def sorted_out(block: SparseBlock) -> SparseBlock:
    """The rows sorted, one value for each feature, at full speed."""
    from noregret.jit.compiled import over_arrays

    copied = block._replace(indptr=block.indptr.copy(), idx=block.idx.copy(), val=block.val.copy())
    return canonicalize.renumber_block(
        NOTHING, copied, over_arrays(canonicalize.entry, canonicalize.slots()), new_only=True
    )
