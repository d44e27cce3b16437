"""Gradient learners: a step against the slope of the loss just suffered."""

from noregret.algebra import add
from noregret.card import G, Guarantee, Merge, P, Param, S, gradient_rule, schedule
from noregret.schedules import rate
from noregret.state import plain

ZINKEVICH_2003 = "Zinkevich, Online convex programming and generalized infinitesimal gradient ascent, ICML 2003"
WIDROW_HOFF_1960 = "Widrow and Hoff, Adaptive switching circuits, IRE WESCON Convention Record 4, 1960"


def constant_rate_regret(size: float, eta0: float, squared_gradients: float) -> float:
    """|u|^2 / (2 eta) + (eta / 2) times the sum of squared gradients."""
    return size**2 / (2.0 * eta0) + 0.5 * eta0 * squared_gradients


@gradient_rule(
    paper=ZINKEVICH_2003,
    params={
        "eta0": Param(0.1, above=0.0, about="the rate of the first round"),
        "schedule": schedule("inv_sqrt"),
    },
    state={"w": plain},
    guarantee=Guarantee(
        "regret against u <= |u|^2 / (2 eta) + (eta / 2) sum of |g_t|^2",
        "a convex loss, schedule constant; any u; all weights 1",
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
    """Step against the gradient, by a rate that falls with the rounds."""
    add(s.w, -rate(p.eta0, s.n.t), g)


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
    merge=Merge("heuristic", "weights are averaged in proportion to the rounds; no bound is claimed", "mix"),
)
def adaline(p: P, s: S, g: G) -> None:
    """Step by rho times the error, on every round, right or wrong."""
    add(s.w, -0.5 * p.rho, g)  # the slope of the squared loss is twice the error
