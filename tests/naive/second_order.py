"""Second-order perceptron (Cesa-Bianchi, Conconi, Gentile 2005), AROW (Crammer et al. 2009) and their relatives.

CW (Dredze et al. 2008, Crammer et al. 2008), SCW (Hoi et al. 2012), NHERD (Crammer, Lee 2010), NAROW (Orabona,
Crammer 2010).

Every score has its own covariance block, started at the identity. Sharpening by kappa along z is
Sigma_b^-1 += kappa z_b z_b' in every block b, that is Sigma_b -= beta (Sigma_b z_b)(Sigma_b z_b)' with
beta = kappa / (1 + kappa v_b) and v_b = z_b' Sigma_b z_b.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

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
        for b in range(len(z)):
            beta = kappa / (1.0 + kappa * float(z[b] @ Sz[b]))
            self.sigma[b] = self.sigma[b] - beta * np.outer(Sz[b], Sz[b])

    def posterior_image(self, kappa: Array, x: Array) -> Array:
        """(Sigma_b^-1 + kappa_b x x')^-1 x, one row per block."""
        precisions = [np.linalg.inv(sigma) for sigma in self.sigma]
        return np.array([np.linalg.solve(A + k * np.outer(x, x), x) for k, A in zip(kappa, precisions, strict=True)])


class Drop:
    """The matrix update with everything off the diagonal dropped: sigma is (k, d)."""

    def __init__(self, k: int, d: int) -> None:
        self.sigma: Array = np.ones((k, d))

    def image(self, z: Array) -> Array:
        return self.sigma * z

    def sharpen(self, kappa: float, z: Array) -> None:
        """sigma - kappa (Sigma z)^2 / (1 + kappa v), over one denominator: 1 - v / (1 + v) would lose its digits."""
        own = z * self.image(z)
        v = float(np.sum(own))
        self.sigma = self.sigma * (1.0 + kappa * np.maximum(v - own, 0.0)) / (1.0 + kappa * v)

    def posterior_image(self, kappa: Array, x: Array) -> Array:
        """Sigma x / (1 + kappa x' Sigma x), the exact (Sigma^-1 + kappa x x')^-1 x of a diagonal Sigma."""
        return np.asarray(self.sigma * x / (1.0 + kappa * np.sum(self.sigma * x**2, axis=1))[:, None])


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

    def posterior_image(self, kappa: Array, x: Array) -> Array:
        return np.asarray(x / (self.precision + kappa[:, None] * x**2))


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
        return np.asarray(np.sum(self.v * self.cov.posterior_image(np.ones(len(self.v)), x), axis=1))

    def update(self, r: Round) -> bool:
        if r.margin > 0.0:
            return False
        self.v = self.v + r.z
        self.cov.sharpen(1.0, r.z)
        return True

    def state(self) -> dict[str, Array]:
        return {"v": self.v, "sigma": self.cov.sigma}


class NHERD(AROW):
    """If margin < 1: w += (1 - margin) / (v + 1/C) Sigma z, then Sigma_b = A Sigma_b A' with A from the paper.

    The diagonals, and the matrices of many classes, follow from Sigma^-1 += (2 C + C^2 v) z z'. A C of 0 stands for
    4 over the size of the rows.
    """

    weighs = False

    def __init__(self, C: float = 1.0, covariance: str = "diagonal") -> None:
        self.C = C
        self.covariance = covariance

    def update(self, r: Round) -> bool:
        if r.margin >= 1.0:
            return False
        C, Sz = self.C or 4.0 / self.row_size(), self.cov.image(r.z)
        v = float(np.sum(r.z * Sz))
        self.w = self.w + (1.0 - r.margin) / (v + 1.0 / C) * Sz
        if isinstance(self.cov, Full) and len(Sz) == 1:
            beta = (C**2 * v + 2.0 * C) / (1.0 + C * v) ** 2
            self.cov.sigma = self.cov.sigma - beta * np.einsum("bi,bj->bij", Sz, Sz)
        else:
            self.cov.sharpen(2.0 * C + C**2 * v, r.z)
        return True


class NAROW(Rule):
    """Score theta' A'^-1 x, A' = A + x x'/r, r = chi / (b chi - 1) if chi > 1/b, else inf, chi = x' A^-1 x.

    If margin < 1: theta += z, A = A' with the chi of z.
    """

    regresses = True

    def __init__(self, b: float = 1.0, covariance: str = "diagonal") -> None:
        self.b = b
        self.covariance = covariance

    def start(self, k: int, d: int) -> None:
        self.theta: Array = np.zeros((k, d))
        self.cov = COVARIANCES[self.covariance](k, d)

    def r(self, chi: float) -> float:
        return chi / (self.b * chi - 1.0) if chi > 1.0 / self.b else np.inf

    def scores(self, x: Array) -> Array:
        chis = np.sum(x * self.cov.image(np.tile(x, (len(self.theta), 1))), axis=1)
        kappas = np.array([1.0 / self.r(float(chi)) for chi in chis])
        return np.asarray(np.sum(self.theta * self.cov.posterior_image(kappas, x), axis=1))

    def update(self, r: Round) -> bool:
        if r.margin >= 1.0:
            return False
        self.theta = self.theta + r.z
        self.cov.sharpen(1.0 / self.r(float(np.sum(r.z * self.cov.image(r.z)))), r.z)
        return True

    def state(self) -> dict[str, Array]:
        return {"theta": self.theta, "sigma": self.cov.sigma}


class CW(AROW):
    """The stdev form: if margin < phi sqrt(v), reach margin = phi sqrt(u), u = z' Sigma z after the step.

    Sigma stays as it is if u were to fall under `floor` |z|^2.
    """

    weighs = False
    regresses = False
    floor = 1e-12

    def __init__(self, eta: float = 0.9, covariance: str = "diagonal") -> None:
        self.phi = float(norm.ppf(eta))
        self.covariance = covariance

    def alpha(self, m: float, v: float) -> float:
        phi = self.phi
        psi, zeta = 1.0 + phi**2 / 2.0, 1.0 + phi**2
        return float((-m * psi + np.sqrt(m**2 * phi**4 / 4.0 + v * phi**2 * zeta)) / (v * zeta))

    def update(self, r: Round) -> bool:
        phi, Sz = self.phi, self.cov.image(r.z)
        v = float(np.sum(r.z * Sz))
        if r.margin >= phi * np.sqrt(v):
            return False
        alpha = self.alpha(r.margin, v)
        u = 0.25 * (-alpha * v * phi + np.sqrt(alpha**2 * v**2 * phi**2 + 4.0 * v)) ** 2
        self.w = self.w + alpha * Sz
        if u > self.floor * self.sqnorm(r):
            self.cov.sharpen(float(alpha * phi / np.sqrt(u)), r.z)
        return True


class CWVariance(CW):
    """The variance form: if margin < phi v, reach margin = phi u."""

    def update(self, r: Round) -> bool:
        phi, m, Sz = self.phi, r.margin, self.cov.image(r.z)
        v = float(np.sum(r.z * Sz))
        if m >= phi * v:
            return False
        most = (phi * v - m) / v
        alpha = brentq(lambda a: m + a * v - phi * v / (1.0 + 2.0 * a * phi * v), 0.0, most, xtol=1e-300, rtol=1e-15)
        self.w = self.w + alpha * Sz
        if v / (1.0 + 2.0 * alpha * phi * v) > 1e-12 * self.sqnorm(r):
            self.cov.sharpen(float(2.0 * alpha * phi), r.z)
        return True


class SCW1(CW):
    """CW, but alpha is at most C; a C of 0 stands for 8 over the root of the size of the rows."""

    def __init__(self, eta: float = 0.75, C: float = 1.0, floor: float = 1e-12, covariance: str = "diagonal") -> None:
        super().__init__(eta, covariance)
        self.C, self.floor = C, floor

    def alpha(self, m: float, v: float) -> float:
        return min(self.C or 8.0 / float(np.sqrt(self.row_size())), super().alpha(m, v))


class SCW2(SCW1):
    """CW with the squared loss; a C of 0 stands for 30 over the size of the rows."""

    def alpha(self, m: float, v: float) -> float:
        phi, n = self.phi, v + 1.0 / (2.0 * (self.C or 30.0 / self.row_size()))
        gamma = np.sqrt(phi**4 * m**2 * v**2 + 4.0 * n * v * phi**2 * (n + v * phi**2))
        return float((-(2.0 * m * n + phi**2 * m * v) + gamma) / (2.0 * (n**2 + n * v * phi**2)))


class IELLIP(AROW):
    """On a mistake, g = z / sqrt(v): mu += (1 - m) / sqrt(v) Sigma g, Sigma -= c_t Sigma g g' Sigma, Sigma /= 1 - c_t.

    Of the diagonal, either the precision grows as that of the full matrix would, or all else is dropped.
    """

    weighs = False
    regresses = False

    def __init__(self, c: float = 0.1, b: float = 0.3, decay: str = "round", covariance: str = "diagonal") -> None:
        self.c, self.b, self.decay, self.covariance = c, b, decay, covariance
        self.updates, self.grown = 0, 1.0

    def update(self, r: Round) -> bool:
        if r.margin > 0.0:
            return False
        Sz = self.cov.image(r.z) * self.grown
        v = float(np.sum(r.z * Sz))
        share = self.c * self.b ** (self.t - 1 if self.decay == "round" else self.updates)
        g = Sz / np.sqrt(v)
        self.w = self.w + (1.0 - r.margin) / np.sqrt(v) * g
        self.cov.sharpen(self.grown * share / (v * (1.0 - share)), r.z)
        self.grown = self.grown / (1.0 - share)
        self.updates += 1
        return True


RULES: dict[str, Callable[..., Rule]] = {
    "arow": AROW,
    "sop": SOP,
    "nherd": NHERD,
    "narow": NAROW,
    "iellip": IELLIP,
    "cw": CW,
    "cw_variance": CWVariance,
    "scw1": SCW1,
    "scw2": SCW2,
}
