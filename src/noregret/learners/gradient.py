"""Gradient descent: a step against the gradient of the loss of each round."""

import math
from collections.abc import Mapping

from noregret.algebra import add, apportion, breadth, clip, contract, extent, norm, scale, sqnorm, sqsource
from noregret.algebra.verbs import unbound
from noregret.rules.decorators import gradient_rule, schedule
from noregret.rules.guarantee import Guarantee, over
from noregret.rules.merge_law import Merge
from noregret.rules.own_functions import Own
from noregret.rules.parameters import Choice, Param
from noregret.rules.row_size import LEAST, ROW_COUNTERS, count_row, goes_on_by_largest_mean
from noregret.rules.rule_card import G, P, S
from noregret.rules.schedules import rate
from noregret.state.fields import plain, scaled

ZINKEVICH_2003 = "Zinkevich, Online convex programming and generalized infinitesimal gradient ascent, ICML 2003"
NAGUMO_NODA_1967 = (
    "Nagumo and Noda, A learning method for system identification, IEEE Transactions on Automatic Control 12, 1967"
)
WIDROW_HOFF_1960 = "Widrow and Hoff, Adaptive switching circuits, IRE WESCON Convention Record 4, 1960"

MIXING = Merge("heuristic", "weights are averaged in proportion to the rounds; no bound is known", "mix")
FIRST_RATE, LARGEST_RATE = 32.0, 2.0  # over the size of the rows
ETA0 = Param(
    0.0,
    at_least=0.0,
    about="the learning rate of the first round; 0 stands for one that follows the rows: 32 / S by the schedule, but "
    "at most 2 / S, where S is the geometric mean of |x|^2 so far",
    search=(1e-3, 1e2, "log"),
    measured=0.1,
)
onto = unbound


def everywhere(p: P, s: S, g: G) -> None:
    """No constraint."""


def ball(p: P, s: S, g: G) -> None:
    """Project onto the Euclidean ball."""
    size = norm(s.w, 2.0)
    if sqnorm(g) > 0.0 and size > p.radius:
        scale(s.w, p.radius / size)


def box(p: P, s: S, g: G) -> None:
    """Clip the weights that have moved; no other can have left the box."""
    clip(s.w, -p.radius, p.radius, g)


def orthant(p: P, s: S, g: G) -> None:
    """Clip the weights that have moved; those that a third class made negative wait for their next step."""
    clip(s.w, 0.0, math.inf, g)


def l1(p: P, s: S, g: G) -> None:
    """Project onto the l1 ball (Duchi et al. 2008)."""
    if sqnorm(g) > 0.0:
        contract(s.w, p.radius, g)


def simplex(p: P, s: S, g: G) -> None:
    """Project onto the simplex of all features up to the highest that had a gradient; new ones start at zero.

    The start, zero, is not on the simplex: the first step brings the weights there. The bounds still hold, since a
    projection brings any point closer to every point of the set.
    """
    if sqnorm(g) > 0.0:
        s.n.features = max(s.n.features, extent(g))
        s.n.classes = max(s.n.classes, breadth(g))
        apportion(s.w, p.radius, g, s.n.features, s.n.classes)


def set_limits(numbers: Mapping[str, float], choices: Mapping[str, str]) -> tuple[float, float] | None:
    """The smallest and largest weight of a set that limits each weight by itself."""
    radius = numbers["radius"]
    return {"box": (-radius, radius), "orthant": (0.0, math.inf)}.get(choices["onto"])


SETS = {"everywhere": everywhere, "ball": ball, "box": box, "orthant": orthant, "l1": l1, "simplex": simplex}


def constant_rate_regret(p: P, norm: float, squared_gradients: float) -> float:
    """|u|^2 / (2 eta0) + (eta0 / 2) times the sum of squared gradients."""
    return float(over(norm**2, 2.0 * p.eta0) + 0.5 * p.eta0 * squared_gradients)


def falling_rate_regret(p: P, distance: float, largest_gradient: float, rounds: float) -> float:
    """D^2 sqrt(T) / (2 eta0) + eta0 G^2 (sqrt(T) - 1/2), for rates of eta0 / sqrt(t)."""
    root = math.sqrt(rounds)
    return float(over(distance**2 * root, 2.0 * p.eta0) + p.eta0 * largest_gradient**2 * (root - 0.5))


