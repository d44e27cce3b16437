"""Two classes: z = y x, margin = y f; of neither class (y = 0): z = -sign(f) x, margin = 1 - |f| + universum."""

import math
from typing import Any

from noregret.algebra.verbs import row, scaled_by, unbound

score = update = final = told = unbound


def play(p: Any, g: Any, s: Any, X: Any, y: Any, h: Any, out: Any, updated: Any, aux: Any) -> Any:
    for t in range(y.size):
        x = row(X, t)
        out[t] = score(p, s, x)
        if h[t] > 0.0 and told(g, s, abs(out[t])):
            s.n.t += 1.0
            side, margin = y[t], y[t] * out[t]
            if side == 0.0:
                side, margin = -math.copysign(1.0, out[t]), 1.0 - abs(out[t]) + g.universum
            updated[t] = update(p, s, scaled_by(x, side), margin, h[t])


def score_rows(p: Any, g: Any, s: Any, X: Any, out: Any) -> Any:
    for t in range(out.size):
        out[t] = final(p, s, row(X, t))
