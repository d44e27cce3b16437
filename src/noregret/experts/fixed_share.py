"""Fixed share: exponential weights that follow the best sequence of experts."""

import math
from typing import Any

from noregret.experts.card import expert_algorithm
from noregret.experts.weights import find_least, mix_loss
from noregret.rules.guarantee import Guarantee
from noregret.rules.parameters import Param

HERBSTER_1998 = "Herbster and Warmuth, Tracking the best expert, Machine Learning 32, 1998"


def fixed_share_weights(p: Any, s: Any, awake: Any, q: Any) -> None:
    """The shares of the experts that are awake."""
    total = 0.0
    for i in range(q.size):
        q[i] = s.share[i] if awake[i] else 0.0
        total += q[i]
    for i in range(q.size):
        q[i] /= total


def fixed_share_asleep(p: Any, s: Any, awake: Any, q: Any, losses: Any, own: float) -> float:
    """The mix loss of the others: only what all experts share changes the weight of one that sleeps."""
    return mix_loss(q, losses, p.eta)


def set_shares(s: Any, old: int) -> None:
    """Equal shares; a new expert starts with the mean of the shares."""
    s.share[old:] = 1.0 / max(old, 1)
    s.share[:] /= s.share.sum()


def find_bad_shares(s: Any) -> str | None:
    sound = s.share.min() > 0.0 and abs(s.share.sum() - 1.0) < 1e-6
    return None if sound else "the shares must be above 0 and sum to 1"


def fixed_share_regret(p: Any, experts: float, rounds: float, switches: float) -> float:
    """[ln N + k ln((N - 1) / alpha) + (T - 1 - k) ln(1 / (1 - alpha))] / eta + eta T / 8"""
    if experts < 2.0 or rounds < 1.0:
        return float(p.eta * rounds / 8.0)
    stays = max(rounds - 1.0 - switches, 0.0)
    code = math.log(experts) + switches * math.log((experts - 1.0) / p.alpha) - stays * math.log1p(-p.alpha)
    return float(code / p.eta + p.eta * rounds / 8.0)


@expert_algorithm(
    paper=HERBSTER_1998,
    weigh=fixed_share_weights,
    asleep=fixed_share_asleep,
    admit=set_shares,
    find_problem=find_bad_shares,
    params={
        "eta": Param(0.5, above=0.0, about="the learning rate", search=(0.01, 10.0, "log")),
        "alpha": Param(
            0.01,
            above=0.0,
            below=1.0,
            about="the part of its weight that an expert shares in every round; k / (T - 1) for k switches in T rounds",
            search=(1e-4, 0.5, "log"),
        ),
    },
    state={"share": 0.0},
    guarantees=(
        Guarantee(
            "regret",
            "loss <= loss of the best sequence of N experts with k switches "
            "+ [ln N + k ln((N - 1) / alpha) + (T - 1 - k) ln(1 / (1 - alpha))] / eta + eta T / 8",
            "losses in [0, 1]",
            fixed_share_regret,
        ),
    ),
)
def fixed_share(p: Any, s: Any, awake: Any, q: Any, losses: Any, own: float) -> None:
    """Hedge in which every expert shares part of its weight in every round, to follow a best expert that changes."""
    N, least, total = q.size, find_least(losses), 0.0
    for i in range(N):
        s.share[i] *= math.exp(-p.eta * (losses[i] - least))
        total += s.share[i]
    for i in range(N):
        v = s.share[i] / total
        s.share[i] = (1.0 - p.alpha) * v + p.alpha * (1.0 - v) / (N - 1) if N > 1 else 1.0
