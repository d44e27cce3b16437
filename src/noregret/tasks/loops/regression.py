"""Real targets: z = sign(error) x, margin = 1 - |error| + eps, where an error is measured in deviations.

The rule sees targets from which the mean so far is taken, divided by their deviation so far; a prediction is the mean
plus so many deviations. Only earlier targets count, each as much as its round weighs. Until two targets differ there is
no deviation: the mean is predicted, and no step is made. As they are, targets have the mean 0 and the deviation 1.
"""

import math
from typing import Any

from noregret.algebra.verbs import row, scaled_by, unbound

score = update = final = unbound
measured: Any = unbound  # whether targets are scaled


def play(p: Any, g: Any, s: Any, X: Any, y: Any, h: Any, out: Any, updated: Any, aux: Any) -> Any:
    for t in range(y.size):
        x = row(X, t)
        deviation = 1.0
        if measured:
            deviation = math.sqrt(s.n.target_squares / s.n.target_count) if s.n.target_count > 0.0 else 0.0
        aux[t] = deviation
        out[t] = s.n.target_mean + deviation * score(p, s, x)
        if h[t] > 0.0:
            s.n.t += 1.0
            if deviation > 0.0:
                error = (y[t] - out[t]) / deviation
                updated[t] = update(p, s, scaled_by(x, math.copysign(1.0, error)), 1.0 - abs(error) + g.eps, h[t])
            if measured:
                off, before = y[t] - s.n.target_mean, s.n.target_count
                s.n.target_count += h[t]
                step = off * (h[t] / s.n.target_count)
                s.n.target_mean += step
                s.n.target_squares += before * off * step


def score_rows(p: Any, g: Any, s: Any, X: Any, out: Any) -> Any:
    deviation = 1.0
    if measured:
        deviation = math.sqrt(s.n.target_squares / s.n.target_count) if s.n.target_count > 0.0 else 0.0
    for t in range(out.size):
        out[t] = s.n.target_mean + deviation * final(p, s, row(X, t))
