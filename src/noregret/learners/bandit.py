"""Partial feedback: only what was played is found to be right or wrong."""

import math
from typing import Any

from noregret.rules.card import Guarantee, P, Param, S, bandit_rule, schedule
from noregret.rules.schedules import rate
from noregret.state.fields import plain

KAKADE_2008 = (
    "Kakade, Shalev-Shwartz and Tewari, Efficient bandit algorithms for online multiclass prediction, ICML 2008"
)
AUER_2002 = (
    "Auer, Cesa-Bianchi, Freund and Schapire, The nonstochastic multiarmed bandit problem, SIAM J. Computing 32, 2002"
)


def best(scores: Any) -> int:
    """The class with the largest score, the first of equals."""
    found = 0
    for c in range(1, scores.size):
        if scores[c] > scores[found]:
            found = c
    return found


def banditron_chances(p: P, s: S, scores: Any, out: Any) -> None:
    """The best class almost always, any class now and then."""
    out[:] = p.gamma / scores.size
    out[best(scores)] += 1.0 - p.gamma


def banditron_mistakes(
    comparator_loss: float, size: float, classes: float, rounds: float, gamma: float = 0.05
) -> float:
    """L + gamma T + 3 max(k D / gamma, sqrt(D gamma T)) + sqrt(k D L / gamma), D = 2 |U|^2"""
    D = 2.0 * size**2
    explored = 3.0 * max(classes * D / gamma, math.sqrt(D * gamma * rounds))
    return comparator_loss + gamma * rounds + explored + math.sqrt(classes * D * comparator_loss / gamma)


@bandit_rule(
    paper=KAKADE_2008,
    params={
        "gamma": Param(0.05, above=0.0, below=0.5, about="how often a class is played at random"),
    },
    state={"w": plain},
    counters={"random": 1.0},
    chances=banditron_chances,
    guarantee=Guarantee(
        "E mistakes <= L + gamma T + 3 max(k D / gamma, sqrt(D gamma T)) + sqrt(k D L / gamma), D = 2 |U|^2",
        "every |x| <= 1; k classes, T rounds, and any U with multiclass hinge losses of L in all",
        banditron_mistakes,
    ),
    title="Banditron",
    full_information={"rule": "perceptron", "competitor": "predicted"},
    shown=True,
)
def banditron(p: P, s: S, steps: Any, scores: Any, chance: float, played: int, loss: float) -> bool:
    """Step as the perceptron of many classes does in the mean: away from the best class, toward what proved right."""
    steps[best(scores)] -= 1.0
    if loss == 0.0:
        steps[played] += 1.0 / chance
    return bool(loss > 0.0 or steps[played] != 0.0)


def exp3_chances(p: P, s: S, scores: Any, out: Any) -> None:
    """By the exponentials of the estimated losses, mixed with any class at random."""
    eta, most = rate(p.eta, s.n.t + 1.0), scores[best(scores)]
    total = 0.0
    for c in range(scores.size):
        out[c] = math.exp(eta * (scores[c] - most))
        total += out[c]
    for c in range(scores.size):
        out[c] = (1.0 - p.gamma) * out[c] / total + p.gamma / scores.size


def exp3_regret(actions: float, rounds: float, eta: float = 0.1, gamma: float = 0.0) -> float:
    """ln K / eta + eta K T / 2 + gamma T"""
    return math.log(actions) / eta + eta * actions * rounds / 2.0 + gamma * rounds


@bandit_rule(
    paper=AUER_2002,
    params={
        "eta": Param(0.1, above=0.0, about="how fast a loss counts; sqrt(2 ln K / (K T)) for K classes and T rounds"),
        "gamma": Param(0.0, at_least=0.0, at_most=1.0, about="how often a class is played at random"),
        "rate": schedule("constant"),
    },
    state={"w": plain},
    counters={"random": 1.0},
    chances=exp3_chances,
    guarantee=Guarantee(
        "E regret <= ln K / eta + eta K T / 2 + gamma T",
        "the sum of losses beside that of the best of K classes over T rounds; losses in [0, 1], eta constant",
        exp3_regret,
    ),
    title="Exp3",
    ignores_features=True,
    graded=True,
    shown=True,
)
def exp3(p: P, s: S, steps: Any, scores: Any, chance: float, played: int, loss: float) -> bool:
    """Count the loss of what was played, divided by its chance, against it; rows are not looked at."""
    steps[played] = -loss / chance
    return loss > 0.0
