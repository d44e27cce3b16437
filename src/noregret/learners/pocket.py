"""Perceptrons that predict with a copy: the pocket keeps the best vector so far, a batch the one it began with."""

import math
from collections.abc import Mapping

from noregret.algebra import add, at, count_correct, remember, sample_size, snapshot_at, snapshot_dot, take_snapshot
from noregret.algebra.verbs import unbound
from noregret.learners.perceptron import DUDA_HART_1973, novikoff
from noregret.rules.card import Choice, Guarantee, Merge, P, Param, S, X, Z, margin_rule, schedule
from noregret.rules.schedules import rate
from noregret.state.fields import reservoir, snapshot

GALLANT_1990 = "Gallant, Perceptron-based learning algorithms, IEEE Transactions on Neural Networks 1, 1990"


def pocket_final(p: P, s: S, x: X) -> float:
    """The vector in the pocket."""
    return float(snapshot_dot(s.w, x))


ratchet = unbound


def by_run(p: P, s: S, z: Z, longer: bool) -> bool:
    """The longest run goes into the pocket."""
    return longer


def by_sample(p: P, s: S, z: Z, longer: bool) -> bool:
    """The longest run goes into the pocket if w puts more of the sample right than the pocket did, or all of it."""
    remember(s.sample, p.reservoir, z)
    if not longer:
        return False
    right = count_correct(s.sample, s.w, z, s.n.moves, s.n.right)
    if right <= s.n.right and right < sample_size(s.sample):
        return False
    s.n.right = right
    return True


def whole(numbers: Mapping[str, float], choices: Mapping[str, str]) -> str | None:
    """Rows are counted."""
    size = numbers["reservoir"]
    return None if size.is_integer() else f"reservoir must be a whole number of rows, not {size:g}"


@margin_rule(
    paper=GALLANT_1990,
    params={
        "reservoir": Param(1000.0, at_least=1.0, about="how many rows the ratchet tries vectors on, drawn from all"),
        "ratchet": Choice(
            "yes", {"yes": by_sample, "no": by_run}, "whether a longer run must also put more of these rows right"
        ),
    },
    state={"w": snapshot, "sample": reservoir},
    counters={"run": 0.0, "longest": 0.0, "moves": 0.0, "right": 0.0},
    final=pocket_final,
    guarantee=Guarantee(
        "updates <= (R / gamma)^2, and once w errs no more, neither does the pocket as soon as that run is the longest",
        "every |x| <= R, and some unit vector u has y u.x >= gamma > 0 on all rounds",
        novikoff,
    ),
    merge=Merge("none", "each pocket was tried on rows of its own, and neither w goes on from the other"),
    title="PocketPerceptron",
    check=whole,
    plays=("binary", "multiclass", "regression"),  # it remembers rows, not differences of rows
)
def perceptron_pocket(p: P, s: S, z: Z, margin: float) -> bool:
    """Learn as the perceptron, predict with the vector that was right for the most rounds in a row.

    The ratchet counts how many rows of a uniform sample of all rows so far w puts right, and the pocket keeps the count
    it was taken with, which never falls. It begins at 0: a place of the sample that is not filled yet is nothing right,
    so that a vector tried on a few rows does not outdo all that are tried on many. Of two vectors that put the whole
    sample right, the longer run decides, since there are rows that the sample does not have.
    """
    missed = margin <= 0.0
    s.n.run = 0.0 if missed else s.n.run + 1.0
    if ratchet(p, s, z, s.n.run > s.n.longest):
        take_snapshot(s.w)
        s.n.longest = s.n.run
    if missed:
        add(s.w, 1.0, z)
        s.n.moves += 1.0
    return missed


def batch_bound(radius: float, margin: float, batch: float) -> float:
    """batch (R / gamma)^2 rows are added, whatever the order and the number of rounds; of 2.5, some batches have 3."""
    return math.ceil(batch) * novikoff(radius, margin)


def batch_weight(p: P, s: S, j: int) -> float:
    """The weight a batch began with; after its last round, the weight it ends with."""
    return float(at(s.w, j) if s.n.t >= s.n.last else snapshot_at(s.w, j))


@margin_rule(
    paper=DUDA_HART_1973,
    params={
        "batch": Param(16.0, at_least=1.0, about="how many rounds make one update; for one update a pass, all rows"),
        "rho": Param(1.0, above=0.0, about="the length of a step"),
        "schedule": schedule("constant"),
    },
    state={"w": snapshot},
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
        take_snapshot(s.w)
        s.n.last = math.floor(p.batch * math.ceil(s.n.t / p.batch))
    if margin <= 0.0:
        add(s.w, rate(p.rho, math.ceil(s.n.t / p.batch)), z)
        return True
    return False
