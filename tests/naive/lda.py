"""Online latent Dirichlet allocation as the paper writes it: all of lambda at once, phi as a matrix, scipy's psi."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

Floats = NDArray[np.float64]


class NaiveLDA:
    """Lambda as a matrix of topics and words."""

    def __init__(self, start: Floats, alpha: float, eta: float, tau0: float, kappa: float, documents: float) -> None:
        self.lam, self.alpha, self.eta = start.copy(), alpha, eta
        self.tau0, self.kappa, self.documents = tau0, kappa, documents
        self.steps = self.seen = 0

    def expected_log_beta(self) -> Floats:
        return np.asarray(psi(self.lam) - psi(self.lam.sum(axis=1, keepdims=True)))

    def infer(self, counts: Floats, tolerance: float = 1e-3, iterations: int = 100) -> tuple[Floats, Floats]:
        """Gamma and phi (words x topics) of a document."""
        topics = self.lam.shape[0]
        gamma, log_beta = np.ones(topics), self.expected_log_beta().T
        for _ in range(iterations):
            phi = responsibilities(gamma, log_beta)
            new = self.alpha + counts @ phi
            change = np.abs(new - gamma).mean()
            gamma = new
            if change < tolerance:
                break
        return gamma, responsibilities(gamma, log_beta)

    def learn(self, batch: Floats, share: float = 1.0, **options: Any) -> None:
        """One mini-batch of documents, a row of counts for each; only a share of a step, where it is not full."""
        self.steps += 1
        self.seen += len(batch)
        statistics = np.zeros_like(self.lam)
        for counts in batch:
            _, phi = self.infer(counts, **options)
            statistics += (counts[:, None] * phi).T
        size = self.documents or max(10_000, self.seen)
        rate = share * (self.tau0 + self.steps) ** -self.kappa
        self.lam = (1 - rate) * self.lam + rate * (self.eta + size / len(batch) * statistics)

    def loss(self, counts: Floats, **options: Any) -> float:
        """Minus the variational lower bound on log p(document | mean of beta)."""
        gamma, _ = self.infer(counts, **options)
        log_theta = psi(gamma) - psi(gamma.sum())
        beta = self.lam / self.lam.sum(axis=1, keepdims=True)
        words = sum(n * np.log(np.exp(log_theta) @ beta[:, w]) for w, n in enumerate(counts) if n)
        return float(-(words + dirichlet_part(gamma, self.alpha)))

    def bound(self, batch: Floats, **options: Any) -> float:
        """The evidence lower bound of documents and topics together, as a function of all variational parameters."""
        log_beta, total = self.expected_log_beta(), 0.0
        for counts in batch:
            gamma, phi = self.infer(counts, **options)
            log_theta = psi(gamma) - psi(gamma.sum())
            inside = phi * (log_theta + log_beta.T - np.log(np.maximum(phi, 1e-300)))
            total += float((counts[:, None] * inside).sum()) + dirichlet_part(gamma, self.alpha)
        return total + sum(dirichlet_part(row, self.eta) for row in self.lam)


def responsibilities(gamma: Floats, log_beta: Floats) -> Floats:
    """Phi: the probability of each topic for each word."""
    scores = psi(gamma) - psi(gamma.sum()) + log_beta
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def dirichlet_part(parameters: Floats, prior: float) -> float:
    """E log p - E log q of a Dirichlet distribution with these parameters, where the prior is symmetric."""
    expected = psi(parameters) - psi(parameters.sum())
    own = gammaln(parameters.sum()) - gammaln(parameters).sum() + ((parameters - 1) * expected).sum()
    size = parameters.size
    other = gammaln(size * prior) - size * gammaln(prior) + ((prior - 1) * expected).sum()
    return float(other - own)
