"""Counts of an n-gram model with interpolated Kneser-Ney smoothing, updated one n-gram at a time.

The longest n-grams are counted as they occur. A shorter one is counted once for every different word in front of it:
when an n-gram appears for the first time, what follows its first word has one more continuation. How many n-grams have
the counts 1 and 2, from which the discounts follow, is kept up to date in the same step.
"""

import math
from typing import Any

from noregret.loglinear.undo_log import UndoLog

BEGIN, END, UNKNOWN, FIRST = 0, 1, -1, 2  # numbers of the edges of a sentence, of unknown words, of the first word
USUAL_DISCOUNT = 0.75  # before there are n-grams with the counts 1 and 2
Gram = tuple[int, ...]


class NGramCounts:
    """Counts by the length of n-grams: of the n-grams, and of their contexts (the sum, and how many follow)."""

    def __init__(self, order: int) -> None:
        self.order = order
        self.words: dict[str, int] = {}
        self.grams: list[dict[Gram, int]] = [{} for _ in range(order)]
        self.totals: list[dict[Gram, int]] = [{} for _ in range(order)]
        self.followers: list[dict[Gram, int]] = [{} for _ in range(order)]
        self.of_counts: list[dict[int, int]] = [{} for _ in range(order)]  # how many n-grams have the counts 1 and 2

    def copy(self) -> "NGramCounts":
        new = NGramCounts(self.order)
        new.words = dict(self.words)
        for name in ("grams", "totals", "followers", "of_counts"):
            setattr(new, name, [dict(table) for table in getattr(self, name)])
        return new

    def __deepcopy__(self, memo: Any) -> "NGramCounts":
        return self.copy()

    # ---- counting ------------------------------------------------------------------------------------------------

    def numbers(self, words: tuple[str, ...]) -> list[int]:
        """The words of a sentence as numbers, with its edges."""
        known = self.words
        return [BEGIN] * (self.order - 1) + [known.get(word, UNKNOWN) for word in words] + [END]

    def learn(self, words: tuple[str, ...], log: UndoLog) -> None:
        """Count the n-grams of a sentence."""
        for word in words:
            if word not in self.words:
                log.set(self.words, word, len(self.words) + FIRST)
        numbers, order = self.numbers(words), self.order
        for end in range(order, len(numbers) + 1):
            self.add(tuple(numbers[end - order : end]), 1, log)

    def add(self, gram: Gram, count: int, log: UndoLog) -> None:
        """Add to the count of one of the longest n-grams; a new one is a continuation of the shorter ones."""
        for n in range(self.order - 1, -1, -1):
            before = self.grams[n].get(gram, 0)
            log.set(self.grams[n], gram, before + count)
            log.add(self.totals[n], gram[:-1], count)
            for number, change in ((before, -1), (before + count, 1)):
                if number in (1, 2):
                    log.add(self.of_counts[n], number, change)
            if before:
                return
            log.add(self.followers[n], gram[:-1], 1)
            gram, count = gram[1:], 1

    # ---- probabilities -------------------------------------------------------------------------------------------

    def discounts(self) -> list[float]:
        """What is taken from every count: n1 / (n1 + 2 n2), by the length of n-grams."""
        found = []
        for table in self.of_counts:
            ones, twos = table.get(1, 0), table.get(2, 0)
            found.append(ones / (ones + 2.0 * twos) if ones and twos else USUAL_DISCOUNT)
        return found

    def probability(self, gram: Gram, discounts: list[float]) -> float:
        """p(last word | words before), interpolated with shorter contexts down to a uniform distribution.

        The sum over all known words, the end of a sentence and one unknown word is 1.
        """
        p = 1.0 / (self.followers[0].get((), 0) + 1.0)
        for n in range(min(self.order, len(gram))):
            part = gram[len(gram) - n - 1 :]
            context = part[:-1]
            total = self.totals[n].get(context)
            if total is None:
                break
            kept = max(self.grams[n].get(part, 0) - discounts[n], 0.0)
            p = (kept + discounts[n] * self.followers[n][context] * p) / total
        return p

    def log_probability(self, words: tuple[str, ...]) -> float:
        """log p of a sentence, with its end, per word."""
        numbers, order, discounts = self.numbers(words), self.order, self.discounts()
        ends = range(order, len(numbers) + 1)
        total = sum(math.log(self.probability(tuple(numbers[end - order : end]), discounts)) for end in ends)
        return total / len(ends)
