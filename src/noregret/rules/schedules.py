"""Learning-rate schedules: plain functions of the first rate, the round and the steps, bound when a loop is stamped.

The steps are the rounds so far that had a gradient, this one included; a rule that counts them hands them over.
"""

import math
from collections.abc import Callable


def rate(eta0: float, t: float, steps: float = 0.0) -> float:
    """Stands for the schedule a learner was made with; rules name it, stamping binds it."""
    raise NotImplementedError("a schedule is bound when the learner is made")


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
