"""Frames of pandas, polars and others, and Arrow tables, as sources of rounds."""

from dataclasses import replace
from typing import Any

from noregret.errors import BadValue
from noregret.streams.arrow import Columnar, TablePieces
from noregret.streams.columns import arrow
from noregret.streams.read_options import Reading

INDEX = "__index_level_"  # how pandas names an index that it keeps as a column


def frame_source(frame: Any, labels: Any, reading: Reading) -> Columnar:
    """A frame with its labels in a column, or beside it."""
    table = arrow_table(frame)
    if labels is not None:
        if len(labels) != table.num_rows:
            raise BadValue(f"X has {table.num_rows} rows and y has {len(labels)} labels; they must match")
        name = next(name for name in ("label", *(f"label {n}" for n in range(10**6))) if name not in table.column_names)
        listed = labels.to_list() if hasattr(labels, "to_list") else list(labels)
        table = table.append_column(name, as_column([one.item() if hasattr(one, "item") else one for one in listed]))
        reading = replace(reading, label=name)
    return Columnar(TablePieces, table, reading, "frame", "frame")


def as_column(labels: list[Any]) -> Any:
    try:
        return arrow().array(labels)
    except arrow().ArrowException as error:
        raise BadValue(f"the labels do not make a column: {' '.join(str(error).split())}") from None


def arrow_table(frame: Any) -> Any:
    if isinstance(frame, arrow().RecordBatch):
        return arrow().Table.from_batches([frame])
    if isinstance(frame, arrow().Table):
        return frame
    import narwhals

    try:
        table = narwhals.from_native(frame, eager_only=True).to_arrow()
    except (TypeError, arrow().ArrowException) as error:
        why = " ".join(str(error).split())[:200]
        raise BadValue(f"the frame cannot be read as columns of one kind each: {why}") from None
    return table.drop_columns([name for name in table.column_names if name.startswith(INDEX)])
