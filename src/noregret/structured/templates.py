"""Feature templates: which features a token has, declared as text and extracted once.

A template is the name of a property, with the offset of its token if that is not the token itself, or several of these
joined by +: "word", "suffix3", "word[-1]", "shape[1]", "word[-1]+word". The properties of a token are word, lower,
letter (the same), prefixN, suffixN, shape, digit, hyphen, first and last; a token that is a dict has its own keys as well.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from noregret.errors import BadValue, shown

TAGGING = (
    "bias", "word", "lower", "prefix1", "prefix2", "prefix3", "suffix1", "suffix2", "suffix3", "suffix4", "shape",
    "digit", "hyphen", "lower[-1]", "suffix3[-1]", "lower[-2]", "lower[1]", "suffix3[1]", "prefix3[1]", "lower[2]", "shape[-1]",
    "shape[1]", "lower[-1]+lower", "lower+lower[1]",
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


class Extractor:
    """Features of the tokens of sentences as texts; what is computed of a word is computed once."""

    def __init__(self, templates: Sequence[str]) -> None:
        atoms = parse_templates(templates)
        self.bias = any(one[0].name == "bias" for one in atoms)
        self.edges = [one[0].name for one in atoms if len(one) == 1 and one[0].name in ("first", "last")]
        plain = [one for one in atoms if one[0].name not in ("bias", "first", "last")]
        self.single: dict[int, list[Atom]] = {}
        for one in plain:
            if len(one) == 1:
                self.single.setdefault(one[0].offset, []).append(one[0])
        self.joined = [one for one in plain if len(one) > 1]
        self.cached: dict[tuple[int, str], list[str]] = {}

    def sentence(self, tokens: Sequence[Any]) -> list[list[str]]:
        """The features of every token."""
        return [self.token(tokens, at) for at in range(len(tokens))]

    def token(self, tokens: Sequence[Any], at: int) -> list[str]:
        found = ["bias"] if self.bias else []
        for offset in self.single:
            found += self.of_word(token_at(tokens, at + offset), offset)
        for atoms in self.joined:
            values = [property_of(token_at(tokens, at + one.offset), one) for one in atoms]
            if all(values):
                names = "+".join(label(one) for one in atoms)
                found.append(f"{names}={'|'.join(values)}")
        if "first" in self.edges and at == 0:
            found.append("first")
        if "last" in self.edges and at == len(tokens) - 1:
            found.append("last")
        return found

    def of_word(self, token: Any, offset: int) -> list[str]:
        """The features that a single token brings at an offset."""
        if not isinstance(token, str):
            return self.properties(token, offset)
        known = self.cached.get((offset, token))
        if known is None:
            known = self.cached[offset, token] = self.properties(token, offset)
        return known

    def properties(self, token: Any, offset: int) -> list[str]:
        values = ((one, property_of(token, one)) for one in self.single[offset])
        return [f"{label(one)}={value}" for one, value in values if value]


def token_at(tokens: Sequence[Any], at: int) -> Any:
    return BEFORE if at < 0 else AFTER if at >= len(tokens) else tokens[at]


def label(atom: Atom) -> str:
    """A property as features are named after it."""
    size = str(atom.size) if atom.size else ""
    return f"{atom.name}{size}" + (f"[{atom.offset}]" if atom.offset else "")
