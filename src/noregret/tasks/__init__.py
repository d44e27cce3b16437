"""The task of every game."""

from noregret.tasks.bandit import Played
from noregret.tasks.classes import Many, Two
from noregret.tasks.lists import Lists
from noregret.tasks.one_class import OneClass
from noregret.tasks.sets import Sets
from noregret.tasks.targets import Targets
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
