"""The registry of cards: every learner by name. A method is registered when its file is imported."""

import importlib
import os
import pkgutil

from noregret.errors import BadValue, Error
from noregret.rules.card import Card

REGISTRY: dict[str, Card] = {}
RESERVED = (
    "task", "algebra", "covariance", "kernel", "classes", "class_weight", "native", "seed", "bias", "scale",
    "transforms", "average", "groups", "bits", "cost", "columns", "reads",
    "weight_decay",
)  # fmt: skip
"""Options of `make` that every learner shares; a method cannot have a parameter of the same name."""


def register(card: Card) -> None:
    """Enter a card under its name.

    A user's method can replace another of the same name, as when a notebook cell is run again, but not a built-in one.
    """
    known = REGISTRY.get(card.name)
    if known is not None and known.built_in != card.built_in:
        where = card.where if known.built_in else known.where
        raise BadValue(f"{where}: the name {card.name} is taken by a built-in learner; choose another")
    REGISTRY[card.name] = card


def title_of(name: str) -> str:
    """The default title: the words of a name with capitals."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def load_package(package: str) -> None:
    """Import every module of a package and of the packages in it; each registers its cards.

    A folder that cannot be read is not an empty one.
    """
    path = importlib.import_module(package).__path__
    try:
        for folder in filter(os.path.isdir, path):
            os.listdir(folder)  # pkgutil would find no modules there, and say nothing
        names = [(module.name, module.ispkg) for module in pkgutil.iter_modules(path)]
        for name, is_package in names:
            importlib.import_module(f"{package}.{name}")
            if is_package:
                load_package(f"{package}.{name}")
    except OSError as error:
        where = error.filename or ", ".join(path)
        raise Error(f"{where}: a part of noregret cannot be read ({error.strerror or error}); "
                    "change its permissions or install noregret again") from None  # fmt: skip
    if not names:
        raise Error(f"{', '.join(path)}: there are no learners in this folder of noregret; install noregret again")
