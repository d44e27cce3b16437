"""Learning-rate schedules: functions of the parameters, the first rate, the round and the number of steps.

Rules call `rate`, which is replaced by the schedule of a learner when its loop is specialized. Steps are the rounds so
far, this one included, in which the gradient was not zero; a rule that counts them passes them on. A rule with a
schedule has the numbers that schedules read (`NUMBERS`) among its parameters.
"""

import math
from collections.abc import Callable
from typing import Any

from noregret.rules.parameters import Param


def rate(p: Any, eta0: float, t: float, steps: float = 0.0) -> float:
    """Stands for the schedule of the learner."""
    raise NotImplementedError("the schedule is bound when a learner is made")


def constant(p: Any, eta0: float, t: float, steps: float = 0.0) -> float:
    return eta0


def inv_sqrt(p: Any, eta0: float, t: float, steps: float = 0.0) -> float:
    return eta0 / math.sqrt(t)


def inv_t(p: Any, eta0: float, t: float, steps: float = 0.0) -> float:
    return eta0 / t


def power(p: Any, eta0: float, t: float, steps: float = 0.0) -> float:
    return float(eta0 / t**p.power)


def bottou(p: Any, eta0: float, t: float, steps: float = 0.0) -> float:
    return float(eta0 / (1.0 + p.decay * eta0 * t))


def inv_mistakes(p: Any, eta0: float, t: float, steps: float) -> float:
    return eta0 / max(steps, 1.0)


SCHEDULES: dict[str, Callable[..., float]] = {
    "constant": constant,
    "inv_sqrt": inv_sqrt,
    "inv_t": inv_t,
    "power": power,
    "bottou": bottou,
}
OF_STEPS: dict[str, Callable[..., float]] = {"inv_mistakes": inv_mistakes}
NUMBERS = {
    "power": Param(
        0.5,
        above=0.0,
        at_most=1.0,
        about="the exponent of the schedule power: the rate of round t is the first rate / t^power",
        untuned="only the schedule power reads it",
    ),
    "decay": Param(
        1e-4,
        above=0.0,
        about="the decay of the schedule bottou: the rate of round t is eta0 / (1 + decay eta0 t)",
        untuned="only the schedule bottou reads it; with an l2 penalty, it is the strength of the penalty",
    ),
}
