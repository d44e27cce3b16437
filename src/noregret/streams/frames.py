"""Data frames (pandas, polars and others) and Arrow tables as sources of rounds."""

from dataclasses import replace
from typing import Any

from noregret.errors import BadValue, import_extra
from noregret.streams.arrow import ColumnarSource, TableGroups
from noregret.streams.columns import arrow
from noregret.streams.read_options import ReadOptions

INDEX = "__index_level_"  # the name pandas gives to an index that it stores as a column


def frame_source(frame: Any, labels: Any, options: ReadOptions) -> ColumnarSource:
    """Open a data frame, with the labels in a column or given separately."""
    table = to_arrow(frame)
    if labels is not None:
        if len(labels) != table.num_rows:
            raise BadValue(f"X has {table.num_rows} rows and y has {len(labels)} labels; they must match")
        name = next(name for name in ("label", *(f"label {n}" for n in range(10**6))) if name not in table.column_names)
        values = labels.to_list() if hasattr(labels, "to_list") else list(labels)
        plain = [value.item() if hasattr(value, "item") else value for value in values]
        table = table.append_column(name, labels_to_column(plain))
        options = replace(options, label=name)
    return ColumnarSource(TableGroups, table, options, "frame", "frame")


def labels_to_column(labels: list[Any]) -> Any:
    """Convert labels to an Arrow array."""
    try:
        return arrow().array(labels)
    except arrow().ArrowException as error:
        raise BadValue(f"the labels do not make a column: {' '.join(str(error).split())}") from None


def to_arrow(frame: Any) -> Any:
    """Convert a data frame to an Arrow table."""
    if isinstance(frame, arrow().RecordBatch):
        return arrow().Table.from_batches([frame])
    if isinstance(frame, arrow().Table):
        return frame
    narwhals = import_extra("narwhals", "tables", "a data frame")
    try:
        table = narwhals.from_native(frame, eager_only=True).to_arrow()
    except (TypeError, arrow().ArrowException) as error:
        why = " ".join(str(error).split())[:200]
        raise BadValue(f"the frame cannot be read as columns of one type each: {why}") from None
    return table.drop_columns([name for name in table.column_names if name.startswith(INDEX)])
