"""Follow the leader, with and without perturbation."""

import math
from typing import Any

from noregret.algebra.partial_features import PRIME, next_random
from noregret.experts.card import Rate, expert_algorithm
from noregret.experts.exponential import ADD_LOSSES
from noregret.experts.weights import log_experts
from noregret.rules.guarantee import Guarantee

HANNAN_1957 = "Hannan, Approximation to Bayes risk in repeated play, Contributions to the Theory of Games 3, 1957"
KALAI_2005 = (
    "Kalai and Vempala, Efficient algorithms for online decision problems, J. Computer and System Sciences 71, 2005"
)
ALL_AWAKE = "it follows one expert, and has no weights to share among the others while that one sleeps"


def leader_weights(p: Any, s: Any, awake: Any, q: Any) -> None:
    """All weight to the expert with the least loss so far, the first of equals."""
    leader = 0
    for i in range(q.size):
        q[i] = 0.0
        if s.losses[i] < s.losses[leader]:
            leader = i
    q[leader] = 1.0


@expert_algorithm(paper=HANNAN_1957, weigh=leader_weights, why_awake=ALL_AWAKE, merge=ADD_LOSSES)
def follow_the_leader(p: Any, s: Any, awake: Any, q: Any, losses: Any, own: float) -> None:
    """Follow the expert with the least loss so far; an adversary can make it lose every round."""


# ---- perturbed ---------------------------------------------------------------------------------------------------


def perturbed_rate(p: Any, s: Any) -> float:
    """The fixed rate, or sqrt(ln N / t) in round t."""
    if p.eta > 0.0:
        return float(p.eta)
    return math.sqrt(log_experts(s) / (s.n.t + 1.0))


def perturbed_weights(p: Any, s: Any, awake: Any, q: Any) -> None:
    """All weight to the leader after an exponential random number, of mean 1 / eta, was subtracted from every loss."""
    eta, random = perturbed_rate(p, s), s.n.random
    leader, least = 0, math.inf
    for i in range(q.size):
        q[i] = 0.0
        random = next_random(random)
        perturbed = s.losses[i] + math.log(random / PRIME) / eta
        if perturbed < least:
            leader, least = i, perturbed
    q[leader] = 1.0


def perturbed_regret(p: Any, experts: float, last_rate: float, summed_rates: float) -> float:
    """(1 + ln N) / eta_T + sum of eta_t"""
    return (1.0 + math.log(experts)) / last_rate + summed_rates


def perturbed_small_loss(p: Any, experts: float, best_expert_loss: float) -> float:
    """exp(eta) (L* + (1 + ln N) / eta) - L*"""
    loss = math.exp(p.eta) * (best_expert_loss + (1.0 + math.log(experts)) / p.eta)
    return float(loss - best_expert_loss)


def has_small_rate(p: Any) -> str | None:
    return None if 0.0 < p.eta <= 100.0 else "it is proved for a fixed eta > 0, and says nothing for one above 100"


@expert_algorithm(
    paper=KALAI_2005,
    weigh=perturbed_weights,
    why_awake=ALL_AWAKE,
    params={
        "eta": Rate(
            0.0,
            at_least=0.0,
            about='the random numbers have the mean 1 / eta; 0, or "anytime": eta = sqrt(ln N / t) in round t',
            search=(0.01, 10.0, "log"),
        )
    },
    counters={"eta": math.inf, "etas": 0.0},
    draws=True,
    guarantees=(
        Guarantee(
            "expected regret",
            "E loss <= loss of the best of N experts + (1 + ln N) / eta_T + (eta_1 + ... + eta_T)",
            "losses in [0, 1], which do not depend on the random numbers; rates that never rise",
            perturbed_regret,
        ),
        Guarantee(
            "expected regret",
            "E loss <= exp(eta) (L* + (1 + ln N) / eta), L* the loss of the best of N experts",
            "losses in [0, 1], which do not depend on the random numbers; eta > 0, the same in all rounds",
            perturbed_small_loss,
            requires=has_small_rate,
        ),
    ),
)
def follow_the_perturbed_leader(p: Any, s: Any, awake: Any, q: Any, losses: Any, own: float) -> None:
    """Follow the leader after random numbers, drawn anew in every round, were subtracted from the losses."""
    s.n.eta = perturbed_rate(p, s)
    s.n.etas += s.n.eta
    for _ in range(q.size):
        s.n.random = next_random(s.n.random)
