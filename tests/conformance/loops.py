"""The loops that the default suite compiles: few, and shared by all tests, since each costs a second."""

import random
from functools import cache

import noregret as nr
from noregret.tasks.assemble import Plan
from tests.conformance.plays import FEW, FEW_IN, Play, firsts, in_first_task, leads, plays
from tests.support.cover import ALL

NATIVE = plays(algebras=["sparse", "dense", "kernel"])
FIRST = [play for play in firsts(NATIVE) if in_first_task(play) and (leads(play) or play.name in FEW_IN[play.algebra])]
COVARIANCES = [play for play in plays(["binary"], ["sparse"]) if play.name == "arow"]
OTHERS = {name: [play for play in NATIVE if play.name == name and play not in FIRST + COVARIANCES] for name in FEW}
SAMPLE = [random.Random(f"2006 {name}").choice(ways) for name, ways in OTHERS.items() if ways]
CHECKED = NATIVE if ALL else list(dict.fromkeys(FIRST + COVARIANCES + SAMPLE))
# Those that tests take when they need just any compiled learner, also for dense rows, and one for every other task.
EVERYDAY = {
    "perceptron": ("binary", "multiclass"),
    "pa1": ("binary", "multiclass", "regression"),
    "arow": ("binary", "multiclass"),
}
OTHER_TASKS = ("multilabel", "ranking", "one-class", "structured")


def exact(play: Play) -> bool:
    """Only sums over dense arrays may be reordered: those of dense rows and of full matrices."""
    return play.algebra != "dense" and ("covariance", "full") not in play.options


def plan_of(learner: nr.RuleLearner) -> Plan:
    """The plan of a learner that was told its task and algebra."""
    return learner.config.plan(learner.config.task, str(learner.algebra))


@cache
def shared_loops() -> frozenset[str]:
    """The names of the loops that are compiled in any case."""
    everyday = [
        nr.make(name, task=task, algebra=algebra)
        for name, tasks in EVERYDAY.items()
        for task in tasks
        for algebra in ("sparse", "dense")
    ]
    others = [nr.make("pa1", task=task, algebra="sparse") for task in OTHER_TASKS]
    others.append(nr.make("banditron", algebra="sparse", classes=[0, 1]))
    others.append(nr.make("perceptron_voted", algebra="kernel", kernel="linear", task="multiclass"))  # slow otherwise
    checked = [play.make() for play in CHECKED]
    return frozenset(plan_of(learner).name for learner in [*checked, *everyday, *others])


def is_shared(play: Play) -> bool:
    """Whether the loop of a play is compiled in any case."""
    return plan_of(play.make()).name in shared_loops()
