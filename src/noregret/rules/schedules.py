"""Learning-rate schedules: functions of the first rate, the round and the number of steps.

Rules call `rate`, which is replaced by the schedule of a learner when its loop is specialized. Steps are the rounds so
far, this one included, in which the gradient was not zero; a rule that counts them passes them on.
"""

import math
from collections.abc import Callable


def rate(eta0: float, t: float, steps: float = 0.0) -> float:
    """Stands for the schedule of the learner."""
    raise NotImplementedError("the schedule is bound when a learner is made")


def constant(eta0: float, t: float, steps: float = 0.0) -> float:
    return eta0


def inv_sqrt(eta0: float, t: float, steps: float = 0.0) -> float:
    return eta0 / math.sqrt(t)


def inv_t(eta0: float, t: float, steps: float = 0.0) -> float:
    return eta0 / t


def inv_mistakes(eta0: float, t: float, steps: float) -> float:
    return eta0 / max(steps, 1.0)


SCHEDULES: dict[str, Callable[..., float]] = {
    "constant": constant,
    "inv_sqrt": inv_sqrt,
    "inv_t": inv_t,
}
OF_STEPS: dict[str, Callable[..., float]] = {"inv_mistakes": inv_mistakes}
