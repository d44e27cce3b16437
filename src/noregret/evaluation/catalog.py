"""The catalogue of learners: every card as a page of the documentation and as JSON."""

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from noregret.learner.card_text import describe_probabilities, details_of
from noregret.rules.card import Card

HEAD = """# The learners

This page is made from the cards by `make catalogue`. `noregret learners NAME` and
`help(nr.learners()[NAME])` show one of them; `nr.learners()[NAME]` is the card itself, and its
`bound` computes the theorem: `card.bound(options, radius=4.0, margin=0.5)`.
"""


# ---- a page of the documentation ------------------------------------------------------------------------------------


def page(cards: Iterable[Card]) -> str:
    """All cards as one page, in the order of their files, rules first."""
    by_file: dict[str, list[Card]] = {}
    for card in cards:
        by_file.setdefault(card.module, []).append(card)
    order = sorted(by_file, key=lambda file: (not file.startswith("noregret.learners."), file))
    return "\n".join([HEAD, *(line for file in order for line in family_lines(file, by_file[file]))])


def family_lines(file: str, cards: list[Card]) -> Iterator[str]:
    """The section of one file: its title is the first line of the file's docstring."""
    name, _, about = (sys.modules[file].__doc__ or file).partition("\n")[0].partition(": ")
    yield f"## {name}\n"
    if about:
        yield f"{about[:1].upper()}{about[1:]}\n"
    for card in cards:
        yield from card_lines(card)


def card_lines(card: Card) -> Iterator[str]:
    """The entry of one card."""
    yield f"### `{card.name}`\n"
    yield f"{card.about}\n"
    yield from (f"{escape(text)}\n" for text in details_of(card))
    for name, param in card.params.items():
        search = f"; search {param.search_text}" if param.search_text else ""
        yield f"- `{name}` = {param.default_text} ({param.limits}): {escape(param.about)}{search}"
    for guarantee in card.guarantees:
        yield f"- theorem: {escape(guarantee.says)}"
        yield f"  - holds for: {escape(guarantee.condition)}"
    yield f"- plays {', '.join(card.tasks)}" + (f"; in {', '.join(card.algebras)}" if card.algebras else "")
    if (how := describe_probabilities(card)) is not None:
        yield f"- probabilities: {how}"
    yield f"- merging: {card.merge.law}, {card.merge.how}"
    yield f"- {card.paper}\n"


def escape(text: str) -> str:
    """A formula with the characters escaped that Markdown would take for markup."""
    return text.replace("*", r"\*").replace("|", r"\|").replace("<", r"\<")


# ---- one card -------------------------------------------------------------------------------------------------------


def report_card(card: Card) -> dict[str, Any]:
    """A card as JSON."""
    return {
        "name": card.name,
        "about": card.about,
        "paper": card.paper,
        "parameters": {
            name: {
                "default": param.default,
                "default_text": param.default_text,
                "limits": param.limits,
                "search": param.search_text,
                "about": param.about,
            }
            for name, param in card.params.items()
        },
        "tasks": list(card.tasks),
        "algebras": list(card.algebras),
        "weighs": card.supports_weights,
        "probabilities": describe_probabilities(card),
        "theorems": [
            {"bounds": one.bounds, "says": one.says, "when": one.condition, "needs": list(one.needs)}
            for one in card.guarantees
        ],
        "merge": {"law": card.merge.law, "how": card.merge.how},
    }
