"""Blocks of whole lines of a table, and what the quick readers make of them, two side by side where that pays."""

import os
from collections.abc import Callable, Generator
from typing import NamedTuple

import numpy as np

from noregret.streams.files import TextFile, Unreadable
from noregret.streams.number_text import PAD
from noregret.streams.prefetch import in_order
from noregret.streams.tables import Columns, Table

LONGEST = 1 << 26  # bytes of a line
THREADS = 2
PATIENCE = 8  # blocks that the compiled reader may give up on before it is asked no more


class Block(NamedTuple):
    """Whole lines, buffer[:end], and the share of the file read by then."""

    buffer: bytearray
    end: int
    done: float | None


class Parsed(NamedTuple):
    """The columns of a block, or its text where they need a closer look; how many lines and bytes it has."""

    columns: Columns | None
    text: bytes
    lines: int
    size: int
    done: float | None


class Blocks:
    """A text, handed out in blocks of whole lines. Where they end depends on the text and the size alone."""

    def __init__(self, file: TextFile, head: bytes, first: int, size: int) -> None:
        """The text from its byte `first` on; its head was read already."""
        if first > len(head):
            file.leave_out(first - len(head), first)
        self.file, self.head, self.size = file, memoryview(head)[first:], size
        self.rest = b""
        self.pieces = 0  # that the line under way is made of

    def into(self, reader: "Reader") -> Block | None:
        """The next block in a reader's buffer, or in a longer one if a line is."""
        buffer, filled, cut = reader.buffer, len(self.rest), 0
        buffer = with_room(buffer, 0, filled + self.size)
        buffer[:filled] = self.rest
        self.rest = b""
        while not cut:
            buffer = with_room(buffer, filled, filled + self.size)
            got = self.fill(memoryview(buffer)[filled : filled + self.size])
            if not got:
                return Block(buffer, filled, self.file.progress()) if filled else None
            cut = buffer.rfind(b"\n", filled, filled + got) + 1
            filled += got
            self.pieces = 1 if cut else self.pieces + 1
            if self.pieces * got > LONGEST:
                raise Unreadable(self.file.name, f"a line is longer than {LONGEST >> 20} MB; is this a table?")
        self.rest = bytes(memoryview(buffer)[cut:filled])
        return Block(buffer, cut, self.file.progress())

    def fill(self, room: memoryview) -> int:
        """Write the next bytes, as many as there is room for; fewer where the head or the file ends."""
        got, more = len(self.head[: len(room)]), 1
        if got:
            room[:got], self.head = self.head[:got], self.head[got:]
            return got
        while got < len(room) and more:
            try:
                more = self.file.readinto(room[got:])
            except Unreadable as error:
                error.line += bytes(room[:got]).count(b"\n")
                raise
            got += more
        return got


def with_room(buffer: bytearray, filled: int, size: int) -> bytearray:
    """A buffer that has room for so many bytes, and those that it is filled with."""
    if len(buffer) >= size + PAD:
        return buffer
    longer = bytearray(size + max(filled, PAD))
    longer[:filled] = memoryview(buffer)[:filled]
    return longer


class Reader:
    """Columns from blocks, one block at a time, in a buffer that is filled again and again."""

    def __init__(self, table: Table, size: int, compiled: Callable[..., None] | None) -> None:
        self.table, self.compiled = table, compiled if table.can_compile else None
        self.buffer = bytearray(2 * size + PAD)
        self.failures = 0

    def parsed(self, block: Block) -> Parsed:
        if self.compiled is not None and self.failures < PATIENCE:
            found = self.table.by_compiled(np.frombuffer(block.buffer, np.uint8), block.end, self.compiled)
            if found.columns is not None and self.table.fine(found.columns):
                return Parsed(found.columns, b"", found.lines, block.end, block.done)
            self.failures += found.gave_up
        text = bytes(memoryview(block.buffer)[: block.end])
        return Parsed(None, text, text.count(b"\n") + (not text.endswith(b"\n")), block.end, block.done)


def parsed(blocks: Blocks, table: Table, compiled: Callable[..., None] | None) -> Generator[Parsed, None, None]:
    """All blocks in order; the file is closed behind them."""
    if compiled is not None:
        readers = [Reader(table, blocks.size, compiled) for _ in range(min(THREADS, os.cpu_count() or 1))]
        yield from in_order(readers, blocks.into, Reader.parsed, blocks.file.close)
        return
    reader = Reader(table, blocks.size, None)
    with blocks.file:
        while (block := blocks.into(reader)) is not None:
            yield reader.parsed(block)
