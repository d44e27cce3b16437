"""The best stock and the best constant rebalanced portfolio: what strategies are compared with, known only afterwards.

They see all days before they choose, so they are functions of all price relatives, and no learners.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.verbs import unbound
from noregret.errors import BadValue, Error
from noregret.experts.expert_rows import Name
from noregret.experts.portfolio.portfolio_learner import exponential
from noregret.experts.portfolio.relatives import read_relatives
from noregret.experts.portfolio.simplex import minimise
from noregret.experts.rounds import Compiled, compile_entry

Floats = NDArray[np.float64]
TOLERANCE = 1e-12  # of the growth rate of wealth on a day, relative to that of the best portfolio
ACCEPTED = 1e-9  # where rounding allows no smaller gap
STEPS = 500
JOIN = 4  # stocks that join the portfolio at a time
ROUNDING = 1e-13  # of the growth rate
RIDGE = 1e-13  # relative to the diagonal, so that stocks with the same prices have a single solution

read_matrix = read_vector = read_point = read_factor = read_work = unbound


class Hindsight(NamedTuple):
    """A portfolio that was chosen after the last day."""

    names: list[Name]
    portfolio: Floats
    log_wealth: float  # of the portfolio, rebalanced every day without costs
    gap: float  # no constant rebalanced portfolio has a growth rate higher by more than this: max over i of the mean
    # over t of x_ti / (b.x_t), less 1

    @property
    def wealth(self) -> float:
        """What 1 has become."""
        return exponential(self.log_wealth)

    @property
    def shares(self) -> dict[Name, float]:
        """The share of every stock that is held, the largest first."""
        found = {name: float(share) for name, share in zip(self.names, self.portfolio, strict=True) if share > 0.0}
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def best_stock(X: Any) -> Hindsight:
    """The stock whose price grew most; all wealth is in it on every day."""
    names, relatives = read_days(X)
    logs = np.log(relatives).sum(axis=0)
    best = int(np.argmax(logs))
    portfolio = np.zeros(len(names))
    portfolio[best] = 1.0
    return Hindsight(names, portfolio, float(logs[best]), measure_gap(relatives, relatives[:, best])[0])


def best_constant_portfolio(X: Any, native: bool = True) -> Hindsight:
    """The constant rebalanced portfolio with the highest wealth, BCRP: the maximum of sum_t ln(b.x_t) on the simplex.

    Newton steps over few stocks, which others join while the duality gap shows that this gains something; it stops
    where no portfolio can have a higher growth rate by more than 1e-12 (`gap`), or as little as rounding allows.
    """
    names, relatives = read_days(X)
    columns = np.asfortranarray(relatives)
    held = [int(np.argmax(np.log(relatives).sum(axis=0)))]
    point = np.ones(1)
    best = np.inf
    for _ in range(STEPS):
        gap, gradient = measure_gap(relatives, columns[:, held] @ point)
        if gap <= TOLERANCE or (gap <= ACCEPTED and gap >= 0.5 * best):
            break
        best = min(best, gap)
        others = [int(i) for i in np.argsort(-gradient)[:JOIN] if gradient[i] > 1.0 and int(i) not in held]
        held, point = held + others, np.concatenate([point, np.zeros(len(others))])
        point = climb(np.ascontiguousarray(columns[:, held]), point, native)
        held, point = [i for i, share in zip(held, point, strict=True) if share > 0.0], point[point > 0.0]
    else:
        raise Error(f"the best constant rebalanced portfolio was not found: its duality gap is still {best:g}")
    portfolio = np.zeros(len(names))
    portfolio[held] = point
    return Hindsight(names, portfolio, float(np.log(relatives @ portfolio).sum()), gap)


def read_days(X: Any) -> tuple[list[Name], Floats]:
    names, relatives = read_relatives(X, None)
    if not len(relatives):
        raise BadValue("there are no days to choose a portfolio by")
    return names, relatives


def measure_gap(relatives: Floats, growth: Floats) -> tuple[float, Floats]:
    """By how much a portfolio could grow faster at most, and the gradient of its growth rate."""
    gradient = (1.0 / growth) @ relatives / len(growth)
    return float(gradient.max() - 1.0), gradient


def climb(relatives: Floats, point: Floats, native: bool) -> Floats:
    """The maximum over a few stocks, by Newton's method: each step is the maximum of a quadratic model."""
    least = np.inf
    for _ in range(STEPS):
        growth = relatives @ point
        gap, gradient = measure_gap(relatives, growth)
        scaled = relatives / growth[:, None]
        curvature = scaled.T @ scaled / len(scaled)
        curvature[np.diag_indices(len(point))] *= 1.0 + RIDGE
        target = point.copy()
        minimise_on_simplex(curvature, 2.0 * gradient, target, native)
        direction = target - point
        slope, share = float(gradient @ direction), 1.0
        if slope < ROUNDING:  # what a step gains is lost in rounding; the gap still shows whether it is one
            if gap <= 0.1 * TOLERANCE or gap >= 0.5 * least:
                return point
            least = gap
        else:
            rate = np.log(growth).mean() + 1e-15
            while share > 1e-9 and np.log(relatives @ (point + share * direction)).mean() < rate + 0.1 * share * slope:
                share *= 0.5
        point = np.maximum(point + share * direction, 0.0)
        point /= point.sum()
    return point


# ---- the model of a step, compiled -------------------------------------------------------------------------------


def entry(table: Any) -> int:
    minimise(read_matrix(table), read_vector(table), read_point(table), read_factor(table), read_work(table))
    return 0


@cache
def compile_minimise() -> Compiled:
    examples = (np.zeros((1, 1)), np.zeros(1), np.zeros(1), np.zeros((1, 1)), np.zeros((4, 1)))
    return compile_entry(entry, ("matrix", "vector", "point", "factor", "work"), examples)


def minimise_on_simplex(A: Floats, c: Floats, q: Floats, native: bool = True) -> None:
    """Move q to the minimum of q'A q / 2 - c.q on the simplex."""
    values = (A, c, q, np.zeros_like(A), np.zeros((4, len(q))))
    if native:
        run, size = compile_minimise()
        run(np.zeros(size, np.int64), *values)
    else:
        minimise(*values)
    if not np.isfinite(q).all():
        raise Error("the minimum of a quadratic on the simplex was not found; use price relatives that differ by less")
