"""Tables of prices or of price relatives: a row for each day, a column for each stock, and perhaps one of dates."""

import csv
import io
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue, shown
from noregret.streams.files import TextFile

Floats = NDArray[np.float64]
NEAR = 0.1  # how far from 0 the mean logarithm of price relatives may be
RATIO = 0.5  # of the mean square of the changes to the variance: 2 for relatives, nearly 0 for prices
DATES = ("date", "day", "time", "datetime", "timestamp", "")  # names of a first column that holds no prices
FEW = 10  # days from which on changes tell prices from relatives


class PriceTable(NamedTuple):
    """The stocks by name, the values of every day, the dates where there is a column of these, and the lines."""

    where: str
    names: list[str]
    values: Floats
    days: list[str] | None
    lines: list[int]


def read_price_table(path: str) -> PriceTable:
    """Read a CSV file, also a compressed one, or - for standard input.

    The first line may hold names. The first column may hold dates: what is no number, or is named so.
    """
    cells = read_cells(path)
    width = len(cells[0][1])
    for line, row in cells:
        if len(row) != width:
            raise BadValue(f"{path}:{line}: there are {len(row)} cells, and {width} in the first line; "
                           "every row needs as many")  # fmt: skip
    head = None
    if is_head(cells[0][1]):
        head, cells = [name.strip() for name in cells[0][1]], cells[1:]
    if not cells:
        raise BadValue(f"{path}: there are no days; it needs a line of numbers for each day")
    dated = (head is not None and head[0].lower() in DATES) or is_text(cells[0][1][0])
    first = 1 if dated else 0
    if width == first:
        raise BadValue(f"{path}: no column is left for a stock")
    names = [f"s{at + 1:02}" for at in range(width - first)] if head is None else head[first:]
    check_names(path, names)
    values = read_numbers(path, names, [(line, row[first:]) for line, row in cells])
    days = [row[0].strip() for _, row in cells] if dated else None
    return PriceTable(path, names, values, days, [line for line, _ in cells])


def read_cells(path: str) -> list[tuple[int, list[str]]]:
    """The lines that are not empty, with their numbers."""
    with TextFile(path) as file:
        content = file.read() or b""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadValue(f"{path}: the file is not text in UTF-8; give a CSV file") from None
    lines = csv.reader(io.StringIO(text, newline=""))
    try:
        cells = [(lines.line_num, row) for row in lines if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise BadValue(f"{path}:{lines.line_num}: {error}") from None
    if not cells:
        raise BadValue(f"{path} is empty; it needs a line of numbers for each day")
    return cells


def check_names(path: str, names: list[str]) -> None:
    seen: set[str] = set()
    for at, name in enumerate(names):
        if not name or name in seen:
            what = "has no name" if not name else f"has the name of another, {name!r}"
            raise BadValue(f"{path}: column {at + 1} of the stocks {what}; rename it")
        seen.add(name)


def is_head(row: list[str]) -> bool:
    """Whether a line holds names: most of its cells, a date aside, are no numbers."""
    rest = row[1:] or row
    return 2 * sum(map(is_number, rest)) < len(rest)


def is_text(cell: str) -> bool:
    return cell.strip() != "" and not is_number(cell)


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_numbers(path: str, names: list[str], cells: list[tuple[int, list[str]]]) -> Floats:
    """The cells as positive numbers, or an error that names the line and the column of the first that is none."""
    try:
        values = np.array([row for _, row in cells], np.float64)
    except ValueError:
        values = None
    if values is not None and values.min() > 0.0 and values.max() < np.inf:
        return values
    for line, row in cells:
        for name, text in zip(names, row, strict=True):
            where = f"{path}:{line}, column {name!r}"
            if text.strip() in ("", "NA", "nan", "NaN", "null", "None"):
                raise BadValue(f"{where}: the value is missing; every stock needs a value on every day")
            if not is_number(text):
                raise BadValue(f"{where}: a price must be a number, not {shown(text)}")
            if not 0.0 < float(text) < np.inf:
                raise BadValue(f"{where}: a price or price relative must be positive and finite, not {float(text):g}")
    raise AssertionError("a value is not positive, but none was found")


def hover_around_one(values: Floats) -> bool:
    """Whether values look like price relatives: every column stays around 1, and does not wander as prices do.

    The mean logarithm of a column is near 0, and values of successive days differ as much as any others.
    """
    logs = np.log(values)
    if np.abs(logs.mean(axis=0)).max() > NEAR + 1.0 / len(values):  # the mean of a few days may be farther away
        return False
    varied = logs[:, logs.std(axis=0) > 1e-12]
    if len(values) < FEW or not varied.size:
        return True
    ratios = (np.diff(varied, axis=0) ** 2).mean(axis=0) / varied.var(axis=0)
    return bool(np.median(ratios) > RATIO)
