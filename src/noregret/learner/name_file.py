"""Feature names in a model file: their bytes, one after another, and where each begins."""

from itertools import pairwise

import numpy as np

from noregret.errors import BadValue
from noregret.features.names import Names
from noregret.learner.model_file import Arrays


def dump_names(names: Names) -> Arrays:
    """The names of all features."""
    encoded = [name.encode("utf-8", "surrogatepass") for name in names.as_list()]
    return {
        "names.bytes": np.frombuffer(b"".join(encoded), np.uint8),
        "names.offsets": np.cumsum([0, *map(len, encoded)]).astype(np.int64),
    }


def restore_names(names: Names, arrays: Arrays) -> int:
    """Enter the names that `dump_names` wrote; returns how many there are."""
    bounds, letters = arrays["names.offsets"], arrays["names.bytes"].tobytes()
    if arrays["names.bytes"].dtype != np.uint8 or bounds.dtype != np.int64 or bounds.ndim != 1 or not bounds.size:
        raise BadValue("corrupt model file: its names have the wrong type")
    if bounds[0] != 0 or bounds[-1] != len(letters) or (bounds[1:] < bounds[:-1]).any():
        raise BadValue("corrupt model file: names and features do not fit")
    for first, last in pairwise(bounds.tolist()):
        names.known[letters[first:last].decode("utf-8", "surrogatepass")]
    if len(names.known) != bounds.size - 1:
        raise BadValue("corrupt model file: names and features do not fit")
    return int(bounds.size) - 1
