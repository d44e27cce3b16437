"""noregret: learning from a stream, one round at a time, with native speed and proven bounds."""

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noregret.card import Card as Card
    from noregret.card import Choice as Choice
    from noregret.card import Guarantee as Guarantee
    from noregret.card import Merge as Merge
    from noregret.card import Param as Param
    from noregret.card import bandit_rule as bandit_rule
    from noregret.card import coordinate_rule as coordinate_rule
    from noregret.card import gradient_rule as gradient_rule
    from noregret.card import margin_rule as margin_rule
    from noregret.card import prototype_rule as prototype_rule
    from noregret.card import schedule as schedule
    from noregret.choosing import Chosen as Chosen
    from noregret.chunk import Transcript as Transcript
    from noregret.errors import BadValue as BadValue
    from noregret.errors import Error as Error
    from noregret.errors import NotLearned as NotLearned
    from noregret.features.transforms import Pipeline as Pipeline
    from noregret.features.transforms import Transform as Transform
    from noregret.features.transforms import clip as clip
    from noregret.features.transforms import log1p as log1p
    from noregret.features.transforms import min_max as min_max
    from noregret.features.transforms import missing as missing
    from noregret.features.transforms import one_hot as one_hot
    from noregret.features.transforms import pairs as pairs
    from noregret.features.transforms import scale as scale
    from noregret.features.transforms import squares as squares
    from noregret.features.transforms import tf_idf as tf_idf
    from noregret.features.transforms import unit_norm as unit_norm
    from noregret.labels import UNIVERSUM as UNIVERSUM
    from noregret.learner import Learner as Learner
    from noregret.making import informed as informed
    from noregret.making import learners as learners
    from noregret.making import make as make
    from noregret.modelfile import load as load
    from noregret.practice.boolean import Threshold as Threshold
    from noregret.practice.boolean import all_of as all_of
    from noregret.practice.boolean import any_of as any_of
    from noregret.practice.boolean import at_least as at_least
    from noregret.practice.boolean import negation as negation
    from noregret.practice.boolean import none_of as none_of
    from noregret.practice.conversion import convert as convert
    from noregret.practice.delayed import delayed as delayed
    from noregret.practice.descent import descend as descend
    from noregret.practice.epochs import epochs as epochs
    from noregret.practice.joint import Joint as Joint
    from noregret.practice.self_training import self_training as self_training
    from noregret.practice.self_training import transduce as transduce
    from noregret.practice.tasks import seat_tasks as seat_tasks
    from noregret.practice.transfer import transfer as transfer
    from noregret.practice.transfer import warm_start as warm_start
    from noregret.session import play as play
    from noregret.session import race as race
    from noregret.state import amount as amount
    from noregret.state import covariance as covariance
    from noregret.state import exponents as exponents
    from noregret.state import grouped as grouped
    from noregret.state import held as held
    from noregret.state import kept as kept
    from noregret.state import lazy as lazy
    from noregret.state import lazy_groups as lazy_groups
    from noregret.state import plain as plain
    from noregret.state import positive as positive
    from noregret.state import reservoir as reservoir
    from noregret.state import scaled as scaled
    from noregret.state import scattered as scattered
    from noregret.streams import open_source as open_source
    from noregret.warming import warm as warm

__version__ = "0.1.0"

_HOMES = {
    "card": (
        "Card", "Choice", "Guarantee", "Merge", "Param", "bandit_rule", "coordinate_rule", "gradient_rule",
        "margin_rule", "prototype_rule", "schedule",
    ),
    "choosing": ("Chosen",),
    "chunk": ("Transcript",),
    "errors": ("BadValue", "Error", "NotLearned"),
    "features.transforms": (
        "Pipeline", "Transform", "clip", "log1p", "min_max", "missing", "one_hot", "pairs", "scale", "squares",
        "tf_idf", "unit_norm",
    ),
    "labels": ("UNIVERSUM",),
    "learner": ("Learner",),
    "making": ("informed", "learners", "make"),
    "modelfile": ("load",),
    "practice.boolean": ("Threshold", "all_of", "any_of", "at_least", "negation", "none_of"),
    "practice.conversion": ("convert",),
    "practice.delayed": ("delayed",),
    "practice.descent": ("descend",),
    "practice.epochs": ("epochs",),
    "practice.self_training": ("self_training", "transduce"),
    "practice.joint": ("Joint",),
    "practice.tasks": ("seat_tasks",),
    "practice.transfer": ("transfer", "warm_start"),
    "session": ("play", "race"),
    "state": (
        "amount", "covariance", "exponents", "grouped", "held", "kept", "lazy", "lazy_groups", "plain", "positive",
        "reservoir", "scaled", "scattered",
    ),
    "streams": ("open_source",),
    "warming": ("warm",),
}  # fmt: skip
_HOME = {name: module for module, names in _HOMES.items() for name in names}
__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    """Everything is loaded when first asked for, so that importing the package costs nothing."""
    if name not in _HOME:
        raise AttributeError(f"module 'noregret' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"noregret.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(types.ModuleType):
    """Importing the folder `learners` must not hide the function of that name."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOME and isinstance(value, types.ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
