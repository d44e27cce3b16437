"""Ultraconservative multiclass learners: an update moves the true class and those that scored too high, no other.

Each rule writes into `steps` how far every class moves along the row; the steps of a round sum to zero.
"""

import math
from collections.abc import Mapping
from typing import Any

from noregret.algebra.verbs import unbound
from noregret.learners.passive_aggressive import pa1_bound
from noregret.rules.decorators import prototype_rule
from noregret.rules.guarantee import Guarantee
from noregret.rules.merge_law import Merge
from noregret.rules.names import Scale
from noregret.rules.parameters import Choice, Param
from noregret.rules.rule_card import P, S
from noregret.state.fields import plain

CRAMMER_SINGER_2003 = "Crammer and Singer, Ultraconservative online algorithms for multiclass problems, JMLR 3, 2003"
CRAMMER_2006 = "Crammer, Dekel, Keshet, Shalev-Shwartz and Singer, Online passive-aggressive algorithms, JMLR 7, 2006"
MIXING = Merge("heuristic", "weights are averaged in proportion to the rounds (parameter mixing)", "mix")
C_SEARCH: tuple[float, float, Scale] = (2.0**-8, 2.0**8, "log")


def level(values: Any, first: float, owed: float, more: float) -> float:
    """The level L for which the sum of v - L over all v above L is owed + more L; `first` is a lower bound of it.

    Values below the current level are left out, which raises the level of the rest: at most one pass for each value.
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


def twice_novikoff(p: P, row_radius: float, margin: float) -> float:
    """2 (R / gamma)^2 mistakes."""
    return 2.0 * (row_radius / margin) ** 2


@prototype_rule(
    paper=CRAMMER_SINGER_2003,
    params={
        "eta": Param(1.0, above=0.0, about="the step size", untuned="it only rescales the weights"),
        "spread": Choice(
            "max",
            {"max": all_on_one, "uniform": uniformly, "proportional": in_proportion},
            "which of the classes that scored too high move away: the best, all equally, or in proportion to it",
            binds="share",
        ),
    },
    state={"w": plain},
    weight_param="eta",
    guarantees=(
        Guarantee(
            "updates",
            "updates <= 2 (R / gamma)^2",
            "every |x| <= R; some matrix M of unit Frobenius norm has M_y.x - M_r.x >= gamma > 0 for all r != y",
            twice_novikoff,
            comparator="separating",
        ),
    ),
    merge=MIXING,
    title="UltraconservativePerceptron",
)
def perceptron_ultraconservative(p: P, s: S, steps: Any, scores: Any, required: Any, truth: int, size: float) -> bool:
    """Multiclass perceptron: move the true class toward the row, and classes that scored at least as high away."""
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
    """The steps that leave the smallest weights, where the true class moves by at most 1 and no other moves forward."""
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
    """The PA-I step against the class whose required margin is violated most."""
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


def mira_hinge_bound(p: P, row_radius: float, norm: float, comparator_loss: float) -> float:
    """max(2 R^2, 1/C) (|u|^2 + 2 C times the hinge loss of u) mistakes: PA-I, whose examples are two copies of x."""
    return pa1_bound(p, math.sqrt(2.0) * row_radius, norm, comparator_loss)


def mira_bound(p: P, initial_norm: float, margin: float) -> float:
    """2 |M_1| / gamma for the sum of the steps of the true classes."""
    return 2.0 * initial_norm / margin


def can_begin(numbers: Mapping[str, float], choices: Mapping[str, str]) -> str | None:
    """From weights of zero the smallest weights are zero: there would be no update."""
    if choices["flavour"] == "norm" and numbers["random_start"] == 0.0:
        return 'flavour="norm" never leaves weights of zero; give random_start a deviation above 0'
    return None


@prototype_rule(
    paper=CRAMMER_SINGER_2003,
    params={
        "C": Param(1.0, above=0.0, about="the largest step size of the hinge flavour", search=C_SEARCH),
        "flavour": Choice(
            "hinge",
            {"hinge": hinge, "norm": smallest_norm},
            "what a step solves: PA-I against the worst class (1-best MIRA), or the smallest weights (the paper's)",
            search=("hinge",),
        ),
    },
    state={"w": plain},
    guarantees=(
        Guarantee(
            "mistakes",
            "mistakes <= max(2 R^2, 1/C) (|u|^2 + 2 C sum of the multiclass hinge losses of u)",
            "every |x| <= R; any u; every required margin 1",
            mira_hinge_bound,
            options={"flavour": ("hinge",)},
        ),
        Guarantee(
            "sum of steps",
            "sum of the steps of the true classes <= 2 |M_1| / gamma, where M_1 are the weights of the start",
            "some matrix M of unit Frobenius norm has M_y.x - M_r.x >= gamma > 0 for all r != y",
            mira_bound,
            options={"flavour": ("norm",)},
            comparator="separating",
            any_start=True,
        ),
    ),
    merge=MIXING,
    check=can_begin,
    title="MIRA",
)
def mira(p: P, s: S, steps: Any, scores: Any, required: Any, truth: int, size: float) -> bool:
    """Margin-infused relaxed algorithm: move the true class and its rivals by the smallest step or to small weights."""
    return bool(flavour(p, steps, scores, required, truth, size))


# ---- PA with all constraints -----------------------------------------------------------------------------------------


def all_bound(p: P, row_radius: float, norm: float) -> float:
    """2 R^2 |u|^2 for the sum of squared losses: every step is at least that of the most violated margin."""
    return 2.0 * row_radius**2 * norm**2


@prototype_rule(
    paper=CRAMMER_2006,
    params={
        "C": Param(1.0, above=0.0, about="the penalty for violated margins; large values enforce them", search=C_SEARCH)
    },
    state={"w": plain},
    weight_param="C",
    guarantees=(
        Guarantee(
            "squared loss",
            "sum of squared losses <= 2 R^2 |u|^2",
            "every |x| <= R; some u beats every other class by its required margin on all rounds; no step reaches C",
            all_bound,
            comparator="lossless",
            assumes="no step reaches C",
        ),
    ),
    merge=MIXING,
    title="AllConstraintsPA",
)
def pa_all(p: P, s: S, steps: Any, scores: Any, required: Any, truth: int, size: float) -> bool:
    """Multiclass passive-aggressive with all constraints: the smallest step that beats every class by its margin."""
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
