"""What every source is: a name, what is known of it beforehand, and batches of rounds in order."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from noregret.data.batch import Batch, Position
from noregret.errors import BadValue
from noregret.streams.read_options import Reading

__all__ = ["Reading", "Source"]


class Source:
    """Rounds from somewhere. Iterating gives batches; `notes` says what a user should know of how they were read."""

    path = ""
    name = ""
    started = False
    kind = ""
    takes: frozenset[str] = frozenset()  # what a reading may ask of this kind of source, beside what suits any
    rows: int | None = None  # where known beforehand
    suits: Mapping[str, Any] = MappingProxyType({})  # what learners made for this source should be told
    label: str | None = None  # the column of the label, in tables
    columns: Mapping[str, str] | None = None  # in tables, what each column of features holds: numbers or text
    zero_based = False  # whether the first feature is number 0, in libsvm text
    lists = False  # whether no batch ends inside a list of rows
    skipped = 0  # rows left out because they could not be used
    start: Position | None = None  # where to begin: the place of a batch that was read before

    def __init__(self) -> None:
        self.notes: list[str] = []

    def __iter__(self) -> Iterator[Batch]:
        raise NotImplementedError

    @property
    def where(self) -> str:
        """The name of what is being read now, for errors that name a line of it."""
        return self.name

    def claim(self) -> None:
        """Begin to read; what comes through a pipe can be read only once."""
        if self.path == "-" and self.started:
            raise BadValue("standard input can be read only once; put the rows into a file to read them again")
        self.started, self.skipped = True, 0

    def must_hold(self, rows: int) -> None:
        """Refuse a file that turned out to have no rows."""
        if not rows and self.start is None:
            why = f" that can be used: {self.skipped} were skipped" if self.skipped else ""
            raise BadValue(f"{self.name}: holds no rows{why}")

    def needs_compiling(self) -> bool:
        """Whether reading must wait for the compiler, as it does once on a machine."""
        return False

    def about(self) -> dict[str, Any]:
        """What a report says of the source."""
        told: dict[str, Any] = {"name": self.name, "kind": self.kind, "skipped": self.skipped}
        if self.label is not None:
            told["label"] = self.label
        if self.columns is not None:
            told["columns"] = dict(self.columns)
        if self.zero_based:
            told["zero_based"] = True
        return told


def number_in(position: Position | None, name: str) -> int:
    """A number of a place, which may come from a file that somebody else wrote."""
    found = 0 if position is None else position.get(name, 0)
    if type(found) is not int or found < 0:
        raise BadValue(f"the place to go on from is damaged: its {name} is {found!r}; learn from the start instead")
    return found
