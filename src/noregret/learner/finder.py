"""Finds what a model file only names: cards of rules, and functions of the caller. Nothing is imported for a file."""

from collections.abc import Callable, Mapping
from typing import Any

from noregret.errors import BadValue, Error, shown
from noregret.learner.registry import load_cards
from noregret.rules.card import Card
from noregret.rules.parameters import suggestion

FeatureFunction = Callable[[Any, Any], Any]


class Finder:
    """Finds the rule given by the caller or one that is registered, and functions and decoders of the caller."""

    def __init__(
        self,
        rule: Card | None = None,
        features: Any = None,
        functions: Any = None,
        decoder: Any = None,
        module: Any = None,
    ) -> None:
        self.rule = rule
        self.features = by_name(features)
        self.functions = by_name(functions)
        self.decoders = by_name(decoder)
        self.modules = by_name(module)

    def __call__(self, name: str) -> Card:
        """The card of a rule."""
        card = self.rule if self.rule is not None and self.rule.name == name else load_cards().get(name)
        if card is None:
            known = suggestion(name, load_cards())
            raise Error(f"the model was learned by the rule {name!r}, which is not known here{known}; "
                        "import the file that defines it, or give it as rule= (--rule FILE.py)")  # fmt: skip
        return card

    def find_features(self, name: str) -> FeatureFunction:
        """The function that computes features, by the name it had when the model was saved."""
        found: FeatureFunction | None = self.features.get(name)
        if found is None:
            raise Error(
                f"the model was learned with the feature function {name!r}; give it to load as features=, "
                f"or, if it has another name now, as features={{{name!r}: function}}"
            )
        if not callable(found):
            raise BadValue(f"features must be a function, or functions by name, not {shown(found)}")
        return found

    def find_decoder(self, name: str) -> Any:
        """The decoder of structured output, by the name that its class had when the model was saved."""
        found = self.decoders.get(name, self.features.get(name))  # a pickle has all that is the caller's in one dict
        if found is None:
            raise Error(
                f"the model was learned with the decoder {name!r}; give it to load as decoder=, as in "
                f"decoder={name}(), or, if its class has another name now, as decoder={{{name!r}: decoder}}"
            )
        return found

    def find_module(self, name: Any) -> Any:
        """The torch module, by the name that its class had when the model was saved."""
        found = self.modules.get(name, self.features.get(name)) if isinstance(name, str) else None
        if found is None:
            raise Error(
                f"the model trains the torch module {shown(name)}; give it one of the same layers as module=, as in "
                f"nr.load(path, module={name if isinstance(name, str) else 'Net'}()), or, if its class has another "
                f"name now, as module={{{shown(name)}: net}}"
            )
        return found

    def find_given(self, option: str, name: str) -> Any:
        """What was given for an option of a learner, by the name it had when the model was saved."""
        found = self.functions.get(name, self.features.get(name))  # a pickle has all that is the caller's in one dict
        if found is None:
            raise Error(
                f"the model was learned with the {option} {name!r}, which is yours; give it to load as functions=, or, "
                f"if it has another name now, as functions={{{name!r}: {option}}}"
            )
        return found

    def find_predicate(self, name: str) -> Any:
        """A concept of a class of predicates, by its name."""
        found = self.functions.get(name, self.features.get(name))  # a pickle has all that is the caller's in one dict
        if not callable(found):
            raise Error(
                f"the model was learned with the concept {name!r}, a function of yours; give all of them to load by "
                f"name, as in functions={{{name!r}: function}}"
            )
        return found

    def find_option(self, card: Card, option: str, name: str) -> Any:
        """The function that was given for an option, by the name it had when the model was saved."""
        found = self.functions.get(name)
        if found is None:
            raise Error(
                f"the model was learned with {option}={name}, a function that {card.name} does not know; give it to "
                f"load as functions=, or, if it has another name now, as functions={{{name!r}: function}}"
            )
        return found


def by_name(functions: Any) -> Mapping[str, Any]:
    """Functions by name: those of a mapping or a list, or a single one."""
    if isinstance(functions, Mapping):
        return functions
    return {name_of(one): one for one in (functions if isinstance(functions, (list, tuple)) else [functions])}


def name_of(function: Any) -> str:
    """The name of a function; that of its class for other callables."""
    return str(getattr(function, "__name__", type(function).__name__))
