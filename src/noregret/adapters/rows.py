"""Single rows that are stored: snapshots of what a caller gave, and their form in a model file."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from noregret.data.blocks import Rows, SparseBlock
from noregret.errors import BadValue, Error, shown
from noregret.features.frames import convert_frame, row_to_dict
from noregret.learner.header_fields import corrupt, read_number


def snapshot_row(x: Any) -> Any:
    """A copy of a row, so that later changes to the caller's object have no effect."""
    x = convert_frame(row_to_dict(x), allow_missing=True)
    if isinstance(x, Mapping):
        return dict(x)
    if isinstance(x, Rows):
        return x
    return x.copy() if hasattr(x, "tocsr") else np.array(x)


def dump_row(x: Any) -> dict[str, Any]:
    """A stored row as JSON can hold it; missing values are None."""
    if isinstance(x, Rows):
        features = x.block.idx.tolist() if x.names is None else [x.names[at] for at in x.block.idx]
        indicators = {} if x.indicator is None else {"indicators": x.indicator[x.block.idx].tolist()}
        return {**dump_row(dict(zip(features, x.block.val.tolist(), strict=True))), **indicators}
    if hasattr(x, "tocsr"):
        x = x.tocsr()
        x = dict(zip(x.indices.tolist(), x.data.tolist(), strict=True))
    if isinstance(x, Mapping) and any(isinstance(value, str) for value in x.values()):
        return {"cells": [[str(name), plain_cell(value)] for name, value in x.items()]}
    if isinstance(x, Mapping):
        return {"features": [[plain_name(name), plain_value(value)] for name, value in x.items()]}
    return {"values": [plain_value(value) for value in np.ravel(x).tolist()]}


def plain_name(name: Any) -> Any:
    return name.item() if isinstance(name, np.generic) else name


def plain_value(value: Any) -> float | None:
    try:
        number = None if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        raise Error(f"a stored row cannot be saved: {shown(value)} is not a number") from None
    return None if number is None or number != number else number


def plain_cell(value: Any) -> Any:
    """A cell of a row of a table, as it is or as a number."""
    return value if value is None or isinstance(value, (str, bool)) else plain_value(value)


def restore_row(saved: Any) -> Any:
    """A row from a model file, checked."""
    if isinstance(saved, dict) and isinstance(saved.get("cells"), list):
        return restore_cells(saved["cells"])
    if isinstance(saved, dict) and isinstance(saved.get("values"), list):
        return np.array([read_value(value) for value in saved["values"]], np.float64)
    if not isinstance(saved, dict) or not isinstance(saved.get("features"), list):
        raise corrupt("a stored row must have values or features")
    row: dict[Any, float] = {}
    for entry in saved["features"]:
        if not isinstance(entry, list) or len(entry) != 2 or type(entry[0]) not in (str, int):
            raise corrupt("a feature of a stored row must be a name and a value")
        row[entry[0]] = read_value(entry[1])
    return row if saved.get("indicators") is None else with_indicators(row, saved["indicators"])


def restore_cells(cells: list[Any]) -> dict[str, Any]:
    """A row of a table, checked."""
    row: dict[str, Any] = {}
    for entry in cells:
        if not isinstance(entry, list) or len(entry) != 2 or type(entry[0]) is not str:
            raise corrupt("a cell of a stored row must be a name and a value")
        plain = entry[1] is None or isinstance(entry[1], (str, bool))
        row[entry[0]] = entry[1] if plain else read_number(entry[1], "a value of a stored row")
    return row


def with_indicators(row: dict[Any, float], indicators: Any) -> Rows:
    """A row of a stream, in which some features are indicators (0 or 1)."""
    if not isinstance(indicators, list) or [type(flag) for flag in indicators] != [bool] * len(row):
        raise corrupt("a stored row must say of every feature whether it is an indicator")
    if not all(isinstance(name, str) for name in row):
        raise corrupt("the features of a stored row must have names")
    size = len(row)
    block = SparseBlock(np.array([0, size]), np.arange(size, dtype=np.int32), np.array(list(row.values())), size, False)
    return Rows(block, list(row), np.array(indicators, bool))


def read_value(value: Any) -> float:
    return float("nan") if value is None else read_number(value, "a value of a stored row")


def iterate_rows(X: Any) -> Iterator[Any]:
    """Each row of a batch by itself: rows of streams, frames and sparse matrices as dicts, others as they are."""
    X = convert_frame(X, allow_missing=True)
    if isinstance(X, Rows):
        for number in range(len(X)):
            row = X[number : number + 1].block
            names = row.idx.tolist() if X.names is None else [X.names[at] for at in row.idx]
            yield dict(zip(names, row.val.tolist(), strict=True))
    elif hasattr(X, "tocsr"):
        X = X.tocsr()
        for number in range(X.shape[0]):
            at = slice(X.indptr[number], X.indptr[number + 1])
            yield dict(zip(X.indices[at].tolist(), X.data[at].tolist(), strict=True))
    elif isinstance(X, (str, bytes, Mapping)) or not hasattr(X, "__iter__"):
        raise BadValue(f"X must be a sequence of rows, not {shown(X)}")
    else:
        yield from X
