"""Portfolio strategies written as the papers write them: a class for each, slow and obvious.

`b` is the portfolio of the next day; `learn(x)` takes the price relatives of a day.
"""

from itertools import combinations
from typing import Any

import numpy as np


def project(v: np.ndarray) -> np.ndarray:
    """The nearest portfolio, by sorting."""
    ordered = np.sort(v)[::-1]
    sums = np.cumsum(ordered)
    count = max(k for k in range(1, len(v) + 1) if ordered[k - 1] + (1.0 - sums[k - 1]) / k > 0.0)
    return np.asarray(np.maximum(v + (1.0 - sums[count - 1]) / count, 0.0))


def minimise(A: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The portfolio with the least q'A q / 2 - c.q: the best of the minima over all faces of the simplex."""
    m, best, found = len(c), np.inf, np.zeros(len(c))
    for size in range(1, m + 1):
        for face in combinations(range(m), size):
            some = list(face)
            system = np.ones((size + 1, size + 1))
            system[:size, :size], system[size, size] = A[np.ix_(some, some)], 0.0
            q = np.zeros(m)
            q[some] = np.linalg.solve(system, np.append(c[some], 1.0))[:size]
            if q.min() >= -1e-13 and q @ A @ q / 2.0 - c @ q < best:
                best, found = q @ A @ q / 2.0 - c @ q, np.maximum(q, 0.0)
    return found


class Strategy:
    def __init__(self, stocks: int, **params: Any) -> None:
        self.b, self.days, self.m = np.full(stocks, 1.0 / stocks), np.zeros((0, stocks)), stocks
        for name, value in params.items():
            setattr(self, name, value)

    def learn(self, x: np.ndarray) -> None:
        self.days = np.vstack([self.days, x])
        self.b = self.choose(x)

    def choose(self, x: np.ndarray) -> np.ndarray:
        raise NotImplementedError


class BuyAndHold(Strategy):
    def choose(self, x: np.ndarray) -> np.ndarray:
        worth = self.days.prod(axis=0)
        return np.asarray(worth / worth.sum())


class Crp(Strategy):
    def choose(self, x: np.ndarray) -> np.ndarray:
        return self.b


class EgPortfolio(Strategy):
    eta = 0.05

    def choose(self, x: np.ndarray) -> np.ndarray:
        new = self.b * np.exp(self.eta * x / (self.b @ x))
        return np.asarray(new / new.sum())


class Ons(Strategy):
    beta, delta, eta = 1.0, 0.125, 0.0

    def choose(self, x: np.ndarray) -> np.ndarray:
        self.gradients = [*getattr(self, "gradients", []), x / (self.b @ x)]
        A = np.eye(self.m) + sum(np.outer(g, g) for g in self.gradients)
        z = (1.0 + 1.0 / self.beta) * np.sum(self.gradients, axis=0)
        return (1.0 - self.eta) * minimise(A, self.delta * z) + self.eta / self.m


class Pamr(Strategy):
    variant, eps, C = 0, 0.5, 500.0

    def choose(self, x: np.ndarray) -> np.ndarray:
        loss, centred = max(0.0, self.b @ x - self.eps), x - x.mean()
        squares = centred @ centred
        if squares == 0.0:
            return self.b
        tau = [loss / squares, min(self.C, loss / squares), loss / (squares + 1.0 / (2.0 * self.C))][int(self.variant)]
        return project(self.b - tau * centred)


class Olmar(Strategy):
    variant, window, eps, alpha, first_days = 1, 5, 10.0, 0.5, "average"

    def choose(self, x: np.ndarray) -> np.ndarray:
        prices = np.vstack([np.ones(self.m), np.cumprod(self.days, axis=0)])
        left_out = int(self.window) - 1 if self.first_days == "level" else 0
        if len(self.days) <= left_out:
            expected = prices[-1]
        elif self.variant == 1:
            expected = prices[-int(self.window) :].mean(axis=0) / prices[-1]
        else:
            expected = np.ones(self.m)
            for day in self.days[left_out:]:
                expected = self.alpha + (1.0 - self.alpha) * expected / day
        centred = expected - expected.mean()
        if centred @ centred == 0.0:
            return self.b
        step = max(0.0, (self.eps - self.b @ expected) / (centred @ centred))
        return project(self.b + step * centred)


class Universal(Strategy):
    """Two stocks: by Gauss-Legendre quadrature, exact for polynomials up to degree 2 * 200 - 1. More: over points."""

    points: np.ndarray | None = None

    def __init__(self, stocks: int, **params: Any) -> None:
        super().__init__(stocks, **params)
        self.weights = np.ones(0 if self.points is None else len(self.points))
        if self.points is None:
            places, self.weights = np.polynomial.legendre.leggauss(200)
            shares = (places + 1.0) / 2.0
            self.points = np.column_stack([shares, 1.0 - shares])
        else:
            self.b = self.points.mean(axis=0)

    def choose(self, x: np.ndarray) -> np.ndarray:
        assert self.points is not None
        wealth = self.weights * np.exp(np.log(self.days @ self.points.T).sum(axis=0))
        return np.asarray(wealth @ self.points / wealth.sum())


TWINS = {
    "buy_and_hold": BuyAndHold, "crp": Crp, "eg_portfolio": EgPortfolio, "ons": Ons, "pamr": Pamr, "olmar": Olmar,
    "universal": Universal,
}  # fmt: skip


def play(name: str, relatives: np.ndarray, cost: float = 0.0, **params: Any) -> tuple[np.ndarray, np.ndarray]:
    """The portfolios of all days, and the factors by which wealth grew, costs included."""
    twin = TWINS[name](relatives.shape[1], **params)
    portfolios, factors, held = [], [], None
    for x in relatives:
        traded = 0.0 if held is None else np.abs(twin.b - held).sum()
        portfolios.append(twin.b.copy())
        factors.append(twin.b @ x * (1.0 - cost / 2.0 * traded))
        held = twin.b * x / (twin.b @ x)
        twin.learn(x)
    return np.array(portfolios), np.array(factors)
