"""Blocks of whole lines of a table, and their columns as the fast parsers read them, in two threads where compiled."""

import os
from collections.abc import Callable, Generator
from typing import NamedTuple

import numpy as np

from noregret.streams.files import LONGEST_LINE, TextFile, Unreadable
from noregret.streams.number_text import PAD
from noregret.streams.prefetch import map_in_order
from noregret.streams.table_parser import Columns, TableParser

LONGEST = LONGEST_LINE
THREADS = 2
MAX_FAILURES = 8  # blocks that the compiled parser may fail on before it is given up


class LineBlock(NamedTuple):
    """Whole lines, buffer[:end], and the share of the file read so far."""

    buffer: bytearray
    end: int
    progress: float | None


class ParsedLines(NamedTuple):
    """The columns of a block, or its text if the compiled parser could not read it; its number of lines and bytes."""

    columns: Columns | None
    text: bytes
    lines: int
    size: int
    progress: float | None


class LineBlocks:
    """Cuts a text into blocks of whole lines; where they end depends only on the text and the block size."""

    def __init__(self, file: TextFile, head: bytes, first: int, size: int) -> None:
        """Start at byte `first` of the text; its head was read already."""
        if first > len(head):
            file.skip_bytes(first - len(head), first)
        self.file, self.head, self.size = file, memoryview(head)[first:], size
        self.rest = b""
        self.live = getattr(file, "live", False)
        self.reads = 0  # reads that the current line needed so far

    def read_into(self, parser: "BlockParser") -> LineBlock | None:
        """Read the next block into a parser's buffer, or into a longer one for a long line."""
        buffer, filled, cut = parser.buffer, len(self.rest), 0
        buffer = grow_buffer(buffer, 0, filled + self.size)
        buffer[:filled] = self.rest
        self.rest = b""
        while not cut:
            buffer = grow_buffer(buffer, filled, filled + self.size)
            got = self.fill(memoryview(buffer)[filled : filled + self.size])
            if not got:
                return LineBlock(buffer, filled, self.file.progress()) if filled else None
            cut = buffer.rfind(b"\n", filled, filled + got) + 1
            filled += got
            self.reads = 1 if cut else self.reads + 1
            if self.reads * got > LONGEST:
                raise Unreadable(self.file.name, f"a line is longer than {LONGEST >> 20} MB; is this a table?", True)
        self.rest = bytes(memoryview(buffer)[cut:filled])
        return LineBlock(buffer, cut, self.file.progress())

    def fill(self, buffer: memoryview) -> int:
        """Read the next bytes into a buffer; return how many, fewer than it holds where the head or the file ends."""
        got, more = len(self.head[: len(buffer)]), 1
        if got:
            buffer[:got], self.head = self.head[:got], self.head[got:]
            return got
        while got < len(buffer) and more:
            try:
                more = self.file.readinto(buffer[got:])
            except Unreadable as error:
                error.line += bytes(buffer[:got]).count(b"\n")
                raise
            got += more
            if self.live:
                break
        return got


def grow_buffer(buffer: bytearray, filled: int, size: int) -> bytearray:
    """Return a buffer for so many bytes, with the bytes that are already filled."""
    if len(buffer) >= size + PAD:
        return buffer
    longer = bytearray(size + max(filled, PAD))
    longer[:filled] = memoryview(buffer)[:filled]
    return longer


class BlockParser:
    """Parses blocks, one at a time, in a buffer that is reused."""

    def __init__(self, table: TableParser, size: int, compiled: Callable[..., None] | None) -> None:
        self.table, self.compiled = table, compiled if table.can_compile else None
        self.buffer = bytearray(2 * size + PAD)
        self.failures = 0

    def parse(self, block: LineBlock) -> ParsedLines:
        """Return the columns of a block if the compiled parser can read it, else its text."""
        if self.compiled is not None and self.failures < MAX_FAILURES:
            result = self.table.parse_compiled(np.frombuffer(block.buffer, np.uint8), block.end, self.compiled)
            if result.columns is not None and self.table.is_valid(result.columns):
                return ParsedLines(result.columns, b"", result.lines, block.end, block.progress)
            self.failures += result.failed
        text = bytes(memoryview(block.buffer)[: block.end])
        return ParsedLines(None, text, text.count(b"\n") + (not text.endswith(b"\n")), block.end, block.progress)


def parse_blocks(
    blocks: LineBlocks, table: TableParser, compiled: Callable[..., None] | None
) -> Generator[ParsedLines, None, None]:
    """Parse all blocks in order, then close the file."""
    if compiled is not None:
        parsers = [BlockParser(table, blocks.size, compiled) for _ in range(min(THREADS, os.cpu_count() or 1))]
        yield from map_in_order(parsers, blocks.read_into, BlockParser.parse, blocks.file.close)
        return
    parser = BlockParser(table, blocks.size, None)
    with blocks.file:
        while (block := blocks.read_into(parser)) is not None:
            yield parser.parse(block)
