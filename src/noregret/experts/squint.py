"""Squint: second-order bounds against every expert, without parameters."""

import math
from typing import Any

from noregret.experts.card import expert_algorithm
from noregret.rules.guarantee import Guarantee

KOOLEN_2015 = "Koolen and van Erven, Second-order quantile methods for experts and combinatorial games, COLT 2015"

# Nodes and weights of Gauss-Legendre quadrature on [-1, 1]: half of the eight, the others are their negatives.
NODES = (0.1834346424956498, 0.525532409916329, 0.7966664774136267, 0.9602898564975363)
WEIGHTS = (0.362683783378362, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763)
FAR = 25.0  # from here on the series for erfc is exact to the last digit


def scaled_erfc(x: float) -> float:
    """exp(x^2) erfc(x), for x >= 0."""
    if x < FAR:
        return math.exp(x * x) * math.erfc(x)
    z = 0.5 / (x * x)
    series = 1.0 - z * (1.0 - 3.0 * z * (1.0 - 5.0 * z * (1.0 - 7.0 * z * (1.0 - 9.0 * z * (1.0 - 11.0 * z)))))
    return series / (x * math.sqrt(math.pi))


def log_evidence(R: float, V: float) -> float:
    """ln of the integral of exp(eta R - eta^2 V) over eta from 0 to 1/2."""
    if V < 1.0 and abs(R) < 4.0:
        total = 0.0
        for node, weight in zip(NODES, WEIGHTS):  # noqa: B905  (compiled code knows no strict)
            for eta in (0.25 * (1.0 - node), 0.25 * (1.0 + node)):
                total += 0.25 * weight * math.exp(eta * R - eta * eta * V)
        return math.log(total)
    root = math.sqrt(V)
    a, b = 0.5 * R / root, 0.5 * (R - V) / root
    scale = math.log(0.5 * math.sqrt(math.pi) / root)
    rise = 0.5 * R - 0.25 * V  # a^2 - b^2: the exponent at eta = 1/2
    if b >= 0.0:
        return scale + rise + math.log(scaled_erfc(b) - math.exp(-rise) * scaled_erfc(a))
    if a <= 0.0:
        return scale + math.log(scaled_erfc(-a) - math.exp(rise) * scaled_erfc(-b))
    return scale + a * a + math.log(math.erf(a) + math.erf(-b))


def squint_weights(p: Any, s: Any, awake: Any, q: Any) -> None:
    """In proportion to the mean of eta exp(eta R_i - eta^2 V_i), by the prior density 1 / eta on (0, 1/2]."""
    most = -math.inf
    for i in range(q.size):
        if awake[i]:
            q[i] = log_evidence(s.regrets[i], s.squares[i])
            most = max(most, q[i])
    total = 0.0
    for i in range(q.size):
        q[i] = math.exp(q[i] - most) if awake[i] else 0.0
        total += q[i]
    for i in range(q.size):
        q[i] /= total


def squint_regret(p: Any, experts: float, rounds: float, excess_squares: float) -> float:
    """sqrt(2 V_i) (1 + sqrt(2 C)) + 5 C, C = ln N + ln(1/2 + ln(T + 1))"""
    C = math.log(experts) + math.log(0.5 + math.log(rounds + 1.0))
    return math.sqrt(2.0 * excess_squares) * (1.0 + math.sqrt(2.0 * max(C, 0.0))) + 5.0 * max(C, 0.0)


def find_bad_squares(s: Any) -> str | None:
    rounds = float(s.n.t)
    small = (s.squares >= 0.0) & (s.squares <= rounds) & (s.regrets**2 <= rounds * s.squares * (1.0 + 1e-6) + 1e-6)
    return None if small.all() else "the squares must be at most the rounds, and the regrets within them"


@expert_algorithm(
    paper=KOOLEN_2015,
    weigh=squint_weights,
    find_problem=find_bad_squares,
    state={"regrets": 0.0, "squares": 0.0},
    guarantees=(
        Guarantee(
            "regret",
            "loss <= loss of expert i + sqrt(2 V_i) (1 + sqrt(2 C)) + 5 C, V_i the sum of (loss - loss of i)^2, "
            "C = ln N + ln(1/2 + ln(T + 1))",
            "losses in [0, 1]; any of N experts",
            squint_regret,
        ),
    ),
)
def squint(p: Any, s: Any, awake: Any, q: Any, losses: Any, own: float) -> None:
    """Weights by regret R_i and its squares V_i, averaged over all rates: little regret to experts that vary little."""
    for i in range(q.size):
        s.regrets[i] += own - losses[i]
        s.squares[i] += (own - losses[i]) ** 2
