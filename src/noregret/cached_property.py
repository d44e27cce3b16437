"""`cached_property` without a lock.

That of functools has one in Python 3.11: if another thread holds it during a fork, the child waits forever.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class cached_property(Generic[Value]):  # noqa: N801 - a decorator
    """A property that is computed once for each object; two threads at once may compute it twice, and get the same."""

    def __init__(self, find: Callable[[Any], Value]) -> None:
        self.func, self.name, self.__doc__ = find, find.__name__, find.__doc__

    def __get__(self, one: Any, owner: type | None = None) -> Value:
        if one is None:
            return self  # type: ignore[return-value]  # as Python's own: the property of the class
        found: Value = vars(one).setdefault(self.name, self.func(one))
        return found  # which is found before this descriptor from now on
