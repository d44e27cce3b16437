"""Losses or predictions of experts as a table: an expert for each column, with a name where there is one."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Rows
from noregret.errors import BadValue, check_digits, import_extra, shown
from noregret.experts.prediction_losses import label_of
from noregret.features.frames import check_columns, is_frame

Name = str | int
WANTED = "a matrix, a frame or a list of dicts, with a column for each expert or stock"


class Table(NamedTuple):
    """Values by round and expert, None or NaN where one is missing; names, where columns have them."""

    names: list[Name] | None
    values: NDArray[Any]


def read_table(X: Any, known: list[Name] | None) -> Table:
    """What was given for some rounds; the columns are put in the order of the experts that are known."""
    if isinstance(X, Mapping):
        raise BadValue(f"rounds must be {WANTED}, not a single dict; use learn_one")
    if is_frame(X):
        table = read_frame(X)
    elif isinstance(X, Rows):
        table = read_rows(X)
    elif isinstance(X, (list, tuple)) and any(isinstance(row, Mapping) for row in X):
        table = read_dicts(list(X), known)
    else:
        table = Table(None, read_matrix(X))
    return table if known is None else align(table, known)


def read_frame(X: Any) -> Table:
    narwhals = import_extra("narwhals", "tables", "a data frame")
    names = [*(X.column_names if hasattr(X, "column_names") else X.columns)]
    check_columns(names)
    frame = narwhals.from_native(X, eager_only=True)
    values = np.empty((len(frame), len(names)), object)
    for at, name in enumerate(frame.columns):
        values[:, at] = frame[name].to_list()
    return Table(names, values)


def read_rows(X: Rows) -> Table:
    block = X.block
    values = np.zeros((block.rows, block.width if X.names is None else len(X.names)))
    counts = np.diff(block.indptr)
    used = int(block.indptr[-1])
    values[np.repeat(np.arange(block.rows), counts), block.idx[:used]] = block.val[:used]
    return Table(None if X.names is None else [*X.names], values)


def read_dicts(rows: list[Any], known: list[Name] | None) -> Table:
    for at, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise BadValue(f"row {at} must be a dict as the others are, not {shown(row)}", row=at)
    first: list[Name] = list(known or {})
    names = list(dict.fromkeys([*first, *(name for row in rows for name in row)]))
    if any(isinstance(name, int) for name in names):
        for at, row in enumerate(rows):
            for name in row:
                check_digits(name, "the name of a column", at)
    values = np.empty((len(rows), len(names)), object)
    values[:] = [[row.get(name) for name in names] for row in rows]
    return Table(names, values)


def read_matrix(X: Any) -> NDArray[Any]:
    if hasattr(X, "toarray"):
        return np.asarray(X.toarray())
    lengths = {len(row) for row in X if hasattr(row, "__len__")} if isinstance(X, (list, tuple)) else set()
    if len(lengths) > 1:
        at = next(number for number, row in enumerate(X) if len(row) != len(X[0]))
        raise BadValue(f"row {at} has {len(X[at])} values, the first has {len(X[0])}; all rows need as many", row=at)
    try:
        values = np.asarray(X)
        mixed = values.dtype.kind not in "fiub" and isinstance(X, (list, tuple))
        values = np.array(X, object) if mixed else values
    except ValueError:
        raise BadValue(f"rounds must be {WANTED}, not {shown(X)}") from None
    if values.ndim == 1 and not values.size:
        return values.reshape(0, 0)
    if values.ndim != 2:
        raise BadValue(f"rounds must be {WANTED}, not {shown(X)}")
    return values


def align(table: Table, known: list[Name]) -> Table:
    """The columns in the order of the experts that are known; one that is not in the table is missing."""
    if table.names is None:
        if table.values.shape[1] != len(known) and table.values.size:
            found = table.values.shape[1]
            raise BadValue(f"there are {len(known)} experts, and {found} columns; each expert needs one")
        return Table(known, table.values.reshape(-1, len(known)))
    place = {name: at for at, name in enumerate(table.names)}
    new = [name for name in table.names if name not in known]
    if new:
        raise BadValue(f"there is no expert {new[0]!r}; add it first: learner.add({new[0]!r})")
    if table.names == known:
        return table
    values = np.empty((len(table.values), len(known)), object)
    for at, name in enumerate(known):
        values[:, at] = table.values[:, place[name]] if name in place else None
    return Table(known, values)


def find_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a value is None or NaN."""
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind in "iubUS":
        return np.zeros(values.shape, bool)
    return np.array([[one is None or one != one for one in row] for row in values], bool).reshape(values.shape)


def as_numbers(table: Table, missing: NDArray[np.bool_], what: str) -> NDArray[np.float64]:
    """The values as numbers, 0 where one is missing."""
    if table.values.dtype.kind in "fiub":
        return np.asarray(np.where(missing, 0.0, table.values.astype(np.float64)))
    out = np.zeros(table.values.shape)
    for t, i in np.ndindex(*table.values.shape):
        value = table.values[t, i]
        if not missing[t, i]:
            try:
                out[t, i] = float(value)
            except (TypeError, ValueError):
                name = i if table.names is None else table.names[i]
                raise BadValue(
                    f"round {t}, expert {name!r}: {what} must be a number, not {shown(value)}", row=t
                ) from None
    return out


def as_labels(values: NDArray[Any], missing: NDArray[np.bool_]) -> NDArray[Any]:
    """The values as labels."""
    out = np.empty(values.shape, object)
    for t, i in np.ndindex(*values.shape):
        label = None if missing[t, i] else label_of(values[t, i])
        if label is not None and not isinstance(label, (bool, int, float, str)):
            raise BadValue(f"round {t}: a prediction must be a number or a text, not {shown(label)}", row=t)
        out[t, i] = label
    return out
