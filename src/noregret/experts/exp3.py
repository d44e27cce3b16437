"""Exp3 over experts: the rule of the bandit task, which sees only the loss of the expert that it drew."""

from typing import Any, cast

from noregret.algebra.partial_features import next_random
from noregret.algebra.verbs import unbound
from noregret.experts.card import expert_algorithm
from noregret.learner.bandit import drawn
from noregret.rules.registry import REGISTRY, load_package
from noregret.rules.rule_card import RuleCard

load_package("noregret.learners")
RULE = cast(RuleCard, REGISTRY["exp3"])
chances = rule = unbound


def exp3_weights(p: Any, s: Any, awake: Any, q: Any) -> None:
    chances(p, s, s.scores, q)


def find_gains(s: Any) -> str | None:
    return None if max(s.scores.max(), s.steps.max()) <= 0.0 else "the scores must be estimates of losses below 0"


@expert_algorithm(
    paper=RULE.paper,
    weigh=exp3_weights,
    why_awake="it estimates the losses of all experts from those it drew",
    params=RULE.params,
    state={"scores": 0.0, "steps": 0.0},
    find_problem=find_gains,
    draws=True,
    binds={"chances": RULE.chances, "rule": RULE.rule},
    guarantees=RULE.guarantees,
    title="Exp3Experts",
)
def exp3_experts(p: Any, s: Any, awake: Any, q: Any, losses: Any, own: float) -> None:
    """Exp3 on losses of experts: draws an expert in every round, and learns from the loss of that one alone."""
    s.n.random = next_random(s.n.random)
    i = drawn(q, s.n.random)
    s.steps[:] = 0.0
    rule(p, s, s.steps, s.scores, q[i], i, losses[i])
    s.scores[i] += s.steps[i]
