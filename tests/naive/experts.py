"""Expert algorithms as their papers write them: plain weights, one round at a time, in exact or obvious arithmetic."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad

Floats = NDArray[np.float64]
Player = Callable[[Floats], Floats]


def play(losses: Floats, choose: Callable[[int, Floats, Floats], Floats]) -> Floats:
    """Weights of every round, chosen by the rounds before and the weights that were played in them."""
    played = np.zeros_like(losses)
    for t in range(len(losses)):
        played[t] = choose(t, losses[:t], played[:t])
    return played


def normalise(weights: Floats) -> Floats:
    return np.asarray(weights / weights.sum())


def hedge(losses: Floats, eta: float = 0.0) -> Floats:
    N = losses.shape[1]

    def choose(t: int, seen: Floats, played: Floats) -> Floats:
        rate = eta or math.sqrt(8 * math.log(max(N, 2)) / (t + 1))
        return normalise(np.exp(-rate * seen.sum(axis=0)))

    return play(losses, choose)


def weighted_majority(losses: Floats, beta: float = 0.5) -> Floats:
    """Exact powers of beta; with beta = 0 those who were wrong least often remain."""
    assert np.isin(losses, (0.0, 1.0)).all()

    def choose(t: int, seen: Floats, played: Floats) -> Floats:
        wrong = [int(count) for count in seen.sum(axis=0)]
        base = Fraction(beta)
        weights = [base ** (count - min(wrong)) for count in wrong]
        return np.array([float(weight / sum(weights)) for weight in weights])

    return play(losses, choose)


def fixed_share(losses: Floats, eta: float = 0.5, alpha: float = 0.01) -> Floats:
    N = losses.shape[1]
    played = np.zeros_like(losses)
    q = np.full(N, 1 / N)
    for t, row in enumerate(losses):
        played[t] = q
        v = normalise(q * np.exp(-eta * row))
        others = np.array([sum(alpha * v[j] / (N - 1) for j in range(N) if j != i) for i in range(N)])
        q = (1 - alpha) * v + others if N > 1 else v
    return played


def follow_the_leader(losses: Floats) -> Floats:
    one = np.eye(losses.shape[1])
    return play(losses, lambda t, seen, played: one[np.argmin(seen.sum(axis=0))])


def follow_the_perturbed_leader(losses: Floats, first: int, eta: float = 0.0) -> Floats:
    """The random numbers of Park and Miller, in whole numbers."""
    prime, random, N = 2**31 - 1, first, losses.shape[1]
    played = np.zeros_like(losses)
    for t in range(len(losses)):
        noise = []
        for _ in range(N):
            random = 16807 * random % prime
            noise.append(-math.log(random / prime) / (eta or math.sqrt(math.log(max(N, 2)) / (t + 1))))
        played[t, np.argmin(losses[:t].sum(axis=0) - noise)] = 1.0
    return played


def adahedge(losses: Floats) -> Floats:
    """As in the program that the paper prints: the mix loss is the growth of M."""
    N = losses.shape[1]
    played, summed, gap = np.zeros_like(losses), np.zeros(N), 0.0

    def mix(eta: float, totals: Floats) -> tuple[Floats, float]:
        least = totals.min()
        weights = (totals == least).astype(float) if math.isinf(eta) else np.exp(-eta * (totals - least))
        return normalise(weights), least - math.log(weights.sum() / N) / eta

    for t, row in enumerate(losses):
        eta = math.log(max(N, 2)) / gap if gap > 0 else math.inf
        played[t], before = mix(eta, summed)
        summed = summed + row
        gap += max(0.0, played[t] @ row - (mix(eta, summed)[1] - before))
    return played


def squint(losses: Floats) -> Floats:
    """The integral over all rates, computed numerically."""
    N = losses.shape[1]

    def choose(t: int, seen: Floats, played: Floats) -> Floats:
        excess = (played * seen).sum(axis=1)[:, None] - seen
        R, V = excess.sum(axis=0), (excess**2).sum(axis=0)
        most = max(max(eta * r - eta**2 * v for eta in np.linspace(0, 0.5, 51)) for r, v in zip(R, V, strict=True))

        def weight(r: float, v: float) -> float:
            peak = min(max(r / (2 * v), 0.0), 0.5) if v > 0 else 0.0
            return float(quad(lambda eta: math.exp(eta * r - eta**2 * v - most), 0, 0.5, points=[peak], epsabs=0)[0])

        return normalise(np.array([weight(r, v) for r, v in zip(R, V, strict=True)]))

    assert N > 0
    return play(losses, choose)


def exp3_experts(losses: Floats, first: int, eta: float = 0.1, gamma: float = 0.0, rate: str = "constant") -> Floats:
    """Estimates of all losses: that of the expert drawn over its probability, 0 for the others."""
    prime, random, N = 2**31 - 1, first, losses.shape[1]
    played, estimates = np.zeros_like(losses), np.zeros(N)
    for t, row in enumerate(losses):
        step = eta / math.sqrt(t + 1) if rate == "inv_sqrt" else eta
        played[t] = (1 - gamma) * normalise(np.exp(-step * estimates)) + gamma / N
        random = 16807 * random % prime
        i = min(int(np.searchsorted(np.cumsum(played[t]), random / prime, side="right")), N - 1)
        estimates[i] += row[i] / played[t, i]
    return played
