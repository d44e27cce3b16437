"""NORMA: online gradient descent on a loss plus an l2 penalty, in the space of a kernel or of the features.

The loss may ask for a margin rho that it adapts itself (the nu-trick), may have an offset b, and may play novelty
detection, where a row is normal if its score is at least rho.
"""

import math
from collections.abc import Mapping

from noregret.algebra import add, dot, scale, side
from noregret.algebra.verbs import unbound
from noregret.rules.decorators import margin_rule, schedule
from noregret.rules.guarantee import Guarantee, over
from noregret.rules.merge_law import Merge
from noregret.rules.parameters import Choice, Param
from noregret.rules.penalties import squared_penalty
from noregret.rules.row_size import ROW_COUNTERS
from noregret.rules.rule_card import P, S, X, Z
from noregret.rules.schedules import rate
from noregret.state.fields import scaled

KIVINEN_2004 = (
    "Kivinen, Smola and Williamson, Online learning with kernels, IEEE Transactions on Signal Processing 52, 2004"
)
ROUNDED = 1e-9
pull = turn = unbound


def soft_margin(margin: float, rho: float) -> float:
    """Minus the slope of max(0, rho - margin); where rho is 0, a margin of 0 is short of it, as in the perceptron."""
    return 1.0 if margin < rho or margin == rho == 0.0 else 0.0


def squared(margin: float, rho: float) -> float:
    """Minus the slope of (rho - margin)^2."""
    return 2.0 * (rho - margin)


def huber(margin: float, rho: float) -> float:
    """Minus the slope of half the square of max(0, rho - margin), which goes on as a straight line from 1."""
    return min(max(rho - margin, 0.0), 1.0)


def no_offset(z: Z) -> float:
    """The score has no offset."""
    return 0.0


def label_side(z: Z) -> float:
    """The offset moves to the side of the label."""
    return float(side(z))


LOSSES = {
    "hinge": soft_margin,
    "squared": squared,
    "eps_insensitive": soft_margin,
    "absolute": soft_margin,
    "huber": huber,
}
SLOPE_ONE = ("hinge", "eps_insensitive", "absolute", "huber")
ADAPTS = ("hinge", "eps_insensitive")  # losses with a margin, or a width, to adapt
PENALTY = "the strength of the l2 penalty: each round all weights lose the fraction eta lam"
RHO = Param(
    1.0,
    at_least=0.0,
    about="the margin that the loss asks for, where nu is above 0 only at first",
    untuned="only rho / eta and eta lam matter, not rho alone",
)
NU = Param(
    0.0,
    at_least=0.0,
    below=1.0,
    about="the fraction of rounds that may have a loss: rho, in regression the width eps, is adapted to it; 0 leaves "
    "them as they are",
    grid=(0.0, 0.05, 0.1, 0.2, 0.3, 0.5),
)
LOSS = Choice("hinge", LOSSES, "the loss whose gradient is followed", binds="pull")
OFFSET = Choice(
    "no",
    {"no": no_offset, "yes": label_side},
    "whether the score has an offset b, which is not penalised (tasks with one score)",
    binds="turn",
    search=("no",),
)


def turns_around(numbers: Mapping[str, float]) -> str | None:
    """A step must not turn the weights around."""
    if numbers["eta"] * numbers["lam"] > 1.0 + ROUNDED:
        return f"eta times lam must be at most 1, not {numbers['eta'] * numbers['lam']:g}; make one of them smaller"
    return None


def combine_well(numbers: Mapping[str, float], choices: Mapping[str, str]) -> str | None:
    """A step must not turn the weights around, and only a loss with a margin can adapt it."""
    if numbers["nu"] > 0.0 and choices["loss"] not in ADAPTS:
        return f"nu adapts the margin of the losses {' and '.join(ADAPTS)}; with {choices['loss']} leave nu out"
    return turns_around(numbers)


def required_margin(p: P, s: S) -> float:
    """rho: the margin, or in novelty detection the score, below which there is a loss."""
    return float(p.rho + s.n.risen)


def norma_score(p: P, s: S, x: X) -> float:
    """w.x + b"""
    return float(dot(s.w, x) + s.n.b)


