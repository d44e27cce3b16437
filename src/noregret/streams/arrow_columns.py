"""Columns of Arrow as the assembly of tables takes them."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from noregret.data.blocks import all_finite
from noregret.errors import shown
from noregret.streams.column_roles import Roles
from noregret.streams.columns import NO_QUERY, Layout, arrow, times, wrong_label
from noregret.streams.read_options import Reading
from noregret.streams.tables import Columns, Table, weights_fine

UNIT = "\x1f"  # between the labels of a list, and in none of them


def flat(table: Any) -> Any:
    """The same table with its records opened: the field b of a is the column a.b."""
    while any(arrow().types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    return table


def label_is_truth(layout: Layout, table: Any) -> bool:
    label = layout.roles.label
    return label is not None and bool(arrow().types.is_boolean(table.schema.field(label).type))


def is_number(kind: Any) -> bool:
    types = arrow().types
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
        or types.is_null(kind)
    )


def is_text(kind: Any) -> bool:
    types = arrow().types
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def is_list(kind: Any) -> bool:
    types = arrow().types
    listed = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(listed and (is_text(kind.value_type) or is_number(kind.value_type)))


def gathered(layout: Layout, table: Table, found: Any) -> Columns:
    """The columns of a batch as the assembly of tables takes them."""
    roles = layout.roles
    numbers = np.empty((found.num_rows, len(layout.numeric)))
    for at, place in enumerate(layout.numeric):
        numbers[:, at] = floats(found.column(place))
    words, bags = {}, {}
    for place in layout.text:
        column = one(found.column(place))
        if is_list(column.type):
            column = column.cast(arrow().large_list(column.type.value_type))
            bags[place] = column.offsets.to_numpy() - column.offsets[0].as_py() if len(column) else np.zeros(1, int)
            column = column.flatten()
        words[place] = dictionary(column)
    for place in layout.words:
        words[place] = one(found.column(place)).cast(arrow().string())
    targets = None
    if roles.label is not None:
        label = one(found.column(roles.label))
        if table.targets and table.labelled:
            targets = floats(label)
        elif table.between is not None and is_list(label.type):
            table.between = UNIT
            words[roles.label] = dictionary(together(label))
        else:
            words[roles.label] = dictionary(label)
    if roles.query is not None:
        words[roles.query] = dictionary(one(found.column(roles.query)))
    return Columns(numbers, words, targets, role(found, roles, "weight"), role(found, roles, "timestamp"), bags)


def together(column: Any) -> Any:
    """Lists of labels as one text each."""
    return arrow(".compute").binary_join(column.cast(arrow().list_(arrow().string())), UNIT)


def role(found: Any, roles: Roles, name: str) -> np.ndarray | None:
    place = getattr(roles, name)
    return None if place is None else moments(found.column(place))


def moments(column: Any) -> np.ndarray:
    """A column of weights or times as numbers; nan where they are none."""
    kind, types = column.type, arrow().types
    if types.is_timestamp(kind) or types.is_date(kind):
        whole = column.cast(arrow().timestamp("us")).cast(arrow().int64())
        return floats(whole) / 1e6
    if is_text(kind):
        try:
            return np.asarray(times(one(column.cast(arrow().string()))))
        except arrow().ArrowInvalid:
            return np.full(len(column), np.nan)
    return floats(column) if is_number(kind) else np.full(len(column), np.nan)


def one(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, arrow().ChunkedArray) else column


def floats(column: Any) -> np.ndarray:
    """Numbers as floats, nan where a cell is empty."""
    column = one(column)
    if arrow().types.is_boolean(column.type):
        column = column.cast(arrow().uint8())
    if not is_number(column.type):
        return np.full(len(column), np.nan)
    if column.type != arrow().float64():
        column = column.cast(arrow().float64(), safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def dictionary(column: Any) -> Any:
    """Distinct texts and their codes; numbers as Python writes them."""
    encoded = column if arrow().types.is_dictionary(column.type) else column.dictionary_encode()
    cells = encoded.dictionary
    if arrow().types.is_floating(cells.type) or arrow().types.is_decimal(cells.type):
        cells = arrow().array([written(cell) for cell in cells.to_pylist()], arrow().string())
    indices = encoded.indices.cast(arrow().int32())
    return arrow().DictionaryArray.from_arrays(indices, cells.cast(arrow().string()))


def written(cell: Any) -> str:
    value = float(cell)
    return str(int(value)) if value.is_integer() else repr(value)


def wrong_rows(columns: Columns, table: Any, layout: Layout, reading: Reading) -> dict[int, str]:
    """What is wrong with which rows; usually nothing."""
    bad: dict[int, str] = {}
    whole = all_finite(columns.numbers)
    endless = columns.numbers if whole else np.isinf(columns.numbers)
    for at, place in enumerate(() if whole else layout.numeric):
        nans = np.isnan(columns.numbers[:, at])
        if nans.any():
            nans &= ~np.asarray(one(table.column(place).is_null()))
        for row in np.flatnonzero(endless[:, at] | nans):
            value = columns.numbers[row, at]
            bad.setdefault(
                int(row), f"column {layout.columns[place]!r}: the value is {value}; every value must be finite"
            )
    if layout.label is not None and reading.labelled:
        for number, why in wrong_labels(columns, layout.label):
            bad.setdefault(number, why)
    if layout.roles.query is not None and columns.words[layout.roles.query].null_count:
        for row in np.flatnonzero(columns.words[layout.roles.query].is_null()):
            bad.setdefault(int(row), NO_QUERY)
    if not weights_fine(columns):
        for name, part, aside in (
            ("weight", columns.weight, layout.roles.weight),
            ("time", columns.times, layout.roles.timestamp),
        ):
            if part is not None and aside is not None:
                wrong = ~np.isfinite(part) | ((part < 0.0) if name == "weight" else False)
                for row in np.flatnonzero(wrong):
                    cell = shown(table.column(aside)[int(row)].as_py())
                    bad.setdefault(int(row), f"column {layout.columns[aside]!r}: the {name} is {cell}")
    return bad


def wrong_labels(columns: Columns, label: int) -> Iterator[tuple[int, str]]:
    if columns.targets is not None:
        for row in np.flatnonzero(~np.isfinite(columns.targets)):
            yield int(row), "the label is missing or not a finite number, and real targets are asked for"
        return
    column = columns.words[label]
    cells = column.dictionary.to_pylist()
    wrong = [wrong_label(cell.strip(), False) for cell in cells] + [wrong_label("", False)]
    if any(wrong[:-1]) or column.null_count:
        codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        for row in np.flatnonzero(np.array([why is not None for why in wrong])[codes]):
            yield int(row), str(wrong[codes[row]])
