"""Kernel maps: transforms that make rows of a fixed number of features, whose dot products approximate a kernel.

A linear learner behind one is a kernel learner without supports: its memory and time per round never grow. Features
that no learned row had are left out when a row is scored.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import DenseBlock, all_finite
from noregret.errors import BadValue
from noregret.features.feature_selectors import FeatureSelectors
from noregret.features.fitted import (
    NOTHING,
    VALUES,
    Arrays,
    FittedTransform,
    Loop,
    PipelineRows,
    Runner,
    check_finite,
    entries,
)
from noregret.features.kernel_width import COUNTERS, FIELDS, UNUSED, WARM_UP
from noregret.rules.parameters import Param

MOST_FEATURES = 1 << 16
LARGEST_TABLE = 1 << 26  # the most bytes of a table that can be computed again
GAMMA = Param(
    0.0,
    at_least=0.0,
    about="the width of the kernel; 0 stands for one that follows the spread of the first 256 rows",
    search=(1e-3, 1e1, "log"),
)


def count_param(default: float, about: str, most: float = MOST_FEATURES) -> Param:
    """Declare a parameter that is a whole number."""
    return Param(default, at_least=1.0, at_most=most, about=about, untuned="more features are more exact and slower")


def map_loop(
    plain: Callable[..., None],
    entry: Callable[..., int],
    others: Mapping[str, Any],
    statistics: tuple[str, ...] = (*FIELDS, *COUNTERS),
) -> Loop:
    """Describe the loop of a map: over rows, its statistics (by default those of the width), and other arrays."""
    return Loop(plain, entry, {**VALUES, **dict.fromkeys(statistics, np.float64), **others})


class KernelMap(FittedTransform):
    """A map in use. Its statistics are those of the kernel's width; a subclass adds what else it keeps."""

    fields: ClassVar[tuple[str, ...]] = FIELDS
    counters: ClassVar[tuple[str, ...]] = COUNTERS
    whole: ClassVar[tuple[str, ...]] = ("features",)  # the parameters that are whole numbers
    seed = 0
    rows_done: NDArray[np.int64] | None = None  # how many rows the loop has finished, if it may stop before the last

    def __init__(self, options: Mapping[str, Any], run: Runner, selectors: FeatureSelectors | None = None) -> None:
        super().__init__(options, run, selectors)
        self.features = int(options["features"])
        self.set_gamma()

    def set_gamma(self) -> None:
        """Begin with the gamma that was given; then nothing is measured."""
        if self.law == UNUSED or self.options.get("gamma", 0.0) > 0.0:
            self.arrays["gamma"][0] = self.options.get("gamma", 0.0)
            self.arrays["seen"][0] = WARM_UP

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> str | None:
        for name in cls.whole:
            if options[name] != int(options[name]):
                return f"{name} must be a whole number, not {options[name]:g}"
        return None

    @property
    def law(self) -> float:
        """How the rows are measured that set gamma."""
        raise NotImplementedError

    @property
    def gamma(self) -> float:
        """The width in force; 0 before a row had values."""
        return float(self.arrays["gamma"][0])

    def row_loops(self) -> tuple[Loop, ...] | None:
        return None

    def apply(self, rows: PipelineRows, learn: bool, include_unknown: bool) -> PipelineRows:
        block = self.check(rows.block)
        given = entries(block)
        touched: NDArray[Any] = NOTHING
        if learn:
            self.reserve(block.width)
            touched = self.save_touched(given[1], NOTHING, block.width)
        out = np.empty((block.rows, self.features))
        self.map_rows(given, learn, out.reshape(-1))
        if not all(all_finite(self.arrays[name][touched]) for name in self.fields):
            raise BadValue(self.overflow_message())
        check_finite(self.name, out.reshape(-1), np.arange(block.rows + 1) * self.features)
        groups = None if rows.groups is None else np.zeros(self.features, np.int64)
        return PipelineRows(DenseBlock(out), NOTHING, groups)

    def map_rows(self, rows: Arrays, learn: bool, out: NDArray[np.float64]) -> None:
        """Write the features of all rows, and with `learn` update the statistics."""
        self.run(self.loop, learn, (*rows, out, *self.arrays.values(), *self.extra_arrays()))

    def namer(self, before: Callable[[int], Any]) -> Callable[[int], Any]:
        return lambda number: f"{self.name}[{number}]"

    def output_width(self) -> int | None:
        return self.features

    def restore(self, saved: Mapping[str, NDArray[Any]], width: int | None = None) -> bool:
        if not {*self.fields, *self.counters} <= saved.keys() or not super().restore(saved, width):
            return False
        self.reserve(0)
        return True

    def is_valid(self, saved: Mapping[str, NDArray[Any]]) -> bool:
        known, seen, gamma = (float(saved[name][0]) for name in ("known", "seen", "gamma"))
        given = self.options.get("gamma", 0.0)
        fixed = self.law == UNUSED or given > 0.0
        sound = 0.0 <= known <= saved["total"].size and known == int(known) and 0.0 <= seen <= WARM_UP
        sound = sound and seen == int(seen) and (not fixed or (gamma == given and seen == WARM_UP))
        return sound and gamma >= 0.0 and float(saved["spread"][0]) >= 0.0 and math.isfinite(float(saved["size"][0]))
