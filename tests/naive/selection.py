"""Online feature selection (Wang, Zhao, Hoi, Jin 2014): all weights but the B largest are set to zero."""

from collections.abc import Callable

import numpy as np

from .rules import Array, Round, Rule


def truncated(w: Array, B: float) -> Array:
    """The B largest |w_cj|; of equal ones the lower feature stays, then the lower class."""
    k, d = w.shape
    order = sorted((-abs(w[c, j]), j, c) for c in range(k) for j in range(d))
    left = np.zeros_like(w)
    for _, j, c in order[: int(B)]:
        left[c, j] = w[c, j]
    return left


class OFS(Rule):
    """A round with a margin above 1 only shrinks w."""

    def __init__(self, B: float = 10.0, eta: float = 0.2, lam: float = 0.01) -> None:
        self.B, self.eta, self.lam = B, eta, lam

    def update(self, r: Round) -> bool:
        shrunk = (1.0 - self.lam * self.eta) * self.w
        if r.margin > 1.0:
            changed = self.lam > 0.0
            self.w = shrunk
            return changed
        w = shrunk + self.eta * r.z
        if self.lam > 0.0:
            w = w * min(1.0, 1.0 / (np.sqrt(self.lam) * np.linalg.norm(w)))
        self.w = truncated(w, self.B)
        return True


class TruncatedPerceptron(Rule):
    """The baseline: a perceptron that forgets."""

    def __init__(self, B: float = 10.0) -> None:
        self.B = B

    def update(self, r: Round) -> bool:
        if r.margin > 0.0:
            return False
        self.w = truncated(self.w + r.z, self.B)
        return True


RULES: dict[str, Callable[..., Rule]] = {"ofs": OFS, "perceptron_truncated": TruncatedPerceptron}
