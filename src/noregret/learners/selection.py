"""Online feature selection: at most B weights are ever in use."""

import math
from collections.abc import Mapping

from noregret.algebra import add, keep, norm, scale
from noregret.card import Guarantee, Merge, P, Param, S, Z, margin_rule
from noregret.state import kept

WANG_2014 = "Wang, Zhao, Hoi and Jin, Online feature selection and its applications, IEEE TKDE 26, 2014"
B = Param(10.0, at_least=1.0, about="how many weights stay; with many classes, of all of them together")
MIXED = Merge(
    "heuristic", "weights are averaged in proportion to the rounds; the next step keeps B of them; no bound", "mix"
)


def largest_length(lam: float) -> float:
    """1 / sqrt(lam)"""
    return 1.0 / math.sqrt(lam) if lam > 0.0 else math.inf


def shrinks(numbers: Mapping[str, float], choices: Mapping[str, str]) -> str | None:
    """What is wrong with parameters that would turn the weights around."""
    if numbers["lam"] * numbers["eta"] < 1.0:
        return None
    return f"lam * eta must be below 1, not {numbers['lam'] * numbers['eta']:g}; take a smaller lam or eta"


@margin_rule(
    paper=WANG_2014,
    params={
        "B": B,
        "eta": Param(0.2, above=0.0, about="the length of a step"),
        "lam": Param(0.01, at_least=0.0, about="how much weights shrink, and how long they may be: 1 / sqrt(lam)"),
    },
    state={"w": kept},
    guarantee=Guarantee(
        "at most B weights are not zero, and |w| <= 1 / sqrt(lam)", "after every round; lam > 0", largest_length
    ),
    merge=MIXED,
    title="OFS",
    check=shrinks,
)
def ofs(p: P, s: S, z: Z, margin: float) -> bool:
    """Shrink the weights; if the margin is short, step, stay within a ball and keep the B largest."""
    scale(s.w, 1.0 - p.lam * p.eta)
    if margin <= 1.0:
        add(s.w, p.eta, z)
        length = norm(s.w, 2.0) * math.sqrt(p.lam)
        if length > 1.0:
            scale(s.w, 1.0 / length)
        keep(s.w, p.B)
        return True
    return bool(p.lam > 0.0)


def few_features_bound(radius: float, margin: float) -> float:
    """(R / gamma)^2: with at most B features nothing is ever dropped, and this is the perceptron."""
    return (radius / margin) ** 2


@margin_rule(
    paper=WANG_2014,
    params={"B": B},
    state={"w": kept},
    guarantee=Guarantee(
        "at most B weights are not zero; updates <= (R / gamma)^2",
        "the updates: no more than B features, every |x| <= R, and some unit vector u has y u.x >= gamma > 0",
        few_features_bound,
    ),
    merge=MIXED,
    title="TruncatedPerceptron",
)
def perceptron_truncated(p: P, s: S, z: Z, margin: float) -> bool:
    """Add the example when it is not on the right side, and keep the B largest weights."""
    if margin <= 0.0:
        add(s.w, 1.0, z)
        keep(s.w, p.B)
        return True
    return False
