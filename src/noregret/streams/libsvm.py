"""libsvm (svmlight) text as a source of rounds, parsed ahead by a second thread."""

import math
from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy as np

from noregret.chunk import Rows, SparseBlock
from noregret.errors import BadValue
from noregret.streams import libsvm_text as text
from noregret.streams.ahead import ahead
from noregret.streams.files import TextFile, Unreadable
from noregret.streams.libsvm_fault import what_is_wrong
from noregret.streams.source import Batch, Reading, Source

WINDOW = 1 << 22  # bytes of text parsed at a time: the fastest of 0.5 to 8 MB from a file to a model
ROWS = 1 << 15  # rows in a batch, at most
LONGEST = 1 << 30  # bytes in a line, at most
SLOW = 4096  # numbers left to Python before their list must grow
MARK = b"\xef\xbb\xbf"  # what some editors put before the text
WHOLE = 2.0**53  # up to here a float holds every whole number

Parse = Callable[[np.ndarray, np.ndarray, text.Out], None]


class Libsvm(Source):
    """Rows of `label index:value ...` from a path, or - for standard input."""

    kind = "libsvm"

    def __init__(self, path: str, reading: Reading) -> None:
        super().__init__()
        self.path, self.reading, self.zero_based = path, reading, reading.zero_based
        self.name = "standard input" if path == "-" else path
        self.window = WINDOW
        self.started = False

    def __iter__(self) -> Iterator[Batch]:
        if self.path == "-" and self.started:
            raise BadValue("standard input can be read only once; put the rows into a file to read them again")
        self.started = True
        self.skipped = 0
        rows = 0
        parse = compiled()
        blocks = Blocks(TextFile(self.path), self.reading, self.window, parse)
        for batch, self.skipped in ahead(blocks.batches()):
            rows += len(batch.X)
            yield batch
        self.skipped = blocks.skipped
        if rows == 0:
            why = f" that can be used: {self.skipped} were skipped" if self.skipped else ""
            raise BadValue(f"{self.name}: holds no rows{why}")


def compiled() -> Parse:
    """The parser at full speed."""
    from noregret import native

    examples = {"buffer": (text.BUFFER, np.zeros(1, np.uint8)), "out": (text.OUT, text.room(1, 1, 1))}
    return native.text_reader(text.libsvm, examples)


def interpreted(table: np.ndarray, buffer: np.ndarray, out: text.Out) -> None:
    """The same text in plain Python."""
    with np.errstate(over="ignore"):
        text.parse_lines(buffer, out, table)


class Window:
    """The part of a file that is in memory: it slides along, and always ends with a whole line."""

    def __init__(self, file: TextFile, size: int) -> None:
        self.file, self.size = file, size
        self.filled = self.end = 0
        self.over = self.cut_off = False
        self.bytes = bytearray(size + text.PAD)

    @property
    def room(self) -> int:
        return len(self.bytes) - text.PAD

    def resize(self, size: int) -> None:
        """The same text in a buffer of another size."""
        bigger = bytearray(size + text.PAD)
        bigger[: self.filled] = memoryview(self.bytes)[: self.filled]
        self.bytes = bigger

    def slide(self) -> bool:
        """Move on to the next whole lines; False if there are none. A line longer than the window makes it grow."""
        rest = self.bytes[self.end : self.filled]
        self.bytes[: len(rest)] = rest
        self.filled = len(rest)
        if self.room > self.size > self.filled:
            self.resize(self.size)
        self.end = 0
        while not (self.end or self.over):
            if self.filled == self.room:
                self.resize(2 * self.longer())
            self.fill()
            self.end = self.bytes.rfind(b"\n", 0, self.filled) + 1
        if self.over and self.filled > self.end:
            self.cut_off = True
            self.bytes[self.filled] = text.NEWLINE
            self.end = self.filled = self.filled + 1
        return self.end > 0

    def longer(self) -> int:
        """The room there is, if a line may take more."""
        if self.bytes.find(b"\0", 0, self.filled) >= 0:
            raise Unreadable(self.file.name, "this is not libsvm text but binary data")
        if self.room >= LONGEST:
            raise Unreadable(self.file.name, f"a line is longer than {LONGEST >> 20} MB; is it libsvm text?")
        return self.room

    def fill(self) -> None:
        view = memoryview(self.bytes)
        while self.filled < self.room and not self.over:
            got = self.file.readinto(view[self.filled : self.room])
            self.filled += got
            self.over = got == 0


