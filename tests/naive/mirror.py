"""Mirror descent (Nemirovski and Yudin 1983): grad psi(w') = grad psi(w) - eta g.

psi is 1/2 |w|^2, or 1/2 |w|_q^2 with 1/p + 1/q = 1, or the negative entropy on the simplex; w' is found from w itself.
"""

from collections.abc import Callable

from .exponentiated import EG
from .gradient import slope
from .p_norm import gradient_of_half_squared_norm
from .rules import Array, Round, Rule


class Quadratic(Rule):
    """psi = 1/2 |w|_q^2, which for p = q = 2 is plain descent.

    An eta of 0 stands for one over the size of the rows.
    """

    margin_rule = False
    weighs = True
    regresses = True

    def __init__(self, eta: float, p: float, loss: str) -> None:
        self.eta = eta
        self.p, self.q = p, p / (p - 1.0)
        self.loss = loss

    def update(self, r: Round) -> bool:
        derivative = slope(self.loss, r)
        if derivative == 0.0:
            return False
        eta = self.eta or 1.0 / self.row_size()
        there = gradient_of_half_squared_norm(self.w, self.q) - eta * r.weight * derivative * r.z
        self.w = gradient_of_half_squared_norm(there, self.p)
        return True

    def scores(self, x: Array) -> Array:
        return self.w @ x


def mirror_descent(
    eta: float = 0.1, p: float = 4.0, features: float = 0.0, link: str = "euclidean", loss: str = "hinge"
) -> Rule:
    if link == "entropic":
        return EG(eta, features, loss)
    return Quadratic(eta, {"euclidean": 2.0, "p_norm": p}[link], loss)


RULES: dict[str, Callable[..., Rule]] = {"mirror_descent": mirror_descent}
