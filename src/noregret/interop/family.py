"""A family: the cards that share a title, and the parameters an estimator made of them takes."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from noregret.errors import BadValue
from noregret.learner.config import COVARIANCES
from noregret.rules.losses import LOSSES
from noregret.rules.parameters import Choice, Param, suggestion
from noregret.rules.rule_card import RuleCard
from noregret.tasks import TASKS

REGRESSION = "regression"
AROUND = {
    "fit_intercept": (True, "bool", "whether a constant feature is added to every row"),
    "passes": (1, "int, at least 1", "how often `fit` goes through the data"),
    "shuffle": (
        True,
        "bool",
        "whether `fit` takes the rows in a random order in each pass; `partial_fit` never does",
    ),
    "random_state": (None, "int, RandomState or None", "what decides that order"),
}


@dataclass(frozen=True)
class Told:
    """A parameter of an estimator: its default, what it may be, and what it is for."""

    name: str
    default: Any
    limits: str
    about: str


@dataclass(frozen=True)
class Family:
    """The cards of one title that play one kind of estimator_type, the one that leads first."""

    title: str
    estimator_type: str
    cards: tuple[RuleCard, ...]

    @property
    def lead(self) -> RuleCard:
        return self.cards[0]

    @property
    def task(self) -> str:
        """The task that decides which options fit; two classes may become many later, with the same options."""
        return REGRESSION if self.estimator_type == "regressor" else "binary"

    @property
    def name(self) -> str:
        return f"{self.title}{self.estimator_type.capitalize()}"

    def member(self, variant: Any, otherwise: RuleCard | None = None) -> RuleCard:
        """The card a variant names; where it names none, another, or the one that leads."""
        named = (card for card in self.cards if isinstance(variant, str) and card.name == variant)
        return next(named, otherwise or self.lead)

    def card(self, variant: Any) -> RuleCard:
        """The card a variant names, or an error."""
        names = [card.name for card in self.cards]
        if not isinstance(variant, str) or variant not in names:
            raise BadValue(
                f"{self.name}: variant must be one of {', '.join(names)}, not {variant!r}{suggestion(variant, names)}"
            )
        return self.member(variant)

    @cached_property
    def params(self) -> tuple[Told, ...]:
        """Every parameter of the estimator, in the order of its signature."""
        own = list(self.of_the_rules())
        around = list(self.of_the_estimator())
        taken = {param.name for param in around} & {param.name for param in own}
        if taken:
            raise BadValue(
                f"rule {self.lead.name}: {', '.join(sorted(taken))} is a parameter that every estimator has; "
                "give the rule's parameter another name"
            )
        return *own, *around

    def of_the_rules(self) -> Iterator[Told]:
        if len(self.cards) > 1:
            lines = "; ".join(f"{card.name}: {without_stop(card.about)}" for card in self.cards)
            yield Told("variant", self.lead.name, either([card.name for card in self.cards]), lines)
        for name in dict.fromkeys(name for card in self.cards for name in card.params):
            having = {card.name: card.params[name] for card in self.cards if name in card.params}
            first = next(iter(having.values()))
            if len(having) == len(self.cards) == 1:
                about = first.about
            else:
                about = "; ".join(f"of {card}: {param.about}" for card, param in having.items())
            yield Told(name, *self.default_and_limits(name, first), about)

    def default_and_limits(self, name: str, param: Param | Choice) -> tuple[Any, str]:
        if isinstance(param, Param):
            return param.default, limits_of(param)
        fits = [one for one in param.among if name != "loss" or self.task in LOSSES[one].tasks]
        return TASKS[self.task].default_option(name, param), either(fits)

    def of_the_estimator(self) -> Iterator[Told]:
        for name, param in TASKS[self.task].params.items() if self.estimator_type == "regressor" else ():
            yield Told(name, param.default, limits_of(param), f"{param.about}; only where the loss knows it")
        for name, choice in TASKS[self.task].options.items() if self.estimator_type == "regressor" else ():
            yield Told(name, choice.default == "yes", "bool", choice.about)
        if any(card.keeps_covariance for card in self.cards):
            kept = "what is kept of the covariance; full takes features squared of memory"
            yield Told("covariance", COVARIANCES[0], either(COVARIANCES), kept)
        if any(card.keeps_groups for card in self.cards):
            about = "how many features in a row make a group, or the group number of each feature"
            yield Told("groups", 1, "int, at least 1, or list of int", about)
        yield from (Told(name, *told) for name, told in AROUND.items())
        if self.estimator_type == "classifier" and any(card.supports_weights for card in self.cards):
            about = 'how much the rounds of each class count; "balanced", in `fit` only: in inverse proportion'
            yield Told("class_weight", None, 'dict, "balanced" or None', about)


def either(names: Iterable[str]) -> str:
    return "{" + ", ".join(f'"{name}"' for name in names) + "}"


def limits_of(param: Param) -> str:
    bounded = any(math.isfinite(bound) for bound in (param.above, param.at_least, param.below, param.at_most))
    return f"float, {param.limits}" if bounded else "float"


def without_stop(sentence: str) -> str:
    return sentence.removesuffix(".")


def families(cards: Iterable[RuleCard], estimator_type: str) -> Iterator[Family]:
    """The cards by title, where at least one of them can be such an estimator."""
    tasks = {"classifier": {"binary"}, "regressor": {REGRESSION}}[estimator_type]
    fit = [card for card in cards if tasks & set(card.tasks)]
    for title in dict.fromkeys(card.title for card in fit):
        members = [card for card in fit if card.title == title]
        members.sort(key=lambda card: (not card.default_variant, card.name))
        yield Family(title, estimator_type, tuple(members))
