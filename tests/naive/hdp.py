"""The online hierarchical Dirichlet process as the paper writes it: whole matrices, scipy's psi, logarithms."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

Floats = NDArray[np.float64]


def expected_logs(a: Floats, b: Floats) -> Floats:
    """E log of the pieces of a stick."""
    pieces = [psi(a[i]) - psi(a[i] + b[i]) + sum(psi(b[j]) - psi(a[j] + b[j]) for j in range(i)) for i in range(a.size)]
    return np.array([*pieces, sum(psi(b[j]) - psi(a[j] + b[j]) for j in range(a.size))])


def softmax(scores: Floats) -> Floats:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


class NaiveHDP:
    """Lambda without eta as a matrix of topics and words; topics are put in the order of the stick at every step."""

    def __init__(self, start: Floats, k: int, numbers: dict[str, float], uniform: bool) -> None:
        self.lam, self.k, self.p, self.uniform = start.copy(), k, numbers, uniform
        self.drawn = 1.0  # how much of the start is left
        topics = len(start)
        self.slots = np.zeros(topics)
        self.a, self.b = np.ones(topics - 1), np.arange(topics - 1.0, 0.0, -1.0)
        self.steps = self.seen = 0
        self.bounds: list[list[float]] = []

    def log_beta(self) -> Floats:
        full = self.lam + self.p["eta"]
        return np.asarray(psi(full) - psi(full.sum(axis=1, keepdims=True)))

    def prior(self) -> Floats:
        part = self.a / (self.a + self.b)
        pieces = [part[i] * np.prod(1 - part[:i]) for i in range(part.size)]
        return self.p["alpha"] * np.maximum([*pieces, np.prod(1 - part)], 1e-12)

    def start(self, n: Floats, logs: Floats) -> tuple[Floats, NDArray[Any], Floats]:
        """Slots of words (words x k), the candidates, and E log of the shares of slots."""
        topics = len(self.lam)
        if self.equal:
            return np.full((n.size, self.k), 1 / self.k), np.arange(topics), np.zeros(self.k)
        gamma = np.ones(topics)
        for _ in range(5):
            gamma = self.prior() + n @ softmax(psi(gamma) + logs.T)
        responsible = softmax(psi(gamma) + logs.T)
        candidates = np.argsort(-gamma, kind="stable")[: -(-self.k // 16) * 16]
        found = responsible[:, candidates[: self.k]] + 1e-10
        found /= found.sum(axis=1, keepdims=True)
        return found, candidates, self.shares(n @ found)[2]

    @property
    def equal(self) -> bool:
        """Whether the slots of a document start equal."""
        return self.uniform or self.drawn > 0.5

    def shares(self, words: Floats) -> tuple[Floats, Floats, Floats]:
        """The stick of a document, whose slots have so many words, and E log of their shares."""
        a, b = 1 + words[:-1], self.p["alpha"] + np.cumsum(words[::-1])[::-1][1:]
        return a, b, expected_logs(a, b)

    def infer(self, n: Floats, logs: Floats) -> tuple[Floats, Floats, NDArray[Any]]:
        """Slots, assigned (k x candidates) and the candidates of a document, all of whose counts are positive."""
        phi, candidates, second = self.start(n, logs)
        alpha, first, logs = self.p["alpha"], expected_logs(self.a, self.b)[candidates], logs[candidates]
        most, bounds = self.p["iterations"], list[float]()
        most = min(most, 3) if self.equal and not self.uniform else most
        while len(bounds) < most:
            on = float(not self.equal or len(bounds) >= 3)
            assigned = softmax((phi.T * n) @ logs.T + on * first)
            phi = softmax((assigned @ logs).T + on * second)
            a, b, second = self.shares(n @ phi)
            whole = psi(a + b)
            bound = (assigned * (first - np.log(np.maximum(assigned, 1e-300)))).sum()
            bound += (self.k - 1) * np.log(alpha) + ((1 - a) * (psi(a) - whole) + (alpha - b) * (psi(b) - whole)).sum()
            bound -= (gammaln(a + b) - gammaln(a) - gammaln(b)).sum()
            bound += (n[:, None] * phi * (second + (assigned @ logs).T - np.log(np.maximum(phi, 1e-300)))).sum()
            bounds.append(float(bound))
            if on and len(bounds) > 1 and bounds[-1] - bounds[-2] < self.p["tolerance"] * abs(bounds[-2]):
                break
        self.bounds.append(bounds)
        return phi, assigned, candidates

    def learn(self, batch: Floats, share: float = 1.0) -> None:
        """One mini-batch of documents, a row of counts for each; only a share of a step, where it is not full."""
        log_beta, statistics, slots = self.log_beta(), np.zeros_like(self.lam), np.zeros(len(self.lam))
        for counts in batch:
            words = np.flatnonzero(counts)
            if words.size:
                phi, assigned, candidates = self.infer(counts[words], log_beta[:, words])
                slots[candidates] += assigned.sum(axis=0)
                statistics[np.ix_(candidates, words)] += assigned.T @ (phi.T * counts[words])
        self.seen += len(batch)
        rate = share * min((self.p["tau"] + 1 + self.steps) ** -self.p["kappa"], 0.9999)
        copies = (self.p["documents"] or max(10_000, self.seen)) / len(batch)
        self.drawn *= 1 - rate
        self.lam = (1 - rate) * self.lam + rate * copies * statistics
        self.slots = (1 - rate) * self.slots + rate * copies * slots
        self.put_in_order()
        self.steps += 1

    def put_in_order(self) -> None:
        """The topic with the most words first on the stick."""
        order = np.argsort(-self.lam.sum(axis=1), kind="stable")
        self.lam, self.slots = self.lam[order], self.slots[order]
        self.a = 1 + self.slots[:-1]
        self.b = self.p["gamma"] + np.cumsum(self.slots[::-1])[::-1][1:]
