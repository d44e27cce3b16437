"""Rows of a call and their targets as tensors."""

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Block, DenseBlock
from noregret.errors import BadValue
from noregret.neural.modules.tensors import Tensor, load_torch
from noregret.neural.modules.trained_module import TrainedModule

Floats = NDArray[np.float64]
NUMBERS = 1 << 22  # of rows that are made tensors of in one go
LARGEST = 2.0**53  # whole numbers up to here are exact


def as_targets(net: TrainedModule, values: Floats) -> Tensor:
    """Targets of the type and shape that the loss takes, one for each row."""
    made = load_torch().from_numpy(np.array(values)).to(device=net.device, dtype=net.target_dtype)
    return made.reshape(-1, *net.target_shape)


def as_rows(net: TrainedModule, block: Block, rows: slice) -> Tensor:
    """Some rows of a block in the shape the module takes; features that a row does not have are 0."""
    table = dense_rows(block, rows, net.features)
    if net.plan.integers:
        wrong = np.argwhere((table != np.floor(table)) | (np.abs(table) > LARGEST))
        if wrong.size:
            row, column = int(wrong[0, 0]), int(wrong[0, 1])
            raise BadValue(f"row {rows.start + row}, feature {column}: integers=True takes whole numbers, not "
                           f"{table[row, column]}", row=rows.start + row)  # fmt: skip
    made = load_torch().from_numpy(table).to(device=net.device, dtype=net.dtype)
    return made.reshape(-1, *(net.shape or ()))


def dense_rows(block: Block, rows: slice, features: int) -> Floats:
    """Some rows as a table of so many columns, in memory of its own."""
    table = np.zeros((rows.stop - rows.start, features))
    if isinstance(block, DenseBlock):
        width = min(block.width, features)
        table[:, :width] = block.val[rows, :width]
        return table
    first, last = int(block.indptr[rows.start]), int(block.indptr[rows.stop])
    row_of = np.repeat(np.arange(rows.stop - rows.start), np.diff(block.indptr[rows.start : rows.stop + 1]))
    idx, inside = block.idx[first:last], block.idx[first:last] < features
    table[row_of[inside], idx[inside]] = block.val[first:last][inside]
    return table
