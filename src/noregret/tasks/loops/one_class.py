"""One class: u = (x - w) / |x - w|, margin = 1 - (|x - w| - radius).

Rows that are told to be outside are judged, and not learned.
"""

from typing import Any

from noregret.algebra.centre import distance, toward
from noregret.algebra.verbs import row, unbound

update = unbound


def play(p: Any, g: Any, s: Any, X: Any, y: Any, h: Any, out: Any, updated: Any, aux: Any) -> Any:
    for t in range(y.size):
        x = row(X, t)
        away = distance(s.w, x)
        out[t] = away - g.radius
        if h[t] > 0.0 and y[t] > 0.0:
            s.n.t += 1.0
            updated[t] = update(p, s, toward(s.w, x, away), 1.0 - out[t], h[t])


def score_rows(p: Any, g: Any, s: Any, X: Any, out: Any) -> Any:
    for t in range(out.size):
        out[t] = distance(s.w, row(X, t)) - g.radius
