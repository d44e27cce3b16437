"""Novelty detection by a level: a row is one of the class if its score is at least the level of the learner.

So play the rules that keep such a level themselves (`level` on the card). A score is how far a row is below it.
"""

from noregret.algebra.verbs import unbound
from noregret.tasks.task import Flags, Floats, G, P, R, S

update = final_row = row_and_score = level = unbound


def play(p: P, g: G, s: S, X: R, y: Floats, h: Floats, out: Floats, updated: Flags, aux: Floats) -> None:
    for t in range(y.size):
        x, f = row_and_score(p, s, X, t)
        out[t] = level(p, s) - f
        if h[t] > 0.0 and y[t] > 0.0:
            s.n.t += 1.0
            updated[t] = update(p, s, x, f, h[t])


def score_rows(p: P, g: G, s: S, X: R, out: Floats) -> None:
    for t in range(out.size):
        out[t] = level(p, s) - final_row(p, s, X, t)
