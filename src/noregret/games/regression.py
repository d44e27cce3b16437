"""Real targets: z = sign(error) x, margin = 1 - |error| + eps."""

import math
from typing import Any

from noregret.algebra.verbs import row, stretch, unbound
from noregret.games.binary import judge

__all__ = ["judge", "play"]

score = update = unbound


def play(p: Any, g: Any, s: Any, X: Any, y: Any, h: Any, out: Any, moved: Any, note: Any) -> Any:
    for t in range(y.size):
        x = row(X, t)
        out[t] = score(p, s, x)
        if h[t] > 0.0:
            s.n.t += 1.0
            error = y[t] - out[t]
            moved[t] = update(p, s, stretch(x, math.copysign(1.0, error)), 1.0 - abs(error) + g.eps, h[t])
