"""What the adaptive reranker is made of: models that are given or fresh, and the learner of the weights."""

from collections.abc import Mapping
from typing import Any, TypeVar

from noregret.errors import BadValue, shown
from noregret.learner.arguments import check_rule_learner
from noregret.learner.base_learner import BaseLearner
from noregret.learner.factory import card_of, make
from noregret.learner.rule_learner import RuleLearner
from noregret.learner.variants import Variant, as_variant
from noregret.loglinear.list_learner import ListLearner
from noregret.loglinear.rule_updates import by_loss
from noregret.rules.card import Card
from noregret.rules.rule_card import RuleCard

AnyModel = TypeVar("AnyModel", bound=BaseLearner)


def take_model(given: Any, kind: type[AnyModel], name: str) -> AnyModel:
    """A copy of the model given, or a fresh one."""
    if given is None:
        return kind()
    if not isinstance(given, kind):
        raise BadValue(f"{name} must be a model made by {kind.card.name}, not {shown(given)}")
    return given.copy()


def take_learner(
    given: Any, start: Mapping[str, float], average: bool | None, native: bool
) -> RuleLearner | ListLearner[Any]:
    """The learner of the weights: a reranker, or a rule learner that plays differences of features."""
    if isinstance(given, (str, Card)):
        given = make_learner(as_variant(given, card_of), start, average, native)
    elif average is not None:
        raise BadValue("average is for a learner given by name; make yours with average=True")
    if isinstance(given, ListLearner):
        return given
    rule = check_rule_learner(given, "adaptive_reranker", "its rule steps along differences of features")
    if rule.task != "structured":
        raise BadValue(f'the learner inside must be made with task="structured", not {shown(rule)}')
    config = rule.config
    if config.bias or config.scale or config.transforms or config.algebra == "kernel":
        raise BadValue("adaptive_reranker scores features as they are; leave bias, scale, transforms and kernels out")
    return rule


def make_learner(variant: Variant, start: Mapping[str, float], average: bool | None, native: bool) -> Any:
    """A fresh learner; a rule that updates only on mistakes predicts with the average of its weights."""
    if not isinstance(variant.card, RuleCard):
        return make(variant.card, **{"start": start, **variant.options})
    options = {"task": "structured", "native": native, **variant.options}
    if average is None and "average" not in options:
        plain = make(variant.card, **options)
        average = not by_loss(plain) and variant.card.final is None
    return make(variant.card, **{"average": average or None, **options})
