"""A text file line by line, for formats that are read in Python."""

from collections.abc import Iterator

from noregret.errors import BadValue
from noregret.streams.files import TextFile

LONGEST = 1 << 27  # bytes of a line
PIECE = 1 << 18


def lines_of(file: TextFile, name: str, longest: int = LONGEST) -> Iterator[bytes]:
    """Every line with its end; the last may have none."""
    rest: list[bytes] = []
    size = 0
    room = bytearray(PIECE)
    while got := file.readinto(memoryview(room)):
        *whole, last = bytes(room[:got]).split(b"\n")
        for line in whole:
            yield b"".join((*rest, line, b"\n"))
            rest, size = [], 0
        rest.append(last)
        size += len(last)
        if size > longest:
            raise BadValue(f"{name}: a line is longer than {longest >> 20} MB; is this the right format?")
    if size:
        yield b"".join(rest)
