"""Small made-up sentences with tags, for tests of sequence learners."""

import numpy as np

WORDS = {
    "D": ("the", "a", "this"),
    "N": ("dog", "Cat", "mouse-trap", "run", "fish"),
    "V": ("runs", "run", "fish", "sees", "barked"),
    "A": ("big", "red", "3rd"),
    "P": (".", "!"),
}
NEXT = {"": "DDAN", "D": "AANN", "A": "NNA", "N": "VVNP", "V": "DDPA", "P": ""}


def tagged_sentences(count: int, seed: int = 0) -> tuple[list[list[str]], list[list[str]]]:
    """Sentences of a small language whose words have several tags."""
    rng = np.random.default_rng(seed)
    sentences: list[list[str]] = []
    tags: list[list[str]] = []
    for _ in range(count):
        tag = ""
        words: list[str] = []
        row: list[str] = []
        while tag != "P" and len(words) < 9:
            tag = str(rng.choice(list(NEXT[tag])))
            words.append(str(rng.choice(WORDS[tag])))
            row.append(tag)
        sentences.append(words)
        tags.append(row)
    return sentences, tags