def find_step(p: P, s: S, margin: float) -> float:
    """Shrink the weights by the penalty and adapt rho; the length of the step along the example."""
    eta = rate(p, p.eta, s.n.t)
    step = eta * pull(margin, required_margin(p, s))
    scale(s.w, max(1.0 - eta * p.lam, 0.0))  # an importance weight can make it negative
    if p.nu > 0.0:
        s.n.risen += eta * (p.nu - (1.0 if step > 0.0 else 0.0))
    return float(step)


def following_rate_regret(p: P, distance: float, radius: float, least_radius: float, rounds: float) -> float:
    """D^2 R^2 (1 + ln T) / 2 + 2 (R / r)^2 T, for rates of 1 / S_t and a lam of at most r^2.

    The regret is at most D^2 / 2 times the first 1 / rate and all by which it grows, plus half the sum of rate times
    |g|^2. By the inequality of the means, row t lets S grow by at most R^2 / t. As lam / S_t is at most 1, no weights
    are longer than R / lam, so that no gradient is longer than 2 R.
    """
    if p.lam > least_radius**2:
        return math.inf
    near = 0.5 * (distance * radius) ** 2 * (1.0 + math.log(rounds))
    return float(near + 2.0 * over(radius, least_radius) ** 2 * rounds)


def constant_rate_regret(p: P, radius: float, norm: float, rounds: float) -> float:
    """|u|^2 / (2 eta) + 2 eta R^2 T: no weights are longer than R / lam, so that no gradient is longer than 2 R."""
    return float(over(norm**2, 2.0 * p.eta) + 2.0 * p.eta * radius**2 * rounds)


def falling_rate_regret(p: P, radius: float, norm: float, rounds: float) -> float:
    """(|u| + R / lam)^2 sqrt(T) / (2 eta) + 2 eta R^2 (2 sqrt(T) - 1), for rates of eta / sqrt(t)."""
    root = math.sqrt(rounds)
    near = over((norm + over(radius, p.lam)) ** 2 * root, 2.0 * p.eta)
    return float(near + 2.0 * p.eta * radius**2 * (2.0 * root - 1.0))


def fastest_rate_regret(p: P, radius: float, rounds: float) -> float:
    """G^2 (1 + ln T) / (2 lam), G = 2 R, for rates of 1 / (lam t)."""
    return over(2.0 * radius**2 * (1.0 + math.log(rounds)), p.lam)


def longest_weights(p: P, radius: float) -> float:
    """R / lam"""
    return over(radius, p.lam)


def longest_weights_following(p: P, radius: float, least_radius: float) -> float:
    """R / lam, where lam is at most r^2, so that no step turns the weights around."""
    return longest_weights(p, radius) if p.lam <= least_radius**2 else math.inf


def has_penalty(p: P) -> str | None:
    return None if p.lam > 0.0 else "it is proved for a lam above 0"


def has_rate(p: P) -> str | None:
    return None if p.eta > 0.0 else "it is proved for an eta above 0"


def has_no_rate(p: P) -> str | None:
    return None if p.eta == 0.0 else "it is proved for eta = 0, which follows the rows"


def has_rate_and_penalty(p: P) -> str | None:
    return has_rate(p) or has_penalty(p)


def has_penalty_alone(p: P) -> str | None:
    return has_no_rate(p) or has_penalty(p)


def asks_for_one(p: P) -> str | None:
    return None if p.nu == 0.0 and p.rho == 1.0 else "it is proved for rho = 1 and nu = 0"


def asks_for_one_at_a_rate(p: P) -> str | None:
    return has_rate(p) or asks_for_one(p)


def asks_for_one_at_no_rate(p: P) -> str | None:
    return has_no_rate(p) or asks_for_one(p)


def asks_for_one_and_has_penalty(p: P) -> str | None:
    return has_rate_and_penalty(p) or asks_for_one(p)


def falls_as_the_penalty_asks(p: P) -> str | None:
    if abs(p.eta * p.lam - 1.0) > ROUNDED:
        return "it is proved for eta = 1 / lam"
    return asks_for_one(p)


