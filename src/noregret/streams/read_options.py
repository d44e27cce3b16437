"""Read options: how a source is read, as keyword arguments of `open_source` and options of the command line."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import NoneType
from typing import Any

from noregret.errors import BadValue, find_closest, shown
from noregret.streams.holdout import check_holdout
from noregret.streams.recoding import check_encoding

ROW_OPTIONS = ("skip", "limit", "shuffle", "passes", "holdout", "holdout_seed")
"""Options of any source: which rows are read, how often, and in which order."""
COLUMNS = (list, tuple, set, frozenset, NoneType)  # what columns can be given as
GENERAL = frozenset(
    {"format", "on_bad", "targets", "sets", "labelled", "label_left_out", "lists", "live", "optional", *ROW_OPTIONS}
)


@dataclass(frozen=True)
class ReadOptions:
    """How a source is read.

    format: the file format, if the name of the file does not show it.
    header: whether the first line of a CSV file holds the column names; guessed by default.
    label, weight, timestamp: the columns of the label, the weight and the time of a round; times must not decrease.
    drop: columns to leave out.
    keep: columns that batches carry along in `kept`, whether they are features or not.
    text: columns of free text; every word is a feature. ngrams: also use runs of up to so many words.
    categorical: columns whose values are categories even if they are numbers.
    numbers, times: columns of numbers, and of dates or times, whatever the first rows look like (CSV); a cell that is
        neither empty nor one is an error.
    keep_missing: an empty cell among numbers becomes NaN, for learners with the transform `missing`; otherwise the row
        does not have the feature.
    missing: marks of missing values, as in ["NA", "?"]; such a cell counts as empty.
    encoding: of a CSV file, JSON lines or text that is not in UTF-8.
    zero_based: the first feature is number 0 (libsvm).
    on_bad: "stop" raises an error for a row that cannot be used, "skip" leaves it out and counts it.
    targets: labels are real numbers.
    sets: a row may have several labels: a list in JSON lines, or a cell with `labels_by` between them in a table.
    labelled: False if labels may be missing, as in rows to be predicted; y is None where there are none.
    label_left_out: where no column is named as the label, the one that would be taken for it is no feature either.
    unlabelled: marks of labels that are not known yet, as in ["?"], for tables; y is None where they or nothing stand.
    key: the column that tells rows apart, so that the label of a row can come later.
    skip, limit: how many rows to leave out at the start, and to read at most.
    shuffle: a seed; rows are shuffled within a buffer.
    passes: how often the source is read.
    holdout: a share of the rows, or a number of them, that is not read but collected in `held_out`: the last ones; with
        holdout_seed, a random share.
    query: the column of the query a row belongs to (ranking). lists: no batch ends inside the rows of a query.
    live: rows of a pipe are read as soon as they come, in batches as small as need be.
    optional: the names of options that are ignored where they do not apply, as those that a model remembers.
    """

    format: str | None = None
    header: bool | None = None
    label: str | None = None
    weight: str | None = None
    timestamp: str | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    ngrams: int = 1
    keep_missing: bool = False
    missing: tuple[str, ...] = ()
    encoding: str | None = None
    zero_based: bool = False
    on_bad: str = "stop"
    targets: bool = False
    sets: bool = False
    labels_by: str = ","
    labelled: bool = True
    label_left_out: bool = False
    unlabelled: tuple[str, ...] | None = None
    key: str | None = None
    skip: int = 0
    limit: int | None = None
    shuffle: int | None = None
    passes: int = 1
    holdout: float = 0
    holdout_seed: int | None = None
    query: str | None = None
    lists: bool = False
    live: bool = False
    optional: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("drop", "keep", "text", "categorical", "numbers", "times", "missing"):
            given = getattr(self, name)
            columns = (given,) if isinstance(given, str) else tuple(given or ()) if isinstance(given, COLUMNS) else (0,)
            if not all(isinstance(column, str) for column in columns):
                raise BadValue(f"{name} is a column, or a list of columns, by name; not {shown(given)}")
            object.__setattr__(self, name, columns)
        if self.unlabelled is not None:
            marks: Any = self.unlabelled
            if not isinstance(marks, (list, tuple)) or not all(isinstance(mark, str) for mark in marks):
                raise BadValue(f"unlabelled is a list of marks, not {shown(marks)}")
            object.__setattr__(self, "unlabelled", tuple(marks))
            object.__setattr__(self, "labelled", False)
        if self.key is not None:
            object.__setattr__(self, "keep", tuple(dict.fromkeys((*self.keep, self.key))))
            object.__setattr__(self, "drop", tuple(dict.fromkeys((*self.drop, self.key))))
        if self.encoding is not None:
            check_encoding(self.encoding)
        for name in ("format", "label", "weight", "timestamp", "query", "key", "encoding"):
            if not isinstance(getattr(self, name), (str, NoneType)):
                raise BadValue(f"{name} must be a name, not {shown(getattr(self, name))}")
        for name in ("header", "keep_missing", "zero_based", "targets", "sets", "labelled", "lists", "live"):
            if not isinstance(getattr(self, name), (bool, NoneType)):
                raise BadValue(f"{name} must be True or False, not {shown(getattr(self, name))}")
        if type(self.labels_by) is not str or not self.labels_by:
            raise BadValue(f"labels_by is the text between two labels of a row, not {shown(self.labels_by)}")
        if self.on_bad not in ("stop", "skip"):
            raise BadValue(f'on_bad is "stop" or "skip", not {shown(self.on_bad)}')
        check_holdout(self.holdout, self.holdout_seed)
        self.check_numbers()
        self.check_roles()

    def check_numbers(self) -> None:
        """Refuse numbers that are not integers, or too small."""
        for name, least in (("skip", 0), ("limit", 0), ("shuffle", 0), ("passes", 1), ("ngrams", 1)):
            value = getattr(self, name)
            if value is None and name in ("limit", "shuffle"):
                continue
            if type(value) is not int or value < least:
                hint = '; rows that cannot be used are skipped by on_bad="skip"' if name == "skip" else ""
                raise BadValue(f"{name} must be a whole number of at least {least}, not {shown(value)}{hint}")

    def check_roles(self) -> None:
        """Refuse a column with two roles."""
        roles = [
            (role, column) for role in ("label", "weight", "timestamp", "query") if (column := getattr(self, role))
        ]
        roles += [
            (role, column)
            for role in ("drop", "text", "categorical", "numbers", "times")
            for column in getattr(self, role)
        ]
        for number, (role, column) in enumerate(roles):
            for other, same in roles[:number]:
                if column == same and role != other:
                    raise BadValue(f"column {column!r} cannot be both {other} and {role}")

    @property
    def lenient(self) -> bool:
        """Whether rows that cannot be used are left out."""
        return self.on_bad == "skip"

    @property
    def selects_rows(self) -> bool:
        """Whether anything but every row once and in order is requested."""
        return self.lists or any(getattr(self, name) != getattr(DEFAULTS, name) for name in ROW_OPTIONS)

    def non_defaults(self) -> list[str]:
        """Return the names of the options that differ from their default."""
        return [one.name for one in fields(self) if getattr(self, one.name) != getattr(DEFAULTS, one.name)]

    def check_applies(self, kind: str, accepts: frozenset[str]) -> None:
        """Refuse options that a kind of source does not accept."""
        for name in sorted(self.non_defaults(), key=lambda name: name == "drop"):  # what is kept is dropped as well
            if name not in GENERAL and name not in accepts and name not in self.optional:
                raise BadValue(f"{name.replace('_', '-')} does not apply to {kind}; leave it out")


def merge_options(given: ReadOptions | None, kwargs: Mapping[str, Any]) -> ReadOptions:
    """Return options with some of them replaced by keyword arguments."""
    known = [one.name for one in fields(ReadOptions)]
    for name in kwargs:
        if name not in known:
            close = find_closest(name, known)
            raise BadValue(
                f"a source has no option {name!r}; "
                + (f"did you mean {close!r}?" if close else f"it has {', '.join(known)}")
            )
    return replace(given or DEFAULTS, **kwargs)


DEFAULTS = ReadOptions()
TABLE_OPTIONS = frozenset(
    {"label", "weight", "timestamp", "query", "drop", "keep", "key", "unlabelled", "missing", "categorical", "text",
     "ngrams", "keep_missing"}
)  # fmt: skip
