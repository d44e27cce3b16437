"""Functions that several expert algorithms share: exponential weights, the mix loss, new experts."""

import math
from typing import Any


def find_least(values: Any) -> float:
    least = math.inf
    for i in range(values.size):
        if values[i] < least:
            least = values[i]
    return least


def set_exponential(values: Any, eta: float, awake: Any, q: Any) -> None:
    """q_i in proportion to exp(-eta values_i), over the experts that are awake; an infinite rate shares the least.

    The least value is subtracted first, so that no sum is zero.
    """
    least = math.inf
    for i in range(q.size):
        if awake[i] and values[i] < least:
            least = values[i]
    total = 0.0
    for i in range(q.size):
        q[i] = 0.0
        if awake[i]:
            gap = values[i] - least
            q[i] = math.exp(-eta * gap) if gap > 0.0 else 1.0
            total += q[i]
    for i in range(q.size):
        q[i] /= total


def mix_loss(q: Any, losses: Any, eta: float) -> float:
    """-ln(sum of q_i exp(-eta losses_i)) / eta: at most the mean loss q . losses, and at most eta / 8 below it."""
    least = math.inf
    for i in range(q.size):
        if q[i] > 0.0 and losses[i] < least:
            least = losses[i]
    rest = 0.0
    for i in range(q.size):
        if q[i] > 0.0:
            rest += q[i] * math.expm1(-eta * (losses[i] - least))
    return least - math.log1p(rest) / eta


def mix_growth(summed: Any, losses: Any, eta: float, awake: Any) -> float:
    """The mix loss of exponential weights over the experts that are awake, where some may be too small for a float.

    It is how much -ln(sum of exp(-eta summed)) / eta grows; with an infinite rate, how much the least sum grows.
    """
    before, after = math.inf, math.inf
    for i in range(losses.size):
        if awake[i]:
            before = min(before, summed[i])
            after = min(after, summed[i] + losses[i])
    old, new = 0.0, 0.0
    for i in range(losses.size):
        if awake[i]:
            gap, later = summed[i] - before, summed[i] + losses[i] - after
            old += math.exp(-eta * gap) if gap > 0.0 else 1.0
            new += math.exp(-eta * later) if later > 0.0 else 1.0
    return after - before - math.log(new / old) / eta


def log_experts(s: Any) -> float:
    """ln N, of one expert as of two."""
    return math.log(max(s.losses.size, 2))


def mean_weight_loss(losses: Any, eta: float) -> float:
    """The summed loss of an expert whose weight is the mean of the weights now; with an infinite rate, the least."""
    least = find_least(losses)
    total = 0.0
    for i in range(losses.size):
        gap = losses[i] - least
        total += math.exp(-eta * gap) if gap > 0.0 else 1.0
    return float(least - math.log(total / losses.size) / eta)
