"""How good a candidate is beside a reference: sentence BLEU, translation edit rate, corpus BLEU.

Papineni, Roukos, Ward and Zhu, BLEU: a method for automatic evaluation of machine translation, ACL, 2002; smoothed as
in Lin and Och, Automatic evaluation of machine translation quality using longest common subsequence, ACL, 2004.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.data.words import split_words
from noregret.errors import import_extra
from noregret.rules.parameters import Choice

ORDER = 4  # of the longest n-grams
Words = Sequence[str]
QUALITY = Choice(
    "bleu",
    {"bleu": None, "ter": None},
    "how candidates are compared with a reference: sentence BLEU, or the translation edit rate (needs sacrebleu)",
)


class Matches(NamedTuple):
    """What BLEU counts of a candidate: for n = 1 to 4 its n-grams and how many of them the reference has."""

    right: tuple[int, ...]
    total: tuple[int, ...]
    length: int
    reference: int


def count_ngrams(words: Words) -> Counter[Words]:
    """All n-grams of up to four words, and how often each is there."""
    return Counter(words[at : at + n] for n in range(1, ORDER + 1) for at in range(len(words) - n + 1))


def match(candidate: Words, reference: Words, known: Counter[Words] | None = None) -> Matches:
    """Count the n-grams of a candidate, which count as right at most as often as the reference has them."""
    known = count_ngrams(reference) if known is None else known
    right = [0] * ORDER
    for ngram, count in count_ngrams(candidate).items():
        if ngram in known:
            right[len(ngram) - 1] += min(count, known[ngram])
    total = tuple(max(len(candidate) - n, 0) for n in range(ORDER))
    return Matches(tuple(right), total, len(candidate), len(reference))


def brevity(length: int, reference: int) -> float:
    """The factor that punishes candidates shorter than the reference."""
    return 1.0 if length >= reference else math.exp(1.0 - reference / length) if length else 0.0


def smoothed_bleu(found: Matches) -> float:
    """BLEU of one sentence, from 0 to 1: one more match and one more n-gram for n > 1; 0 where no word is right."""
    if not found.right[0]:
        return 0.0
    shares = [math.log(found.right[0] / found.total[0])]
    shares += [math.log((found.right[n] + 1) / (found.total[n] + 1)) for n in range(1, ORDER)]
    return brevity(found.length, found.reference) * math.exp(sum(shares) / ORDER)


def sentence_bleu(candidate: str, reference: str) -> float:
    """Smoothed BLEU of a text beside its reference."""
    return smoothed_bleu(match(split_words(candidate), split_words(reference)))


def corpus_bleu(matches: Iterable[Matches]) -> float:
    """BLEU of many sentences together, from 0 to 1, without smoothing."""
    right, total, length, reference = [0] * ORDER, [0] * ORDER, 0, 0
    for one in matches:
        right = [a + b for a, b in zip(right, one.right, strict=True)]
        total = [a + b for a, b in zip(total, one.total, strict=True)]
        length, reference = length + one.length, reference + one.reference
    if not all(right):
        return 0.0
    mean = sum(math.log(a / b) for a, b in zip(right, total, strict=True)) / ORDER
    return brevity(length, reference) * math.exp(mean)


def edit_rates(texts: Sequence[str], reference: str) -> list[float]:
    """The translation edit rate of each text: edits, also moves of phrases, over the words of the reference."""
    metric = import_extra("sacrebleu.metrics", "translation", "the translation edit rate").TER()
    return [float(metric.sentence_score(text, [reference]).score) / 100.0 for text in texts]


def text_losses(texts: Sequence[str], reference: str, quality: str) -> NDArray[np.float64]:
    """The loss of each text beside its reference: 1 - BLEU, or the edit rate."""
    if quality == "ter":
        return np.array(edit_rates(texts, reference))
    words = split_words(reference)
    known = count_ngrams(words)
    return np.array([1.0 - smoothed_bleu(match(split_words(text), words, known)) for text in texts])
