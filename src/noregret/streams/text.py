"""Texts with a label before each: `label TAB text`, a line each.

Every word of the text is a feature, counted; `ngrams` counts runs of words, too. Quotes mean nothing here. In rows to
be predicted a line without a tab is a text without a label.
"""

import contextlib
from collections.abc import Generator, Iterator
from typing import Any

import numpy as np

from noregret.data.batch import Batch
from noregret.data.blocks import Rows, SparseBlock
from noregret.errors import BadValue
from noregret.features.names import GrowingNames
from noregret.streams.columns import in_full, label_of, wrong_label
from noregret.streams.files import TextFile
from noregret.streams.lines import TooLong, lines_of
from noregret.streams.prefetch import ahead
from noregret.streams.read_options import Reading
from noregret.streams.source import Source, number_in
from noregret.streams.word_columns import in_order
from noregret.streams.words import Words

ROWS = 4096
MARK = b"\xef\xbb\xbf"


class Texts(Source):
    """Rounds from lines of a label and a text."""

    kind = "text"
    takes = frozenset({"ngrams"})

    def __init__(self, path: str, reading: Reading) -> None:
        super().__init__()
        self.path, self.reading = path, reading
        self.name = "standard input" if path == "-" else path

    def __iter__(self) -> Iterator[Batch]:
        self.claim()
        rows = 0
        with contextlib.closing(ahead(self.batches(TextFile(self.path)))) as parts:
            for batch, skipped in parts:
                rows, self.skipped = rows + batch.rows, skipped
                if batch.rows:
                    yield batch
        self.must_hold(rows)

    def batches(self, file: TextFile) -> Generator[tuple[Batch, int], None, None]:
        """Every batch, and how many lines were skipped up to its end."""
        byte, line, skipped = number_in(self.start, "byte"), number_in(self.start, "line"), 0
        counter, names = Words(self.reading.ngrams), []
        labels: list[Any] = []
        texts: list[str] = []
        lines: list[int] = []

        def batch() -> Batch:
            bags = counter.count(texts)
            names.extend(bags.fresh)
            block = in_order(SparseBlock(bags.offsets, bags.numbers, bags.counts, len(names)))
            X = Rows(block, GrowingNames(names, len(names)), np.zeros(len(names), bool))
            y = in_full(labels, np.arange(len(labels)))
            if self.reading.targets and None not in labels:
                y = np.array(labels, np.float64)
            position = {"byte": byte, "line": line}
            made = Batch(X, y, np.array(lines, np.int64), file.progress(), position=position)
            for some in (labels, texts, lines):
                some.clear()
            return made

        with file:
            file.go_to(byte)
            for raw in lines_of(file, self.name, line, self.reading.lenient):
                line, byte = line + 1, byte + len(raw)
                found = self.split(raw, line)
                if isinstance(found, tuple):
                    labels.append(found[0])
                    texts.append(found[1])
                    lines.append(line)
                elif found and not self.reading.lenient:
                    raise BadValue(f"{self.name}:{line}: {found}")
                else:
                    skipped += bool(found)
                if len(texts) == ROWS:
                    yield batch(), skipped
            yield batch(), skipped

    def split(self, raw: bytes | TooLong, number: int) -> tuple[Any, str] | str:
        """The label and the text of a line, or what is wrong with it; nothing is wrong with an empty one."""
        if isinstance(raw, TooLong):
            return "the line is too long"
        try:
            line = (raw.removeprefix(MARK) if number == 1 else raw).decode().rstrip("\r\n")
        except UnicodeDecodeError as error:
            return f"byte {error.start + 1} of the line is not text in UTF-8"
        if not line.strip():
            return ""
        label, tab, text = line.partition("\t")
        label = label.strip()
        if not tab:
            return (None, line) if not self.reading.labelled else "there is no tab between a label and a text"
        why = wrong_label(label, self.reading.targets)
        if why:
            return why if self.reading.labelled else (None, text)
        return (float(label) if self.reading.targets else label_of(label)), text
