"""Features of candidates from their words: by generative models, and sparse n-grams and pairs of words."""

from collections.abc import Sequence
from typing import NamedTuple

from noregret.data.candidate_lists import CandidateList
from noregret.data.words import split_words
from noregret.loglinear.language_model import LanguageModel
from noregret.loglinear.lexicon import NULL, TranslationLexicon
from noregret.loglinear.recent_cache import RecentCache

Words = tuple[str, ...]
Rows = list[dict[str, float]]
GENERATIVE = ("lexicon", "language", "cache1", "cache2", "cache3")
NGRAMS = 2  # words of the longest sparse n-grams


class Models(NamedTuple):
    """What is learned of validated outputs: translations of words, n-grams, and recent sentences."""

    lexicon: TranslationLexicon
    language: LanguageModel
    cache: RecentCache


def words_of(one: CandidateList) -> tuple[Words, list[Words]]:
    """The words of the source and of every candidate."""
    return split_words(one.source), [split_words(text) for text in one.texts or ()]


def generative_features(models: Models, source: Words, candidates: Sequence[Words]) -> Rows:
    """Of every candidate: mean log p of its words given the source, log p by the language model, and cache scores."""
    lexicon, language, cache = models.lexicon.state, models.language.state, models.cache.state
    known = {word for words in candidates for word in words}
    translated = lexicon.log_probabilities(source, sorted(known), models.lexicon.smoothing)
    values: dict[Words, float] = {}
    rows = []
    for words in candidates:
        size = max(len(words), 1)
        row = {
            "lexicon": sum(translated[word] for word in words) / size,
            "language": language.log_probability(words),
        }
        for n in range(1, 4):
            grams = [words[at : at + n] for at in range(len(words) - n + 1)]
            for gram in grams:
                if gram not in values:
                    found = cache.value(gram, models.cache.tau)
                    values[gram] = found / (1.0 + found)
            row[f"cache{n}"] = sum(values[gram] for gram in grams) / max(len(grams), 1)
        rows.append(row)
    return rows


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
