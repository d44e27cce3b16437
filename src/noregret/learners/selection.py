"""Online feature selection: at most B weights are not zero."""

import math
from collections.abc import Mapping

from noregret.algebra import Draw, add, coprime, dot, extent, keep, next_random, norm, partial_features, scale, sqnorm
from noregret.algebra.partial_features import PRIME
from noregret.learners.perceptron import novikoff
from noregret.rules.decorators import margin_rule
from noregret.rules.guarantee import Guarantee
from noregret.rules.merge_law import Merge
from noregret.rules.parameters import Param
from noregret.rules.row_size import ROW_COUNTERS, count_row
from noregret.rules.rule_card import P, S, X, Z
from noregret.state.fields import top_k

WANG_2014 = "Wang, Zhao, Hoi and Jin, Online feature selection and its applications, IEEE TKDE 26, 2014"
LARGEST = (10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0)
B = Param(
    3000.0,
    at_least=1.0,
    about="the number of non-zero weights; with many classes, of all classes together",
    grid=LARGEST,
    earlier=1000.0,
)
MIXED = Merge(
    "heuristic",
    "weights are averaged in proportion to the rounds, and the next step keeps B of them; no bound is known",
    "mix",
)


def largest_norm(p: P) -> float:
    """1 / sqrt(lam)"""
    return 1.0 / math.sqrt(p.lam) if p.lam > 0.0 else math.inf


def shrinks(numbers: Mapping[str, float], choices: Mapping[str, str]) -> str | None:
    """lam * eta must be below 1: otherwise shrinking would change the signs of the weights."""
    if numbers["lam"] * numbers["eta"] < 1.0:
        return None
    return f"lam * eta must be below 1, not {numbers['lam'] * numbers['eta']:g}; take a smaller lam or eta"


@margin_rule(
    paper=WANG_2014,
    params={
        "B": B,
        "eta": Param(
            0.0,
            at_least=0.0,
            about="the step size; 0 stands for 1 / S, where S is the geometric mean of |x|^2 so far",
            search=(1e-3, 1e1, "log"),
        ),
        "lam": Param(
            1e-4,
            at_least=0.0,
            about="the strength of the l2 penalty; the norm of the weights is at most 1 / sqrt(lam)",
            search=(1e-4, 1.0, "log"),
        ),
    },
    state={"w": top_k},
    counters=ROW_COUNTERS,
    guarantees=(
        Guarantee(
            "norm of the weights",
            "at most B weights are not zero, and |w| <= 1 / sqrt(lam)",
            "after every round; lam > 0",
            largest_norm,
            comparator="none",
        ),
    ),
    merge=MIXED,
    title="OFS",
    check=shrinks,
)
def ofs(p: P, s: S, z: Z, margin: float) -> bool:
    """Online feature selection: regularised gradient steps that keep the B largest weights."""
    eta = p.eta if p.eta > 0.0 else 1.0 / count_row(s, sqnorm(z))
    scale(s.w, max(0.0, 1.0 - p.lam * eta))
    if margin <= 1.0:
        add(s.w, eta, z)
        length = norm(s.w, 2.0) * math.sqrt(p.lam)
        if length > 1.0:
            scale(s.w, 1.0 / length)
        keep(s.w, p.B)
        return True
    return bool(p.lam > 0.0)


def undropped_bound(p: P, radius: float, margin: float, features: float, classes: float) -> float:
    """(R / gamma)^2 as long as no weight is ever dropped: there are at most B, for all of more than two classes."""
    weights = features * (classes if classes > 2.0 else 1.0)
    return novikoff(p, radius, margin) if weights <= p.B else math.inf


@margin_rule(
    paper=WANG_2014,
    params={"B": B},
    state={"w": top_k},
    guarantees=(
        Guarantee(
            "updates",
            "at most B weights are not zero; updates <= (R / gamma)^2",
            "for the updates: at most B features, so that no weight is dropped; every |x| <= R; some unit vector u has "
            "y u.x >= gamma > 0 on all rounds",
            undropped_bound,
            comparator="separating",
        ),
    ),
    merge=MIXED,
    title="TruncatedPerceptron",
)
def perceptron_truncated(p: P, s: S, z: Z, margin: float) -> bool:
    """Perceptron that keeps only the B largest weights after each update."""
    if margin <= 0.0:
        add(s.w, 1.0, z)
        keep(s.w, p.B)
        return True
    return False


def radius(p: P) -> float:
    """R"""
    return float(p.R)


def readable(p: P, s: S) -> Draw:
    """The features of this row that may be read: drawn before it was seen."""
    return Draw(s.n.factor, s.n.shift, s.n.among, math.floor(p.B))


def draw(p: P, s: S) -> None:
    """Draw what may be read of the next row: B of the features known so far, or those with a non-zero weight."""
    s.n.random = next_random(s.n.random)
    s.n.among = 0.0
    if s.n.random < p.eps * PRIME:
        s.n.among = s.n.features
        s.n.random = next_random(s.n.random)
        s.n.factor = coprime(1.0 + math.floor(s.n.random / PRIME * s.n.among), s.n.among)
        s.n.random = next_random(s.n.random)
        s.n.shift = math.floor(s.n.random / PRIME * s.n.among)


def partial_score(p: P, s: S, x: X) -> float:
    """w.x over the features that may be read."""
    return float(dot(s.w, partial_features(x, s.w, readable(p, s), 1.0, 1.0)))


def partial_final(p: P, s: S, x: X) -> float:
    """w.x, which reads only the B features with a non-zero weight."""
    return float(dot(s.w, x))


@margin_rule(
    paper=WANG_2014,
    params={
        "B": Param(
            3000.0,
            at_least=1.0,
            about="the number of features read from a row, and of non-zero weights",
            grid=LARGEST,
            earlier=1000.0,
        ),
        "eta": Param(
            1e-3,
            above=0.0,
            about="the step size, which matters for predictions only relative to R",
            search=(1e-3, 1e1, "log"),
            earlier=0.01,
        ),
        "eps": Param(
            0.2,
            above=0.0,
            at_most=1.0,
            about="the probability of reading random features instead of those with a weight",
            search=(0.05, 1.0, "linear"),
        ),
        "R": Param(100.0, above=0.0, about="the largest norm of the weights", search=(1e-1, 1e3, "log")),
    },
    state={"w": top_k},
    counters={"random": 1.0, "features": 0.0, "among": 0.0, "factor": 1.0, "shift": 0.0},
    score=partial_score,
    final=partial_final,
    guarantees=(
        Guarantee(
            "norm of the weights",
            "at most B features of a row are read, at most B weights are not zero, and |w| <= R",
            "every round",
            radius,
            comparator="none",
        ),
    ),
    title="OFSPartial",
    tasks=("binary", "multiclass", "regression", "multilabel"),  # it reads other features of every row
)
def ofs_partial(p: P, s: S, z: Z, margin: float) -> bool:
    """Online feature selection that reads only B features of a row, with an unbiased estimate of the row."""
    chance = p.eps * min(1.0, math.floor(p.B) / max(s.n.features, 1.0))
    expected = partial_features(z, s.w, readable(p, s), 1.0 / (1.0 - p.eps + chance), 1.0 / chance)
    moved = margin <= 0.0 and sqnorm(expected) > 0.0
    if moved:
        add(s.w, p.eta, expected)
        length = norm(s.w, 2.0)
        if length > p.R:
            scale(s.w, p.R / length)
        keep(s.w, p.B)
    s.n.features = max(s.n.features, extent(z))
    draw(p, s)
    return bool(moved)
