"""Batch gradient descent: one step for each pass over all rows, with a fixed rate or a line search."""

from dataclasses import dataclass
from typing import Any, Literal, TypedDict, Unpack

import numpy as np

from noregret.data.blocks import Rows, SparseBlock, as_block, verify
from noregret.data.inputs import LabelsLike, RowsLike
from noregret.data.labels import Labels, targets
from noregret.errors import BadValue, shown
from noregret.learner.arguments import check_integer
from noregret.learner.labelled_rows import LabelledRows
from noregret.rules.losses import LOSSES, Loss
from noregret.rules.parameters import Param, suggestion
from noregret.training.line_search import armijo_step, exact_step

SEARCHES = ("exact", "armijo")
REDUCTIONS = ("mean", "sum")
TIED = 1e-12  # a margin up to this, relative to |x| |w|, counts as zero: it differs only by rounding
FLAT, NO_STEP, NO_MORE_PASSES, INSEPARABLE = "gradient", "no step", "passes", "inseparable"
VANISHED = 1e-6  # weights that are this much shorter than the first ones go to zero
SUPPORTED = {name: loss for name, loss in LOSSES.items() if "binary" in loss.tasks or "regression" in loss.tasks}


@dataclass(frozen=True)
class Descent:
    """The final weights, the objective before each step and at the end, the rates of the steps, and why it stopped."""

    weights: np.ndarray
    objective: np.ndarray
    rates: np.ndarray
    stopped: str


class Objective:
    """The mean or the sum of a loss over all rows, as a function of the weights."""

    def __init__(self, X: Any, y: Any, loss: Loss, eps: float, reduction: str) -> None:
        rows = LabelledRows(X, y).require_rows()
        self.X, self.loss, self.eps = as_matrix(rows.X), loss, eps
        self.regression = "regression" in loss.tasks
        self.y = targets(rows.y) if self.regression else as_signs(rows.y)
        self.share = 1.0 / self.y.size if reduction == "mean" else 1.0
        self.slopes = np.frompyfunc(loss.slope, 1, 1)

    def margins(self, w: np.ndarray) -> np.ndarray:
        """The argument of the loss: y times the score; in regression 1 - |error| + eps."""
        scores = self.X @ w
        return np.asarray(1.0 - np.abs(scores - self.y) + self.eps if self.regression else self.y * scores)

    def __call__(self, w: np.ndarray) -> float:
        return float(self.share * self.loss.value(self.margins(w)).sum())

    def gradient(self, w: np.ndarray) -> np.ndarray:
        scores = self.X @ w
        sign = np.sign(self.y - scores) if self.regression else self.y  # of the derivative of the margin by the score
        slopes = self.slopes(self.margins(w)).astype(np.float64)
        return np.asarray(self.share * ((slopes * sign) @ self.X))

    def shortest_subgradient(self, w: np.ndarray) -> np.ndarray:
        """The shortest subgradient of the perceptron criterion; unless it is zero, a step against it descends.

        A row whose margin is zero may count with any share from 0 to 1.
        """
        from scipy.optimize import lsq_linear

        margins = self.margins(w)
        lengths = np.sqrt(np.asarray((self.X * self.X).sum(axis=1)).ravel())
        tied = np.abs(margins) <= TIED * lengths * np.linalg.norm(w)
        pull = -(self.y * (~tied & (margins < 0.0))) @ self.X
        if not tied.any() or not pull.any():
            return np.asarray(self.share * pull)
        rows = self.X[np.flatnonzero(tied)]
        rows = (rows.toarray() if hasattr(rows, "toarray") else rows) * self.y[tied, None]
        shares = lsq_linear(rows.T, pull, bounds=(0.0, 1.0), method="bvls", tol=1e-14).x
        return np.asarray(self.share * (pull - shares @ rows))


class DescentOptions(TypedDict, total=False):
    """The options of `batch_descent`."""

    reduction: Literal["mean", "sum"]
    passes: int
    tolerance: float
    eps: float


@dataclass(frozen=True)
class Plan:
    """The options of `batch_descent`."""

    reduction: str = "mean"
    passes: int = 1000
    tolerance: float = 1e-8
    eps: float = 0.0


