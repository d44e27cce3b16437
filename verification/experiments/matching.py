"""Bipartite matching: which German caption says the same as which English one, in shuffled lists of captions."""

import gzip
import re
from pathlib import Path
from typing import Any

import numpy as np

import noregret as nr

FILES = ("multi30k/train.en.gz", "multi30k/train.de.gz", "multi30k/val.en.gz", "multi30k/val.de.gz")
SIZE, ROUNDS = 8, 500  # captions in a list, lists that are learned
HEAD = ("learner", "wrong pairs, learning", "wrong pairs, new lists")
RULES = ("perceptron(average=True)", "pa1(C=0.1)", "pa1(C=0.1, average=True)", "arow")

Lists = tuple[list[Any], list[Any]]


def words(line: str) -> list[str]:
    return re.findall(r"\w+", line.lower())


def pairs_of_words(english: list[str], german: list[str]) -> dict[str, float]:
    """Every word of one caption with every word of the other, how different the lengths are, and that it is a pair."""
    share = 1.0 / max(len(english), 1)
    features = {f"{one}|{other}": share for one in english for other in german}
    return features | {"pair": 1.0, "length": abs(len(english) - len(german)) / 10.0}


def shared_words(english: list[str], german: list[str]) -> dict[str, float]:
    """What needs no dictionary: words that begin alike, and lengths."""
    alike = len({word[:4] for word in english} & {word[:4] for word in german})
    return {"alike": float(alike), "length": -abs(len(english) - len(german)) / 10.0}


def read(base: Path, part: str, most: int) -> Lists:
    """Shuffled lists of captions, and the pairs that belong together."""
    sides = []
    for language in ("en", "de"):
        with gzip.open(base / f"multi30k/{part}.{language}.gz", "rt", encoding="utf-8") as file:
            sides.append([words(line) for line in file])
    rng, X, y = np.random.default_rng(0), [], []
    for first in range(0, min(most * SIZE, len(sides[0]) - SIZE + 1), SIZE):
        order = rng.permutation(SIZE).tolist()
        X.append((sides[0][first : first + SIZE], [sides[1][first + place] for place in order]))
        y.append(tuple(sorted((place, at) for at, place in enumerate(order))))
    return X, y


def run(base: Path) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    learned, new = read(base, "train", ROUNDS), read(base, "val", ROUNDS)
    rows = [without_learning(*new), *(by_rule(rule, learned, new) for rule in RULES)]
    return HEAD, rows


def without_learning(X: list[Any], y: list[Any]) -> tuple[str, ...]:
    """Captions with words that begin alike, and of similar length."""

    class Given:
        def dots(self, rows: list[dict[str, float]]) -> Any:
            return np.array([sum(row.values()) for row in rows])

    decoder: Any = nr.Matching(shared_words, partial=False)
    wrong = sum(decoder.loss(truth, decoder.argmax(Given(), x)) for x, truth in zip(X, y, strict=True))
    return "words that begin alike, without learning", "", f"{wrong / (SIZE * len(y)):.4f}"


def by_rule(rule: str, learned: Lists, new: Lists) -> tuple[str, ...]:
    learner: Any = nr.make("structured", decoder=nr.Matching(pairs_of_words, partial=False), learner=rule)
    transcript = learner.play(*learned)
    found = learner.predict(new[0])
    wrong = sum(learner.decoder.loss(truth, one) for truth, one in zip(new[1], found, strict=True))
    rates = transcript.losses.sum() / (SIZE * transcript.rounds), wrong / (SIZE * len(new[1]))
    return rule, *(f"{rate:.4f}" for rate in rates)
