"""Learners as they are named on the command line: built-in ones, or a rule in a file of the user's."""

import importlib.util
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from noregret.errors import BadValue, Error
from noregret.evaluation.capabilities import task_class
from noregret.evaluation.race import ALL, all_cards, default_cards
from noregret.learner.factory import card_of
from noregret.rules.card import Card


def find_cards(names: str | None, task: str | None) -> list[Card]:
    """The cards of names separated by commas; without names, the built-in learners of the task that run by default."""
    if names is None:
        return default_cards(task)
    if names.strip() == ALL:
        return all_cards(task)
    split = [name.strip() for name in names.split(",") if name.strip()]
    if not split:
        raise BadValue("--learners names no learner; see `noregret learners`")
    return [find_card(name) for name in split]


def find_card(name: str) -> Card:
    """The card of a learner, or of FILE.py:RULE."""
    file, colon, rule = name.rpartition(":")
    if not (colon and file.endswith(".py")):
        if name.endswith(".py"):
            raise BadValue(f"{name}: say which rule of the file: {name}:RULE")
        return card_of(name)
    module = import_file(file)
    card = card_in(getattr(module, rule, None))
    if card is None:
        rules = [name for name, value in vars(module).items() if card_in(value) is not None]
        has = f"it has {', '.join(rules)}" if rules else "it has none: decorate it with @noregret.margin_rule(...)"
        raise BadValue(f"{file}: there is no rule {rule!r}; {has}")
    return card


def card_in(value: object) -> Card | None:
    """The card that a name of a module stands for: a decorated rule is one, a class of learners has one."""
    card = getattr(value, "card", value)
    return card if isinstance(card, Card) else None


_imported: dict[Path, ModuleType] = {}


def import_file(file: str) -> ModuleType:
    """A Python file of the user's, run once, as any import would run it."""
    path = Path(file).resolve()
    if not path.is_file():
        raise BadValue(f"{file}: there is no such file")
    if path not in _imported:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except Error as error:
            text = str(error)
            raise Error(text if file in text else f"{file}: {text}") from None
        except (Exception, SystemExit) as error:
            frames = traceback.extract_tb(error.__traceback__)
            places = [frame.lineno for frame in frames if Path(frame.filename).resolve() == path]
            line = getattr(error, "lineno", None) or (places[-1] if places else 1)
            raise BadValue(f"{file}:{line}: the file cannot be imported: {type(error).__name__}: {error}") from None
        sys.modules.setdefault(path.stem, module)
        _imported[path] = module
    return _imported[path]


def rule_file(name: str | None) -> str | None:
    """The file in FILE.py:RULE; None where there is no such file."""
    file, colon, _ = (name or "").rpartition(":")
    return file if colon and file.endswith(".py") else None


def parse_settings(
    settings: Sequence[str], cards: Sequence[Card], task: str | None = None
) -> dict[str, dict[str, Any]]:
    """The parameters given with --set, for each learner by name."""
    parsed: dict[str, dict[str, Any]] = {card.name: {} for card in cards}
    for text in settings:
        key, equals, value = text.partition("=")
        owner, dot, name = key.strip().partition(".")
        if not equals or not key.strip():
            raise BadValue(f"--set {text}: write NAME=VALUE, as in --set r=0.5")
        if dot and owner in parsed:
            parsed[owner][name] = parse_value(value)
            continue
        of_task = key.strip() in task_class(task).own_params
        takers = [card for card in cards if key.strip() in card.params and not of_task] or list(cards)
        for card in takers:
            parsed[card.name][key.strip()] = parse_value(value)
    return parsed


def parse_value(text: str) -> bool | int | float | str:
    """A number, true or false, or a word."""
    text = text.strip()
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
