"""Second-order perceptron (Cesa-Bianchi, Conconi, Gentile 2005) and AROW (Crammer et al. 2009).

Every score has its own covariance block, started at the identity. Sharpening by kappa along z is
Sigma^-1 += kappa z z', that is Sigma_b -= beta (Sigma_b z_b)(Sigma_b z_b)' in every block b, with
the one beta = kappa / (1 + kappa v) and v = z' Sigma z summed over the blocks.
"""

from collections.abc import Callable

import numpy as np

from .rules import Array, Round, Rule


class Full:
    """Whole matrices: sigma is (k, d, d)."""

    def __init__(self, k: int, d: int) -> None:
        self.sigma: Array = np.array([np.eye(d) for _ in range(k)])

    def image(self, z: Array) -> Array:
        """Sigma z, block by block."""
        return np.array([sigma @ z_b for sigma, z_b in zip(self.sigma, z, strict=True)])

    def sharpen(self, kappa: float, z: Array) -> None:
        Sz = self.image(z)
        beta = kappa / (1.0 + kappa * float(np.sum(z * Sz)))
        for b in range(len(z)):
            self.sigma[b] = self.sigma[b] - beta * np.outer(Sz[b], Sz[b])

    def foresee(self, x: Array) -> Array:
        """(Sigma_b^-1 + x x')^-1 x, one row per block."""
        precisions = [np.linalg.inv(sigma) for sigma in self.sigma]
        return np.array([np.linalg.solve(A + np.outer(x, x), x) for A in precisions])


class Drop:
    """The matrix update with everything off the diagonal dropped: sigma is (k, d)."""

    def __init__(self, k: int, d: int) -> None:
        self.sigma: Array = np.ones((k, d))

    def image(self, z: Array) -> Array:
        return self.sigma * z

    def sharpen(self, kappa: float, z: Array) -> None:
        Sz = self.image(z)
        beta = kappa / (1.0 + kappa * float(np.sum(z * Sz)))
        self.sigma = self.sigma - beta * Sz**2

    def foresee(self, x: Array) -> Array:
        """Sigma x / (1 + x' Sigma x), the exact (Sigma^-1 + x x')^-1 x of a diagonal Sigma."""
        return np.array([sigma * x / (1.0 + float(np.sum(sigma * x**2))) for sigma in self.sigma])


class Diagonal:
    """The diagonal of the precision: sigma is its inverse, (k, d)."""

    def __init__(self, k: int, d: int) -> None:
        self.precision: Array = np.ones((k, d))

    @property
    def sigma(self) -> Array:
        return 1.0 / self.precision

    def image(self, z: Array) -> Array:
        return z / self.precision

    def sharpen(self, kappa: float, z: Array) -> None:
        self.precision = self.precision + kappa * z**2

    def foresee(self, x: Array) -> Array:
        return x / (self.precision + x**2)


COVARIANCES: dict[str, type[Full] | type[Drop] | type[Diagonal]] = {
    "full": Full,
    "drop": Drop,
    "diagonal": Diagonal,
}


class AROW(Rule):
    """If margin < 1: w += (1 - margin) / (v + r) Sigma z, then Sigma^-1 += z z' / r.

    An importance weight scales 1 / r.
    """

    weighs = True
    regresses = True

    def __init__(self, r: float = 1.0, covariance: str = "diagonal") -> None:
        self.r = r
        self.covariance = covariance

    def start(self, k: int, d: int) -> None:
        super().start(k, d)
        self.cov = COVARIANCES[self.covariance](k, d)

    def update(self, r: Round) -> bool:
        if r.margin >= 1.0:
            return False
        regulariser = self.r / r.weight
        Sz = self.cov.image(r.z)
        v = float(np.sum(r.z * Sz))
        self.w = self.w + (1.0 - r.margin) / (v + regulariser) * Sz
        self.cov.sharpen(1.0 / regulariser, r.z)
        return True

    def state(self) -> dict[str, Array]:
        return {"w": self.w, "sigma": self.cov.sigma}


class SOP(Rule):
    """Score v'(A + x x')^-1 x with A = Sigma^-1; if margin <= 0: v += z, A += z z'."""

    def __init__(self, covariance: str = "diagonal") -> None:
        self.covariance = covariance

    def start(self, k: int, d: int) -> None:
        self.v: Array = np.zeros((k, d))
        self.cov = COVARIANCES[self.covariance](k, d)

    def scores(self, x: Array) -> Array:
        return np.asarray(np.sum(self.v * self.cov.foresee(x), axis=1))

    def update(self, r: Round) -> bool:
        if r.margin > 0.0:
            return False
        self.v = self.v + r.z
        self.cov.sharpen(1.0, r.z)
        return True

    def state(self) -> dict[str, Array]:
        return {"v": self.v, "sigma": self.cov.sigma}


RULES: dict[str, Callable[..., Rule]] = {"arow": AROW, "sop": SOP}
