"""The tasks by name: what a learner can be asked to learn."""

from noregret.tasks.bandit import Bandit
from noregret.tasks.binary import Binary
from noregret.tasks.convex import Convex
from noregret.tasks.factored import Factored
from noregret.tasks.multiclass import Multiclass
from noregret.tasks.multilabel import Multilabel
from noregret.tasks.one_class import OneClass
from noregret.tasks.ranking import Ranking
from noregret.tasks.recommendation import Recommendation
from noregret.tasks.regression import Regression
from noregret.tasks.structured import Structured
from noregret.tasks.task import Task
from noregret.tasks.unsupervised import Unsupervised

TASKS: dict[str, type[Task]] = {
    task.name: task
    for task in (
        Binary,
        Multiclass,
        Regression,
        Multilabel,
        Ranking,
        OneClass,
        Bandit,
        Unsupervised,
        Recommendation,
        Structured,
        Factored,
        Convex,
    )
}
