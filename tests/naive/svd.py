"""The online singular value decomposition without tricks: the matrix is kept, and decomposed anew each time."""

import numpy as np


def best_approximation(matrix: np.ndarray, rank: int) -> np.ndarray:
    """The closest matrix of at most this rank (Eckart-Young)."""
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    return np.asarray((left[:, :rank] * values[:rank]) @ right[:rank])


class NaiveSVD:
    """Rows go to the end of a matrix, which is then replaced by its best approximation of the rank."""

    def __init__(self, rank: int, project: bool = False) -> None:
        self.rank, self.project, self.matrix = rank, project, np.zeros((0, 0))

    def widen(self, features: int) -> None:
        self.matrix = np.pad(self.matrix, ((0, 0), (0, features - self.matrix.shape[1])))

    def directions(self) -> np.ndarray:
        """An orthonormal basis of the rows."""
        _, values, right = np.linalg.svd(self.matrix, full_matrices=False)
        return np.asarray(right[values > 1e-8 * values.max(initial=0.0)])

    def loss(self, row: np.ndarray) -> float:
        """What is left of a row outside of the rows so far."""
        if not self.matrix.size:
            return float(row @ row)
        self.widen(len(row))
        basis = self.directions()
        rest = row - basis.T @ (basis @ row)
        return float(rest @ rest)

    def append(self, rows: np.ndarray) -> None:
        self.widen(rows.shape[1])
        if self.project and len(self.matrix) and len(basis := self.directions()) == self.rank:
            rows = rows @ basis.T @ basis
        self.matrix = best_approximation(np.concatenate((self.matrix, rows)), self.rank)

    def values(self) -> np.ndarray:
        found = np.linalg.svd(self.matrix, compute_uv=False)
        return np.asarray(found[found > 1e-8 * found.max(initial=0.0)][: self.rank])

    def fill(self, row: np.ndarray) -> np.ndarray:
        """A row with NaN filled in by the smallest combination of the directions that explains the rest best."""
        there = ~np.isnan(row)
        _, values, right = np.linalg.svd(self.matrix, full_matrices=False)
        kept = values > 1e-8 * values.max(initial=0.0)
        scaled = right[kept].T * values[kept]
        guess = scaled @ np.linalg.pinv(scaled[there]) @ row[there]
        return np.where(there, row, guess)


class NoisySVD(NaiveSVD):
    """The same, where what the rank leaves out is noise of the entries that were observed."""

    def __init__(self, rank: int) -> None:
        super().__init__(rank)
        self.lost, self.freedom = 0.0, 0

    def learn(self, row: np.ndarray) -> None:
        there = ~np.isnan(row)
        filled = self.fill(row) if self.matrix.size else np.nan_to_num(row)
        whole = np.concatenate((self.matrix.reshape(-1, row.size), filled[None]))
        self.matrix = best_approximation(whole, self.rank)
        self.lost += float(((whole - self.matrix) ** 2).sum())
        self.freedom += max(int(there.sum()) - self.rank, 0)

    def fill(self, row: np.ndarray) -> np.ndarray:
        """The z that minimises |x - A z|^2 + noise |z|^2, by its normal equations."""
        there = ~np.isnan(row)
        if there.all() or not self.freedom or self.lost < 1e-20:
            return super().fill(row)
        _, values, right = np.linalg.svd(self.matrix, full_matrices=False)
        scaled = right[: self.rank].T * values[: self.rank]
        seen, noise = scaled[there], len(self.matrix) * self.lost / self.freedom
        z = np.linalg.solve(seen.T @ seen + noise * np.eye(seen.shape[1]), seen.T @ row[there])
        return np.where(there, row, scaled @ z)
