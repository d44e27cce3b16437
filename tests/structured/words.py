"""Small made-up words with outputs, for tests of transducers."""

import numpy as np

SOUNDS = {"a": "A", "e": "", "t": "T", "s": "S", "x": "KS", "k": "K"}


def spoken_words(count: int, seed: int = 0, longest: int = 6) -> tuple[list[str], list[list[str]]]:
    """Words whose letters write nothing, one or two symbols; s before e is another sound."""
    rng = np.random.default_rng(seed)
    words = ["".join(rng.choice(list(SOUNDS), size=rng.integers(1, longest + 1))) for _ in range(count)]
    return words, [pronounce(word) for word in words]


def pronounce(word: str) -> list[str]:
    return list("".join("Z" if word[at : at + 2] == "se" else SOUNDS[letter] for at, letter in enumerate(word)))
