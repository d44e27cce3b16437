"""Drift detectors: each watches a series of losses in [0, 1] and says when their mean has risen.

A detector is a plain loop over arrays: its numbers, its state, the values and their levels. The loop runs interpreted,
or compiled by whoever may compile: `run` is given from outside.
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
Loop: TypeAlias = Callable[[Floats, Floats, Floats, Levels], None]  # numbers, state, values; writes the levels
Runner: TypeAlias = Callable[["Detector", Floats, Levels], None]


def run_interpreted(detector: "Detector", values: Floats, levels: Levels) -> None:
    """Run the loop of a detector as plain Python."""
    type(detector).loop(detector.numbers, detector.state, values, levels)


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
        self.numbers = self.find_numbers()
        self.state = np.zeros(self.size)
        self.check()

    def check(self) -> None:  # noqa: B027
        """Refuse settings that do not fit together; most always do."""

    def find_numbers(self) -> Floats:
        """The settings as the loop reads them."""
        return np.array(list(self.params.values()), np.float64)

    def detect(self, values: Any) -> Levels:
        """Watch values in order, up to the first alarm: returns their levels, of which only the last can be an alarm.

        Values after an alarm are not watched; give them to the next call.
        """
        array = check_values(self, values)
        levels = np.zeros(array.size, np.uint8)
        self.run(self, array, levels)
        alarms = np.flatnonzero(levels == ALARM)
        return levels[: alarms[0] + 1] if alarms.size else levels

    def step(self, mistake: bool) -> int:
        """Watch a single mistake, or none; returns its level. The same as `detect` of one value, with less ado."""
        level = np.zeros(1, np.uint8)
        type(self).loop(self.numbers, self.state, np.array([float(mistake)]), level)
        return int(level[0])

    def copy(self) -> Self:
        """An independent detector in the same state."""
        new = copy(self)
        new.state = self.state.copy()
        return new

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
        kind = "mistakes, 0 or 1" if detector.only_mistakes else "losses from 0 to 1"
        found = shown(array[wrong][0].item()) if array.ndim == 1 else f"an array of {array.ndim} dimensions"
        raise BadValue(f"{detector.name} watches {kind}, not {found}")
    return array


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
