"""The largest of many values."""

import numpy as np
from numpy.typing import NDArray


def find_largest(values: NDArray[np.float64], count: int) -> list[int]:
    """The places of at most `count` largest values, in order, the first of equal ones first; the rest is not sorted."""
    places = np.arange(values.size)
    if 0 < count < values.size:
        places = np.flatnonzero(values >= np.partition(values, -count)[-count])
    found: list[int] = places[np.argsort(-values[places], kind="stable")][:count].tolist()
    return found
