"""Mini-batch learners: all rounds of a batch are predicted with the same weights, then one step is made."""

import math

from noregret.algebra import add, snapshot_at, sqsource, take_snapshot
from noregret.algebra.verbs import unbound
from noregret.learners.exponentiated import has_eta
from noregret.learners.gradient import WIDROW_HOFF_1960, has_rate, safe_rate
from noregret.rules.decorators import gradient_rule
from noregret.rules.guarantee import Guarantee, over
from noregret.rules.merge_law import Merge
from noregret.rules.parameters import Choice, Param
from noregret.rules.row_size import ROW_COUNTERS, count_row
from noregret.rules.rule_card import G, P, S
from noregret.state.fields import snapshot

DEKEL_2012 = (
    "Dekel, Gilad-Bachrach, Shamir and Xiao, Optimal distributed online prediction using mini-batches, JMLR 13, 2012"
)
GATHERED = Merge(
    "heuristic", "weights and the gradients of the current batch are averaged in proportion to the rounds", "mix"
)
BATCH = Param(
    12.0,
    at_least=1.0,
    about="the number of rounds in a batch, rounded down",
    grid=(1.0, 4.0, 12.0, 32.0, 128.0),
)

reduction = unbound


def mean(p: P) -> float:
    return float(1.0 / math.floor(p.batch))


def total(p: P) -> float:
    return 1.0


def batch_weight(p: P, s: S, j: int) -> float:
    """The weight at the start of the batch."""
    return float(snapshot_at(s.w, j))


def is_full(s: S, batch: float) -> bool:
    """Count a round; whether it is the last of its batch."""
    s.n.gathered += 1.0
    if s.n.gathered >= math.floor(batch):
        s.n.gathered = 0.0
        return True
    return False


def mean_batch_regret(p: P, norm: float, squared_batch_gradients: float) -> float:
    """|u|^2 / (2 eta) + (eta / 2) times the sum of squared batch gradients, for eta over the size of a batch."""
    eta = p.eta / math.floor(p.batch)
    return float(over(norm**2, 2.0 * eta) + 0.5 * eta * squared_batch_gradients)


def sum_batch_regret(p: P, norm: float, squared_batch_gradients: float) -> float:
    """|u|^2 / (2 eta) + (eta / 2) times the sum of squared batch gradients."""
    return float(over(norm**2, 2.0 * p.eta) + 0.5 * p.eta * squared_batch_gradients)


def batch_rate(p: P, s: S, g: G) -> float:
    """The rate of the gradient of one round: eta over the batch or, where it is 0, one that follows the rows."""
    if p.eta > 0.0:
        return float(p.eta * reduction(p))
    return float(min(1.0, 8.0 / math.floor(p.batch)) / count_row(s, sqsource(g)))


@gradient_rule(
    paper=DEKEL_2012,
    params={
        "eta": Param(
            0.0,
            at_least=0.0,
            about="the learning rate; 0 stands for steps of min(1, 8 / batch) / S along the gradient of each round, "
            "where S is the geometric mean of |x|^2 so far",
            search=(1e-3, 1e2, "log"),
            measured=0.1,
        ),
        "batch": BATCH,
        "reduction": Choice("mean", {"mean": mean, "sum": total}, "how the gradients of a batch are combined"),
    },
    state={"w": snapshot},
    counters={"gathered": 0.0, **ROW_COUNTERS},
    weight=batch_weight,
    guarantees=(
        Guarantee(
            "regret",
            "regret against u <= batch |u|^2 / (2 eta) + (eta / (2 batch)) sum of |sum of the gradients of a batch|^2",
            "eta > 0; a convex loss; whole batches; any u; all importance weights 1",
            mean_batch_regret,
            options={"reduction": ("mean",)},
            requires=has_eta,
        ),
        Guarantee(
            "regret",
            "regret against u <= |u|^2 / (2 eta) + (eta / 2) sum of |sum of the gradients of a batch|^2",
            "eta > 0; a convex loss; whole batches; any u; all importance weights 1",
            sum_batch_regret,
            options={"reduction": ("sum",)},
            requires=has_eta,
        ),
    ),
    merge=GATHERED,
)
def gradient_batch(p: P, s: S, g: G) -> None:
    """Mini-batch gradient descent: one step per batch, against the mean or the sum of its gradients."""
    add(s.w, -batch_rate(p, s, g), g)
    if is_full(s, p.batch):
        take_snapshot(s.w)


def contraction(
    p: P, smallest_eigenvalue: float, largest_eigenvalue: float, rounds: float, initial_excess: float
) -> float:
    """max(|1 - rho a|, |1 - rho b|)^(2 k) times the first excess, for eigenvalues from a to b and k steps."""
    factor = max(abs(1.0 - p.rho * smallest_eigenvalue), abs(1.0 - p.rho * largest_eigenvalue))
    return float(factor ** (2.0 * math.floor(rounds / math.floor(p.batch))) * initial_excess)


@gradient_rule(
    paper=WIDROW_HOFF_1960,
    params={
        "rho": Param(
            0.0,
            at_least=0.0,
            about="the learning rate; 0 stands for 1 / (batch R^2), where R is the largest norm of a row so far",
            grid=(0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1),
            measured=1e-3,
        ),
        "batch": BATCH,
    },
    state={"w": snapshot},
    counters={"gathered": 0.0, "largest": 0.0},
    weight=batch_weight,
    loss="squared",
    guarantees=(
        Guarantee(
            "excess squared errors",
            "after k steps the sum of squared errors exceeds the least possible by at most max |1 - rho e|^(2 k) times "
            "the first excess",
            "rho > 0; two classes or targets; the same rows X in every batch; e runs over the eigenvalues of X'X that "
            "are not zero; all importance weights 1",
            contraction,
            options={"loss": ("squared",)},
            requires=has_rate,
            comparator="none",
        ),
    ),
    merge=GATHERED,
)
def adaline_batch(p: P, s: S, g: G) -> None:
    """Batch Adaline (Widrow-Hoff): one least-squares gradient step per batch."""
    add(s.w, -0.5 * safe_rate(p.rho, math.floor(p.batch), s, g), g)  # the slope of the squared loss is twice the error
    if is_full(s, p.batch):
        take_snapshot(s.w)
