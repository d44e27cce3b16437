"""The cards of all learners, found by listing the folders of the families: there is no list to keep."""

import importlib
import pkgutil
from functools import cache

from noregret.learners import load_all
from noregret.rules.card import Card

FAMILIES = ("adapters",)  # packages of learners that are not rules; each module registers its cards and kinds


@cache
def load_families() -> None:
    """Import every module of every family."""
    for family in FAMILIES:
        package = importlib.import_module(f"noregret.{family}")
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"noregret.{family}.{module.name}")


def load_cards() -> dict[str, Card]:
    """All cards by name, users' own included."""
    load_families()
    return load_all()
