"""Learning-rate schedules: plain functions of the first rate and the round, bound when a loop is stamped."""

import math
from collections.abc import Callable


def rate(eta0: float, t: float) -> float:
    """Stands for the schedule a learner was made with; rules name it, stamping binds it."""
    raise NotImplementedError("a schedule is bound when the learner is made")


def constant(eta0: float, t: float) -> float:
    return eta0


def inv_sqrt(eta0: float, t: float) -> float:
    return eta0 / math.sqrt(t)


def inv_t(eta0: float, t: float) -> float:
    return eta0 / t


SCHEDULES: dict[str, Callable[[float, float], float]] = {
    "constant": constant,
    "inv_sqrt": inv_sqrt,
    "inv_t": inv_t,
}
