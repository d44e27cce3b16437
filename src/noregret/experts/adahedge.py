"""AdaHedge: Hedge with a rate that is tuned to the losses, without parameters."""

import math
from typing import Any

from noregret.experts.card import expert_algorithm
from noregret.experts.weights import log_experts, mean_weight_loss, mix_growth, set_exponential
from noregret.rules.guarantee import Guarantee

DE_ROOIJ_2014 = (
    "de Rooij, van Erven, Grunwald and Koolen, Follow the leader if you can, hedge if you must, JMLR 15, 2014"
)


def adahedge_rate(p: Any, s: Any) -> float:
    """ln N over the mixability gap so far; infinite while there is none: then it follows the leaders."""
    if s.n.gap == 0.0:
        return math.inf
    return float(min(s.n.eta, log_experts(s) / s.n.gap))


def adahedge_weights(p: Any, s: Any, awake: Any, q: Any) -> None:
    set_exponential(s.losses, adahedge_rate(p, s), awake, q)


def adahedge_asleep(p: Any, s: Any, awake: Any, q: Any, losses: Any, own: float) -> float:
    return mix_growth(s.losses, losses, adahedge_rate(p, s), awake)


def adahedge_arrival(p: Any, s: Any, old: int) -> float:
    return mean_weight_loss(s.losses[:old], adahedge_rate(p, s))


def adahedge_regret(p: Any, experts: float, loss_variance: float) -> float:
    """2 sqrt(V ln N) + 4/3 ln N + 2"""
    log_n = math.log(experts)
    return 2.0 * math.sqrt(loss_variance * log_n) + 4.0 / 3.0 * log_n + 2.0


def adahedge_gap_regret(p: Any, experts: float, last_rate: float, mixability_gap: float) -> float:
    """Delta + ln N / eta_T; before there is a gap, nothing was lost"""
    return mixability_gap + math.log(experts) / last_rate


@expert_algorithm(
    paper=DE_ROOIJ_2014,
    weigh=adahedge_weights,
    asleep=adahedge_asleep,
    arrive=adahedge_arrival,
    counters={"eta": math.inf, "gap": 0.0, "variance": 0.0},
    guarantees=(
        Guarantee(
            "regret",
            "loss <= loss of the best of N experts + 2 sqrt(V ln N) + 4/3 ln N + 2, "
            "V the summed variances of the losses by the weights",
            "losses in [0, 1]",
            adahedge_regret,
        ),
        Guarantee(
            "regret",
            "loss <= loss of the best of N experts + Delta + ln N / eta_T, Delta the mixability gap",
            "losses in [0, 1]; rates that never rise",
            adahedge_gap_regret,
        ),
    ),
    title="AdaHedge",
)
def adahedge(p: Any, s: Any, awake: Any, q: Any, losses: Any, own: float) -> None:
    """Hedge whose rate falls with the mixability gap so far, so that easy losses cost little; no parameters."""
    s.n.eta = adahedge_rate(p, s)
    s.n.gap += max(0.0, own - mix_growth(s.losses, losses, s.n.eta, awake))
    for i in range(q.size):
        s.n.variance += q[i] * (losses[i] - own) ** 2
