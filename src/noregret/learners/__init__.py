"""The shelf: one file a family. A learner is found because its file is here; there is no list to keep."""

import importlib
import pkgutil

from noregret.card import REGISTRY, Card


def load_all() -> dict[str, Card]:
    """Import every file of this folder; each registers its cards."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return REGISTRY