class Blocks:
    """Rows from a file, one batch after another. Nothing in it depends on time: only on the file and the sizes."""

    def __init__(self, file: TextFile, reading: Reading, size: int, parse: Parse) -> None:
        self.file, self.reading, self.parse = file, reading, parse
        self.window = Window(file, size)
        self.size = size
        self.out = text.room(size, ROWS, SLOW)
        self.table = np.zeros(text.SLOTS, np.int64)
        self.table[text.LINE] = 1
        self.table[text.BASE] = 0 if reading.zero_based else 1
        self.table[text.LABELLED] = reading.labelled
        self.skipped = 0

    def batches(self) -> Generator[tuple[Batch, int], None, None]:
        """Every batch, and how many lines were skipped up to its end."""
        table, first = self.table, True
        with self.file:
            while self.slide():
                table[text.POSITION] = len(MARK) if first and self.window.bytes.startswith(MARK) else 0
                table[text.END] = self.window.end
                first = False
                while table[text.POSITION] < table[text.END]:
                    self.block()
                    if table[text.ROWS] > 0:
                        yield self.batch(), self.skipped

    def slide(self) -> bool:
        window = self.window
        try:
            there = window.slide()
        except Unreadable as error:
            line = int(self.table[text.LINE]) + window.bytes.count(b"\n", 0, window.filled)
            if line == 1:
                raise
            raise BadValue(f"{self.file.name}:{line}: {error.why}") from None
        if window.room != self.size:
            self.size = window.room
            self.out = text.room(window.room, ROWS, SLOW)
        return there

    def block(self) -> None:
        """Parse until the arrays are full or the window ends."""
        table = self.table
        for slot in (text.ROWS, text.NONZEROS, text.SLOW, text.DISORDER):
            table[slot] = 0
        start = table.copy()
        buffer = np.frombuffer(self.window.bytes, np.uint8)
        while True:
            self.parse(table, buffer, self.out)
            if table[text.VERDICT] == text.FINE:
                if self.settled(start):
                    return
                table[:] = start
            elif table[text.VERDICT] == text.SLOW_FULL:
                more = np.concatenate([self.out.slow, np.empty_like(self.out.slow)])
                self.out = self.out._replace(slow=more)
            else:
                self.refuse_or_skip(start)

    def settled(self, start: np.ndarray) -> bool:
        """Have Python read the numbers that the parser could not; False if lines with infinite ones were struck out."""
        out, whole = self.out, True
        for where, first, last in out.slow[: self.table[text.SLOW]].tolist():
            value = float(self.window.bytes[first:last])
            if where >= 0:
                out.val[where] = value
            else:
                out.y[-1 - where] = value
            if not math.isfinite(value):
                self.refuse(first, text.BAD_VALUE if where >= 0 else text.BAD_LABEL, start)
                whole = False
        return whole

    def refuse_or_skip(self, start: np.ndarray) -> None:
        """A line that cannot be parsed: an error, or parsing goes on after it. An error in a line before goes first."""
        table = self.table
        if not self.reading.skip:
            self.settled(start)
        self.refuse(int(table[text.FAULT]), int(table[text.VERDICT]), start)

    def refuse(self, fault: int, verdict: int, start: np.ndarray) -> None:
        """Raise the error at a place in the window; or make a comment of its line, which leaves it out."""
        window = self.window
        first = max(window.bytes.rfind(b"\n", 0, fault) + 1, int(start[text.POSITION]))
        if self.reading.skip:
            if window.bytes[first] != text.HASH:
                window.bytes[first] = text.HASH
                self.skipped += 1
            return
        last = window.bytes.find(b"\n", fault)
        line = int(start[text.LINE]) + window.bytes.count(b"\n", int(start[text.POSITION]), first)
        if verdict == text.BAD_VALUE:
            fault = start_of_feature(window.bytes, fault)
        why = what_is_wrong(bytes(window.bytes[first:last]), fault - first, verdict, int(start[text.BASE]))
        if window.cut_off and last == window.end - 1:
            why += "; the last line has no end, so the file may be cut off"
        raise BadValue(f"{self.file.name}:{line}: {why}")

    def batch(self) -> Batch:
        """A copy of what was parsed, because the arrays are filled again."""
        table, out = self.table, self.out
        rows, values = int(table[text.ROWS]), int(table[text.NONZEROS])
        block = SparseBlock(
            out.indptr[: rows + 1].copy(),
            out.idx[:values].copy(),
            out.val[:values].copy(),
            int(table[text.WIDTH]),
            ready=bool(table[text.DISORDER] == 0),
        )
        return Batch(Rows(block), self.labels(out.y[:rows]), out.lines[:rows].copy(), self.file.progress())

    def labels(self, y: np.ndarray) -> Any:
        """Whole numbers where all of them are; None where no row has a label."""
        if not self.reading.labelled and bool(np.isnan(y).all()):
            return None
        if not self.reading.targets and bool(((np.rint(y) == y) & (np.abs(y) < WHOLE)).all()):
            return y.astype(np.int64)
        return y.copy()


def start_of_feature(line: bytearray, fault: int) -> int:
    """Where the feature begins that a value belongs to."""
    while fault > 0 and line[fault - 1] > text.BLANK:
        fault -= 1
    return fault
