"""The baseline of transduction: each letter always writes its most frequent chunk of at most two symbols."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

Chunk = tuple[str, ...]
ROUNDS = 6
UNSEEN = 1e-4  # the share of a chunk that a letter was not seen with


def align(word: str, symbols: Sequence[str], price: Callable[[str, Chunk], float]) -> list[Chunk]:
    """What each letter writes in the cheapest alignment; of equal ones, that closest to the diagonal."""
    best: dict[int, tuple[float, float, list[Chunk]]] = {0: (0.0, 0.0, [])}
    for i, letter in enumerate(word):
        now: dict[int, tuple[float, float, list[Chunk]]] = {}
        for j, (cost, off, chunks) in best.items():
            for size in (1, 0, 2):
                end = j + size
                if end > len(symbols) or len(symbols) - end > 2 * (len(word) - i - 1):
                    continue
                chunk = tuple(symbols[j:end])
                offer = cost + price(letter, chunk), off + abs(end * len(word) - (i + 1) * len(symbols))
                if end not in now or offer < now[end][:2]:
                    now[end] = (*offer, [*chunks, chunk])
        best = now
    return best[len(symbols)][2]


class Chunks:
    """Alignments are counted and found again by these counts, several times (hard EM), from the diagonal on."""

    def __init__(self, words: Sequence[str], outputs: Sequence[Sequence[str]]) -> None:
        counts: dict[str, Counter[Chunk]] = {}
        for _ in range(ROUNDS):
            prices = {
                letter: {chunk: -math.log(count / sum(own.values())) for chunk, count in own.items()}
                for letter, own in counts.items()
            }
            usual = -math.log(UNSEEN) if prices else 0.0

            def price(
                letter: str, chunk: Chunk, prices: dict[str, dict[Chunk, float]] = prices, usual: float = usual
            ) -> float:
                return prices.get(letter, {}).get(chunk, usual * max(1, len(chunk)))

            fresh: dict[str, Counter[Chunk]] = defaultdict(Counter)
            for word, output in zip(words, outputs, strict=True):
                for letter, chunk in zip(word, align(word, output, price), strict=True):
                    fresh[letter][chunk] += 1
            counts = dict(fresh)
        self.usual = {letter: own.most_common(1)[0][0] for letter, own in counts.items()}

    def predict(self, words: Sequence[str]) -> list[list[str]]:
        return [[symbol for letter in word for symbol in self.usual.get(letter, ())] for word in words]
