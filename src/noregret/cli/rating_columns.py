"""The columns of `noregret recommend`: which of a table hold users, items and ratings; others are left out."""

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any

from noregret.data.blocks import Rows
from noregret.decomposition.rating_columns import COLUMNS, ITEM, RATING, TIME, USER, Ratings, find_role
from noregret.decomposition.rating_stream import RowReader
from noregret.errors import BadValue
from noregret.features.cells import is_number
from noregret.streams import ReadOptions, Source, open_source
from noregret.streams.columns import split_cells
from noregret.streams.csv import sniff_delimiter
from noregret.streams.files import TextFile
from noregret.streams.formats import SNIFF_BYTES, sniff_format
from noregret.streams.read_options import ROW_OPTIONS

NEEDED = (USER, ITEM, RATING)
GENERATOR = "ratings"  # of synthetic ratings
TABLES = ("csv", "jsonl", "parquet", "arrow")
PEEK = 100  # rows from which the columns of JSON lines are known


class RatingFile:
    """A source of ratings, and how its rows are read."""

    def __init__(self, source: Source, columns: Mapping[str, str], left_out: Sequence[str]) -> None:
        self.source, self.columns, self.left_out = source, columns, left_out
        self.reader = RowReader({name: role for role, name in columns.items()})

    def read(self, X: Any) -> list[tuple[Any, Any]]:
        """The pairs of user and item of a batch."""
        if not isinstance(X, Rows):  # of the generator
            return [(user, item) for user, item in X.tolist()]
        found: Ratings = self.reader.read(X)
        return list(zip(found.users, found.items, strict=True))


def open_ratings(args: argparse.Namespace, options: Mapping[str, Any]) -> RatingFile:
    """The ratings of a command; what its columns hold is told by --columns, or by their names."""
    if all(name.partition(":")[0] == GENERATOR for name in args.data):
        return RatingFile(open_source(args.data, ReadOptions(**options), seed=args.seed), {}, [])
    there = peek_columns(options) if "-" in args.data else find_there(args, options)
    path = "standard input" if "-" in args.data else args.data[0]
    columns = read_option(args.columns) if args.columns else guess_columns(there, path)
    for role, name in columns.items():
        if there is not None and name not in there:
            known = ", ".join(there)
            raise BadValue(f"{path}: there is no column {name!r} of the {role}; the columns are {known}")
    left_out = [name for name in there or () if name not in columns.values()]
    reading = {**options, "label": columns[RATING], "categorical": (columns[USER], columns[ITEM]), "targets": True,
               "drop": tuple(dict.fromkeys((*options.get("drop", ()), *left_out)))}  # fmt: skip
    source = open_source(args.data, ReadOptions(**reading), seed=args.seed)
    return RatingFile(source, columns, [name for name in left_out if find_role(name) != TIME])


def find_there(args: argparse.Namespace, options: Mapping[str, Any]) -> list[str]:
    """The columns of a table, by its first rows; a row that cannot be read here may well be when it is learned."""
    reading = {name: value for name, value in options.items() if name not in ROW_OPTIONS}
    opened = open_source(args.data, ReadOptions(**{**reading, "on_bad": "skip"}), seed=args.seed)
    if opened.kind not in TABLES:
        raise BadValue(f"{args.data[0]}: ratings are tables with the columns {', '.join(NEEDED)}: CSV, JSON lines, "
                       "Parquet, Arrow")  # fmt: skip
    peek = {**reading, "on_bad": "skip", "limit": PEEK, "label": "NONE", "labelled": False}
    source = open_source(args.data, ReadOptions(**peek), seed=args.seed)
    try:
        for _ in source:
            pass
    except BadValue:
        if options.get("on_bad") != "skip":  # no row can be read: say what is wrong with the first
            for _ in open_source(args.data, ReadOptions(**{**peek, "on_bad": "stop"}), seed=args.seed):
                pass
        raise
    found = source.describe().get("columns")
    return list(found) if isinstance(found, dict) else []


def peek_columns(options: Mapping[str, Any]) -> list[str] | None:
    """The columns of standard input, by its first bytes, which are kept for its reader; None where they do not tell."""
    with TextFile("-", False, options.get("encoding")) as file:
        head = file.peek(SNIFF_BYTES)
        kind = options.get("format") or sniff_format(head, file.name)
    lines = [line for line in head.decode(errors="replace").lstrip("\ufeff").splitlines() if line.strip()]
    if kind == "jsonl":
        return list(dict.fromkeys(name for line in lines[:PEEK] for name in read_fields(line))) or None
    if kind != "csv" or not lines:
        return None
    cells = [cell.strip() for cell in split_cells(lines[0], sniff_delimiter(head))]
    named = not any(map(is_number, cells)) if options.get("header") is None else options["header"]
    return cells if named else [f"c{number}" for number in range(1, len(cells) + 1)]


def read_fields(line: str) -> list[str]:
    """The names of the fields of a record; none where it is no record, which is found out when it is learned."""
    try:
        found = json.loads(line)
    except ValueError:
        return []
    return list(found) if isinstance(found, dict) else []


WORDS = {
    ", the label; every": "; every",
    "; --label names another column": "",
    "the label": "the rating",
    ", but regression needs numbers": "",
}
"""What readers of tables say of labels, and what is said of ratings."""


def say_rating(error: BadValue, column: str | None) -> BadValue:
    """An error of a reader in the words of ratings, which have no labels."""
    text = str(error).replace(f"column {column!r}: ", "")
    for label, rating in WORDS.items():
        text = text.replace(label, rating)
    return BadValue(text, error.row)


def read_option(text: str) -> dict[str, str]:
    """The columns named by --columns USER,ITEM,RATING."""
    names = [name.strip() for name in text.split(",")]
    if len(names) != len(NEEDED) or not all(names) or len(set(names)) < len(names):
        raise BadValue(f"--columns takes the columns of user, item and rating, as in customer,book,stars, not {text}")
    return dict(zip(NEEDED, names, strict=True))


def guess_columns(there: Sequence[str] | None, path: str) -> dict[str, str]:
    """The columns by their names; where these are not known they must be called user, item and rating."""
    if there is None:
        return {role: role for role in NEEDED}
    found: dict[str, str] = {}
    for name in there:
        role = find_role(name)
        if role in found:
            raise BadValue(f"{path}: the columns {found[role]!r} and {name!r} may both be the {role}; name the columns "
                           "with --columns USER,ITEM,RATING")  # fmt: skip
        if role is not None:
            found[role] = name
    for role in NEEDED:
        if role not in found:
            usual = ", ".join(name for name, one in COLUMNS.items() if one == role)
            raise BadValue(f"{path}: no column is called {usual}; the columns are {', '.join(there)}: name those of "
                           "user, item and rating with --columns USER,ITEM,RATING")  # fmt: skip
    return {role: found[role] for role in NEEDED}
