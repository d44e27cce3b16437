"""The factor of balanced Winnow where none is given."""

import math

import numpy as np

import noregret as nr
from tests.learners.test_multiplicative import pair
from tests.naive import streams


def test_the_factor_of_balanced_winnow_falls_with_the_root_of_its_updates() -> None:
    X, y, _ = streams.disjunction(150, 30, k=3, active=6, seed=1)
    y = streams.flip(y, 0.1, seed=1)
    learner, exponents, moves = nr.make("winnow_balanced", start=2.0, native=False), np.zeros(30), 0
    for t in range(150):
        if learner.play(X[t : t + 1], y[t : t + 1]).updated[0]:
            exponents += y[t] * X[t] / math.sqrt(1.0 + moves / 20.0)
            moves += 1
        plus, minus = pair(learner)
        np.testing.assert_allclose(plus, 2.0 * 2.5**exponents, rtol=1e-9)
        np.testing.assert_allclose(plus * minus, 2.0, rtol=1e-12)
    assert moves > 30
