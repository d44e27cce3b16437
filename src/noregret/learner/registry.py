"""The cards of all learners, found by listing the folders of the families: there is no list to keep."""

from functools import cache

from noregret.learners import load_all
from noregret.rules.card import Card
from noregret.rules.registry import load_package
from noregret.rules.rule_card import RuleCard

# Packages of learners that are not rules; each module registers its cards and kinds.
FAMILIES = ("adapters", "concepts", "decomposition", "experts", "games", "loglinear", "neural", "structured")


@cache
def load_families() -> None:
    """Import every module of every family."""
    for family in FAMILIES:
        load_package(f"noregret.{family}")


def find_rule(name: str) -> RuleCard:
    """The card of a built-in rule; the families, which may be made of rules, need not be loaded."""
    card = load_all()[name]
    assert isinstance(card, RuleCard)
    return card


def load_cards() -> dict[str, Card]:
    """All cards by name, users' own included."""
    load_families()
    return load_all()
