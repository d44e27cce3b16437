"""Encode rows: names, transforms and the constant feature make a block of the model's algebra of them."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from noregret.data.blocks import (
    Block,
    DenseBlock,
    Rows,
    SparseBlock,
    add_bias,
    as_block,
    first_size,
    missing_as_nan,
    narrow,
    to_dense,
    to_sparse,
    unmask,
    verify,
)
from noregret.data.inputs import RowLike, RowsLike
from noregret.errors import BadValue, shown
from noregret.features.feature_selectors import dicts_to_rows, merge_groups
from noregret.features.fitted import FittedTransform, PipelineRows
from noregret.features.frames import convert_frame, row_to_dict
from noregret.features.hashing import HashedNames
from noregret.features.kernel_maps import KernelMap
from noregret.learner.columns import check_columns
from noregret.learner.kernel_options import SPECTRUM
from noregret.learner.model import Model
from noregret.learner.row_state import RowState
from noregret.learner.transform_loops import renumber_rows
from noregret.state.space import physical_memory

NOTHING = np.zeros(0, np.int32)


def encode_rows(model: Model, X: RowsLike, grow: bool, include_unknown: bool) -> Block:
    """A block of the model's algebra; names, transforms and the algebra itself are learned only when growing.

    Otherwise features that are not known are left out, unless they are to be included.
    """
    if model.config.kernel == SPECTRUM:
        X = count_substrings(X, int(model.config.kernel_params[2]))
    X = convert_frame(X, model.config.allows_missing)
    if isinstance(X, (list, tuple, Rows)) and not len(X):
        return SparseBlock(np.zeros(1, np.int64), NOTHING, np.zeros(0), 0)
    if model.card.ignores_features:
        return constant_rows(model, X, grow)
    if model.config.gram is not None:
        return object_rows(model, model.config.gram.objects, X, grow)
    rows = number_features(model, X, grow, include_unknown)
    block = transform_rows(model, rows, grow, include_unknown)
    if model.config.transforms and model.space is not None and not (grow or include_unknown):
        block = fold_unknown(block, model.space.features - model.config.bias)
    if model.choose_algebra(block) in ("sparse", "kernel"):
        if grow and model.arrays is None:
            model.dense_rows = is_filled(block)
        block = to_sparse(block)
    elif isinstance(block, SparseBlock):
        block = to_dense(verify(block))
    return add_constant(model, verify(block), grow) if model.config.bias else block


def transform_rows(model: RowState, rows: PipelineRows, grow: bool, include_unknown: bool) -> Block:
    """The rows behind all transforms, which learn them only when growing."""
    for transform in model.transforms:
        check_capacity(transform, rows.block.width)
        check_made(transform, rows.block.rows)
        rows = transform.apply(rows, grow, include_unknown)
    return rows.block


def is_filled(block: Block) -> bool:
    """Whether rows are dense, and the first has more than a few values: it decides, however the rows are batched."""
    if not isinstance(block, DenseBlock) or not block.rows:
        return False
    return int(np.count_nonzero(block.val[0])) * 4 >= block.width


def add_constant(model: Model, block: Block, grow: bool) -> Block:
    """The rows with the constant feature: of the value given, or as large as the values of the first row learned are.

    Until a row has values the constant is 1. So it depends on no row but the first, however the rows are batched.
    """
    given, start = model.config.bias_value, 0
    constant = model.constant if given is None else given
    if constant == 0.0:
        constant, start = first_size(block)
        if grow and start < block.rows:
            model.constant = constant
    return add_bias(block, constant, start)


def constant_rows(model: Model, X: RowsLike, grow: bool) -> Block:
    """For a rule that does not look at rows: each of them is one constant feature."""
    rows = count_rows(X)
    model.names.check_mode("columns", fix=grow)
    block = SparseBlock(np.arange(rows + 1), np.zeros(rows, np.int32), np.ones(rows), 1)
    return block if model.choose_algebra(block) in ("sparse", "kernel") else to_dense(block)


def count_rows(X: Any) -> int:
    """How many rows there are, whatever they hold."""
    rows = X.shape[0] if hasattr(X, "shape") and len(X.shape) else len(X) if hasattr(X, "__len__") else None
    if rows is None or isinstance(X, (str, bytes, Mapping)):
        raise BadValue(f"X must be a matrix, a sparse matrix or a list of rows, not {shown(X)}")
    return int(rows)


def count_substrings(X: Any, p: int) -> list[dict[str, float]]:
    """For the spectrum kernel: each row is a text, and its features are how often every p bytes come in it."""
    if isinstance(X, (str, bytes)) or not hasattr(X, "__iter__"):
        raise BadValue(f"the rows of the spectrum kernel are a list of texts, not {shown(X)}")
    rows = []
    for number, text in enumerate(X):
        if not isinstance(text, (str, bytes)):
            raise BadValue(f"row {number}: the spectrum kernel compares texts, and this is {shown(text)}", row=number)
        raw = text if isinstance(text, bytes) else text.encode(errors="surrogatepass")
        content = raw.decode("latin-1")  # a letter for every byte
        found = Counter(content[place : place + p] for place in range(len(content) - p + 1))
        rows.append({name: float(count) for name, count in found.items()})
    return rows


def object_rows(model: Model, objects: int, X: RowsLike, grow: bool) -> Block:
    """For a precomputed kernel: each row is the number of an object."""
    try:
        numbers = np.asarray(X)
    except ValueError:
        numbers = np.zeros(0)
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    if numbers.ndim != 1 or numbers.dtype.kind not in "iuf":
        raise BadValue(f"the rows of a precomputed kernel are numbers of objects, not {shown(X)}")
    bad = np.flatnonzero(~((numbers >= 0) & (numbers < objects) & (numbers == np.floor(numbers))))
    if bad.size:
        raise BadValue(f"row {bad[0]}: {numbers[bad[0]]} is not the number of an object, which are 0 to {objects - 1}",
                       row=int(bad[0]))  # fmt: skip
    model.names.check_mode("columns", fix=grow)
    model.choose_algebra(block := SparseBlock(np.arange(numbers.size + 1), numbers.astype(np.int32),
                                              np.ones(numbers.size), objects))  # fmt: skip
    return block


def number_features(model: RowState, X: RowsLike, grow: bool, include_unknown: bool) -> PipelineRows:
    """Rows with a number for every feature, the numbers of those that only say yes or no, and the groups of all."""
    names, missing, selectors = model.names, model.config.allows_missing, model.selectors
    if isinstance(X, (list, tuple)) and isinstance(X[0], Mapping):
        first = next((name for row in X if isinstance(row, Mapping) for name in row), None)
        if not selectors.bits or not isinstance(first, str):
            return add_groups(model, names.encode_dicts(X, grow, include_unknown, missing))
        X = dicts_to_rows(X, missing)
    if isinstance(X, Rows):
        if X.names is not None:  # a transform may look at all of a row, so what is new in it must not be put together
            several = include_unknown or bool(model.config.transforms)
            rows, numbers = names.encode_rows(X, grow, several, renumber_rows if model.config.native else None)
            never = NOTHING if X.indicator is None or not model.transforms else numbers[np.flatnonzero(X.indicator)]
            return add_named_groups(model, rows, never, X, numbers)
        names.check_mode("columns", fix=grow)
        return add_groups(model, X.block)
    block = as_block(X, missing)
    names.check_mode("columns", fix=grow)
    check_columns(model, block, grow)
    return add_groups(model, block)


def add_groups(model: RowState, block: Block) -> PipelineRows:
    """Rows whose features have only numbers, with the groups of these where transforms choose by them."""
    if not model.selectors.bits:
        return PipelineRows(block, NOTHING)
    block = model.transforms[0].check(block)
    return PipelineRows(block, NOTHING, model.selectors.groups_of_columns(block))


def add_named_groups(
    model: RowState, block: SparseBlock, never: np.ndarray, given: Rows, numbers: np.ndarray
) -> PipelineRows:
    """Rows with the learner's numbers, and the groups of features that have names where transforms choose by them."""
    if not model.selectors.bits or given.names is None:
        return PipelineRows(block, never)
    groups, checked = model.selectors.groups_of_names(given.names), model.transforms[0].check(block)
    assert isinstance(checked, SparseBlock)
    if isinstance(model.names, HashedNames):  # what shares a cell in a row belongs to all that its names belong to
        used = given.block.idx[: int(given.block.indptr[-1])]
        return PipelineRows(
            checked, never, merge_groups(checked, given.block._replace(idx=numbers[used]), groups[used])
        )
    by_number = np.zeros(max(checked.width, 1), np.int64)
    by_number[numbers] = groups
    return PipelineRows(checked, never, by_number[checked.idx[: int(checked.indptr[-1])]])


