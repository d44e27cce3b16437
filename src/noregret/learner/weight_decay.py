"""The option weight_decay: which learners take it, and what it does to their state."""

from collections.abc import Mapping
from typing import Any

from noregret.errors import BadValue
from noregret.rules.parameters import Param
from noregret.rules.rule_card import RuleCard
from noregret.state.fields import decayed
from noregret.state.space import Shape
from noregret.state.stores import field_counters
from noregret.tasks.task import Task

DECAYS = ("binary", "multiclass", "regression", "multilabel", "ranking")  # tasks whose weights may decay


def check_decay(
    card: RuleCard, task: type[Task], algebra: str | None, decay: Any, choices: Mapping[str, str]
) -> float | None:
    """The share by which all weights shrink in every round; None where they do not."""
    if decay is None or decay is False:
        return None
    value = Param(0.001, above=0.0, below=1.0).check(card.name, "weight_decay", decay)
    reason = card.why_no_decay(choices)
    if reason is None and task.name not in DECAYS:
        reason = f"{task.name} keeps more than weights that move by steps"
    if reason is None and algebra == "kernel":
        reason = "the kernel algebra keeps examples instead of weights"
    if reason is not None:
        raise BadValue(
            f"{card.name} cannot forget by weight_decay: {reason}; use drift_aware with a detector or a window"
        )
    return value


def add_decay(shape: Shape, decay: float) -> Shape:
    """The state with weights that decay."""
    fields = {name: decayed if name == "w" else field for name, field in shape.fields.items()}
    replaced = field_counters({"w": shape.fields["w"]})
    others = {name: start for name, start in shape.counters.items() if name not in replaced}
    return Shape(fields, {**others, **field_counters({"w": decayed}), "w_decay": decay})
