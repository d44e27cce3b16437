"""Two classes: z = y x, margin = y f."""

from typing import Any

from noregret.algebra.verbs import row, stretch, unbound

score = update = final = told = unbound


def play(p: Any, g: Any, s: Any, X: Any, y: Any, h: Any, out: Any, moved: Any, note: Any) -> Any:
    for t in range(y.size):
        x = row(X, t)
        out[t] = score(p, s, x)
        if h[t] > 0.0 and told(g, s, abs(out[t])):
            s.n.t += 1.0
            moved[t] = update(p, s, stretch(x, y[t]), y[t] * out[t], h[t])


def judge(p: Any, g: Any, s: Any, X: Any, out: Any) -> Any:
    for t in range(out.size):
        out[t] = final(p, s, row(X, t))
