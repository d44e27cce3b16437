"""The best fixed centre in hindsight: the ball of a given radius that rows lie outside of by the smallest sum.

The loss of a row is max(0, |x - c| - radius), convex in the centre c. For any vectors g_t with |g_t| <= 1 and shares
a_t from 0 to 1, the total loss is at least the sum of a_t (g_t . (x_t - c) - radius), which is linear in c. The best
centre is in the convex hull of the rows, so that it is not farther from a centre than the farthest row.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from noregret.metrics.comparator import COLDEST, COOLING, Comparator
from noregret.metrics.comparator_problem import TOLERANCE, Matrix, as_rows, is_sparse

Floats = NDArray[np.float64]
ITERATIONS = 400


class CentreProblem:
    """Rows to be near to, and the radius up to which distances cost nothing."""

    def __init__(self, X: Matrix, radius: float) -> None:
        self.X, self.radius = as_rows(X), radius
        squared = np.asarray(self.X.multiply(self.X).sum(axis=1)) if is_sparse(self.X) else (self.X**2).sum(axis=1)
        self.squares = squared.reshape(-1)
        self.transposed = self.X.T.tocsr() if is_sparse(self.X) else self.X.T

    def distances(self, centre: Floats) -> Floats:
        """|x_t - c| of every row."""
        square = self.squares - 2.0 * np.asarray(self.X @ centre).reshape(-1) + float(centre @ centre)
        return np.sqrt(np.maximum(square, 0.0))

    def loss(self, centre: Floats) -> float:
        return float(np.maximum(0.0, self.distances(centre) - self.radius).sum())

    def smooth(self, centre: Floats, temperature: float) -> tuple[float, Floats]:
        """The loss with its kinks made smooth, and its gradient."""
        length = np.hypot(self.distances(centre), temperature)
        beyond = (length - self.radius) / temperature
        pull = expit(beyond) / length
        gradient = centre * float(pull.sum()) - np.asarray(self.transposed @ pull).reshape(-1)
        return float(temperature * np.logaddexp(0.0, beyond).sum()), gradient

    def lower_bound(self, centre: Floats, temperature: float) -> float:
        """No centre has a smaller loss than this."""
        away = self.distances(centre)
        length = np.hypot(away, temperature)
        share = expit((length - self.radius) / temperature)
        slope = centre * float((share / length).sum()) - np.asarray(self.transposed @ (share / length)).reshape(-1)
        constant = float((share * (away * away / length - self.radius)).sum())
        return max(0.0, constant - float(np.linalg.norm(slope)) * float(away.max(initial=0.0)))


def find_centre(problem: CentreProblem, start: Floats | None = None) -> Comparator:
    """The best centre, with its duality gap."""
    from scipy.optimize import minimize

    width = problem.X.shape[1]
    if not problem.X.shape[0]:
        return Comparator(np.zeros((width, 1)), 0.0, 0.0, np.inf)
    centre = np.asarray(problem.X.mean(axis=0)).reshape(-1) if start is None else start
    scale = max(float(problem.distances(centre).max()), 1e-300)
    best, best_loss, bound, temperature = centre, problem.loss(centre), 0.0, 0.1
    solve: Any = minimize
    while True:
        found = solve(problem.smooth, centre, (temperature * scale,), jac=True, method="L-BFGS-B",
                      options={"maxiter": ITERATIONS, "maxcor": 20, "ftol": 1e-14, "gtol": 1e-10})  # fmt: skip
        centre = np.asarray(found.x)
        loss = problem.loss(centre)
        if loss < best_loss:
            best, best_loss = centre, loss
        bound = max(bound, problem.lower_bound(centre, temperature * scale))
        if best_loss - bound <= TOLERANCE * max(best_loss, 1.0) or temperature < COLDEST:
            return Comparator(best[:, None], best_loss, max(best_loss - bound, 0.0), np.inf)
        temperature *= COOLING
