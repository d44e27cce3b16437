"""The voted perceptron: every vector the perceptron went through has as many votes as it lasted rounds."""

from noregret.algebra import add, append, votes
from noregret.learners.perceptron import FREUND_SCHAPIRE_1999, novikoff
from noregret.rules.card import Guarantee, P, S, X, Z, margin_rule
from noregret.state.fields import counts, plain


def voted_final(p: P, s: S, x: X) -> float:
    """The votes for the positive class less those against it; of many classes, the votes for each."""
    return float(votes(s.w, s.u, x, s.n.t + 1.0))


@margin_rule(
    paper=FREUND_SCHAPIRE_1999,
    params={},
    state={"w": plain, "u": counts},
    final=voted_final,
    guarantee=Guarantee(
        "updates <= (R / gamma)^2",
        "every k(x, x) <= R^2, and some unit vector u has y u.x >= gamma > 0 on all rounds",
        novikoff,
    ),
    title="VotedPerceptron",
    plays=("binary", "multiclass", "regression"),  # every vector votes for one class; it remembers rows, no differences
)
def perceptron_voted(p: P, s: S, z: Z, margin: float) -> bool:
    """Learn as the perceptron, predict by the vote of all its vectors."""
    if margin <= 0.0:
        append(s.w, 1.0, z)
        add(s.u, s.n.t, z)
        return True
    return False
