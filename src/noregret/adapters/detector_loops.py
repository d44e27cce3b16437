"""The loops of drift detectors, compiled."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from noregret.jit.compiled import compile_function, unbound
from noregret.metrics.adwin import adwin
from noregret.metrics.ddm import ddm
from noregret.metrics.detector import Detector, Floats, Levels, Runner, run_interpreted
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
ARRAYS = {"numbers": np.float64, "state": np.float64, "values": np.float64, "levels": np.uint8}
PLACES: dict[str, tuple[int, NDArray[np.generic]]] = {
    name: (2 * at, np.zeros(1, kind)) for at, (name, kind) in enumerate(ARRAYS.items())
}


def choose_runner(native: bool = True) -> Runner:
    """What runs the loops of detectors: compiled, or the same texts in plain Python."""
    return run_compiled if native else run_interpreted


def run_compiled(detector: Detector, values: Floats, levels: Levels) -> None:
    """Run the loop of a detector compiled; one that is not known here, as plain Python."""
    entry = ENTRIES.get(detector.name)
    if entry is None:
        run_interpreted(detector, values, levels)
        return
    table = np.zeros(2 * len(PLACES), np.int64)
    compile_function(entry, PLACES)(table, detector.numbers, detector.state, values, levels)
