"""Online moving average reversion."""

from collections.abc import Mapping
from typing import Any

from noregret.experts.portfolio.card import Array, Whole, per_stock, portfolio_strategy
from noregret.experts.portfolio.simplex import project
from noregret.rules.parameters import Choice, Param


def average_so_far(p: Any, s: Any, x: Any) -> None:
    """Average the prices there are, where these are fewer than the window."""
    predict(p, s, x, min(p.window, s.n.t + 2.0))


def expect_level(p: Any, s: Any, x: Any) -> None:
    """Expect, until the window is full, the price over that of the first day, as universal-portfolios does."""
    if s.n.t + 1.0 >= p.window:
        predict(p, s, x, p.window)
    else:
        for i in range(x.size):
            s.expected[i] = s.level[i]


begin_days = average_so_far


def predict(p: Any, s: Any, x: Any, window: float) -> None:
    """Write the expected relatives: a moving average of `window` prices (variant 1), or an exponential one (2)."""
    rows = s.recent.shape[0]
    for i in range(x.size):
        if p.variant == 2.0:
            s.smooth[i] = p.alpha + (1.0 - p.alpha) * s.smooth[i] / x[i]
            s.expected[i] = s.smooth[i]
            continue
        price, total, at = 1.0, 1.0, int(s.n.t) % rows
        for _ in range(int(window) - 1):
            price /= s.recent[at, i]
            total += price
            at = at - 1 if at > 0 else rows - 1
        s.expected[i] = total / window


def window_shape(stocks: int, days: int, params: Mapping[str, Any]) -> tuple[int, ...]:
    return int(params["window"]) - 1, stocks


@portfolio_strategy(
    paper="Li and Hoi, On-line portfolio selection with moving average reversion, ICML 2012",
    title="OLMAR",
    params={
        "variant": Whole(
            1, at_least=1.0, at_most=2.0, about="1: simple moving average; 2: exponential one", grid=(1.0, 2.0)
        ),
        "window": Whole(
            5,
            at_least=2.0,
            at_most=10_000.0,
            about="days in the moving average of variant 1",
            grid=(3.0, 5.0, 10.0, 20.0),
        ),
        "eps": Param(10.0, at_least=1.0, about="the growth to be reached", search=(1.0, 100.0, "log")),
        "alpha": Param(
            0.5, above=0.0, at_most=1.0, about="the weight of today's price in variant 2", search=(0.1, 1.0, "linear")
        ),
        "first_days": Choice(
            "average",
            {"average": average_so_far, "level": expect_level},
            "what is expected before the window is full: the average of the prices so far, or the price over the first",
            binds="begin_days",
            search=("average",),
        ),
    },
    arrays={
        "recent": Array(window_shape, 1.0),
        "expected": per_stock(1.0),
        "smooth": per_stock(1.0),
        "level": per_stock(1.0),
    },
)
def olmar(p: Any, s: Any, x: Any, growth: float) -> None:
    """Expect prices to return to their moving average, and move wealth until the portfolio would grow by eps then.

    No theorem is known: it assumes that prices return to their mean.
    """
    at = int(s.n.t) % s.recent.shape[0]
    for i in range(x.size):
        s.recent[at, i] = x[i]
        s.level[i] *= x[i]
    begin_days(p, s, x)
    mean, squares, reached = 0.0, 0.0, 0.0
    for i in range(x.size):
        mean += s.expected[i] / x.size
        reached += s.b[i] * s.expected[i]
    for i in range(x.size):
        squares += (s.expected[i] - mean) ** 2
    if squares > 0.0 and reached < p.eps:
        step = (p.eps - reached) / squares
        for i in range(x.size):
            s.b[i] += step * (s.expected[i] - mean)
        project(s.b)
