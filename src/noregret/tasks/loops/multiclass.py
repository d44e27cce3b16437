"""Many classes: z = Psi(x, truth) - Psi(x, rival), the rival being another class; margin = w . z.

Where a mistake costs more than 1 the required margin is larger, and the rule is handed a margin smaller by as much.
"""

import math
from typing import Any

from noregret.algebra.verbs import class_block, difference, row, scaled_by, sqnorm, unbound
from noregret.tasks.loops.asking import lead
from noregret.tasks.loops.hooks import take_steps, weighed

scores = update = finals = rule = rival_of = required = told = unbound


def play(p: Any, g: Any, s: Any, X: Any, y: Any, h: Any, out: Any, updated: Any, aux: Any) -> Any:
    for t in range(y.size):
        x = row(X, t)
        f = out[t]
        scores(p, s, x, X.stride, f)
        truth = int(y[t])
        rival = rival_of(g, f, truth)
        if h[t] > 0.0 and told(g, s, lead(f)):
            s.n.t += 1.0
            if rival >= 0:
                margin = f[truth] - f[rival] - (required(g, truth, rival) - 1.0)
                updated[t] = update(p, s, difference(x, truth, rival, X.stride), margin, h[t])


def play_prototypes(p: Any, g: Any, s: Any, X: Any, y: Any, h: Any, out: Any, updated: Any, aux: Any) -> Any:
    """The rule says how far each class moves along the row."""
    for t in range(y.size):
        x = row(X, t)
        f = out[t]
        scores(p, s, x, X.stride, f)
        truth = int(y[t])
        size = sqnorm(x)
        if h[t] > 0.0 and told(g, s, lead(f)):
            s.n.t += 1.0
            if size > 0.0:
                steps, owed = g.steps[: f.size], g.owed[: f.size]
                for c in range(f.size):
                    steps[c] = 0.0
                    owed[c] = required(g, truth, c)
                updated[t] = rule(weighed(p, h[t]), s, steps, f, owed, truth, size)
                take_steps(s.w, x, steps, X.stride)


def play_rest(p: Any, g: Any, s: Any, X: Any, y: Any, h: Any, out: Any, updated: Any, aux: Any) -> Any:
    """Every class plays a task of two against all others: z = x in its block, and -x where it is not the right one."""
    for t in range(y.size):
        x = row(X, t)
        f = out[t]
        scores(p, s, x, X.stride, f)
        if h[t] > 0.0 and told(g, s, lead(f)):
            s.n.t += 1.0
            any_updated = False
            for c in range(f.size):
                sign = 1.0 if c == int(y[t]) else -1.0
                any_updated = (
                    update(p, s, class_block(scaled_by(x, sign), c, X.stride), sign * f[c], h[t]) or any_updated
                )
            updated[t] = any_updated


def score_rows(p: Any, g: Any, s: Any, X: Any, out: Any) -> Any:
    for t in range(out.shape[0]):
        finals(p, s, row(X, t), X.stride, out[t])


# ---- against whom, and by how much -----------------------------------------------------------------------------------


def runner_up(g: Any, f: Any, truth: Any) -> Any:
    """The best other class."""
    rival = -1
    for c in range(f.size):
        if c != truth and (rival < 0 or f[c] > f[rival]):
            rival = c
    return rival


def predicted(g: Any, f: Any, truth: Any) -> Any:
    """The class that was predicted, unless it is the right one."""
    best = 0
    for c in range(1, f.size):
        if f[c] > f[best]:
            best = c
    return best if best != truth else -1


def max_loss(g: Any, f: Any, truth: Any) -> Any:
    """The class whose required margin is missed by most."""
    rival = -1
    most = -math.inf
    for c in range(f.size):
        if c != truth:
            missing = f[c] + required(g, truth, c)
            if missing > most:
                rival, most = c, missing
    return rival


def one(g: Any, truth: Any, rival: Any) -> Any:
    return 1.0


def by_cost(g: Any, truth: Any, rival: Any) -> Any:
    return g.costs[truth, rival]
