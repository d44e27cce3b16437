"""BOGD, bounded online gradient descent: kernel learning with a budget that is kept by chance.

A support is drawn and dropped, and the coefficients of the others are raised so that the expected function stays what
it was.
"""

import math
from collections.abc import Mapping

from noregret.algebra import (
    append,
    coefficient,
    next_random,
    remove_coefficients,
    remove_support,
    scale,
    set_coefficient,
    sqnorm,
    sqsource,
    supports,
)
from noregret.algebra.partial_features import PRIME
from noregret.algebra.verbs import unbound
from noregret.learners.gradient import SLOPE_ONE
from noregret.learners.norma import turns_around
from noregret.rules.decorators import gradient_rule
from noregret.rules.guarantee import Guarantee
from noregret.rules.merge_law import Merge
from noregret.rules.parameters import Choice, Param
from noregret.rules.penalties import squared_penalty
from noregret.rules.rule_card import G, P, S
from noregret.state.fields import counts, plain

ZHAO_2012 = (
    "Zhao, Wang, Wu, Jin and Hoi, Fast bounded online gradient descent algorithms for scalable kernel-based online "
    "learning, ICML 2012"
)
LEAST = 1e-100  # that is divided by
share = unbound


def alike(s: S, i: int, total: float) -> float:
    """Every support is as likely to be dropped as any other (BOGD)."""
    return float(1.0 / supports(s.w))


def by_size(s: S, i: int, total: float) -> float:
    """The larger |alpha_i| sqrt(k(x_i, x_i)), the less likely a support is dropped (BOGD++)."""
    return float((1.0 - term_size(s, i) / max(total, LEAST)) / max(supports(s.w) - 1.0, 1.0))


def term_size(s: S, i: int) -> float:
    """The norm of a term of the expansion."""
    return float(abs(coefficient(s.w, i)) * coefficient(s.size, i))


def draw_support(s: S, total: float) -> int:
    """A random support, each with its share."""
    s.n.random = next_random(s.n.random)
    left = s.n.random / PRIME
    for i in range(supports(s.w) - 1):
        left -= share(s, i, total)
        if left < 0.0:
            return i
    return int(supports(s.w) - 1)


def drop_support(s: S, g: G) -> None:
    """Drop a random support; the coefficients of the others are divided by the probability that they stay."""
    total = 0.0
    for i in range(supports(s.w)):
        total += term_size(s, i)
    dropped = draw_support(s, total)
    for i in range(supports(s.w)):
        set_coefficient(s.w, i, coefficient(s.w, i) / max(1.0 - share(s, i, total), LEAST))
    remove_coefficients(s.size, dropped, g)
    remove_support(s.w, dropped, g)


def bound_coefficients(s: S, largest: float) -> None:
    """Scale all coefficients, so that none is above the largest allowed."""
    found = 0.0
    for i in range(supports(s.w)):
        found = max(found, abs(coefficient(s.w, i)))
    if found > largest:
        scale(s.w, largest / found)


def expected_regret(p: P, radius: float, norm: float, rounds: float) -> float:
    """|u|^2 / (2 eta) + (eta R^2 T / 2) ((1 + eta lam B)^2 + 1).

    No coefficient is above eta, so that no function is longer than eta B R, and a draw has a variance of at most
    (eta R)^2. It adds to |f - u|^2 in expectation, as the squared gradient does.
    """
    widest = 1.0 + p.eta * p.lam * math.floor(p.budget)
    return float(norm**2 / (2.0 * p.eta) + 0.5 * p.eta * radius**2 * rounds * (widest**2 + 1.0))


def keep_direction(numbers: Mapping[str, float], choices: Mapping[str, str]) -> str | None:
    return turns_around(numbers)


def forgets_enough(p: P) -> str | None:
    if p.budget < 3.0 or p.eta * p.lam * (math.floor(p.budget) - 1.0) < 1.0:
        return "it is proved for eta lam >= 1 / (B - 1) and B >= 3"
    return None if p.ceiling >= 1.0 else "it is proved for ceiling >= 1"


@gradient_rule(
    paper=ZHAO_2012,
    params={
        "budget": Param(
            500.0,
            at_least=1.0,
            about="the largest number of supports, rounded down",
            grid=(50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0),
        ),
        "eta": Param(1.0, above=0.0, about="the step size", search=(1e-3, 1e1, "log"), measured=0.1),
        "lam": Param(1e-3, at_least=0.0, about="the strength of the l2 penalty", search=(1e-6, 1e-1, "log")),
        "ceiling": Param(
            1.0,
            above=0.0,
            about="the largest coefficient after a support was dropped, in units of eta",
            grid=(1.0, 2.0, 5.0, 20.0),
        ),
        "removal": Choice(
            "size",
            {"size": by_size, "uniform": alike},
            "which support is dropped: rather one of a small term (size: BOGD++), or any (uniform: BOGD)",
            binds="share",
        ),
    },
    state={"w": plain, "size": counts},
    counters={"random": 1.0},
    penalty=squared_penalty,
    check=keep_direction,
    guarantees=(
        Guarantee(
            "expected regret",
            "expected regret of lam |w|^2 / 2 plus the loss against u <= "
            "|u|^2 / (2 eta) + (eta R^2 T / 2) ((1 + eta lam B)^2 + 1), where B = budget; never more than B supports",
            "eta lam >= 1 / (B - 1); ceiling >= 1; B >= 3; every k(x, x) <= R^2; any u that does not depend on "
            "the draws; all importance weights 1",
            expected_regret,
            options={"loss": SLOPE_ONE},
            requires=forgets_enough,
        ),
    ),
    merge=Merge("none", "two learners together have more supports than the budget"),
    title="BOGD",
    tasks=("binary", "regression"),  # those in which a support has one coefficient
)
def bogd(p: P, s: S, g: G) -> None:
    """Kernel gradient descent with a budget: a random support is dropped, and the others grow to make up for it."""
    scale(s.w, 1.0 - p.eta * p.lam)
    if sqnorm(g) > 0.0:
        full = supports(s.w) >= math.floor(p.budget)
        if full:
            drop_support(s, g)
        append(s.w, -p.eta, g)
        set_coefficient(s.size, supports(s.w) - 1, math.sqrt(sqsource(g)))
        if full:
            bound_coefficients(s, p.ceiling * p.eta)
