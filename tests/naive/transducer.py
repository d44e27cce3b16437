"""Transducers in plain Python over dicts, by trying every output: the perceptron and PA-I for very short words."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

Key = tuple[str, str]  # a feature and what it is to write; the empty text is nothing
Chunks = tuple[tuple[str, ...], ...]  # what each letter writes
START = "<start>"


def edit_distance(one: Sequence[object], other: Sequence[object]) -> int:
    if not one or not other:
        return len(one) + len(other)
    return min(
        edit_distance(one[1:], other) + 1,
        edit_distance(one, other[1:]) + 1,
        edit_distance(one[1:], other[1:]) + (one[0] != other[0]),
    )


def written(chunks: Chunks) -> tuple[str, ...]:
    return tuple(symbol for chunk in chunks for symbol in chunk)


def all_chunks(length: int, symbols: Sequence[str]) -> Iterator[Chunks]:
    single = [(), *((a,) for a in symbols), *product(symbols, repeat=2)]
    return product(single, repeat=length)


def features(word: str, chunks: Chunks) -> dict[Key, float]:
    """How often each feature writes each symbol: a letter alone and with the one before it, and the symbol before."""
    found: dict[Key, float] = {}

    def add(name: str, symbol: str) -> None:
        found[name, symbol] = found.get((name, symbol), 0.0) + 1.0

    before = START
    for at, chunk in enumerate(chunks):
        pair = f"letter[-1]+letter={word[at - 1] if at else '<s>'}|{word[at]}"
        add(f"letter={word[at]}", chunk[0] if chunk else "")
        add(pair, chunk[0] if chunk else "")
        if chunk:
            add(f"insert letter={word[at]}", chunk[1] if len(chunk) > 1 else "")
        for symbol in chunk:
            add(f"after={before}", symbol)
            before = f"str:{symbol}"
    add(f"after={before}", "")
    return found


def dot(w: Mapping[Key, float], z: Mapping[Key, float]) -> float:
    return sum(w.get(key, 0.0) * value for key, value in z.items())


def best_outputs(w: Mapping[Key, float], word: str, symbols: Sequence[str]) -> list[tuple[float, Chunks]]:
    """Every output by its best chunks, the best first."""
    best: dict[tuple[str, ...], tuple[float, Chunks]] = {}
    for chunks in all_chunks(len(word), symbols):
        score, output = dot(w, features(word, chunks)), written(chunks)
        if output not in best or score > best[output][0]:
            best[output] = score, chunks
    return sorted(best.values(), key=lambda found: -found[0])


class NaiveTransducer:
    """One round at a time: predict, then step along the difference of the right output and its rival."""

    def __init__(self, w: Mapping[Key, float], rule: str = "perceptron", listed: int = 5) -> None:
        self.w, self.rule, self.listed = dict(w), rule, listed
        self.symbols: list[str] = []

    def learn_one(self, word: str, truth: Sequence[str]) -> float:
        """Learn a word; returns the edit distance of what the current weights predict."""
        right = tuple(truth)
        loss = float(len(right))
        if self.symbols:
            loss = float(edit_distance(written(best_outputs(self.w, word, self.symbols)[0][1]), right))
        self.symbols += [symbol for symbol in dict.fromkeys(right) if symbol not in self.symbols]
        found = best_outputs(self.w, word, self.symbols)
        aligned = next(chunks for _, chunks in found if written(chunks) == right)
        rival = found[0][1]
        if self.rule == "pa1":
            rival = max(found[: self.listed], key=lambda one: one[0] + edit_distance(written(one[1]), right))[1]
        z = features(word, aligned)
        for key, value in features(word, rival).items():
            z[key] = z.get(key, 0.0) - value
        z = {key: value for key, value in z.items() if value}
        missing = edit_distance(written(rival), right) - dot(self.w, z)
        step = min(1.0, max(0.0, missing) / max(dot(z, z), 1e-300)) if self.rule == "pa1" else float(missing >= 1.0)
        for key, value in z.items():
            self.w[key] = self.w.get(key, 0.0) + step * value
        return loss
