"""The task of every game."""

from noregret.tasks.classes import Many, Two
from noregret.tasks.one_class import OneClass
from noregret.tasks.targets import Targets
from noregret.tasks.task import Task

TASKS: dict[str, Task] = {
    "binary": Two("binary"),
    "multiclass": Many("multiclass"),
    "regression": Targets("regression"),
    "one-class": OneClass("one-class"),
}
