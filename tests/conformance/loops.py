"""The loops that tests compile: few, and shared by all tests, since each costs a second.

`make test-all` compiles every rule in every task and algebra with its defaults, and each other option once; of all
combinations of options, each run has another part (`NOREGRET_TEST_PART`).
"""

from functools import cache

import noregret as nr
from noregret.tasks.assemble import Plan
from tests.conformance.plays import CARDS, FEW_IN, Play, firsts, in_first_task, leads, plays
from tests.support.cover import ALL, one_part
from verification.mutants.record import RECORD

NATIVE = plays(algebras=["sparse", "dense", "kernel"])
FIRST = [play for play in firsts(NATIVE) if in_first_task(play) and (leads(play) or play.name in FEW_IN[play.algebra])]
COVARIANCES = [play for play in plays(["binary"], ["sparse"]) if play.name == "arow"]
# What tests take when they need just any compiled learner, by rows of either kind.
EVERYDAY = {
    "perceptron": ("binary", "multiclass"),
    "pa1": ("binary", "multiclass", "regression"),
    "arow": ("binary", "multiclass"),
}
EVERYDAY_PLAYS = [
    play
    for play in firsts(plays(algebras=["sparse", "dense"]))
    if play.name in EVERYDAY and play.task in EVERYDAY[play.name]
]


def is_sampled(play: Play) -> bool:
    """Whether a rule is compiled in the default suite: the first of its file, and any whose mutants have not been run.

    The other rules of a file use the same verbs and stores; `make test-all` compiles all of them.
    """
    by_file: dict[str, str] = {}
    for card in CARDS:
        by_file.setdefault(card.rule.__code__.co_filename, card.name)
    return play.name in by_file.values() or play.name in FEW_IN[play.algebra] or f"[{play.name}" not in RECORDED


RECORDED = RECORD.read_text(encoding="utf-8")
SAMPLE = [play for play in FIRST if is_sampled(play)] + COVARIANCES + EVERYDAY_PLAYS
ONE_BY_ONE = plays(algebras=["sparse", "dense", "kernel"], every=False)
COMBINED = [play for play in NATIVE if play not in set(ONE_BY_ONE)]
PART_OF_ALL = [*ONE_BY_ONE, *one_part(COMBINED, lambda play: (play.name, play.task, play.algebra))]
CHECKED = sorted(dict.fromkeys([*SAMPLE, *(PART_OF_ALL if ALL else [])]), key=lambda play: play.algebra)
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
    others = [nr.make("pa1", task=task, algebra="sparse") for task in OTHER_TASKS]
    others.append(nr.make("banditron", algebra="sparse", classes=[0, 1]))
    others.append(nr.make("perceptron_voted", algebra="kernel", kernel="linear", task="multiclass"))  # slow otherwise
    checked = [play.make() for play in CHECKED]
    return frozenset(plan_of(learner).name for learner in [*checked, *others])
