"""Blocks of whole lines of a text file, and what a parser makes of each."""

from typing import Any, NamedTuple

from noregret.streams.files import TextFile, Unreadable
from noregret.streams.number_text import NEWLINE, PAD

LONGEST = 1 << 30  # bytes in a line, at most
MARK = b"\xef\xbb\xbf"  # what some editors put before the text


class Stretch(NamedTuple):
    """Whole lines of a file: buffer[:end]; whether the last one lacked its end; the share of the file read by then; and
    from which byte of the text on they stand."""

    buffer: bytearray
    end: int
    cut_off: bool
    done: float | None
    begin: int


class Part(NamedTuple):
    """What a stretch of lines holds; a fault is a line, counted from the stretch's first, and what is wrong there."""

    batches: list[Any]
    lines: int
    skipped: int
    fault: tuple[int, str] | None = None


class Lines:
    """A file, handed out in stretches of whole lines. Where they end depends on the file and the size alone."""

    def __init__(self, file: TextFile, size: int, begin: int = 0, kind: str = "libsvm") -> None:
        self.file, self.size, self.begin, self.kind = file, size, begin, kind
        self.rest = b""
        self.first, self.over = begin == 0, False

    def into(self, parser: Any) -> Stretch | Part | None:
        """The next stretch in a parser's buffer, or in a longer one if a line is; a Part where the file is broken."""
        buffer, filled, end = parser.buffer, len(self.rest), 0
        if filled > len(buffer) - PAD:
            buffer = bytearray(filled + PAD)
        buffer[:filled] = self.rest
        try:
            while not (end or self.over):
                if filled == len(buffer) - PAD:
                    buffer = self.longer(buffer, filled)
                filled = self.fill(buffer, filled)
                end = buffer.rfind(b"\n", 0, filled) + 1
        except Unreadable as error:
            self.over, self.rest = True, b""
            broken = (error.line, error.why) if (error.line, self.first) != (1, True) else (0, error.why)
            return Part([], 0, 0, broken)
        return self.handed_out(buffer, filled, end)

    def handed_out(self, buffer: bytearray, filled: int, end: int) -> Stretch | None:
        if self.first and buffer.startswith(MARK):
            buffer[: len(MARK)] = b" " * len(MARK)
        cut_off = self.over and filled > end
        if cut_off:
            buffer[filled] = NEWLINE
            end = filled = filled + 1
        self.first = False
        self.rest = bytes(memoryview(buffer)[end:filled])
        begin, self.begin = self.begin, self.begin + end - cut_off
        return Stretch(buffer, end, cut_off, self.file.progress(), begin) if end else None

    def fill(self, buffer: bytearray, filled: int) -> int:
        view, room = memoryview(buffer), len(buffer) - PAD
        while filled < room and not self.over:
            try:
                got = self.file.readinto(view[filled:room])
            except Unreadable as error:
                error.line = buffer.count(b"\n", 0, filled) + 1
                raise
            filled += got
            self.over = got == 0
        return filled

    def longer(self, buffer: bytearray, filled: int) -> bytearray:
        """The same bytes with room for as many more, if a line may take that."""
        if buffer.find(b"\0", 0, filled) >= 0:
            raise Unreadable(self.file.name, f"this is not {self.kind} text but binary data")
        if filled >= LONGEST:
            raise Unreadable(self.file.name, f"a line is longer than {LONGEST >> 20} MB; is it {self.kind} text?")
        bigger = bytearray(2 * filled + PAD)
        bigger[:filled] = memoryview(buffer)[:filled]
        return bigger


class Fault(Exception):
    """A wrong line of a stretch."""

    def __init__(self, line: int, why: str) -> None:
        self.line, self.why = line, why
