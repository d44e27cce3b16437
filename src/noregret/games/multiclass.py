"""Many classes: z = Psi(x, truth) - Psi(x, rival), the rival being the best other class; margin = w . z."""

from typing import Any

from noregret.algebra.verbs import difference, row, unbound

scores = update = finals = unbound


def play(p: Any, g: Any, s: Any, X: Any, y: Any, h: Any, out: Any, moved: Any) -> Any:
    for t in range(y.size):
        x = row(X, t)
        f = out[t]
        scores(p, s, x, X.stride, f)
        truth = int(y[t])
        rival = -1
        for c in range(f.size):
            if c != truth and (rival < 0 or f[c] > f[rival]):
                rival = c
        if h[t] > 0.0:
            s.n.t += 1.0
            if rival >= 0:
                moved[t] = update(p, s, difference(x, truth, rival, X.stride), f[truth] - f[rival], h[t])


def judge(p: Any, s: Any, X: Any, out: Any) -> Any:
    for t in range(out.shape[0]):
        finals(p, s, row(X, t), X.stride, out[t])
