"""Counts the words of texts with compiled code.

A word is two or more letters, digits or underscores, in lower case. With n-grams, runs of up to n words, joined by
blanks, are counted as well.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.streams import name_table
from noregret.streams import words_text as text
from noregret.streams.number_text import PAD

FEW = 1 << 15  # words there is room for at first
BLOCK_BYTES = 1 << 22  # bytes of text counted at a time
OTHER = re.compile(r"\W")


class WordCounts(NamedTuple):
    """The words of rows: those of row r are numbers[offsets[r] : offsets[r + 1]], with their counts.

    `new_words` are the words not seen before, and `first` their first positions in `numbers`.
    """

    offsets: NDArray[np.int64]
    numbers: NDArray[np.int32]
    counts: NDArray[np.float64]
    new_words: list[str]
    first: NDArray[np.int64]


class WordCounter:
    """Counts words; every new word gets the next number."""

    def __init__(self, ngrams: int = 1, run: Callable[..., None] | None = None) -> None:
        self.ngrams, self.run = ngrams, run or compile_counter()
        self.known, self.table = name_table.create_table(FEW), np.zeros(text.SLOTS, np.int64)
        self.size = 0
        self.out = text.allocate(0, 0, ngrams, FEW)

    def count(self, texts: list[str]) -> WordCounts:
        """Count the words of every text."""
        encoded = [encode_text(one) for one in texts]
        ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)))
        return self.count_bytes(b"".join(encoded), ends)

    def count_column(self, column: Any) -> WordCounts:
        """Count the words of every cell of a pyarrow column; ASCII text is read directly from its buffer."""
        column = column.fill_null("") if column.null_count else column
        _, offsets, data = column.buffers()
        if not len(column) or data is None:
            return self.count(column.to_pylist())
        ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1].astype(np.int64)
        raw = bytes(memoryview(data)[ends[0] : ends[-1]])
        return self.count_bytes(raw, ends[1:] - ends[0]) if raw.isascii() else self.count(column.to_pylist())

    def count_bytes(self, data: bytes, ends: NDArray[np.int64]) -> WordCounts:
        """Count the words of the texts that end at `ends`, a few megabytes at a time."""
        parts, row, start = [], 0, 0
        while row < ends.size:
            last = max(int(np.searchsorted(ends, start + BLOCK_BYTES, side="right")), row + 1)
            stop = int(ends[last - 1])
            parts.append(self.count_block(data[start:stop], ends[row:last] - start))
            row, start = last, stop
        return concatenate(parts)

    def count_block(self, data: bytes, ends: NDArray[np.int64]) -> WordCounts:
        """Count the words of one block of texts."""
        if self.out.plain.size < 2 * len(data) + PAD or self.out.indptr.size <= ends.size:
            larger = text.allocate(2 * len(data) + PAD, ends.size, self.ngrams, 0)
            self.out = larger._replace(last_count=self.out.last_count)
        table, buffer = self.table, np.frombuffer(data + bytes(PAD), np.uint8)
        table[[name_table.NEW_BYTES, text.POSITION, text.DONE, text.COUNT]] = 0
        table[text.NGRAMS] = self.ngrams
        self.out.last_count[:] = -1
        before = int(table[name_table.NAMES])
        self.run(table, buffer, ends, self.out, self.known)
        while table[text.DONE] < ends.size:
            self.known = name_table.double_table(self.known)
            more = np.full_like(self.out.last_count, -1)
            self.out = self.out._replace(last_count=np.concatenate([self.out.last_count, more]))
            table[name_table.REBUILD] = 1
            self.run(table, buffer, ends, self.out, self.known)
        count, names = int(table[text.COUNT]), int(table[name_table.NAMES])
        new_words = self.known.new_names[: table[name_table.NEW_BYTES]].tobytes().decode().split("\n")[:-1]
        numbers = self.out.idx[:count].copy()
        first = np.searchsorted(np.maximum.accumulate(numbers), np.arange(before, names))
        offsets, counts = self.out.indptr[: ends.size + 1].copy(), self.out.val[:count].copy()
        return WordCounts(offsets, numbers, counts, new_words, first)


def encode_text(text: str) -> bytes:
    """Encode a text; characters beyond ASCII that are not letters become blanks."""
    return text.encode() if text.isascii() else OTHER.sub(" ", text.lower()).encode("utf-8", "replace")


def concatenate(parts: list[WordCounts]) -> WordCounts:
    """Concatenate the counts of several blocks."""
    if len(parts) == 1:
        return parts[0]
    begins = np.cumsum([0, *(part.numbers.size for part in parts)])
    offsets = [part.offsets[1:] + at for part, at in zip(parts, begins, strict=False)]
    first = [part.first + at for part, at in zip(parts, begins, strict=False)]
    return WordCounts(
        np.concatenate([np.zeros(1, np.int64), *offsets]),
        np.concatenate([np.zeros(0, np.int32), *(part.numbers for part in parts)]),
        np.concatenate([np.zeros(0), *(part.counts for part in parts)]),
        [word for part in parts for word in part.new_words],
        np.concatenate([np.zeros(0, np.int64), *first]),
    )


def compile_counter() -> Callable[..., None]:
    """Return the compiled word counter."""
    from noregret.jit.compiled import compile_function

    return compile_function(text.words, counter_slots(), text.REPLACED)


def counter_slots() -> dict[str, tuple[int, Any]]:
    """Where the compiled counter finds its arrays, with an example of each."""
    return {
        "buffer": (text.BUFFER, np.zeros(1, np.uint8)),
        "ends": (text.ENDS, np.zeros(1, np.int64)),
        "out": (text.OUT, text.allocate(1, 1, 1, 1)),
        "known": (text.KNOWN, name_table.create_table(1)),
    }
