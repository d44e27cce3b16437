"""A family: the cards that share a title, and the parameters of an estimator made of them."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from noregret.cached_property import cached_property
from noregret.errors import BadValue
from noregret.learner.state_options import COVARIANCES
from noregret.rules.card import Card
from noregret.rules.losses import LOSSES
from noregret.rules.method_card import MethodCard
from noregret.rules.parameters import Component, Param, Parameter, suggestion
from noregret.rules.rule_card import RuleCard
from noregret.tasks import TASKS
from noregret.tasks.task import Task

EstimatorType: TypeAlias = Literal["classifier", "regressor"]
TASK_OF: dict[EstimatorType, str] = {"classifier": "binary", "regressor": "regression"}
"""The task that decides which options fit; two classes may become many later, with the same options."""


@dataclass(frozen=True)
class EstimatorParam:
    """A parameter of an estimator: its default, what it may be, and what it is for."""

    name: str
    default: Any
    limits: str
    about: str


FIT_INTERCEPT = EstimatorParam("fit_intercept", True, "bool", "whether a constant feature is added to every row")
COMMON = (
    EstimatorParam("passes", 1, "int, at least 1", "how often `fit` goes through the data"),
    EstimatorParam(
        "shuffle", True, "bool", "whether `fit` takes the rows in a random order in each pass; `partial_fit` never does"
    ),
    EstimatorParam("random_state", None, "int, RandomState or None", "the seed of that order"),
)


def takes_option(card: Card, name: str) -> bool:
    """Whether learners of a card take one of the options that learners share: rules take all of them."""
    return isinstance(card, RuleCard) or name in getattr(card, "options", ())


def has_trait(card: Card, name: str) -> bool:
    """Whether a rule declares something; other methods do not."""
    return bool(getattr(card, name, False))


@dataclass(frozen=True)
class Family:
    """The cards of one title that can be estimators of one type, the default variant first."""

    title: str
    estimator_type: EstimatorType
    cards: tuple[Card, ...]

    @property
    def default_card(self) -> Card:
        return self.cards[0]

    @property
    def task(self) -> type[Task]:
        return TASKS[TASK_OF[self.estimator_type]]

    @property
    def name(self) -> str:
        return f"{self.title}{self.estimator_type.capitalize()}"

    def member(self, variant: Any, otherwise: Card | None = None) -> Card:
        """The card that a variant names; where it names none, another, or the default one."""
        named = (card for card in self.cards if isinstance(variant, str) and card.name == variant)
        return next(named, otherwise or self.default_card)

    def card(self, variant: Any) -> Card:
        """The card that a variant names, or an error."""
        names = [card.name for card in self.cards]
        if not isinstance(variant, str) or variant not in names:
            raise BadValue(
                f"{self.name}: variant must be one of {', '.join(names)}, not {variant!r}{suggestion(variant, names)}"
            )
        return self.member(variant)

    # ---- parameters ----------------------------------------------------------------------------------------------

    @cached_property
    def params(self) -> tuple[EstimatorParam, ...]:
        """Every parameter of the estimator, in the order of its signature."""
        own = list(self.card_params())
        common = [*self.task_params(), *self.option_params()]
        taken = {param.name for param in common} & {param.name for param in own}
        if taken:
            raise BadValue(
                f"rule {self.default_card.name}: {', '.join(sorted(taken))} is a parameter that every estimator has; "
                "give the rule's parameter another name"
            )
        return *own, *common

    def card_params(self) -> Iterator[EstimatorParam]:
        """The variant, and the parameters on the cards."""
        if len(self.cards) > 1:
            lines = "; ".join(f"{card.name}: {card.about.removesuffix('.')}" for card in self.cards)
            names = format_choices([card.name for card in self.cards])
            yield EstimatorParam("variant", self.default_card.name, names, lines)
        for name in dict.fromkeys(name for card in self.cards for name in card.params):
            having = {card.name: card.params[name] for card in self.cards if name in card.params}
            first = next(iter(having.values()))
            if len(having) == len(self.cards) == 1:
                about = first.about
            else:
                about = "; ".join(f"of {card}: {param.about}" for card, param in having.items())
            yield EstimatorParam(name, *self.default_and_limits(name, first), about)

    def default_and_limits(self, name: str, param: Parameter) -> tuple[Any, str]:
        """The default of a parameter and what it may be; of the losses, those that fit the task."""
        if isinstance(param, Param):
            return self.task.default_number(param), format_limits(param)
        assert not isinstance(param, Component)
        if name != "loss" or not isinstance(self.default_card, RuleCard):
            return param.default, format_choices(param.among)
        tasks = {self.task.name} | ({"multiclass"} if self.estimator_type == "classifier" else set())
        fits = [loss for loss in param.among if tasks & set(LOSSES[loss].tasks)]
        return self.task.default_option(name, param), format_choices(fits)

    def task_params(self) -> Iterator[EstimatorParam]:
        """The parameters of the task: only regressors of rules have some that are set by users."""
        if self.estimator_type != "regressor" or not isinstance(self.default_card, RuleCard):
            return
        for name, param in self.task.params.items():
            about = f"{param.about}; only for losses that have it"
            yield EstimatorParam(name, param.default, format_limits(param), about)
        for name, choice in self.task.options.items():
            yield EstimatorParam(name, choice.default == "yes", "bool", choice.about)

    def option_params(self) -> Iterator[EstimatorParam]:
        """The options of learners, and of `fit`."""
        if any(has_trait(card, "keeps_covariance") for card in self.cards):
            about = "how the covariance is stored; full takes features squared of memory"
            yield EstimatorParam("covariance", COVARIANCES[0], format_choices(COVARIANCES), about)
        if any(has_trait(card, "keeps_groups") for card in self.cards):
            about = "how many consecutive features make a group, or the group number of each feature"
            yield EstimatorParam("groups", 1, "int, at least 1, or list of int", about)
        if any(takes_option(card, "bias") for card in self.cards):
            yield FIT_INTERCEPT
        yield from COMMON
        if self.estimator_type == "classifier" and any(card.supports_weights for card in self.cards):
            about = 'importance weights of the classes; "balanced", in `fit` only: in inverse proportion'
            yield EstimatorParam("class_weight", None, 'dict, "balanced" or None', about)


def can_be(card: Card, estimator_type: EstimatorType) -> bool:
    """Whether a card plays the task of an estimator; a named method of many classes is a classifier, too."""
    many = estimator_type == "classifier" and isinstance(card, MethodCard) and "multiclass" in card.tasks
    return TASK_OF[estimator_type] in card.tasks or many


def format_choices(names: Iterable[str]) -> str:
    return "{" + ", ".join(f'"{name}"' for name in names) + "}"


def format_limits(param: Param) -> str:
    bounded = any(math.isfinite(bound) for bound in (param.above, param.at_least, param.below, param.at_most))
    return f"float, {param.limits}" if bounded else "float"


def find_families(cards: Iterable[Card], estimator_type: EstimatorType) -> Iterator[Family]:
    """The cards by title that can be estimators of a type: they play its task, on any rows, without other learners."""
    able = [
        card
        for card in cards
        if can_be(card, estimator_type)
        and not card.boolean_rows
        and not card.needs
        and not (isinstance(card, MethodCard) and card.ignores_features)
        and not any(isinstance(param, Component) for param in card.params.values())
    ]
    for title in dict.fromkeys(card.title for card in able):
        members = [card for card in able if card.title == title]
        members.sort(key=lambda card: (not card.default_variant, card.name))
        yield Family(title, estimator_type, tuple(members))
