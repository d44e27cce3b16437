"""Random Fourier features of the RBF and the Laplacian kernel (Rahimi and Recht 2007)."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.verbs import unbound
from noregret.features.draws import CAUCHY, NORMAL, feature_key, fill_draws
from noregret.features.fitted import LEARN, Arrays, Floats, Options, Table
from noregret.features.kernel_maps import GAMMA, LARGEST_TABLE, KernelMap, count_param, map_loop
from noregret.features.kernel_width import ABSOLUTE, SQUARED, learn_width, read_width, start_width
from noregret.features.waves import write_waves
from noregret.rules.parameters import Choice

read_indptr = read_idx = read_val = read_out = unbound
read_options = read_seed = read_table = read_filled = read_angles = unbound


def fourier_rows(table: Table) -> int:
    fourier_values(
        table[LEARN] != 0, (read_indptr(table), read_idx(table), read_val(table)), read_out(table),
        (*read_width(table), read_options(table), read_seed(table), read_table(table), read_filled(table),
         read_angles(table)),
    )  # fmt: skip
    return 0


def add_line(angles: Floats, x: Any, line: Floats) -> None:
    for i in range(angles.size):
        angles[i] += x * line[i]


def fourier_values(learn: bool, rows: Arrays, out: Floats, others: Arrays) -> None:
    """Write cos(w.x) and sin(w.x) over the root of their number, for every frequency w.

    The frequencies of a feature are drawn by its number when it first comes, and kept in one line of the table.
    """
    indptr, every_idx, every_val = rows
    total, known, seen, spread, size, gamma, options, seed, frequencies, filled, angles = others
    width = (total, known, seen, spread, size, gamma)
    law, share, count = options[0], options[1], angles.size
    for row in range(indptr.size - 1):
        idx, val = every_idx[indptr[row] : indptr[row + 1]], every_val[indptr[row] : indptr[row + 1]]
        if learn:
            start_width(law, share, idx, val, width)
        angles[:] = 0.0
        first, x_1 = frequencies[:count], 0.0  # a feature that waits for the next: two at a time are faster
        waits = False
        for k in range(idx.size):
            j, x = idx[k], val[k]
            if x == 0.0 or j >= known[0]:
                continue
            at = j % filled.size
            line = frequencies[at * count : (at + 1) * count]
            if filled[at] != j + 1:
                if waits:  # its line may be the one to be filled
                    add_line(angles, x_1, first)
                    waits = False
                fill_draws(CAUCHY if law == ABSOLUTE else NORMAL, feature_key(seed[0], j), 0, count, line)
                filled[at] = j + 1
            if waits:
                for i in range(count):
                    angles[i] = (angles[i] + x_1 * first[i]) + x * line[i]
                waits = False
            else:
                first, x_1, waits = line, x, True
        if waits:
            add_line(angles, x_1, first)
        factor = gamma[0] if law == ABSOLUTE else math.sqrt(2.0 * gamma[0])
        for i in range(count):
            angles[i] *= factor
        write_waves(angles, count, math.sqrt(1.0 / count), out[2 * row * count : 2 * (row + 1) * count])
        if learn:
            learn_width(law, share, idx, val, width)


class Fourier(KernelMap):
    """Random Fourier features: a cosine and a sine for each of `features` / 2 random frequencies.

    Frequencies are not saved: they follow from the seed of the learner.
    """

    name = "fourier"
    params: ClassVar[Options] = {
        "features": count_param(1000.0, "the number of features, an even number"),
        "gamma": GAMMA,
        "kernel": Choice("rbf", {"rbf": SQUARED, "laplacian": ABSOLUTE}, "the kernel that is approximated"),
    }
    loop = map_loop(
        fourier_values, fourier_rows,
        {"options": np.float64, "seed": np.uint64, "table": np.float64, "filled": np.int64, "angles": np.float64},
    )  # fmt: skip
    SHARE: ClassVar[float] = 1.0  # of 1 / the mean distance: gamma

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.frequencies, self.filled = np.zeros(self.features // 2), np.zeros(1, np.int64)

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> str | None:
        wrong = super().check_options(options)
        odd = options["features"] % 2 == 1
        return wrong or ("features must be even: a cosine and a sine for each frequency" if odd else None)

    @property
    def law(self) -> float:
        return ABSOLUTE if self.options["kernel"] == "laplacian" else SQUARED

    def reserve(self, width: int) -> None:
        super().reserve(width)
        count = self.features // 2
        lines, old = min(max(self.capacity, 1), max(LARGEST_TABLE // (8 * count), 1)), self.filled.size
        if lines > old:
            frequencies, filled = np.zeros(lines * count), np.zeros(lines, np.int64)
            kept = self.filled == np.arange(1, old + 1)
            filled[:old][kept] = self.filled[kept]
            frequencies[: old * count] = self.frequencies
            self.frequencies, self.filled = frequencies, filled

    def extra_arrays(self) -> tuple[NDArray[Any], ...]:
        return (np.array([self.law, self.SHARE]), np.array([self.seed], np.uint64), self.frequencies, self.filled,
                np.zeros(self.features // 2))  # fmt: skip

    def __deepcopy__(self, memo: Any) -> "Fourier":
        new = Fourier(self.options, self.run)
        new.seed, new.width, new.savepoint = self.seed, self.width, self.savepoint
        new.arrays = {name: array.copy() for name, array in self.arrays.items()}
        new.reserve(0)
        return new
