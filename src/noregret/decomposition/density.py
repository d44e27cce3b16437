"""The density matrix of online PCA: which directions to leave out, as weights of eigenvectors that sum to 1."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass
class Density:
    """W = vectors diag(exp(logs)) vectors', with eigenvalues of at most 1 / left_out.

    Of n features `rank` directions are kept and n - rank left out: each with the probability (n - rank) times its
    weight. Arrays are replaced and never changed.
    """

    rank: int
    seed: int
    vectors: Floats  # features x features: a column for each weight
    logs: Floats  # the logarithms of the weights
    radius: float = 0.0  # rows are divided by it
    expected: float = 0.0  # the sum of the expected losses, in units of the rows
    rows: int = 0

    @property
    def features(self) -> int:
        return int(self.logs.size)

    @property
    def left_out(self) -> int:
        return max(self.features - self.rank, 0)

    @property
    def weights(self) -> Floats:
        return np.exp(self.logs)

    def grow(self, features: int) -> None:
        """New features are directions of their own with the weight that all had in the beginning, 1 / n."""
        old, new = self.features, features - self.features
        vectors = np.eye(features)
        vectors[:old, :old] = self.vectors
        scaled = self.logs + np.log(max(old, 1) / features)
        self.vectors, self.logs = vectors, np.concatenate((scaled, np.full(new, -np.log(features))))
        self.cap()

    def copy(self) -> Self:
        return replace(self)

    def is_finite(self) -> bool:
        return bool(np.isfinite(self.logs).all()) and bool(np.isfinite(self.expected))

    def expect(self, rows: Floats) -> float:
        """The expected loss of some rows: (n - rank) tr(W x x')."""
        along = rows @ self.vectors
        return float(self.left_out * np.sum(self.weights * along**2))

    def step(self, rows: Floats, eta: float) -> None:
        """W = exp(log W - eta sum x x'), its eigenvalues normalised and capped."""
        self.rows += len(rows)
        if not self.left_out:
            return
        logs, self.vectors = np.linalg.eigh((self.vectors * self.logs) @ self.vectors.T - eta * (rows.T @ rows))
        self.logs = logs - logs.max()
        self.logs = self.logs - np.log(np.exp(self.logs).sum())
        self.cap()

    def cap(self) -> None:
        """Set weights above 1 / left_out to it and scale the others, until none is above."""
        if not self.left_out:
            return
        most = -np.log(self.left_out)
        logs, capped = self.logs.copy(), np.zeros(self.features, bool)
        while (logs[~capped] > most).any():
            capped |= logs > most
            logs[capped] = most
            rest = 1.0 - np.count_nonzero(capped) / self.left_out
            if rest <= 0.0:
                break
            free = ~capped
            top = logs[free].max()
            logs[free] = (logs[free] - top) + (np.log(rest) - np.log(np.exp(logs[free] - top).sum()))
        self.logs = logs

    def keep_lightest(self) -> NDArray[np.int64]:
        """The numbers of the directions with the smallest weights, the smallest first."""
        return np.argsort(self.logs, kind="stable")[: self.rank]

    def draw(self) -> NDArray[np.int64]:
        """Numbers of directions that are kept: all but n - rank that are drawn, each with (n - rank) times its weight.

        Systematic sampling: of the numbers u, u + 1, ... those that fall into the part of a direction choose it.
        """
        start = float(np.random.default_rng([self.seed, self.rows]).random())
        ends = np.cumsum(self.left_out * self.weights)
        chosen = np.searchsorted(ends, start + np.arange(self.left_out), side="right")
        kept = np.ones(self.features, bool)
        kept[np.minimum(chosen, self.features - 1)] = False
        return np.flatnonzero(kept)[np.argsort(self.logs[kept], kind="stable")][: self.rank]
