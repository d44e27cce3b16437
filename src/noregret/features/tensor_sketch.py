"""Tensor sketch: hashed features of the polynomial kernel (Pham and Pagh 2013)."""

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.verbs import unbound
from noregret.features.draws import draw_bits, feature_key
from noregret.features.fast_transform import is_power_of_two, make_tables, multiply_spectra, transform_in_place
from noregret.features.fitted import LEARN, Arrays, Floats, Options, Table
from noregret.features.kernel_maps import GAMMA, KernelMap, count_param, map_loop
from noregret.features.kernel_width import NORM, learn_width, read_width, start_width
from noregret.rules.parameters import Param

read_indptr = read_idx = read_val = read_out = unbound
read_options = read_seed = read_product = read_longer = read_cells = read_values = unbound
read_order = read_cosines = read_sines = read_of_x = read_of_y = unbound

S1, S32 = np.uint64(1), np.uint64(32)
CONSTANT = 1 << 40  # the number of the constant feature, whose square is coef0; no other has it


def sketch_rows(table: Table) -> int:
    sketch_values(
        table[LEARN] != 0, (read_indptr(table), read_idx(table), read_val(table)), read_out(table),
        (*read_width(table), read_options(table), read_seed(table), read_product(table), read_longer(table),
         read_cells(table), read_values(table), read_order(table), read_cosines(table), read_sines(table),
         read_of_x(table), read_of_y(table)),
    )  # fmt: skip
    return 0


def sketch_values(learn: bool, rows: Arrays, out: Floats, others: Arrays) -> None:
    """Write the circular convolution of `degree` count sketches of each row.

    Short rows are convolved entry by entry; longer ones by Fourier transforms where the size is a power of two.
    """
    indptr, every_idx, every_val = rows
    (total, known, seen, spread, size, gamma, options, seed, product, longer, cells, values, order, cosines, sines,
     of_x, of_y) = others  # fmt: skip
    width, tables = (total, known, seen, spread, size, gamma), (order, cosines, sines)
    law, share, root_0, degree, longest = options[0], options[1], math.sqrt(options[2]), int(options[3]), options[4]
    count = product.size
    for row in range(indptr.size - 1):
        idx, val = every_idx[indptr[row] : indptr[row + 1]], every_val[indptr[row] : indptr[row + 1]]
        if learn:
            start_width(law, share, idx, val, width)
        entries = (idx, val, math.sqrt(gamma[0]), root_0, known[0], seed[0])
        used = 0
        for k in range(idx.size):
            used += 1 if val[k] != 0.0 and idx[k] < known[0] else 0
        if order.size == 0 or used < longest:
            convolve_entries(entries, degree, used < longest, product, longer, (cells, values))
        else:
            convolve_spectra(entries, degree, product, longer[:count], (of_x, of_y), tables)
        here = out[row * count : (row + 1) * count]
        for i in range(count):
            here[i] = product[i]
        if learn:
            learn_width(law, share, idx, val, width)


def place_entry(entries: Any, k: Any, turn: Any, count: Any) -> Any:
    """Return the cell and the signed value of an entry in a count sketch, 0 for none; entry -1 is the constant."""
    idx, val, root, root_0, known, seed = entries
    if k >= 0 and (val[k] == 0.0 or idx[k] >= known):
        return np.int64(0), 0.0
    x = root_0 if k < 0 else root * val[k]
    bits = draw_bits(feature_key(seed, CONSTANT if k < 0 else idx[k]), turn)
    return np.int64(((bits >> S32) * np.uint64(count)) >> S32), x if bits & S1 != 0 else -x


def convolve_entries(entries: Any, degree: Any, short: Any, product: Any, longer: Any, firsts: Any) -> None:
    """Convolve the sketches one after another. Of a short row, the entries of the first are kept."""
    count, cells, values, kept = product.size, firsts[0], firsts[1], 0
    for turn in range(degree):
        longer[:] = 0.0
        for k in range(-1, entries[0].size):
            cell, x = place_entry(entries, k, turn, count)
            if x == 0.0:
                continue
            if turn == 0:
                longer[cell] += x
                if short:
                    cells[kept], values[kept] = cell, x
                    kept += 1
            elif turn == 1 and short:
                for i in range(kept):
                    longer[cell + cells[i]] += x * values[i]
            else:
                moved = longer[cell : cell + count]
                for i in range(count):
                    moved[i] += x * product[i]
        for i in range(count):
            product[i] = longer[i] + longer[i + count]


def convolve_spectra(entries: Any, degree: Any, product: Any, imaginary: Any, of: Any, tables: Any) -> None:
    """Multiply the spectra of the sketches, two at a time, and transform the product back."""
    of_x, of_y, count = of[0], of[1], product.size
    order, cosines, sines = tables
    product[:], imaginary[:] = 1.0, 0.0
    for turn in range(0, degree, 2):
        of_x[:], of_y[:] = 0.0, 0.0
        for k in range(-1, entries[0].size):
            cell, x = place_entry(entries, k, turn, count)
            of_x[cell] += x
            if turn + 1 < degree:
                cell, x = place_entry(entries, k, turn + 1, count)
                of_y[cell] += x
        transform_in_place(of_x, of_y, order, cosines, sines)
        multiply_spectra(product, imaginary, of_x, of_y, turn + 1 < degree)
    transform_in_place(imaginary, product, order, cosines, sines)
    for i in range(count):
        product[i] /= count


class TensorSketch(KernelMap):
    """Tensor sketch: each feature goes to a random cell with a random sign, once for every factor of the kernel.

    Cells and signs are not saved: they follow from the seed of the learner.
    """

    name = "tensor_sketch"
    params: ClassVar[Options] = {
        "features": count_param(
            1024.0, "the number of features; rows of many entries are mapped fastest to a power of two"
        ),
        "gamma": GAMMA,
        "coef0": Param(1.0, at_least=0.0, about="the constant of the kernel", search=(0.0, 10.0, "linear")),
        "degree": Param(2.0, at_least=1.0, at_most=20.0, about="the degree of the kernel", grid=(1.0, 2.0, 3.0)),
    }
    whole = ("features", "degree")
    loop = map_loop(
        sketch_values, sketch_rows,
        {"options": np.float64, "seed": np.uint64, "product": np.float64, "longer": np.float64, "cells": np.int64,
         "values": np.float64, "order": np.int64, "cosines": np.float64, "sines": np.float64, "of_x": np.float64,
         "of_y": np.float64},
    )  # fmt: skip
    SHARE: ClassVar[float] = 1.0

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.tables = make_tables(self.features if is_power_of_two(self.features) else 0)

    @property
    def law(self) -> float:
        return NORM

    @property
    def longest(self) -> float:
        """From so many entries on, a row is not short: its pairs cost more than Fourier transforms, or other sums."""
        size = self.features
        return math.sqrt(2.0 * size * math.log2(size)) if is_power_of_two(size) else size / 8.0

    def extra_arrays(self) -> tuple[NDArray[Any], ...]:
        size = self.features
        options = np.array([self.law, self.SHARE, self.options["coef0"], self.options["degree"], self.longest])
        return (options, np.array([self.seed], np.uint64), np.zeros(size), np.zeros(2 * size),
                np.zeros(size + 1, np.int64), np.zeros(size + 1), *self.tables, np.zeros(size),
                np.zeros(size))  # fmt: skip
