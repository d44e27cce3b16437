"""The voted perceptron: every weight vector has as many votes as the rounds it lasted."""

from noregret.algebra import add, append, votes
from noregret.learners.perceptron import FREUND_SCHAPIRE_1999, NOISY, SEPARABLE
from noregret.rules.decorators import margin_rule
from noregret.rules.rule_card import P, S, X, Z
from noregret.state.fields import counts, plain


def voted_final(p: P, s: S, x: X) -> float:
    """The votes for the positive class minus those against it; with many classes, the votes for each."""
    return float(votes(s.w, s.u, x, s.n.t + 1.0))


@margin_rule(
    paper=FREUND_SCHAPIRE_1999,
    params={},
    state={"w": plain, "u": counts},
    final=voted_final,
    guarantees=(SEPARABLE, NOISY),
    title="VotedPerceptron",
    tasks=("binary", "multiclass", "regression"),  # it stores rows, not differences of rows
)
def perceptron_voted(p: P, s: S, z: Z, margin: float) -> bool:
    """Train as the perceptron, predict by a vote of all weight vectors, each weighted by the rounds it lasted."""
    if margin <= 0.0:
        append(s.w, 1.0, z)
        add(s.u, s.n.t, z)
        return True
    return False
