"""A learner that trains a module, as it was before a call."""

from typing import TYPE_CHECKING, Any

from noregret.neural.modules.savepoint import ModuleSavepoint
from noregret.neural.modules.tensors import Tensor
from noregret.neural.modules.trained_module import TrainedModule

if TYPE_CHECKING:
    from noregret.neural.modules.online import Online


class LearnerSavepoint:
    """A learner before a call."""

    covers_all = True

    def __init__(self, learner: "Online") -> None:
        net = learner.net
        self.learner, self.net = learner, net
        self.tensors = ModuleSavepoint(net.module, net.optimizer, more_tensors(net), learner.spare)
        learner.spare = self.tensors
        self.own = {name: getattr(learner, name) for name in ("rounds", "updates", "mistakes")}
        self.state = {**vars(net), "counters": net.counters.copy()}
        self.overwritten: list[Any] = []
        if net.memory is not None:
            net.memory.overwritten = self.overwritten

    def rollback(self) -> None:
        """Bring the learner back; may be repeated."""
        self.tensors.rollback()
        vars(self.net).update(self.state, counters=self.state["counters"].copy())
        if self.net.memory is not None:
            self.net.memory.rollback(self.overwritten)
        vars(self.learner).update(self.own)

    def is_finite(self, arrays: Any) -> bool:
        """Every call has checked its steps."""
        return True


def more_tensors(net: TrainedModule) -> tuple[Tensor, ...]:
    """What is changed in place beside the module and its optimizer."""
    return () if net.consolidation is None else tuple(net.consolidation.tensors)
