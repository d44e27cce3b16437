"""The features of the records of a batch, numbered row by row in the order of their appearance; texts by words."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Rows, SparseBlock, all_finite
from noregret.features.cells import TEXT
from noregret.features.names import GrowingNames
from noregret.streams.read_options import ReadOptions
from noregret.streams.word_columns import add_word_counts
from noregret.streams.words import WordCounter, WordCounts


class TextField:
    """A field of texts: those of the rows of a batch, the compiled counter, and the feature of every word."""

    def __init__(self, ngrams: int) -> None:
        self.ngrams = ngrams
        self.counter: WordCounter | None = None  # compiled when the first batch needs it
        self.texts: list[str] = []
        self.features = np.zeros(1024, np.int32)
        self.words = 0

    def count(self) -> WordCounts:
        """Count the words of the batch."""
        self.counter = self.counter or WordCounter(self.ngrams)
        return self.counter.count(self.texts)

    def add_word(self, feature: int) -> None:
        """Set the feature of the next new word."""
        if self.words == self.features.size:
            self.features = np.concatenate((self.features, np.zeros_like(self.features)))
        self.features[self.words] = feature
        self.words += 1


class RecordFeatures:
    """Collects the rows of a batch. Features keep their numbers from batch to batch, however rows are batched."""

    def __init__(self, options: ReadOptions) -> None:
        self.names: list[str] = []
        self.indicator: list[bool] = []
        self.numbers: dict[str, int] = {}
        self.texts = {path: TextField(options.ngrams) for path in options.text}
        self.clear()

    def clear(self) -> None:
        """Start a new batch."""
        self.rows: list[tuple[Mapping[str, float], Mapping[str, str]]] = []
        for field in self.texts.values():
            field.texts.clear()

    def add(self, features: Mapping[str, float], kinds: Mapping[str, str], texts: Mapping[str, str]) -> None:
        """Add a row: its features, what its paths hold, and its texts. A feature named as a path is a number."""
        self.rows.append((features, kinds))
        for path, field in self.texts.items():
            field.texts.append(texts.get(path, ""))

    def number(self, name: str, indicator: bool) -> int:
        """The number of a feature; a new one gets the next."""
        found = self.numbers.get(name)
        if found is None:
            found = self.numbers[name] = len(self.names)
            self.names.append(name)
            self.indicator.append(indicator)
        return found

    def count_values(self, kinds: Mapping[str, str]) -> Iterator[tuple[str, int]]:
        """Yield the paths that hold categories, with the number of different values so far."""
        found = Counter(name.partition("=")[0] for name, mark in zip(self.names, self.indicator, strict=True) if mark)
        return ((path, count) for path, count in found.items() if kinds.get(path) == TEXT and path not in self.texts)

    def make_rows(self) -> Rows:
        """The rows collected."""
        counts = {path: field.count() for path, field in self.texts.items()} if self.rows else {}
        new_words = find_new_words(counts)
        idx: list[int] = []
        val: list[float] = []
        offsets = [0]
        for row, (features, kinds) in enumerate(self.rows):
            idx += [self.number(name, name not in kinds) for name in features]
            val += features.values()
            offsets.append(len(idx))
            for path, word in new_words.get(row, ()):
                self.texts[path].add_word(self.number(f"{path}={word}", True))
        width, values = len(self.names), np.array(val, np.float64)
        block = SparseBlock(np.array(offsets, np.int64), np.array(idx, np.int32), values, width, ready=False)
        for path, words in counts.items():
            block = add_word_counts(block, words.offsets, self.texts[path].features[words.numbers], words.counts)
            block = block._replace(ready=all_finite(values))
        return Rows(block, GrowingNames(self.names, width), np.array(self.indicator, bool))


def find_new_words(counts: Mapping[str, WordCounts]) -> dict[int, list[tuple[str, str]]]:
    """The words not seen before, with their fields, by the row in which they appear first."""
    found: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for path, words in counts.items():
        rows: NDArray[Any] = np.searchsorted(words.offsets, words.first, side="right") - 1
        for row, word in zip(rows.tolist(), words.new_words, strict=True):
            found[row].append((path, word))
    return found
