"""Reads a text file line by line, for formats that are parsed in Python."""

from collections.abc import Iterator

from noregret.errors import BadValue
from noregret.streams.files import LONGEST_LINE, TextFile, Unreadable

LONGEST = LONGEST_LINE
BLOCK_BYTES = 1 << 18  # bytes read at a time


class Pause:
    """Stands between lines of a live pipe: those that had come are read."""


PAUSE = Pause()


class LongLine:
    """A line that was skipped because it is too long; only its length is known."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size


def read_lines(
    file: TextFile, name: str, line: int = 0, lenient: bool = False, longest: int | None = None
) -> Iterator[bytes | LongLine | Pause]:
    """Yield every line with its newline, which the last one may lack; `line` lines were read before.

    A line that is too long is an error, or with `lenient` a LongLine. Of a live file a Pause follows what had come.
    """
    longest = LONGEST if longest is None else longest
    rest: list[bytes] = []
    size = 0  # of the current line so far; `rest` is empty once it is too long
    buffer, live = bytearray(BLOCK_BYTES), getattr(file, "live", False)
    while got := read_block(file, buffer, name, line):
        *whole, last = bytes(memoryview(buffer)[:got]).split(b"\n")
        for part in whole:
            size += len(part)
            if size > longest:
                refuse_long_line(lenient, name, line + 1, longest)
            yield b"".join((*rest, part, b"\n")) if size <= longest else LongLine(size + 1)
            rest, size, line = [], 0, line + 1
        size += len(last)
        rest.append(last)
        if size > longest:
            refuse_long_line(lenient, name, line + 1, longest)
            rest = []
        if live:
            yield PAUSE
    if size:
        yield b"".join(rest) if size <= longest else LongLine(size)


def refuse_long_line(lenient: bool, name: str, line: int, longest: int) -> None:
    """Raise an error for a line that is too long, unless such lines are skipped."""
    if not lenient:
        limit = f"{longest >> 20} MB" if longest >= 1 << 20 else f"{longest} bytes"
        raise BadValue(f"{name}:{line}: the line is longer than {limit}; is this the right format?")


def read_block(file: TextFile, buffer: bytearray, name: str, line: int) -> int:
    """Read the next bytes; an error names the line."""
    try:
        return file.readinto(buffer)
    except Unreadable as error:
        raise add_line_number(error, name, line + 1) from None


def add_line_number(error: Unreadable, name: str, line: int) -> BadValue:
    """Return the error with a line number; `line` is the line where the failed read began."""
    line += error.line - 1
    return BadValue(f"{name}:{line}: {error.why}") if line > 1 or error.in_line else error
