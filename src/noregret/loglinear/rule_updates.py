"""Rule learners (perceptron, passive-aggressive, AROW ...) as rerankers: which candidates make a step, and how far.

A score is offset + w . h, where the offsets are those of fixed first weights. The rule steps along z = h(target) -
h(rival) and reaches the required margin minus the difference of the offsets. Targets and rivals are those of Chiang,
Hope and fear for discriminative training of statistical translation models, JMLR 13, 2012.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.learner.all_constraints import check_rule, combine, tabulate
from noregret.learner.rule_learner import RuleLearner
from noregret.rules.parameters import Choice
from noregret.rules.probing import is_loss_driven

Floats = NDArray[np.float64]
Rows = Sequence[Mapping[str, float]]
WHOLE_STEPS = 300.0  # what a loss of 1 is worth in scores of rules that step by whole examples, whatever the loss
COMPETITOR = Choice(
    "auto",
    {"auto": None, "predicted": None, "max_loss": None, "k_best": None},
    "the candidate that the best one must beat: the predicted one, the one whose loss and score are largest together, "
    "or the k best of these in one step (MIRA; pa, pa1, pa2); auto: max_loss, or predicted for rules that update on "
    "mistakes only",
)


TARGET = Choice(
    "hope",
    {"best": None, "hope": None},
    "the candidate that must beat the others: the best one of the list (oracle), or the one whose score minus loss is "
    "the largest (hope), which is within reach of the weights",
)


class How(NamedTuple):
    """Which candidates a step compares."""

    target: str
    competitor: str
    k: int
    driven: bool = True  # by the loss; otherwise the rule updates on mistakes only


def fit_to_rule(rule: RuleLearner, how: How) -> How:
    """What a step compares, as it suits the rule."""
    if how.competitor == "k_best":
        check_rule(rule, 'competitor="k_best"')
    driven = by_loss(rule)
    usual = "max_loss" if driven else "predicted"
    return how._replace(driven=driven, competitor=usual if how.competitor == "auto" else how.competitor)


def by_loss(rule: RuleLearner) -> bool:
    """Whether the margin that a rule asks for can be a loss; otherwise it updates on mistakes only."""
    return rule.config.card.kind != "margin" or is_loss_driven(rule.config.card, rule.config.choices)


def rule_scores(rule: RuleLearner, rows: Rows, training: bool = False) -> Floats:
    """w . h of every candidate, by the weights that predict or by those that are trained; 0 before any step."""
    if rule.model.arrays is None:
        return np.zeros(len(rows))
    return rule.training_scores(list(rows)) if training else rule.scores(list(rows))


def learn_by_rule(rule: RuleLearner, rows: Rows, offsets: Floats, losses: Floats, how: How) -> bool:
    """One step of the rule on a list; says whether the rule updated."""
    scores = offsets + rule_scores(rule, rows, training=True)
    driven, worth = how.driven, 1.0 if how.driven else WHOLE_STEPS
    target = int(np.argmin(losses) if how.target == "best" else np.argmax(scores - worth * losses))
    if how.competitor == "predicted":
        rivals = [int(np.argmax(scores))]
    else:
        augmented = scores + (losses if driven else (losses > 0.0))
        rivals = np.argsort(-augmented, kind="stable")[: how.k if how.competitor == "k_best" else 1].tolist()
    examples, required = [], []
    for rival in rivals:
        z, worse = subtract(rows[target], rows[rival]), float(losses[rival] - losses[target])
        if worse > 0.0 and z:
            examples.append(z)
            required.append((worse if driven else 1.0) - float(offsets[target] - offsets[rival]))
    if not examples:
        return False
    if how.competitor != "k_best":
        return rule.step(examples[0], required[0])
    names, Z = tabulate(examples)
    owed = np.array(required)
    z, margin = combine(rule, names, Z, owed, owed - rule_scores(rule, examples, training=True), 1.0)
    return bool(z) and rule.step(z, margin)


def subtract(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """The features in which two candidates differ, and by how much."""
    z = dict(one)
    for name, value in other.items():
        z[name] = z.get(name, 0.0) - value
    return {name: value for name, value in z.items() if value}
