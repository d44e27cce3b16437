"""Passive-aggressive learners: the smallest change of the weights that gives this round a margin of one."""

from noregret.algebra import add, sqnorm
from noregret.algebra.verbs import unbound
from noregret.rules.card import Choice, Guarantee, Merge, P, Param, S, Z, margin_rule
from noregret.state.fields import plain

CRAMMER_2006 = "Crammer, Dekel, Keshet, Shalev-Shwartz and Singer, Online passive-aggressive algorithms, JMLR 7, 2006"
MIXING = Merge("heuristic", "weights are averaged in proportion to the rounds; no bound is claimed", "mix")
LONGEST_STEP = 1e150


def at_a_loss(margin: float) -> bool:
    return margin < 1.0


def at_a_mistake(margin: float) -> bool:
    return margin <= 0.0


GATE = Choice("loss", {"loss": at_a_loss, "mistake": at_a_mistake}, "whether any loss or only a mistake moves it")
gate = unbound


def pa_bound(radius: float, size: float) -> float:
    """The sum of squared losses is at most R^2 |u|^2."""
    return (radius * size) ** 2


@margin_rule(
    paper=CRAMMER_2006,
    params={"gate": GATE},
    state={"w": plain},
    guarantee=Guarantee(
        "the sum of squared hinge losses <= R^2 |u|^2, hence also the mistakes",
        "every |x| <= R, and some u has margin y u.x >= 1 on all rounds; gated by mistakes, over the rounds that moved",
        pa_bound,
    ),
    merge=MIXING,
    title="PassiveAggressive",
    shown=True,
)
def pa(p: P, s: S, z: Z, margin: float) -> bool:
    """Reach margin 1, however far that is."""
    tau = (1.0 - margin) / sqnorm(z)
    if gate(margin) and 0.0 < tau < LONGEST_STEP:
        add(s.w, tau, z)
        return True
    return False


def pa1_bound(radius: float, size: float, comparator_loss: float, C: float) -> float:
    """max(R^2, 1/C) (|u|^2 + 2 C times the hinge loss of u) mistakes."""
    return max(radius**2, 1.0 / C) * (size**2 + 2.0 * C * comparator_loss)


@margin_rule(
    paper=CRAMMER_2006,
    params={"C": Param(1.0, above=0.0, about="the largest step taken on one round"), "gate": GATE},
    state={"w": plain},
    weigh="C",
    guarantee=Guarantee(
        "mistakes <= max(R^2, 1/C) (|u|^2 + 2 C sum of the hinge losses of u)",
        "every |x| <= R; any u; all weights 1",
        pa1_bound,
    ),
    merge=MIXING,
    title="PassiveAggressive",
    leads=True,
    shown=True,
)
def pa1(p: P, s: S, z: Z, margin: float) -> bool:
    """Reach margin 1, but never step further than C."""
    if gate(margin):
        add(s.w, min(p.C, (1.0 - margin) / sqnorm(z)), z)
        return True
    return False


def pa2_bound(radius: float, size: float, comparator_squares: float, C: float) -> float:
    """(R^2 + 1/(2C)) (|u|^2 + 2 C times the squared hinge losses of u)."""
    return (radius**2 + 0.5 / C) * (size**2 + 2.0 * C * comparator_squares)


@margin_rule(
    paper=CRAMMER_2006,
    params={
        "C": Param(1.0, above=0.0, about="how much a squared loss costs beside a change of the weights"),
        "gate": GATE,
    },
    state={"w": plain},
    weigh="C",
    guarantee=Guarantee(
        "the sum of squared hinge losses <= (R^2 + 1/(2C)) (|u|^2 + 2 C sum of the squared hinge losses of u)",
        "every |x| <= R; any u; all weights 1; gated by mistakes, both sums over the rounds that moved",
        pa2_bound,
    ),
    merge=MIXING,
    title="PassiveAggressive",
    shown=True,
)
def pa2(p: P, s: S, z: Z, margin: float) -> bool:
    """Step toward margin 1, the shorter the smaller C."""
    if gate(margin):
        add(s.w, (1.0 - margin) / (sqnorm(z) + 0.5 / p.C), z)
        return True
    return False
