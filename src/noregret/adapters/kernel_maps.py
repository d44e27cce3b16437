"""Large-scale online kernel learning: gradient descent behind a kernel map (Lu, Hoi, Wang, Zhao and Liu 2016)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from noregret.features.fourier import Fourier
from noregret.features.nystrom import Nystrom
from noregret.features.transforms import Transform, as_pipeline, scale, transform
from noregret.learner.config import resolve
from noregret.learner.factory import card_of
from noregret.learner.named import name_config
from noregret.learner.registry import find_rule
from noregret.learner.rule_learner import RuleLearner
from noregret.rules.guarantee import Guarantee
from noregret.rules.method_card import MethodCard, method_card
from noregret.rules.names import TaskName
from noregret.rules.parameters import Param, Parameter

LU_2016 = "Lu, Hoi, Wang, Zhao and Liu, Large scale online kernel learning, JMLR 17, 2016"
TASKS: tuple[TaskName, ...] = ("binary", "multiclass", "regression", "multilabel", "ranking", "one-class")
OWN = ("eta0", "schedule", "power", "decay", "loss")  # the parameters of gradient descent that these methods have
OF_PRODUCTS = ("polynomial", "linear")  # kernels whose k(x, x) is not 1
RATE = 4.0  # the first learning rate where scores are measured in units of the task, and mapped rows have length 1
SHARED = (
    "task", "algebra", "classes", "class_weight", "cost", "bias", "scale", "transforms", "bits", "columns", "average",
    "weight_decay", "seed", "native", "kernel",
)  # fmt: skip


def map_params(params: Mapping[str, Any]) -> dict[str, Parameter]:
    """The parameters of a map and of gradient descent; mapped rows have length 1 with most kernels."""
    descent = dict(find_rule("ogd").params)
    eta0 = descent["eta0"]
    assert isinstance(eta0, Param)
    about = f"{eta0.about}; in regression {RATE:g}, but {eta0.measured:g} with the polynomial and linear kernel"
    descent["eta0"] = replace(eta0, measured=RATE, about=about)
    return {name: one for name, one in params.items() if name != "kernel"} | {name: descent[name] for name in OWN}


def map_guarantees() -> tuple[Guarantee, ...]:
    """The theorems of gradient descent without a set to project onto: they hold for the mapped rows."""
    return tuple(
        replace(one, when=f"for the rows that the map makes: {one.when.replace(' of the set', '')}")
        for one in find_rule("ogd").guarantees
        if set(one.options) <= {"schedule", "loss"}
    )


def make_mapped(name: str, kind: str, given: dict[str, Any]) -> RuleLearner:
    """Gradient descent behind a map, which comes after all other transforms and the scaling."""
    card = card_of(name)
    assert isinstance(card, MethodCard)
    given = {key: value for key, value in given.items() if key not in card.params or value != card.params[key].default}
    mapping = transform(
        kind, **{key: given[key] for key in ("kernel", *card.params) if key in given and key not in OWN}
    )
    steps: list[Transform] = [*as_pipeline(given.get("transforms"))]
    if given.get("scale") is True:
        steps += scale()
    rest = {
        key: value for key, value in given.items() if key in OWN or (key in SHARED and key not in ("kernel", "scale"))
    }
    config = resolve(find_rule("ogd"), {**rest, "transforms": [*steps, mapping]})
    if config.task.measured and "eta0" not in rest and given.get("kernel", "rbf") not in OF_PRODUCTS:
        config = resolve(find_rule("ogd"), {**config.given, "eta0": RATE})
    if "transforms" in given:
        given["transforms"] = [str(step) for step in as_pipeline(given["transforms"])]
    return RuleLearner(name_config(config, card, given))


@method_card(
    name="fogd",
    title="FOGD",
    paper=LU_2016,
    kind="rule",
    tasks=TASKS,
    params=map_params(Fourier.params),
    options=SHARED,
    guarantees=map_guarantees(),
    weights=True,
)
def fogd(**given: Any) -> RuleLearner:
    """Fourier online gradient descent: gradient descent on random Fourier features, which approximate a kernel."""
    return make_mapped("fogd", "fourier", given)


@method_card(
    name="nogd",
    title="NOGD",
    paper=LU_2016,
    kind="rule",
    tasks=TASKS,
    params=map_params(Nystrom.params),
    options=SHARED,
    guarantees=map_guarantees(),
    weights=True,
)
def nogd(**given: Any) -> RuleLearner:
    """Nystrom online gradient descent: gradient descent on the coordinates of rows among landmarks, by a kernel."""
    return make_mapped("nogd", "nystrom", given)
