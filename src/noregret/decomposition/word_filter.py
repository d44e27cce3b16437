"""Which words of documents are learned: no stop words, none that are too rare or too frequent so far.

A word is learned from the `least`-th document on that has it. It is left out while more than the share `most` of the
documents so far have it, from document 20 on. So the decision depends on earlier documents only.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from noregret.learner.header_fields import corrupt
from noregret.learner.model_file import Arrays

ENOUGH = 20  # documents before a word can be too frequent
ENGLISH = frozenset(
    re.findall(
        r"\w+",
        """
    about above after again against ago all almost along already also although always am among an and another any
    are aren around as at away back be became because become been before behind being below between both but by came
    can cannot could couldn did didn do does doesn doing don done down during each either else enough etc even ever
    every few for from further gave get gets give given go goes going gone got had hadn has hasn have haven having
    he her here hers herself him himself his how however if in instead into is isn it its itself just keep kept knew
    know known last later least less let like likely ll made make makes making many may maybe me might mine more
    most much must my myself need never no nor not nothing now of off often on once one ones only onto or other
    others otherwise our ours ourselves out over own per perhaps put quite rather re really said same saw say saying
    says see seem seemed seems seen several shall she should shouldn since so some something sometimes soon still
    such take taken tell than that the their theirs them themselves then there therefore these they thing things
    think this those though through thus to today together told too took toward two under until up upon us use used
    using ve very via want was wasn way we well went were weren what whatever when where whether which while who
    whole whom whose why will with within without won would wouldn yes yet you your yours yourself
    """,
    )
)
STOP_WORDS: Mapping[str, frozenset[str]] = {"none": frozenset(), "english": ENGLISH}


class WordFilter:
    """Counts in how many documents every word was, and leaves out words of documents."""

    def __init__(self, stop_words: str, least: int, most: float) -> None:
        self.stop_words, self.least, self.most = STOP_WORDS[stop_words], least, most
        self.documents = 0
        self.counts: dict[str, int] = {}

    @property
    def active(self) -> bool:
        return bool(self.stop_words) or self.least > 1 or self.most < 1.0

    @property
    def counting(self) -> bool:
        """Whether the numbers of documents are needed."""
        return self.least > 1 or self.most < 1.0

    def see(self, words: Mapping[Any, Any], journal: dict[Any, int]) -> None:
        """Count the words of a document; the journal gets the counts that they had before."""
        if self.counting:
            counts = self.counts
            self.documents += 1
            for word in words:
                count = counts.get(word, 0)
                journal.setdefault(word, count)
                counts[word] = count + 1

    def apply(self, words: Mapping[Any, Any]) -> dict[Any, Any]:
        """The words of a document that are learned."""
        stop = self.stop_words
        if not self.counting:
            return {word: count for word, count in words.items() if word not in stop or is_odd(count)}
        counts, least = self.counts, self.least
        limit = self.most * self.documents if self.documents >= ENOUGH else float("inf")
        return {
            word: count
            for word, count in words.items()
            if (word not in stop and least <= counts.get(word, 0) <= limit) or is_odd(count)
        }

    def savepoint(self) -> tuple[dict[Any, int], Callable[[], None]]:
        """A journal for the next call, and how to forget what it counts; that may be done more than once."""
        journal, documents = dict[Any, int](), self.documents

        def undo() -> None:
            for word, count in journal.items():
                if count:
                    self.counts[word] = count
                else:
                    self.counts.pop(word, None)
            self.documents = documents

        return journal, undo

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump(self) -> Arrays:
        if not self.counts:
            return {}
        text = json.dumps(list(self.counts)).encode()
        numbers = np.array([self.documents, *self.counts.values()], np.int64)
        return {"filter.words": np.frombuffer(text, np.uint8), "filter.documents": numbers}

    def restore(self, arrays: Arrays, seen: int) -> None:
        """Take what `dump` wrote after so many documents; everything is checked."""
        text, numbers = arrays.get("filter.words"), arrays.get("filter.documents")
        if text is None and numbers is None:
            return
        try:
            if text is None or numbers is None or text.dtype != np.uint8 or numbers.dtype != np.int64:
                raise ValueError
            words = json.loads(text.tobytes())
            documents, *counts = numbers.tolist()
        except (ValueError, UnicodeDecodeError):
            raise corrupt("the words it counted do not fit together") from None
        fits = isinstance(words, list) and all(isinstance(word, str) for word in words) and self.counting
        if not fits or not len(set(words)) == len(words) == len(counts):
            raise corrupt("the words it counted do not fit together")
        if not all(0 < count <= documents <= seen for count in counts):
            raise corrupt("the words it counted do not fit together")
        self.documents, self.counts = documents, dict(zip(words, counts, strict=True))


def is_odd(count: object) -> bool:
    """Whether it is no count of words; such a word is not left out, so that it is refused."""
    return not isinstance(count, (int, float)) or not (count >= 0 and count % 1 == 0)
