"""Labelled texts: `label TAB text`, one per line.

Every word of the text is a feature with its count; `ngrams` also counts runs of words. Quotes have no meaning. In rows
to be predicted, a line without a tab is a text without a label.
"""

import contextlib
from collections.abc import Generator, Iterator
from typing import Any

import numpy as np

from noregret.data.batch import Batch
from noregret.data.blocks import Rows, SparseBlock
from noregret.errors import BadValue
from noregret.features.names import GrowingNames
from noregret.streams.columns import expand_labels, label_fault, parse_label
from noregret.streams.files import TextFile
from noregret.streams.lines import LongLine, Pause, read_lines
from noregret.streams.prefetch import prefetch
from noregret.streams.read_options import ReadOptions
from noregret.streams.source import SPARSE_ROWS, Source, read_position
from noregret.streams.word_columns import canonicalize_block
from noregret.streams.words import WordCounter

ROWS = 4096
BOM = b"\xef\xbb\xbf"


class Texts(Source):
    """Rounds from lines of a label and a text."""

    kind = "text"
    accepts = frozenset({"ngrams", "encoding"})
    learner_defaults = SPARSE_ROWS

    def __init__(self, path: str, options: ReadOptions) -> None:
        super().__init__()
        self.path, self.options = path, options
        self.name = "standard input" if path == "-" else path

    def __iter__(self) -> Iterator[Batch]:
        self.begin()
        rows = 0
        with contextlib.closing(
            prefetch(self.batches(TextFile(self.path, self.options.live, self.options.encoding)))
        ) as parts:
            for batch, skipped in parts:
                rows, self.skipped = rows + batch.rows, skipped
                if batch.rows:
                    yield batch
        self.check_not_empty(rows)

    def batches(self, file: TextFile) -> Generator[tuple[Batch, int], None, None]:
        """Yield every batch, and how many lines were skipped up to its end."""
        byte, line, skipped = read_position(self.start, "byte"), read_position(self.start, "line"), 0
        counter, names = WordCounter(self.options.ngrams), []
        labels: list[Any] = []
        texts: list[str] = []
        lines: list[int] = []

        def make_batch() -> Batch:
            counts = counter.count(texts)
            names.extend(counts.new_words)
            block = canonicalize_block(SparseBlock(counts.offsets, counts.numbers, counts.counts, len(names)))
            X = Rows(block, GrowingNames(names, len(names)), np.zeros(len(names), bool))
            y = expand_labels(labels, np.arange(len(labels)))
            if self.options.targets and None not in labels:
                y = np.array(labels, np.float64)
            position = {"byte": byte, "line": line}
            batch = Batch(X, y, np.array(lines, np.int64), file.progress(), position=position)
            for values in (labels, texts, lines):
                values.clear()
            return batch

        with file:
            file.seek_to(byte)
            for raw in read_lines(file, self.name, line, self.options.lenient):
                if not isinstance(raw, Pause):
                    line, byte = line + 1, byte + len(raw)
                    row = self.split_line(raw, line)
                    if isinstance(row, tuple):
                        labels.append(row[0])
                        texts.append(row[1])
                        lines.append(line)
                    elif row and not self.options.lenient:
                        raise BadValue(f"{self.name}:{line}: {row}")
                    else:
                        skipped += bool(row)
                if len(texts) >= (1 if isinstance(raw, Pause) else ROWS):
                    yield make_batch(), skipped
            yield make_batch(), skipped

    def split_line(self, raw: bytes | LongLine, number: int) -> tuple[Any, str] | str:
        """Return the label and the text of a line, or why it cannot be used; "" for an empty line."""
        if isinstance(raw, LongLine):
            return "the line is too long"
        try:
            line = (raw.removeprefix(BOM) if number == 1 else raw).decode().rstrip("\r\n")
        except UnicodeDecodeError as error:
            return f"byte {error.start + 1} of the line is not text in UTF-8; name its --encoding, as in latin-1"
        if not line.strip():
            return ""
        label, tab, text = line.partition("\t")
        label = label.strip()
        if not tab:
            return (None, line) if not self.options.labelled else "there is no tab between a label and a text"
        why = label_fault(label, self.options.targets)
        if why:
            return why if self.options.labelled else (None, text)
        return (float(label) if self.options.targets else parse_label(label)), text
