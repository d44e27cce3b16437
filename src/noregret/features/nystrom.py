"""The Nystrom map (Williams and Seeger 2001), online: the first rows that are new become landmarks.

Feature j of a row is its coordinate along the part of landmark j that the landmarks before do not explain. By the
Cholesky factor L of the landmarks' kernels, phi_j(x) = (k(x, z_j) - sum of L_jl phi_l(x) over l < j) / L_jj. So later
landmarks change no earlier feature, and phi(x).phi(y) is the Nystrom approximation of k(x, y), exactly.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.verbs import unbound
from noregret.data.blocks import all_finite
from noregret.features.fitted import LEARN, Arrays, Floats, Options, Table
from noregret.features.kernel_maps import GAMMA, KernelMap, count_param, map_loop
from noregret.features.kernel_width import ABSOLUTE, COUNTERS, FIELDS, NORM, SQUARED, UNUSED, learn_width, start_width
from noregret.features.landmarks import (
    COSINE,
    LAPLACIAN,
    LINEAR,
    POLYNOMIAL,
    RBF,
    extend_factor,
    kernel_row,
    store_landmark,
    substitute,
)
from noregret.rules.parameters import Choice, Param

read_indptr = read_idx = read_val = read_out = unbound
read_total = read_slot = read_known = read_seen = read_spread = read_size = read_gamma = read_count = unbound
read_slots = read_options = read_table = read_sizes = read_dots = read_inverse = read_lower = unbound
read_starts = read_land_idx = read_land_val = read_built = read_stopped = unbound

LEAST = 1e-10  # of k(x, x): a smaller rest is rounding


def nystrom_rows(table: Table) -> int:
    nystrom_values(
        table[LEARN] != 0, (read_indptr(table), read_idx(table), read_val(table)), read_out(table),
        (read_total(table), read_slot(table), read_known(table), read_seen(table), read_spread(table),
         read_size(table), read_gamma(table), read_count(table), read_slots(table), read_options(table),
         read_table(table), read_sizes(table), read_dots(table), read_inverse(table), read_lower(table),
         read_starts(table), read_land_idx(table), read_land_val(table), read_built(table), read_stopped(table)),
    )  # fmt: skip
    return 0


def nystrom_values(learn: bool, rows: Arrays, out: Floats, others: Arrays) -> None:
    """Write the features of rows; stops at a row that is to be a landmark where there is no room for one."""
    indptr, every_idx, every_val = rows
    (total, slot, known, seen, spread, size, gamma, count, slots, options, table, sizes, dots, inverse, lower, starts,
     land_idx, land_val, built, stopped) = others  # fmt: skip
    width, kept = (total, known, seen, spread, size, gamma), (slot, table, sizes, dots)
    law, share, most = options[0], options[1], sizes.size
    landmarks = (starts, land_idx, land_val)
    built[0] = min(built[0], count[0])
    for row in range(indptr.size - 1):
        stopped[0] = row
        idx, val = every_idx[indptr[row] : indptr[row + 1]], every_val[indptr[row] : indptr[row + 1]]
        if learn:
            start_width(law, share, idx, val, width)
        if law != UNUSED and built[1] != gamma[0]:
            built[0], built[1] = 0.0, gamma[0]
        for n in range(int(built[0]), int(count[0])):
            one = (land_idx[starts[n] : starts[n + 1]], land_val[starts[n] : starts[n + 1]])
            own = kernel_row(one, known[0], kept, options, gamma[0], n)
            residual = own - substitute(n, lower, inverse, dots)
            extend_factor(n, residual if residual > LEAST * own else 0.0, lower, inverse, dots)
        now = int(count[0])
        built[0] = count[0]
        own = kernel_row((idx, val), known[0], kept, options, gamma[0], now)
        residual = own - substitute(now, lower, inverse, dots)
        if learn and now < most and residual > options[5] * own:
            room = min(table.size // most - int(slots[0]), land_idx.size - starts[now])
            if idx.size > room:
                return
            store_landmark((idx, val), now, kept, slots, landmarks, law == ABSOLUTE)
            extend_factor(now, residual, lower, inverse, dots)
            dots[now] = residual * inverse[now]
            now += 1
            built[0] = count[0] = now
        here = out[row * most : (row + 1) * most]
        for i in range(most):
            here[i] = dots[i] if i < now else 0.0
        if learn:
            learn_width(law, share, idx, val, width)
    stopped[0] = indptr.size - 1


LAWS = {RBF: SQUARED, LAPLACIAN: ABSOLUTE, POLYNOMIAL: NORM, COSINE: UNUSED, LINEAR: UNUSED}
KERNELS = {"rbf": RBF, "laplacian": LAPLACIAN, "polynomial": POLYNOMIAL, "cosine": COSINE, "linear": LINEAR}
OF_LANDMARKS = ("slot", "count", "slots")  # statistics that follow from the landmarks


class Nystrom(KernelMap):
    """Nystrom features: the rows that become landmarks, and the Cholesky factor of their kernels."""

    name = "nystrom"
    params: ClassVar[Options] = {
        "features": count_param(200.0, "the most landmarks, each of which makes a feature", most=10_000.0),
        "gamma": GAMMA,
        "kernel": Choice("rbf", KERNELS, "the kernel that is approximated"),
        "coef0": Param(1.0, at_least=0.0, about="the constant of the polynomial kernel", search=(0.0, 10.0, "linear")),
        "degree": Param(
            3.0, at_least=1.0, at_most=100.0, about="the degree of the polynomial kernel", grid=(1.0, 2.0, 3.0, 4.0)
        ),
        "novelty": Param(
            0.1,
            at_least=LEAST,
            below=1.0,
            about="the share of k(x, x) that the landmarks so far must leave unexplained for a row to become one",
            search=(1e-3, 0.5, "log"),
        ),
    }
    fields = (*FIELDS, "slot")
    counters = (*COUNTERS, "count", "slots")
    whole = ("features", "degree")
    loop = map_loop(
        nystrom_values, nystrom_rows,
        {**dict.fromkeys(("options", "table", "sizes", "dots", "inverse", "lower"), np.float64), "starts": np.int64,
         "land_idx": np.int32, "land_val": np.float64, "built": np.float64, "stopped": np.int64},
        (*fields, *counters),
    )  # fmt: skip
    SHARE: ClassVar[float] = 1.0

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.clear()

    def clear(self) -> None:
        """Begin without landmarks, with room for some."""
        most = self.features
        self.sizes, self.dots, self.inverse = np.zeros(most), np.zeros(most), np.zeros(most)
        self.lower, self.starts = np.zeros(most * most), np.zeros(most + 1, np.int64)
        self.built = np.zeros(2)
        self.rows_done: NDArray[np.int64] = np.zeros(1, np.int64)
        self.table, self.land_idx, self.land_val = np.zeros(0), np.zeros(0, np.int32), np.zeros(0)

    @property
    def kernel(self) -> float:
        return KERNELS[self.options["kernel"]]

    @property
    def law(self) -> float:
        return LAWS[self.kernel]

    @property
    def count(self) -> int:
        """How many landmarks there are."""
        return int(self.arrays["count"][0])

    def extra_arrays(self) -> tuple[NDArray[Any], ...]:
        options = [self.law, self.SHARE, self.kernel, *(self.options[name] for name in ("coef0", "degree", "novelty"))]
        return (np.array(options), self.table, self.sizes, self.dots, self.inverse, self.lower, self.starts,
                self.land_idx, self.land_val, self.built, self.rows_done)  # fmt: skip

    def map_rows(self, rows: Arrays, learn: bool, out: NDArray[np.float64]) -> None:
        indptr, idx, val = rows
        first = 0
        while True:
            left = (indptr[first:], idx, val, out[first * self.features :])
            self.run(self.loop, learn, (*left, *self.arrays.values(), *self.extra_arrays()))
            first += int(self.rows_done[0])
            if first == indptr.size - 1:
                return
            self.make_room(int(indptr[first + 1] - indptr[first]))

    def make_room(self, size: int) -> None:
        """See that there is room for a landmark of so many features, and as much again as there was."""
        lines, kept = int(self.arrays["slots"][0]), int(self.starts[self.count])
        room, values = 2 * (lines + size), 2 * (kept + size)
        table, land_idx, land_val = np.zeros(room * self.features), np.zeros(values, np.int32), np.zeros(values)
        table[: lines * self.features] = self.table[: lines * self.features]
        land_idx[:kept], land_val[:kept] = self.land_idx[:kept], self.land_val[:kept]
        self.table, self.land_idx, self.land_val = table, land_idx, land_val
        self.arrays["total"] = self.arrays["total"].copy()  # whoever has the address of the old table can tell

    # ---- in a model file ------------------------------------------------------------------------------------------

    def dump(self, width: int | None = None) -> dict[str, NDArray[Any]]:
        kept = int(self.starts[self.count])
        found = {name: array for name, array in super().dump(width).items() if name not in OF_LANDMARKS}
        return found | {
            "starts": self.starts[: self.count + 1].copy(),
            "idx": self.land_idx[:kept].copy(),
            "val": self.land_val[:kept].copy(),
        }

    def restore(self, saved: Mapping[str, NDArray[Any]], width: int | None = None) -> bool:
        if not {"starts", "idx", "val", "total"} <= saved.keys() or not self.are_landmarks(saved):
            return False
        size = saved["total"].size
        empty = {"slot": np.zeros(size), "count": np.zeros(1), "slots": np.zeros(1)}
        if not super().restore({**saved, **empty}, width):
            return False
        self.clear()
        starts = saved["starts"].tolist()
        self.make_room(int(starts[-1]))
        landmarks, kept = (self.starts, self.land_idx, self.land_val), (self.arrays["slot"], self.table, self.sizes)
        for number, (first, last) in enumerate(pairwise(starts)):
            row = (saved["idx"][first:last], saved["val"][first:last])
            store_landmark(row, number, (*kept, self.dots), self.arrays["slots"], landmarks, self.law == ABSOLUTE)
        self.arrays["count"][0] = len(starts) - 1
        return True

    def are_landmarks(self, saved: Mapping[str, NDArray[Any]]) -> bool:
        """Whether arrays of a file are rows that can be landmarks."""
        starts, idx, val = saved["starts"], saved["idx"], saved["val"]
        sound = starts.dtype == np.int64 and idx.dtype == np.int32 and val.dtype == np.float64
        sound = sound and starts.ndim == idx.ndim == val.ndim == 1 and 1 <= starts.size <= self.features + 1
        sound = sound and starts[0] == 0 and starts[-1] == idx.size == val.size and bool((np.diff(starts) >= 0).all())
        return bool(sound and all_finite(val) and ((idx >= 0) & (idx < saved["total"].size)).all())
