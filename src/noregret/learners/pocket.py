"""Perceptrons that predict with a copy of the weights: the best so far (pocket), or those at the start of a batch."""

import math
from collections.abc import Mapping

from noregret.algebra import add, at, count_correct, remember, sample_size, snapshot_at, snapshot_dot, take_snapshot
from noregret.algebra.verbs import unbound
from noregret.learners.perceptron import DUDA_HART_1973, NOISY, novikoff
from noregret.rules.decorators import margin_rule, schedule
from noregret.rules.guarantee import Guarantee
from noregret.rules.merge_law import Merge
from noregret.rules.parameters import Choice, Param
from noregret.rules.rule_card import P, S, X, Z
from noregret.rules.schedules import rate
from noregret.state.fields import reservoir, snapshot

GALLANT_1990 = "Gallant, Perceptron-based learning algorithms, IEEE Transactions on Neural Networks 1, 1990"


def pocket_final(p: P, s: S, x: X) -> float:
    """w.x with the weights in the pocket."""
    return float(snapshot_dot(s.w, x))


ratchet = unbound


def by_run(p: P, s: S, z: Z, longer: bool) -> bool:
    """The weights with the longest run of correct rounds go into the pocket."""
    return longer


def by_sample(p: P, s: S, z: Z, longer: bool) -> bool:
    """The longest run goes into the pocket if w classifies more of the sample correctly than the pocket, or all."""
    remember(s.sample, p.reservoir, z)
    if not longer:
        return False
    right = count_correct(s.sample, s.w, z, s.n.moves, s.n.right)
    if right <= s.n.right and right < sample_size(s.sample):
        return False
    s.n.right = right
    return True


def whole(numbers: Mapping[str, float], choices: Mapping[str, str]) -> str | None:
    """The size of the sample must be a whole number."""
    size = numbers["reservoir"]
    return None if size.is_integer() else f"reservoir must be a whole number of rows, not {size:g}"


@margin_rule(
    paper=GALLANT_1990,
    params={
        "reservoir": Param(
            1000.0,
            at_least=1.0,
            about="the number of rows, a uniform sample, that the ratchet compares weights on",
            grid=(100.0, 1000.0, 10000.0),
        ),
        "ratchet": Choice(
            "yes",
            {"yes": by_sample, "no": by_run},
            "whether the pocket changes only if the sample is classified better",
        ),
    },
    state={"w": snapshot, "sample": reservoir},
    counters={"run": 0.0, "longest": 0.0, "moves": 0.0, "right": 0.0},
    final=pocket_final,
    guarantees=(
        Guarantee(
            "updates",
            "updates <= (R / gamma)^2; once w makes no more mistakes, neither does the pocket when that run is the "
            "longest",
            "every |x| <= R; some unit vector u has y u.x >= gamma > 0 on all rounds",
            novikoff,
            comparator="separating",
        ),
        NOISY,
    ),
    merge=Merge("none", "each pocket was chosen on a sample of its own"),
    title="PocketPerceptron",
    check=whole,
    tasks=("binary", "multiclass", "regression"),  # it stores rows, not differences of rows
)
def perceptron_pocket(p: P, s: S, z: Z, margin: float) -> bool:
    """Train as the perceptron, predict with the weights that had the longest run of correct rounds.

    The ratchet counts how many rows of a uniform sample of all rows so far are classified correctly; the pocket keeps
    its count, which never falls. Places of the sample that are not filled yet count as wrong, so that weights compared
    on a few rows do not beat all that are compared on many. Of two vectors that classify the whole sample correctly
    the one with the longer run wins, since there are rows outside the sample.
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


def batch_bound(p: P, radius: float, margin: float) -> float:
    """(batch R^2 + 2 b / rho) / gamma^2 rows are added, whatever the order and the number of rounds."""
    return float((math.ceil(p.batch) * radius**2 + 2.0 * p.b / p.rho) / margin**2)


def batch_weight(p: P, s: S, j: int) -> float:
    """The weight at the start of the batch; after its last round, the weight at its end."""
    return float(at(s.w, j) if s.n.t >= s.n.last else snapshot_at(s.w, j))


@margin_rule(
    paper=DUDA_HART_1973,
    params={
        "batch": Param(
            16.0,
            at_least=1.0,
            about="the number of rounds in a batch; the number of rows, for one update per pass",
            grid=(1.0, 4.0, 16.0, 64.0, 256.0),
        ),
        "rho": Param(
            1.0, above=0.0, about="the step size", untuned="with a constant schedule it only rescales the weights"
        ),
        "b": Param(0.0, at_least=0.0, about="the margin below which a row is added", grid=(0.0, 0.1, 1.0, 10.0, 100.0)),
        "schedule": schedule("constant"),
    },
    state={"w": snapshot},
    counters={"last": 0.0},
    weight=batch_weight,
    weight_param="rho",
    guarantees=(
        Guarantee(
            "updates",
            "updates <= (batch R^2 + 2 b / rho) / gamma^2, where every added row counts as an update and batch is "
            "rounded up",
            "every |x| <= R; some unit vector u has y u.x >= gamma > 0 on all rounds; all importance weights 1",
            batch_bound,
            options={"schedule": ("constant",)},
            comparator="separating",
        ),
    ),
    merge=Merge("none", "a batch belongs to one learner"),
    title="BatchPerceptron",
)
def perceptron_batch(p: P, s: S, z: Z, margin: float) -> bool:
    """Perceptron with one update per batch: the sum of its examples that are misclassified or have a margin below b."""
    if s.n.t > s.n.last:
        take_snapshot(s.w)
        s.n.last = math.floor(p.batch * math.ceil(s.n.t / p.batch))
    if margin < p.b or margin <= 0.0:
        add(s.w, rate(p, p.rho, math.ceil(s.n.t / p.batch)), z)
        return True
    return False
