"""Ultraconservative learners of many classes: a round moves the right class and those that scored too well, no other.

Each writes into `steps` how far every class moves along the row; the steps of a round sum to zero.
"""

import math
from collections.abc import Mapping
from typing import Any

from noregret.algebra.verbs import unbound
from noregret.rules.card import Choice, Guarantee, Merge, P, Param, S, prototype_rule
from noregret.state.fields import plain, random_init

CRAMMER_SINGER_2003 = "Crammer and Singer, Ultraconservative online algorithms for multiclass problems, JMLR 3, 2003"
CRAMMER_2006 = "Crammer, Dekel, Keshet, Shalev-Shwartz and Singer, Online passive-aggressive algorithms, JMLR 7, 2006"
MIXING = Merge("heuristic", "weights are averaged in proportion to the rounds (parameter mixing)", "mix")


def level(values: Any, first: float, owed: float, more: float) -> float:
    """The level L with sum of (v - L) over all v above it = owed + more L; `first` is a level that is not above it.

    Values that fall below a level are left out, and the level of the rest is higher: at most as many turns as values.
    """
    found, above = first, values.size + 1
    while True:
        count, total = 0, 0.0
        for c in range(values.size):
            if values[c] > found:
                total += values[c]
                count += 1
        if count in (0, above):
            return found
        above = count
        found = max(found, (total - owed) / (count + more))


# ---- the perceptron --------------------------------------------------------------------------------------------------


def all_on_one(scores: Any, truth: int, c: int, best: int, errors: float, excess: float) -> float:
    return 1.0 if c == best else 0.0


def uniformly(scores: Any, truth: int, c: int, best: int, errors: float, excess: float) -> float:
    return 1.0 / errors


def in_proportion(scores: Any, truth: int, c: int, best: int, errors: float, excess: float) -> float:
    return (scores[c] - scores[truth]) / excess if excess > 0.0 else 1.0 / errors


share = unbound


def twice_novikoff(radius: float, margin: float) -> float:
    """2 (R / gamma)^2 mistakes."""
    return 2.0 * (radius / margin) ** 2


@prototype_rule(
    paper=CRAMMER_SINGER_2003,
    params={
        "eta": Param(1.0, above=0.0, about="the length of a step"),
        "blame": Choice(
            "max",
            {"max": all_on_one, "uniform": uniformly, "proportional": in_proportion},
            "how the classes that scored too well share the step back: the best takes all, equal parts, or by how much",
            binds="share",
        ),
    },
    state={"w": plain},
    weigh="eta",
    guarantee=Guarantee(
        "updates <= 2 (R / gamma)^2",
        "every |x| <= R, and some matrix M of unit Frobenius norm has M_y.x - M_r.x >= gamma > 0 for all r != y",
        twice_novikoff,
    ),
    merge=MIXING,
    title="UltraconservativePerceptron",
)
def perceptron_ultraconservative(p: P, s: S, steps: Any, scores: Any, required: Any, truth: int, size: float) -> bool:
    """Move the right class toward the row, and the classes that scored as well away from it."""
    errors = excess = 0.0
    best = -1
    for c in range(scores.size):
        if c != truth and scores[c] >= scores[truth]:
            errors += 1.0
            excess += scores[c] - scores[truth]
            if best < 0 or scores[c] > scores[best]:
                best = c
    if best < 0:
        return False
    for c in range(scores.size):
        if scores[c] >= scores[truth]:
            steps[c] = -p.eta * share(scores, truth, c, best, errors, excess)
    steps[truth] = p.eta
    return True


# ---- MIRA ------------------------------------------------------------------------------------------------------------


