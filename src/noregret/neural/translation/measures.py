"""How good translations are: BLEU, translation error rate, and the words that a user has to type."""

from collections.abc import Sequence
from typing import Any, Protocol

from noregret.errors import BadValue, import_extra
from noregret.neural.translation.vocabulary import clean


class Interactive(Protocol):
    """A translator that can go on from the beginning of a translation."""

    def predict_one(self, x: Any) -> Any: ...

    def complete(self, sentence: str, beginning: str) -> str: ...


def bleu(found: Sequence[str], references: Sequence[str]) -> float:
    """BLEU of a text (Papineni et al. 2002), from 0 to 100, as sacrebleu computes it."""
    return float(scorer(found, references).corpus_bleu(list(found), [list(references)]).score)


def ter(found: Sequence[str], references: Sequence[str]) -> float:
    """Translation error rate (Snover et al. 2006): edits for each 100 words of the references; smaller is better."""
    return float(scorer(found, references).corpus_ter(list(found), [list(references)]).score)


def scorer(found: Sequence[str], references: Sequence[str]) -> Any:
    """sacrebleu, for texts that can be compared."""
    if len(found) != len(references):
        raise BadValue(f"there are {len(found)} translations and {len(references)} references; they must match")
    return import_extra("sacrebleu", "translation", "measuring translations")


def count_strokes(translator: Interactive, sentence: str, reference: str) -> int:
    """The words that a user types until the translation is the reference (Barrachina et al. 2009).

    The user reads to the first wrong word and types the right one; the translator goes on from there. To cut off what
    follows a complete translation counts as one more. Divided by the words of the reference this is the word stroke
    ratio.
    """
    words = clean(reference).split()
    found, right, strokes = translator.predict_one(sentence).split(), 0, 0
    while found != words:
        strokes += 1
        while right < len(words) and found[right : right + 1] == words[right : right + 1]:
            right += 1
        if right == len(words):
            break
        right += 1
        found = translator.complete(sentence, " ".join(words[:right])).split()
    return strokes
