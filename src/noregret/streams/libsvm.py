"""libsvm (svmlight) text as a source of rounds, parsed ahead by two more threads."""

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from noregret.data.batch import Batch
from noregret.data.blocks import Rows, SparseBlock
from noregret.errors import BadValue
from noregret.streams import libsvm_text as text
from noregret.streams.files import TextFile
from noregret.streams.libsvm_fault import what_is_wrong
from noregret.streams.number_text import BAD_VALUE, BLANK, FINE, HASH, PAD
from noregret.streams.prefetch import in_order
from noregret.streams.source import Reading, Source, number_in
from noregret.streams.text_blocks import Fault, Lines, Part, Stretch

WINDOW = 1 << 22  # bytes of text parsed at a time; from a file to a model smaller is slower, larger gains little
ROWS = 1 << 15  # rows in a batch, at most
SLOW = 4096  # numbers left to Python before their list must grow
THREADS = 2  # parsing takes several times as long as learning
NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", re.ASCII)
ENDLESS = ("nan", "inf", "infinity")
WHOLE = 2.0**53  # up to here a float holds every whole number

Parse = Callable[[np.ndarray, np.ndarray, text.Out], None]


class Libsvm(Source):
    """Rows of `label index:value ...` from a path, or - for standard input."""

    kind = "libsvm"
    takes = frozenset({"zero_based"})

    def __init__(self, path: str, reading: Reading) -> None:
        super().__init__()
        self.path, self.reading, self.zero_based = path, reading, reading.zero_based
        self.name = "standard input" if path == "-" else path
        self.window = WINDOW

    def __iter__(self) -> Iterator[Batch]:
        self.claim()
        file, begin = TextFile(self.path), number_in(self.start, "byte")
        file.go_to(begin)
        lines = Lines(file, self.window, begin)
        parse = compiled()
        count = min(THREADS, os.cpu_count() or 1)
        parsers = [Parser(self.reading, self.window, parse) for _ in range(count)]
        parts = in_order(parsers, lines.into, Parser.part, lines.file.close)
        try:
            yield from self.joined(parts)
        finally:
            parts.close()

    def needs_compiling(self) -> bool:
        from noregret.jit.compiled import is_cached

        return not is_cached(text.libsvm, places())

    def joined(self, parts: Iterable[Part]) -> Iterator[Batch]:
        """The batches of all parts, their lines counted through."""
        rows, lines = 0, number_in(self.start, "line")
        for part in parts:
            self.skipped += part.skipped
            for batch in part.batches:
                assert batch.lines is not None
                assert batch.position is not None
                rows += len(batch.X)
                position = {"byte": batch.position["byte"], "line": batch.position["line"] + lines}
                yield batch._replace(lines=batch.lines + lines, position=position)
            if part.fault is not None:
                line, why = part.fault
                raise BadValue(f"{self.name}:{lines + line}: {why}" if line else f"{self.name}: {why}")
            lines += part.lines
        self.must_hold(rows)


def compiled() -> Parse:
    """The parser at full speed."""
    from noregret.jit.compiled import compile_function

    return compile_function(text.libsvm, places())


def places() -> dict[str, tuple[int, Any]]:
    """Where the parser finds its arrays."""
    return {"buffer": (text.BUFFER, np.zeros(1, np.uint8)), "out": (text.OUT, text.room(1, 1, 1))}


def interpreted(table: np.ndarray, buffer: np.ndarray, out: text.Out) -> None:
    """The same text in plain Python."""
    with np.errstate(over="ignore"):
        text.parse_lines(buffer, out, table)


