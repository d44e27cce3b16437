"""Estimator classes made from cards: the signature, the documentation and the methods all come from the cards."""

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from noregret.errors import BadValue
from noregret.interop.estimators import OnlineClassifier, OnlineRegressor
from noregret.interop.family import TASK_OF, EstimatorParam, EstimatorType, Family, find_families
from noregret.learner.factory import card_of
from noregret.learner.registry import load_cards
from noregret.rules.card import Card
from noregret.rules.parameters import suggestion

BASES: dict[EstimatorType, type] = {"classifier": OnlineClassifier, "regressor": OnlineRegressor}
HOME = "noregret.sklearn"
ATTRIBUTES = {
    "classes_": "the labels, sorted; a new one may come with any `partial_fit`",
    "coding_": "the labels by the number that `learner_` knows them by",
    "coef_, intercept_": "the weights, where the score is a weighted sum of the features",
    "learner_": "the `noregret.Learner` behind the estimator",
    "n_iter_": "how many passes the last `fit` made",
    "t_": "how many rounds were learned since `fit` or the first `partial_fit`",
}


def built_in_families() -> dict[str, Family]:
    """Every family of built-in learners by the name of its class."""
    cards = [card for _, card in sorted(load_cards().items()) if card.built_in]
    found = [family for estimator_type in BASES for family in find_families(cards, estimator_type)]
    return {family.name: family for family in sorted(found, key=lambda family: family.name)}


def classifier(rule: Card | type) -> Any:
    """A scikit-learn classifier class of your own decorated rule, or of your own class of learners.

    Keep it under its own name beside the rule, `CappedClassifier = classifier(capped)`, so that it can be pickled.
    """
    return make_own_class(card_of(rule), "classifier")


def regressor(rule: Card | type) -> Any:
    """A scikit-learn regressor class of your own rule, which must update on losses, not on mistakes."""
    return make_own_class(card_of(rule), "regressor")


@cache
def make_own_class(card: Card, estimator_type: EstimatorType) -> Any:
    families = list(find_families([card], estimator_type))
    if not families:
        task = TASK_OF[estimator_type]
        why = "it contains other learners" if task in card.tasks else f"it cannot play {task}"
        raise BadValue(f"no {estimator_type} can be made of {card.name}: {why}")
    if card.built_in:
        raise BadValue(f"{card.name} is built in: from {HOME} import {families[0].name}")
    return make_class(families[0], card.module)


def make_class(family: Family, module: str) -> Any:
    """The estimator class of a family, defined in a module."""
    body = {
        "__module__": module,
        "__qualname__": family.name,
        "__doc__": "\n".join(document(family)),
        "__init__": make_initializer(family.params),
        "_family": family,
    }
    return type(family.name, (BASES[family.estimator_type],), body)


def make_initializer(params: tuple[EstimatorParam, ...]) -> Callable[..., None]:
    """An `__init__` that stores its arguments, with the signature that scikit-learn reads the parameters from."""
    named = [inspect.Parameter(param.name, inspect.Parameter.KEYWORD_ONLY, default=param.default) for param in params]
    me = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = inspect.Signature([me, *named])

    def store(self: Any, *args: Any, **given: Any) -> None:
        unknown = next((name for name in given if name not in signature.parameters), None)
        if unknown is not None:
            names = [param.name for param in params]
            hint = suggestion(unknown, names)
            raise TypeError(
                f"{type(self).__name__} has no parameter {unknown!r}{hint or ';'} it takes {', '.join(names)}"
            )
        bound = signature.bind(self, *args, **given)
        bound.apply_defaults()
        for param in params:
            setattr(self, param.name, bound.arguments[param.name])

    store.__name__ = "__init__"
    store.__signature__ = signature  # type: ignore[attr-defined]
    return store


def document(family: Family) -> Iterator[str]:
    """The lines of the docstring of an estimator class."""
    yield from (family.default_card.about, "", "Parameters", "----------")
    for param in family.params:
        yield from (f"{param.name} : {param.limits}, default={param.default!r}", f"    {param.about}.")
    yield from ("", "Attributes", "----------")
    for name, about in ATTRIBUTES.items():
        if family.estimator_type == "classifier" or name not in ("classes_", "coding_"):
            yield from (name, f"    {about}.")
    theorems = [(card, guarantee) for card in family.cards for guarantee in card.guarantees]
    if theorems:
        yield from ("", "Notes", "-----")
    for card, guarantee in theorems:
        yield f"{card.name}: {guarantee.says}, when {guarantee.condition}."
    yield from ("", "References", "----------")
    yield from dict.fromkeys(f"{card.paper}." for card in family.cards)
