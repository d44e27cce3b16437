"""What the tests of tuning share: a stream, a search on it without the compiler, and a learner that learned it."""

from typing import Any

import noregret as nr
from noregret.evaluation.tuning.result import Tuning
from tests.support import small_stream

X, Y = small_stream(rows=160, seed=3)
RS = (0.001, 0.01, 0.1, 10.0, 100.0, 1000.0)  # the range of arow's r without its default


def tune(learners: object = "arow", space: Any = None, source: object = (X, Y), **told: Any) -> Tuning:
    return nr.tune(source, learners, space, native=False, **told)


def naive(rows: Any = slice(None), **told: Any) -> nr.RuleLearner:
    """A learner that learned some rows, one after another."""
    return nr.make("arow", native=False, **told).learn(X[rows], Y[rows])


def values(found: Tuning, name: str = "r") -> list[Any]:
    """The values of a parameter, that of the best candidate first."""
    return [result.parameters[name] for result in found]
