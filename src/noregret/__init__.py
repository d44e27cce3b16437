"""noregret: learning from a stream, one round at a time, with native speed and proven bounds."""

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

from noregret.version import __version__

if TYPE_CHECKING:
    from noregret import games as games
    from noregret import plots as plots
    from noregret import torch as torch
    from noregret.adapters.delayed import delayed as delayed
    from noregret.adapters.detector_loops import detector as detector
    from noregret.adapters.drift_aware import drift_aware as drift_aware
    from noregret.adapters.joint import Joint as Joint
    from noregret.adapters.self_training import self_training as self_training
    from noregret.adapters.self_training import transduce as transduce
    from noregret.adapters.transfer import transfer as transfer
    from noregret.adapters.transfer import warm_start as warm_start
    from noregret.concepts.adversary import TreeAdversary as TreeAdversary
    from noregret.concepts.adversary import force_mistakes as force_mistakes
    from noregret.concepts.boolean import Threshold as Threshold
    from noregret.concepts.boolean import all_of as all_of
    from noregret.concepts.boolean import any_of as any_of
    from noregret.concepts.boolean import at_least as at_least
    from noregret.concepts.boolean import negation as negation
    from noregret.concepts.boolean import none_of as none_of
    from noregret.concepts.concept_class import concept_class as concept_class
    from noregret.concepts.concept_class import k_conjunctions as k_conjunctions
    from noregret.concepts.concept_class import k_disjunctions as k_disjunctions
    from noregret.concepts.dnf import DNF as DNF
    from noregret.concepts.dnf import as_dnf as as_dnf
    from noregret.concepts.teaching import Lesson as Lesson
    from noregret.concepts.teaching import teach as teach
    from noregret.concepts.version_space import VersionSpace as VersionSpace
    from noregret.concepts.worst_case import mistake_bound as mistake_bound
    from noregret.data.labels import UNIVERSUM as UNIVERSUM
    from noregret.data.transcript import Transcript as Transcript
    from noregret.errors import BadValue as BadValue
    from noregret.errors import Error as Error
    from noregret.errors import NotLearned as NotLearned
    from noregret.evaluation.certify import certify as certify
    from noregret.evaluation.evaluate import evaluate as evaluate
    from noregret.evaluation.experts import race_experts as race_experts
    from noregret.evaluation.learning_curve import learning_curve as learning_curve
    from noregret.evaluation.mercer import MercerCheck as MercerCheck
    from noregret.evaluation.mercer import check_mercer as check_mercer
    from noregret.evaluation.play import play as play
    from noregret.evaluation.portfolios import race_portfolios as race_portfolios
    from noregret.evaluation.race import race as race
    from noregret.evaluation.tune import tune as tune
    from noregret.experts.portfolio.hindsight import best_constant_portfolio as best_constant_portfolio
    from noregret.experts.portfolio.hindsight import best_stock as best_stock
    from noregret.features.transforms import Pipeline as Pipeline
    from noregret.features.transforms import Transform as Transform
    from noregret.features.transforms import clip as clip
    from noregret.features.transforms import conjunctions as conjunctions
    from noregret.features.transforms import fourier as fourier
    from noregret.features.transforms import log1p as log1p
    from noregret.features.transforms import min_max as min_max
    from noregret.features.transforms import missing as missing
    from noregret.features.transforms import nystrom as nystrom
    from noregret.features.transforms import one_hot as one_hot
    from noregret.features.transforms import pairs as pairs
    from noregret.features.transforms import scale as scale
    from noregret.features.transforms import squares as squares
    from noregret.features.transforms import tensor_sketch as tensor_sketch
    from noregret.features.transforms import tf_idf as tf_idf
    from noregret.features.transforms import unit_norm as unit_norm
    from noregret.learner.bandit import Chosen as Chosen
    from noregret.learner.factory import full_information as full_information
    from noregret.learner.factory import learners as learners
    from noregret.learner.factory import make as make
    from noregret.learner.model_file import load as load
    from noregret.learner.outside_steps import half_space as half_space
    from noregret.learner.precompile import warm as warm
    from noregret.learner.protocol import Learner as Learner
    from noregret.learner.rule_learner import RuleLearner as RuleLearner
    from noregret.rules.card import Card as Card
    from noregret.rules.decorators import bandit_rule as bandit_rule
    from noregret.rules.decorators import coordinate_rule as coordinate_rule
    from noregret.rules.decorators import gradient_rule as gradient_rule
    from noregret.rules.decorators import margin_rule as margin_rule
    from noregret.rules.decorators import prototype_rule as prototype_rule
    from noregret.rules.decorators import schedule as schedule
    from noregret.rules.guarantee import Guarantee as Guarantee
    from noregret.rules.merge_law import Merge as Merge
    from noregret.rules.method_card import MethodCard as MethodCard
    from noregret.rules.method_card import method_card as method_card
    from noregret.rules.method_card import register_method as register_method
    from noregret.rules.parameters import Choice as Choice
    from noregret.rules.parameters import Component as Component
    from noregret.rules.parameters import Param as Param
    from noregret.rules.quantities import QUANTITIES as QUANTITIES
    from noregret.rules.rule_card import RuleCard as RuleCard
    from noregret.state.fields import counts as counts
    from noregret.state.fields import covariance as covariance
    from noregret.state.fields import grouped as grouped
    from noregret.state.fields import lazy as lazy
    from noregret.state.fields import lazy_groups as lazy_groups
    from noregret.state.fields import log_weights as log_weights
    from noregret.state.fields import plain as plain
    from noregret.state.fields import positive as positive
    from noregret.state.fields import random_init as random_init
    from noregret.state.fields import reservoir as reservoir
    from noregret.state.fields import scaled as scaled
    from noregret.state.fields import snapshot as snapshot
    from noregret.state.fields import top_k as top_k
    from noregret.streams import open_source as open_source
    from noregret.structured.decoder import Decoder as Decoder
    from noregret.structured.decoder import EnumeratingDecoder as EnumeratingDecoder
    from noregret.structured.decoder import best_augmented as best_augmented
    from noregret.structured.matching import Matching as Matching
    from noregret.structured.reranking import Reranking as Reranking
    from noregret.training.batch_descent import batch_descent as batch_descent
    from noregret.training.choose_rate import choose_rate as choose_rate
    from noregret.training.epochs import epochs as epochs
    from noregret.training.online_to_batch import online_to_batch as online_to_batch
    from noregret.training.stack_tasks import stack_tasks as stack_tasks
    from noregret.training.task_sequence import AccuracyMatrix as AccuracyMatrix
    from noregret.training.task_sequence import learn_tasks as learn_tasks

