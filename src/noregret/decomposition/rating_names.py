"""Users and items of any names, by number."""

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.rating_columns import Id
from noregret.decomposition.rating_table import NOTHING
from noregret.errors import BadValue

Integers = NDArray[np.int64]
LARGEST_ID = 1 << 1024  # every float is below it; a number of thousands of digits cannot be written to a file


class Numbers(dict[Id, int]):
    """Users, or items, by number in the order of their appearance."""

    def __missing__(self, name: Id) -> int:
        if isinstance(name, int) and abs(name) >= LARGEST_ID:
            raise OverflowError
        number = self[name] = len(self)
        return number

    def number(self, names: list[Id], what: str) -> Integers:
        """The numbers of users, or items; new ones get the next."""
        try:
            return np.fromiter(map(self.__getitem__, names), np.int64, len(names))
        except OverflowError:
            row = next(at for at, name in enumerate(names) if isinstance(name, int) and abs(name) >= LARGEST_ID)
            raise BadValue(
                f"row {row}: the {what} is a number of too many digits; give it as a text", row=row
            ) from None

    def truncate(self, size: int) -> None:
        """Forget all but the first; may be repeated."""
        while len(self) > size:
            self.popitem()


def find_numbers(known: Numbers, names: list[Id]) -> Integers:
    """The numbers of users, or items; NOTHING for those that are not known."""
    return np.array([known.get(name, NOTHING) for name in names], np.int64)
