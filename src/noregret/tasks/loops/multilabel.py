"""Several labels for a row: z = Psi(x, r) - Psi(x, s), margin = w . z, where labels are in the wrong order.

Block 0 of the weights is that of the virtual label, which is in no row's set; block c + 1 is that of label c. Among
labels with the same score the first is taken.

threshold="virtual": the label of the row with the lowest score steps against the virtual one; then all scores are
looked up again, and the virtual one steps against the highest label that is not the row's. A score is told as how far
it is above that of the virtual label. threshold="zero": there is one step, of the lowest label of the row against the
highest other one, and scores are told as they are. Either way the predicted labels are those whose told score is above
0.

Where every label known so far is the row's there is no other one, and the step against it is left out.
"""

from typing import Any

from noregret.algebra.verbs import difference, helper, row, unbound

scores = update = finals = unbound
virtual: Any = unbound


def play(p: Any, g: Any, s: Any, X: Any, y: Any, h: Any, out: Any, updated: Any, aux: Any) -> Any:
    """The aux of a round is the lowest told score of the row's labels, those it brings included."""
    f = g.scores[: y.shape[1] + 1]
    for t in range(y.shape[0]):
        x = row(X, t)
        scores(p, s, x, X.stride, f)
        tell(f, f[0] if virtual else 0.0, out[t])
        own = lowest(f, y[t])
        aux[t] = out[t, own - 1]
        if h[t] > 0.0:
            s.n.t += 1.0
            if virtual:
                updated[t] = update(p, s, difference(x, own, 0, X.stride), f[own] - f[0], h[t])
                scores(p, s, x, X.stride, f)
                own = 0
            other = highest(f, y[t])
            if other > 0 and update(p, s, difference(x, own, other, X.stride), f[own] - f[other], h[t]):
                updated[t] = 1


def score_rows(p: Any, g: Any, s: Any, X: Any, out: Any) -> Any:
    f = g.scores[: out.shape[1] + 1]
    for t in range(out.shape[0]):
        finals(p, s, row(X, t), X.stride, f)
        tell(f, f[0] if virtual else 0.0, out[t])


@helper
def tell(f: Any, threshold: Any, told: Any) -> Any:
    """The scores of the labels, measured from the threshold."""
    for c in range(told.size):
        told[c] = f[c + 1] - threshold


@helper
def lowest(f: Any, truth: Any) -> Any:
    """The block of the row's label with the lowest score."""
    found = 0
    for c in range(truth.size):
        if truth[c] > 0.0 and (found == 0 or f[c + 1] < f[found]):
            found = c + 1
    return found


@helper
def highest(f: Any, truth: Any) -> Any:
    """The block of the label with the highest score that is not the row's; 0 where there is none."""
    found = 0
    for c in range(truth.size):
        if truth[c] == 0.0 and (found == 0 or f[c + 1] > f[found]):
            found = c + 1
    return found
