"""A translation lexicon t(f | e) by incremental EM: IBM model 1 whose sufficient statistics grow pair by pair."""

import math
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np

from noregret.learner.header_fields import corrupt, read_param
from noregret.learner.model_file import Arrays, FindCard, Header, register_kind
from noregret.loglinear.text_learner import TextLearner, Words
from noregret.loglinear.undo_log import UndoLog
from noregret.loglinear.word_file import count_rows, dump_words, read_amounts, read_numbers, read_words
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Param

NULL = ""  # the word that explains what no word of the source does
SMOOTHING = Param(
    0.1, above=0.0, about="the weight of the uniform distribution in t(. | e), as a count", search=(1e-3, 10.0, "log")
)


class Lexicon:
    """Expected counts of translations by source word, their sums, and the target words in order of appearance."""

    def __init__(self) -> None:
        self.counts: dict[str, dict[str, float]] = {}
        self.totals: dict[str, float] = {}
        self.targets: dict[str, None] = {}

    def copy(self) -> "Lexicon":
        new = Lexicon()
        new.counts = {word: dict(row) for word, row in self.counts.items()}
        new.totals, new.targets = dict(self.totals), dict(self.targets)
        return new

    def __deepcopy__(self, memo: Any) -> "Lexicon":
        return self.copy()

    def probability(self, target: str, source: str, smoothing: float) -> float:
        """t(target | source), smoothed: the sum over known target words and one unknown word is 1."""
        row = self.counts.get(source)
        count = row.get(target, 0.0) if row else 0.0
        share = smoothing / (len(self.targets) + 1.0)
        return (count + share) / (self.totals.get(source, 0.0) + smoothing)

    def log_probabilities(self, source: Words, targets: Iterable[str], smoothing: float) -> dict[str, float]:
        """log p(f | source) of some target words: each comes from one word of the source, or from none."""
        words = (NULL, *source)
        found = {}
        for target in targets:
            total = sum(self.probability(target, word, smoothing) for word in words)
            found[target] = math.log(total / len(words))
        return found

    def learn(self, source: Words, target: Words, smoothing: float, log: UndoLog) -> float:
        """Add the expected counts of a pair under the parameters so far; returns -log p per target word before."""
        words = (NULL, *source)
        expected: dict[str, dict[str, float]] = {word: {} for word in words}
        loss = 0.0
        for f in target:
            shares = [self.probability(f, e, smoothing) for e in words]
            total = sum(shares)
            loss -= math.log(total / len(words))
            for e, share in zip(words, shares, strict=True):
                expected[e][f] = expected[e].get(f, 0.0) + share / total
        for f in target:
            if f not in self.targets:
                log.set(self.targets, f, None)
        for e, row in expected.items():
            if e not in self.counts:
                log.set(self.counts, e, {})
            self.add(e, row, log)
        return loss / len(target)

    def add(self, source: str, row: dict[str, float], log: UndoLog) -> None:
        """Add counts of translations of one source word."""
        counts = self.counts[source]
        for target, amount in row.items():
            log.add(counts, target, amount)
        log.add(self.totals, source, sum(row.values()))


