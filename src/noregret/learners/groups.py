"""Group learners: features that belong together are in use together, or not at all."""

import math

from noregret.algebra import add, at, group_norm, group_size
from noregret.algebra.verbs import unbound
from noregret.learners.sparse import GAMMA, SUMMED, enhanced_regret, rda_regret
from noregret.rules.card import Choice, G, Guarantee, P, Param, S, gradient_rule
from noregret.state.fields import grouped

YANG_2010 = "Yang, Xu, King and Lyu, Online learning for group lasso, ICML 2010"
YANG_2013 = "Yang, Lyu and King, Efficient online learning for multitask feature selection, ACM TKDD 7, 2013"
penalties = unbound


def beyond_group(p: P, s: S, j: int, alone: float, together: float) -> float:
    """The weight whose mean gradient exceeds one limit alone, and with its group another."""
    t = max(s.n.t, 1.0)
    length = group_norm(s.G, j, alone * t)
    pull = abs(at(s.G, j)) - alone * t
    if length <= together * t or pull <= 0.0:
        return 0.0
    return float(-math.copysign(pull, at(s.G, j)) * (1.0 - together * t / length) / (p.gamma * math.sqrt(t)))


def group_weight(p: P, s: S, j: int) -> float:
    """A large group must exceed more than a small one."""
    alone = p.lam * p.r + p.gamma * p.rho / math.sqrt(max(s.n.t, 1.0))
    return beyond_group(p, s, j, alone, p.lam * math.sqrt(group_size(s.G, j)))


@gradient_rule(
    paper=YANG_2010,
    params={
        "lam": Param(1e-3, at_least=0.0, about="a group stays at zero up to mean gradients of this times sqrt(size)"),
        "gamma": GAMMA,
        "r": Param(0.0, at_least=0.0, about="single weights stay at zero up to mean gradients of lam r"),
        "rho": Param(0.0, at_least=0.0, about="how much more the early mean gradients of single weights must exceed"),
    },
    state={"G": grouped},
    weight=group_weight,
    loss="logistic",
    guarantee=Guarantee(
        "regret of the regularised loss against u <= (gamma (|u|^2 / 2 + rho |u|_1) + G^2 / gamma) sqrt(T)",
        "a convex loss with every |g| <= G, and the penalty lam sum of sqrt(size) |w_group| + lam r |w|_1; any u; "
        "all weights 1",
        enhanced_regret,
    ),
    merge=SUMMED,
)
def group_lasso(p: P, s: S, g: G) -> None:
    """Sum the gradients; the weights minimise their mean plus the lengths of the groups."""
    add(s.G, 1.0, g)


def across(p: P) -> tuple[float, float]:
    """A feature is in use for all tasks, or for none."""
    return 0.0, p.lam


def within(p: P) -> tuple[float, float]:
    """Every task has features of its own."""
    return p.lam, 0.0


def both(p: P) -> tuple[float, float]:
    """Few features for all tasks, and of these few for each."""
    return p.lam * p.r, p.lam


def task_weight(p: P, s: S, j: int) -> float:
    """The groups are one feature over all tasks, all of one size."""
    alone, together = penalties(p)
    return beyond_group(p, s, j, alone, together)


@gradient_rule(
    paper=YANG_2013,
    params={
        "lam": Param(1e-3, at_least=0.0, about="mean gradients up to this size leave a feature, or a weight, at zero"),
        "gamma": GAMMA,
        "r": Param(1.0, at_least=0.0, about="where features are shared and tasks differ, single weights exceed lam r"),
        "shared": Choice(
            "across",
            {"across": across, "within": within, "both": both},
            "whether features are selected across all tasks (aMTFS), within each (iMTFS), or both (MTFTS)",
            binds="penalties",
        ),
    },
    state={"G": grouped},
    weight=task_weight,
    loss="logistic",
    guarantee=Guarantee(
        "regret of the regularised loss against u <= (gamma |u|^2 / 2 + G^2 / gamma) sqrt(T)",
        "a convex loss with every |g| <= G; the weights of all tasks are one vector; any u; all weights 1",
        rda_regret,
    ),
    merge=SUMMED,
)
def multitask(p: P, s: S, g: G) -> None:
    """Sum the gradients of all tasks; rows are seated by `stack_tasks`, and groups= is the number of tasks."""
    add(s.G, 1.0, g)
