"""Checks of the arguments of functions and adapters that take learners."""

from typing import Any

import numpy as np

from noregret.errors import BadValue, check_digits, shown
from noregret.learner.factory import make
from noregret.learner.protocol import Learner
from noregret.learner.rule_learner import RuleLearner
from noregret.learner.variants import name_learner
from noregret.rules.card import Card
from noregret.tasks import TASKS
from noregret.tasks.task import Task


def check_integer(name: str, value: Any, least: int) -> int:
    """A whole number of at least `least`, or an error that names it."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise BadValue(f"{name} must be a whole number of at least {least}, not {shown(value)}")
    check_digits(int(value), name, hint="give a smaller one")
    return int(value)


def check_learner(learner: Any, caller: str) -> Learner:
    """A learner, or an error that names the function that needs one."""
    if not isinstance(learner, Learner):
        raise BadValue(f'{caller} needs a learner, such as nr.make("arow"), not {shown(learner)}')
    return learner


def check_round_learner(learner: Any, caller: str) -> Learner:
    """A learner whose rounds are single rows."""
    if task_of(check_learner(learner, caller)).needs_query:
        raise BadValue(
            f"{caller} takes rows one by one, and {learner.task} learns from lists; call learn(X, y, query=q) yourself"
        )
    return learner  # type: ignore[no-any-return]


def check_rule_learner(learner: Any, caller: str, reason: str) -> RuleLearner:
    """A rule learner, or an error that says why no other learner will do."""
    if not isinstance(learner, RuleLearner):
        raise BadValue(f'{caller} needs a rule learner, such as nr.make("arow"), not {shown(learner)}: {reason}')
    return learner


def as_learner(part: Any, caller: str) -> Learner:
    """A learner given as one, by name or as a card."""
    return make(part) if isinstance(part, (str, Card)) else check_learner(part, caller)


def as_rule_learner(part: Any, caller: str, reason: str) -> RuleLearner:
    """A rule learner given as one, by name or as a card."""
    return check_rule_learner(make(part) if isinstance(part, (str, Card)) else part, caller, reason)


def with_probabilities(learner: Learner) -> Any:
    """A learner that has probabilities, or an error."""
    if not hasattr(learner, "predict_proba"):
        raise BadValue(f"{learner.card.name} has no probabilities")
    return learner


def describe(learner: Learner) -> dict[str, Any]:
    """The name and the parameters of a learner inside another, for reports."""
    return {"name": name_learner(learner), **getattr(learner, "params", {})}


def task_of(learner: Learner) -> type[Task]:
    """What the task of a learner declares."""
    return TASKS.get(learner.task, Task)
