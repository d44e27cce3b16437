"""Features of candidates from their words: by generative models, and sparse n-grams and pairs of words."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from noregret.data.candidate_lists import CandidateList
from noregret.data.words import split_words
from noregret.loglinear.kneser_ney import Gram, NGramCounts
from noregret.loglinear.language_model import LanguageModel
from noregret.loglinear.lexicon import NULL, TranslationLexicon
from noregret.loglinear.recent_cache import RecentCache

Words = tuple[str, ...]
Rows = list[dict[str, float]]
NGRAMS = 2  # words of the longest sparse n-grams


class Models(NamedTuple):
    """What is learned of validated outputs: translations of words in both directions, n-grams, and recent sentences."""

    lexicon: TranslationLexicon
    inverse: TranslationLexicon
    language: LanguageModel
    cache: RecentCache


def words_of(one: CandidateList) -> tuple[Words, list[Words]]:
    """The words of the source and of every candidate."""
    return split_words(one.source), [split_words(text) for text in one.texts or ()]


def generative_features(models: Models, source: Words, candidates: Sequence[Words]) -> Rows:
    """What the models say of every candidate, per word.

    `lexicon` is log p of its words given the source, `inverse` log p of the source given its words, `language` log p by
    the n-grams, and `cache1` to `cache3` the values v of its n-grams in the cache, as v / (1 + v).
    """
    known = sorted({word for words in candidates for word in words})
    translated = models.lexicon.state.log_probabilities(source, known, models.lexicon.smoothing)
    explained = Explained(models.inverse, source, known)
    language, values = NGramScores(models.language.state), dict[Words, float]()
    rows = []
    for words in candidates:
        row = {
            "lexicon": sum(translated[word] for word in words) / max(len(words), 1),
            "inverse": explained.log_probability(words),
            "language": language.log_probability(words),
        }
        for n in range(1, 4):
            grams = [words[at : at + n] for at in range(len(words) - n + 1)]
            for gram in grams:
                if gram not in values:
                    found = models.cache.state.value(gram, models.cache.tau)
                    values[gram] = found / (1.0 + found)
            row[f"cache{n}"] = sum(values[gram] for gram in grams) / max(len(grams), 1)
        rows.append(row)
    return rows


class Explained:
    """log p(source | candidate) of many candidates: each pair of words is looked up once."""

    def __init__(self, inverse: TranslationLexicon, source: Words, known: Sequence[str]) -> None:
        t, smoothing = inverse.state.probability, inverse.smoothing
        self.place = {word: row for row, word in enumerate((NULL, *known))}
        self.t = np.array([[t(one, word, smoothing) for one in source] for word in self.place]).reshape(
            len(self.place), len(source)
        )

    def log_probability(self, words: Words) -> float:
        """log p of the source per word: each of its words comes from one word of the candidate, or from none."""
        if not self.t.size:
            return 0.0
        rows = [0, *(self.place[word] for word in words)]
        return float(np.log(self.t[rows].sum(axis=0) / len(rows)).mean())


class NGramScores:
    """log p of many sentences by one state of an n-gram model; each n-gram is looked up once."""

    def __init__(self, state: NGramCounts) -> None:
        self.state, self.discounts = state, state.discounts()
        self.known: dict[Gram, float] = {}

    def log_probability(self, words: Words) -> float:
        """log p per word, with the end of the sentence."""
        numbers, order = self.state.numbers(words), self.state.order
        total = 0.0
        for end in range(order, len(numbers) + 1):
            gram = tuple(numbers[end - order : end])
            if gram not in self.known:
                self.known[gram] = math.log(self.state.probability(gram, self.discounts))
            total += self.known[gram]
        return total / (len(words) + 1)


def sparse_features(models: Models, source: Words, candidates: Sequence[Words]) -> Rows:
    """Of every candidate: its n-grams, and its words with the word of the source that most probably explains each."""
    state, smoothing = models.lexicon.state, models.lexicon.smoothing
    linked: dict[str, str] = {}
    rows = []
    for words in candidates:
        row: dict[str, float] = {}
        for n in range(1, NGRAMS + 1):
            for at in range(len(words) - n + 1):
                name = " ".join(("ngram", *words[at : at + n]))
                row[name] = row.get(name, 0.0) + 1.0
        for word in words:
            if word not in linked:
                linked[word] = max((NULL, *source), key=lambda e: state.probability(word, e, smoothing))
            name = f"pair {linked[word]} {word}"
            row[name] = row.get(name, 0.0) + 1.0
        rows.append(row)
    return rows
