"""The built-in rules, one file for each family. A rule is found because its file is in this folder."""

from functools import cache

from noregret.rules.card import Card
from noregret.rules.registry import REGISTRY, load_package


@cache
def load_all() -> dict[str, Card]:
    """Import every file of this folder; each registers its cards, and users' files register theirs later."""
    load_package(__name__)
    return REGISTRY
