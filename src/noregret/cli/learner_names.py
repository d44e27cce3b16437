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
from noregret.evaluation.race import ALL, all_cards, check_distinct, default_cards
from noregret.learner.factory import card_of
from noregret.learner.variants import Variant, file_length, parse, parse_value, split_names
from noregret.rules.card import Card


def find_variants(names: str | None, task: str | None) -> list[Variant]:
    """The learners of names separated by commas; without names, the built-in ones of the task that run by default."""
    if names is None:
        return [Variant(card) for card in default_cards(task)]
    if names.strip() == ALL:
        return [Variant(card) for card in all_cards(task)]
    split = split_names(names)
    if not split:
        raise BadValue("--learners names no learner; see `noregret learners`")
    found = [find_variant(name) for name in split]
    check_distinct([str(one) for one in found])
    return found


def find_variant(name: str) -> Variant:
    """The variant of a learner, or of FILE.py:RULE."""
    return parse(name, find_card)


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
    length = file_length(name or "")
    return (name or "")[: length - 1] if length else None


def rule_files(names: str | None) -> list[str | None]:
    """The files of the rules in names separated by commas."""
    return [rule_file(name) for name in split_names(names or "")]


def add_settings(settings: Sequence[str], variants: Sequence[Variant], task: str | None = None) -> list[Variant]:
    """The learners with the parameters given with --set; a parameter in brackets precedes one that is for all."""
    found = list(variants)
    for text in settings:
        key, equals, value = (part.strip() for part in text.partition("="))
        owner, dot, name = key.partition(".")
        if not equals or not key:
            raise BadValue(f"--set {text}: write NAME=VALUE, as in --set r=0.5")
        if dot and any(owner == one.card.name for one in variants):
            parsed = {name: parse_value(value)}
            for place, before in enumerate(variants):
                if before.card.name == owner:
                    before.add(parsed, f"with --set {text}")  # refuse what stands in its brackets, too
                    found[place] = with_options(found[place], parsed)
            continue
        of_task = key in task_class(task).own_params
        takers = [one.card for one in variants if key in one.card.params and not of_task]
        takers = takers or [one.card for one in variants]
        found = [
            with_options(one, {key: parse_value(value)}) if one.card in takers and key not in before.options else one
            for one, before in zip(found, variants, strict=True)
        ]
    return found


def with_options(variant: Variant, options: dict[str, Any]) -> Variant:
    """A variant with other values of some options."""
    return Variant(variant.card, {**variant.options, **options})
