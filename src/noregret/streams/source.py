"""What every source is: a name, what is known of it beforehand, and batches of rounds in order."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from noregret.errors import BadValue


class Batch(NamedTuple):
    """Some thousands of rounds: rows X, labels y, the line each row stands on, the share of the source read so far."""

    X: Any
    y: Any
    lines: np.ndarray | None = None
    done: float | None = None


@dataclass(frozen=True)
class Reading:
    """How a file is to be read.

    label: the column of the label (CSV). zero_based: the first feature is number 0 (libsvm). skip: rows that cannot be
    used are skipped and counted instead of refused. targets: labels are real numbers. labelled: False when the labels
    may be missing, as in rows to be predicted; y is then None where there are none.
    """

    label: str | None = None
    zero_based: bool = False
    skip: bool = False
    targets: bool = False
    labelled: bool = True


class Source:
    """Rounds from somewhere. Iterating gives batches; `notes` says what a user should know of how they were read."""

    path = ""
    name = ""
    started = False
    kind = ""
    rows: int | None = None  # where known beforehand
    suits: Mapping[str, Any] = MappingProxyType({})  # what learners made for this source should be told
    label: str | None = None  # the column of the label, in tables
    columns: Mapping[str, str] | None = None  # in tables, what each column of features holds: numbers or text
    zero_based = False  # whether the first feature is number 0, in libsvm text
    skipped = 0  # rows left out because they could not be used

    def __init__(self) -> None:
        self.notes: list[str] = []

    def __iter__(self) -> Iterator[Batch]:
        raise NotImplementedError

    def claim(self) -> None:
        """Begin to read; what comes through a pipe can be read only once."""
        if self.path == "-" and self.started:
            raise BadValue("standard input can be read only once; put the rows into a file to read them again")
        self.started, self.skipped = True, 0

    def must_hold(self, rows: int) -> None:
        """Refuse a file that turned out to have no rows."""
        if not rows:
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
