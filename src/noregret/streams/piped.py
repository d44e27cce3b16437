"""Standard input, whose format only its first line can tell: what was looked at is not lost for the reader."""

from collections.abc import Iterator
from typing import Any

from noregret.errors import BadValue
from noregret.streams.ahead import ahead
from noregret.streams.csv import Csv
from noregret.streams.files import TextFile
from noregret.streams.libsvm import Blocks, Libsvm, compiled
from noregret.streams.source import Batch, Reading


class Begun(TextFile):
    """A file of which some was looked at beforehand, and is still to be read."""

    begun = b""

    def look(self, size: int) -> bytes:
        """The first bytes, so many of them where there are."""
        while len(self.begun) < size:
            room = bytearray(size - len(self.begun))
            got = super().readinto(room)
            if not got:
                break
            self.begun += room[:got]
        return self.begun

    def readinto(self, room: Any) -> int:
        if not self.begun:
            return super().readinto(room)
        some = self.begun[: len(room)]
        self.begun = self.begun[len(some) :]
        room[: len(some)] = some
        return len(some)


class PipedCsv(Csv):
    """A table from a file that is open already."""

    def __init__(self, file: Begun, reading: Reading) -> None:
        super().__init__("-", reading)
        self.file = file

    def opened(self) -> TextFile:
        return self.file


class PipedLibsvm(Libsvm):
    """libsvm text from a file that is open already."""

    def __init__(self, file: Begun, reading: Reading) -> None:
        super().__init__("-", reading)
        self.file = file

    def __iter__(self) -> Iterator[Batch]:
        if self.started:
            raise BadValue("standard input can be read only once; put the rows into a file to read them again")
        self.started, rows = True, 0
        blocks = Blocks(self.file, self.reading, self.window, compiled())
        for batch, self.skipped in ahead(blocks.batches()):
            rows += len(batch.X)
            yield batch
        self.skipped = blocks.skipped
        if not rows:
            raise BadValue(f"{self.name}: holds no rows that can be used")
