"""Feature templates: which features a token has, declared as text and extracted once.

A template is the name of a property, with the offset of its token if that is not the token itself, or several of these
joined by +: "word", "suffix3", "word[-1]", "shape[1]", "word[-1]+word". The properties of a token are word, lower,
letter (of words, the same as word), prefixN, suffixN, shape, digit and hyphen; a token that is a dict has its own keys
as well. "bias", "first" and "last" are features of every token, of the first and of the last.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from noregret.errors import BadValue, shown

TAGGING = (
    "bias", "word", "lower", "prefix1", "prefix2", "prefix3", "suffix1", "suffix2", "suffix3", "suffix4", "shape",
    "digit", "hyphen", "lower[-1]", "suffix3[-1]", "lower[-2]", "lower[1]", "suffix3[1]", "prefix3[1]", "lower[2]",
    "shape[-1]", "shape[1]", "lower[-1]+lower", "lower+lower[1]",
)  # fmt: skip
ATOM = re.compile(r"([A-Za-z_]+?)(\d*)(?:\[([+-]?\d{1,2})\])?")
BEFORE, AFTER = "<s>", "</s>"  # the tokens before the first and after the last
LONGEST = 50  # letters of a token that features are made of


class Atom(NamedTuple):
    """A property of the token at an offset."""

    name: str
    size: int
    offset: int


def shape_of(word: str) -> str:
    """Capitals as X, small letters as x, digits as d; of equal neighbours two are kept."""
    marks: list[str] = []
    for letter in word:
        mark = "X" if letter.isupper() else "x" if letter.isalpha() else "d" if letter.isdigit() else letter
        if marks[-2:] != [mark, mark]:
            marks.append(mark)
    return "".join(marks)


def has_digit(word: str) -> str:
    return "yes" if any(letter.isdigit() for letter in word) else ""


PROPERTIES: dict[str, Callable[[str], str]] = {
    "word": str,
    "letter": str,
    "lower": str.lower,
    "shape": shape_of,
    "digit": has_digit,
    "hyphen": lambda word: "yes" if "-" in word[1:] else "",
}
SIZED = ("prefix", "suffix")
OF_PLACE = ("bias", "first", "last")  # features of a place, whatever the token


def parse_templates(given: Any) -> tuple[tuple[Atom, ...], ...]:
    """Templates from their texts, checked."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence) or not given:
        raise BadValue(f'templates must be a list such as ["word", "suffix3", "word[-1]"], not {shown(given)}')
    return tuple(tuple(parse_atom(part, text) for part in str(text).split("+")) for text in map(check_text, given))


def check_text(text: Any) -> str:
    if not isinstance(text, str):
        raise BadValue(f"a template is a text such as 'word[-1]', not {shown(text)}")
    return text


def parse_atom(part: str, text: str) -> Atom:
    found = ATOM.fullmatch(part.strip())
    if found is None:
        raise BadValue(f"the template {shown(text)} is not a property such as word, suffix3 or shape[-1]")
    name, size, offset = found.group(1), int(found.group(2) or 0), int(found.group(3) or 0)
    if (name in SIZED) != bool(size) and (name in SIZED or name in PROPERTIES):
        wanted = f"needs a number of letters, as in {name}3" if name in SIZED else "takes no number"
        raise BadValue(f"the template {shown(text)}: {name} {wanted}")
    if name not in SIZED and size:
        name, size = f"{name}{size}", 0  # a key of the caller
    return Atom(name, size, offset)


def property_of(token: Any, atom: Atom) -> str:
    """The value of a property of a token; empty where it has none."""
    if isinstance(token, Mapping):
        if atom.name in token:
            return str(token[atom.name])
        token = token.get("word", "")
    word = str(token)
    word = word if len(word) <= LONGEST else word[:LONGEST]
    if atom.size:
        if len(word) < atom.size:
            return ""
        return word[: atom.size] if atom.name == "prefix" else word[-atom.size :]
    found = PROPERTIES.get(atom.name)
    return "" if found is None else found(word)


