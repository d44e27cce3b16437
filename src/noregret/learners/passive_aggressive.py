"""Passive-aggressive learners: the smallest change of the weights that gives the example margin 1."""

from noregret.algebra import add, sqnorm
from noregret.algebra.verbs import unbound
from noregret.rules.decorators import margin_rule
from noregret.rules.guarantee import Guarantee, over
from noregret.rules.merge_law import Merge
from noregret.rules.names import Scale
from noregret.rules.parameters import Choice, Param
from noregret.rules.row_size import ROW_COUNTERS
from noregret.rules.rule_card import P, S, Z
from noregret.state.fields import plain

CRAMMER_2006 = "Crammer, Dekel, Keshet, Shalev-Shwartz and Singer, Online passive-aggressive algorithms, JMLR 7, 2006"
MIXING = Merge("heuristic", "weights are averaged in proportion to the rounds; no bound is known", "mix")
LONGEST_STEP = 1e150


def at_a_loss(margin: float) -> bool:
    return margin < 1.0


def at_a_mistake(margin: float) -> bool:
    return margin <= 0.0


GATE = Choice("loss", {"loss": at_a_loss, "mistake": at_a_mistake}, "update on any hinge loss, or only on a mistake")
C_SEARCH: tuple[float, float, Scale] = (2.0**-8, 2.0**8, "log")
gate = unbound


def pa_bound(p: P, radius: float, norm: float) -> float:
    """R^2 |u|^2"""
    return (radius * norm) ** 2


@margin_rule(
    paper=CRAMMER_2006,
    params={"gate": GATE},
    state={"w": plain},
    guarantees=(
        Guarantee(
            "squared loss",
            "sum of squared hinge losses <= R^2 |u|^2, hence also the mistakes",
            "every |x| <= R; some u has margin y u.x >= 1 on all rounds",
            pa_bound,
            options={"gate": ("loss",)},
            comparator="lossless",
        ),
        Guarantee(
            "squared loss on updates",
            "sum of squared hinge losses over the rounds with an update <= R^2 |u|^2, hence also the mistakes",
            "every |x| <= R; some u has margin y u.x >= 1 on all rounds",
            pa_bound,
            options={"gate": ("mistake",)},
            comparator="lossless",
        ),
    ),
    merge=MIXING,
    title="PassiveAggressive",
    runs_by_default=True,
)
def pa(p: P, s: S, z: Z, margin: float) -> bool:
    """Passive-aggressive: the smallest change of the weights that gives the example margin 1."""
    tau = (1.0 - margin) / sqnorm(z)
    if gate(margin) and 0.0 < tau < LONGEST_STEP:
        add(s.w, tau, z)
        return True
    return False


def has_C(p: P) -> str | None:
    return None if p.C > 0.0 else "it is proved for a C above 0"


def has_no_C(p: P) -> str | None:
    return None if p.C == 0.0 else "it is proved for C = 0, which follows the rows"


def pa1_bound(p: P, radius: float, norm: float, comparator_loss: float) -> float:
    """max(R^2, 1/C) (|u|^2 + 2 C times the hinge loss of u) mistakes."""
    return float(max(radius**2, over(1.0, p.C)) * (norm**2 + 2.0 * p.C * comparator_loss))


def pa1_following_bound(p: P, radius: float, least_radius: float, norm: float, comparator_loss: float) -> float:
    """R^2 (|u|^2 + 2 / r^2 times the hinge loss of u) mistakes.

    As in the proof for one C, the sum of tau (2 l - tau |x|^2) is at most |u|^2 plus 2 C_t times the losses of u. A
    mistake adds at least min(C_t, 1 / R^2) to it. Every C_t = 1 / S_t is between 1 / R^2 and 1 / r^2.
    """
    return float(radius**2 * (norm**2 + 2.0 * over(comparator_loss, least_radius**2)))


