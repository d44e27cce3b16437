"""Properties that are computed once.

Those of functools have a lock in Python 3.11: where another thread held it, the child of a fork would wait forever.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class kept(Generic[Value]):  # noqa: N801 - a decorator
    """A property that is kept where it was computed; two threads at once may compute it twice."""

    def __init__(self, find: Callable[[Any], Value]) -> None:
        self.func, self.name, self.__doc__ = find, find.__name__, find.__doc__

    def __get__(self, one: Any, owner: type | None = None) -> Value:
        found = self.func(one)
        vars(one)[self.name] = found  # which is found before this descriptor from now on
        return found
