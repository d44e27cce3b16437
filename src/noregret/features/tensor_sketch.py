"""Tensor sketch: hashed features of the polynomial kernel (Pham and Pagh 2013)."""

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.verbs import unbound
from noregret.features.draws import draw_bits, feature_key
from noregret.features.fitted import LEARN, Arrays, Floats, Options, Table
from noregret.features.kernel_maps import GAMMA, KernelMap, count_param, map_loop
from noregret.features.kernel_width import NORM, learn_width, read_width, start_width
from noregret.rules.parameters import Param

read_indptr = read_idx = read_val = read_out = unbound
read_options = read_seed = read_product = read_longer = read_cells = read_values = unbound

S1, S33 = np.uint64(1), np.uint64(33)
CONSTANT = 1 << 40  # the number of the constant feature, whose square is coef0; no other has it
SHORT = 8  # a row with fewer entries than this share of the features is convolved entry by entry


def sketch_rows(table: Table) -> int:
    sketch_values(
        table[LEARN] != 0, (read_indptr(table), read_idx(table), read_val(table)), read_out(table),
        (*read_width(table), read_options(table), read_seed(table), read_product(table), read_longer(table),
         read_cells(table), read_values(table)),
    )  # fmt: skip
    return 0


def sketch_values(learn: bool, rows: Arrays, out: Floats, others: Arrays) -> None:
    """Write the circular convolution of `degree` count sketches of each row.

    The first sketch of a short row is kept as its entries, and convolved with the second entry by entry.
    """
    indptr, every_idx, every_val = rows
    total, known, seen, spread, size, gamma, options, seed, product, longer, cells, values = others
    width = (total, known, seen, spread, size, gamma)
    law, share, coef0, degree, count = options[0], options[1], options[2], int(options[3]), product.size
    for row in range(indptr.size - 1):
        idx, val = every_idx[indptr[row] : indptr[row + 1]], every_val[indptr[row] : indptr[row + 1]]
        if learn:
            start_width(law, share, idx, val, width)
        root, firsts = math.sqrt(gamma[0]), 0
        for turn in range(degree):
            longer[:] = 0.0
            short, entries = SHORT * (idx.size + 1) <= count, 0
            for k in range(-1, idx.size):
                x = math.sqrt(coef0) if k < 0 else root * val[k]
                if x == 0.0 or (k >= 0 and idx[k] >= known[0]):
                    continue
                bits = draw_bits(feature_key(seed[0], CONSTANT if k < 0 else idx[k]), turn)
                bucket, x = int((bits >> S33) % np.uint64(count)), x if bits & S1 != 0 else -x
                if turn == 0:
                    longer[bucket] += x
                    if short:
                        cells[entries], values[entries] = bucket, x
                        entries += 1
                elif turn == 1 and short:
                    for i in range(firsts):
                        longer[bucket + cells[i]] += x * values[i]
                else:
                    moved = longer[bucket : bucket + count]
                    for i in range(count):
                        moved[i] += x * product[i]
            firsts = entries if turn == 0 else 0
            for i in range(count):
                product[i] = longer[i] + longer[i + count]
        here = out[row * count : (row + 1) * count]
        for i in range(count):
            here[i] = product[i]
        if learn:
            learn_width(law, share, idx, val, width)


class TensorSketch(KernelMap):
    """Tensor sketch: each feature goes to a random cell with a random sign, once for every factor of the kernel.

    Cells and signs are not saved: they follow from the seed of the learner.
    """

    name = "tensor_sketch"
    params: ClassVar[Options] = {
        "features": count_param(1000.0, "the number of features"),
        "gamma": GAMMA,
        "coef0": Param(1.0, at_least=0.0, about="the constant of the kernel", search=(0.0, 10.0, "linear")),
        "degree": Param(2.0, at_least=1.0, at_most=20.0, about="the degree of the kernel", grid=(1.0, 2.0, 3.0)),
    }
    whole = ("features", "degree")
    loop = map_loop(
        sketch_values,
        sketch_rows,
        {
            "options": np.float64,
            "seed": np.uint64,
            "product": np.float64,
            "longer": np.float64,
            "cells": np.int64,
            "values": np.float64,
        },
    )
    SHARE: ClassVar[float] = 1.0

    @property
    def law(self) -> float:
        return NORM

    def extra_arrays(self) -> tuple[NDArray[Any], ...]:
        options = np.array([self.law, self.SHARE, self.options["coef0"], self.options["degree"]])
        size = self.features
        return (options, np.array([self.seed], np.uint64), np.zeros(size), np.zeros(2 * size),
                np.zeros(size, np.int64), np.zeros(size))  # fmt: skip
