"""Online feature selection: at most B weights are ever in use."""

import math
from collections.abc import Mapping

from noregret.algebra import Draw, add, coprime, dot, extent, keep, next_random, norm, partial_features, scale, sqnorm
from noregret.algebra.partial_features import PRIME
from noregret.learners.perceptron import novikoff
from noregret.rules.card import Guarantee, Merge, P, Param, S, X, Z, margin_rule
from noregret.state.fields import top_k

WANG_2014 = "Wang, Zhao, Hoi and Jin, Online feature selection and its applications, IEEE TKDE 26, 2014"
B = Param(10.0, at_least=1.0, about="how many weights stay; with many classes, of all of them together")
MIXED = Merge(
    "heuristic", "weights are averaged in proportion to the rounds; the next step keeps B of them; no bound", "mix"
)


def largest_length(lam: float) -> float:
    """1 / sqrt(lam)"""
    return 1.0 / math.sqrt(lam) if lam > 0.0 else math.inf


def shrinks(numbers: Mapping[str, float], choices: Mapping[str, str]) -> str | None:
    """What is wrong with parameters that would turn the weights around."""
    if numbers["lam"] * numbers["eta"] < 1.0:
        return None
    return f"lam * eta must be below 1, not {numbers['lam'] * numbers['eta']:g}; take a smaller lam or eta"


@margin_rule(
    paper=WANG_2014,
    params={
        "B": B,
        "eta": Param(0.2, above=0.0, about="the length of a step"),
        "lam": Param(0.01, at_least=0.0, about="how much weights shrink, and how long they may be: 1 / sqrt(lam)"),
    },
    state={"w": top_k},
    guarantee=Guarantee(
        "at most B weights are not zero, and |w| <= 1 / sqrt(lam)", "after every round; lam > 0", largest_length
    ),
    merge=MIXED,
    title="OFS",
    check=shrinks,
)
def ofs(p: P, s: S, z: Z, margin: float) -> bool:
    """Shrink the weights; if the margin is short, step, stay within a ball and keep the B largest."""
    scale(s.w, 1.0 - p.lam * p.eta)
    if margin <= 1.0:
        add(s.w, p.eta, z)
        length = norm(s.w, 2.0) * math.sqrt(p.lam)
        if length > 1.0:
            scale(s.w, 1.0 / length)
        keep(s.w, p.B)
        return True
    return bool(p.lam > 0.0)


@margin_rule(
    paper=WANG_2014,
    params={"B": B},
    state={"w": top_k},
    guarantee=Guarantee(
        "at most B weights are not zero; updates <= (R / gamma)^2",
        "the updates: no more than B features, so that none is ever dropped, every |x| <= R, and some unit vector u "
        "has y u.x >= gamma > 0 on all rounds",
        novikoff,
    ),
    merge=MIXED,
    title="TruncatedPerceptron",
)
def perceptron_truncated(p: P, s: S, z: Z, margin: float) -> bool:
    """Add the example when it is not on the right side, and keep the B largest weights."""
    if margin <= 0.0:
        add(s.w, 1.0, z)
        keep(s.w, p.B)
        return True
    return False


def radius(R: float) -> float:
    """R"""
    return R


def readable(p: P, s: S) -> Draw:
    """What may be read of the row at hand: decided before it came."""
    return Draw(s.n.factor, s.n.shift, s.n.among, math.floor(p.B))


def draw(p: P, s: S) -> None:
    """Decide what may be read of the next row: B of the features known so far, or those that have a weight."""
    s.n.random = next_random(s.n.random)
    s.n.among = 0.0
    if s.n.random < p.eps * PRIME:
        s.n.among = s.n.features
        s.n.random = next_random(s.n.random)
        s.n.factor = coprime(1.0 + math.floor(s.n.random / PRIME * s.n.among), s.n.among)
        s.n.random = next_random(s.n.random)
        s.n.shift = math.floor(s.n.random / PRIME * s.n.among)


def partial_score(p: P, s: S, x: X) -> float:
    """w.x as far as x may be read."""
    return float(dot(s.w, partial_features(x, s.w, readable(p, s), 1.0, 1.0)))


def partial_final(p: P, s: S, x: X) -> float:
    """w.x, which reads no more than the B features that have a weight."""
    return float(dot(s.w, x))


@margin_rule(
    paper=WANG_2014,
    params={
        "B": Param(10.0, at_least=1.0, about="how many features of a row are read, and how many weights stay"),
        "eta": Param(0.2, above=0.0, about="the length of a step"),
        "eps": Param(0.2, above=0.0, at_most=1.0, about="how often features are read at random, not those in use"),
        "R": Param(10.0, above=0.0, about="how long the weights may be"),
    },
    state={"w": top_k},
    counters={"random": 1.0, "features": 0.0, "among": 0.0, "factor": 1.0, "shift": 0.0},
    score=partial_score,
    final=partial_final,
    guarantee=Guarantee(
        "at most B features of a row are read, at most B weights are not zero, and |w| <= R", "every round", radius
    ),
    title="OFSPartial",
    plays=("binary", "multiclass", "regression", "multilabel"),  # it reads other features of every row
)
def ofs_partial(p: P, s: S, z: Z, margin: float) -> bool:
    """Read B features of a row, at random or those in use, and step by what the whole row is expected to be."""
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
