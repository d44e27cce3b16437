"""Feature templates of arcs from a head to a modifier: which features an arc has, declared as text.

A template is one or several atoms joined by +. `h` is the head and `m` the modifier: "h.word", "m.tag[-1]" (of the word
before the modifier); the properties are those of tagging templates and the caller's own, such as tag. "between.tag"
stands for every tag of the words between the two. "side" is the direction of the arc, "span" direction and distance.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from noregret.errors import BadValue, shown
from noregret.structured.templates import Atom, parse_atom

PAIRS = (
    "h.word+h.tag+m.word+m.tag", "h.tag+m.word+m.tag", "h.word+m.word+m.tag", "h.word+h.tag+m.tag",
    "h.word+h.tag+m.word", "h.word+m.word", "h.tag+m.tag",
)  # fmt: skip
AROUND = (
    "h.tag+h.tag[1]+m.tag[-1]+m.tag", "h.tag[-1]+h.tag+m.tag[-1]+m.tag", "h.tag+h.tag[1]+m.tag+m.tag[1]",
    "h.tag[-1]+h.tag+m.tag+m.tag[1]", "h.tag+m.tag[-1]+m.tag", "h.tag+m.tag+m.tag[1]", "h.tag+h.tag[1]+m.tag",
    "h.tag[-1]+h.tag+m.tag",
)  # fmt: skip
SINGLE = ("h.word+h.tag", "h.word", "h.tag", "m.word+m.tag", "m.word", "m.tag")
BETWEEN = ("h.tag+between.tag+m.tag",)
# McDonald, Crammer and Pereira, ACL 2005: words and tags of both, tags between and around; each with the span.
ARCS = (
    *PAIRS, *AROUND, *("h.word+h.tag", "h.word", "h.tag"), *BETWEEN,
    *(f"{text}+span" for text in (*SINGLE, *PAIRS, *AROUND, *BETWEEN)),
)  # fmt: skip
RELATIONS = (
    "m.word", "m.tag+side", "m.word+m.tag", "h.tag+m.tag+side", "h.tag+m.tag+span", "h.word+m.tag+side",
    "h.tag+m.word+side", "h.word+m.word", "m.suffix3+m.tag", "h.tag+m.tag[-1]+m.tag+side", "h.tag+m.tag+m.tag[1]+side",
    "m.word[-1]+h.tag+m.tag", "m.word[1]+h.tag+m.tag", "h.tag[-1]+h.tag+m.tag+side", "h.tag+h.tag[1]+m.tag+side",
    "m.tag[-1]+m.tag+m.tag[1]", "h.tag+between.tag+m.tag", "m.tag[-2]+m.tag[-1]+m.tag", "m.tag+m.tag[1]+m.tag[2]",
)  # fmt: skip
DEFAULTS = {"arcs": ARCS, "relations": RELATIONS}
HEAD, MODIFIER, WITHIN, SIDE, SPAN = "h", "m", "between", "side", "span"
LONGEST = 500  # templates


class ArcAtom(NamedTuple):
    """A property of the head, of the modifier or of a word between them, or of the arc itself (SIDE, SPAN)."""

    of: str
    atom: Atom | None = None


Template = tuple[ArcAtom, ...]


def check_templates(given: Any) -> dict[str, list[str]]:
    """The texts of the templates of arcs and of relations, checked; those that are not given are the classical ones."""
    if given is None:
        given = {}
    if not isinstance(given, Mapping) or not given.keys() <= DEFAULTS.keys():
        raise BadValue(f'templates are given as {{"arcs": [...], "relations": [...]}}, not as {shown(given)}')
    found = {}
    for name, default in DEFAULTS.items():
        texts = given.get(name, default)
        parse_arc_templates(texts)
        found[name] = list(texts)
    return found


def parse_arc_templates(given: Any) -> tuple[Template, ...]:
    """Templates from their texts, checked."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence) or not 0 < len(given) <= LONGEST:
        raise BadValue(f'templates must be a list such as ["h.tag+m.tag", "h.word+m.word+span"], not {shown(given)}')
    return tuple(parse_template(text) for text in given)


def parse_template(text: Any) -> Template:
    if not isinstance(text, str):
        raise BadValue(f"a template is a text such as 'h.tag+m.tag+span', not {shown(text)}")
    atoms = tuple(parse_arc_atom(part.strip(), text) for part in text.split("+"))
    if sum(one.of == WITHIN for one in atoms) > 1:
        raise BadValue(f"the template {shown(text)} has more than one word between; one is enough")
    return atoms


def parse_arc_atom(part: str, text: str) -> ArcAtom:
    if part in (SIDE, SPAN):
        return ArcAtom(part)
    of, dot, rest = part.partition(".")
    if of not in (HEAD, MODIFIER, WITHIN) or not dot:
        raise BadValue(f"the template {shown(text)}: {shown(part)} is not side, span, or h., m. or between. "
                       "with a property")  # fmt: skip
    atom = parse_atom(rest, text)
    if of == WITHIN and atom.offset:
        raise BadValue(f"the template {shown(text)}: a word between has no offset")
    return ArcAtom(of, atom)
