"""One class of many is played, drawn by chance, and all that is told is how good it was.

What was played before is told with the chance it had then; what is still to be played is drawn here, and held against
the truth.
"""

from typing import Any

from noregret.algebra.partial_features import PRIME, next_random
from noregret.algebra.verbs import helper, row, sqnorm, unbound
from noregret.tasks.loops.hooks import take_steps
from noregret.tasks.loops.multiclass import score_rows

__all__ = ["score_rows", "play"]

scores = chances = rule = unbound
TRUTH, PLAYED, CHANCE, LOSS = 0, 1, 2, 3  # the columns of what is told; below zero where it is not


def play(p: Any, g: Any, s: Any, X: Any, y: Any, h: Any, out: Any, updated: Any, aux: Any) -> Any:
    for t in range(aux.size):
        x = row(X, t)
        f = out[t]
        scores(p, s, x, X.stride, f)
        played, chance, loss = int(y[t, PLAYED]), y[t, CHANCE], y[t, LOSS]
        if played < 0:
            odds = g.odds[: f.size]
            chances(p, s, f, odds)
            s.n.random = next_random(s.n.random)
            played = drawn(odds, s.n.random)
            chance = odds[played]
            loss = 0.0 if played == y[t, TRUTH] else 1.0
        aux[t] = played
        s.n.t += 1.0
        if sqnorm(x) > 0.0:
            steps = g.steps[: f.size]
            for c in range(f.size):
                steps[c] = 0.0
            updated[t] = rule(p, s, steps, f, chance, played, loss)
            take_steps(s.w, x, steps, X.stride)


@helper
def drawn(odds: Any, random: Any) -> Any:
    """The class that a random number falls to; never one without a chance, however sums are rounded."""
    left = random / PRIME
    last = 0
    for c in range(odds.size):
        if odds[c] > 0.0:
            last = c
            left -= odds[c]
            if left < 0.0:
                break
    return last
