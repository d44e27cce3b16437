"""Arrays of a model file that hardly hold anything: kept as the places and values that differ from a fill value.

So a model with hashed names, whose arrays have a cell for every hash, takes as much room as what it has learned.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue
from noregret.state.space import physical_memory

Arrays = dict[str, NDArray[Any]]
Packed = dict[str, list[Any]]  # by name: the shape, and the value of all other cells

LEAST = 1024  # cells of an array that is worth it
LARGEST = 2**31 - 1
PLACES, VALUES = ":places", ":values"


def pack_arrays(arrays: Mapping[str, NDArray[Any]]) -> tuple[Arrays, Packed]:
    """The arrays, some of them in two parts; and what is needed to put these together again."""
    found: Arrays = {}
    packed: Packed = {}
    for name, array in arrays.items():
        fill, places = find_places(array)
        if places is None:
            found[name] = array
            continue
        found[name + PLACES], found[name + VALUES] = places.astype(np.int32), array.ravel()[places]
        packed[name] = [list(array.shape), fill]
    return found, packed


def find_places(array: NDArray[Any]) -> tuple[float, NDArray[np.int64] | None]:
    """The value that most cells have, and the places of all others; None where these are too many."""
    if array.dtype != np.float64 or not LEAST <= array.size <= LARGEST:
        return 0.0, None
    cells = np.ascontiguousarray(array).ravel().view(np.int64)  # compared as bits: -0.0 is not 0.0
    for fill in (0.0, 1.0, float(array.flat[-1])):
        places = np.flatnonzero(cells != np.float64(fill).view(np.int64))
        if math.isfinite(fill) and 3 * places.size <= array.size:  # a place and its value take 12 bytes, a cell 8
            return fill, places
    return 0.0, None


def unpack_arrays(packed: Any, arrays: Arrays) -> Arrays:
    """All arrays whole again; an error where a file says what cannot be."""
    found = dict(arrays)
    if not isinstance(packed, dict):
        raise BadValue("corrupt model file: inconsistent header")
    for name, (shape, fill) in packed.items():
        places, values = found.pop(name + PLACES), found.pop(name + VALUES)
        found[name] = build(check_shape(shape), fill, places, values)
    return found


def check_shape(shape: Any) -> tuple[int, ...]:
    """The shape of an array that can be made."""
    sound = isinstance(shape, list) and all(type(size) is int and size >= 0 for size in shape)
    cells = math.prod(shape) if sound else 0
    if not sound or not LEAST <= cells <= LARGEST:
        raise BadValue("corrupt model file: inconsistent header")
    if 8 * cells > physical_memory() // 4:
        raise BadValue(f"the model has an array of {cells:,} cells, which does not fit in the memory of this machine")
    return tuple(shape)


def build(shape: tuple[int, ...], fill: Any, places: NDArray[Any], values: NDArray[Any]) -> NDArray[np.float64]:
    """The array with these values at these places."""
    sound = type(fill) is float and math.isfinite(fill) and places.dtype == np.int32 and values.dtype == np.float64
    sound = sound and places.ndim == values.ndim == 1 and places.size == values.size
    cells = math.prod(shape)
    increasing = sound and bool((np.diff(places) > 0).all())
    if not increasing or (places.size and not 0 <= int(places[0]) <= int(places[-1]) < cells):
        raise BadValue("corrupt model file: its parts do not fit together")
    array = np.zeros(cells) if fill == 0.0 and math.copysign(1.0, fill) > 0.0 else np.full(cells, fill)
    array[places] = values
    return array.reshape(shape)
