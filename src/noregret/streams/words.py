"""Words of texts, counted: from texts to numbers of words, in compiled code.

A word is two or more letters, digits or underscores, in small letters; a run of n words, with blanks between them, is
one more where that is asked for.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from noregret.streams import vw_names
from noregret.streams import words_text as text
from noregret.streams.number_text import PAD

FEW = 1 << 15  # words there is room for at first
PIECE = 1 << 22  # bytes of text counted at a time
OTHER = re.compile(r"\W")
WORD = re.compile(r"\w\w+")


class Bags(NamedTuple):
    """Words of rows: those of row r are numbers[offsets[r] : offsets[r + 1]], with their counts; and the words that are
    new, with the place in `numbers` where each first stands."""

    offsets: np.ndarray
    numbers: np.ndarray
    counts: np.ndarray
    fresh: list[str]
    first: np.ndarray


class Words:
    """Gives every new word the next number."""

    def __init__(self, grams: int = 1, run: Callable[..., None] | None = None) -> None:
        self.grams, self.run = grams, run or compiled()
        self.known, self.table = vw_names.space_for(FEW), np.zeros(text.SLOTS, np.int64)
        self.size = 0
        self.out = text.room(0, 0, grams, FEW)

    def count(self, texts: list[str]) -> Bags:
        """The words of every text."""
        encoded = [prepared(one) for one in texts]
        ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)))
        return self.pieces(b"".join(encoded), ends)

    def count_column(self, column: Any) -> Bags:
        """The words of every cell of a column of pyarrow; where all of it is ASCII, straight from its bytes."""
        column = column.fill_null("") if column.null_count else column
        _, offsets, data = column.buffers()
        if not len(column) or data is None:
            return self.count(column.to_pylist())
        ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1].astype(np.int64)
        raw = bytes(memoryview(data)[ends[0] : ends[-1]])
        return self.pieces(raw, ends[1:] - ends[0]) if raw.isascii() else self.count(column.to_pylist())

    def pieces(self, data: bytes, ends: np.ndarray) -> Bags:
        """The words of the texts that end at these places, some megabytes at a time."""
        parts, row, start = [], 0, 0
        while row < ends.size:
            last = max(int(np.searchsorted(ends, start + PIECE, side="right")), row + 1)
            stop = int(ends[last - 1])
            parts.append(self.piece(data[start:stop], ends[row:last] - start))
            row, start = last, stop
        return joined(parts)

    def piece(self, data: bytes, ends: np.ndarray) -> Bags:
        if self.out.plain.size < 2 * len(data) + PAD or self.out.indptr.size <= ends.size:
            made = text.room(2 * len(data) + PAD, ends.size, self.grams, 0)
            self.out = made._replace(seat=self.out.seat)
        table, buffer = self.table, np.frombuffer(data + bytes(PAD), np.uint8)
        table[[vw_names.FRESH, text.PLACE, text.DONE, text.COUNT]] = 0
        table[text.GRAMS] = self.grams
        self.out.seat[:] = -1
        before = int(table[vw_names.NAMES])
        self.run(table, buffer, ends, self.out, self.known)
        while table[text.DONE] < ends.size:
            self.known = vw_names.doubled(self.known)
            self.out = self.out._replace(seat=np.concatenate([self.out.seat, np.full_like(self.out.seat, -1)]))
            table[vw_names.REBUILD] = 1
            self.run(table, buffer, ends, self.out, self.known)
        count, names = int(table[text.COUNT]), int(table[vw_names.NAMES])
        fresh = self.known.fresh[: table[vw_names.FRESH]].tobytes().decode().split("\n")[:-1]
        numbers = self.out.idx[:count].copy()
        first = np.searchsorted(np.maximum.accumulate(numbers), np.arange(before, names))
        return Bags(self.out.indptr[: ends.size + 1].copy(), numbers, self.out.val[:count].copy(), fresh, first)


def prepared(one: str) -> bytes:
    """The text as bytes in which everything beyond ASCII is part of a word."""
    return one.encode() if one.isascii() else OTHER.sub(" ", one.lower()).encode("utf-8", "replace")


def words_of(one: str, grams: int = 1) -> list[str]:
    """The words of one text, and runs of them, as a list."""
    found = WORD.findall(one.lower())
    return [" ".join(found[at + 1 - n : at + 1]) for at in range(len(found)) for n in range(1, min(grams, at + 1) + 1)]


def joined(parts: list[Bags]) -> Bags:
    if len(parts) == 1:
        return parts[0]
    begins = np.cumsum([0, *(part.numbers.size for part in parts)])
    offsets = [part.offsets[1:] + at for part, at in zip(parts, begins, strict=False)]
    first = [part.first + at for part, at in zip(parts, begins, strict=False)]
    return Bags(
        np.concatenate([np.zeros(1, np.int64), *offsets]),
        np.concatenate([np.zeros(0, np.int32), *(part.numbers for part in parts)]),
        np.concatenate([np.zeros(0), *(part.counts for part in parts)]),
        [name for part in parts for name in part.fresh],
        np.concatenate([np.zeros(0, np.int64), *first]),
    )


def compiled() -> Callable[..., None]:
    """The counter at full speed."""
    from noregret.jit.compiled import compile_function

    examples: dict[str, tuple[int, Any]] = {
        "buffer": (text.BUFFER, np.zeros(1, np.uint8)),
        "ends": (text.ENDS, np.zeros(1, np.int64)),
        "out": (text.OUT, text.room(1, 1, 1, 1)),
        "known": (text.KNOWN, vw_names.space_for(1)),
    }
    return compile_function(text.words, examples, text.REPLACED)
