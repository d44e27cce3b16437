"""Small made-up translations, and translators of a few thousand weights, for tests."""

from functools import cache
from typing import Any

import noregret as nr
from noregret.neural.translation.tensors import torch
from noregret.neural.translation.vocabulary import Vocabulary

torch().set_num_threads(1)
WORDS = {
    "the": "der", "a": "ein", "dog": "Hund", "cat": "Kater", "bird": "Vogel", "sees": "sieht", "hears": "hört",
    "small": "kleine", "old": "alte", "big": "große",
}  # fmt: skip
SIZES = {"layers": 1, "width": 8, "heads": 2, "hidden": 12, "beam": 2}
OPTIMIZERS = ["sgd", "adagrad", "adadelta", "adam", "pa"]


def sentences() -> list[str]:
    """All simple sentences of these words."""
    nouns, verbs, kinds = ("dog", "cat", "bird"), ("sees", "hears"), ("small", "old", "big")
    return [f"the {kind} {x} {verb} a {y}" for kind in kinds for x in nouns for verb in verbs for y in nouns if x != y]


def translation(sentence: str) -> str:
    """Word by word."""
    return " ".join(WORDS[word] for word in sentence.split())


X = sentences()
Y = [translation(one) for one in X]


@cache
def vocabulary(size: int = 320) -> Vocabulary:
    return Vocabulary.learn([*X, *Y], size)


def translator(**options: Any) -> Any:
    """A translator that has learned nothing yet."""
    return nr.make("translator", vocabulary=vocabulary(), **(SIZES | options))


def exact(learner: Any) -> Any:
    """Its weights in double precision, by which gradients can be checked."""
    return learner.state.vector.double()