LESS = "regret of lam |w|^2 / 2 plus the loss against u <= "
WHEN = "every 0 < |x| <= R; two classes or targets; rho = 1; nu = 0; any u; all importance weights 1"


SHORT_WEIGHTS = Guarantee(
    "norm of the weights",
    "|w| <= R / lam",
    "eta > 0; lam > 0; every |x| <= R; two classes or targets, or one class; all importance weights 1",
    longest_weights,
    options={"loss": SLOPE_ONE},
    requires=has_rate_and_penalty,
    comparator="none",
)


@margin_rule(
    paper=KIVINEN_2004,
    params={
        "eta": Param(
            0.0,
            at_least=0.0,
            about="the step size; at most 1 / lam; 0 stands for 1 / S, where S is the geometric mean of |x|^2 of the "
            "rows with a margin below 1 so far",
            search=(1e-3, 1e1, "log"),
            measured=0.1,
            earlier=1.0,
            per_size=1.0,
        ),
        "lam": Param(0.0, at_least=0.0, about=PENALTY, search=(1e-6, 1e-1, "log"), measured=1e-4, earlier=1e-4),
        "rho": RHO,
        "nu": NU,
        "schedule": schedule("constant"),
        "loss": LOSS,
        "offset": OFFSET,
    },
    state={"w": scaled},
    counters={"risen": 0.0, "b": 0.0, **ROW_COUNTERS},
    counter_laws={"risen": "keep", "b": "add"},
    weight_param="eta",
    score=norma_score,
    level=required_margin,
    penalty=squared_penalty,
    check=combine_well,
    guarantees=(
        Guarantee(
            "regularised regret",
            LESS + "|u|^2 / (2 eta) + 2 eta R^2 T",
            "eta > 0; " + WHEN,
            constant_rate_regret,
            options={"schedule": ("constant",), "loss": SLOPE_ONE, "offset": ("no",)},
            requires=asks_for_one_at_a_rate,
        ),
        Guarantee(
            "regularised regret",
            LESS + "D^2 R^2 (1 + ln T) / 2 + 2 (R / r)^2 T",
            "eta = 0; lam <= r^2; every r <= |x|; D = max |w_t - u|; " + WHEN,
            following_rate_regret,
            options={"schedule": ("constant",), "loss": SLOPE_ONE, "offset": ("no",)},
            requires=asks_for_one_at_no_rate,
        ),
        Guarantee(
            "regularised regret",
            LESS + "(|u| + R / lam)^2 sqrt(T) / (2 eta) + 2 eta R^2 (2 sqrt(T) - 1)",
            "eta > 0; lam > 0; " + WHEN,
            falling_rate_regret,
            options={"schedule": ("inv_sqrt",), "loss": SLOPE_ONE, "offset": ("no",)},
            requires=asks_for_one_and_has_penalty,
        ),
        Guarantee(
            "regularised regret",
            LESS + "G^2 (1 + ln T) / (2 lam), where G = 2 R",
            "eta = 1 / lam; " + WHEN,
            fastest_rate_regret,
            options={"schedule": ("inv_t",), "loss": SLOPE_ONE, "offset": ("no",)},
            requires=falls_as_the_penalty_asks,
        ),
        SHORT_WEIGHTS,
        Guarantee(
            "norm of the weights",
            "|w| <= R / lam",
            "eta = 0; 0 < lam <= r^2; every r <= |x| <= R; two classes or targets, or one class; all importance "
            "weights 1",
            longest_weights_following,
            options={"loss": SLOPE_ONE},
            requires=has_penalty_alone,
            comparator="none",
        ),
    ),
    merge=Merge(
        "bounded",
        "weights, rho and b are averaged in proportion to the rounds; a convex objective is no larger at their mean",
        "mix",
    ),
    title="NORMA",
)
def norma(p: P, s: S, z: Z, margin: float) -> bool:
    """Gradient descent on a loss plus an l2 penalty, with a margin of its own choice (NORMA)."""
    step = find_step(p, s, margin)
    add(s.w, step, z)
    s.n.b += step * turn(z)
    return step != 0.0