class Numbers(dict[str, int]):
    """A number for every name, in the order in which they are asked for; `order` lists the names."""

    def __init__(self) -> None:
        super().__init__()
        self.order: list[str] = []

    def __missing__(self, name: str) -> int:
        number = self[name] = len(self.order)
        self.order.append(name)
        return number


class Joined:
    """A template of several properties, read from the values of these for all tokens of a sentence."""

    def __init__(self, atoms: tuple[Atom, ...]) -> None:
        self.name = "+".join(map(label, atoms)) + "="
        self.columns = [atom._replace(offset=0) for atom in atoms]
        self.offsets = [atom.offset for atom in atoms]
        start = self.offsets[0]
        self.is_run = len({*self.columns}) == 1 and self.offsets == [*range(start, start + len(atoms))]

    def values(self, columns: Mapping[Atom, list[str]], at: int) -> list[str]:
        """The values for a token."""
        if self.is_run:  # a slice is faster
            first = at + self.offsets[0]
            return columns[self.columns[0]][first : first + len(self.offsets)]
        return [columns[atom][at + offset] for atom, offset in zip(self.columns, self.offsets, strict=True)]


class Extractor:
    """The features of the tokens of sentences, numbered by a function; those of a word are made once."""

    def __init__(self, templates: Sequence[str], number: Callable[[str], int]) -> None:
        atoms = parse_templates(templates)
        self.number = number
        plain = [one for one in atoms if one[0].name not in OF_PLACE]
        self.places = [one[0].name for one in atoms if one[0].name in OF_PLACE]
        self.single: dict[int, list[Atom]] = {}
        for one in plain:
            if len(one) == 1:
                self.single.setdefault(one[0].offset, []).append(one[0])
        self.joined = [Joined(one) for one in plain if len(one) > 1]
        names = {atom.name for one in plain for atom in one}
        self.own_keys = sorted(names - set(PROPERTIES) - set(SIZED))  # that only tokens with properties can have
        self.ahead = max((atom.offset for one in atoms for atom in one), default=0)
        self.behind = max((-atom.offset for one in atoms for atom in one), default=0)
        self.of_words: dict[int, dict[str, list[int]]] = {offset: {} for offset in self.single}
        self.values: dict[Atom, dict[str, str]] = {atom: {} for one in self.joined for atom in one.columns}

    def sentence(self, tokens: Sequence[Any]) -> list[set[int]]:
        """The numbers of the features of every token."""
        padded = [BEFORE] * self.behind + list(tokens) + [AFTER] * self.ahead
        columns = {atom: [self.value(token, atom, known) for token in padded] for atom, known in self.values.items()}
        return [self.token(padded, columns, at + self.behind, len(tokens)) for at in range(len(tokens))]

    def token(self, padded: list[Any], columns: dict[Atom, list[str]], at: int, length: int) -> set[int]:
        found: set[int] = set()
        for offset, known in self.of_words.items():
            token = padded[at + offset]
            numbers = known.get(token) if type(token) is str else self.properties(token, offset)
            if numbers is None:
                numbers = known[token] = self.properties(token, offset)
            found.update(numbers)
        for joined in self.joined:
            values = joined.values(columns, at)
            if "" not in values:
                found.add(self.number(joined.name + "|".join(values)))
        for place in self.places:
            if place == "bias" or at - self.behind == (0 if place == "first" else length - 1):
                found.add(self.number(place))
        return found

    def value(self, token: Any, atom: Atom, known: dict[str, str]) -> str:
        """The value of a property, computed once for each word."""
        if type(token) is not str:
            return property_of(token, atom)
        found = known.get(token)
        if found is None:
            found = known[token] = property_of(token, atom)
        return found

    def properties(self, token: Any, offset: int) -> list[int]:
        """The numbers of the features that a single token brings at an offset."""
        values = ((one, property_of(token, one)) for one in self.single[offset])
        return [self.number(f"{label(one)}={value}") for one, value in values if value]


def label(atom: Atom) -> str:
    """A property as features are named after it."""
    size = str(atom.size) if atom.size else ""
    return f"{atom.name}{size}" + (f"[{atom.offset}]" if atom.offset else "")