_HOMES = {
    "rules.card": ("Card",),
    "rules.decorators": (
        "bandit_rule", "coordinate_rule", "gradient_rule", "margin_rule", "prototype_rule", "schedule",
    ),
    "rules.guarantee": ("Guarantee",),
    "rules.merge_law": ("Merge",),
    "rules.method_card": ("MethodCard", "method_card", "register_method"),
    "rules.parameters": ("Choice", "Component", "Param"),
    "rules.quantities": ("QUANTITIES",),
    "rules.rule_card": ("RuleCard",),
    "learner.bandit": ("Chosen",),
    "data.transcript": ("Transcript",),
    "errors": ("BadValue", "Error", "NotLearned"),
    "features.transforms": (
        "Pipeline", "Transform", "clip", "conjunctions", "fourier", "log1p", "min_max", "missing", "nystrom", "one_hot",
        "pairs", "scale", "squares", "tensor_sketch", "tf_idf", "unit_norm",
    ),
    "data.labels": ("UNIVERSUM",),
    "learner.outside_steps": ("half_space",),
    "learner.protocol": ("Learner",),
    "learner.rule_learner": ("RuleLearner",),
    "learner.factory": ("full_information", "learners", "make"),
    "learner.model_file": ("load",),
    "concepts.boolean": ("Threshold", "all_of", "any_of", "at_least", "negation", "none_of"),
    "concepts.adversary": ("TreeAdversary", "force_mistakes"),
    "concepts.concept_class": ("concept_class", "k_conjunctions", "k_disjunctions"),
    "concepts.dnf": ("DNF", "as_dnf"),
    "concepts.teaching": ("Lesson", "teach"),
    "concepts.version_space": ("VersionSpace",),
    "concepts.worst_case": ("mistake_bound",),
    "training.online_to_batch": ("online_to_batch",),
    "adapters.delayed": ("delayed",),
    "adapters.detector_loops": ("detector",),
    "adapters.drift_aware": ("drift_aware",),
    "training.batch_descent": ("batch_descent",),
    "training.choose_rate": ("choose_rate",),
    "training.epochs": ("epochs",),
    "adapters.self_training": ("self_training", "transduce"),
    "adapters.joint": ("Joint",),
    "training.stack_tasks": ("stack_tasks",),
    "training.task_sequence": ("AccuracyMatrix", "learn_tasks"),
    "adapters.transfer": ("transfer", "warm_start"),
    "structured.decoder": ("Decoder", "EnumeratingDecoder", "best_augmented"),
    "structured.matching": ("Matching",),
    "structured.reranking": ("Reranking",),
    "evaluation.certify": ("certify",),
    "evaluation.mercer": ("MercerCheck", "check_mercer"),
    "evaluation.evaluate": ("evaluate",),
    "evaluation.experts": ("race_experts",),
    "evaluation.learning_curve": ("learning_curve",),
    "evaluation.play": ("play",),
    "evaluation.portfolios": ("race_portfolios",),
    "experts.portfolio.hindsight": ("best_constant_portfolio", "best_stock"),
    "evaluation.race": ("race",),
    "evaluation.tune": ("tune",),
    "state.fields": (
        "counts", "covariance", "grouped", "lazy", "lazy_groups", "log_weights", "plain", "positive", "random_init",
        "reservoir", "scaled", "snapshot", "top_k",
    ),
    "streams": ("open_source",),
    "learner.precompile": ("warm",),
}  # fmt: skip
_HOME = {name: module for module, names in _HOMES.items() for name in names}
__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    """Everything is loaded when first asked for, so that importing the package costs nothing."""
    if name in ("games", "plots", "torch"):
        return importlib.import_module(f"noregret.{name}")
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

    def __reduce__(self) -> Any:
        """Pickled by its name, as other modules are by cloudpickle and joblib."""
        return importlib.import_module, (self.__name__,)


sys.modules[__name__].__class__ = _Package
