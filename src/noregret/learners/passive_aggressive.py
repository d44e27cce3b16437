"""Passive-aggressive learners: the smallest change of the weights that gives the example margin 1."""

from noregret.algebra import add, sqnorm
from noregret.algebra.verbs import unbound
from noregret.rules.decorators import margin_rule
from noregret.rules.guarantee import Guarantee
from noregret.rules.merge_law import Merge
from noregret.rules.names import Scale
from noregret.rules.parameters import Choice, Param
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


def pa1_bound(p: P, radius: float, norm: float, comparator_loss: float) -> float:
    """max(R^2, 1/C) (|u|^2 + 2 C times the hinge loss of u) mistakes."""
    return float(max(radius**2, 1.0 / p.C) * (norm**2 + 2.0 * p.C * comparator_loss))


@margin_rule(
    paper=CRAMMER_2006,
    params={"C": Param(1.0, above=0.0, about="the largest step size", search=C_SEARCH), "gate": GATE},
    state={"w": plain},
    weight_param="C",
    guarantees=(
        Guarantee(
            "mistakes",
            "mistakes <= max(R^2, 1/C) (|u|^2 + 2 C sum of the hinge losses of u)",
            "every |x| <= R; any u; all importance weights 1",
            pa1_bound,
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
    return float((radius**2 + 0.5 / p.C) * (norm**2 + 2.0 * p.C * comparator_squares))


@margin_rule(
    paper=CRAMMER_2006,
    params={
        "C": Param(
            1.0, above=0.0, about="the weight of the squared loss against the change of the weights", search=C_SEARCH
        ),
        "gate": GATE,
    },
    state={"w": plain},
    weight_param="C",
    guarantees=(
        Guarantee(
            "squared loss",
            "sum of squared hinge losses <= (R^2 + 1/(2C)) (|u|^2 + 2 C sum of the squared hinge losses of u)",
            "every |x| <= R; any u; all importance weights 1",
            pa2_bound,
            options={"gate": ("loss",)},
        ),
        Guarantee(
            "squared loss on updates",
            "sum of squared hinge losses over the rounds with an update <= "
            "(R^2 + 1/(2C)) (|u|^2 + 2 C sum of the squared hinge losses of u)",
            "every |x| <= R; any u, whose losses count only on the rounds with an update; all importance weights 1",
            pa2_bound,
            options={"gate": ("mistake",)},
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
