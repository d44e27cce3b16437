"""Changes that contain calls of learners: these are undone together with what is around them."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from noregret.errors import BadValue
from noregret.learner.base_learner import BaseLearner
from noregret.learner.change import Change, Result, Undo
from noregret.learner.model import ModelSavepoint
from noregret.learner.protocol import Learner, Revertible
from noregret.learner.rule_learner import RuleLearner
from noregret.state.savepoint import gather_spare

SPARE = 1 << 22  # bytes of memory that a learner keeps for the savepoint of its next call


def run_whole(
    change: Change,
    find_learners: Callable[[], Sequence[Learner]],
    save: Callable[[], Undo],
    act: Callable[[], Result],
    many: bool = False,
) -> Result:
    """Run an act that calls learners (not their `learn_one`) as one change.

    `find_learners` tells which when the change has begun; `save` finds how to undo what else the act changes. A single
    call of a rule learner is undone by its savepoint; many calls by a copy; those of other learners as they say.
    """
    learners: list[Learner] = []
    with ExitStack() as stack:

        def save_all() -> Undo:
            learners.extend(find_learners())
            undone = [
                undo_by_savepoints(one, stack) if isinstance(one, RuleLearner) and not many else undo_all_calls(one)
                for one in learners
            ]
            undone.append(save())
            return lambda: [undo() for undo in undone]

        result = change.save_and_run(save_all, act)
        for one in learners:
            if isinstance(one, RuleLearner) and (history := one._loops.history):  # a handler's call may take it away
                one._loops.spare = gather_spare(history[0].contents, SPARE)
        return result


def undo_all_calls(learner: Learner) -> Undo:
    """How to bring a learner back to its state now, whatever it does meanwhile."""
    if isinstance(learner, BaseLearner):
        return learner.undo_of_calls()
    if not isinstance(learner, Revertible):
        raise BadValue(f"{learner.card.name} cannot be undone: it has no revert_to; learn it by itself")
    saved = learner.copy()
    return lambda: learner.revert_to(saved.copy())


def undo_by_savepoints(learner: RuleLearner, stack: ExitStack) -> Undo:
    """How to undo the calls of a rule learner until the stack is closed."""
    history: list[ModelSavepoint] = []

    def undo() -> None:
        with learner._lock:
            learner._change.settle()
            for savepoint in reversed(history):
                learner._loops.roll_back(savepoint)

    def forget() -> None:
        learner._loops.history = None

    learner._loops.history = history
    stack.callback(forget)
    return undo
