"""How a source is to be read: what a user may ask for, as keyword arguments and as options of the command line."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any

from noregret.errors import BadValue, shown

SHAPES = ("skip", "limit", "shuffle", "passes")  # asked of any source: which rows, how often, in which order
ALWAYS = frozenset({"format", "on_bad", "targets", "sets", "labelled", "lists", "mild", *SHAPES})


@dataclass(frozen=True)
class Reading:
    """How a source is to be read.

    format: what it is, where its name does not tell. header: whether the first line of a CSV names its columns,
    where a look does not tell. label, weight, timestamp: the columns of the label, of the weight of a round, and of
    its time, which must never fall. drop: columns left out. text: columns of words, each a feature. ngrams: runs of
    up to so many words are features too. categorical: columns whose values are names even where they are numbers.
    gaps: an empty cell among numbers is nan, for learners behind `missing`, and not a feature that the row lacks.
    zero_based: the first feature is number 0 (libsvm). on_bad: "skip" leaves rows that cannot be used out and
    counts them, "stop" refuses them. targets: labels are real numbers. sets: a row may have several labels: a list in
    JSON lines, in a table one cell with `labels_by` between them. labelled: False when the labels may be
    missing, as in rows to be predicted; y is then None where there are none. skip, limit: how many rows to leave
    out at the start, and to read at most. shuffle: a seed, for rows in random order as far as a buffer reaches.
    passes: how often all of it is read. query: the column that says which list a row belongs to, where rows are to be
    ranked. lists: rows come in lists, and no batch ends inside one. mild: which of these count only where they apply,
    as those do that a model remembers of the data it was learned from.
    """

    format: str | None = None
    header: bool | None = None
    label: str | None = None
    weight: str | None = None
    timestamp: str | None = None
    drop: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    ngrams: int = 1
    gaps: bool = False
    zero_based: bool = False
    on_bad: str = "stop"
    targets: bool = False
    sets: bool = False
    labels_by: str = ","
    labelled: bool = True
    skip: int = 0
    limit: int | None = None
    shuffle: int | None = None
    passes: int = 1
    query: str | None = None
    lists: bool = False
    mild: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("drop", "text", "categorical"):
            given = getattr(self, name)
            listed = (given,) if isinstance(given, str) else tuple(given or ())
            if not all(isinstance(column, str) for column in listed):
                raise BadValue(f"{name} is a column, or a list of columns, by name; not {shown(given)}")
            object.__setattr__(self, name, listed)
        if type(self.labels_by) is not str or not self.labels_by:
            raise BadValue(f"labels_by is the text between two labels of a row, not {shown(self.labels_by)}")
        if self.on_bad not in ("stop", "skip"):
            raise BadValue(f'on_bad is "stop" or "skip", not {shown(self.on_bad)}')
        for name, least in (("skip", 0), ("limit", 0), ("shuffle", 0), ("passes", 1), ("ngrams", 1)):
            value = getattr(self, name)
            if value is None and name in ("limit", "shuffle"):
                continue
            if type(value) is not int or value < least:
                hint = '; rows that cannot be used are skipped by on_bad="skip"' if name == "skip" else ""
                raise BadValue(f"{name} must be a whole number of at least {least}, not {shown(value)}{hint}")
        roles = [
            (role, column) for role in ("label", "weight", "timestamp", "query") if (column := getattr(self, role))
        ]
        roles += [(role, column) for role in ("drop", "text", "categorical") for column in getattr(self, role)]
        for number, (role, column) in enumerate(roles):
            for other, same in roles[:number]:
                if column == same and role != other:
                    raise BadValue(f"column {column!r} cannot be both {other} and {role}")

    @property
    def lenient(self) -> bool:
        """Whether rows that cannot be used are left out."""
        return self.on_bad == "skip"

    @property
    def shaped(self) -> bool:
        """Whether not simply every row is asked for once, in order."""
        return self.lists or any(getattr(self, name) != getattr(PLAIN, name) for name in SHAPES)

    def asked(self) -> list[str]:
        """The names of all that differs from the default."""
        return [one.name for one in fields(self) if getattr(self, one.name) != getattr(PLAIN, one.name)]

    def must_suit(self, kind: str, takes: frozenset[str]) -> None:
        """Refuse what cannot be asked of this kind of source."""
        for name in self.asked():
            if name not in ALWAYS and name not in takes and name not in self.mild:
                raise BadValue(f"{name.replace('_', '-')} does not apply to {kind}; leave it out")


def reading_of(given: Reading | None, how: Mapping[str, Any]) -> Reading:
    """A reading, with some of its parts told anew."""
    known = [one.name for one in fields(Reading)]
    for name in how:
        if name not in known:
            close = get_close_matches(name, known, 1)
            raise BadValue(
                f"a source has no option {name!r}; "
                + (f"did you mean {close[0]!r}?" if close else f"it has {', '.join(known)}")
            )
    return replace(given or PLAIN, **how)


PLAIN = Reading()
