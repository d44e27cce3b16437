"""The base class of all sources: a name, what is known in advance, and batches of rounds in order."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from noregret.data.batch import Batch, Position
from noregret.errors import BadValue

SPARSE_ROWS: Mapping[str, Any] = MappingProxyType({"bias": "auto"})
"""Options of learners for rows of some features each: a constant that is as large as their values."""


class Source:
    """Iterating over a source yields batches; `notes` tells the user how the data were read."""

    path = ""
    name = ""
    started = False
    kind = ""
    accepts: frozenset[str] = frozenset()  # the read options of this kind of source, besides the general ones
    rows: int | None = None  # the number of rows, if known in advance
    learner_defaults: Mapping[str, Any] = MappingProxyType({})  # options of learners that suit this source
    label: str | None = None  # in tables: the column of the label
    left_out: str | None = None  # in tables: a column that was left out because it may be the label
    columns: Mapping[str, str] | None = None  # in tables: whether each feature column holds numbers or text
    zero_based = False  # in libsvm text: whether the first feature is number 0
    lists = False  # whether batches end only where a query ends
    skipped = 0  # rows left out because they could not be used
    held_out: Sequence[Batch] = ()  # rows that are not to be learned, known when all others are read
    start: Position | None = None  # where to resume: the position of a batch read before

    def __init__(self) -> None:
        self.notes: list[str] = []

    def __iter__(self) -> Iterator[Batch]:
        raise NotImplementedError

    @property
    def where(self) -> str:
        """The name of the file being read, for errors that name a line."""
        return self.name

    def begin(self) -> None:
        """Start reading; refuse to read standard input a second time."""
        if self.path == "-" and self.started:
            raise BadValue("standard input can be read only once; put the rows into a file to read them again")
        self.started, self.skipped = True, 0

    def check_not_empty(self, rows: int) -> None:
        """Refuse a source without rows."""
        if not rows and self.start is None:
            why = f" that can be used: {self.skipped} were skipped" if self.skipped else ""
            raise BadValue(f"{self.name}: holds no rows{why}")

    def needs_compiling(self) -> bool:
        """Return whether reading must first compile code, which happens once per machine."""
        return False

    def describe(self) -> dict[str, Any]:
        """Return the entries of a report about this source."""
        entries: dict[str, Any] = {"name": self.name, "kind": self.kind, "skipped": self.skipped}
        if self.label is not None:
            entries["label"] = self.label
        if self.left_out is not None:
            entries["left_out"] = self.left_out
        if self.columns is not None:
            entries["columns"] = dict(self.columns)
        if self.zero_based:
            entries["zero_based"] = True
        return entries


def read_position(position: Position | None, name: str) -> int:
    """Return a number of a position, which may come from a damaged or forged file; 0 without a position."""
    number = 0 if position is None else position.get(name, 0)
    if type(number) is not int or number < 0:
        raise BadValue(
            f"the position to resume from is damaged: its {name} is {number!r}; learn from the start instead"
        )
    return number
