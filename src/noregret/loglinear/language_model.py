"""A language model that learns every sentence after it was scored: n-grams with interpolated Kneser-Ney smoothing."""

from typing import Any, ClassVar, Self

import numpy as np

from noregret.errors import BadValue
from noregret.learner.header_fields import LARGEST_COUNT, corrupt, read_param
from noregret.learner.model_file import Arrays, FindCard, Header, register_kind
from noregret.loglinear.kneser_ney import BEGIN, END, FIRST, NGramCounts
from noregret.loglinear.text_learner import TextLearner, Words
from noregret.loglinear.undo_log import UndoLog
from noregret.loglinear.word_file import count_rows, dump_words, read_numbers, read_words
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Param

ORDER = Param(3, at_least=1.0, at_most=7.0, about="words of the longest n-grams", grid=(2, 3, 4, 5))


@register_kind
@method_card(
    paper="Kneser and Ney, Improved backing-off for m-gram language modeling, ICASSP, 1995",
    kind="language_model",
    tasks=("unsupervised",),
    params={"order": ORDER},
    merge=Merge("exact", "the counts of the longest n-grams add, and all others follow from them"),
)
class LanguageModel(TextLearner[NGramCounts]):
    """The probability of sentences, by n-grams with interpolated Kneser-Ney smoothing whose counts are updated online.

    The loss of a sentence is -log p per word, its end included, before it is learned. `predict` returns log p per word.
    """

    kind: ClassVar[str] = "language_model"

    def __init__(self, order: float = 3) -> None:
        self.order = int(ORDER.check(self.kind, "order", order))
        if self.order != order:
            raise BadValue(f"{self.kind}: order must be a whole number, not {order!r}")
        super().__init__()

    @property
    def params(self) -> dict[str, Any]:
        return {"order": self.order}

    def start_state(self) -> NGramCounts:
        return NGramCounts(self.order)

    def learn_round(self, state: NGramCounts, one: Words, log: UndoLog) -> float:
        loss = max(0.0 - state.log_probability(one), 0.0)
        state.learn(one, log)
        return loss

    def predict_round(self, state: NGramCounts, x: Words) -> float:
        return state.log_probability(x)

    def describe_results(self) -> list[str]:
        """What it has learned, as lines of text for `noregret show`."""
        grams = ", ".join(f"{len(table):,} of {n} words" for n, table in enumerate(self.state.grams, 1))
        return [f"{len(self.state.words):,} words; n-grams: {grams}"]

    # ---- merging and model files -------------------------------------------------------------------------------------

    def merge(self, other: Any) -> Self:
        """A new model of the sentences of both: the counts add."""
        self.check_same(other)
        new, log = self.copy(), UndoLog(keep=False)
        number = {BEGIN: BEGIN, END: END}
        for word, place in other.state.words.items():
            number[place] = new.state.words.setdefault(word, len(new.state.words) + FIRST)
        for gram, count in other.state.grams[-1].items():
            new.state.add(tuple(number[word] for word in gram), count, log)
        new.add_counts(other)
        return new

    def dump(self) -> tuple[Header, Arrays]:
        with self._lock:
            self._change.settle()
            grams = sorted(self.state.grams[-1].items())
            arrays: Arrays = {
                "words": dump_words(self.state.words),
                "grams": np.array([gram for gram, _ in grams], np.int64).reshape(-1, self.order),
                "counts": np.array([count for _, count in grams], np.int64),
            }
            return {**self.params, **self.dump_counts()}, arrays

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """The longest n-grams, from which all other counts follow."""
        new, log = cls(read_param(header, "order", ORDER)), UndoLog(keep=False)
        new.restore_counts(header)
        words = read_words(arrays, "words")
        rows = count_rows(arrays, "grams")
        grams = read_numbers(arrays, "grams", (rows, new.order), len(words) + FIRST)
        counts = read_numbers(arrays, "counts", (rows,), LARGEST_COUNT, 1)
        inside, last = grams[:, :-1], grams[:, -1]
        begun = (inside[:, 1:] != BEGIN) | (inside[:, :-1] == BEGIN)  # begins stand before all words
        if (last == BEGIN).any() or (inside == END).any() or not begun.all() or sum(counts.tolist()) >= LARGEST_COUNT:
            raise corrupt("the n-grams are not those of sentences")
        new.state.words = {word: place for place, word in enumerate(words, FIRST)}
        for gram, count in zip(map(tuple, grams.tolist()), counts.tolist(), strict=True):
            if gram in new.state.grams[-1]:
                raise corrupt("an n-gram is there twice")
            new.state.add(gram, count, log)
        return new
