"""Expert algorithms: the compiled loop over rounds compared with the same algorithm in numpy, a round at a time."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Act, Prepare, Row, best, in_turn, rate
from noregret.experts.expert_weights import ExpertWeights

TITLE = "Prediction with expert advice: a loop over rounds, compared with numpy a round at a time"
Floats = NDArray[np.float64]
ROUNDS, NUMPY_ROUNDS = 200_000, 20_000
FASTER = 50.0


def hedge(losses: Floats) -> float:
    """Hedge with the rate sqrt(8 ln N / t), vectorised over the experts."""
    summed, loss, log_n = np.zeros(losses.shape[1]), 0.0, math.log(losses.shape[1])
    for t, row in enumerate(losses):
        q = np.exp(-math.sqrt(8.0 * log_n / (t + 1)) * (summed - summed.min()))
        q /= q.sum()
        loss += float(q @ row)
        summed += row
    return loss


def fixed_share(losses: Floats, eta: float = 0.5, alpha: float = 0.01) -> float:
    N, loss = losses.shape[1], 0.0
    q = np.full(N, 1.0 / N)
    for row in losses:
        loss += float(q @ row)
        v = q * np.exp(-eta * (row - row.min()))
        v /= v.sum()
        q = (1.0 - alpha) * v + alpha * (1.0 - v) / (N - 1)
    return loss


def adahedge(losses: Floats) -> float:
    N = losses.shape[1]
    summed, loss, gap, log_n = np.zeros(N), 0.0, 0.0, math.log(N)
    for row in losses:
        eta = log_n / gap if gap > 0.0 else math.inf
        least = summed.min()
        weights = np.exp(-eta * (summed - least)) if gap > 0.0 else (summed == least).astype(float)
        later = summed + row
        after = later.min()
        rest = np.exp(-eta * (later - after)).sum() if gap > 0.0 else float((later == after).sum())
        own = float(weights @ row / weights.sum())
        gap += max(0.0, own - (after - least - math.log(rest / weights.sum()) / eta))
        loss, summed = loss + own, later
    return loss


def compiled(name: str, losses: Floats) -> Prepare:
    ExpertWeights(name, losses.shape[1]).play(losses[:10])  # compiled before the clock starts

    def prepare() -> Act:
        weights = ExpertWeights(name, losses.shape[1])
        return lambda: weights.play(losses)

    return prepare


def by_round(function: Callable[[Floats], float], losses: Floats) -> Prepare:
    return lambda: lambda: function(losses)


def run() -> list[Row]:
    rows = []
    for name, twin, experts, target in (
        ("hedge", hedge, 10, FASTER),
        ("fixed_share", fixed_share, 10, FASTER),
        ("adahedge", adahedge, 10, None),
        ("hedge", hedge, 1000, None),
    ):
        scale = 1 if experts == 10 else 50
        losses = np.random.default_rng(0).random((ROUNDS // scale, experts))
        few = losses[: NUMPY_ROUNDS // scale]
        assert abs(ExpertWeights(name, experts, native=True).play(few).ravel() @ few.ravel() - twin(few)) < 1e-6
        times = in_turn({"compiled": compiled(name, losses), "numpy": by_round(twin, few)}, repeats=5)
        ours, peer = best(times, "compiled") / len(losses), best(times, "numpy") / len(few)
        rows.append(
            Row(
                f"{name}, {experts} experts",
                rate(1, ours),
                f"numpy, a round at a time {rate(1, peer)}",
                peer / ours,
                "x",
                at_least=target,
                seconds=times,
            )
        )
    return rows
