"""Relaxed online maximum margin: the shortest weights under one constraint for this example and one for all before."""

from noregret.algebra import add, norm, scale, sqnorm
from noregret.rules.decorators import margin_rule
from noregret.rules.guarantee import Guarantee
from noregret.rules.merge_law import NO_MERGE
from noregret.rules.rule_card import P, S, Z
from noregret.state.fields import scaled

LI_LONG_2002 = "Li and Long, The relaxed online maximum margin algorithm, Machine Learning 46, 2002"
PARALLEL = 1e-12  # below this share of |w|^2 |z|^2, what separates w and z is rounding
LONGEST_STEP = 1e150
LONGEST = (
    1e6  # of |w| times the shortest |z|; no margin is left beyond it, and the weights would grow until they overflow
)


def romma_bound(p: P, radius: float, norm: float) -> float:
    """(R |u|)^2, where u has margin 1."""
    return (radius * norm) ** 2


def relax(s: S, z: Z, margin: float) -> bool:
    """Move to the shortest w with w.z >= 1 and w.w_t >= |w_t|^2; no update where the two contradict each other.

    Where labels are noisy the constraints have no common solution, and |w| doubles again and again. Once |w| exceeds
    10^6 / |z| for the shortest z so far, the earlier constraint is given up: it starts again with this example.
    """
    size, length = norm(s.w, 2.0), sqnorm(z)
    size *= size  # a power is not rounded alike everywhere
    s.n.reach = max(s.n.reach, min(1.0 / length, LONGEST_STEP))
    apart = size * length - margin * margin
    parallel = apart <= PARALLEL * size * length
    if margin >= size * length or (parallel and margin > 0.0):
        share, step = 0.0, 1.0 / length
    elif parallel:
        return False
    elif size > LONGEST * LONGEST * s.n.reach:
        share, step = 0.0, 1.0 / length
        s.n.restarts += 1.0
    else:
        share, step = (size * length - margin) / apart, size * (1.0 - margin) / apart
    if not step < LONGEST_STEP:
        return False
    scale(s.w, share)
    add(s.w, step, z)
    return True


@margin_rule(
    paper=LI_LONG_2002,
    params={},
    state={"w": scaled},
    counters={"restarts": 0.0, "reach": 0.0},
    guarantees=(
        Guarantee(
            "updates",
            "updates <= R^2 |u|^2, and |w| never decreases nor exceeds |u|",
            "every |x| <= R; some u has margin y u.x >= 1 on all rounds, and |u| |x| <= 10^6 for some x",
            romma_bound,
            comparator="lossless",
        ),
    ),
    merge=NO_MERGE,
    title="ROMMA",
    default_variant=True,
    tasks=("binary", "multiclass", "multilabel", "ranking"),
)
def romma(p: P, s: S, z: Z, margin: float) -> bool:
    """Relaxed maximum margin: after a mistake, the shortest weights with margin 1 that keep the earlier constraint.

    It is made for separable rounds. Where labels are noisy its weights grow without limit; it starts again with the
    example of the round once |w| |x| exceeds 10^6 for every x so far, counts that, and a run warns of it.
    """
    if margin <= 0.0:
        return relax(s, z, margin)
    return False


@margin_rule(
    paper=LI_LONG_2002,
    params={},
    state={"w": scaled},
    counters={"restarts": 0.0, "reach": 0.0},
    guarantees=(
        Guarantee(
            "mistakes",
            "updates on rounds of margin 0 or less, hence the mistakes, <= R^2 |u|^2",
            "every |x| <= R; some u has margin y u.x >= 1 on all rounds, and |u| |x| <= 10^6 for some x",
            romma_bound,
            comparator="lossless",
        ),
    ),
    merge=NO_MERGE,
    title="ROMMA",
    tasks=("binary", "multiclass", "multilabel", "ranking"),
)
def romma_aggressive(p: P, s: S, z: Z, margin: float) -> bool:
    """ROMMA that updates whenever the margin is below 1; like it, it starts again where labels are noisy."""
    if margin < 1.0:
        return relax(s, z, margin)
    return False
