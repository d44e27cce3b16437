"""What a learner may have beyond the Learner protocol, with a default where it has not.

Evaluation, the command line and the estimators depend on the protocol and on the card. What some learners have besides,
such as the configuration of a rule, is looked up here and nowhere else.
"""

from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from noregret.adapters.pool_report import PoolReport
from noregret.data.inputs import RowsLike
from noregret.errors import BadValue, Error
from noregret.features.transforms import as_pipeline
from noregret.learner.config import Config
from noregret.learner.named import made_with
from noregret.learner.precompile import Job, make_job
from noregret.learner.protocol import Learner
from noregret.learner.supports import KernelUse, Support, describe_kernel
from noregret.rules.card import Card
from noregret.tasks import TASKS
from noregret.tasks.costs import Costs
from noregret.tasks.task import Task

Floats = NDArray[np.float64]


def is_learner(thing: object) -> TypeGuard[Learner]:
    """Whether something has the methods and attributes of a learner."""
    return isinstance(thing, Learner) and not isinstance(thing, type)


def task_class(name: str | None) -> type[Task]:
    """The class of a task by name; the base class, which has the usual metrics and columns, for any other."""
    return Task if name is None else TASKS.get(name, Task)


def task_of(learner: Learner) -> type[Task]:
    """The class of the task it learns."""
    return task_class(learner.task)


def inner_learner(learner: Learner) -> Learner:
    """The learner that an adapter feeds with rows, as delayed labels do; the learner itself where there is none."""
    inner = getattr(learner, "learner", None)
    return inner_learner(inner) if is_learner(inner) else learner


# ---- the configuration of a rule ------------------------------------------------------------------------------------


def config_of(learner: Learner) -> Config | None:
    """The configuration of a learner that is made of a rule."""
    config = getattr(learner, "config", None)
    return config if isinstance(config, Config) else None


def accepted_options(card: Card, options: Mapping[str, Any]) -> dict[str, Any]:
    """The shared options that a card takes: a rule takes all of them, another method names its own."""
    takes = getattr(card, "options", None)
    return {name: value for name, value in options.items() if takes is None or name in (*takes, "task")}


def given_options(learner: Learner) -> Mapping[str, Any]:
    """The options it was made with."""
    config = config_of(learner)
    return {} if config is None else made_with(config)


def preparation_of(learner: Learner) -> Config | None:
    """The configuration by which rows are prepared: its own, or that of the entry of a pool that encodes for all."""
    return config_of(getattr(learner, "leader", None) or learner)


def parts_of(learner: Learner) -> list[Learner]:
    """The learners of a pool; none where it is not one."""
    return [entry.learner for entry in getattr(learner, "entries", ())]


def results_of(learner: Learner) -> list[str] | None:
    """What it found, as lines of text, where it has no weights: singular values, centres, topics."""
    found = getattr(learner, "describe_results", None)
    return None if found is None else list(found())


def report_of_pool(learner: Learner) -> PoolReport | None:
    """What a pool says of its entries and of its guarantee; None where the learner is not a pool."""
    return learner.report() if hasattr(learner, "shares") and learner.rounds else None  # type: ignore[attr-defined]


def costs_of(learner: Learner) -> Costs | None:
    """The costs of mistakes, where some were given."""
    config = preparation_of(learner)
    return None if config is None else config.task.cost


def class_weight_of(learner: Learner) -> Mapping[Any, float] | str | None:
    """The weights of the classes, where some were given."""
    config = preparation_of(learner)
    return None if config is None else config.class_weight


def allows_missing(learner: Learner) -> bool:
    """Whether values may be missing in its rows."""
    config = preparation_of(learner)
    return config is not None and config.allows_missing


def describe_preparation(learner: Learner) -> list[str]:
    """How it prepares the rows it is given, in words."""
    config = preparation_of(learner)
    if config is None:
        rows = getattr(learner, "row_config", None)
        steps = [f"rows are transformed: {rows.transforms!r}"] if rows is not None and rows.transforms else []
        return [*steps, *(["numbers are scaled by their running mean and deviation"] if rows and rows.scale else [])]
    notes = []
    if before := as_pipeline(made_with(config).get("transforms")):  # what a method puts behind them is its own
        notes.append(f"rows are transformed: {before!r}")
    if made_with(config).get("scale", config.scale):
        notes.append("numbers are scaled by their running mean and deviation (--no-scale leaves them as they are)")
    if config.bias:
        size = ", as large as the values of the first row," if config.bias_value is None else ""
        notes.append(f"a constant feature{size} is added (--no-bias leaves it out)")
    return notes