class Parser:
    """Batches from stretches of lines, one stretch at a time, in arrays that are filled again and again."""

    def __init__(self, reading: Reading, size: int, parse: Parse) -> None:
        self.reading, self.parse, self.size = reading, parse, size
        self.buffer = bytearray(size + PAD)
        self.out = text.room(size, ROWS, SLOW)
        self.table = np.zeros(text.SLOTS, np.int64)
        self.skipped = 0
        self.known: dict[bytes, Any] = {}
        self.words: dict[int, Any] = {}

    def part(self, stretch: Stretch | Part) -> Part:
        """The rows of a stretch; those of the block with a wrong line are left out."""
        if isinstance(stretch, Part):
            return stretch
        table, batches, fault = self.table, [], None
        table[:] = 0
        table[text.LINE], table[text.END] = 1, stretch.end
        table[text.BASE] = 0 if self.reading.zero_based else 1
        table[text.LABELLED] = self.reading.labelled
        self.skipped = 0
        room = len(stretch.buffer)
        out = self.out
        if room > self.size + PAD:
            self.out = text.room(room, ROWS, SLOW)
        try:
            while table[text.POSITION] < table[text.END]:
                self.block(stretch)
                if table[text.ROWS] > 0:
                    batches.append(self.batch(stretch))
        except Fault as found:
            fault = found.line, found.why
        self.out = out
        return Part(batches, int(table[text.LINE]) - 1, self.skipped, fault)

    def block(self, stretch: Stretch) -> None:
        """Parse until the arrays are full or the stretch ends."""
        table = self.table
        for slot in (text.ROWS, text.NONZEROS, text.SLOW, text.DISORDER):
            table[slot] = 0
        start = table.copy()
        buffer = np.frombuffer(stretch.buffer, np.uint8)
        while True:
            self.parse(table, buffer, self.out)
            if table[text.VERDICT] == FINE:
                if self.settled(stretch):
                    return
                table[:] = start
            elif table[text.VERDICT] == text.SLOW_FULL:
                more = np.concatenate([self.out.slow, np.empty_like(self.out.slow)])
                self.out = self.out._replace(slow=more)
            else:
                if not self.reading.lenient:
                    self.settled(stretch)  # an error in a line before goes first
                self.refuse(stretch, int(table[text.FAULT]), int(table[text.VERDICT]))

    def settled(self, stretch: Stretch) -> bool:
        """Have Python read the numbers that the parser could not; False if lines with infinite ones were struck out."""
        out, whole = self.out, True
        self.words = {}
        for where, first, last in out.slow[: self.table[text.SLOW]].tolist():
            if where >= 0:
                value = out.val[where] = float(stretch.buffer[first:last])
            else:
                value = out.y[-1 - where] = self.label(-1 - where, bytes(stretch.buffer[first:last]))
            if not math.isfinite(value):
                self.refuse(stretch, first, BAD_VALUE if where >= 0 else text.BAD_LABEL)
                whole = False
        return whole

    def label(self, row: int, written: bytes) -> float:
        """The label of a row that the parser could not read: a number, or a word that is noted; else nan."""
        if written not in self.known:
            self.known[written] = label_of(written)
        found = self.known[written]
        if isinstance(found, float):
            return found
        if self.reading.targets:
            return math.nan
        self.words[row] = found
        return 0.0

    def refuse(self, stretch: Stretch, at: int, verdict: int) -> None:
        """Raise the fault at a place; or make a comment of its line, which leaves it out."""
        buffer = stretch.buffer
        first = buffer.rfind(b"\n", 0, at) + 1
        if self.reading.lenient:
            if buffer[first] != HASH:
                buffer[first] = HASH
                self.skipped += 1
            return
        last = buffer.find(b"\n", at)
        if verdict == BAD_VALUE:
            at = start_of_feature(buffer, at)
        why = what_is_wrong(bytes(buffer[first:last]), at - first, verdict, int(self.table[text.BASE]))
        if stretch.cut_off and last == stretch.end - 1:
            why += "; the last line has no end, so the file may be cut off"
        raise Fault(buffer.count(b"\n", 0, first) + 1, why)

    def batch(self, stretch: Stretch) -> Batch:
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
        byte = stretch.begin + min(int(table[text.POSITION]), stretch.end - stretch.cut_off)
        position = {"byte": byte, "line": int(table[text.LINE]) - 1}
        query = out.query[:rows].copy()
        return Batch(
            Rows(block),
            self.labels(out.y[:rows]),
            out.lines[:rows].copy(),
            stretch.done,
            position=position,
            query=query if bool((query != text.NO_QUERY).any()) else None,
        )

    def labels(self, y: np.ndarray) -> Any:
        """Whole numbers where all of them are; None where no row has a label; a list where some are words."""
        if self.words:
            return [self.words.get(row, plain(value)) for row, value in enumerate(y.tolist())]
        if not self.reading.labelled and bool(np.isnan(y).all()):
            return None
        if not self.reading.targets and bool(((np.rint(y) == y) & (np.abs(y) < WHOLE)).all()):
            return y.astype(np.int64)
        return y.copy()


def plain(value: float) -> int | float | None:
    if math.isnan(value):
        return None
    return int(value) if value.is_integer() and abs(value) < WHOLE else value


def label_of(written: bytes) -> Any:
    """A label by its text: a number, a word that begins with a letter, or several of them; else nan."""
    try:
        word = written.decode()
    except UnicodeDecodeError:
        return math.nan
    if NUMBER.fullmatch(word):
        return float(word)
    if "," in word:
        parts = [label_of(part.encode()) for part in word.split(",")]
        sound = all(not isinstance(part, float) or math.isfinite(part) for part in parts)
        return tuple(plain(part) if isinstance(part, float) else part for part in parts) if sound else math.nan
    return word if word[:1].isalpha() and word.isprintable() and word.lower() not in ENDLESS else math.nan


def start_of_feature(line: bytearray, fault: int) -> int:
    """Where the feature begins that a value belongs to."""
    while fault > 0 and line[fault - 1] > BLANK:
        fault -= 1
    return fault
