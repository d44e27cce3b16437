"""The loops of drift detectors, compiled."""

from collections.abc import Callable, Mapping
from struct import Struct

import numpy as np
from numpy.typing import NDArray

from noregret.jit.compiled import compile_function, get_function, unbound
from noregret.jit.layout import address, fill
from noregret.metrics.adwin import adwin
from noregret.metrics.ddm import ddm
from noregret.metrics.detector import STABLE, Detector, Floats, Levels, Runner, find_detector, run_interpreted
from noregret.metrics.drift import DETECTORS
from noregret.metrics.page_hinkley import page_hinkley
from noregret.metrics.sliding_window import sliding_window

Table = NDArray[np.int64]  # what a compiled loop is called with: addresses of arrays
read_numbers = read_state = read_values = read_levels = unbound


def adwin_rounds(table: Table) -> int:
    adwin(read_numbers(table), read_state(table), read_values(table), read_levels(table))
    return 0


def ddm_rounds(table: Table) -> int:
    ddm(read_numbers(table), read_state(table), read_values(table), read_levels(table))
    return 0


def page_hinkley_rounds(table: Table) -> int:
    page_hinkley(read_numbers(table), read_state(table), read_values(table), read_levels(table))
    return 0


def sliding_window_rounds(table: Table) -> int:
    sliding_window(read_numbers(table), read_state(table), read_values(table), read_levels(table))
    return 0


ENTRIES: Mapping[str, Callable[[Table], int]] = {
    "adwin": adwin_rounds,
    "ddm": ddm_rounds,
    "page_hinkley": page_hinkley_rounds,
    "window": sliding_window_rounds,
}
FEW = 64  # values that are copied into arrays which the compiled loop knows already
ARRAYS = {"numbers": np.float64, "state": np.float64, "values": np.float64, "levels": np.uint8}
PLACES: dict[str, tuple[int, NDArray[np.generic]]] = {
    name: (2 * at, np.zeros(1, kind)) for at, (name, kind) in enumerate(ARRAYS.items())
}
NUMBERS = [Struct(f"{size}d") for size in range(FEW + 1)]  # by their size: faster than numpy for as few
VALUES, LEVELS = (PLACES[name][0] + 1 for name in ("values", "levels"))  # the slots of their lengths


def detector(spec: Detector | str = "adwin") -> Detector:
    """A drift detector by name, with settings as in "adwin:delta=0.01"; its loop is compiled.

    `update(x)` watches one value, `detect(values)` many, up to the first alarm; 1 is a warning, 2 an alarm.
    """
    return find_detector(spec, DETECTORS, run_compiled)


def choose_runner(native: bool = True) -> Runner:
    """What runs the loops of detectors: compiled, or the same texts in plain Python."""
    return run_compiled if native else run_interpreted


def run_compiled(detector: Detector, values: Floats | list[float], levels: Levels | None) -> int:
    """Run the loop of a detector compiled; one that is not known here, as plain Python."""
    few: FewValues | None = detector.bound
    if len(values) <= FEW and few is not None and few.cells is detector.cells:
        return few.run(values, levels)
    entry = ENTRIES.get(detector.name)
    if entry is None:
        return run_interpreted(detector, values, levels)
    if len(values) <= FEW:
        few = detector.bound = FewValues(entry, detector)
        return few.run(values, levels)
    levels = np.zeros(len(values), np.uint8) if levels is None else levels
    table = np.zeros(2 * len(PLACES), np.int64)
    compile_function(entry, PLACES)(table, detector.numbers, detector.cells, np.asarray(values), levels)
    return int(levels[-1])


class FewValues:
    """The compiled loop of a detector, bound to its state and to arrays of its own for a few values."""

    def __init__(self, entry: Callable[[Table], int], detector: Detector) -> None:
        self.cells, self.numbers = detector.cells, detector.numbers
        self.values, self.levels = np.zeros(FEW), np.zeros(FEW, np.uint8)
        self.memory = self.values.data
        self.table = np.zeros(2 * len(PLACES), np.int64)
        arrays = (self.numbers, self.cells, self.values, self.levels)
        for (slot, _), array in zip(PLACES.values(), arrays, strict=True):
            fill(self.table, slot, array)
        self.loop, self.at, self.size = get_function(entry, PLACES), address(self.table), FEW

    def run(self, values: Floats | list[float], levels: Levels | None) -> int:
        size = len(values)
        NUMBERS[size].pack_into(self.memory, 0, *values)
        if size != self.size:
            self.table[VALUES] = self.table[LEVELS] = self.size = size
        self.loop.run(self.at)
        if levels is not None:
            levels[:] = self.levels[:size]
        last: int = self.levels.item(size - 1) if size else STABLE
        return last
