"""The options of structured output, checked, and the learner whose rule steps along differences of features."""

import math
from typing import Any, NamedTuple

from noregret.errors import BadValue, shown
from noregret.learner.all_constraints import check_rule
from noregret.learner.arguments import check_rule_learner
from noregret.learner.factory import make
from noregret.learner.finder import name_of
from noregret.learner.rule_learner import RuleLearner
from noregret.rules.card import Card
from noregret.rules.probing import is_loss_driven
from noregret.structured.decoder import Decoder

COMPETITORS = {
    "auto": (),
    "predicted": (),
    "max_loss": ("argmax_augmented", "outputs", "k_best"),
    "k_best": ("k_best",),
    "all": ("outputs",),
}  # and the methods of a decoder, one of which each needs beside features, argmax and loss
TOGETHER = ("k_best", "all")  # competitors whose constraints make one step together
MARGINS = {"auto": None, "loss": float, "sqrt": math.sqrt, "unit": lambda loss: 1.0}
OWN_OPTIONS = ("task", "pairs", "task.pairs", "classes", "cost", "margin", "competitor")


class Setup(NamedTuple):
    """A decoder, against which outputs the right one is learned, and by how much it must beat them."""

    decoder: Any
    competitor: str
    margin: str
    k: int

    @property
    def name(self) -> str:
        return name_of(self.decoder)

    @property
    def options(self) -> dict[str, Any]:
        """The options in force."""
        return {"decoder": self.name, "competitor": self.competitor, "margin": self.margin, "k": self.k}

    def required(self, loss: float) -> float:
        """The margin that a loss asks for."""
        return float(MARGINS[self.margin](loss))  # type: ignore[misc]


def prepare(learner: Any, decoder: Any, competitor: str, margin: str, k: float) -> tuple[Setup, RuleLearner]:
    """The options, checked, and a learner that plays them: the one given if it fits, else a fresh one like it."""
    check_decoder(decoder)
    if isinstance(learner, (str, Card)):
        learner = make(learner, task="structured")
    rule = as_structured(
        check_rule_learner(learner, "structured output", "its rule steps along differences of features")
    )
    driven = rule.config.card.kind != "margin" or is_loss_driven(rule.config.card, rule.config.choices)
    if competitor == "auto":
        competitor = "max_loss" if driven and has_any(decoder, "max_loss") else "predicted"
    if margin == "auto":
        margin = "loss" if driven else "unit"
    if margin != "unit" and not driven:
        raise BadValue(f'{rule.card.name} does not support margin="{margin}": it updates only on mistakes. Leave '
                       "margin out, or use a rule that is driven by the loss, such as pa1")  # fmt: skip
    if not has_any(decoder, competitor):
        needs = " or ".join(COMPETITORS[competitor])
        raise BadValue(f'competitor="{competitor}" needs a decoder with the method {needs}, and '
                       f"{name_of(decoder)} has none")  # fmt: skip
    if competitor in TOGETHER:
        check_rule(rule, f'competitor="{competitor}"')
    if not 1.0 <= k == int(k):
        raise BadValue(f"k must be a whole number of at least 1, not {k!r}")
    return Setup(decoder, competitor, margin, int(k)), rule


def check_decoder(decoder: Any) -> None:
    """Refuse what is no decoder."""
    if isinstance(decoder, type):
        raise BadValue(f"decoder must be an object, not a class: write decoder={decoder.__name__}()")
    if not isinstance(decoder, Decoder):
        missing = [name for name in ("features", "argmax", "loss") if not callable(getattr(decoder, name, None))]
        raise BadValue(f"decoder must be an object with the methods features(x, y), argmax(w, x) and loss(y, predicted)"
                       f"; {shown(decoder)} has no {' and no '.join(missing)}")  # fmt: skip


def has_any(decoder: Any, competitor: str) -> bool:
    """Whether a decoder has one of the methods that a competitor needs."""
    needed = COMPETITORS[competitor]
    return not needed or any(callable(getattr(decoder, name, None)) for name in needed)


def as_structured(given: RuleLearner) -> RuleLearner:
    """The learner if it plays signed examples, else a fresh one like it that does."""
    if given.task != "structured":
        if given.rounds:
            raise BadValue('structured output needs a fresh learner, or one that has learned with task="structured", '
                           f"not {shown(given)}")  # fmt: skip
        shared = {name: value for name, value in given.config.given.items() if name not in OWN_OPTIONS}
        given = make(given.config.card, **shared, task="structured")
    config = given.config
    if config.bias or config.scale or config.transforms:
        raise BadValue("structured output scores the features of its decoder as they are; leave bias, scale and "
                       "transforms out")  # fmt: skip
    if config.algebra == "kernel":
        raise BadValue('structured output learns a weight for every feature, which algebra="kernel" does not have')
    return given
