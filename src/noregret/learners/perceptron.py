"""The perceptron family: step toward an example when it is on the wrong side.

Taught the same rows until none is wrong (the incremental perceptron): `nr.epochs(nr.make("perceptron"), X, y)`.
"""

from collections.abc import Mapping

from noregret.algebra import add, dot
from noregret.algebra.verbs import unbound
from noregret.rules.card import Choice, Guarantee, Merge, P, Param, S, X, Z, margin_rule, schedule
from noregret.rules.schedules import rate
from noregret.state.fields import plain, random_init

ROSENBLATT_1958 = "Rosenblatt, The perceptron, Psychological Review 65, 1958; Novikoff, On convergence proofs, 1963"
FREUND_SCHAPIRE_1999 = (
    "Freund and Schapire, Large margin classification using the perceptron algorithm, Machine Learning 37, 1999"
)
DUDA_HART_1973 = "Duda and Hart, Pattern Classification and Scene Analysis, Wiley, 1973"


def novikoff(radius: float, margin: float) -> float:
    """(R / gamma)^2 mistakes, whatever the order and the number of rounds."""
    return (radius / margin) ** 2


def novikoff_from(radius: float, margin: float, start: float = 0.0) -> float:
    """(R / gamma)^2 + 2 W / gamma mistakes for weights that begin at W steps from zero."""
    return novikoff(radius, margin) + 2.0 * start / margin


def not_right(margin: float) -> bool:
    return margin <= 0.0


def wrong(margin: float) -> bool:
    return margin < 0.0


misses = unbound


def can_move(numbers: Mapping[str, float], choices: Mapping[str, str]) -> str | None:
    """From zero every score is zero, and none is wrong."""
    if choices["strict"] == "yes" and numbers["random_start"] == 0.0:
        return 'strict="yes" never leaves weights of zero; give random_start a deviation above 0'
    return None


@margin_rule(
    paper=ROSENBLATT_1958,
    params={
        "eta": Param(1.0, above=0.0, about="the length of a step"),
        "random_start": Param(0.0, at_least=0.0, about="the deviation of the random weights it begins with"),
        "schedule": schedule("constant", steps=True),
        "strict": Choice(
            "no", {"no": not_right, "yes": wrong}, "whether a score of zero is left as it is", binds="misses"
        ),
    },
    state={"w": random_init},
    counters={"steps": 0.0},
    weigh="eta",
    guarantee=Guarantee(
        "updates <= (R / gamma)^2",
        "every |x| <= R, and some unit vector u has y u.x >= gamma > 0 on all rounds; constant eta, all weights 1; "
        "from random weights 2 W / gamma more, where W = |w| / eta before the first round",
        novikoff_from,
    ),
    merge=Merge("bounded", "weights are averaged in proportion to the rounds (parameter mixing)", "mix"),
    check=can_move,
    shown=True,
)
def perceptron(p: P, s: S, z: Z, margin: float) -> bool:
    """Add the example when it is not on the right side."""
    if misses(margin):
        s.n.steps += 1.0
        add(s.w, rate(p.eta, s.n.t, s.n.steps), z)
        return True
    return False


def averaged_final(p: P, s: S, x: X) -> float:
    """The mean of all weight vectors so far, the first being zero."""
    return float(dot(s.w, x) - dot(s.u, x) / (s.n.t + 1.0))


@margin_rule(
    paper=FREUND_SCHAPIRE_1999,
    params={},
    state={"w": plain, "u": plain},
    final=averaged_final,
    guarantee=Guarantee(
        "updates <= (R / gamma)^2",
        "every |x| <= R, and some unit vector u has y u.x >= gamma > 0 on all rounds",
        novikoff,
    ),
    merge=Merge(
        "exact", "the sums of all weight vectors add, and so do the rounds; the last vectors are averaged", "accumulate"
    ),
    title="AveragedPerceptron",
    shown=True,
)
def perceptron_averaged(p: P, s: S, z: Z, margin: float) -> bool:
    """Learn as the perceptron, predict with the average of all its vectors."""
    if margin <= 0.0:
        add(s.w, 1.0, z)
        add(s.u, s.n.t, z)
        return True
    return False


def margin_bound(radius: float, margin: float, b: float, eta: float) -> float:
    """(R^2 + 2 b / eta) / gamma^2 updates; with b = 0 it is the bound of the perceptron."""
    return (radius**2 + 2.0 * b / eta) / margin**2


@margin_rule(
    paper=DUDA_HART_1973,
    params={
        "b": Param(1.0, at_least=0.0, about="the margin below which an example is added"),
        "eta": Param(1.0, above=0.0, about="the length of a step"),
    },
    state={"w": plain},
    weigh="eta",
    guarantee=Guarantee(
        "updates <= (R^2 + 2 b / eta) / gamma^2",
        "every |x| <= R, and some unit vector u has y u.x >= gamma > 0 on all rounds; all weights 1",
        margin_bound,
    ),
    merge=Merge("heuristic", "weights are averaged in proportion to the rounds; no bound is claimed", "mix"),
    title="MarginPerceptron",
)
def perceptron_margin(p: P, s: S, z: Z, margin: float) -> bool:
    """Add the example also when it is right by less than b."""
    if margin < p.b or margin <= 0.0:
        add(s.w, p.eta, z)
        return True
    return False
