"""NORMA with truncation: a term of the kernel expansion is dropped when the penalty has shrunk it."""

import math

from noregret.algebra import (
    append,
    coefficient,
    oldest,
    remove_coefficients,
    remove_support,
    set_coefficient,
    supports,
)
from noregret.learners.norma import (
    KIVINEN_2004,
    LESS,
    LOSS,
    NU,
    OFFSET,
    PENALTY,
    RHO,
    SHORT_WEIGHTS,
    SLOPE_ONE,
    WHEN,
    asks_for_one_and_has_penalty,
    combine_well,
    constant_rate_regret,
    find_step,
    norma_score,
    required_margin,
    turn,
)
from noregret.rules.decorators import margin_rule, schedule
from noregret.rules.guarantee import Guarantee
from noregret.rules.merge_law import Merge
from noregret.rules.parameters import Param
from noregret.rules.penalties import squared_penalty
from noregret.rules.rule_card import P, S, Z
from noregret.state.fields import counts, plain


def truncated_regret(p: P, radius: float, norm: float, rounds: float) -> float:
    """|u|^2 / (2 eta) + 2 eta R^2 T + (5/2) (1 - eta lam)^B R^2 T / lam.

    What is dropped is at most d = (1 - eta lam)^B R / lam long at any time. So the loss and the penalty of the weights
    are above those of the weights with all terms by at most R d and (3/2) R d.
    """
    dropped = (1.0 - p.eta * p.lam) ** math.floor(p.budget) * radius / p.lam
    return float(constant_rate_regret(p, radius, norm, rounds) + 2.5 * radius * dropped * rounds)


@margin_rule(
    paper=KIVINEN_2004,
    params={
        "eta": Param(1.0, above=0.0, about="the step size; at most 1 / lam", search=(1e-3, 1e1, "log"), measured=0.1),
        "lam": Param(1e-4, at_least=0.0, about=PENALTY, search=(1e-6, 1e-1, "log")),
        "rho": RHO,
        "nu": NU,
        "budget": Param(
            1000.0,
            at_least=1.0,
            about="after how many rounds a term is dropped, rounded down; so there are never more supports",
            grid=(100.0, 300.0, 1000.0, 3000.0, 10000.0),
        ),
        "schedule": schedule("constant"),
        "loss": LOSS,
        "offset": OFFSET,
    },
    state={"w": plain, "u": counts},
    counters={"risen": 0.0, "b": 0.0},
    counter_laws={"risen": "keep", "b": "add"},
    weight_param="eta",
    score=norma_score,
    level=required_margin,
    penalty=squared_penalty,
    check=combine_well,
    guarantees=(
        Guarantee(
            "regularised regret",
            LESS + "|u|^2 / (2 eta) + 2 eta R^2 T + (5/2) (1 - eta lam)^B R^2 T / lam, where B = budget; "
            "a term that is dropped has a coefficient of at most eta (1 - eta lam)^B",
            "lam > 0; " + WHEN,
            truncated_regret,
            options={"schedule": ("constant",), "loss": SLOPE_ONE, "offset": ("no",)},
            requires=asks_for_one_and_has_penalty,
        ),
        SHORT_WEIGHTS,
    ),
    merge=Merge("none", "the ages of the terms are counted in the rounds of one run"),
    title="TruncatedNORMA",
    tasks=("binary", "regression", "one-class"),  # those in which a support has one coefficient
)
def norma_truncated(p: P, s: S, z: Z, margin: float) -> bool:
    """NORMA that drops a term of its kernel expansion after a number of rounds, when the penalty has shrunk it."""
    step = find_step(p, s, margin)
    if step != 0.0:
        append(s.w, step, z)
        set_coefficient(s.u, supports(s.w) - 1, s.n.t)
        s.n.b += step * turn(z)
    while supports(s.w) > 0 and s.n.t - coefficient(s.u, oldest(s.w)) >= math.floor(p.budget):
        i = oldest(s.w)
        remove_coefficients(s.u, i, z)
        remove_support(s.w, i, z)
    return step != 0.0
