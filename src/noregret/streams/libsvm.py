"""libsvm (svmlight) text as a source of rounds, parsed by two threads ahead of the learner."""

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.batch import Batch
from noregret.data.blocks import Rows, SparseBlock
from noregret.errors import BadValue
from noregret.streams import libsvm_text as text
from noregret.streams.files import TextFile
from noregret.streams.libsvm_fault import describe_fault
from noregret.streams.number_text import BAD_VALUE, BLANK, FINE, HASH, PAD
from noregret.streams.prefetch import map_in_order
from noregret.streams.read_options import ReadOptions
from noregret.streams.source import SPARSE_ROWS, Source, read_position
from noregret.streams.text_blocks import LineFault, ParsedBlock, TextBlock, TextBlocks

WINDOW = 1 << 23  # bytes of text parsed at a time; less is slower, most of all for many learners side by side
ROWS = 1 << 15  # rows in a batch, at most
DEFERRED = 4096  # numbers left to Python before their list must grow
THREADS = 2  # parsing takes several times as long as learning
NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", re.ASCII)
NOT_FINITE = ("nan", "inf", "infinity")
EXACT = 2.0**53  # up to here a float holds every integer

Parse = Callable[[NDArray[np.int64], NDArray[np.uint8], text.Out], None]


class Libsvm(Source):
    """Rows of `label index:value ...` from a path, or - for standard input."""

    kind = "libsvm"
    accepts = frozenset({"zero_based"})
    learner_defaults = SPARSE_ROWS

    def __init__(self, path: str, options: ReadOptions) -> None:
        super().__init__()
        self.path, self.options, self.zero_based = path, options, options.zero_based
        self.name = "standard input" if path == "-" else path
        self.window = WINDOW

    def __iter__(self) -> Iterator[Batch]:
        self.begin()
        file, begin = TextFile(self.path, self.options.live), read_position(self.start, "byte")
        file.seek_to(begin)
        blocks = TextBlocks(file, self.window, begin)
        parse = compile_parser()
        count = min(THREADS, os.cpu_count() or 1)
        parsers = [Parser(self.options, self.window, parse) for _ in range(count)]
        parts = map_in_order(parsers, blocks.read_into, Parser.parse_block, blocks.file.close)
        try:
            yield from self.join_blocks(parts)
        finally:
            parts.close()

    def needs_compiling(self) -> bool:
        from noregret.jit.compiled import is_cached

        return not is_cached(text.libsvm, parser_slots())

    def join_blocks(self, parts: Iterable[ParsedBlock]) -> Iterator[Batch]:
        """Yield the batches of all blocks, with line numbers of the whole file."""
        rows, lines = 0, read_position(self.start, "line")
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
        self.check_not_empty(rows)


def compile_parser() -> Parse:
    """Return the compiled parser."""
    from noregret.jit.compiled import compile_function

    return compile_function(text.libsvm, parser_slots())


def parser_slots() -> dict[str, tuple[int, Any]]:
    """Return the slot of every array of the compiled parser, with an example of the array."""
    return {"buffer": (text.BUFFER, np.zeros(1, np.uint8)), "out": (text.OUT, text.allocate(1, 1, 1))}


def run_interpreted(table: NDArray[np.int64], buffer: NDArray[np.uint8], out: text.Out) -> None:
    """Run the parser as plain Python."""
    with np.errstate(over="ignore"):
        text.parse_lines(buffer, out, table)


