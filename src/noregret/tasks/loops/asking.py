"""Which labels are told: all, or those that are asked for because the prediction is not sure enough."""

from typing import Any

from noregret.algebra.partial_features import PRIME, next_random
from noregret.algebra.verbs import helper


def always(g: Any, s: Any, margin: Any) -> Any:
    return True


def asked(g: Any, s: Any, margin: Any) -> Any:
    """Ask with probability b / (b + margin)."""
    s.n.asking_random = next_random(s.n.asking_random)
    if s.n.asking_random / PRIME < g.ask / (g.ask + margin):
        s.n.asked += 1.0
        return True
    return False


@helper
def lead(f: Any) -> Any:
    """By how much the first class leads the second."""
    first, second = f[0], f[1] if f.size > 1 else f[0]
    if second > first:
        first, second = second, first
    for c in range(2, f.size):
        if f[c] > first:
            first, second = f[c], first
        elif f[c] > second:
            second = f[c]
    return first - second
