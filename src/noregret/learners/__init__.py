"""The shelf: one file a family. A learner is found because its file is here; there is no list to keep."""

import importlib
import pkgutil
from functools import cache

from noregret.rules.card import REGISTRY, Card


@cache
def load_all() -> dict[str, Card]:
    """Import every file of this folder; each registers its cards, and so do users their own, later."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return REGISTRY