def power_regret(p: P, distance: float, largest_gradient: float, rounds: float) -> float:
    """D^2 T^a / (2 eta0) + (eta0 G^2 / 2) (1 + (T^(1 - a) - 1) / (1 - a)), or 1 + ln T where a = 1."""
    rest = 1.0 - p.power
    total = 1.0 + (math.expm1(rest * math.log(rounds)) / rest if rest > 0.0 else math.log(rounds))
    return float(over(distance**2 * rounds**p.power, 2.0 * p.eta0) + 0.5 * p.eta0 * largest_gradient**2 * total)


def decay_regret(p: P, distance: float, largest_gradient: float, rounds: float) -> float:
    """D^2 (1 + c eta0 T) / (2 eta0) + G^2 ln(1 + c eta0 T) / (2 c), where c is the decay."""
    fall = p.decay * p.eta0 * rounds
    return float(
        over(distance**2 * (1.0 + fall), 2.0 * p.eta0) + largest_gradient**2 * math.log1p(fall) / (2.0 * p.decay)
    )


def ball_regret(p: P, norm: float, largest_gradient: float, rounds: float) -> float:
    """The same on a set within the ball of the radius, where D is at most the radius plus |u|."""
    return falling_rate_regret(p, p.radius + norm, largest_gradient, rounds)


def box_regret(p: P, norm: float, features: float, largest_gradient: float, rounds: float) -> float:
    """The same in the box, where D is at most radius sqrt(n) plus |u|."""
    return falling_rate_regret(p, p.radius * math.sqrt(features) + norm, largest_gradient, rounds)


def following_regret(p: P, distance: float, radius: float, least_radius: float, rounds: float) -> float:
    """(D R)^2 (1 + ln T + 3 sqrt(T) / 16) / 4 + 32 (R / r)^2 sqrt(T), for rates of min(2, 32 / sqrt(t)) / S_t.

    The regret is at most D^2 / 2 times the first 1 / rate and all by which it grows, plus half the sum of rate times
    |g|^2. By the inequality of the means, row t lets S grow by at most R^2 / t. So the first 1 / rate, which is
    S_t max(1/2, sqrt(t) / 32), and all by which it grows are at most R^2 (max(1/2, sqrt(T) / 32) + ln(T) / 2 +
    sqrt(T) / 16). No |g_t|^2 exceeds R^2, and no S_t is below r^2.
    """
    root = math.sqrt(rounds)
    near = 0.25 * (distance * radius) ** 2 * (1.0 + math.log(rounds) + 0.1875 * root)
    return near + FIRST_RATE * (radius / least_radius) ** 2 * root


def has_no_first_rate(p: P) -> str | None:
    return None if p.eta0 == 0.0 else "it is proved for eta0 = 0, which follows the rows"


def has_first_rate(p: P) -> str | None:
    return None if p.eta0 > 0.0 else "it is proved for an eta0 above 0"


def fitting_rate(p: P, s: S, g: G, steps: float = 0.0) -> float:
    """The rate of the schedule or, where eta0 is 0, one that follows the rows.

    A step of 1 / |x|^2 moves the margin of its row by the slope of the loss. Models of earlier versions go on with that
    as the largest rate.
    """
    if p.eta0 > 0.0:
        return float(rate(p, p.eta0, s.n.t, steps))
    size = count_row(s, sqsource(g))
    if size <= LEAST:  # no row had a value yet: there is nothing to step along
        return 0.0
    most = 1.0 if goes_on_by_largest_mean(s) else LARGEST_RATE
    return float(min(most / size, rate(p, FIRST_RATE / size, s.n.t, steps)))


SLOPE_ONE = ("hinge", "logistic", "softmax", "perceptron", "eps_insensitive", "absolute", "huber")
FOLLOWING = "(D R)^2 (1 + ln T + 3 sqrt(T) / 16) / 4 + 32 (R / r)^2 sqrt(T)"
FALLING = "regret against u <= D^2 sqrt(T) / (2 eta0) + eta0 G^2 (sqrt(T) - 1/2)"


