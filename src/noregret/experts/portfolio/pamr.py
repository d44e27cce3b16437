"""Passive-aggressive mean reversion."""

from typing import Any

from noregret.experts.portfolio.card import Whole, portfolio_strategy
from noregret.experts.portfolio.simplex import project
from noregret.rules.parameters import Param


def step_size(variant: float, C: float, loss: float, squares: float) -> float:
    """PAMR: loss / |xc|^2; PAMR-1: at most C; PAMR-2: loss / (|xc|^2 + 1 / (2 C))."""
    if variant == 2.0:
        return loss / (squares + 0.5 / C)
    return min(C, loss / squares) if variant == 1.0 else loss / squares


@portfolio_strategy(
    paper="Li, Zhao, Hoi and Gopalkrishnan, PAMR: passive aggressive mean reversion strategy for portfolio selection, "
    "Machine Learning 87, 2012",
    title="PAMR",
    params={
        "variant": Whole(0, at_least=0.0, at_most=2.0, about="0: PAMR; 1: PAMR-1; 2: PAMR-2", grid=(0.0, 1.0, 2.0)),
        "eps": Param(0.5, at_least=0.0, about="the growth above which a day is a loss", search=(0.0, 1.5, "linear")),
        "C": Param(500.0, above=0.0, about="the aggressiveness of variants 1 and 2", search=(1.0, 1e5, "log")),
    },
)
def pamr(p: Any, s: Any, x: Any, growth: float) -> None:
    """Move wealth from the stocks that grew to those that fell, until today would have grown by eps at most.

    No theorem is known: it assumes that prices return to their mean.
    """
    loss, mean, squares = growth - p.eps, 0.0, 0.0
    for i in range(x.size):
        mean += x[i] / x.size
    for i in range(x.size):
        squares += (x[i] - mean) ** 2
    if loss > 0.0 and squares > 0.0:
        step = step_size(p.variant, p.C, loss, squares)
        for i in range(x.size):
            s.b[i] -= step * (x[i] - mean)
        project(s.b)
