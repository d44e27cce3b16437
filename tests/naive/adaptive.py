"""AdaGrad (Duchi et al. 2011), Adadelta (Zeiler 2012), FTRL-Proximal (McMahan et al. 2013), all coordinates at once.

The gradient of a round is slope z. An importance weight scales it.
"""

from collections.abc import Callable

import numpy as np

from .gradient import slope
from .rules import Array, Round, Rule


class Adaptive(Rule):
    """Hands the gradient of the round, (k, d), to descend."""

    margin_rule = False
    weighs = True
    regresses = True
    loss: str

    def update(self, r: Round) -> bool:
        derivative = slope(self.loss, r)
        if derivative == 0.0:
            return False
        self.descend(r.weight * derivative * r.z)
        return True

    def descend(self, g: Array) -> None:
        raise NotImplementedError


class AdaGrad(Adaptive):
    def __init__(
        self, eta: float = 0.1, delta: float = 1e-8, onto: str = "everywhere", radius: float = 1.0, loss: str = "hinge"
    ) -> None:
        self.eta, self.delta, self.loss = eta, delta, loss
        self.limit = radius if onto == "box" else np.inf

    def start(self, k: int, d: int) -> None:
        super().start(k, d)
        self.G: Array = np.zeros((k, d))

    def descend(self, g: Array) -> None:
        self.G = self.G + g**2
        self.w = np.clip(self.w - self.eta * g / (np.sqrt(self.G) + self.delta), -self.limit, self.limit)


class Adadelta(Adaptive):
    """Coordinates without a gradient keep their means as they are."""

    def __init__(self, rho: float = 0.95, delta: float = 1e-6, eta: float = 1.0, loss: str = "hinge") -> None:
        self.rho, self.delta, self.eta, self.loss = rho, delta, eta, loss

    def start(self, k: int, d: int) -> None:
        super().start(k, d)
        self.g2: Array = np.zeros((k, d))
        self.x2: Array = np.zeros((k, d))

    def descend(self, g: Array) -> None:
        on = g != 0.0
        self.g2 = np.where(on, self.rho * self.g2 + (1 - self.rho) * g**2, self.g2)
        dx = -np.sqrt(self.x2 + self.delta) / np.sqrt(self.g2 + self.delta) * g
        self.x2 = np.where(on, self.rho * self.x2 + (1 - self.rho) * dx**2, self.x2)
        self.w = self.w + self.eta * dx


class FTRL(Adaptive):
    """Keeps all it was ever told: the sum of gradients, and the sum of sigma_s and of sigma_s w_s."""

    def __init__(
        self, alpha: float = 0.1, beta: float = 1.0, l1: float = 1.0, l2: float = 0.0, loss: str = "logistic"
    ) -> None:
        self.alpha, self.beta, self.l1, self.l2, self.loss = alpha, beta, l1, l2, loss

    def start(self, k: int, d: int) -> None:
        self.n, self.total, self.sigmas, self.centres = np.zeros((4, k, d))

    def weights(self) -> Array:
        """Minimise (total - centres) w + l1 |w| + (beta / alpha + l2 + sigmas) w^2 / 2 for each coordinate."""
        pull = self.total - self.centres
        curve = self.beta / self.alpha + self.l2 + self.sigmas
        moved = -(pull - self.l1 * np.sign(pull))
        return np.where(np.abs(pull) > self.l1, moved / np.where(curve > 0.0, curve, 1.0), 0.0)

    def scores(self, x: Array) -> Array:
        return self.weights() @ x

    def descend(self, g: Array) -> None:
        w = self.weights()
        n = self.n + g**2
        sigma = (np.sqrt(n) - np.sqrt(self.n)) / self.alpha
        self.n, self.total = n, self.total + g
        self.sigmas, self.centres = self.sigmas + sigma, self.centres + sigma * w

    def state(self) -> dict[str, Array]:
        return {"w": self.weights()}


class AdaRDA(Adaptive):
    """Keeps the gradients of all rounds in a list; w minimises what follows from them. Other rounds count."""

    def __init__(self, eta: float = 0.1, delta: float = 1.0, lam: float = 1e-4, loss: str = "hinge") -> None:
        self.eta, self.delta, self.lam, self.loss = eta, delta, lam, loss
        self.gradients: list[Array] = []

    def weights(self) -> Array:
        """Minimise  mean of g . w + lam |w|_1 + w'H w / (2 eta t)  over w, coordinate by coordinate."""
        if not self.gradients:
            return np.zeros_like(self.w)
        mean, H = np.sum(self.gradients, axis=0) / self.t, self.delta + np.linalg.norm(self.gradients, axis=0)
        rest = np.abs(mean) - self.lam
        return np.where(rest > 0.0, -np.sign(mean) * self.eta * self.t / H * rest, 0.0)

    def scores(self, x: Array) -> Array:
        return self.weights() @ x

    def update(self, r: Round) -> bool:
        derivative = slope(self.loss, r)
        self.gradients.append(r.weight * derivative * r.z)
        return derivative != 0.0

    def state(self) -> dict[str, Array]:
        return {"w": self.weights()}


RULES: dict[str, Callable[..., Rule]] = {"adagrad": AdaGrad, "adadelta": Adadelta, "ftrl": FTRL, "ada_rda": AdaRDA}
