"""The incremental kernel perceptron (Aizerman, Braverman and Rozonoer 1964): how often each row was wrong."""

from collections.abc import Callable

import numpy as np

from .kernels import KernelRule
from .rules import Array, Round, Rule


class IncrementalKernelPerceptron(KernelRule):
    """All rows with their labels and counts; every margin is computed when it is needed."""

    def __init__(self, sweeps: float = 1.0) -> None:
        self.sweeps = int(sweeps)
        self.rows: list[Array] = []
        self.labels: list[float] = []
        self.counts: list[int] = []

    def scores(self, x: Array) -> Array:
        terms = zip(self.counts, self.labels, self.rows, strict=True)
        return np.array([sum(count * label * self.kernel(row, x) for count, label, row in terms)])

    def sqnorm(self, r: Round) -> float:
        return self.kernel(r.x, r.x)

    def count_wrong(self, rows: list[int]) -> bool:
        before = sum(self.counts)
        for i in rows:
            if self.labels[i] * float(self.scores(self.rows[i])[0]) <= 0.0:
                self.counts[i] += 1
        return sum(self.counts) > before

    def update(self, r: Round) -> bool:
        before = sum(self.counts)
        self.rows.append(r.x.copy())
        self.labels.append(float(r.signs[0]))
        self.counts.append(0)
        self.count_wrong([len(self.rows) - 1])
        for _ in range(self.sweeps):
            if not self.count_wrong(list(range(len(self.rows)))):
                break
        return sum(self.counts) > before

    def state(self) -> dict[str, Array]:
        return {"coefficients": np.array([[c * y for c, y in zip(self.counts, self.labels, strict=True)]])}

    def shared_state(self) -> dict[str, Array]:
        return {"supports": np.array(self.rows)}


RULES: dict[str, Callable[..., Rule]] = {"perceptron_kernel_incremental": IncrementalKernelPerceptron}
