"""Group sparsity: groups of features are used together or not at all."""

import math

from noregret.algebra import add, at, group_norm, group_size, sqsource
from noregret.algebra.verbs import unbound
from noregret.learners.sparse import GAMMA, SUMMED, enhanced_regret, has_gamma, rda_regret, strength
from noregret.rules.decorators import gradient_rule
from noregret.rules.guarantee import Guarantee
from noregret.rules.parameters import Choice, Param
from noregret.rules.row_size import ROW_COUNTERS, count_row
from noregret.rules.rule_card import G, P, S
from noregret.state.fields import grouped

YANG_2010 = "Yang, Xu, King and Lyu, Online learning for group lasso, ICML 2010"
YANG_2013 = "Yang, Lyu and King, Efficient online learning for multitask feature selection, ACM TKDD 7, 2013"
penalties = unbound


def beyond_group(p: P, s: S, j: int, alone: float, together: float) -> float:
    """Soft thresholding of the mean gradient, of each weight by one limit and of its group by another."""
    t = max(s.n.t, 1.0)
    length = group_norm(s.G, j, alone * t)
    pull = abs(at(s.G, j)) - alone * t
    if length <= together * t or pull <= 0.0:
        return 0.0
    return float(-math.copysign(pull, at(s.G, j)) * (1.0 - together * t / length) / (strength(p, s) * math.sqrt(t)))


def group_weight(p: P, s: S, j: int) -> float:
    """The limit of a group grows with the root of its size."""
    alone = p.lam * p.r + strength(p, s) * p.rho / math.sqrt(max(s.n.t, 1.0))
    return beyond_group(p, s, j, alone, p.lam * math.sqrt(group_size(s.G, j)))


@gradient_rule(
    paper=YANG_2010,
    params={
        "lam": Param(
            1e-4,
            at_least=0.0,
            about="the strength of the group penalty, times sqrt(size of the group)",
            search=(1e-6, 1e-1, "log"),
        ),
        "gamma": GAMMA,
        "r": Param(
            0.0,
            at_least=0.0,
            about="the strength of an l1 penalty, relative to lam (sparse group lasso)",
            grid=(0.0, 0.1, 1.0, 10.0),
        ),
        "rho": Param(0.0, at_least=0.0, about="an additional l1 term of the early rounds", grid=(0.0, 0.005, 0.05)),
    },
    state={"G": grouped},
    counters=ROW_COUNTERS,
    weight=group_weight,
    loss="logistic",
    guarantees=(
        Guarantee(
            "regularised regret",
            "regret of the loss plus penalty against u <= (gamma (|u|^2 / 2 + rho |u|_1) + G^2 / gamma) sqrt(T)",
            "gamma > 0; a convex loss with every |g_t| <= G, and the penalty lam sum of sqrt(size) |w_group| + lam r "
            "|w|_1; any "
            "u; all importance weights 1",
            enhanced_regret,
            requires=has_gamma,
        ),
    ),
    merge=SUMMED,
)
def group_lasso(p: P, s: S, g: G) -> None:
    """Dual averaging with a group lasso penalty: the weights minimise the mean gradient plus the norms of groups."""
    if p.gamma == 0.0:
        count_row(s, sqsource(g))
    add(s.G, 1.0, g)


def across(p: P) -> tuple[float, float]:
    """A feature is used by all tasks, or by none (aMTFS)."""
    return 0.0, p.lam


def within(p: P) -> tuple[float, float]:
    """Every task selects its own features (iMTFS)."""
    return p.lam, 0.0


def both(p: P) -> tuple[float, float]:
    """Features are selected for all tasks together, and among these for each task (MTFTS)."""
    return p.lam * p.r, p.lam


def task_weight(p: P, s: S, j: int) -> float:
    """A group is one feature in all tasks; all groups have the same size."""
    alone, together = penalties(p)
    return beyond_group(p, s, j, alone, together)


@gradient_rule(
    paper=YANG_2013,
    params={
        "lam": Param(1e-4, at_least=0.0, about="the strength of the penalty", search=(1e-6, 1e-1, "log")),
        "gamma": GAMMA,
        "r": Param(
            1.0,
            at_least=0.0,
            about="with shared=both: the strength of the l1 penalty of single weights, relative to lam",
            search=(1e-2, 1e2, "log"),
        ),
        "shared": Choice(
            "across",
            {"across": across, "within": within, "both": both},
            "whether features are selected across all tasks (aMTFS), within each task (iMTFS), or both (MTFTS)",
            binds="penalties",
        ),
    },
    state={"G": grouped},
    counters=ROW_COUNTERS,
    weight=task_weight,
    loss="logistic",
    guarantees=(
        Guarantee(
            "regularised regret",
            "regret of the loss plus penalty against u <= (gamma |u|^2 / 2 + G^2 / gamma) sqrt(T)",
            "gamma > 0; a convex loss with every |g_t| <= G; the weights of all tasks form one vector; any u; all "
            "importance weights 1",
            rda_regret,
            requires=has_gamma,
        ),
    ),
    merge=SUMMED,
)
def multitask(p: P, s: S, g: G) -> None:
    """Dual averaging for several tasks at once, which select features together or each on its own.

    Rows are laid out by `stack_tasks`, and groups= is the number of tasks.
    """
    if p.gamma == 0.0:
        count_row(s, sqsource(g))
    add(s.G, 1.0, g)