# ---- the state ------------------------------------------------------------------------------------------------------


def has_learned(learner: Learner) -> bool:
    """Whether it can predict."""
    model = getattr(learner, "model", None)
    return learner.rounds > 0 if model is None else model.arrays is not None


def classes_of(learner: Learner) -> list[Any]:
    """The labels seen so far; empty where it has no classes."""
    return list(getattr(learner, "classes", None) or ())


def nonzeros_of(learner: Learner) -> int | None:
    """How many features have a weight, where it has weights."""
    return getattr(learner, "nonzeros", None)


def features_of(learner: Learner) -> int | None:
    """How many features have been seen, where that is known."""
    model = getattr(learner, "model", None)
    found = getattr(learner, "features", None) if model is None else model.learned_features
    return None if found is None else len(found) if isinstance(found, list) else int(found)


def hypothesis_of(learner: Learner) -> str | None:
    """What it predicts by, in words, where it learns a concept."""
    return getattr(learner, "words", None) if learner.card.boolean_rows else None


def weights_of(learner: Learner, count: int | None = None) -> dict[Any, Any] | str:
    """The weights by feature, the largest first, and by class where there are many; or why there are none.

    With `count`, a learner that can do that quickly gives only so many of each class.
    """
    try:
        some = None if count is None else getattr(learner, "largest_weights", None)
        found = getattr(learner, "weights", None) if some is None else some(count)
    except Error as error:
        return str(error)
    if found is None or isinstance(found, np.ndarray):  # those of a density are of its components, not of features
        return f"{learner.card.name} has no weights of its own"
    known: dict[Any, Any] = found
    return known


def kernel_of(learner: Learner) -> KernelUse | None:
    """The kernel of a learner with its supports and budget; None where it has none."""
    model = getattr(learner, "model", None)
    return None if model is None or config_of(learner) is None else describe_kernel(model)


def supports_of(learner: Learner, count: int | None = None) -> list[Support]:
    """The supports of a kernel learner, the largest coefficients first."""
    found = getattr(learner, "largest_supports", None)
    return [] if found is None or kernel_of(learner) is None or not has_learned(learner) else list(found(count))


def parameters_of(learner: Learner) -> dict[str, Any]:
    """Its parameters, as in use."""
    return dict(getattr(learner, "params", None) or {})


def drift_of(learner: Learner) -> Mapping[str, Any] | None:
    """The detector inside it and its alarms, where it looks for drift itself."""
    found = getattr(inner_of(learner, "drift"), "drift", None)
    return found if isinstance(found, Mapping) else None


def inner_of(learner: Learner, name: str) -> Learner:
    """The learner, or the first one inside it, that has something of this name; the innermost where none has."""
    inner = getattr(learner, "learner", None)
    return learner if hasattr(learner, name) or not is_learner(inner) else inner_of(inner, name)


def asked_labels(learner: Learner) -> int | None:
    """How many labels were asked for, where the learner decides that (active learning)."""
    config = config_of(learner)
    return getattr(learner, "asked", None) if config is None or config.task.queries_labels else None


def describe_collisions(learner: Learner) -> str | None:
    """How many cells of hashed features are shared, in words; None where none is."""
    collisions, config = getattr(learner, "collisions", 0), config_of(learner)
    if not collisions:
        return None
    size = "" if config is None or config.bits is None else f" of {1 << config.bits:,}"
    return f"{collisions:,}{size} cells are shared by several names; more --bits make them fewer"


def task_warnings(learner: Learner, updates: int) -> list[str]:
    """What its task, or the learner itself, finds odd about the data, after so many updates."""
    config, model = config_of(learner), getattr(learner, "model", None)
    if config is None or model is None:
        return list(learner.warnings()) if learner.card.boolean_rows and hasattr(learner, "warnings") else []
    return list(config.task.warnings(None if model.arrays is None else model.arrays.n, updates))