@margin_rule(
    paper=CRAMMER_2006,
    params={
        "C": Param(
            0.0,
            at_least=0.0,
            about="the largest step size; 0 stands for 1 / S, where S is the geometric mean of |x|^2 of the rows with "
            "a hinge loss so far",
            search=C_SEARCH,
            measured=1.0,
            earlier=1.0,
            per_size=1.0,
        ),
        "gate": GATE,
    },
    state={"w": plain},
    counters=ROW_COUNTERS,
    weight_param="C",
    guarantees=(
        Guarantee(
            "mistakes",
            "mistakes <= max(R^2, 1/C) (|u|^2 + 2 C sum of the hinge losses of u)",
            "C > 0; every |x| <= R; any u; all importance weights 1",
            pa1_bound,
            requires=has_C,
        ),
        Guarantee(
            "mistakes",
            "mistakes <= R^2 (|u|^2 + 2 / r^2 sum of the hinge losses of u)",
            "C = 0; every r <= |x| <= R; any u; all importance weights 1",
            pa1_following_bound,
            requires=has_no_C,
        ),
    ),
    merge=MIXING,
    title="PassiveAggressive",
    default_variant=True,
    runs_by_default=True,
)
def pa1(p: P, s: S, z: Z, margin: float) -> bool:
    """Passive-aggressive with the step size capped at C (PA-I)."""
    if gate(margin):
        add(s.w, min(p.C, (1.0 - margin) / sqnorm(z)), z)
        return True
    return False


def pa2_bound(p: P, radius: float, norm: float, comparator_squares: float) -> float:
    """(R^2 + 1/(2C)) (|u|^2 + 2 C times the squared hinge losses of u)."""
    return float((radius**2 + over(0.5, p.C)) * (norm**2 + 2.0 * p.C * comparator_squares))


def pa2_following_bound(p: P, radius: float, least_radius: float, norm: float, comparator_squares: float) -> float:
    """2 R^2 (|u|^2 + 1 / r^2 times the squared hinge losses of u).

    As in the proof for one C, the sum of l^2 / (|x|^2 + 1/(2 C_t)) is at most |u|^2 plus 2 C_t times the squared losses
    of u. 1/(2 C_t) = S_t is between r^2 and R^2.
    """
    return float(2.0 * radius**2 * (norm**2 + over(comparator_squares, least_radius**2)))


@margin_rule(
    paper=CRAMMER_2006,
    params={
        "C": Param(
            0.0,
            at_least=0.0,
            about="the weight of the squared loss against the change of the weights; 0 stands for 1 / (2 S), where S "
            "is the geometric mean of |x|^2 of the rows with a hinge loss so far",
            search=C_SEARCH,
            measured=1.0,
            earlier=1.0,
            per_size=0.5,
        ),
        "gate": GATE,
    },
    state={"w": plain},
    counters=ROW_COUNTERS,
    weight_param="C",
    guarantees=(
        Guarantee(
            "squared loss",
            "sum of squared hinge losses <= (R^2 + 1/(2C)) (|u|^2 + 2 C sum of the squared hinge losses of u)",
            "C > 0; every |x| <= R; any u; all importance weights 1",
            pa2_bound,
            options={"gate": ("loss",)},
            requires=has_C,
        ),
        Guarantee(
            "squared loss",
            "sum of squared hinge losses <= 2 R^2 (|u|^2 + 1 / r^2 sum of the squared hinge losses of u)",
            "C = 0; every r <= |x| <= R; any u; all importance weights 1",
            pa2_following_bound,
            options={"gate": ("loss",)},
            requires=has_no_C,
        ),
        Guarantee(
            "squared loss on updates",
            "sum of squared hinge losses over the rounds with an update <= "
            "(R^2 + 1/(2C)) (|u|^2 + 2 C sum of the squared hinge losses of u)",
            "C > 0; every |x| <= R; any u, whose losses count only on the rounds with an update; all importance "
            "weights 1",
            pa2_bound,
            options={"gate": ("mistake",)},
            requires=has_C,
        ),
        Guarantee(
            "squared loss on updates",
            "sum of squared hinge losses over the rounds with an update <= "
            "2 R^2 (|u|^2 + 1 / r^2 sum of the squared hinge losses of u)",
            "C = 0; every r <= |x| <= R; any u, whose losses count only on the rounds with an update; all importance "
            "weights 1",
            pa2_following_bound,
            options={"gate": ("mistake",)},
            requires=has_no_C,
        ),
    ),
    merge=MIXING,
    title="PassiveAggressive",
    runs_by_default=True,
)
def pa2(p: P, s: S, z: Z, margin: float) -> bool:
    """Passive-aggressive with a squared penalty of weight C for a margin below 1 (PA-II)."""
    if gate(margin):
        add(s.w, (1.0 - margin) / (sqnorm(z) + 0.5 / p.C), z)
        return True
    return False
