"""Exponential weights: Hedge with a fixed and with a falling rate, weighted majority by vote and at random."""

import math
from typing import Any

from noregret.experts.card import Rate, expert_algorithm
from noregret.experts.weights import log_experts, mean_weight_loss, mix_growth, set_exponential
from noregret.rules.guarantee import Guarantee
from noregret.rules.merge_law import Merge
from noregret.rules.parameters import Param

FREUND_1997 = (
    "Freund and Schapire, A decision-theoretic generalization of on-line learning and an application to boosting, "
    "J. Computer and System Sciences 55, 1997"
)
LITTLESTONE_1994 = "Littlestone and Warmuth, The weighted majority algorithm, Information and Computation 108, 1994"
ADD_LOSSES = Merge("exact", "the summed losses are added: the weights are those of all rounds together")
ADD_MISTAKES = Merge("exact", "the summed mistakes are added: the weights are those of all rounds together")

# ---- Hedge -------------------------------------------------------------------------------------------------------


def hedge_rate(p: Any, s: Any) -> float:
    """The fixed rate, or sqrt(8 ln N / t) in round t; it never rises, also when experts arrive."""
    if p.eta > 0.0:
        return float(p.eta)
    return float(min(s.n.eta, math.sqrt(8.0 * log_experts(s) / (s.n.t + 1.0))))


def hedge_weights(p: Any, s: Any, awake: Any, q: Any) -> None:
    set_exponential(s.losses, hedge_rate(p, s), awake, q)


def hedge_asleep(p: Any, s: Any, awake: Any, q: Any, losses: Any, own: float) -> float:
    """The mix loss of the others: an expert that sleeps keeps its share of all weights (Freund et al. 1997)."""
    return mix_growth(s.losses, losses, hedge_rate(p, s), awake)


def hedge_arrival(p: Any, s: Any, old: int) -> float:
    return mean_weight_loss(s.losses[:old], hedge_rate(p, s))


def hedge_regret(p: Any, experts: float, runs: float, last_rate: float, summed_rates: float) -> float:
    """ln N / eta_T + sum of eta_t / 8; of several runs, ln N / eta_T for each"""
    return runs * math.log(experts) / last_rate + summed_rates / 8.0


def hedge_small_loss(p: Any, experts: float, runs: float, best_expert_loss: float) -> float:
    """(eta L* + ln N) / (1 - exp(-eta)) - L*"""
    loss = (p.eta * best_expert_loss + runs * math.log(experts)) / -math.expm1(-p.eta)
    return float(loss - best_expert_loss)


def has_fixed_rate(p: Any) -> str | None:
    return None if p.eta > 0.0 else "it is proved for a fixed eta > 0"


RATE = Rate(
    0.0,
    at_least=0.0,
    about='the learning rate; 0, or "anytime": sqrt(8 ln N / t) in round t; best for T rounds: sqrt(8 ln N / T)',
    search=(0.01, 10.0, "log"),
)


@expert_algorithm(
    paper=FREUND_1997,
    weigh=hedge_weights,
    asleep=hedge_asleep,
    arrive=hedge_arrival,
    params={"eta": RATE},
    counters={"eta": math.inf, "etas": 0.0},
    merge=ADD_LOSSES,
    guarantees=(
        Guarantee(
            "regret",
            "loss <= loss of the best of N experts + ln N / eta_T + (eta_1 + ... + eta_T) / 8: "
            "ln N / eta + eta T / 8 with a fixed rate, at most 3 sqrt(T ln N / 8) with the rates sqrt(8 ln N / t)",
            "losses in [0, 1]; rates that never rise",
            hedge_regret,
        ),
        Guarantee(
            "regret",
            "loss <= (eta L* + ln N) / (1 - exp(-eta)), L* the loss of the best of N experts",
            "losses in [0, 1]; eta > 0, the same in all rounds",
            hedge_small_loss,
            requires=has_fixed_rate,
        ),
    ),
)
def hedge(p: Any, s: Any, awake: Any, q: Any, losses: Any, own: float) -> None:
    """Exponential weights: the weight of an expert falls by the factor exp(-eta loss) in every round."""
    s.n.eta = hedge_rate(p, s)
    s.n.etas += s.n.eta


# ---- weighted majority -------------------------------------------------------------------------------------------

BETA = Param(
    0.5,
    at_least=0.0,
    below=1.0,
    about="the factor by which a mistake lowers the weight of an expert; 0 is Halving",
    search=(0.01, 0.99, "linear"),
)


def majority_rate(p: Any) -> float:
    return -math.log(p.beta) if p.beta > 0.0 else math.inf


def majority_weights(p: Any, s: Any, awake: Any, q: Any) -> None:
    """In proportion to beta^losses; with beta = 0, all to the experts with the least loss."""
    set_exponential(s.losses, majority_rate(p), awake, q)


def majority_asleep(p: Any, s: Any, awake: Any, q: Any, losses: Any, own: float) -> float:
    return mix_growth(s.losses, losses, majority_rate(p), awake)


def majority_arrival(p: Any, s: Any, old: int) -> float:
    return mean_weight_loss(s.losses[:old], majority_rate(p))


def majority_potential(p: Any, experts: float, runs: float, best_expert_loss: float) -> float:
    """m* ln(1 / beta) + ln N; with beta = 0, infinite unless an expert makes no mistake"""
    lost = best_expert_loss * majority_rate(p) if best_expert_loss > 0.0 else 0.0
    return lost + runs * math.log(experts)


def majority_mistakes(p: Any, experts: float, runs: float, best_expert_loss: float) -> float:
    """(m* ln(1 / beta) + ln N) / ln(2 / (1 + beta))"""
    return majority_potential(p, experts, runs, best_expert_loss) / math.log(2.0 / (1.0 + p.beta))


def majority_expected_mistakes(p: Any, experts: float, runs: float, best_expert_loss: float) -> float:
    """(m* ln(1 / beta) + ln N) / (1 - beta)"""
    return float(majority_potential(p, experts, runs, best_expert_loss) / (1.0 - p.beta))


@expert_algorithm(
    paper=LITTLESTONE_1994,
    weigh=majority_weights,
    asleep=majority_asleep,
    arrive=majority_arrival,
    params={"beta": BETA},
    merge=ADD_MISTAKES,
    votes=True,
    guarantees=(
        Guarantee(
            "mistakes",
            "mistakes <= (m* ln(1/beta) + ln N) / ln(2 / (1 + beta)), m* those of the best of N experts",
            "losses in [0, 1]; a mistake is a round in which at least half of the weight was wrong",
            majority_mistakes,
        ),
    ),
)
def weighted_majority(p: Any, s: Any, awake: Any, q: Any, losses: Any, own: float) -> None:
    """Predict by the weighted vote; the weight of an expert that is wrong is multiplied by beta."""


@expert_algorithm(
    paper=LITTLESTONE_1994,
    weigh=majority_weights,
    asleep=majority_asleep,
    arrive=majority_arrival,
    params={"beta": BETA},
    merge=ADD_MISTAKES,
    follows=True,
    guarantees=(
        Guarantee(
            "expected mistakes",
            "E mistakes <= (m* ln(1/beta) + ln N) / (1 - beta), m* those of the best of N experts",
            "losses in [0, 1]",
            majority_expected_mistakes,
        ),
    ),
)
def weighted_majority_randomised(p: Any, s: Any, awake: Any, q: Any, losses: Any, own: float) -> None:
    """Follow an expert drawn by its weight; the weight of an expert that is wrong is multiplied by beta."""