def mixes_features(learner: Learner) -> bool:
    """Whether its only weights are positive shares of a whole: a mixture of the features, without a threshold."""
    card = learner.card
    mixes = bool(getattr(card, "nonnegative", False)) and getattr(card, "kind", "") == "gradient"
    return mixes and not task_of(learner).many  # with weights for each class they need not be negative


def restarts_of(learner: Learner) -> int:
    """How often its rule started again, where it counts that."""
    arrays = getattr(getattr(learner, "model", None), "arrays", None)
    return int(getattr(getattr(arrays, "n", None), "restarts", 0.0))


def scores_of(learner: Learner, X: RowsLike) -> Floats | None:
    """The scores of some rows, where it has scores."""
    scores = getattr(learner, "scores", None)
    return None if scores is None else scores(X)


def class_sides(learner: Learner) -> tuple[Any, Any]:
    """The negative and the positive one of its two classes: the first class is negative where it says nothing else."""
    model = getattr(learner, "model", None)
    negative, positive = classes_of(learner)[:2] if model is None else model.labels.sides(2)
    return negative, positive


def is_linear(learner: Learner) -> bool:
    """Whether its score may be a weighted sum of the features: no other score is declared, and there is no kernel."""
    return getattr(learner.card, "score", None) is None and getattr(learner, "algebra", None) != "kernel"


def predict_and_score(learner: Learner, X: RowsLike) -> tuple[NDArray[Any], Floats | None]:
    """The predictions for some rows, and their scores where it has any."""
    if hasattr(learner, "scores") and hasattr(learner, "decide"):
        scores: Floats = learner.scores(X)
        return learner.decide(scores), scores
    return learner.predict(X), None


def probabilities_of(learner: Learner, X: RowsLike, scores: Floats | None, agree: bool = False) -> Floats:
    """The probability of every class for some rows, from their scores where it can; an error says why it has none.

    With `agree`, the most probable class is the predicted one, where the learner can be asked for that.
    """
    if scores is not None and hasattr(learner, "probabilities"):
        return np.asarray(learner.probabilities(scores, agree))
    if hasattr(learner, "predict_proba"):
        return np.asarray(learner.predict_proba(X))
    raise BadValue(f"{learner.card.name} has no probabilities")


def describe_calibration(learner: Learner) -> str | None:
    """Where its probabilities come from; None where it has none."""
    try:
        found = getattr(learner, "calibration", None)
    except Error:
        return None
    if found is None:
        return None
    if learner_has_log_odds(learner):
        joint = learner.model.task.loss.of_all_scores  # type: ignore[attr-defined]
        function, loss = ("softmax", "softmax") if joint else ("logistic function", "logistic")
        return f"the {function} of the scores, which the {loss} loss trains"
    how = "with an offset for each class" if found.offsets else "without offsets: the most probable label is predicted"
    return f"calibrated on the scores of {found.rounds:,} past rounds, slope {found.slope:.4g}, {how}"


def learner_has_log_odds(learner: Learner) -> bool:
    model = getattr(learner, "model", None)
    return model is not None and bool(model.task.scores_are_log_odds)


def check_labels(learner: Learner, y: Any, rows: int) -> None:
    """Refuse labels that a learner cannot take, before anything is compiled for it; changes nothing."""
    model = getattr(inner_learner(learner), "model", None)
    known = y is not None and not (isinstance(y, list) and None in y)
    if model is not None and known and not model.task.needs_query:
        model.task.encode(model.labels.copy(), y, rows)


def compile_jobs(learner: Learner, dense: bool, classes: int) -> list[Job]:
    """The loops it needs for rows of this kind with so many classes, where it is made of a built-in rule."""
    if parts := parts_of(learner):
        return [job for part in parts for job in compile_jobs(part, dense, classes)]
    config, model = config_of(learner), getattr(learner, "model", None)
    if config is None or model is None or not config.card.built_in or not config.native:
        return []
    if config.own_functions or config.rows_are_objects:  # no other process has them
        return []
    tasks = [model.task.name]
    later = model.task.grown(model.labels)
    if later is not None and classes > 2:
        tasks.append(later.name)
    algebra = model.algebra or ("dense" if dense else "sparse")
    return [make_job(config, task, algebra) for task in tasks]
