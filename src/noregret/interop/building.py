"""From cards to estimator classes: signature, text and methods are all read off the cards."""

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from noregret.errors import BadValue
from noregret.interop.estimators import OnlineClassifier, OnlineRegressor
from noregret.interop.family import Family, Told, families
from noregret.learner.factory import card_of
from noregret.learners import load_all
from noregret.rules.rule_card import RuleCard

BASES = {"classifier": OnlineClassifier, "regressor": OnlineRegressor}
HOME = "noregret.sklearn"
ATTRIBUTES = {
    "classes_": "the labels, sorted; a new one may come with any `partial_fit`",
    "coding_": "the labels by the number that `learner_` knows them by",
    "coef_, intercept_": "the weights, where the score is a weighted sum of the features",
    "learner_": "the live `noregret.Learner`",
    "n_iter_": "how many passes the last `fit` made",
    "t_": "how many rounds were learned since `fit` or the first `partial_fit`",
}


def shelf() -> dict[str, Family]:
    """Every family of built-in learners by the name of its class."""
    cards = [card for _, card in sorted(load_all().items()) if isinstance(card, RuleCard) and card.built_in]
    found = [family for estimator_type in BASES for family in families(cards, estimator_type)]
    return {family.name: family for family in sorted(found, key=lambda family: family.name)}


def classifier(rule: RuleCard) -> Any:
    """A scikit-learn classifier class of your own decorated rule.

    Keep it under its own name beside the rule, `CappedClassifier = classifier(capped)`, and it can be pickled.
    """
    return own(rule_card_of(rule), "classifier")


def regressor(rule: RuleCard) -> Any:
    """A scikit-learn regressor class of your own decorated rule, which must be driven by the loss, not by mistakes."""
    return own(rule_card_of(rule), "regressor")


def rule_card_of(rule: Any) -> RuleCard:
    card = card_of(rule)
    if not isinstance(card, RuleCard):
        raise BadValue(f"{card.name} is not a rule, so no estimator class can be made of it")
    return card


@cache
def own(card: RuleCard, estimator_type: str) -> Any:
    made = list(families([card], estimator_type))
    if not made:
        raise BadValue(f"{card.name} cannot play regression: it moves on mistakes, not on losses")
    if card.built_in:
        raise BadValue(f"{card.name} is built in: from {HOME} import {made[0].name}")
    return estimator_class(made[0], card.module)


def estimator_class(family: Family, home: str) -> Any:
    """The class of a family, living in the module `home`."""
    body = {
        "__module__": home,
        "__qualname__": family.name,
        "__doc__": "\n".join(text_of(family)),
        "__init__": initializer(family.params),
        "_family": family,
    }
    return type(family.name, (BASES[family.estimator_type],), body)


def initializer(params: tuple[Told, ...]) -> Callable[..., None]:
    """An `__init__` that keeps what it is given, with the signature scikit-learn reads the parameters from."""
    named = [inspect.Parameter(told.name, inspect.Parameter.KEYWORD_ONLY, default=told.default) for told in params]
    me = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = inspect.Signature([me, *named])

    def keep(self: Any, *args: Any, **given: Any) -> None:
        bound = signature.bind(self, *args, **given)
        bound.apply_defaults()
        for name in [told.name for told in params]:
            setattr(self, name, bound.arguments[name])

    keep.__name__ = "__init__"
    keep.__signature__ = signature  # type: ignore[attr-defined]
    return keep


def text_of(family: Family) -> Iterator[str]:
    yield from (family.lead.about, "", "Parameters", "----------")
    for told in family.params:
        yield from (f"{told.name} : {told.limits}, default={told.default!r}", f"    {told.about}.")
    yield from ("", "Attributes", "----------")
    for name, about in ATTRIBUTES.items():
        if family.estimator_type == "classifier" or name not in ("classes_", "coding_"):
            yield from (name, f"    {about}.")
    proven = [(card, one) for card in family.cards for one in card.guarantees]
    if proven:
        yield from ("", "Notes", "-----")
    for card, one in proven:
        yield f"{card.name}: {one.says}, when {one.condition}."
    yield from ("", "References", "----------")
    yield from dict.fromkeys(f"{card.paper}." for card in family.cards)
