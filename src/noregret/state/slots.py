"""Tables of 64-bit words, by which compiled code finds its arrays.

The slots of a table are numbered from a NamedTuple whose defaults say how many words each field takes.
"""

from itertools import accumulate
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

WORD = 1  # a number or an address
ARRAY = 2  # an address and a length

Slots = TypeVar("Slots", bound=tuple[int, ...])


def number_slots(kind: type[Slots]) -> Slots:
    """An instance whose fields are the first slots of the values of these names."""
    *widths, _ = kind()
    return cast(Slots, cast(Any, kind)._make(accumulate(widths, initial=0)))


def address(array: NDArray[Any] | np.record) -> int:
    """Where the data of an array or of a record begin."""
    plain = array if isinstance(array, np.ndarray) else np.frombuffer(array)  # a record describes all its fields
    return int(plain.__array_interface__["data"][0])


def count_slots(kind: type[Slots]) -> int:
    """How many words the table has."""
    return sum(kind())