@register_kind
@method_card(
    paper="Ortiz-Martinez, Online learning for statistical machine translation, Computational Linguistics 42, 2016",
    kind="translation_lexicon",
    tasks=("structured",),
    params={"smoothing": SMOOTHING},
    merge=Merge("exact", "the expected counts add"),
)
class TranslationLexicon(TextLearner[Lexicon]):
    """Translation probabilities of words, t(f | e), from pairs of sentences: IBM model 1 by incremental EM.

    Every pair adds its expected counts under the current parameters, and t(f | e) is the share of f in the counts of e.
    The loss of a pair is -log p(target | source) per word before it is learned; predicted is the most probable
    translation of every word by itself.
    """

    kind: ClassVar[str] = "translation_lexicon"
    task = "structured"
    pairs = True

    def __init__(self, smoothing: float = 0.1) -> None:
        self.smoothing = SMOOTHING.check(self.kind, "smoothing", smoothing)
        super().__init__()

    @property
    def params(self) -> dict[str, Any]:
        return {"smoothing": self.smoothing}

    def start_state(self) -> Lexicon:
        return Lexicon()

    def learn_round(self, state: Lexicon, one: tuple[Words, Words], log: UndoLog) -> float:
        return state.learn(*one, self.smoothing, log)

    def predict_round(self, state: Lexicon, x: Words) -> str:
        """The most probable translation of every word; a word that is not known stays as it is."""
        return " ".join(max(row, key=row.__getitem__) if (row := state.counts.get(word)) else word for word in x)

    def translations(self, word: str, most: int = 10) -> dict[str, float]:
        """The most probable translations of a word, with t(f | e)."""
        with self._lock:
            self._change.settle()
            row = self.state.counts.get(word, {})
            best = sorted(row, key=lambda target: -row[target])[:most]
            return {target: self.state.probability(target, word, self.smoothing) for target in best}

    def describe_results(self) -> list[str]:
        """What it has learned, as lines of text for `noregret show`."""
        pairs = sum(map(len, self.state.counts.values()))
        counts = f"{len(self.state.counts):,} source words, {len(self.state.targets):,} target words, {pairs:,} pairs"
        often = sorted(self.state.totals, key=lambda word: -self.state.totals[word])[:10]
        best = [(word, next(iter(self.translations(word, 1).items()))) for word in often if word]
        return [counts, *(f"{word}: {target} ({probability:.2f})" for word, (target, probability) in best)]

    # ---- merging and model files -------------------------------------------------------------------------------------

    def merge(self, other: Any) -> Self:
        """A new lexicon of the pairs of both: the counts add."""
        self.check_same(other)
        new, log = self.copy(), UndoLog(keep=False)
        new.state.targets.update(other.state.targets)
        for source, row in other.state.counts.items():
            new.state.counts.setdefault(source, {})
            new.state.add(source, row, log)
        new.state.totals = {word: new.state.totals.get(word, 0.0) for word in new.state.counts}
        for source, total in other.state.totals.items():
            new.state.totals[source] = self.state.totals.get(source, 0.0) + total
        new.add_counts(other)
        return new

    def dump(self) -> tuple[Header, Arrays]:
        with self._lock:
            self._change.settle()
            state = self.state
            sources = {word: place for place, word in enumerate(state.counts)}
            targets = {word: place for place, word in enumerate(state.targets)}
            cells = [(sources[e], targets[f], count) for e, row in state.counts.items() for f, count in row.items()]
            arrays: Arrays = {
                "sources": dump_words(word for word in state.counts if word != NULL),
                "targets": dump_words(state.targets),
                "totals": np.array([state.totals[word] for word in state.counts]),
                "pairs": np.array([cell[:2] for cell in cells], np.int64).reshape(-1, 2),
                "counts": np.array([cell[2] for cell in cells], np.float64),
            }
            return {**self.params, **self.dump_counts()}, arrays

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        new = cls(read_param(header, "smoothing", SMOOTHING))
        new.restore_counts(header)
        targets = read_words(arrays, "targets")
        sources = read_words(arrays, "sources")
        if targets or new.rounds:
            sources = [NULL, *sources]  # it is the first source word of every pair
        totals = read_amounts(arrays, "totals", (len(sources),))
        cells = count_rows(arrays, "pairs")
        pairs = read_numbers(arrays, "pairs", (cells, 2), max(len(sources), len(targets)))
        counts = read_amounts(arrays, "counts", (cells,))
        state = new.state
        state.targets = dict.fromkeys(targets)
        state.counts = {word: {} for word in sources}
        state.totals = dict(zip(sources, totals.tolist(), strict=True))
        for (e, f), count in zip(pairs.tolist(), counts.tolist(), strict=True):
            if e >= len(sources) or f >= len(targets) or targets[f] in state.counts[sources[e]]:
                raise corrupt("the pairs of words do not fit the words")
            state.counts[sources[e]][targets[f]] = count
        return new
