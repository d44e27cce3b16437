"""The perceptron family: add an example to the weights when it is misclassified.

Repeated over the same rows until none is misclassified: `nr.epochs(nr.make("perceptron"), X, y)`.
"""

import math
from collections.abc import Mapping

from noregret.algebra import add, dot, sqnorm
from noregret.algebra.verbs import unbound
from noregret.rules.decorators import margin_rule, schedule
from noregret.rules.guarantee import Guarantee
from noregret.rules.merge_law import Merge
from noregret.rules.parameters import Choice, Param
from noregret.rules.row_size import ROW_COUNTERS, count_row
from noregret.rules.rule_card import P, S, X, Z
from noregret.rules.schedules import rate
from noregret.state.fields import plain

ROSENBLATT_1958 = "Rosenblatt, The perceptron, Psychological Review 65, 1958; Novikoff, On convergence proofs, 1963"
FREUND_SCHAPIRE_1999 = (
    "Freund and Schapire, Large margin classification using the perceptron algorithm, Machine Learning 37, 1999"
)
DUDA_HART_1973 = "Duda and Hart, Pattern Classification and Scene Analysis, Wiley, 1973"


def novikoff(p: P, radius: float, margin: float) -> float:
    """(R / gamma)^2 mistakes, whatever the order and the number of rounds."""
    return (radius / margin) ** 2


def noisy_bound(p: P, radius: float, norm: float, comparator_squares: float) -> float:
    """(R |u| + sqrt(sum of the squared hinge losses of u))^2 mistakes."""
    return (radius * norm + math.sqrt(comparator_squares)) ** 2


def novikoff_from(p: P, radius: float, margin: float, initial_norm: float) -> float:
    """(R / gamma)^2 + 2 W / gamma mistakes, where W = |w_1| / eta."""
    return float(novikoff(p, radius, margin) + 2.0 * initial_norm / p.eta / margin)


SEPARABLE = Guarantee(
    "updates",
    "updates <= (R / gamma)^2",
    "every |x| <= R; some unit vector u has y u.x >= gamma > 0 on all rounds",
    novikoff,
    comparator="separating",
)
NOISY = Guarantee(
    "updates",
    "updates <= (R |u| + sqrt(sum of the squared hinge losses of u))^2",
    "every |x| <= R; any u; each row once",
    noisy_bound,
)


def not_right(margin: float) -> bool:
    return margin <= 0.0


def wrong(margin: float) -> bool:
    return margin < 0.0


misses = unbound


def can_move(numbers: Mapping[str, float], choices: Mapping[str, str]) -> str | None:
    """From weights of zero every score is zero, and no margin is negative."""
    if choices["strict"] == "yes" and numbers["random_start"] == 0.0:
        return 'strict="yes" never leaves weights of zero; give random_start a deviation above 0'
    return None


@margin_rule(
    paper=ROSENBLATT_1958,
    params={
        "eta": Param(
            1.0, above=0.0, about="the step size", untuned="with a constant schedule it only rescales the weights"
        ),
        "schedule": schedule("constant", steps=True),
        "strict": Choice(
            "no",
            {"no": not_right, "yes": wrong},
            "whether a score of zero counts as correct",
            binds="misses",
            search=("no",),
        ),
    },
    state={"w": plain},
    counters={"steps": 0.0},
    weight_param="eta",
    guarantees=(
        Guarantee(
            "updates",
            "updates <= (R / gamma)^2",
            "every |x| <= R; some unit vector u has y u.x >= gamma > 0 on all rounds; random_start = 0; all importance "
            "weights 1",
            novikoff,
            options={"schedule": ("constant",)},
            comparator="separating",
        ),
        Guarantee(
            "updates",
            "updates <= (R |u| + sqrt(sum of the squared hinge losses of u))^2",
            "every |x| <= R; any u; each row once; random_start = 0; all importance weights 1",
            noisy_bound,
            options={"schedule": ("constant",)},
        ),
        Guarantee(
            "updates",
            "updates <= (R / gamma)^2 + 2 |w_1| / (eta gamma), where w_1 are the random weights of the start",
            "every |x| <= R; some unit vector u has y u.x >= gamma > 0 on all rounds; all importance weights 1",
            novikoff_from,
            options={"schedule": ("constant",)},
            comparator="separating",
            any_start=True,
        ),
    ),
    merge=Merge("bounded", "weights are averaged in proportion to the rounds (parameter mixing)", "mix"),
    check=can_move,
    runs_by_default=True,
)
def perceptron(p: P, s: S, z: Z, margin: float) -> bool:
    """Add the example to the weights when it is misclassified."""
    if misses(margin):
        s.n.steps += 1.0
        add(s.w, rate(p, p.eta, s.n.t, s.n.steps), z)
        return True
    return False


def averaged_final(p: P, s: S, x: X) -> float:
    """w.x with the mean of all weight vectors so far, the first being zero."""
    return float(dot(s.w, x) - dot(s.u, x) / (s.n.t + 1.0))


@margin_rule(
    paper=FREUND_SCHAPIRE_1999,
    params={},
    state={"w": plain, "u": plain},
    final=averaged_final,
    guarantees=(SEPARABLE, NOISY),
    merge=Merge(
        "exact", "the sums of all weight vectors add, and so do the rounds; the last vectors are averaged", "accumulate"
    ),
    title="AveragedPerceptron",
    runs_by_default=True,
)
def perceptron_averaged(p: P, s: S, z: Z, margin: float) -> bool:
    """Train as the perceptron, predict with the average of all weight vectors."""
    if margin <= 0.0:
        add(s.w, 1.0, z)
        add(s.u, s.n.t, z)
        return True
    return False


def margin_bound(p: P, radius: float, margin: float) -> float:
    """(R^2 + 2 b / eta) / gamma^2 updates; where b is 0, it follows the rows and is at most R^2."""
    b = p.b if p.b > 0.0 else radius**2
    return float((radius**2 + 2.0 * b / p.eta) / margin**2)


@margin_rule(
    paper=DUDA_HART_1973,
    params={
        "b": Param(
            0.0,
            at_least=0.0,
            about="the margin below which it updates; 0 stands for the geometric mean of |x|^2 so far",
            search=(1e-2, 1e2, "log"),
        ),
        "eta": Param(1.0, above=0.0, about="the step size", untuned="only b / eta matters"),
    },
    state={"w": plain},
    counters=ROW_COUNTERS,
    weight_param="eta",
    guarantees=(
        Guarantee(
            "updates",
            "updates <= (R^2 + 2 b / eta) / gamma^2; where b is 0, updates <= (1 + 2 / eta) (R / gamma)^2",
            "every |x| <= R; some unit vector u has y u.x >= gamma > 0 on all rounds; all importance weights 1",
            margin_bound,
            comparator="separating",
        ),
    ),
    merge=Merge("heuristic", "weights are averaged in proportion to the rounds; no bound is known", "mix"),
    title="MarginPerceptron",
)
def perceptron_margin(p: P, s: S, z: Z, margin: float) -> bool:
    """Perceptron with margin: add the example when its margin is below b."""
    if margin < (p.b if p.b > 0.0 else count_row(s, sqnorm(z))) or margin <= 0.0:
        add(s.w, p.eta, z)
        return True
    return False
