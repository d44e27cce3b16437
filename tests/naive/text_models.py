"""Generative models of text by their definitions: everything is computed again from all sentences so far."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

Words = tuple[str, ...]
END = "</s>"


class KneserNey:
    """Interpolated Kneser-Ney, from a list of sentences; continuation counts are sizes of sets."""

    def __init__(self, sentences: Sequence[Words], order: int) -> None:
        self.order = order
        padded = [("<s>",) * (order - 1) + words + (END,) for words in sentences]
        occurrences = [words[at - order + 1 : at + 1] for words in padded for at in range(order - 1, len(words))]
        self.counts: list[Counter[Words]] = [Counter() for _ in range(order)]
        self.counts[order - 1] = Counter(occurrences)
        for n in range(order - 1, 0, -1):
            longer = {gram[order - n - 1 :] for gram in self.counts[order - 1]}
            self.counts[n - 1] = Counter(gram[1:] for gram in longer)
        self.vocabulary = {gram[0] for gram in self.counts[0]}

    def discount(self, n: int) -> float:
        ones = sum(count == 1 for count in self.counts[n - 1].values())
        twos = sum(count == 2 for count in self.counts[n - 1].values())
        return ones / (ones + 2 * twos) if ones and twos else 0.75

    def probability(self, word: str, context: Words) -> float:
        """p(word | context), where the context has at most order - 1 words."""
        n = len(context) + 1
        shorter = self.probability(word, context[1:]) if context else 1 / (len(self.vocabulary) + 1)
        table = {gram: count for gram, count in self.counts[n - 1].items() if gram[:-1] == context}
        if not table:
            return shorter
        total, d = sum(table.values()), self.discount(n)
        return (max(table.get((*context, word), 0) - d, 0) + d * len(table) * shorter) / total

    def log_probability(self, words: Words) -> float:
        padded = ("<s>",) * (self.order - 1) + words + (END,)
        ends = range(self.order - 1, len(padded))
        return sum(math.log(self.probability(padded[at], padded[at - self.order + 1 : at])) for at in ends) / len(ends)


class Lexicon:
    """IBM model 1: expected counts of every pair, computed with the counts of the pairs before."""

    def __init__(self, smoothing: float) -> None:
        self.smoothing = smoothing
        self.counts: defaultdict[tuple[str, str], float] = defaultdict(float)

    def t(self, f: str, e: str) -> float:
        known = {target for _, target in self.counts}
        total = sum(count for (source, _), count in self.counts.items() if source == e)
        return (self.counts.get((e, f), 0.0) + self.smoothing / (len(known) + 1)) / (total + self.smoothing)

    def log_probability(self, source: Words, target: Words) -> float:
        words = ("", *source)
        return sum(math.log(sum(self.t(f, e) for e in words) / len(words)) for f in target) / len(target)

    def learn(self, source: Words, target: Words) -> None:
        words = ("", *source)
        shares = [(e, f, self.t(f, e) / sum(self.t(f, other) for other in words)) for f in target for e in words]
        for e, f, share in shares:
            self.counts[e, f] += share


def cache_value(sentences: Sequence[Words], gram: Words, tau: float) -> float:
    """The sum of exp(-age / tau) over the uses of an n-gram; the last sentence has the age 0."""
    found = 0.0
    for age, words in enumerate(reversed(sentences)):
        uses = sum(words[at : at + len(gram)] == gram for at in range(len(words) - len(gram) + 1))
        found += uses * math.exp(-age / tau)
    return found


def cache_log_probability(sentences: Sequence[Words], words: Words, tau: float) -> float:
    known = {word for sentence in sentences for word in sentence}
    total = sum(len(sentence) * math.exp(-age / tau) for age, sentence in enumerate(reversed(sentences)))
    shares = [(cache_value(sentences, (word,), tau) + 1 / (len(known) + 1)) / (total + 1) for word in words]
    return sum(map(math.log, shares)) / len(words)
