"""Documents of `noregret topics`: words of text columns, of lines of text, or numbers of words with a vocabulary."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from noregret.data.batch import Batch
from noregret.data.blocks import Rows
from noregret.decomposition.documents import name_words
from noregret.decomposition.topic_model import TopicModel
from noregret.errors import BadValue
from noregret.evaluation.capabilities import task_class
from noregret.evaluation.checkpoint import saved_reading
from noregret.learner.protocol import Learner
from noregret.streams import ReadOptions, Source, open_source
from noregret.streams.folder import holds_documents

TASK = "unsupervised"
TABLES = ("csv", "jsonl", "parquet", "arrow")
LDA_C = ("lda-c", "ldac")
ROWS = 200  # from which columns of text are detected
LEAST_WORDS = 4.0  # on average, in a cell of a column of text


class DocumentReader:
    """Turns rows of a source into documents."""

    def __init__(self, columns: Sequence[str], vocabulary: Sequence[str] | None, counted: bool = False) -> None:
        """`counted`: every row begins with the number of its words, as in LDA-C."""
        self.columns, self.counted = columns, counted
        self.prefixes = tuple(f"{column}=" for column in columns)
        self.vocabulary = vocabulary

    def read(self, X: Any, y: Any = None) -> Any:
        """Dicts of words and counts; rows of numbers as they are, where there is no vocabulary."""
        if self.counted:
            check_sizes(np.diff(X.block.indptr).tolist(), list(y))
        if self.vocabulary is not None and not (isinstance(X, Rows) and X.names is None):
            raise BadValue("--vocabulary is for files of word numbers and counts (LDA-C or libsvm)")
        if isinstance(X, Rows) and X.names is not None:
            found = name_words(X.block, X.names)
            return [self.cut(words) for words in found] if self.prefixes else found
        if self.vocabulary is None:
            return X
        counts = name_words(X.block, range(max(X.block.width, len(self.vocabulary))))
        return [
            {self.find_word(number, row): count for number, count in words.items()} for row, words in enumerate(counts)
        ]

    def find_word(self, number: int, row: int) -> str:
        words = self.vocabulary or ()
        if number >= len(words):
            raise BadValue(
                f"row {row}: word {number} is not in the vocabulary, which has {len(words):,} words; they count from 0",
                row=row,
            )
        return words[number]

    def cut(self, words: Mapping[str, float]) -> dict[str, float]:
        """The words of all columns of text, without the names of the columns; other columns are left out."""
        found: dict[str, float] = {}
        for name, count in words.items():
            for prefix in self.prefixes:
                if name.startswith(prefix):
                    word = name[len(prefix) :]
                    found[word] = found.get(word, 0.0) + count
        return found


def check_sizes(found: Sequence[int], said: Sequence[Any]) -> None:
    """Refuse a row of LDA-C that has more or fewer words than its first number says."""
    for row, (size, number) in enumerate(zip(found, said, strict=True)):
        if size != number:
            raise BadValue(f"row {row}: it begins with {number}, the number of its different words, but has {size}",
                           row=row)  # fmt: skip


def open_documents(args: argparse.Namespace, options: Mapping[str, Any]) -> tuple[Source, DocumentReader]:
    """The source of a command and how its rows become documents."""
    reading = {**task_class(TASK).reading, **options}
    counted = str(reading.get("format")).lower() in LDA_C
    if counted:
        reading |= {"format": "libsvm", "zero_based": True}
    vocabulary = None if args.vocabulary is None else read_vocabulary(args.vocabulary)
    reading = {**find_format(args.data, reading), **reading}
    columns = tuple(reading.get("text", ()))
    source = open_source(args.data, ReadOptions(**reading), seed=args.seed)
    if source.kind in TABLES and not columns:
        if "-" in args.data:
            raise BadValue("standard input is read only once: name the columns of text with --text COLUMN")
        columns = find_text_columns(args, reading)
        reading["text"] = columns
        source = open_source(args.data, ReadOptions(**reading), seed=args.seed)
    return source, DocumentReader(columns if source.kind in TABLES else (), vocabulary, counted)


def document_options(learner: Learner, data: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """How another command reads new documents for a model that `noregret topics` made."""
    made = isinstance(learner, TopicModel) and learner.learned_documents
    return find_format(data, given) if made else {}


def find_format(data: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """The format of documents that are lines of text, or files of a folder; nothing where another one shows itself."""
    if "format" in given:
        return {}
    if is_plain_text(data):
        return {"format": "text"}
    return {"format": "folder"} if all(holds_documents(Path(name)) for name in data) else {}


def read_documents(learner: Learner, source: Source, given: Mapping[str, Any]) -> Iterator[Batch]:
    """The batches of a source; new documents of a model that `noregret topics` made become words as they did there."""
    if not isinstance(learner, TopicModel) or not learner.learned_documents:
        yield from source
        return
    columns = given.get("text") or saved_reading(learner.source or {}).get("text", ())
    if source.kind in TABLES and not columns:
        raise BadValue(f"{source.name}: name the columns of text with --text COLUMN")
    reader = DocumentReader(columns if source.kind in TABLES else (), None)
    for batch in source:
        yield batch._replace(X=reader.read(batch.X))


def is_plain_text(data: Sequence[str]) -> bool:
    """Whether all files are named as texts, with a document in every line."""
    ends = [name.removesuffix(".gz").removesuffix(".xz").removesuffix(".bz2").removesuffix(".zst") for name in data]
    return bool(ends) and all(name.endswith(".txt") for name in ends)


def find_text_columns(args: argparse.Namespace, reading: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns whose cells have several words each, by the first rows."""
    peek = ReadOptions(**{**reading, "limit": ROWS, "passes": 1})
    words: dict[str, list[int]] = {}
    for batch in open_source(args.data, peek, seed=args.seed):
        names = batch.X.names if isinstance(batch.X, Rows) and batch.X.names is not None else ()
        for name in names:
            column, equal, text = str(name).partition("=")
            if equal:
                words.setdefault(column, []).append(len(text.split()))
    found = tuple(column for column, counts in words.items() if sum(counts) / len(counts) >= LEAST_WORDS)
    if not found:
        raise BadValue(f"{args.data[0]}: no column looks like text; name one with --text COLUMN")
    return found


def read_vocabulary(path: str) -> list[str]:
    """The words of a file, one in each line; word 0 is in the first."""
    from noregret.streams.files import TextFile

    with TextFile(path) as file:
        parts = []
        while part := file.read(1 << 20):
            parts.append(part)
    words = b"".join(parts).decode("utf-8", "replace").splitlines()
    if len(set(words)) != len(words):
        raise BadValue(f"--vocabulary {path}: a word is there twice")
    return words
