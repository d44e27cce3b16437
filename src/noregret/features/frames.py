"""Frames of pandas, polars and others, and Arrow tables, handed to a learner: features by names of columns."""

from typing import Any

import numpy as np

from noregret.data.blocks import LARGEST_INDEX, Rows, SparseBlock
from noregret.errors import BadValue, shown

MAKERS = ("pandas", "polars", "pyarrow", "modin", "cudf", "narwhals")


def is_frame(thing: Any) -> bool:
    """Whether this is a frame or a table, asked without loading any library that makes them."""
    return maker(thing) in MAKERS and hasattr(type(thing), "columns")


def maker(thing: Any) -> str:
    return type(thing).__module__.partition(".")[0]


def named_row(x: Any) -> Any:
    """A row of a frame of pandas as a dict, where its columns have names; anything else as it is."""
    named = maker(x) in ("pandas", "modin") and hasattr(x, "to_dict") and all(isinstance(name, str) for name in x.index)
    return x.to_dict() if named and len(x) else x


def listed(y: Any) -> Any:
    """Labels as a learner takes them; those of Arrow as a list."""
    return y.to_pylist() if maker(y) == "pyarrow" else y


def given(X: Any, gaps: bool = False) -> Any:
    """What a user handed over; a frame as rows whose features have the names of its columns; one whose columns are
    numbered from 0 on as a matrix."""
    if not is_frame(X):
        return X
    values, names = opened(X)
    gone = np.isnan(values)
    wrong = np.isinf(values) if gaps else gone | np.isinf(values)
    if wrong.any():
        row, at = (int(one) for one in np.argwhere(wrong)[0])
        where = f"row {row}, column {names[at]!r}: the value is"
        if gone[row, at]:
            raise BadValue(f"{where} missing; fill it, or put nr.missing() before the learner", row=row)
        raise BadValue(f"{where} {values[row, at]}; every value must be finite", row=row)
    numbered = bool(names) and not isinstance(names[0], str)
    order = np.argsort(names) if numbered else np.arange(len(names))
    idx = np.array(names, np.int32)[order] if numbered else order.astype(np.int32)
    if numbered and np.array_equal(idx, np.arange(idx.size)):
        return values[:, order]
    indptr = np.arange(len(values) + 1, dtype=np.int64) * idx.size
    cells = np.ascontiguousarray(values[:, order]).reshape(-1)
    block = SparseBlock(indptr, np.tile(idx, len(values)), cells, 1 + int(idx.max(initial=-1)), not gone.any())
    return Rows(block, None if numbered else names)


def opened(X: Any) -> tuple[np.ndarray, list[Any]]:
    """A frame as a matrix, nan where a value is missing, and the names of its columns."""
    import narwhals

    if maker(X) == "pyarrow" and not hasattr(X, "group_by"):  # a batch of records
        import pyarrow

        X = pyarrow.Table.from_batches([X])
    if not hasattr(type(X), "__len__"):
        raise BadValue(f"a {type(X).__name__} has no rows yet; collect it first")
    names = [*(X.column_names if maker(X) == "pyarrow" else X.columns)]
    must_be_names(names)
    frame = narwhals.from_native(X, eager_only=True)
    kinds = [*frame.schema.values()]
    for name, kind in zip(names, kinds, strict=True):
        if not (kind.is_numeric() or kind == narwhals.Boolean or frame[name].null_count() == len(frame)):
            raise BadValue(
                f"column {name!r} holds {kind}, not numbers; leave it out, or have features made of it by "
                f"nr.open_source((X, y), categorical=[{name!r}])"
            )
    if any(kind != narwhals.Float64 for kind in kinds):
        frame = frame.select(narwhals.all().cast(narwhals.Float64))
    values = frame.to_numpy()
    return np.asarray(values, np.float64).reshape(len(frame), len(names)), names


def must_be_names(names: list[Any]) -> None:
    """Refuse columns that could not be told apart, or not be found again."""
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise BadValue(f"more than one column is named {shown(twice)}; rename one of them")
    if all(isinstance(name, str) for name in names):
        return
    for name in names:
        if isinstance(name, bool) or not isinstance(name, (int, np.integer)) or not 0 <= name < LARGEST_INDEX:
            raise BadValue(f"a column is named {shown(name)}; name all columns by strings, or all by numbers from 0 on")
