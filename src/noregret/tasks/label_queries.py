"""Active learning: all labels are revealed, or only those the learner asks for because its prediction is not sure."""

from typing import Any

from noregret.algebra.partial_features import PRIME, next_random
from noregret.algebra.verbs import helper
from noregret.rules.parameters import Choice, Param


def always(g: Any, s: Any, margin: Any) -> Any:
    return True


def asked(g: Any, s: Any, margin: Any) -> Any:
    """Ask for the label with probability ask / (ask + margin)."""
    s.n.asking_random = next_random(s.n.asking_random)
    if s.n.asking_random / PRIME < g.ask / (g.ask + margin):
        s.n.asked += 1.0
        return True
    return False


@helper
def lead(f: Any) -> Any:
    """By how much the highest score exceeds the second highest."""
    first, second = f[0], f[1] if f.size > 1 else f[0]
    if second > first:
        first, second = second, first
    for c in range(2, f.size):
        if f[c] > first:
            first, second = f[c], first
        elif f[c] > second:
            second = f[c]
    return first - second


LABELS = Choice(
    "all",
    {"all": always, "asked": asked},
    "which labels are revealed: all, or those asked for (active learning)",
    binds="revealed",
)
ASK = Param(1.0, above=0.0, about="a label is asked for with probability ask / (ask + |margin|)")
COUNTERS = {"asking_random": 1.0, "asked": 0.0}
