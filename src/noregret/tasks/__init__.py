"""The task of every task."""

from noregret.tasks.bandit import Played
from noregret.tasks.classes import Many, Two
from noregret.tasks.multilabel import Sets
from noregret.tasks.one_class import OneClass
from noregret.tasks.ranking import Lists
from noregret.tasks.regression import Targets
from noregret.tasks.task import Task

TASKS: dict[str, Task] = {
    "binary": Two("binary"),
    "multiclass": Many("multiclass"),
    "multilabel": Sets("multilabel"),
    "regression": Targets("regression"),
    "ranking": Lists("ranking"),
    "bandit": Played("bandit"),
    "one-class": OneClass("one-class"),
}
