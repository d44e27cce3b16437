"""Learners of many classes that say how far each class moves along x (Crammer and Singer 2003; Crammer et al. 2006)."""

import numpy as np

from .rules import Array, Round, Rule


class Ultraconservative(Rule):
    """w_r += steps_r x for every class r that takes part."""

    def update(self, r: Round) -> bool:
        y = int(np.flatnonzero(r.signs > 0.0)[0])
        seen = np.ones(len(self.w), bool) if self.seen is None else self.seen
        steps = np.zeros(len(self.w))
        steps[seen] = self.steps((self.w @ r.x)[seen], int(np.sum(seen[:y])), float(r.x @ r.x), r.weight)
        self.w = self.w + np.outer(steps, r.x)
        return bool(np.any(steps != 0.0))

    def steps(self, s: Array, y: int, size: float, weight: float) -> Array:
        raise NotImplementedError


class Perceptron(Ultraconservative):
    """E = all r != y with s_r >= s_y; the step of y is eta, and those of E sum to -eta."""

    weighs = True

    def __init__(self, eta: float = 1.0, spread: str = "max") -> None:
        self.eta, self.spread = eta, spread

    def steps(self, s: Array, y: int, size: float, weight: float) -> Array:
        E = [r for r in range(len(s)) if r != y and s[r] >= s[y]]
        found = np.zeros(len(s))
        if not E:
            return found
        if self.spread == "max":
            theta = np.array([1.0 if r == max(E, key=lambda e: float(s[e])) else 0.0 for r in E])
        else:
            theta = np.ones(len(E))
            if self.spread == "proportional" and sum(s[r] - s[y] for r in E) > 0.0:
                theta = np.array([s[r] - s[y] for r in E])
            theta = theta / theta.sum()
        found[E] = -self.eta * weight * theta
        found[y] = self.eta * weight
        return found


class Mira(Ultraconservative):
    """The fixed point of Crammer and Singer, with the sorted list; or PA-I against the worst class."""

    def __init__(self, C: float = 1.0, flavour: str = "hinge") -> None:
        self.C, self.flavour = C, flavour

    def steps(self, s: Array, y: int, size: float, weight: float) -> Array:
        found = np.zeros(len(s))
        if self.flavour == "hinge":
            others = [r for r in range(len(s)) if r != y]
            worst = max(others, key=lambda r: float(s[r]))
            tau = min(self.C, max(0.0, 1.0 - (s[y] - s[worst])) / (2.0 * size))
            found[y], found[worst] = tau, -tau
            return found
        if s[y] >= s.max():
            return found
        B = s / size
        D = B + (np.arange(len(s)) == y)
        falling = np.append(np.sort(D)[::-1], -np.inf)
        for r in range(1, len(s) + 1):
            theta = (falling[:r].sum() - 1.0) / r
            if theta >= falling[r]:
                break
        tau = np.minimum(theta, D) - B
        return np.where((np.arange(len(s)) == y) | (theta < D), tau, 0.0)


class AllConstraints(Ultraconservative):
    """PA with one slack for all classes, by the sorted list."""

    weighs = True

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def steps(self, s: Array, y: int, size: float, weight: float) -> Array:
        C = self.C * weight
        others = np.arange(len(s)) != y
        g = (1.0 - (s[y] - s))[others] / size
        G = np.sort(g)[::-1]
        S = 0.0
        for m in range(1, len(G) + 1):
            mean = G[:m].sum() / (1 + m)
            if G[m - 1] > mean:
                S = mean
        a = np.maximum(0.0, g - S)
        if S > C:
            for m in range(1, len(G) + 1):
                slack = (G[:m].sum() - (m + 1) * C) / m
                if G[m - 1] - slack - C > 0.0:
                    lam = slack
            a = np.maximum(0.0, g - lam - C)
        found = np.zeros(len(s))
        found[others] = -a
        found[y] = a.sum()
        return found


RULES = {"perceptron_ultraconservative": Perceptron, "mira": Mira, "pa_all": AllConstraints}