def one_row(x: RowLike, missing: bool = False) -> Any:
    """A single row as a batch of one; with `missing`, values may be None."""
    x = convert_frame(row_to_dict(x), missing)
    if isinstance(x, Mapping):
        return [x]
    if isinstance(x, Rows):
        if len(x) == 1:
            return x
        raise BadValue(f"a row is a dict of features or a list of numbers, not a frame of {len(x)} rows")
    try:
        row = x if hasattr(x, "tocsr") else missing_as_nan(x) if missing else np.asarray(unmask(x))
    except ValueError:
        row = np.asarray(None)
    if row.ndim == 1:
        row = row.reshape(1, -1)
    if row.ndim != 2 or row.shape[0] != 1 or row.dtype.kind not in "fiub":
        raise BadValue(f"a row is a dict of features or a list of numbers, not {shown(x)}")
    return row


def check_capacity(transform: FittedTransform, width: int) -> None:
    """Refuse more features than this machine can be expected to keep arrays for, before they are made."""
    if width > transform.capacity and 8 * len(transform.fields) * width > physical_memory() // 2:
        raise BadValue(f"what {transform.name} keeps of {width} features does not fit in memory; use feature names "
                       "(strings), or number the features without gaps")  # fmt: skip


def check_made(transform: FittedTransform, rows: int) -> None:
    """Refuse more rows of a kernel map than this machine can be expected to hold, before they are made."""
    if isinstance(transform, KernelMap) and 8 * rows * transform.features > physical_memory() // 2:
        raise BadValue(f"{transform.name} makes {transform.features} features of each of {rows:,} rows, which do not "
                       "fit in memory; give fewer rows in a call")  # fmt: skip


def fold_unknown(block: Block, known: int) -> Block:
    """The same rows; features never learned, which have no say, look at one cell past the known ones."""
    if isinstance(block, DenseBlock):
        return narrow(block, known)
    if block.width <= known + 1:
        return block
    return block._replace(idx=np.minimum(block.idx, np.int32(known)), width=known + 1)
