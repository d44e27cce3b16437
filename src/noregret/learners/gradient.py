"""Gradient learners: a step against the slope of the loss just suffered."""

import math

from noregret.algebra import add, apportion, breadth, clip, contract, extent, norm, scale, sqnorm, sqsource
from noregret.algebra.verbs import unbound
from noregret.rules.card import Choice, G, Guarantee, Merge, P, Param, S, gradient_rule, schedule
from noregret.rules.schedules import rate
from noregret.state.fields import plain, scaled

ZINKEVICH_2003 = "Zinkevich, Online convex programming and generalized infinitesimal gradient ascent, ICML 2003"
NAGUMO_NODA_1967 = (
    "Nagumo and Noda, A learning method for system identification, IEEE Transactions on Automatic Control 12, 1967"
)
WIDROW_HOFF_1960 = "Widrow and Hoff, Adaptive switching circuits, IRE WESCON Convention Record 4, 1960"

MIXING = Merge("heuristic", "weights are averaged in proportion to the rounds; no bound is claimed", "mix")
onto = unbound


def everywhere(p: P, s: S, g: G) -> None:
    """The weights may be any."""


def ball(p: P, s: S, g: G) -> None:
    """Weights longer than the radius become so long."""
    size = norm(s.w, 2.0)
    if sqnorm(g) > 0.0 and size > p.radius:
        scale(s.w, p.radius / size)


def box(p: P, s: S, g: G) -> None:
    """Only the weights that moved can have left."""
    clip(s.w, -p.radius, p.radius, g)


def orthant(p: P, s: S, g: G) -> None:
    """Only the weights that moved can have become negative; those a third class splits wait for their next step."""
    clip(s.w, 0.0, math.inf, g)


def l1(p: P, s: S, g: G) -> None:
    """All weights give the same amount (Duchi et al. 2008)."""
    if sqnorm(g) > 0.0:
        contract(s.w, p.radius, g)


def simplex(p: P, s: S, g: G) -> None:
    """Over all features up to the highest that had a gradient; one that comes later comes with nothing.

    Zero, the start, is not on it: the first step brings the weights there. The bounds need no more than that, since a
    projection brings any point nearer to all of the set.
    """
    if sqnorm(g) > 0.0:
        s.n.features = max(s.n.features, extent(g))
        s.n.classes = max(s.n.classes, breadth(g))
        apportion(s.w, p.radius, g, s.n.features, s.n.classes)


SETS = {"everywhere": everywhere, "ball": ball, "box": box, "orthant": orthant, "l1": l1, "simplex": simplex}


def projected_regret(diameter: float, largest_gradient: float, rounds: float) -> float:
    """1.5 G D sqrt(T), for rates of D / (G sqrt(t)) on a set that, with zero, has the diameter D."""
    return 1.5 * largest_gradient * diameter * math.sqrt(rounds)


def constant_rate_regret(size: float, eta0: float, squared_gradients: float) -> float:
    """|u|^2 / (2 eta) + (eta / 2) times the sum of squared gradients."""
    return size**2 / (2.0 * eta0) + 0.5 * eta0 * squared_gradients


@gradient_rule(
    paper=ZINKEVICH_2003,
    params={
        "eta0": Param(0.1, above=0.0, about="the rate of the first round"),
        "schedule": schedule("inv_sqrt", steps=True),
        "onto": Choice(
            "everywhere",
            SETS,
            "the set the weights are brought back to; l1 and simplex look at all weights at each step",
        ),
        "radius": Param(1.0, above=0.0, about="the size of that set: a length, the largest weight, or the sum of all"),
    },
    state={"w": scaled},
    counters={"steps": 0.0, "features": 0.0, "classes": 0.0},
    guarantee=Guarantee(
        "regret against u <= |u|^2 / (2 eta) + (eta / 2) sum of |g_t|^2",
        "a convex loss, schedule constant; any u of the set; all weights 1",
        constant_rate_regret,
    ),
    merge=Merge(
        "bounded",
        "weights are averaged in proportion to the rounds; convex losses keep their mean regret",
        "mix",
    ),
    title="OGD",
    shown=True,
)
def ogd(p: P, s: S, g: G) -> None:
    """Step against the gradient, by a rate that falls with the rounds, and back into the set of allowed weights."""
    if sqnorm(g) > 0.0:
        s.n.steps += 1.0
    add(s.w, -rate(p.eta0, s.n.t, s.n.steps), g)
    onto(p, s, g)


def adaline_bound(radius: float, size: float, comparator_squares: float) -> float:
    """2 times the squared errors of u, plus 2 R^2 |u|^2."""
    return 2.0 * comparator_squares + 2.0 * (radius * size) ** 2


@gradient_rule(
    paper=WIDROW_HOFF_1960,
    params={"rho": Param(0.01, above=0.0, about="the share of the error that a row of length 1 takes away")},
    state={"w": plain},
    loss="squared",
    guarantee=Guarantee(
        "the sum of (y - w.x)^2 <= 2 sum of (y - u.x)^2 + 2 R^2 |u|^2",
        "the squared loss, every |x| <= R, rho = 1 / (2 R^2); any u; all weights 1",
        adaline_bound,
    ),
    merge=MIXING,
)
def adaline(p: P, s: S, g: G) -> None:
    """Step by rho times the error, on every round, right or wrong."""
    add(s.w, -0.5 * p.rho, g)  # the slope of the squared loss is twice the error


def normalised_bound(size: float, rho: float, comparator_squares: float) -> float:
    """2 / (2 - rho) (|u|^2 / rho + 2 / (2 - rho) times the squared errors of u, each over delta + |x|^2)."""
    share = 2.0 / (2.0 - rho)
    return share * (size**2 / rho + share * comparator_squares)


@gradient_rule(
    paper=NAGUMO_NODA_1967,
    params={
        "rho": Param(0.5, above=0.0, below=2.0, about="the share of the error that a round takes away"),
        "delta": Param(1e-6, above=0.0, about="what is added to the squared length of a row, against very short ones"),
    },
    weigh="",  # a share of the error of 2 or more would not settle
    state={"w": plain},
    loss="squared",
    guarantee=Guarantee(
        "the sum of (y - w.x)^2 / (delta + |x|^2) <= 2 / (2 - rho) (|u|^2 / rho + 2 / (2 - rho) times that of u)",
        "the squared loss, two classes or targets; any u; all weights 1",
        normalised_bound,
    ),
    merge=MIXING,
    title="NormalisedAdaline",
)
def adaline_normalised(p: P, s: S, g: G) -> None:
    """Take the share rho of the error away, however long the row is."""
    add(s.w, -0.5 * p.rho / (p.delta + sqsource(g)), g)
