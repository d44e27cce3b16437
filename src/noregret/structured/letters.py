"""Words as rows of numbered features: two slots for every letter, for its symbol and for one inserted after it."""

from array import array
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.data.labels import check_label
from noregret.errors import BadValue, shown
from noregret.rules.parameters import suggestion
from noregret.structured.templates import OF_PLACE, PROPERTIES, Extractor, Numbers

NOTHING = ""  # the class of a letter that writes nothing; no symbol
KNOWN = (*PROPERTIES, *OF_PLACE)
INSERTING = "insert "  # before the names of features of symbols inserted


def window(reach: int, longest: int) -> list[str]:
    """Templates of all runs of at most so many letters, none further away than `reach`."""
    runs = [range(start, start + size) for size in range(1, longest + 1) for start in range(-reach, reach + 2 - size)]
    return ["+".join(f"letter[{at}]" if at else "letter" for at in run) for run in runs]


LETTERS = ("bias", *window(3, 5))
INSERTED = ("bias", *window(2, 4))


class Slots(NamedTuple):
    """Words as rows, one for each slot, and the symbols of all outputs."""

    names: Numbers
    indptr: NDArray[np.int64]
    idx: NDArray[np.int32]
    val: NDArray[np.float64]
    lengths: NDArray[np.int64]  # slots of each word
    symbols: list[list[Any]] | None  # of each output


class WordRows:
    """Collects words as rows."""

    def __init__(self, templates: Sequence[str], inserted: Sequence[str]) -> None:
        self.names = names = Numbers()
        self.own = Extractor(templates, names.__getitem__)
        self.second = Extractor(inserted, lambda name: names[INSERTING + name])
        self.indptr, self.idx, self.lengths = [0], array("i"), list[int]()

    def add(self, letters: list[str]) -> None:
        """The features of the slots of a word."""
        for rows in zip(self.own.sentence(letters), self.second.sentence(letters), strict=True):
            for row in rows:
                self.idx.extend(sorted(row))
                self.indptr.append(len(self.idx))
        self.lengths.append(2 * len(letters))

    def finish(self, symbols: list[list[Any]] | None) -> Slots:
        return Slots(
            self.names, np.array(self.indptr, np.int64), np.array(self.idx, np.int32), np.ones(len(self.idx)),
            np.array(self.lengths, np.int64), symbols,
        )  # fmt: skip


def check_templates(given: Any) -> list[str]:
    """Templates of features of letters."""
    extractor = Extractor(given, len)
    if extractor.own_keys:
        name = extractor.own_keys[0]
        raise BadValue(f"the template {name!r} is no property of a letter{suggestion(name, KNOWN)}")
    return list(given)


def check_word(word: Any, number: int) -> list[str]:
    """A word is a text or a list of letters, and not empty."""
    if isinstance(word, (bytes, Mapping)) or not isinstance(word, (Sequence, np.ndarray)):
        raise BadValue(f"word {number}: a word is a text or a list of letters, not {shown(word)}", row=number)
    if not len(word):
        raise BadValue(f"word {number}: it has no letters; leave it out", row=number)
    for letter in word:
        if not isinstance(letter, (str, int, np.integer)):
            raise BadValue(f"word {number}: a letter is a text or a whole number, not {shown(letter)}", row=number)
    return [str(letter) for letter in word]


def check_output(output: Any, length: int, number: int) -> list[Any]:
    """The symbols of an output, at most two for every letter."""
    if isinstance(output, (bytes, Mapping)) or not isinstance(output, (Sequence, np.ndarray)):
        raise BadValue(f"word {number}: its output is a text or a list of symbols, not {shown(output)}", row=number)
    try:
        symbols = [check_label(symbol) for symbol in output]
    except BadValue as error:
        raise BadValue(f"word {number}: {error}", row=number) from None
    if NOTHING in symbols:
        raise BadValue(f"word {number}: a symbol of its output is an empty text; leave it out", row=number)
    if len(symbols) > 2 * length:
        raise BadValue(f"word {number}: {length} letters cannot write {len(symbols)} symbols, at most two each; "
                       "no alignment exists", row=number)  # fmt: skip
    return symbols
