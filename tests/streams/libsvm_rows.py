"""Reading libsvm text in the tests: all rows of a text, and what a wrong text is refused for."""

import io
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from noregret.data import blocks as chunk
from noregret.errors import BadValue
from noregret.streams import Batch, ReadOptions, libsvm
from noregret.streams.libsvm import Libsvm, Parser
from noregret.streams.libsvm_text import NO_QUERY
from noregret.streams.text_blocks import ParsedBlock, TextBlocks
from tests.naive import libsvm as naive


class Memory(io.BytesIO):
    """A text that is no file."""

    name = "text"

    def progress(self) -> float | None:
        return None


class Rows(NamedTuple):
    """All that was read."""

    labels: list[Any]
    features: list[list[tuple[int, float]]]
    lines: list[int]
    skipped: int
    queries: list[int | None]


def query_or_none(number: int) -> int | None:
    return None if number == NO_QUERY else number


def one_by_one(lines: TextBlocks, parser: Parser) -> Iterator[ParsedBlock]:
    """All parts, without other threads."""
    while (block := lines.read_into(parser)) is not None:
        yield parser.parse_block(block)


def batches(text: bytes, reading: ReadOptions, size: int = 1 << 16, compiled: bool = True) -> tuple[list[Batch], int]:
    """Everything in a text, through windows of some size, and how many lines were skipped."""
    parse: Any = libsvm.compile_parser() if compiled else libsvm.run_interpreted
    source = Libsvm("text", reading)
    parser = Parser(reading, size, parse)
    made = list(source.join_blocks(one_by_one(TextBlocks(Memory(text), size), parser)))  # type: ignore[arg-type]
    assert len(parser.buffer) < size + 100
    return made, source.skipped


def read(text: bytes, reading: ReadOptions | None = None, size: int = 1 << 16, compiled: bool = True) -> Rows:
    made, skipped = batches(text, reading or ReadOptions(), size, compiled)
    found = Rows([], [], [], skipped, [])
    for batch in made:
        collect(batch, found)
    return found


def collect(batch: Batch, found: Rows) -> None:
    block = batch.X.block
    assert batch.lines is not None
    assert block.width > block.idx.max(initial=-1)
    assert not block.ready or chunk.check_rows(block) == chunk.FINE
    labels = [np.nan] * len(batch.lines) if batch.y is None else batch.y
    found.labels.extend(np.nan if label is None else label for label in labels)
    found.queries.extend([None] * len(labels) if batch.query is None else map(query_or_none, batch.query.tolist()))
    found.lines.extend(batch.lines.tolist())
    for first, last in zip(block.indptr[:-1], block.indptr[1:], strict=True):
        found.features.append(list(zip(block.idx[first:last].tolist(), block.val[first:last].tolist(), strict=True)))


def same(found: Rows, rows: list[naive.Row]) -> None:
    """Equal bit for bit: repr tells -0.0 from 0.0."""
    assert found.lines == [row.line for row in rows]
    assert [repr(row) for row in found.features] == [repr(row.features) for row in rows]
    assert [str(label) for label in map(plain, found.labels)] == [str(plain(row.label)) for row in rows]
    assert found.queries == [row.query for row in rows]


def plain(label: Any) -> Any:
    """A label as the same text whether it came alone, as a whole number or as a float."""
    return float(label) + 0.0 if isinstance(label, (int, float, np.number)) else label


def refused(text: bytes, reading: ReadOptions | None = None, size: int = 1 << 16, compiled: bool = True) -> str:
    with pytest.raises(BadValue) as caught:
        read(text, reading, size, compiled)
    message = str(caught.value)
    assert "\n" not in message
    return message
