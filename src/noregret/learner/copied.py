"""What learners and players share that are described by their attributes: copies, and undoing a change."""

from copy import deepcopy
from typing import Any, ClassVar, Self

from noregret.learner.change import LOCKING, Locked, Undo


class Copied(Locked):
    """Has a lock; its attributes are all of its state."""

    shared: ClassVar[tuple[str, ...]] = ()  # attributes that copies have in common: they never change

    def _own_state(self) -> Undo:
        """How to bring back the attributes: their values are replaced, never changed in place."""
        own = {name: value for name, value in vars(self).items() if name not in LOCKING}
        return lambda: vars(self).update(own)

    def copy(self) -> Self:
        """An independent copy in the same state, made in memory."""
        with self._lock:
            self._change.settle()
            new = object.__new__(type(self))
            for name, value in vars(self).items():
                if name not in LOCKING:
                    setattr(new, name, value if name in self.shared else deepcopy(value))
            new._make_lock()
            return new

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()
