"""Rows whose kernel overflows are refused with their round, also where a rule cannot go on."""

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import pack


@pytest.mark.parametrize("name", ["duol", "perceptron_kernel_incremental", "norma"])
def test_a_row_whose_kernel_overflows_is_refused_and_named(name: str) -> None:
    learner = nr.make(name, algebra="kernel", kernel="linear", native=False)
    learner.learn(np.array([[1.0]]), [1])
    before = pack(learner)
    with pytest.raises(nr.BadValue, match=r"^round 3 \(row 1 of this call\): a weight or a score is no longer finite"):
        learner.learn(np.array([[0.5], [1e200]]), [1, -1])
    assert pack(learner) == before
