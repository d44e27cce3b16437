"""A cache of recent sentences: every n-gram counts by how long ago it was used, exp(-age / tau)."""

import math
from typing import Any, ClassVar, Self

import numpy as np

from noregret.errors import BadValue
from noregret.learner.header_fields import corrupt, read_param
from noregret.learner.model_file import Arrays, FindCard, Header, register_kind
from noregret.loglinear.text_learner import TextLearner, Words
from noregret.loglinear.undo_log import UndoLog
from noregret.loglinear.word_file import count_rows, dump_words, read_amounts, read_numbers, read_words
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Param

TAU = Param(100.0, above=0.0, about="sentences after which a word counts 1/e of what it did", search=(1.0, 1e4, "log"))
ORDER = Param(3, at_least=1.0, at_most=7.0, about="words of the longest n-grams", grid=(1, 2, 3, 4))
UNKNOWN = 1.0  # the weight of words that are not in the cache, as a count
Entry = tuple[float, int]  # the sum of exp(-age / tau), and the sentence after which it was that


class CachedGrams:
    """The entries of n-grams, the number of sentences so far, and the entry of all words together."""

    def __init__(self) -> None:
        self.entries: dict[Words, Entry] = {}
        self.counters: dict[str, Any] = {"sentences": 0, "words": 0, "total": (0.0, 0)}

    def copy(self) -> "CachedGrams":
        new = CachedGrams()
        new.entries, new.counters = dict(self.entries), dict(self.counters)
        return new

    def __deepcopy__(self, memo: Any) -> "CachedGrams":
        return self.copy()

    def value(self, gram: Words, tau: float) -> float:
        """The sum of exp(-age / tau) over the uses of an n-gram; the last sentence has the age 0."""
        entry = self.entries.get(gram)
        return 0.0 if entry is None else entry[0] * math.exp((entry[1] - self.counters["sentences"]) / tau)

    def total(self, tau: float) -> float:
        """The sum of the values of all words."""
        value, last = self.counters["total"]
        return float(value * math.exp((last - self.counters["sentences"]) / tau))

    def learn(self, words: Words, order: int, tau: float, log: UndoLog) -> None:
        """Make all n-grams older by one sentence, and add those of this one."""
        now = self.counters["sentences"] + 1
        log.set(self.counters, "sentences", now)
        for gram in (words[at : at + n] for n in range(1, order + 1) for at in range(len(words) - n + 1)):
            if len(gram) == 1 and gram not in self.entries:
                log.add(self.counters, "words", 1)
            log.set(self.entries, gram, (self.value(gram, tau) + 1.0, now))
        log.set(self.counters, "total", (self.total(tau) + len(words), now))

    def log_probability(self, words: Words, tau: float) -> float:
        """log p per word: each comes from the cache by its value, or is any word or an unknown one."""
        base = UNKNOWN / (self.counters["words"] + 1.0)
        norm = math.log(self.total(tau) + UNKNOWN)
        return sum(math.log(self.value((word,), tau) + base) - norm for word in words) / len(words)


@register_kind
@method_card(
    paper="Kuhn and De Mori, A cache-based natural language model for speech recognition, IEEE PAMI 12, 1990",
    kind="recent_cache",
    tasks=("unsupervised",),
    params={"tau": TAU, "order": ORDER},
    merge=Merge("exact", "the sentences of the second follow those of the first"),
)
class RecentCache(TextLearner[CachedGrams]):
    """A cache of the words of recent sentences, where a sentence counts exp(-age / tau).

    The loss of a sentence is -log p per word before it is learned, by the values of its words in the cache. `predict`
    returns log p per word.
    """

    kind: ClassVar[str] = "recent_cache"

    def __init__(self, tau: float = 100.0, order: float = 3) -> None:
        self.tau = TAU.check(self.kind, "tau", tau)
        self.order = int(ORDER.check(self.kind, "order", order))
        if self.order != order:
            raise BadValue(f"{self.kind}: order must be a whole number, not {order!r}")
        super().__init__()

    @property
    def params(self) -> dict[str, Any]:
        return {"tau": self.tau, "order": self.order}

    def start_state(self) -> CachedGrams:
        return CachedGrams()

    def learn_round(self, state: CachedGrams, one: Words, log: UndoLog) -> float:
        loss = max(0.0 - state.log_probability(one, self.tau), 0.0)
        state.learn(one, self.order, self.tau, log)
        return loss

    def predict_round(self, state: CachedGrams, x: Words) -> float:
        return state.log_probability(x, self.tau)

    def describe_results(self) -> list[str]:
        """What it has learned, as lines of text for `noregret show`."""
        state = self.state
        counts = f"{state.counters['words']:,} words, {len(state.entries):,} n-grams"
        recent = sorted(state.entries, key=lambda gram: (-state.value(gram, self.tau), gram))[:10]
        return [counts, *(f"{' '.join(gram)}: {state.value(gram, self.tau):.2f}" for gram in recent)]

    # ---- merging and model files -------------------------------------------------------------------------------------

    def merge(self, other: Any) -> Self:
        """A new cache of both: the sentences of the other are the more recent ones."""
        self.check_same(other)
        new, later = self.copy(), other.state
        state, sentences = new.state, later.counters["sentences"]
        now = state.counters["sentences"] + sentences
        state.counters["sentences"] = now
        for gram, (value, last) in later.entries.items():
            age = (last - sentences) / self.tau
            state.entries[gram] = (state.value(gram, self.tau) + value * math.exp(age), now)
        state.counters["total"] = (state.total(self.tau) + later.total(self.tau), now)
        state.counters["words"] = sum(len(gram) == 1 for gram in state.entries)
        new.add_counts(other)
        return new

    def dump(self) -> tuple[Header, Arrays]:
        with self._lock:
            self._change.settle()
            entries, counters = self.state.entries, self.state.counters
            number = {gram[0]: place for place, gram in enumerate(one for one in entries if len(one) == 1)}
            grams = np.full((len(entries), self.order), -1, np.int64)
            for row, gram in enumerate(entries):
                grams[row, : len(gram)] = [number[word] for word in gram]
            value, last = counters["total"]
            arrays: Arrays = {
                "words": dump_words(number),
                "grams": grams,
                "values": np.array([*(entry[0] for entry in entries.values()), value]),
                "last": np.array([*(entry[1] for entry in entries.values()), last], np.int64),
            }
            return {**self.params, **self.dump_counts(), "sentences": counters["sentences"]}, arrays

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        new = cls(read_param(header, "tau", TAU), read_param(header, "order", ORDER))
        new.restore_counts(header)
        words, rows = read_words(arrays, "words"), count_rows(arrays, "grams")
        sentences = new.rounds
        if header.get("sentences") != sentences:
            raise corrupt("sentences must be the number of rounds")
        grams = read_numbers(arrays, "grams", (rows, new.order), len(words), -1)
        values = read_amounts(arrays, "values", (rows + 1,)).tolist()
        last = read_numbers(arrays, "last", (rows + 1,), sentences + 1).tolist()
        state = new.state
        for row, gram in enumerate(grams.tolist()):
            size = gram.index(-1) if -1 in gram else len(gram)
            if not size or any(number >= 0 for number in gram[size:]):
                raise corrupt("an n-gram must be one word or more")
            state.entries[tuple(words[number] for number in gram[:size])] = (values[row], last[row])
        single = [gram[0] for gram in state.entries if len(gram) == 1]
        if len(state.entries) != rows or single != words:
            raise corrupt("the n-grams must differ, and each word must be one")
        state.counters = {"sentences": sentences, "words": len(words), "total": (values[-1], last[-1])}
        return new
