"""Cover's universal portfolio: exact for two stocks, an average over random portfolios for more."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from noregret.experts.portfolio.card import Array, Whole, portfolio_strategy
from noregret.experts.portfolio.constant import COVER_1991
from noregret.rules.guarantee import Guarantee
from noregret.rules.parameters import Choice

HUGE = 2.0**512  # numbers are held as a * HUGE^e with e a whole number, so that none becomes 0
LARGE, SMALL = 2.0**256, 2.0**-256


# ---- two stocks --------------------------------------------------------------------------------------------------


def learn_exactly(s: Any, x: Any, growth: float) -> None:
    """The integral over all portfolios, as Cover and Ordentlich (1996) compute it.

    The wealth of (b, 1 - b) after t days is a sum over k of Q_k b^k (1 - b)^(t-k). s.terms holds Q_k / (t choose k),
    over the wealth of the universal portfolio: the mean of these is 1. Its share of the first stock is the mean of
    their Beta distributions, (k + 1) / (t + 2), weighted by them.
    """
    t = int(s.n.t) + 1
    s.terms[t], s.powers[t] = 0.0, s.powers[t - 1]
    first, second = x[0] / (growth * t), x[1] / (growth * t)
    if s.n.deep == 0.0:
        top, bottom = shift_terms(s.terms, t, first, second)
        if s.terms[0] < SMALL or s.terms[t] < SMALL:  # by Newton's inequalities the least is one of these
            s.n.deep = 1.0
    else:
        top, bottom = shift_scaled_terms(s, t, first, second)
    s.b[0] = top / (bottom * (t + 2.0))
    s.b[1] = 1.0 - s.b[0]


def shift_terms(terms: Any, t: int, first: float, second: float) -> tuple[float, float]:
    """terms[k] = k first terms[k - 1] + (t - k) second terms[k]; returns their sums with weights k + 1 and 1."""
    top, bottom = 0.0, 0.0
    for back in range(t):
        k = t - back
        value = (k * first) * terms[k - 1] + ((t - k) * second) * terms[k]
        terms[k] = value
        top += value * (k + 1.0)
        bottom += value
    terms[0] *= t * second
    return top + terms[0], bottom + terms[0]


def shift_scaled_terms(s: Any, t: int, first: float, second: float) -> tuple[float, float]:
    """The same where terms are held as a * HUGE^e; what is too small for the sums is kept, but not counted."""
    top, bottom = 0.0, 0.0
    for back in range(t + 1):
        k = t - back
        add_term(s, k, k * first, (t - k) * second)
        value = s.terms[k]
        if s.powers[k] != 0.0:
            value = 0.0 if abs(s.powers[k]) > 1.0 else (value / HUGE if s.powers[k] < 0.0 else value * HUGE)
        top += value * (k + 1.0)
        bottom += value
    return top, bottom


def add_term(s: Any, k: int, up: float, stay: float) -> None:
    """terms[k] = up terms[k - 1] + stay terms[k]"""
    value, power = stay * s.terms[k], s.powers[k]
    if k > 0 and up > 0.0:
        other, its_power = up * s.terms[k - 1], s.powers[k - 1]
        if value == 0.0 or its_power > power + 1.0:
            value, power = other, its_power
        elif its_power == power:
            value += other
        elif its_power == power + 1.0:
            value, power = value / HUGE + other, its_power
        elif its_power == power - 1.0:
            value += other / HUGE
    if value < SMALL and value > 0.0:
        value, power = value * HUGE, power - 1.0
    elif value > LARGE:
        value, power = value / HUGE, power + 1.0
    s.terms[k], s.powers[k] = value, power


# ---- more stocks -------------------------------------------------------------------------------------------------


def learn_from_points(s: Any, x: Any, growth: float) -> None:
    """The average over portfolios, each weighted by its wealth; s.wealths are relative to that of the average."""
    m, count = s.columns.shape
    for j in range(count):
        s.growths[j] = 0.0
    for i in range(m):  # along the columns, so that many portfolios are computed at once
        share, column = x[i] / growth, s.columns[i]
        for j in range(column.size):
            s.growths[j] += share * column[j]
    total = 0.0
    for j in range(count):
        s.wealths[j] *= s.growths[j]
        total += s.wealths[j]
    add_weighted(s.points, s.wealths, s.b)
    for i in range(m):
        s.b[i] /= total


def add_weighted(points: Any, wealths: Any, b: Any) -> None:
    """b = the sum of the portfolios times their wealth; four at a time, in the order in which they stand."""
    for i in range(b.size):
        b[i] = 0.0
    count = wealths.size
    fours = count // 4
    for k in range(fours):
        j = 4 * k
        one, two, three, four = points[j], points[j + 1], points[j + 2], points[j + 3]
        v, w, y, z = wealths[j], wealths[j + 1], wealths[j + 2], wealths[j + 3]
        for i in range(one.size):
            b[i] = (((b[i] + v * one[i]) + w * two[i]) + y * three[i]) + z * four[i]
    for j in range(4 * fours, count):
        for i in range(b.size):
            b[i] += wealths[j] * points[j, i]


def count_points(stocks: int, params: Mapping[str, Any]) -> int:
    """The portfolios that are given or drawn; none where the integral is exact."""
    exact = stocks == 2 and params["prior"] == "uniform"
    return params["points"] or (0 if exact else int(params["samples"]))


def draw_points(array: Any, params: Mapping[str, Any], seed: int) -> None:
    """Portfolios drawn from the prior."""
    alpha = 1.0 if params["prior"] == "uniform" else 0.5
    drawn = np.random.default_rng(seed).gamma(alpha, size=array.shape)
    array[:] = drawn / drawn.sum(axis=1, keepdims=True)


def begin_at_mean(s: Any) -> None:
    """The average of all portfolios; of those drawn, about the uniform one."""
    if len(s.points):
        s.b[:] = s.points.mean(axis=0)
        s.b[:] /= s.b.sum()
    else:
        s.terms[0] = 1.0


def set_columns(s: Any) -> None:
    s.columns[:] = s.points.T


def universal_regret(p: Any, experts: float, rounds: float) -> float:
    """(m - 1) ln(T + 1)"""
    return (experts - 1.0) * math.log(rounds + 1.0)


def term_shape(stocks: int, days: int, params: Mapping[str, Any]) -> tuple[int, ...]:
    return (0,) if count_points(stocks, params) else (days + 1,)


def point_shape(stocks: int, days: int, params: Mapping[str, Any]) -> tuple[int, ...]:
    return (count_points(stocks, params),)


def find_problem(s: Any) -> str | None:
    """What is wrong with arrays of the right sizes, or None."""
    if s.points.size and (s.points.min() < 0.0 or abs(s.points.sum(axis=1) - 1.0).max() > 1e-9):
        return "points must be portfolios"
    if (s.wealths.size and s.wealths.min() < 0.0) or (s.terms.size and (s.terms.min() < 0.0 or s.terms.sum() <= 0.0)):
        return "the wealth of portfolios must not be negative"
    return None if (s.powers == np.round(s.powers)).all() else "powers must be whole numbers"


@portfolio_strategy(
    paper=COVER_1991,
    title="UniversalPortfolio",
    takes_points=True,
    params={
        "samples": Whole(
            2000,
            at_least=1.0,
            at_most=1e7,
            about="with three stocks or more: how many portfolios are drawn",
            untuned="more are more exact, and take longer",
        ),
        "prior": Choice(
            "uniform",
            {"uniform": None, "jeffreys": None},
            "of the portfolios that are drawn: uniform, or Dirichlet(1/2); two stocks are exact with uniform",
        ),
    },
    arrays={
        "terms": Array(term_shape),
        "powers": Array(term_shape),
        "points": Array(
            lambda stocks, days, params: (count_points(stocks, params), stocks), fill=draw_points, fixed=True
        ),
        "columns": Array(lambda stocks, days, params: (stocks, count_points(stocks, params)), fixed=True, scratch=True),
        "wealths": Array(point_shape, 1.0),
        "growths": Array(point_shape, scratch=True),
    },
    counters={"deep": 0.0},
    begin=begin_at_mean,
    derive=set_columns,
    find_problem=find_problem,
    exact=lambda stocks, state: state.points.shape[0] == 0,
    guarantees=(
        Guarantee(
            "regret",
            "ln wealth >= ln wealth of the best constant rebalanced portfolio of m stocks - (m - 1) ln(T + 1)",
            "the exact integral over all portfolios: two stocks; no costs",
            universal_regret,
            options={"prior": ("uniform",)},
            comparator="simplex",
        ),
    ),
)
def universal(p: Any, s: Any, x: Any, growth: float) -> None:
    """Hold the average of all constant rebalanced portfolios, each weighted by the wealth it has reached."""
    if s.points.shape[0] == 0:
        learn_exactly(s, x, growth)
    else:
        learn_from_points(s, x, growth)