@gradient_rule(
    paper=ZINKEVICH_2003,
    params={
        "eta0": ETA0,
        "schedule": schedule("inv_sqrt", steps=True),
        "onto": Choice(
            "everywhere",
            SETS,
            "the set the weights are projected onto; l1 and simplex visit all weights at each step",
            search=("everywhere", "ball", "l1"),
            own=Own(("p", "s", "g")),
        ),
        "radius": Param(
            1.0,
            above=0.0,
            about="the size of that set: the largest norm, |weight|, or sum of |weights|",
            search=(1e-2, 1e3, "log"),
        ),
    },
    state={"w": scaled},
    counters={"steps": 0.0, "features": 0.0, "classes": 0.0, **ROW_COUNTERS},
    start_within=set_limits,
    guarantees=(
        Guarantee(
            "regret",
            "regret against u <= |u|^2 / (2 eta0) + (eta0 / 2) sum of |g_t|^2",
            "eta0 > 0; a convex loss; any u of the set; all importance weights 1",
            constant_rate_regret,
            options={"schedule": ("constant",)},
            requires=has_first_rate,
            comparator="in set",
        ),
        Guarantee(
            "regret",
            FALLING,
            "eta0 > 0; a convex loss with every |g_t| <= G; any u of the set; D = radius + |u|; all importance "
            "weights 1",
            ball_regret,
            options={"schedule": ("inv_sqrt",), "onto": ("ball", "l1", "simplex")},
            requires=has_first_rate,
            comparator="in set",
        ),
        Guarantee(
            "regret",
            FALLING,
            "eta0 > 0; a convex loss with every |g_t| <= G; any u of the box; D = radius sqrt(n) + |u|, n features; "
            "all importance weights 1",
            box_regret,
            options={"schedule": ("inv_sqrt",), "onto": ("box",)},
            requires=has_first_rate,
            comparator="in set",
        ),
        Guarantee(
            "regret",
            FALLING,
            "eta0 > 0; a convex loss with every |g_t| <= G; any u of the set; D = max |w_t - u|; all importance "
            "weights 1",
            falling_rate_regret,
            options={"schedule": ("inv_sqrt",)},
            requires=has_first_rate,
            comparator="in set",
        ),
        Guarantee(
            "regret",
            "regret against u <= D^2 T^a / (2 eta0) + (eta0 G^2 / 2) (1 + (T^(1 - a) - 1) / (1 - a)), a = power",
            "eta0 > 0; a convex loss with every |g_t| <= G; any u of the set; D = max |w_t - u|; all importance "
            "weights 1",
            power_regret,
            options={"schedule": ("power",)},
            requires=has_first_rate,
            comparator="in set",
        ),
        Guarantee(
            "regret",
            "regret against u <= D^2 (1 + c eta0 T) / (2 eta0) + G^2 ln(1 + c eta0 T) / (2 c), c = decay",
            "eta0 > 0; a convex loss with every |g_t| <= G; any u of the set; D = max |w_t - u|; all importance "
            "weights 1",
            decay_regret,
            options={"schedule": ("bottou",)},
            requires=has_first_rate,
            comparator="in set",
        ),
        Guarantee(
            "regret",
            f"regret against u <= {FOLLOWING}",
            "eta0 = 0; every r <= |z_t| <= R, where z_t is the signed example; any u of the set; D = max |w_t - u|; "
            "all importance weights 1",
            following_regret,
            options={"schedule": ("inv_sqrt",), "loss": SLOPE_ONE},
            requires=has_no_first_rate,
            comparator="in set",
        ),
    ),
    merge=Merge(
        "bounded",
        "weights are averaged in proportion to the rounds; convex losses keep their mean regret",
        "mix",
    ),
    title="OGD",
    runs_by_default=True,
)
def ogd(p: P, s: S, g: G) -> None:
    """Online gradient descent: a step at a falling learning rate, then projection onto the allowed set."""
    if sqnorm(g) > 0.0:
        s.n.steps += 1.0
    add(s.w, -fitting_rate(p, s, g, s.n.steps), g)
    onto(p, s, g)


def squared_error_bound(rate: float, share: float, norm: float, errors: float) -> float:
    """((sqrt(E) + sqrt(E + c |u|^2 / rate)) / c)^2, c = 2 - share, where E are the squared errors of u.

    A step changes |w - u|^2 by at most -rate e^2 (c - a) + rate e_u^2 / a for every a > 0, where e and e_u are the
    errors of w and u; summed, and with the best a, that is the bound.
    """
    c = 2.0 - share
    if c <= 0.0 or rate <= 0.0:
        return math.inf
    return ((math.sqrt(errors) + math.sqrt(errors + c * norm**2 / rate)) / c) ** 2


def adaline_bound(p: P, radius: float, norm: float, comparator_squared_errors: float) -> float:
    """((sqrt(E) + sqrt(E + c |u|^2 / rho)) / c)^2, c = 2 - rho R^2; at most 2 E + 2 R^2 |u|^2 if rho = 1 / (2 R^2)."""
    return squared_error_bound(p.rho, p.rho * radius**2, norm, comparator_squared_errors)


