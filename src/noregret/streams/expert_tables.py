"""Tables of experts: a row for each round, a column for each expert, and where they predict a column for the truth."""

import csv
import io
import sys
from typing import Any, NamedTuple

from noregret.errors import BadValue, find_closest

UP_DOWN = """\
day,Ann,Bob,Carl,Dora,truth
1,Up,Up,Down,Up,Up
2,Up,Down,Down,Down,Down
3,Down,Up,Up,Up,Up
4,Up,Up,Down,Up,Up
5,Down,Up,Up,Down,Down
6,Up,Down,Down,Up,Up
7,Up,Down,Up,Down,Down
8,Down,Up,Down,Up,Up
9,Up,Up,Up,Down,Up
10,Down,Down,Up,Down,Down
11,Up,Down,Down,Up,Up
12,Down,Up,Down,Down,Down
"""
BUILT_IN = {"up_down": (UP_DOWN, "truth", ("day",))}  # the table, its truth, and the columns that are no experts
WHAT = {"up_down": "up or down: the calls of four experts on twelve days, and what happened"}


class ExpertTable(NamedTuple):
    """The experts by name, what they gave in every round (None where a cell is empty), and the truths."""

    where: str
    names: list[str]
    rows: list[list[Any]]
    truth: list[Any] | None
    lines: list[int]


def read_expert_table(path: str, truth: str | None, drop: tuple[str, ...] = ()) -> ExpertTable:
    """Read a CSV file, - for standard input, or a built-in table; without `truth`, all columns are experts."""
    if path in BUILT_IN:
        text, usual, others = BUILT_IN[path]
        truth, drop = truth or usual, (*others, *drop)
    else:
        text = read_text(path)
    lines = csv.reader(io.StringIO(text, newline=""))
    cells = [(lines.line_num, row) for row in lines if any(cell.strip() for cell in row)]
    if not cells:
        raise BadValue(f"{path} is empty; it needs a line of column names, and a line for each round")
    (_, head), *body = cells
    names = [name.strip() for name in head]
    check_head(path, names, (*drop, *([] if truth is None else [truth])))
    if not body:
        raise BadValue(f"{path}: there are column names, but no rounds")
    for line, row in body:
        if len(row) != len(names):
            raise BadValue(
                f"{path}:{line}: there are {len(row)} cells and {len(names)} columns; every row needs as many"
            )
    kept = [at for at, name in enumerate(names) if name != truth and name not in drop]
    if not kept:
        raise BadValue(f"{path}: no column is left for an expert")
    rows = [[read_cell(row[at]) for at in kept] for _, row in body]
    truths = None if truth is None else [read_cell(row[names.index(truth)]) for _, row in body]
    return ExpertTable(path, [names[at] for at in kept], rows, truths, [line for line, _ in body])


def read_text(path: str) -> str:
    try:
        if path == "-":
            return sys.stdin.read()
        with open(path, encoding="utf-8-sig", newline="") as file:
            return file.read()
    except OSError as error:
        near = find_closest(path, BUILT_IN)
        hint = "" if near is None else f"; did you mean {near!r}?"
        raise BadValue(f"{path}: {error.strerror or error}{hint}") from None
    except UnicodeDecodeError:
        raise BadValue(f"{path}: the file is not text in UTF-8; give a CSV file") from None


def check_head(path: str, names: list[str], wanted: tuple[str, ...]) -> None:
    """Columns have different names, and those that were asked for are there."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadValue(f"{path}: more than one column is named {twice!r}; rename one of them")
    for name in wanted:
        if name not in names:
            near = find_closest(name, names)
            hint = f"; did you mean {near!r}?" if near else f"; there are {', '.join(names[:10])}"
            raise BadValue(f"{path}: there is no column {name!r}{hint}")


def read_cell(text: str) -> Any:
    """A number where a cell holds one, None where it is empty, otherwise its text."""
    text = text.strip()
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        return text
