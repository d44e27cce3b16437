"""What is known of ratings without factors: their mean, and the biases of users and items."""

from typing import Any, ClassVar

import numpy as np

from noregret.decomposition import rating_loops as loops
from noregret.decomposition.rating_learner import DAMPING, OPTIONS, SCALE, Plan, RatingLearner
from noregret.learner.model_file import register_kind
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card

NOTHING_ELSE = Merge("none", "the biases of a user depend on the order of all ratings")


def plan_baseline(offset: int, damping: float) -> Plan:
    """Predictions without factors."""
    numbers = np.zeros(loops.NUMBERS)
    numbers[loops.OFFSET], numbers[loops.DAMPING] = offset, damping
    return Plan(0, numbers)


@register_kind
@method_card(
    paper="Koren, Factor in the neighbors: scalable and accurate collaborative filtering, ACM TKDD 4, 2010",
    kind="rating_biases",
    tasks=("recommendation",),
    params={"damping": DAMPING, **SCALE},
    options=OPTIONS,
    merge=NOTHING_ELSE,
)
class RatingBiases(RatingLearner):
    """The mean of all ratings, plus how far those of the user and those of the item differ from it."""

    kind: ClassVar[str] = "rating_biases"

    def __init__(self, minimum: float, maximum: float, damping: float, **options: Any) -> None:
        self.damping = damping
        super().__init__(minimum, maximum, options)

    @property
    def params(self) -> dict[str, Any]:
        return {"damping": self.damping, "minimum": self.minimum, "maximum": self.maximum}

    def make_plan(self) -> Plan:
        return plan_baseline(loops.BIASES, self.damping)


@register_kind
@method_card(
    paper="Robbins and Monro, A stochastic approximation method, Annals of Mathematical Statistics 22, 1951",
    kind="rating_mean",
    tasks=("recommendation",),
    params=SCALE,
    options=OPTIONS,
    merge=NOTHING_ELSE,
)
class RatingMean(RatingLearner):
    """The mean of all ratings so far, for every user and item."""

    kind: ClassVar[str] = "rating_mean"

    def __init__(self, minimum: float, maximum: float, **options: Any) -> None:
        super().__init__(minimum, maximum, options)

    @property
    def params(self) -> dict[str, Any]:
        return {"minimum": self.minimum, "maximum": self.maximum}

    def make_plan(self) -> Plan:
        return plan_baseline(loops.MEAN, DAMPING.default)