def adaline_free_bound(p: P, radius: float, distance: float, comparator_squared_errors: float) -> float:
    """The same for rates of 1 / R_t^2, which never grow: c = 1, and D = max |w_t - u| stands for |u|."""
    return squared_error_bound(1.0 / radius**2, 1.0, distance, comparator_squared_errors)


def has_rate(p: P) -> str | None:
    return None if p.rho > 0.0 else "it is proved for a rho above 0"


def has_no_rate(p: P) -> str | None:
    return None if p.rho == 0.0 else "it is proved for rho = 0, which follows the rows"


def safe_rate(rho: float, rows: float, s: S, g: G) -> float:
    """rho or, where it is 0, 1 / (rows R^2) with the largest |x| = R so far: so many rows cannot overshoot."""
    s.n.largest = max(s.n.largest, sqsource(g))
    return rho if rho > 0.0 else 1.0 / max(rows * s.n.largest, LEAST)


@gradient_rule(
    paper=WIDROW_HOFF_1960,
    params={
        "rho": Param(
            0.0,
            at_least=0.0,
            about="the learning rate; 0 stands for 1 / R^2, where R is the largest norm of a row so far",
            grid=(0.0, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0),
            measured=0.01,
        )
    },
    state={"w": plain},
    counters={"largest": 0.0},
    loss="squared",
    guarantees=(
        Guarantee(
            "squared errors",
            "E = sum of (y - w.x)^2 <= ((sqrt(E_u) + sqrt(E_u + c |u|^2 / rho)) / c)^2, c = 2 - rho R^2; "
            "for rho = 1 / (2 R^2) that is at most 2 E_u + 2 R^2 |u|^2",
            "rho > 0; two classes or targets; every |x| <= R and rho R^2 < 2; any u, with squared errors E_u; all "
            "importance weights 1",
            adaline_bound,
            options={"loss": ("squared",)},
            requires=has_rate,
        ),
        Guarantee(
            "squared errors",
            "E = sum of (y - w.x)^2 <= (sqrt(E_u) + sqrt(E_u + R^2 D^2))^2",
            "rho = 0; two classes or targets; every |x| <= R; any u, with squared errors E_u; D = max |w_t - u|; all "
            "importance weights 1",
            adaline_free_bound,
            options={"loss": ("squared",)},
            requires=has_no_rate,
        ),
    ),
    merge=MIXING,
)
def adaline(p: P, s: S, g: G) -> None:
    """Adaline (least mean squares): a step of rho times the error on every round."""
    add(s.w, -0.5 * safe_rate(p.rho, 1.0, s, g), g)  # the slope of the squared loss is twice the error


def normalised_bound(p: P, norm: float, comparator_normalised_errors: float) -> float:
    """((sqrt(E) + sqrt(E + c |u|^2 / rho)) / c)^2, c = 2 - rho, with errors over sqrt(delta + |x|^2)."""
    return squared_error_bound(p.rho, p.rho, norm, comparator_normalised_errors)


@gradient_rule(
    paper=NAGUMO_NODA_1967,
    params={
        "rho": Param(
            0.35,
            above=0.0,
            below=2.0,
            about="the fraction of the error that a step removes",
            search=(0.05, 1.9, "linear"),
            measured=0.5,
            earlier=0.5,
        ),
        "delta": Param(
            1e-6,
            above=0.0,
            about="added to the squared norm of the row",
            untuned="it only prevents a division by almost zero",
        ),
    },
    weight_param="",  # a fraction of 2 or more would diverge
    state={"w": plain},
    loss="squared",
    guarantees=(
        Guarantee(
            "normalised squared errors",
            "N = sum of (y - w.x)^2 / (delta + |x|^2) <= ((sqrt(N_u) + sqrt(N_u + c |u|^2 / rho)) / c)^2, c = 2 - rho",
            "two classes or targets; any u, where N_u is the same sum for u; all importance weights 1",
            normalised_bound,
            options={"loss": ("squared",)},
        ),
    ),
    merge=MIXING,
    title="NormalisedAdaline",
)
def adaline_normalised(p: P, s: S, g: G) -> None:
    """Normalised least mean squares: a step removes the fraction rho of the error, whatever the norm of the row."""
    add(s.w, -0.5 * p.rho / (p.delta + sqsource(g)), g)
