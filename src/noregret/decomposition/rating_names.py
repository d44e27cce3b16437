"""Users and items of any names, by number."""

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.rating_columns import Id
from noregret.decomposition.rating_table import NOTHING

Integers = NDArray[np.int64]


class Numbers(dict[Id, int]):
    """Users, or items, by number in the order of their appearance."""

    def __missing__(self, name: Id) -> int:
        number = self[name] = len(self)
        return number

    def truncate(self, size: int) -> None:
        """Forget all but the first; may be repeated."""
        while len(self) > size:
            self.popitem()


def find_numbers(known: Numbers, names: list[Id]) -> Integers:
    """The numbers of users, or items; NOTHING for those that are not known."""
    return np.array([known.get(name, NOTHING) for name in names], np.int64)
