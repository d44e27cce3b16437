"""Tables of addresses: where a compiled function finds parameters, state, rows and results."""

from collections.abc import Iterator
from ctypes import addressof, c_char
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.state import slots
from noregret.state.growth import leaves

Table = NDArray[np.int64]
HEAD = 1  # slot 0: 1 to learn, 0 to score only


def address(array: Any) -> int:
    """Where the data of an array begin; `slots.address` takes three times as long."""
    try:
        return addressof(c_char.from_buffer(array))
    except (TypeError, ValueError, BufferError):  # it is empty, read-only or not contiguous
        return slots.address(array)


def count_words(value: Any) -> int:
    """How many words a value takes: an address and lengths for an array, one for a number or a record."""
    return sum(1 + leaf.ndim if isinstance(leaf, np.ndarray) else 1 for leaf in leaves(value))


def fill(table: Table, first: int, value: Any) -> None:
    """Write the addresses, lengths and numbers of a value into the table, from a slot on."""
    slot = first
    for leaf in leaves(value):
        if isinstance(leaf, np.ndarray):
            table[slot] = address(leaf)
            for size in leaf.shape:
                slot += 1
                table[slot] = size
            slot += 1
        else:
            if isinstance(leaf, np.record):
                table[slot] = slots.address(leaf)
            elif isinstance(leaf, float):
                table.view(np.float64)[slot] = leaf
            else:
                table[slot] = leaf
            slot += 1


def fill_named(table: Table, slots: tuple[int, ...], **values: Any) -> None:
    """Write values into the slots of their names; `slots` is a NamedTuple of slot numbers."""
    for name, value in values.items():
        fill(table, getattr(slots, name), value)


class Layout:
    """The slots of one loop, from examples of what it will be given, and the dimensions of truths and outcomes."""

    def __init__(self, params: Any, setting: Any, state: Any, rows: Any, truths: int, outcomes: int) -> None:
        self.examples: dict[str, Any] = {
            "params": params,
            "setting": setting,
            "state": state,
            "rows": rows,
            "y": np.zeros((1,) * truths),
            "h": np.zeros(1),
            "out": np.zeros((1,) * outcomes),
            "updated": np.zeros(1, np.uint8),
            "aux": np.zeros(1),
        }
        self.first: dict[str, int] = {}
        slot = HEAD
        for name, example in self.examples.items():
            self.first[name] = slot
            slot += count_words(example)
        self.slots = slot
        self.key = tuple((name, self.first[name], describe(example)) for name, example in self.examples.items())

    def places(self) -> Iterator[tuple[str, int, Any]]:
        for name, example in self.examples.items():
            yield name, self.first[name], example

    def types(self) -> set[type]:
        """The types of all values, also inside tuples."""
        return {kind for example in self.examples.values() for kind in types_in(example)}


def types_in(value: Any) -> Iterator[type]:
    yield type(value)
    if isinstance(value, tuple):
        for item in value:
            yield from types_in(item)


def is_constant(name: str, attribute: object) -> bool:
    """Whether an attribute of a class is a constant that code may depend on, as `weight_place` of parameters."""
    return not name.startswith("_") and (attribute is None or isinstance(attribute, (int, float, str, tuple)))


def describe(value: Any) -> Any:
    """What of a value the compiled code depends on."""
    if isinstance(value, tuple):
        kind = type(value)
        constants = sorted((name, repr(it)) for name, it in vars(kind).items() if is_constant(name, it))
        fields = getattr(kind, "_fields", ())
        return (kind.__name__, fields, tuple(constants), tuple(describe(item) for item in value))
    if isinstance(value, (np.ndarray, np.record)):
        return (str(value.dtype), value.ndim)
    return type(value).__name__
