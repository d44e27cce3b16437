"""Converts record batches of Arrow to `Columns`, and finds their invalid rows."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import all_finite
from noregret.errors import shown
from noregret.features.cells import BLANKS
from noregret.streams.column_roles import ColumnRoles
from noregret.streams.columns import (
    NO_QUERY,
    Layout,
    arrow,
    label_fault,
    moment_fault,
    parse_times,
    spelled_fault,
)
from noregret.streams.read_options import ReadOptions
from noregret.streams.table_encoder import TableEncoder
from noregret.streams.table_parser import Columns, distinct_cells, weights_valid

UNIT = "\x1f"  # the ASCII unit separator, put between the labels of a list


def flatten_records(table: Any) -> Any:
    """Replace records by their fields: the field b of a is the column a.b."""
    while any(arrow().types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    return table


def label_is_boolean(layout: Layout, table: Any) -> bool:
    """Return whether the label column holds truth values."""
    label = layout.roles.label
    return label is not None and bool(arrow().types.is_boolean(table.schema.field(label).type))


def is_number(kind: Any) -> bool:
    """Return whether an Arrow type is read as numbers."""
    types = arrow().types
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
        or types.is_null(kind)
    )


def is_text(kind: Any) -> bool:
    """Return whether an Arrow type is text."""
    types = arrow().types
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def is_plain_text(kind: Any) -> bool:
    """Return whether an Arrow type is text, and not that of categories."""
    return is_text(kind) and not arrow().types.is_dictionary(kind)


def type_of(schema: Any, name: str) -> Any:
    """Return the Arrow type of a column; of no column, that of nothing."""
    return schema.field(name).type if name in schema.names else arrow().null()


def without_marks(column: Any, missing: Sequence[str]) -> Any:
    """Return a column of text with nulls in place of marks of missing values."""
    column, compute = combine_chunks(column).cast(arrow().string()), arrow(".compute")
    marked = compute.is_in(compute.utf8_trim(column, characters=BLANKS), arrow().array(list(missing), arrow().string()))
    return compute.if_else(marked, arrow().scalar(None, arrow().string()), column) if missing else column


def is_list(kind: Any) -> bool:
    """Return whether an Arrow type is a list of text or numbers."""
    types = arrow().types
    listed = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(listed and (is_text(kind.value_type) or is_number(kind.value_type)))


def extract_columns(layout: Layout, encoder: TableEncoder, table: Any) -> Columns:
    """Convert a table of Arrow to `Columns`."""
    roles = layout.roles
    numbers = np.empty((table.num_rows, len(layout.numeric)))
    for at, index in enumerate(layout.numeric):
        numbers[:, at] = to_floats(table.column(index))
    cells, list_offsets = {}, {}
    for index in layout.categories:
        column = combine_chunks(table.column(index))
        if is_list(column.type):
            column = column.cast(arrow().large_list(column.type.value_type))
            offsets = column.offsets
            list_offsets[index] = offsets.to_numpy() - offsets[0].as_py() if len(column) else np.zeros(1, int)
            column = column.flatten()
        cells[index] = to_dictionary(column)
    for index in layout.texts:
        cells[index] = combine_chunks(table.column(index)).cast(arrow().string())
    for index in layout.spelled:
        cells[index] = to_dictionary(combine_chunks(table.column(index)))
    for index in layout.times:
        column = combine_chunks(table.column(index))
        if not is_text(column.type):
            column = column.cast(arrow().timestamp("us")).cast(arrow().string())
        cells[index] = to_dictionary(column)
    for name in encoder.kept:
        index = layout.columns.index(name)
        if index not in cells and index not in layout.numeric:
            cells[index] = to_dictionary(combine_chunks(table.column(index)))
    targets = None
    if roles.label is not None:
        label = combine_chunks(table.column(roles.label))
        if encoder.targets and encoder.labelled:
            targets = to_floats(label)
        elif encoder.separator is not None and is_list(label.type):
            encoder.separator = UNIT
            cells[roles.label] = to_dictionary(join_lists(label))
        else:
            cells[roles.label] = to_dictionary(label)
    if roles.query is not None:
        cells[roles.query] = to_dictionary(combine_chunks(table.column(roles.query)))
    weight, times = role_values(table, roles, "weight"), role_values(table, roles, "timestamp")
    return Columns(numbers, cells, targets, weight, times, list_offsets)


def join_lists(column: Any) -> Any:
    """Join the labels of each list to one text."""
    return arrow(".compute").binary_join(column.cast(arrow().list_(arrow().string())), UNIT)


def role_values(table: Any, roles: ColumnRoles, name: str) -> NDArray[np.float64] | None:
    """Return the values of the column with a role; None if there is none."""
    index = getattr(roles, name)
    return None if index is None else to_numbers(table.column(index))


def to_numbers(column: Any) -> NDArray[np.float64]:
    """Convert a column of weights or times to numbers, with NaN for cells that are none."""
    kind, types = column.type, arrow().types
    if types.is_timestamp(kind) or types.is_date(kind):
        microseconds = column.cast(arrow().timestamp("us")).cast(arrow().int64())
        return to_floats(microseconds) / 1e6
    if is_text(kind):
        try:
            return np.asarray(parse_times(combine_chunks(column.cast(arrow().string()))))
        except arrow().ArrowInvalid:
            return np.full(len(column), np.nan)
    return to_floats(column) if is_number(kind) else np.full(len(column), np.nan)


def combine_chunks(column: Any) -> Any:
    """Return a chunked column as one array."""
    return column.combine_chunks() if isinstance(column, arrow().ChunkedArray) else column


def to_floats(column: Any) -> NDArray[np.float64]:
    """Convert numbers to floats, with NaN for empty cells."""
    column = combine_chunks(column)
    if arrow().types.is_boolean(column.type):
        column = column.cast(arrow().uint8())
    if not is_number(column.type):
        return np.full(len(column), np.nan)
    if column.type != arrow().float64():
        column = column.cast(arrow().float64(), safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def to_dictionary(column: Any) -> Any:
    """Convert a column to a dictionary array of texts; numbers are written as in Python."""
    encoded = column if arrow().types.is_dictionary(column.type) else column.dictionary_encode()
    cells = encoded.dictionary
    if arrow().types.is_floating(cells.type) or arrow().types.is_decimal(cells.type):
        cells = arrow().array([format_number(cell) for cell in cells.to_pylist()], arrow().string())
    indices = encoded.indices.cast(arrow().int32())
    return arrow().DictionaryArray.from_arrays(indices, cells.cast(arrow().string()))


def format_number(cell: Any) -> str:
    """Write a number; integers without a decimal point."""
    value = float(cell)
    return str(int(value)) if value.is_integer() else repr(value)


def find_invalid_rows(columns: Columns, table: Any, layout: Layout, options: ReadOptions) -> dict[int, str]:
    """Return what is wrong with each invalid row."""
    bad: dict[int, str] = {}
    for row, why in find_invalid_numbers(columns, table, layout):
        bad.setdefault(row, why)
    if layout.label is not None and options.labelled:
        for row, why in find_invalid_labels(columns, layout.label):
            bad.setdefault(row, why)
    for row, why in find_invalid_texts(columns, layout, options.missing):
        bad.setdefault(row, why)
    if layout.roles.query is not None and columns.cells[layout.roles.query].null_count:
        for empty in np.flatnonzero(columns.cells[layout.roles.query].is_null()):
            bad.setdefault(int(empty), NO_QUERY)
    if not weights_valid(columns):
        for name, part, index in (
            ("weight", columns.weight, layout.roles.weight),
            ("time", columns.times, layout.roles.timestamp),
        ):
            if part is not None and index is not None:
                invalid = ~np.isfinite(part) | ((part < 0.0) if name == "weight" else False)
                for at in np.flatnonzero(invalid):
                    cell = shown(table.column(index)[int(at)].as_py())
                    bad.setdefault(int(at), f"column {layout.columns[index]!r}: the {name} is {cell}")
    return bad


def find_invalid_numbers(columns: Columns, table: Any, layout: Layout) -> Iterator[tuple[int, str]]:
    """Yield the rows with a number that is not finite; empty cells are allowed."""
    if all_finite(columns.numbers):
        return
    infinite = np.isinf(columns.numbers)
    for at, index in enumerate(layout.numeric):
        nans = np.isnan(columns.numbers[:, at])
        if nans.any():
            nans &= ~np.asarray(combine_chunks(table.column(index).is_null()))
        for row in np.flatnonzero(infinite[:, at] | nans):
            value = columns.numbers[row, at]
            yield int(row), f"column {layout.columns[index]!r}: the value is {value}; every value must be finite"


def find_invalid_texts(columns: Columns, layout: Layout, missing: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the rows whose text is no number, or no time, in a column that holds these."""
    checks = [(index, spelled_fault) for index in layout.spelled] + [(index, moment_fault) for index in layout.times]
    for index, fault in checks:
        texts = distinct_cells(columns.cells[index])
        faults = [None if text in missing else fault(text) for text in texts]
        if any(faults):
            codes = columns.cells[index].indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
            wrong = np.array([*(why is not None for why in faults), False])
            for row in np.flatnonzero(wrong[codes]):
                yield int(row), f"column {layout.columns[index]!r}: {faults[codes[row]]}"


def find_invalid_labels(columns: Columns, label: int) -> Iterator[tuple[int, str]]:
    """Yield the rows whose label cannot be used."""
    if columns.targets is not None:
        for row in np.flatnonzero(~np.isfinite(columns.targets)):
            yield int(row), "the label is missing or not a finite number, but regression needs numbers"
        return
    column = columns.cells[label]
    cells = column.dictionary.to_pylist()
    faults = [label_fault(cell.strip(), False) for cell in cells] + [label_fault("", False)]
    if any(faults[:-1]) or column.null_count:
        codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        for row in np.flatnonzero(np.array([why is not None for why in faults])[codes]):
            yield int(row), str(faults[codes[row]])
