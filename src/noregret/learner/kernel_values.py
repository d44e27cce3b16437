"""The kernel of a learner between rows, as its rounds compute it."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.internal_verbs import expand_support
from noregret.algebra.kernel_functions import sum_own
from noregret.data.blocks import SparseBlock, verify
from noregret.data.inputs import RowsLike
from noregret.learner.encode import encode_rows
from noregret.state.bank_rows import BankRows, add_rows, build_bank
from noregret.state.space import enlarge


def kernel_values(learner: Any, X: RowsLike) -> NDArray[np.float64]:
    """The matrix of the kernel of all pairs of rows, for a kernel learner that has learned some rows before."""
    model = learner.model
    block = verify(encode_rows(model, X, grow=False, include_unknown=True))
    assert isinstance(block, SparseBlock)
    space = replace(model.known_space, supports=0, values=0, budget=0)
    longest = int(np.diff(block.indptr).max(initial=0))
    values = longest if space.layout == "slots" else int(block.indptr[-1])
    bank = build_bank(enlarge(space, max(block.width, space.features), 1, block.rows, values))
    own = [sum_own(bank.kernel, block.val[block.indptr[t] : block.indptr[t + 1]]) for t in range(block.rows)]
    numbers = np.array(own, np.float64), np.zeros(block.rows), np.arange(block.rows)
    add_rows(bank, BankRows(block.indptr, block.idx.astype(np.uint32), block.val, *numbers))
    found = np.empty((block.rows, block.rows))
    for t in range(block.rows):
        expand_support(bank, t, found[t])
    return found