class Parser:
    """Parses blocks of lines, one at a time, in arrays that are reused."""

    def __init__(self, options: ReadOptions, size: int, parse: Parse) -> None:
        self.options, self.parse, self.size = options, parse, size
        self.buffer = bytearray(size + PAD)
        self.out = text.allocate(size, ROWS, DEFERRED)
        self.table = np.zeros(text.SLOTS, np.int64)
        self.skipped = 0
        self.known: dict[bytes, Any] = {}  # labels that the compiled parser could not read
        self.words: dict[int, Any] = {}  # the labels of a batch that are words, by row

    def parse_block(self, block: TextBlock | ParsedBlock) -> ParsedBlock:
        """Return the batches of a block, without the batch that has a faulty line."""
        if isinstance(block, ParsedBlock):
            return block
        table, batches, fault = self.table, [], None
        table[:] = 0
        table[text.LINE], table[text.END] = 1, block.end
        table[text.BASE] = 0 if self.options.zero_based else 1
        table[text.LABELLED] = self.options.labelled
        self.skipped = 0
        room = len(block.buffer)
        out = self.out
        if room > self.size + PAD:
            self.out = text.allocate(room, ROWS, DEFERRED)
        try:
            while table[text.POSITION] < table[text.END]:
                self.parse_rows(block)
                if table[text.ROWS] > 0:
                    batches.append(self.make_batch(block))
        except LineFault as error:
            fault = error.line, error.why
        self.out = out
        return ParsedBlock(batches, int(table[text.LINE]) - 1, self.skipped, fault)

    def parse_rows(self, block: TextBlock) -> None:
        """Parse until the arrays are full or the block ends."""
        table = self.table
        for slot in (text.ROWS, text.NONZEROS, text.DEFERRED, text.UNSORTED):
            table[slot] = 0
        start = table.copy()
        buffer = np.frombuffer(block.buffer, np.uint8)
        while True:
            self.parse(table, buffer, self.out)
            if table[text.STATUS] == FINE:
                if self.read_deferred(block):
                    return
                table[:] = start
            elif table[text.STATUS] == text.DEFERRED_FULL:
                more = np.concatenate([self.out.deferred, np.empty_like(self.out.deferred)])
                self.out = self.out._replace(deferred=more)
            else:
                if not self.options.lenient:
                    self.read_deferred(block)  # a fault in an earlier line is reported first
                self.refuse(block, int(table[text.FAULT]), int(table[text.STATUS]))

    def read_deferred(self, block: TextBlock) -> bool:
        """Read the numbers that were left to Python; return False if lines with infinite ones were removed."""
        out, complete = self.out, True
        self.words = {}
        for where, first, last in out.deferred[: self.table[text.DEFERRED]].tolist():
            if where >= 0:
                value = out.val[where] = float(block.buffer[first:last])
            else:
                value = out.y[-1 - where] = self.read_label(-1 - where, bytes(block.buffer[first:last]))
            if not math.isfinite(value):
                self.refuse(block, first, BAD_VALUE if where >= 0 else text.BAD_LABEL)
                complete = False
        return complete

    def read_label(self, row: int, label: bytes) -> float:
        """Return the label of a row if it is a number; a word is stored in `words`; NaN if it cannot be used."""
        if label not in self.known:
            self.known[label] = parse_label(label)
        value = self.known[label]
        if isinstance(value, float):
            return value
        if self.options.targets:
            return math.nan
        self.words[row] = value
        return 0.0

    def refuse(self, block: TextBlock, at: int, status: int) -> None:
        """Raise the fault at a position; or, if bad rows are skipped, turn its line into a comment."""
        buffer = block.buffer
        first = buffer.rfind(b"\n", 0, at) + 1
        if self.options.lenient:
            if buffer[first] != HASH:
                buffer[first] = HASH
                self.skipped += 1
            return
        last = buffer.find(b"\n", at)
        if status == BAD_VALUE:
            at = find_feature_start(buffer, at)
        why = describe_fault(bytes(buffer[first:last]), at - first, status, int(self.table[text.BASE]))
        if block.cut_off and last == block.end - 1:
            why += "; the last line has no end, so the file may be cut off"
        raise LineFault(buffer.count(b"\n", 0, first) + 1, why)

    def make_batch(self, block: TextBlock) -> Batch:
        """Copy the parsed rows to a batch, because the arrays are reused."""
        table, out = self.table, self.out
        rows, values = int(table[text.ROWS]), int(table[text.NONZEROS])
        X = SparseBlock(
            out.indptr[: rows + 1].copy(),
            out.idx[:values].copy(),
            out.val[:values].copy(),
            int(table[text.WIDTH]),
            ready=bool(table[text.UNSORTED] == 0),
        )
        byte = block.begin + min(int(table[text.POSITION]), block.end - block.cut_off)
        position = {"byte": byte, "line": int(table[text.LINE]) - 1}
        query = out.query[:rows].copy()
        return Batch(
            Rows(X),
            self.labels(out.y[:rows]),
            out.lines[:rows].copy(),
            block.progress,
            position=position,
            query=query if bool((query != text.NO_QUERY).any()) else None,
        )

    def labels(self, y: NDArray[np.float64]) -> Any:
        """Return labels as integers if all are, as a list if some are words; None if no row has one."""
        if self.words:
            return [self.words.get(row, as_integer(value)) for row, value in enumerate(y.tolist())]
        if not self.options.labelled and bool(np.isnan(y).all()):
            return None
        if not self.options.targets and bool(((np.rint(y) == y) & (np.abs(y) < EXACT)).all()):
            return y.astype(np.int64)
        return y.copy()


def as_integer(value: float) -> int | float | None:
    """Convert a float to an integer if it is one; NaN to None."""
    if math.isnan(value):
        return None
    return int(value) if value.is_integer() and abs(value) < EXACT else value


def parse_label(label: bytes) -> Any:
    """Convert the text of a label: a number, a word that begins with a letter, several with commas; else NaN."""
    try:
        word = label.decode()
    except UnicodeDecodeError:
        return math.nan
    if NUMBER.fullmatch(word):
        return float(word)
    if "," in word:
        parts = [parse_label(part.encode()) for part in word.split(",")]
        sound = all(not isinstance(part, float) or math.isfinite(part) for part in parts)
        return tuple(as_integer(part) if isinstance(part, float) else part for part in parts) if sound else math.nan
    return word if word[:1].isalpha() and word.isprintable() and word.lower() not in NOT_FINITE else math.nan


def find_feature_start(line: bytearray, fault: int) -> int:
    """Return where the feature begins that a value belongs to."""
    while fault > 0 and line[fault - 1] > BLANK:
        fault -= 1
    return fault
