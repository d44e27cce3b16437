"""The catalogue of learners: every card as a page of the documentation, as text and as JSON."""

import inspect
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from noregret.rules.card import Card
from noregret.rules.rule_card import RuleCard
from noregret.tasks import TASKS

HEAD = """# The learners

This page is made from the cards by `make catalogue`. `noregret learners NAME` shows one of them; `nr.learners()[NAME]`
is the card itself, and its `bound` computes the theorem: `card.bound(options, radius=4.0, margin=0.5)`.
"""


# ---- a page of the documentation ------------------------------------------------------------------------------------


def page(cards: Iterable[Card]) -> str:
    """All cards as one page, in the order of their files, rules first."""
    by_file: dict[str, list[Card]] = {}
    for card in cards:
        by_file.setdefault(card.module, []).append(card)
    order = sorted(by_file, key=lambda file: (not file.startswith("noregret.learners."), file))
    return "\n".join([HEAD, *(line for file in order for line in family_lines(file, by_file[file]))])


CALIBRATED = "scores are calibrated on those of past rounds"
COVARIANCE = (
    "With many classes every class has a Gaussian of its own. An update with step kappa adds kappa x x' to the "
    "precisions of the right class and of its rival: all of it (covariance=full) or its diagonal (diagonal). So both "
    "agree on rows of one feature, and precisions of merged learners add; what couples two classes is left out. "
    "covariance=drop updates the covariance of both classes together and keeps its diagonal."
)


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


def details_of(card: Card) -> list[str]:
    """What a card says beyond its first line: paragraphs of the rule's docstring, and what covariances mean."""
    doc = inspect.getdoc(getattr(card, "rule", None)) or ""
    found = [" ".join(paragraph.split()) for paragraph in doc.split("\n\n")[1:]]
    return [*found, COVARIANCE] if getattr(card, "keeps_covariance", False) else found


def describe_probabilities(card: Card) -> str | None:
    """Where the probabilities of classes come from; None where there are none."""
    if not isinstance(card, RuleCard) or all(TASKS[task].no_probabilities is not None for task in card.tasks):
        return None
    loss = card.choices.get("loss")
    if loss is None or "logistic" not in loss.among:
        return CALIBRATED
    if loss.default == "logistic":
        return f"of two classes, scores are log-odds; otherwise {CALIBRATED}"
    return f"{CALIBRATED}; with loss=logistic and two classes, scores are log-odds"


def escape(text: str) -> str:
    """A formula with the characters escaped that Markdown would take for markup."""
    return text.replace("*", r"\*").replace("|", r"\|").replace("<", r"\<")


# ---- one card -------------------------------------------------------------------------------------------------------


def describe_card(card: Card) -> str:
    """A card as text."""
    lines = [f"{card.name}: {card.about}", "", *details_of(card), f"paper       {card.paper}"]
    lines.append(f"plays       {', '.join(card.tasks)}")
    if card.algebras:
        lines.append(f"in          {', '.join(card.algebras)}")
    for number, (name, param) in enumerate(card.params.items()):
        search = f"; search {param.search_text}" if param.search_text else ""
        text = f"{name} = {param.default_text}; {param.limits}; {param.about}{search}"
        lines.append(f"{'parameters' if number == 0 else '':12}{text}")
    if not card.params:
        lines.append("parameters  none")
    for guarantee in card.guarantees:
        lines += [f"theorem     {guarantee.says}", f"            when {guarantee.condition}"]
    lines.append(f"weights     {'supported' if card.supports_weights else 'not supported: all rounds count the same'}")
    if (how := describe_probabilities(card)) is not None:
        lines.append(f"proba       {how}")
    lines.append(f"merging     {card.merge.law}: {card.merge.how}")
    lines += ["", f"noregret learn DATA --learner {card.name} --save {card.name}.nr"]
    return "\n".join(lines) + "\n"


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
