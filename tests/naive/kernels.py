"""Kernel learning (Aizerman, Braverman, Rozonoer 1964): f(x) = sum over supports of c_i K(x_i, x).

A first-order step w = shrink w + tau z becomes one more support x with the coefficient tau times the sign of
each class, the others times shrink, and |z|^2 becomes K(x, x) times the number of classes in z.
"""

from dataclasses import dataclass

import numpy as np

from .perceptron import AveragedPerceptron, VotedPerceptron, ballot
from .rules import Array, FirstOrder, Round, Rule


@dataclass(frozen=True)
class Kernel:
    """The kernels by name, each as its definition writes it."""

    name: str
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 3

    def __call__(self, x: Array, z: Array) -> float:
        if self.name == "linear":
            return float(x @ z)
        if self.name == "polynomial":
            return float((self.gamma * (x @ z) + self.coef0) ** self.degree)
        if self.name == "rbf":
            return float(np.exp(-self.gamma * np.sum((x - z) ** 2)))
        if self.name == "laplacian":
            return float(np.exp(-self.gamma * np.sum(np.abs(x - z))))
        if self.name == "sigmoid":
            return float(np.tanh(self.gamma * (x @ z) + self.coef0))
        if self.name == "cosine":
            sizes = float(np.linalg.norm(x) * np.linalg.norm(z))
            return float(x @ z) / sizes if sizes else 0.0
        raise ValueError(f"unknown kernel {self.name}")


class KernelRule(Rule):
    """A rule that exists only with a kernel, which is set before it plays."""

    kernel = Kernel("linear")


class Expansion(Rule):
    """Plays a first-order rule on a plain list of supports, one entry per update."""

    def __init__(self, rule: FirstOrder, kernel: Kernel) -> None:
        self.rule = rule
        self.kernel = kernel
        self.margin_rule = rule.margin_rule
        self.weighs = rule.weighs

    def start(self, k: int, d: int) -> None:
        self.k, self.d = k, d
        self.supports: list[Array] = []
        self.coefficients: list[Array] = []  # one (k,) row per support
        self.rounds: list[int] = []  # the round that added the support
        self.rule.size = self.size

    def size(self) -> float:
        """|w|^2, from the scores of all supports."""
        return sum(float(c @ self.scores(x)) for c, x in zip(self.coefficients, self.supports, strict=True))

    def expand(self, coefficients: list[Array], x: Array) -> Array:
        total = np.zeros(self.k)
        for support, coefficient in zip(self.supports, coefficients, strict=True):
            total = total + coefficient * self.kernel(support, x)
        return total

    def scores(self, x: Array) -> Array:
        return self.expand(self.coefficients, x) + self.rule.shift

    def final_scores(self, x: Array) -> Array:
        if isinstance(self.rule, VotedPerceptron):
            alive = [[s < t for s in self.rounds] for t in range(1, self.t + 2)]  # those that are part of w_t
            return np.asarray(np.sum([ballot(self.expand(self.only(part), x)) for part in alive], axis=0))
        if not isinstance(self.rule, AveragedPerceptron):
            return self.scores(x)
        # A support added in round s is part of w_{s+1}, ..., w_{T+1}: T + 1 - s of T + 1 vectors.
        shares = [(self.t + 1 - s) / (self.t + 1) for s in self.rounds]
        mean = [share * c for share, c in zip(shares, self.coefficients, strict=True)]
        return self.expand(mean, x)

    def only(self, part: list[bool]) -> list[Array]:
        return [c if some else np.zeros(self.k) for some, c in zip(part, self.coefficients, strict=True)]

    def sqnorm(self, r: Round) -> float:
        return self.kernel(r.x, r.x) * r.squared_signs

    def measure(self, sqnorm: float) -> None:
        self.rule.measure(sqnorm)

    def update(self, r: Round) -> bool:
        tau = self.rule.step(r, self.sqnorm(r), self.t)
        self.multiply(self.rule.fade(self.t))
        if tau is not None:
            self.multiply(self.rule.shrink)
            self.supports.append(r.x.copy())
            self.coefficients.append(tau * r.signs)
            self.rounds.append(self.t)
            if np.isfinite(self.rule.longest()):
                length = self.length()
                if length > self.rule.longest():
                    self.multiply(self.rule.longest() / length)
        if hasattr(self.rule, "shorten"):
            self.multiply(self.rule.shorten(self.length(), self.t))
        return tau is not None

    def multiply(self, a: float) -> None:
        if a != 1.0:
            self.coefficients = [a * coefficient for coefficient in self.coefficients]

    def length(self) -> float:
        return float(np.sqrt(max(self.size(), 0.0)))

    def state(self) -> dict[str, Array]:
        return {"coefficients": np.array(self.coefficients).reshape(-1, self.k).T}

    def shared_state(self) -> dict[str, Array]:
        return {"supports": np.array(self.supports).reshape(-1, self.d)}
