"""Undoing all calls of a learner without labels since some point, as part of a larger change."""

from typing import TYPE_CHECKING, Any

from noregret.learner.change import Undo

if TYPE_CHECKING:
    from noregret.decomposition.base import UnsupervisedLearner


def undo_by_reference(learner: "UnsupervisedLearner[Any]") -> Undo:
    """How to bring a learner back to its state now, by a reference to it, since states are replaced, never changed.

    It may be called more than once. The caller has the lock.
    """
    own, forget = learner._own_state(), learner.encoder.savepoint()

    def undo() -> None:
        with learner._lock:
            learner._change.settle()
            forget()
            own()

    return undo