def smallest_norm(p: P, steps: Any, scores: Any, required: Any, truth: int, size: float) -> bool:
    """The steps that leave the smallest weights, the right class stepping by at most 1 and no other forward."""
    ahead = True
    for c in range(scores.size):
        ahead = ahead and scores[c] <= scores[truth]
    if ahead:
        return False
    for c in range(scores.size):
        steps[c] = scores[c] / size
    steps[truth] += 1.0
    theta = level(steps, -math.inf, 1.0, 0.0)
    for c in range(scores.size):
        steps[c] = min(theta, steps[c]) - scores[c] / size
    return True


def hinge(p: P, steps: Any, scores: Any, required: Any, truth: int, size: float) -> bool:
    """The step of PA-I against the class whose required margin is missed by most."""
    rival = -1
    most = 0.0
    for c in range(scores.size):
        missing = required[c] - (scores[truth] - scores[c])
        if c != truth and missing > most:
            rival, most = c, missing
    if rival < 0:
        return False
    step = min(p.C, most / (2.0 * size))
    steps[truth], steps[rival] = step, -step
    return True


flavour = unbound


def mira_bound(start: float, margin: float) -> float:
    """2 |M_1| / gamma for the sum of the steps of the right classes."""
    return 2.0 * start / margin


def can_begin(numbers: Mapping[str, float], choices: Mapping[str, str]) -> str | None:
    """From weights of zero the smallest weights are those that stay there."""
    if choices["flavour"] == "norm" and numbers["random_start"] == 0.0:
        return 'flavour="norm" never leaves weights of zero; give random_start a deviation above 0'
    return None


@prototype_rule(
    paper=CRAMMER_SINGER_2003,
    params={
        "C": Param(1.0, above=0.0, about="the largest step of the hinge flavour"),
        "random_start": Param(0.0, at_least=0.0, about="the deviation of the random weights it begins with"),
        "flavour": Choice(
            "hinge",
            {"hinge": hinge, "norm": smallest_norm},
            "what a step solves: PA-I against the worst class (1-best MIRA), or the smallest weights (the paper's)",
        ),
    },
    state={"w": random_init},
    guarantee=Guarantee(
        "sum of the steps of the right classes <= 2 |M_1| / gamma",
        "flavour norm; some matrix M of unit Frobenius norm has M_y.x - M_r.x >= gamma > 0 for all r != y",
        mira_bound,
    ),
    merge=MIXING,
    check=can_begin,
    title="MIRA",
)
def mira(p: P, s: S, steps: Any, scores: Any, required: Any, truth: int, size: float) -> bool:
    """Move the right class and those that come too near, by the smallest step or to the smallest weights."""
    return bool(flavour(p, steps, scores, required, truth, size))


# ---- PA with all constraints -----------------------------------------------------------------------------------------


def all_bound(radius: float, size: float) -> float:
    """2 R^2 |u|^2 for the sum of the squared losses: every step goes at least as far as the worst margin asks."""
    return 2.0 * radius**2 * size**2


@prototype_rule(
    paper=CRAMMER_2006,
    params={"C": Param(1.0, above=0.0, about="the price of missing the margins; beyond all steps, they are reached")},
    state={"w": plain},
    weigh="C",
    guarantee=Guarantee(
        "sum of squared losses <= 2 R^2 |u|^2",
        "every |x| <= R, some u beats every other class by its required margin on all rounds, and C never binds",
        all_bound,
    ),
    merge=MIXING,
    title="AllConstraintsPA",
)
def pa_all(p: P, s: S, steps: Any, scores: Any, required: Any, truth: int, size: float) -> bool:
    """Beat every other class by its required margin with the smallest step, or as nearly as the price C allows."""
    for c in range(scores.size):
        steps[c] = (required[c] - (scores[truth] - scores[c])) / size
    steps[truth] = -math.inf
    ahead = level(steps, 0.0, 0.0, 1.0)
    if ahead > p.C:
        ahead = level(steps, -math.inf, p.C, 0.0)
    total = 0.0
    for c in range(scores.size):
        back = max(0.0, steps[c] - ahead)
        steps[c] = -back
        total += back
    steps[truth] = total
    return total > 0.0
