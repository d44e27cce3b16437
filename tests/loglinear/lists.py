"""Lists of candidates whose best one a hidden weighing of features decides; also with texts and a reference."""

from typing import Any

import numpy as np

Lists = tuple[list[Any], list[Any]]


def hidden_lists(rounds: int, seed: int = 0, noise: float = 0.1, features: int = 3) -> Lists:
    """Lists of dicts, and the loss of every candidate."""
    rng, hidden = np.random.default_rng(seed), np.array([2.0, -1.0, 0.5, 0.0, 1.0])[:features]
    X, Y = [], []
    for _ in range(rounds):
        table = rng.normal(size=(rng.integers(2, 7), features))
        quality = table @ hidden + noise * rng.normal(size=len(table))
        X.append([{f"f{k}": value for k, value in enumerate(row)} for row in table.tolist()])
        Y.append((quality.max() - quality).tolist())
    return X, Y


def varied_lists(rounds: int, seed: int = 0) -> Lists:
    """Lists in which features come and go, with a score that decides first; single candidates and ties, too."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for t in range(rounds):
        size = int(rng.integers(1, 5))
        rows = []
        for _ in range(size):
            names = ["score", *(f"g{k}" for k in rng.permutation(4 + t // 4)[: rng.integers(0, 4)])]
            rows.append(dict(zip(names, rng.normal(size=len(names)).tolist(), strict=True)))
        X.append(rows)
        Y.append(rng.integers(0, 3, size=size).astype(float).tolist() if t % 3 else int(rng.integers(size)))
    return X, Y


WORDS = ["the", "a", "dog", "cat", "house", "runs", "sleeps", "red", "small", "in", "under", "tree", "man", "sees"]


def text_lists(rounds: int, seed: int = 0, candidates: int = 5) -> Lists:
    """Pseudo n-best translations: the words of a reference with random errors, scored with noise; and references."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(rounds):
        reference = [WORDS[k] for k in rng.integers(len(WORDS), size=rng.integers(4, 9))]
        given: list[dict[str, Any]] = []
        for _ in range(candidates):
            words = [word if rng.random() > 0.25 else WORDS[rng.integers(len(WORDS))] for word in reference]
            wrong = sum(a != b for a, b in zip(words, reference, strict=True))
            given.append({"text": " ".join(words), "score": float(-wrong + 2.0 * rng.normal()),
                          "features": {"hint": float(-wrong + 0.1 * rng.normal())}})  # fmt: skip
        given.sort(key=lambda one: -one["score"])
        X.append({"source": " ".join(word[::-1] for word in reference), "candidates": given})
        Y.append(" ".join(reference))
    return X, Y
