"""Bandit feedback: only the loss of the class that was played is observed."""

import math
from typing import Any

from noregret.rules.decorators import bandit_rule, schedule
from noregret.rules.guarantee import Guarantee
from noregret.rules.parameters import Param
from noregret.rules.rule_card import P, S
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
    """The best class with probability 1 - gamma, otherwise a class at random."""
    out[:] = p.gamma / scores.size
    out[best(scores)] += 1.0 - p.gamma


def banditron_mistakes(p: P, comparator_loss: float, norm: float, classes: float, rounds: float) -> float:
    """L + gamma T + 3 max(k D / gamma, sqrt(D gamma T)) + sqrt(k D L / gamma), D = 2 |U|^2"""
    D = 2.0 * norm**2
    explored = 3.0 * max(classes * D / p.gamma, math.sqrt(D * p.gamma * rounds))
    return float(comparator_loss + p.gamma * rounds + explored + math.sqrt(classes * D * comparator_loss / p.gamma))


@bandit_rule(
    paper=KAKADE_2008,
    params={
        "gamma": Param(
            0.05, above=0.0, below=0.5, about="the probability of exploring a random class", search=(1e-3, 0.45, "log")
        ),
    },
    state={"w": plain},
    counters={"random": 1.0},
    chances=banditron_chances,
    guarantees=(
        Guarantee(
            "expected mistakes",
            "E mistakes <= L + gamma T + 3 max(k D / gamma, sqrt(D gamma T)) + sqrt(k D L / gamma), D = 2 |U|^2",
            "every |x| <= 1; k classes, T rounds; any matrix U, with L the sum of its multiclass hinge losses",
            banditron_mistakes,
        ),
    ),
    title="Banditron",
    full_information={"rule": "perceptron", "competitor": "predicted"},
    runs_by_default=True,
)
def banditron(p: P, s: S, steps: Any, scores: Any, chance: float, played: int, loss: float) -> bool:
    """Perceptron with bandit feedback: explores at random; its expected step is that of the multiclass perceptron."""
    steps[best(scores)] -= 1.0
    if loss == 0.0:
        steps[played] += 1.0 / chance
    return bool(loss > 0.0 or steps[played] != 0.0)


def exp3_chances(p: P, s: S, scores: Any, out: Any) -> None:
    """Softmax of the estimated losses, mixed with the uniform distribution."""
    eta, most = rate(p, p.eta, s.n.t + 1.0), scores[best(scores)]
    total = 0.0
    for c in range(scores.size):
        out[c] = math.exp(eta * (scores[c] - most))
        total += out[c]
    for c in range(scores.size):
        out[c] = (1.0 - p.gamma) * out[c] / total + p.gamma / scores.size


def exp3_regret(p: P, classes: float, rounds: float) -> float:
    """ln k / eta + eta k T / 2 + gamma T"""
    return float(math.log(classes) / p.eta + p.eta * classes * rounds / 2.0 + p.gamma * rounds)


def exp3_anytime_regret(p: P, classes: float, rounds: float) -> float:
    """ln k sqrt(T) / eta + eta k (sqrt(T) - 1/2) + gamma T"""
    root = math.sqrt(rounds)
    return float(math.log(classes) * root / p.eta + p.eta * classes * (root - 0.5) + p.gamma * rounds)


@bandit_rule(
    paper=AUER_2002,
    params={
        "eta": Param(
            0.1,
            above=0.0,
            about="the learning rate; sqrt(2 ln k / (k T)) is best for k classes and T rounds",
            search=(1e-3, 1.0, "log"),
        ),
        "gamma": Param(
            0.0,
            at_least=0.0,
            at_most=1.0,
            about="the probability of exploring a random class",
            grid=(0.0, 0.01, 0.05, 0.1),
        ),
        "rate": schedule("constant"),
    },
    state={"w": plain},
    counters={"random": 1.0},
    chances=exp3_chances,
    guarantees=(
        Guarantee(
            "expected regret",
            "E regret against the best of k classes <= ln k / eta + eta k T / 2 + gamma T",
            "losses in [0, 1]; T rounds",
            exp3_regret,
            options={"rate": ("constant",)},
            comparator="none",
        ),
        Guarantee(
            "expected regret",
            "E regret against the best of k classes <= ln k sqrt(T) / eta + eta k (sqrt(T) - 1/2) + gamma T",
            "losses in [0, 1]; T rounds, which need not be known before",
            exp3_anytime_regret,
            options={"rate": ("inv_sqrt",)},
            comparator="none",
        ),
    ),
    title="Exp3",
    ignores_features=True,
    real_valued_losses=True,
    runs_by_default=True,
)
def exp3(p: P, s: S, steps: Any, scores: Any, chance: float, played: int, loss: float) -> bool:
    """Exponential weights over classes from importance-weighted losses of the class played; ignores the features."""
    steps[played] = -loss / chance
    return loss > 0.0
