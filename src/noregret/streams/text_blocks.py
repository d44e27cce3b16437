"""Blocks of whole lines of a text file, and what a parser makes of each; shared by libsvm and Vowpal Wabbit."""

from typing import Any, NamedTuple

from noregret.streams.files import LONGEST_LINE, TextFile, Unreadable
from noregret.streams.number_text import NEWLINE, PAD

LONGEST = LONGEST_LINE
BOM = b"\xef\xbb\xbf"  # the byte order mark that some editors put before the text


class TextBlock(NamedTuple):
    """Whole lines, buffer[:end], which begin at byte `begin` of the text.

    `cut_off` says that the last line of the file had no newline; `progress` is the share of the file read so far.
    """

    buffer: bytearray
    end: int
    cut_off: bool
    progress: float | None
    begin: int


class ParsedBlock(NamedTuple):
    """The batches of a block, its number of lines, and the lines skipped.

    A fault is a line, counted from 1 at the start of the block, and what is wrong there.
    """

    batches: list[Any]
    lines: int
    skipped: int
    fault: tuple[int, str] | None = None


class TextBlocks:
    """Cuts a file into blocks of whole lines; where they end depends only on the file and the block size."""

    def __init__(self, file: TextFile, size: int, begin: int = 0, kind: str = "libsvm") -> None:
        self.file, self.size, self.begin, self.kind = file, size, begin, kind
        self.rest = b""
        self.first, self.over = begin == 0, False
        self.live = getattr(file, "live", False)

    def read_into(self, parser: Any) -> TextBlock | ParsedBlock | None:
        """Read the next block into a parser's buffer, or into a longer one for a long line.

        Returns None at the end, and a ParsedBlock with a fault where the file cannot be read.
        """
        buffer, filled, end = parser.buffer, len(self.rest), 0
        if filled > len(buffer) - PAD:
            buffer = bytearray(filled + PAD)
        buffer[:filled] = self.rest
        try:
            while not (end or self.over):
                if filled == len(buffer) - PAD:
                    buffer = self.double_buffer(buffer, filled)
                filled = self.fill(buffer, filled)
                end = buffer.rfind(b"\n", 0, filled) + 1
        except Unreadable as error:
            self.over, self.rest = True, b""
            named = error.in_line or (error.line, self.first) != (1, True)
            return ParsedBlock([], 0, 0, (error.line if named else 0, error.why))
        return self.cut_block(buffer, filled, end)

    def cut_block(self, buffer: bytearray, filled: int, end: int) -> TextBlock | None:
        """Return the whole lines of a buffer as a block, and keep the rest for the next one."""
        if self.first and buffer.startswith(BOM):
            buffer[: len(BOM)] = b" " * len(BOM)
        cut_off = self.over and filled > end
        if cut_off:
            buffer[filled] = NEWLINE
            end = filled = filled + 1
        self.first = False
        self.rest = bytes(memoryview(buffer)[end:filled])
        begin, self.begin = self.begin, self.begin + end - cut_off
        return TextBlock(buffer, end, cut_off, self.file.progress(), begin) if end else None

    def fill(self, buffer: bytearray, filled: int) -> int:
        """Read until the buffer is full or the file ends; return how many bytes it holds. A live file is read once."""
        view, room = memoryview(buffer), len(buffer) - PAD
        while filled < room and not self.over:
            try:
                got = self.file.readinto(view[filled:room])
            except Unreadable as error:
                error.line = buffer.count(b"\n", 0, filled) + 1
                raise
            filled += got
            self.over = got == 0
            if self.live:
                break
        return filled

    def double_buffer(self, buffer: bytearray, filled: int) -> bytearray:
        """Return a buffer twice as long for a long line; refuse binary data and lines that are too long."""
        if buffer.find(b"\0", 0, filled) >= 0:
            raise Unreadable(self.file.name, f"this is not {self.kind} text but binary data")
        if filled >= LONGEST:
            raise Unreadable(self.file.name, f"a line is longer than {LONGEST >> 20} MB; is it {self.kind} text?", True)
        longer = bytearray(2 * filled + PAD)
        longer[:filled] = memoryview(buffer)[:filled]
        return longer


class LineFault(Exception):
    """A line of a block that cannot be used, counted from 1 at the start of the block."""

    def __init__(self, line: int, why: str) -> None:
        self.line, self.why = line, why
