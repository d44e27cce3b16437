"""Perceptrons that predict with a copy: the pocket keeps the best vector so far, a batch the one it began with."""

import math

from noregret.algebra import add, at, held_at, held_dot, hold
from noregret.card import Guarantee, Merge, P, Param, S, X, Z, margin_rule, schedule
from noregret.learners.perceptron import DUDA_HART_1973, novikoff
from noregret.schedules import rate
from noregret.state import held

GALLANT_1990 = "Gallant, Perceptron-based learning algorithms, IEEE Transactions on Neural Networks 1, 1990"


def pocket_final(p: P, s: S, x: X) -> float:
    """The vector in the pocket."""
    return float(held_dot(s.w, x))


@margin_rule(
    paper=GALLANT_1990,
    params={},
    state={"w": held},
    counters={"run": 0.0, "longest": 0.0},
    final=pocket_final,
    guarantee=Guarantee(
        "updates <= (R / gamma)^2, and once w errs no more, neither does the pocket as soon as that run is the longest",
        "every |x| <= R, and some unit vector u has y u.x >= gamma > 0 on all rounds",
        novikoff,
    ),
    merge=Merge("none", "which of two pockets is the better one cannot be told without rows to try them on"),
    title="PocketPerceptron",
)
def perceptron_pocket(p: P, s: S, z: Z, margin: float) -> bool:
    """Learn as the perceptron, predict with the vector that was right for the most rounds in a row."""
    if margin <= 0.0:
        add(s.w, 1.0, z)
        s.n.run = 0.0
        return True
    s.n.run += 1.0
    if s.n.run > s.n.longest:
        hold(s.w)
        s.n.longest = s.n.run
    return False


def batch_bound(radius: float, margin: float, batch: float) -> float:
    """batch (R / gamma)^2 rows are added, whatever the order and the number of rounds; of 2.5, some batches have 3."""
    return math.ceil(batch) * novikoff(radius, margin)


def batch_weight(p: P, s: S, j: int) -> float:
    """The weight a batch began with; after its last round, the weight it ends with."""
    return float(at(s.w, j) if s.n.t >= s.n.last else held_at(s.w, j))


@margin_rule(
    paper=DUDA_HART_1973,
    params={
        "batch": Param(16.0, at_least=1.0, about="how many rounds make one update; for one update a pass, all rows"),
        "rho": Param(1.0, above=0.0, about="the length of a step"),
        "schedule": schedule("constant"),
    },
    state={"w": held},
    counters={"last": 0.0},
    weight=batch_weight,
    weigh="rho",
    guarantee=Guarantee(
        "updates <= batch (R / gamma)^2, each row that is added being one; batch rounded up",
        "every |x| <= R, and some unit vector u has y u.x >= gamma > 0 on all rounds; constant rho, all weights 1",
        batch_bound,
    ),
    merge=Merge("none", "the rows of a batch are gathered by one learner"),
    title="BatchPerceptron",
)
def perceptron_batch(p: P, s: S, z: Z, margin: float) -> bool:
    """Add all examples of a batch that are not on the right side, at its end."""
    if s.n.t > s.n.last:
        hold(s.w)
        s.n.last = math.floor(p.batch * math.ceil(s.n.t / p.batch))
    if margin <= 0.0:
        add(s.w, rate(p.rho, math.ceil(s.n.t / p.batch)), z)
        return True
    return False
