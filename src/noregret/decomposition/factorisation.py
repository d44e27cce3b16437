"""Online collaborative filtering: ratings as products of factors of users and of items."""

from typing import Any, ClassVar

import numpy as np

from noregret.decomposition.parameters import check_whole
from noregret.decomposition.rating_learner import DAMPING, OPTIONS, SCALE, Floats, Plan, RatingLearner
from noregret.decomposition.rating_loops import BIASES, NONE
from noregret.learner.model_file import register_kind
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Choice, Param

ETAS = {"pmf": 3.0, "rmf": 20.0}
BETAS = {"pmf": 0.05, "rmf": 0.01}
LEAST_SPREADS = {"sgd": 0.2, "da": 0.7}  # dual averaging becomes unstable where beta is much smaller
K = Param(
    10.0,
    at_least=1.0,
    at_most=1024.0,
    grid=(3.0, 5.0, 10.0, 20.0, 40.0),
    about="how many factors a user and an item have",
)
PENALTIES = {
    f"lam_{side}": Param(0.0003, at_least=0.0, search=(1e-5, 1e-2, "log"),
                         about=f"the penalty of the squares of the factors of {side}")
    for side in ("users", "items")
}  # fmt: skip


@register_kind
@method_card(
    paper="Ling, Yang, King and Lyu, Online learning for collaborative filtering, International Joint Conference on "
    "Neural Networks, 2012",
    kind="factorisation",
    tasks=("recommendation",),
    params={
        "model": Choice("pmf", {"pmf": 0.0, "rmf": 1.0}, "what factors are fitted to: ratings (pmf, probabilistic "
                        "matrix factorisation), or the order of the items of each user (rmf, ranking)"),
        "method": Choice("sgd", {"sgd": 0.0, "da": 1.0}, "by stochastic gradient descent, or by dual averaging"),
        "k": K,
        "eta": Param(0.0, at_least=0.0, search=(0.1, 50.0, "log"), about="the step of sgd; 0: 3 for pmf and 20 for "
                     "rmf, larger where ratings with biases fill only a part of the scale"),
        "beta": Param(0.0, at_least=0.0, search=(0.001, 1.0, "log"), about="of da: the penalty beside lam is beta / "
                      "sqrt(t) after t ratings of a user or an item; 0: 0.05 for pmf and 0.01 for rmf, or less"),
        **PENALTIES,
        "biases": Choice("yes", {"yes": BIASES, "no": NONE}, "whether the mean rating and the biases of user "
                         "and item are added to the product of factors; no: as in the paper"),
        "damping": DAMPING,
        **SCALE,
    },
    options=OPTIONS,
    merge=Merge("none", "factors of two learners have no common directions"),
)  # fmt: skip
class Factorisation(RatingLearner):
    """Matrix factorisation of ratings: products of the factors of users and items, learned one rating at a time."""

    kind: ClassVar[str] = "factorisation"
    command_line: ClassVar[str] = "noregret recommend RATINGS"

    def __init__(self, minimum: float, maximum: float, **given: Any) -> None:
        self.given = {name: given.pop(name) for name in self.card.params if name in given}
        self.given["k"] = check_whole("factorisation", "k", self.given["k"])
        super().__init__(minimum, maximum, given)

    @property
    def params(self) -> dict[str, Any]:
        return {**self.given, "minimum": self.minimum, "maximum": self.maximum}

    def make_plan(self) -> Plan:
        given, choices = self.given, self.card.choices
        method = given["method"]
        follows = given["biases"] == "yes" and given["eta" if method == "sgd" else "beta"] == 0.0
        numbers = [
            *(choices[name].among[given[name]] for name in ("model", "method", "biases")),
            given["eta"] or ETAS[given["model"]], given["lam_users"], given["lam_items"],
            given["beta"] or BETAS[given["model"]], given["damping"],
            LEAST_SPREADS[method] if follows else 0.0,
        ]  # fmt: skip
        return Plan(given["k"], np.array(numbers, np.float64))

    @property
    def user_factors(self) -> Floats:
        """The factors of users, one in each row, in the order of `users`."""
        with self._lock:
            self._change.settle()
            return self.state.of_users.factors[: self.state.users].copy()

    @property
    def item_factors(self) -> Floats:
        """The factors of items, one in each row, in the order of `items`."""
        with self._lock:
            self._change.settle()
            return self.state.of_items.factors[: self.state.items].copy()
