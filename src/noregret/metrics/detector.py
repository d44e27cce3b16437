"""Drift detectors: each watches a series of losses in [0, 1] and says when their mean has risen.

A detector is a plain loop over arrays: its numbers, its state, the values and their levels. The loop runs interpreted,
or compiled by whoever may compile: `run` is given from outside. Single values need no loop (`update`): what they change
is kept aside, and written to the state when someone asks for it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from noregret.data.settings import Settings, check_settings, parse_settings
from noregret.errors import BadValue, find_closest, shown

STABLE, WARNING, ALARM = 0, 1, 2

Floats = NDArray[np.float64]
Levels = NDArray[np.uint8]
Loop: TypeAlias = Callable[[Any, Any, Any, Any], None]  # numbers, state, values, levels: arrays, or lists of numbers
Runner: TypeAlias = Callable[["Detector", Floats | list[float], Levels | None], int]
"""Runs a loop over some values, and returns the level of the last; those of all are written where that is asked for."""


def run_interpreted(detector: "Detector", values: Floats | list[float], levels: Levels | None) -> int:
    """Run the loop of a detector as plain Python: over lists, which are several times as fast as arrays."""
    state, found = detector.cells.tolist(), [STABLE] * len(values)
    type(detector).loop(detector.numbers.tolist(), state, list(map(float, values)), found)
    detector.cells[:] = state
    if levels is not None:
        levels[:] = found
    return found[-1] if found else STABLE


class Detector(ABC):
    """Watches values in [0, 1], one a round, and sets off an alarm where their mean has risen."""

    name: ClassVar[str]
    about: ClassVar[str]
    paper: ClassVar[str]
    settings: ClassVar[Settings]
    loop: ClassVar[Loop]
    size: ClassVar[int]  # numbers of its state; all are 0 before the first value
    only_mistakes: ClassVar[bool] = False  # whether values must be 0 or 1

    def __init__(self, run: Runner = run_interpreted, **given: Any) -> None:
        self.params = check_settings(self.name, given, self.settings)
        self.run = run
        self.bound: Any = None  # what `run` keeps from one call to the next
        self.numbers = self.find_numbers()
        self.cells = np.zeros(self.size)  # the state, but for what `update` has kept aside
        self.check()

    def check(self) -> None:  # noqa: B027
        """Refuse settings that do not fit together; most always do."""

    def find_numbers(self) -> Floats:
        """The settings as the loop reads them."""
        return np.array(list(self.params.values()), np.float64)

    @property
    def state(self) -> Floats:
        """The state, complete; it may be changed in place."""
        self.flush()
        return self.cells

    @state.setter
    def state(self, state: Floats) -> None:
        self.flush()
        self.cells = state

    def flush(self) -> None:  # noqa: B027
        """Write what `update` has kept aside to the cells, and keep nothing aside."""

    def detect(self, values: Any) -> Levels:
        """Watch values in order, up to the first alarm: returns their levels, of which only the last can be an alarm.

        Values after an alarm are not watched; give them to the next call.
        """
        array = check_values(self, values)
        levels = np.zeros(array.size, np.uint8)
        self.flush()
        self.run(self, array, levels)
        alarms = np.flatnonzero(levels == ALARM)
        return levels[: alarms[0] + 1] if alarms.size else levels

    def update(self, value: float) -> int:
        """Watch a single value; returns its level, as `detect` of this value does."""
        return int(self.detect([value])[0])

    def mark(self) -> Any:
        """What `go_back` needs to undo a single `update` that follows."""
        return self.state.copy()

    def go_back(self, mark: Any) -> None:
        """Go back to where the mark was made; this may be done again."""
        self.state[:] = mark

    def copy(self) -> Self:
        """An independent detector in the same state."""
        self.flush()
        new = copy(self)
        new.cells, new.bound = self.cells.copy(), None
        return new

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()

    def describe(self) -> dict[str, Any]:
        """The name and the settings, for reports and files."""
        return {"name": self.name, **self.params}

    def restore_state(self, state: Any) -> bool:
        """Take a state from a file; False if it cannot be one."""
        sound = isinstance(state, np.ndarray) and state.shape == (self.size,) and state.dtype == np.float64
        if sound and np.isfinite(state).all() and self.is_valid(state):
            self.state = state.copy()
            return True
        return False

    @abstractmethod
    def is_valid(self, state: Floats) -> bool:
        """Whether finite numbers can be the state of this detector."""


def check_values(detector: Detector, values: Any) -> Floats:
    """Values that a detector can watch."""
    array = np.ascontiguousarray(values, np.float64)
    wrong = ~((array >= 0.0) & (array <= 1.0))
    if detector.only_mistakes:
        wrong |= (array != 0.0) & (array != 1.0)
    if array.ndim != 1 or wrong.any():
        found = shown(array[wrong][0].item()) if array.ndim == 1 else f"an array of {array.ndim} dimensions"
        raise refuse_value(detector, found)
    return array


def refuse_value(detector: Detector, found: str) -> BadValue:
    """The error for what a detector cannot watch."""
    kind = "mistakes, 0 or 1" if detector.only_mistakes else "losses from 0 to 1"
    return BadValue(f"{detector.name} watches {kind}, not {found}")


class FewNumbers(Detector):
    """A detector whose state is a few numbers, and whose loop calls `watch_one` for every value.

    `watch_one` takes the settings, the state and a value, and returns the level and the state after it, as tuples.
    """

    watch_one: ClassVar[Any]  # a function: (settings, state, value) -> (level, state)

    def __init__(self, run: Runner = run_interpreted, **given: Any) -> None:
        super().__init__(run, **given)
        self.told: tuple[float, ...] = tuple(self.numbers.tolist())
        self.aside: tuple[float, ...] | None = None  # the state, where `update` was the last that changed it

    def flush(self) -> None:
        if self.aside is not None:
            self.cells[:] = self.aside
            self.aside = None

    def update(self, value: float) -> int:
        if not 0.0 <= value <= 1.0 or (self.only_mistakes and value != 0.0 and value != 1.0):
            raise refuse_value(self, shown(value))
        before = self.aside or tuple(self.cells.tolist())
        level: int
        level, self.aside = self.watch_one(self.told, before, value)
        return level

    def mark(self) -> Any:
        return self.aside or tuple(self.cells.tolist())

    def go_back(self, mark: Any) -> None:
        self.aside = mark


def find_detector(spec: Any, known: dict[str, type[Detector]], run: Runner = run_interpreted) -> Detector:
    """A fresh detector by name, with parameters as in adwin:delta=0.01, or like one that is given."""
    if isinstance(spec, Detector):
        return type(spec)(run, **spec.params)
    if not isinstance(spec, str):
        raise BadValue(f"a detector is one of {', '.join(known)}, not {shown(spec)}")
    name, _, text = spec.partition(":")
    if name not in known:
        close = find_closest(name, known)
        hint = f"; did you mean {close}?" if close else ""
        raise BadValue(f"there is no detector {shown(name)}{hint}; there are {', '.join(known)}")
    return known[name](run, **parse_settings(name, text, known[name].settings))
