"""Multinomial logistic regression: p(c | x) is proportional to exp(w_c . x), and the loss of a round is -log p(truth).

The loss looks at all scores at once, so there is no single rival. Its negative gradient is what was observed minus what
was expected: z = Psi(x, truth) - sum over c of p_c Psi(x, c), along which a rule steps with slope -1.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from noregret.algebra.internal_verbs import mixture, row
from noregret.algebra.verbs import helper, unbound
from noregret.errors import BadValue
from noregret.rules.losses import LOSSES
from noregret.rules.rule_card import RuleCard
from noregret.tasks.label_queries import lead
from noregret.tasks.task import Flags, Floats, G, P, R, S

scores = update = finals = revealed = unbound
final_differs: Any = unbound  # whether predictions use other weights than training does


def play_softmax(p: P, g: G, s: S, X: R, y: Floats, h: Floats, out: Floats, updated: Flags, aux: Floats) -> None:
    for t in range(y.size):
        x = row(X, t)
        f = g.scores[: out.shape[1]] if final_differs else out[t]
        scores(p, s, x, X.stride, f)
        if final_differs:
            finals(p, s, x, X.stride, out[t])
        if h[t] > 0.0 and revealed(g, s, lead(f)):
            s.n.t += 1.0
            if f.size > 1:
                shares = g.steps[: f.size]
                observed_minus_expected(f, int(y[t]), shares)
                updated[t] = update(p, s, mixture(x, shares, X.stride), 0.0, h[t])


@helper
def observed_minus_expected(f: Any, truth: Any, shares: Any) -> Any:
    """Write 1[c = truth] - p_c; that of the truth is a sum, so that it keeps its digits where p is almost 1."""
    top = f[0]
    for c in range(1, f.size):
        top = max(top, f[c])
    total = 0.0
    for c in range(f.size):
        shares[c] = math.exp(f[c] - top)
        total += shares[c]
    rest = 0.0
    for c in range(f.size):
        shares[c] /= -total
        rest -= shares[c] if c != truth else 0.0
    shares[truth] = rest


def softmax_losses(scores: Floats, truth: Any) -> Floats:
    """-log p of the truths, from finite scores.

    It is log(1 + the odds against the truth), which keeps its digits where p is almost 1.
    """
    rows = np.arange(len(scores))
    margins = scores[rows, truth][:, None] - scores
    margins[rows, truth] = np.inf
    least = np.minimum(margins.min(axis=1, keepdims=True), 0.0)
    against = np.exp(least - margins).sum(axis=1)
    rest = np.exp(least[:, 0])
    return np.asarray(np.where(rest == 1.0, np.log1p(against), np.log(rest + against) - least[:, 0]))


def check_all_scores(card: RuleCard, rule_options: Mapping[str, str], competitor: Any, required: bool) -> Any:
    """The competitor: a loss that compares the truth with all others together implies it, and has no margins."""
    loss = rule_options.get("loss")
    if loss is None or not LOSSES[loss].of_all_scores:
        if competitor == "softmax":
            raise BadValue(f'{card.name}: competitor="softmax" is for loss="softmax" and "crf"; leave competitor out')
        return competitor
    if competitor not in (None, "softmax"):
        raise BadValue(
            f"{card.name}: the {loss} loss compares the truth with all others together; leave competitor out"
        )
    if required:
        raise BadValue(
            f"{card.name}: the {loss} loss asks for no margin; leave cost and margin out, or use class_weight"
        )
    return "softmax"
