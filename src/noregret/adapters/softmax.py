"""Multinomial logistic regression: AdaGrad on the softmax loss, under the name that users look for."""

from dataclasses import replace
from typing import Any

from noregret.learner.config import resolve
from noregret.learner.factory import card_of
from noregret.learner.named import name_config
from noregret.learner.registry import find_rule
from noregret.learner.rule_learner import RuleLearner
from noregret.rules.guarantee import Guarantee
from noregret.rules.method_card import MethodCard, method_card
from noregret.rules.parameters import Param

BOHNING_1992 = (
    "Bohning, Multinomial logistic regression algorithm, Annals of the Institute of Statistical Mathematics 44, 1992"
)
OPTIONS = (
    "task", "algebra", "classes", "class_weight", "bias", "scale", "transforms", "bits", "columns", "seed", "native",
    "labels", "ask",
)  # fmt: skip
ETA = Param(0.5, above=0.0, about="the length of the first step of a weight", search=(1e-3, 1e1, "log"))
DELTA = Param(
    0.01,
    above=0.0,
    about="added to the root of the sum of squared gradients: larger values shorten the first steps of a weight",
    search=(1e-4, 1.0, "log"),
)


def step_guarantees() -> tuple[Guarantee, ...]:
    """The theorem of AdaGrad without a set to project onto: the softmax loss is convex."""
    return tuple(
        replace(one, when=one.when.replace("a convex loss; ", "")) for one in find_rule("adagrad").guarantees
        if not one.options
    )  # fmt: skip


@method_card(
    name="softmax",
    title="Softmax",
    paper=f"{BOHNING_1992}; the steps: {find_rule('adagrad').paper}",
    kind="rule",
    tasks=("multiclass",),
    params={"eta": ETA, "delta": DELTA},
    options=OPTIONS,
    guarantees=step_guarantees(),
    weights=True,
)
def softmax(**given: Any) -> RuleLearner:
    """Multinomial logistic regression: AdaGrad steps on -log p, with probabilities that need no calibration."""
    card = card_of("softmax")
    assert isinstance(card, MethodCard)
    own = {
        name: value for name, value in given.items() if name not in card.params or value != card.params[name].default
    }
    steps = {name: given[name] for name in card.params}
    return RuleLearner(
        name_config(resolve(find_rule("adagrad"), {**own, **steps, "task": "multiclass", "loss": "softmax"}), card, own)
    )
