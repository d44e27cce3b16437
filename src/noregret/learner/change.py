"""Changes of a learner: each is made whole or not at all, whatever cuts it off."""

import os
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import TypeVar
from weakref import WeakSet

from noregret.errors import Error

Result = TypeVar("Result")
Undo = Callable[[], object]


class Change:
    """The change of a learner that is under way, if any, and how to undo it.

    An interrupt may come at any point, also while a change is being undone. What is left to undo is then undone before
    the next call. So an undo must be repeatable: it writes back what it saved, and does not use it up.
    """

    def __init__(self) -> None:
        self.undo: Undo | None = None

    def run(self, act: Callable[[], Result], undo: Undo) -> Result:
        """Act, and undo it if it fails or is interrupted. A change may contain others.

        The undo must not need to know how things were before the change: for that there is `save_and_run`.
        """
        outer = self.undo
        self.undo = undo if outer is None else lambda: (undo(), outer())
        try:
            result = act()
            self.undo = outer  # in this step the change is complete
        except BaseException:
            undo()
            self.undo = outer
            raise
        return result

    def save_and_run(self, save: Callable[[], Undo], act: Callable[[], Result]) -> Result:
        """The same, where `save` notes how things are and returns how to go back to that; it changes nothing itself.

        A call that comes while it does so is refused, too. Otherwise what such a call learned, by a signal handler,
        would be undone with an act that fails, or overwritten by an act that counts from what was noted before.
        """
        undos = list[Undo]()

        def save_first() -> Result:
            undos.append(save())
            return act()

        return self.run(save_first, lambda: [undo() for undo in undos])

    def settle(self) -> None:
        """Before a call: undo what was cut off. A call that comes from inside a change is refused."""
        if self.undo is None:
            return
        if self.is_running():
            raise Error(
                "this learner was called again while it was changing, by a signal handler or by the code of a value or "
                "name that it was given; call it when the first call has ended"
            )
        self.undo()
        self.undo = None

    def is_running(self) -> bool:
        """Whether this thread is inside `run` of this change."""
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            if frame.f_code is Change.run.__code__ and frame.f_locals.get("self") is self:
                return True
            frame = frame.f_back
        return False


class Locked:
    """What every learner has: a lock, so that one call at a time uses it, and the change under way.

    A method that reads or changes the learner begins with `with self._lock: self._change.settle()`. The lock is one of
    Python's own, whose `with` no interrupt can tear.
    """

    _lock: threading.RLock
    _change: Change

    def _make_lock(self) -> None:
        self._lock, self._change = threading.RLock(), Change()
        _learners.add(self)


LOCKING = ("_lock", "_change")  # attributes that belong to one learner and not to its state
_learners: "WeakSet[Locked]" = WeakSet()


def _unlock_in_child() -> None:
    """In the child of a fork the threads are gone that held locks; what they were changing is undone before a call."""
    for learner in list(_learners):
        learner._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_in_child)
