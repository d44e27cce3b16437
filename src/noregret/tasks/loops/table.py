"""The tasks: their loops, the numbers and options they take, and what they keep beside the rule."""

from collections import namedtuple
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from noregret.rules.parameters import Choice, Param
from noregret.tasks.loops import asking, bandit, binary, multiclass, multilabel, one_class, ranking, regression

NOTHING: Mapping[str, Any] = MappingProxyType({})


class TaskRow(NamedTuple):
    """A task: the module with its loops, and what these are given.

    The options are bound into the loops; params and arrays are the fields of g, counters are kept in s.n.
    """

    module: Any
    params: Mapping[str, Param] = NOTHING
    choices: Mapping[str, Choice] = NOTHING
    counters: Mapping[str, float] = NOTHING
    arrays: tuple[str, ...] = ()
    many: bool = False  # whether there is a score, and a block of weights, for every class
    truths: int = 1  # the dimensions of what the loops are told of the truth


RIVALS = {
    "runner_up": multiclass.runner_up,
    "predicted": multiclass.predicted,
    "max_loss": multiclass.max_loss,
    "rest": None,  # no single one: each class is held against all others
}
PAIRS = {"all": ranking.every, "each": ranking.each, "worst": ranking.worst}
MARGINS = {"unit": multiclass.one, "loss": multiclass.by_cost, "sqrt": multiclass.by_cost}

LABELS = Choice(
    "all", {"all": asking.always, "asked": asking.asked}, "which labels are told: all, or as asked for", binds="told"
)
ASK = Param(1.0, above=0.0, about="a label is asked for with probability ask / (ask + |margin|)")
ASKING = {"asking_random": 1.0, "asked": 0.0}  # the counters of a task in which labels are asked for

TASK_TABLE = {
    "binary": TaskRow(
        binary,
        params={
            "ask": ASK,
            "universum": Param(0.1, at_least=0.0, about="how far from 0 a score of neither class may be"),
        },
        choices={"labels": LABELS},
    ),
    "multiclass": TaskRow(
        multiclass,
        params={"ask": ASK},
        choices={
            "labels": LABELS,
            "competitor": Choice("runner_up", RIVALS, "the class that the right one must beat", binds="rival_of"),
            "margin": Choice("unit", MARGINS, "by how much: 1, the cost, or its square root", binds="required"),
        },
        arrays=("steps", "owed", "costs"),
        many=True,
    ),
    "multilabel": TaskRow(
        multilabel,
        choices={
            "threshold": Choice(
                "virtual",
                {"virtual": True, "zero": False},
                "what the score of a predicted label is above: that of a virtual label, which is learned, or 0",
                binds="virtual",
            )
        },
        arrays=("scores",),
        many=True,
        truths=2,
    ),
    "regression": TaskRow(
        regression,
        params={"eps": Param(0.1, at_least=0.0, about="errors up to this size, in deviations, cost nothing")},
        choices={
            "scale_target": Choice(
                "yes", {"yes": True, "no": False}, "whether targets are centred and scaled as they come", "measured"
            )
        },
        counters={"target_count": 0.0, "target_mean": 0.0, "target_squares": 0.0},
    ),
    "one-class": TaskRow(
        one_class,
        params={"radius": Param(1.0, at_least=0.0, about="how far from the centre a row may be")},
        choices={
            "learn_radius": Choice(
                "no", {"yes": True, "no": False}, "whether the radius is learned, from 0 up to the one that is told"
            )
        },
    ),
    "ranking": TaskRow(
        ranking,
        choices={"pairs": Choice("all", PAIRS, "which pairs of a list the rule is taught by", binds="taught")},
        arrays=("places", "values"),
        truths=2,
    ),
    "bandit": TaskRow(bandit, arrays=("steps", "odds"), many=True, truths=2),
}
SETTINGS: dict[str, Any] = {
    name: namedtuple(f"{name.replace('-', '_')}_setting", [*task.params, *task.arrays] or ["none"])
    for name, task in TASK_TABLE.items()
}
