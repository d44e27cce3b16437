"""A text file line by line, for formats that are read in Python."""

from collections.abc import Iterator

from noregret.errors import BadValue
from noregret.streams.files import TextFile, Unreadable

LONGEST = 1 << 27  # bytes of a line
PIECE = 1 << 18


class TooLong:
    """A line that was read over because nobody could hold it."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size


def lines_of(
    file: TextFile, name: str, line: int = 0, lenient: bool = False, longest: int | None = None
) -> Iterator[bytes | TooLong]:
    """Every line with its end, the last may have none, after `line` others; one that is too long is refused, or told as
    such where the reader is lenient."""
    longest = LONGEST if longest is None else longest
    rest: list[bytes] = []
    size = 0  # of the line so far; `rest` holds nothing of it once it is too long
    room = bytearray(PIECE)
    while got := read_into(file, room, name, line):
        *whole, last = bytes(memoryview(room)[:got]).split(b"\n")
        for part in whole:
            size += len(part)
            if size > longest:
                must_be_lenient(lenient, name, line + 1, longest)
            yield b"".join((*rest, part, b"\n")) if size <= longest else TooLong(size + 1)
            rest, size, line = [], 0, line + 1
        size += len(last)
        rest.append(last)
        if size > longest:
            must_be_lenient(lenient, name, line + 1, longest)
            rest = []
    if size:
        yield b"".join(rest) if size <= longest else TooLong(size)


def must_be_lenient(lenient: bool, name: str, line: int, longest: int) -> None:
    """Refuse a line that is too long, unless such lines are left out."""
    if not lenient:
        limit = f"{longest >> 20} MB" if longest >= 1 << 20 else f"{longest} bytes"
        raise BadValue(f"{name}:{line}: the line is longer than {limit}; is this the right format?")


def read_into(file: TextFile, room: bytearray, name: str, line: int) -> int:
    """Read on; where that is not possible, say after how many lines."""
    try:
        return file.readinto(room)
    except Unreadable as error:
        raise located(error, name, line + 1) from None


def located(error: Unreadable, name: str, line: int) -> BadValue:
    """The error, with the line it is in; `line` is the one in which reading began that failed."""
    line += error.line - 1
    return BadValue(f"{name}:{line}: {error.why}") if line > 1 else error
