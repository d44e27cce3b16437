"""The catalogue: every card as a page to read, family by family."""

import sys
from collections.abc import Iterable, Iterator

from noregret.rules.card import Card
from noregret.rules.parameters import Param

HEAD = """# The learners

This page is made from the cards by `make catalogue`. `noregret learners NAME` shows one of them; `nr.learners()[NAME]`
is the card itself, and its `bound` computes the theorem: `card.bound(options, radius=4.0, margin=0.5)`.
"""


def page(cards: Iterable[Card]) -> str:
    """All cards as one page, in the order of their files."""
    by_file: dict[str, list[Card]] = {}
    for card in cards:
        by_file.setdefault(card.module, []).append(card)
    return "\n".join([HEAD, *(line for file in sorted(by_file) for line in family(file, by_file[file]))])


def family(file: str, cards: list[Card]) -> Iterator[str]:
    name, _, about = (sys.modules[file].__doc__ or file).partition("\n")[0].partition(": ")
    yield f"## {name}\n"
    if about:
        yield f"{about[:1].upper()}{about[1:]}\n"
    for card in cards:
        yield from one(card)


def one(card: Card) -> Iterator[str]:
    yield f"### `{card.name}`\n"
    yield f"{card.about}\n"
    for name, param in card.params.items():
        default = f"{param.default:g}" if isinstance(param, Param) else param.default
        yield f"- `{name}` = {default} ({param.limits}): {param.about}"
    for guarantee in card.guarantees:
        yield f"- theorem: {code(guarantee.says)}"
        yield f"  - holds for: {code(guarantee.condition)}"
    yield f"- plays {', '.join(card.tasks)}" + (f"; in {', '.join(card.algebras)}" if card.algebras else "")
    yield f"- merging: {card.merge.law}, {card.merge.how}"
    yield f"- {card.paper}\n"


def code(text: str) -> str:
    """A formula as it was written: stars and bars are not marks."""
    return text.replace("*", r"\*").replace("|", r"\|").replace("<", r"\<")
