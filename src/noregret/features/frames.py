"""Data frames (pandas, polars, Arrow tables and others) as input of a learner: features are named by column."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import LARGEST_INDEX, Rows, SparseBlock
from noregret.errors import BadValue, import_extra, shown

LIBRARIES = ("pandas", "polars", "pyarrow", "modin", "cudf", "narwhals")


def is_frame(thing: Any) -> bool:
    """Return whether this is a data frame or an Arrow table; imports no library to find out."""
    return library_of(thing) in LIBRARIES and hasattr(type(thing), "columns")


def library_of(thing: Any) -> str:
    """Return the top-level package that defines the type of an object."""
    return type(thing).__module__.partition(".")[0]


def row_to_dict(x: Any) -> Any:
    """Convert a row of a pandas frame with named columns to a dict; return anything else unchanged."""
    named = (
        library_of(x) in ("pandas", "modin")
        and hasattr(x, "to_dict")
        and all(isinstance(name, str) for name in x.index)
    )
    return x.to_dict() if named and len(x) else x


def labels_to_list(y: Any) -> Any:
    """Convert Arrow labels to a list; return any other labels unchanged."""
    return y.to_pylist() if library_of(y) == "pyarrow" else y


def convert_frame(X: Any, allow_missing: bool = False) -> Any:
    """Convert a data frame to rows with the names of its columns; return anything else unchanged.

    A frame whose columns are numbered becomes rows without names, or a matrix if the numbers are 0, 1, 2, ...
    """
    if not is_frame(X):
        return X
    values, names = read_frame(X)
    absent = np.isnan(values)
    wrong = np.isinf(values) if allow_missing else absent | np.isinf(values)
    if wrong.any():
        row, at = (int(number) for number in np.argwhere(wrong)[0])
        where = f"row {row}, column {names[at]!r}: the value is"
        if absent[row, at]:
            raise BadValue(f"{where} missing; fill it, or put nr.missing() before the learner", row=row)
        raise BadValue(f"{where} {values[row, at]}; every value must be finite", row=row)
    numbered = bool(names) and not isinstance(names[0], str)
    order = np.argsort(names) if numbered else np.arange(len(names))
    idx = np.array(names, np.int32)[order] if numbered else order.astype(np.int32)
    if numbered and np.array_equal(idx, np.arange(idx.size)):
        return values[:, order]
    indptr = np.arange(len(values) + 1, dtype=np.int64) * idx.size
    cells = np.ascontiguousarray(values[:, order]).reshape(-1)
    block = SparseBlock(indptr, np.tile(idx, len(values)), cells, 1 + int(idx.max(initial=-1)), not absent.any())
    return Rows(block, None if numbered else names)


def to_eager(X: Any) -> Any:
    """Return a frame as one of narwhals, whose columns have different names; refuse a lazy one."""
    narwhals = import_extra("narwhals", "tables", "a data frame")
    if library_of(X) == "pyarrow" and not hasattr(X, "group_by"):  # a RecordBatch
        pyarrow = import_extra("pyarrow", "tables", "a data frame")
        X = pyarrow.Table.from_batches([X])
    if not hasattr(type(X), "__len__"):
        raise BadValue(f"a {type(X).__name__} is lazy; collect it first")
    check_columns([*(X.column_names if library_of(X) == "pyarrow" else X.columns)])
    return narwhals.from_native(X, eager_only=True)


def read_frame(X: Any) -> tuple[NDArray[Any], list[Any]]:
    """Return a frame as a matrix, with NaN for missing values, and the names of its columns."""
    narwhals, frame = import_extra("narwhals", "tables", "a data frame"), to_eager(X)
    names = [*frame.columns]
    groups = [*frame.schema.values()]
    for name, kind in zip(names, groups, strict=True):
        if not (kind.is_numeric() or kind == narwhals.Boolean or frame[name].null_count() == len(frame)):
            raise BadValue(
                f"column {name!r} holds {kind}, not numbers; leave it out, or read it as categories with "
                f"nr.open_source((X, y), categorical=[{name!r}])"
            )
    if any(kind != narwhals.Float64 for kind in groups):
        frame = frame.select(narwhals.all().cast(narwhals.Float64))
    values = frame.to_numpy()
    return np.asarray(values, np.float64).reshape(len(frame), len(names)), names


def check_columns(names: list[Any]) -> None:
    """Refuse duplicate column names, and names that are neither strings nor numbers from 0 on."""
    if len(set(names)) < len(names):
        duplicate = next(name for name in names if names.count(name) > 1)
        raise BadValue(f"more than one column is named {shown(duplicate)}; rename one of them")
    if all(isinstance(name, str) for name in names):
        return
    for name in names:
        if isinstance(name, bool) or not isinstance(name, (int, np.integer)) or not 0 <= name < LARGEST_INDEX:
            raise BadValue(f"a column is named {shown(name)}; name all columns by strings, or all by numbers from 0 on")
