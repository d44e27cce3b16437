"""Passive-aggressive learners (Crammer, Dekel, Keshet, Shalev-Shwartz, Singer 2006).

With l = 1 - margin > 0 and n = |z|^2 the step w += tau z solves
    PA     min 1/2 |w - w_t|^2             subject to hinge = 0
    PA-I   min 1/2 |w - w_t|^2 + C xi      subject to hinge <= xi, xi >= 0
    PA-II  min 1/2 |w - w_t|^2 + C xi^2    subject to hinge <= xi
In regression l is |y - f| - eps. Gated by mistakes, a rule moves only when margin <= 0.
"""

from collections.abc import Callable

from .rules import FirstOrder, Round, Rule


class PA(FirstOrder):
    """tau = l / n."""

    regresses = True

    def __init__(self, gate: str = "loss") -> None:
        self.gate = gate

    def step(self, r: Round, sqnorm: float, t: int) -> float | None:
        if r.margin >= 1.0 or (self.gate == "mistake" and r.margin > 0.0):
            return None
        return (1.0 - r.margin) / sqnorm


class PA1(FirstOrder):
    """tau = min(C, l / n). A C of 0 stands for one over the size of the rows. An importance weight scales C."""

    regresses = True
    weighs = True

    def __init__(self, C: float = 0.0, gate: str = "loss") -> None:
        self.C = C
        self.gate = gate

    def step(self, r: Round, sqnorm: float, t: int) -> float | None:
        C = self.fit(self.C, 1.0, r, sqnorm)
        if r.margin >= 1.0 or (self.gate == "mistake" and r.margin > 0.0):
            return None
        return min(C * r.weight, (1.0 - r.margin) / sqnorm)


class PA2(FirstOrder):
    """tau = l / (n + 1 / (2 C)). A C of 0 stands for half of one over the size of the rows. An importance weight scales
    C.
    """

    regresses = True
    weighs = True

    def __init__(self, C: float = 0.0, gate: str = "loss") -> None:
        self.C = C
        self.gate = gate

    def step(self, r: Round, sqnorm: float, t: int) -> float | None:
        C = self.fit(self.C, 0.5, r, sqnorm)
        if r.margin >= 1.0 or (self.gate == "mistake" and r.margin > 0.0):
            return None
        return (1.0 - r.margin) / (sqnorm + 1.0 / (2.0 * C * r.weight))


RULES: dict[str, Callable[..., Rule]] = {"pa": PA, "pa1": PA1, "pa2": PA2}
