"""A translator trained on a parallel text, from which it adapts later."""

from collections.abc import Callable, Sequence
from typing import Any

from noregret.errors import BadValue
from noregret.neural.translation.adaptation import check_pair
from noregret.neural.translation.training import Pass, Plan, train, validation
from noregret.neural.translation.translator import Translator
from noregret.neural.translation.vocabulary import Vocabulary

Text = tuple[Sequence[str], Sequence[str]]  # sentences and their translations


def train_translator(
    pairs: Text,
    validate: Text,
    plan: Plan | None = None,
    pieces: int = 6000,
    tell: Callable[[Pass], None] | None = None,
    **options: Any,
) -> Translator:
    """A translator trained on pairs, with the weights that translate the sentences to validate best.

    `pieces` is the size of the vocabulary, which is learned from the pairs; the options are those of the translator.
    """
    for sources, references in (pairs, validate):
        if len(sources) != len(references) or not len(sources):
            raise BadValue(f"there are {len(sources)} sentences and {len(references)} translations; they must match")
    vocabulary = Vocabulary.learn([*pairs[0], *pairs[1]], pieces)
    encoded = [
        check_pair(vocabulary, *one, place=f"pair {number}") for number, one in enumerate(zip(*pairs, strict=True), 1)
    ]
    fresh = Translator(vocabulary, **options)
    measure = validation(fresh.sizes, vocabulary, *validate)
    vector = train(fresh.state.vector, fresh.sizes, encoded, measure, plan or Plan(), tell or (lambda one: None))
    return fresh.with_weights(vector)