def batch_descent(
    X: RowsLike,
    y: LabelsLike,
    loss: str = "squared",
    rate: float | str = "armijo",
    **options: Unpack[DescentOptions],
) -> Descent:
    """Descend to a minimum of a loss over all rows, one step w - rate g for each pass.

    Options: reduction="mean" or "sum", passes=1000, tolerance=1e-8, eps=0 (of the eps_insensitive loss).

    Losses of margins take labels, two classes; squared and eps_insensitive take targets. `rate` is a number, "armijo",
    or, for the perceptron criterion, "exact". It stops when the norm of the gradient is at most `tolerance`, when no
    step descends, or after `passes`. It starts at zero; a line search on the perceptron criterion, which is zero
    there, starts after one step of rate 1. Where no weights separate the rows, zero is the only minimum of that
    criterion: weights that shrink towards it stop the descent ("inseparable"), and the result is the direction with the
    smallest criterion for its length.
    """
    plan = Plan(**options)
    if plan.eps and not check_loss(loss).insensitive:
        raise BadValue(f"eps belongs to the eps_insensitive loss, not to {loss}")
    eps = check_number("eps", plan.eps, Param(0.0, at_least=0.0))
    objective = Objective(X, y, check_loss(loss), eps, check_reduction(plan.reduction))
    tolerance = check_number("tolerance", plan.tolerance, Param(0.0, at_least=0.0))
    step = check_rate(rate, loss)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        w = np.zeros(objective.X.shape[1])
        if loss == "perceptron" and isinstance(step, str):
            w = -objective.gradient(w)
        values, rates, stopped = [check_finite(objective(w), 0)], [], NO_MORE_PASSES
        shrinking = Shrinking(w, values[0]) if loss == "perceptron" else None
        for number in range(check_integer("passes", plan.passes, 1)):
            g = objective.shortest_subgradient(w) if step == "exact" else objective.gradient(w)
            if float(np.linalg.norm(g)) <= tolerance:
                stopped = FLAT
                break
            eta = step if isinstance(step, float) else search_step(objective, w, g, step)
            if eta == 0.0:
                stopped = NO_STEP
                break
            w = w - eta * g
            values.append(check_finite(objective(w), number + 1))
            rates.append(eta)
            if shrinking is not None and shrinking.has_vanished(w, values[-1]):
                w, stopped = shrinking.best, INSEPARABLE
                break
    return Descent(w, np.array(values), np.array(rates), stopped)


class Shrinking:
    """Weights on their way to zero under a criterion that is proportional to their length."""

    def __init__(self, w: np.ndarray, value: float) -> None:
        self.length = float(np.linalg.norm(w))
        self.best, self.least = w, value / self.length if self.length > 0.0 else np.inf

    def has_vanished(self, w: np.ndarray, value: float) -> bool:
        """Whether the weights are as good as zero though rows are wrong; remembers the best direction."""
        length = float(np.linalg.norm(w))
        self.length = self.length or length  # a descent with a fixed rate starts at zero
        if length > 0.0 and value / length < self.least:
            self.best, self.least = w, value / length
        return value > 0.0 and length < VANISHED * self.length


def check_finite(value: float, steps: int) -> float:
    if np.isfinite(value):
        return value
    if not steps:
        raise BadValue("the objective overflows before the first step; make the numbers in X and y smaller")
    raise BadValue(f'the objective overflows at step {steps}; take a smaller rate, or rate="armijo"')


def search_step(objective: Objective, w: np.ndarray, g: np.ndarray, search: str) -> float:
    if search == "armijo":
        return armijo_step(objective, w, g)
    return exact_step(objective.margins(w), -objective.margins(g))


def as_matrix(X: Any) -> Any:
    """A checked matrix, dense or sparse, that numpy and scipy can multiply with."""
    block = verify(X.block if isinstance(X, Rows) else as_block(X))
    if not isinstance(block, SparseBlock):
        return block.val
    from scipy.sparse import csr_array

    return csr_array((block.val, block.idx, block.indptr), shape=(block.rows, block.width))


def as_signs(y: Any) -> np.ndarray:
    """Labels of two classes as -1 and +1."""
    labels = Labels()
    codes = labels.encode(y)
    if len(labels) != 2:
        raise BadValue(f"this loss needs two classes; y has {len(labels)}")
    return np.asarray(labels.signs(2)[codes])


def check_number(name: str, value: Any, limits: Param) -> float:
    return limits.check("batch_descent", name, value)


def check_loss(name: Any) -> Loss:
    if not isinstance(name, str) or name not in SUPPORTED:
        raise BadValue(
            f"loss must be one of {', '.join(SUPPORTED)}, not {shown(name)}{suggestion(str(name), SUPPORTED)}"
        )
    return SUPPORTED[name]


def check_reduction(reduction: Any) -> str:
    if reduction not in REDUCTIONS:
        raise BadValue(f"reduction must be one of {', '.join(REDUCTIONS)}, not {shown(reduction)}")
    return str(reduction)


def check_rate(rate: Any, loss: str) -> float | str:
    if not isinstance(rate, str):
        return check_number("rate", rate, Param(1.0, above=0.0))
    if rate not in SEARCHES:
        raise BadValue(f"rate must be a number or one of {', '.join(SEARCHES)}, not {shown(rate)}")
    if rate == "exact" and loss != "perceptron":
        raise BadValue(f'rate="exact" is for loss="perceptron"; for {loss} take rate="armijo"')
    return rate
