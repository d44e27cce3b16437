"""A folder of documents: every file in it, or in a folder inside, is one text, in the order of their names.

Every word of a file is a feature with its count; `ngrams` also counts runs of words. Hidden files are left out.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np

from noregret.data.batch import Batch
from noregret.data.blocks import Rows, SparseBlock
from noregret.errors import BadValue
from noregret.features.names import GrowingNames
from noregret.streams.datasets import readable_files
from noregret.streams.files import LONGEST_LINE, TextFile
from noregret.streams.read_options import ReadOptions
from noregret.streams.source import SPARSE_ROWS, Source, read_position
from noregret.streams.word_columns import canonicalize_block
from noregret.streams.words import WordCounter

FILES = 256  # in a batch, at most
BATCH_BYTES = 1 << 24  # of texts in a batch, after which no file is added


class Folder(Source):
    """Rows from whole files; they have no labels."""

    kind = "folder"
    accepts = frozenset({"ngrams", "encoding"})
    learner_defaults = SPARSE_ROWS

    def __init__(self, path: str, options: ReadOptions) -> None:
        super().__init__()
        if not Path(path).is_dir():
            raise BadValue(f"{path}: is no folder, and a folder of documents is asked for")
        self.path, self.options, self.name = path, options, path

    def __iter__(self) -> Iterator[Batch]:
        self.begin()
        files = find_documents(Path(self.path))
        self.check_not_empty(len(files))
        counter, names, place = WordCounter(self.options.ngrams), list[str](), self.find_start(files)
        while place < len(files):
            first, texts, lines, size = place, list[str](), list[int](), 0
            while place < min(len(files), first + FILES) and size < BATCH_BYTES:
                place += 1
                try:
                    texts.append(read_document(files[place - 1], self.options.encoding))
                except BadValue:
                    if not self.options.lenient:
                        raise
                    self.skipped += 1
                    continue
                lines.append(place)
                size += len(texts[-1])
            counts = counter.count(texts)
            names.extend(counts.new_words)
            block = canonicalize_block(SparseBlock(counts.offsets, counts.numbers, counts.counts, len(names)))
            X = Rows(block, GrowingNames(names, len(names)), np.zeros(len(names), bool))
            kept = {"file": [str(files[line - 1].relative_to(self.path)) for line in lines]}
            position = {"file": place, "names": sum_names(files[:place], self.path)}
            yield Batch(X, None, np.array(lines, np.int64), place / len(files), position=position, kept=kept)

    def find_start(self, files: Sequence[Path]) -> int:
        """How many files were read before; they must be the same."""
        place = read_position(self.start, "file")
        if place and sum_names(files[:place], self.path) != read_position(self.start, "names"):
            raise BadValue(f"{self.name}: the first {place:,} files are not those that were learned; new files must "
                           "come after them by name, or in a folder of their own")  # fmt: skip
        return place


def sum_names(files: Sequence[Path], folder: str) -> int:
    """A number that tells the names of files from others."""
    return crc32("\n".join(str(file.relative_to(folder)) for file in files).encode("utf-8", "surrogateescape"))


def find_documents(folder: Path) -> list[Path]:
    """The files of a folder and of the folders inside, by their names; hidden ones are left out."""
    found = []
    for where, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(where) / name for name in files if not name.startswith(".")]
    return sorted(path for path in found if path.is_file())


def holds_documents(path: Path) -> bool:
    """Whether a path is a folder of several files, none of which is a table or rows of numbers by its name."""
    return path.is_dir() and not readable_files(path) and len(find_documents(path)) > 1


def read_document(path: Path, encoding: str | None) -> str:
    """The whole text of a file; an empty one is a document without words."""
    if path.stat().st_size == 0:
        return ""
    parts, size = [], 0
    with TextFile(str(path), False, encoding) as file:
        while part := file.read(1 << 20):
            parts.append(part)
            size += len(part)
            if size > LONGEST_LINE:
                raise BadValue(f"{path}: is longer than {LONGEST_LINE >> 20} MB; a document may not be")
    try:
        return b"".join(parts).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadValue(f"{path}: byte {error.start + 1} is not text in UTF-8; name its encoding, as in "
                       "--encoding latin-1") from None  # fmt: skip
