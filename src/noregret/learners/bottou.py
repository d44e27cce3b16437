"""Bottou's stochastic gradient descent on a loss with an l2 penalty, and its averaged form.

`nr.choose_rate` chooses eta0 on a sample, as his programs do.
"""

import math

from noregret.algebra import add, at, dot, scale, sqsource
from noregret.learners.gradient import SLOPE_ONE, has_first_rate
from noregret.rules.decorators import gradient_rule
from noregret.rules.guarantee import Guarantee, over
from noregret.rules.merge_law import NO_MERGE, Merge
from noregret.rules.parameters import Param
from noregret.rules.penalties import squared_penalty
from noregret.rules.row_size import LEAST, ROW_COUNTERS, count_row
from noregret.rules.rule_card import G, P, S, X
from noregret.state.fields import plain, scaled

BOTTOU_2010 = "Bottou, Large-scale machine learning with stochastic gradient descent, COMPSTAT 2010"
XU_2011 = "Xu, Towards optimal one pass large scale learning with averaged stochastic gradient descent, arXiv 1107.2490"
ETA0 = Param(
    1.0,
    above=0.0,
    about="the learning rate before the first round; `nr.choose_rate` chooses it on a sample",
    search=(1e-3, 1e2, "log"),
    measured=0.1,
)
FOLLOWING_ETA0 = Param(
    0.0,
    at_least=0.0,
    about="the learning rate before the first round; 0 stands for 1 / S, where S is the geometric mean of |x|^2 so "
    "far; `nr.choose_rate` chooses it on a sample",
    search=(1e-3, 1e2, "log"),
    measured=0.1,
    earlier=1.0,
)
LAM = Param(
    1e-4, above=0.0, about="the strength of the l2 penalty, which also lowers the rate", search=(1e-6, 1e-1, "log")
)


def bottou_regret(p: P, radius: float, norm: float, rounds: float) -> float:
    """|u|^2 / (2 eta0) + 2 R^2 ln(1 + lam eta0 T) / lam: no weights are longer than R / lam, no gradient than 2 R."""
    return float(over(norm**2, 2.0 * p.eta0) + 2.0 * radius**2 * math.log1p(p.lam * p.eta0 * rounds) / p.lam)


STRONGLY_CONVEX = Guarantee(
    "regularised regret",
    "regret of lam |w|^2 / 2 plus the loss against u <= |u|^2 / (2 eta0) + 2 R^2 ln(1 + lam eta0 T) / lam, "
    "where w are the weights of training",
    "eta0 > 0; every |x| <= R; two classes or targets; any u; all importance weights 1",
    bottou_regret,
    options={"loss": SLOPE_ONE},
    requires=has_first_rate,
)


@gradient_rule(
    paper=BOTTOU_2010,
    params={"eta0": FOLLOWING_ETA0, "lam": LAM},
    state={"w": scaled},
    penalty=squared_penalty,
    counters={"kept": 1.0, **ROW_COUNTERS},
    guarantees=(STRONGLY_CONVEX,),
    merge=Merge(
        "bounded",
        "weights are averaged in proportion to the rounds; a convex objective is no larger at their mean",
        "mix",
    ),
    title="BottouSGD",
)
def sgd_bottou(p: P, s: S, g: G) -> None:
    """Stochastic gradient descent on the loss plus an l2 penalty, with learning rate eta0 / (1 + lam eta0 t)."""
    eta0 = p.eta0
    if eta0 == 0.0:
        size = count_row(s, sqsource(g))
        if size <= LEAST:  # no row had a value yet: there is nothing to step along
            return
        eta0 = 1.0 / size
    eta = eta0 / (1.0 + p.lam * eta0 * s.n.t)
    scale(s.w, 1.0 - eta * p.lam)
    s.n.kept *= 1.0 - eta * p.lam
    add(s.w, -eta, g)


def bottou_weight(p: P, s: S, j: int) -> float:
    """The weight of training: the steps of `sgd_bottou` telescope to -eta0 / (1 + lam eta0 t) times the sum of g."""
    return float(-p.eta0 / (1.0 + p.lam * p.eta0 * s.n.t) * at(s.G, j))


def averaged_final(p: P, s: S, x: X) -> float:
    """w.x with the mean of the weights after each round later than `after`; until then, with the weights of training.

    The mean is -eta0 (C G - U) / n, where C is the sum of 1 / (1 + lam eta0 t) over these n rounds.
    """
    rounds = s.n.t - p.after
    if rounds <= 0.0:
        return float(-p.eta0 / (1.0 + p.lam * p.eta0 * s.n.t) * dot(s.G, x))
    return float(-p.eta0 * (s.n.C * dot(s.G, x) - dot(s.U, x)) / rounds)


@gradient_rule(
    paper=f"{BOTTOU_2010}; {XU_2011}, 2011",
    params={
        "eta0": ETA0,
        "lam": LAM,
        "after": Param(
            0.0,
            at_least=0.0,
            about="the number of rounds before the mean begins",
            untuned="it depends on the length of the stream: about one pass over the rows",
        ),
    },
    state={"G": plain, "U": plain},
    counters={"C": 0.0},
    weight=bottou_weight,
    final=averaged_final,
    penalty=squared_penalty,
    guarantees=(STRONGLY_CONVEX,),
    merge=NO_MERGE,
    title="BottouASGD",
)
def sgd_bottou_averaged(p: P, s: S, g: G) -> None:
    """Train as `sgd_bottou`, predict with the mean of the weights over the rounds (ASGD)."""
    add(s.G, 1.0, g)
    add(s.U, s.n.C, g)
    if s.n.t > p.after:
        s.n.C += 1.0 / (1.0 + p.lam * p.eta0 * s.n.t)
