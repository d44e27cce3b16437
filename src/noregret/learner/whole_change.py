"""Changes that contain calls of a rule learner: the learner is undone together with what is around it."""

from collections.abc import Callable

from noregret.learner.change import Change, Result, Undo
from noregret.learner.model import ModelSavepoint
from noregret.learner.rule_learner import RuleLearner


def run_whole(
    learner: RuleLearner, change: Change, act: Callable[[], Result], undo: Undo, many: bool = False
) -> Result:
    """Run an act that calls a learner (not its `learn_one`) as one change.

    `undo` undoes what else the act changed. Many calls of the learner are undone by a copy of it, a single one by its
    savepoint.
    """
    history: list[ModelSavepoint] = []
    saved = learner.copy() if many else None

    def undo_all() -> None:
        with learner._lock:
            learner._change.settle()
            for savepoint in reversed(history):
                learner._loops.roll_back(savepoint)
            if saved is not None:
                learner.revert_to(saved)
        undo()

    learner._loops.history = None if many else history
    try:
        return change.run(act, undo_all)
    finally:
        learner._loops.history = None
