"""The factor of multiplicative updates that falls with their number, and what it promises on disjunctions."""

import math

from noregret.rules.parameters import Param
from noregret.rules.rule_card import P, S

FALLING = "mistakes < 20 ((1 + B / (40 L))^2 - 1)"
FIRST_FACTOR, LASTING = 2.5, 20.0  # the first factor, and after how many updates it begins to fall


def factor(earlier: float | None) -> Param:
    """The factor, which falls by default: rows with little noise need few updates, noisy ones many small ones."""
    return Param(
        1.0,
        at_least=1.0,
        about="the factor of a promotion or demotion; 1 stands for one that falls with the updates: "
        "2.5^(1 / sqrt(1 + M / 20)) after M of them",
        search=(1.05, 4.0, "log"),
        earlier=earlier,
    )


def promotion(p: P, s: S) -> float:
    """alpha or, where it is 1, a factor that falls with the root of the updates."""
    if p.alpha > 1.0:
        return float(p.alpha)
    return math.exp(math.log(FIRST_FACTOR) / math.sqrt(1.0 + s.n.steps / LASTING))


def has_factor(p: P) -> str | None:
    return None if p.alpha > 1.0 else "it is proved for an alpha above 1"


def has_falling_factor(p: P) -> str | None:
    return None if p.alpha == 1.0 else "it is proved for alpha = 1, a factor that falls with the updates"


def falling_updates(moved: float) -> float:
    """20 ((1 + B / (40 L))^2 - 1), L = ln 2.5: how many falling factors it takes until their logarithms sum to B.

    The first M of them sum to at least 40 L (sqrt(1 + M / 20) - 1).
    """
    root = 1.0 + moved / (2.0 * LASTING * math.log(FIRST_FACTOR))
    return LASTING * (root * root - 1.0)


def promoted(theta: float, relevant: float) -> float:
    """k (ln theta + L): what all promotions together can add to the logarithms of k weights that begin below theta."""
    return relevant * max(0.0, math.log(theta) + math.log(FIRST_FACTOR))


def falling_halving_bound(theta: float, features: float, relevant: float) -> float:
    """20 ((1 + B / (40 L))^2 - 1), B = 3.5 k (ln theta + L) + 5 L n / (3 theta), where L = ln 2.5.

    A promotion by e^h multiplies one of the k relevant weights, which are never demoted, and adds less than
    (e^h - 1) theta <= 1.5 h theta / L to the sum of all weights, n at first; a demotion takes at least
    (1 - e^-h) theta >= 0.6 h theta / L away. So the h of all updates sum to less than B.
    """
    added = (FIRST_FACTOR + 1.0) * promoted(theta, relevant)
    begun = FIRST_FACTOR / (FIRST_FACTOR - 1.0) * math.log(FIRST_FACTOR) * features / theta
    return falling_updates(added + begun)
