"""Where everything stands: in the table that a compiled loop is given, and compiled loops on disk."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from noregret.state.growth import leaves

HEAD = 1  # slot 0: whether to learn (1) or only to score_rows (0)


def width(value: Any) -> int:
    """How many slots a value takes: an address and sizes for an array, one for a number or a record."""
    return sum(1 + leaf.ndim if isinstance(leaf, np.ndarray) else 1 for leaf in leaves(value))


def address(array: np.ndarray | np.record) -> int:
    return int(array.__array_interface__["data"][0])


def fill(table: np.ndarray, first: int, value: Any) -> None:
    """Write the addresses, sizes and numbers of a value into the table."""
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
                table[slot] = address(leaf)
            elif isinstance(leaf, float):
                table.view(np.float64)[slot] = leaf
            else:
                table[slot] = leaf
            slot += 1


class Layout:
    """The slots of one loop, from examples of what it will be given, and the dimensions of truths and outcomes."""

    def __init__(self, params: Any, setting: Any, state: Any, rows: Any, truths: int, outcomes: int) -> None:
        self.examples = {
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
            slot += width(example)
        self.slots = slot
        self.key = tuple((name, self.first[name], describe(example)) for name, example in self.examples.items())

    def places(self) -> Iterator[tuple[str, int, Any]]:
        for name, example in self.examples.items():
            yield name, self.first[name], example


def describe(value: Any) -> Any:
    """What of a value the compiled code depends on."""
    if isinstance(value, tuple):
        return (type(value).__name__, tuple(describe(item) for item in value))
    if isinstance(value, (np.ndarray, np.record)):
        return (str(value.dtype), value.ndim)
    return type(value).__name__


def cache_folder() -> Path:
    """Where compiled loops are kept between processes: NOREGRET_CACHE, or the user's cache folder."""
    if "NOREGRET_CACHE" in os.environ:
        return Path(os.environ["NOREGRET_CACHE"])
    import platformdirs

    return Path(platformdirs.user_cache_dir("noregret"))
