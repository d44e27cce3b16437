"""A rule learner in the model file: its header, its arrays, and the checks of both.

Arrays are stored as (class, feature) without spare room, so a file depends neither on layout nor on history.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from noregret.errors import BadValue
from noregret.features.fitted import FittedTransform
from noregret.features.hashing import HashedNames
from noregret.features.kernel_maps import KernelMap
from noregret.learner.config import Config, resolve
from noregret.learner.header_fields import LARGEST_COUNT
from noregret.learner.kernel_options import KERNEL_TAKES
from noregret.learner.kernel_options import NAMES as KERNEL_NAMES
from noregret.learner.model import Model
from noregret.learner.model_file import FORMAT, WITHOUT_PACKED, Arrays, FindCard, Header
from noregret.learner.name_file import dump_names, restore_names
from noregret.learner.named import dump_name, restore_name
from noregret.learner.recent_scores import is_window
from noregret.rules.card import Card
from noregret.rules.rule_card import RuleCard
from noregret.state.files import SavedState, load_state, save_arrays, save_counters
from noregret.tasks import TASKS
from noregret.tasks.one_class import OneClass
from noregret.tasks.regression import Regression

TARGETS_SCALED = 3  # from this format on, a regression learner scales its targets unless its parameters say otherwise
COUNTS = ("rounds", "mistakes", "updates", "features")
CORRUPT = "corrupt model file"
OUTSIDE = "outside"  # what a header says of weights that the learner around the model keeps


# ---- out -------------------------------------------------------------------------------------------------------------


def dump_model(model: Model) -> tuple[Header, Arrays]:
    """The header and the arrays of a model."""
    return dump_header(model), dump_arrays(model)


def dump_header(model: Model) -> Header:
    config, state, space = model.config, model.arrays, model.space
    parameters = {name: value for name, value in config.given.items() if name != "gram"}
    if isinstance(config.class_weight, Mapping):
        parameters["class_weight"] = [[label, weight] for label, weight in config.class_weight.items()]
    if config.task.cost is not None:
        parameters["cost"] = [list(entry) for entry in config.task.cost]
    return {
        **({"class_counts": model.class_counts.tolist()} if isinstance(config.class_weight, str) else {}),
        **({"constant": model.constant} if model.constant else {}),
        **({"columns": model.columns} if model.columns else {}),
        **({"gamma": model.gamma} if model.algebra == "kernel" and not config.kernel_params[0] else {}),
        **({} if model.recent is None or model.recent.forgot else {"recent_scores": model.recent.count}),
        "rule": model.card.name,
        "task": model.task.name,
        "algebra": model.algebra,
        "parameters": parameters,
        "defaults": defaults_in_force(config),
        "labels": model.labels.order,
        "names": model.names.mode,
        "features": 0 if space is None else space.features,
        "counters": None if state is None else save_counters(model.shape, state),
        "rounds": model.rounds,
        "mistakes": model.mistakes,
        "updates": model.updates,
        "random": {"seed": config.seed},
        **dump_name(config),
    }


def defaults_in_force(config: Config) -> dict[str, float | str]:
    """The numbers and options that nobody gave, by which a file means the same where defaults have changed."""
    found: dict[str, float | str] = {**config.numbers, **dict(config.choices)}
    return {name: value for name, value in found.items() if name not in config.given}


def dump_arrays(model: Model) -> Arrays:
    """Every array of the state without its spare room, and the feature names as bytes with offsets."""
    found: Arrays = {}
    space, state = model.space, model.arrays
    if state is not None and space is not None:
        found |= save_arrays(model.shape, state, space)
    if model.config.gram is not None:
        found["kernel.gram"] = model.config.gram.matrix
    if model.recent is not None and model.recent.count:
        found["recent_scores"] = model.recent.remembered()
    for prefix, transform, width in transforms_of(model):
        found |= {f"{prefix}.{name}": array for name, array in transform.dump(width).items()}
    if isinstance(model.names, HashedNames):
        found |= model.names.dump()
    elif model.names.mode == "names":
        found |= dump_names(model.names)
    return found


def transforms_of(model: Model) -> Iterator[tuple[str, FittedTransform, int | None]]:
    """The transforms with the names of their arrays and their number of features; scale=True comes last."""
    for number, _ in enumerate(model.config.transforms):
        yield f"transform.{number}", model.transforms[number], None
    if model.config.scale:
        yield "scaling", model.transforms[-1], model.learned_features


# ---- in --------------------------------------------------------------------------------------------------------------


def upgrade(header: Header, card: Card) -> Header:
    """The header of an older format in today's words."""
    known = header.get("counters") or {"reach": 0.0}
    has_ball = header.get("task") == OneClass.name and getattr(card, "level", None) is None
    if has_ball and "reach" not in known:  # older than a radius that is learned by default
        given = header["parameters"]
        header = {**header, "parameters": given if "task.radius" in given else {"radius": 1.0, **given}}
    if header.get("algebra") == "kernel" and "gamma" not in header:  # older than a gamma by the first row
        header = {**header, "parameters": with_gamma(header["parameters"])}
    if header.get("format", FORMAT) >= WITHOUT_PACKED:
        return header
    names = {"game": "task", "met": "class_counts"}
    header = {names.get(name, name): value for name, value in header.items()}
    parameters = {
        "task" if name == "game" else f"task.{name[5:]}" if name.startswith("game.") else name: value
        for name, value in header["parameters"].items()
    }
    if header["task"] == Regression.name and header["format"] < TARGETS_SCALED:
        parameters.setdefault("scale_target", False)
    return {**header, "parameters": parameters}


def with_gamma(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a kernel learner, whose gamma was 1 where none was given."""
    usual = "rbf" if parameters.get("algebra") == "kernel" else "linear"
    takes = "gamma" in KERNEL_TAKES.get(parameters.get("kernel") or usual, ())
    given = any(name in parameters for name in ("gamma", "kernel.gamma"))
    return {**parameters, "gamma": 1.0} if takes and not given else parameters


def changed_defaults(config: Config, saved: Any) -> dict[str, Any]:
    """The defaults of a file that are others today; those of a file that does not tell are the earlier ones."""
    if saved is None:
        measured = config.task.measured
        saved = {name: param.earlier_where(measured) for name, param in config.card.numbers.items()}
    if not isinstance(saved, dict) or not set(saved) <= set(config.card.params):
        raise BadValue(f"{CORRUPT}: inconsistent header")
    today = {**config.numbers, **dict(config.choices)}
    return {name: value for name, value in saved.items() if name not in config.given and value != today.get(name)}


def restore_model(header: Header, arrays: Arrays, find_card: FindCard) -> Model:
    """The model that a header and arrays describe; nothing of them is used before it is checked."""
    card = find_card(header["rule"])
    header = upgrade(header, card)
    parameters = dict(header["parameters"])
    if isinstance(parameters.get("class_weight"), list):
        parameters["class_weight"] = dict(parameters["class_weight"])
    if parameters.get("cost") is not None:
        parameters["cost"] = {(truth, other): cost for truth, other, cost in parameters["cost"]}
    if not isinstance(card, RuleCard) or not is_consistent(header, arrays):
        raise BadValue(f"{CORRUPT}: inconsistent header")
    if "kernel.gram" in arrays:
        parameters["gram"] = arrays["kernel.gram"]
    if isinstance(parameters.get("kernel"), str) and parameters["kernel"] not in KERNEL_NAMES:
        parameters["kernel"] = find_card.find_option(card, "kernel", parameters["kernel"])
    for name, choice in card.choices.items():
        option = parameters.get(name)
        if choice.own is not None and isinstance(option, str) and option not in choice.among:
            parameters[name] = find_card.find_option(card, name, option)
    config = restore_name(resolve(card, parameters), header.get("named"), find_card)
    changed = changed_defaults(config, header.get("defaults"))
    model = Model.new(replace(resolve(card, {**parameters, **changed}), named=config.named) if changed else config)
    for label in header["labels"]:
        model.labels.code[label]
    if model.labels.order != header["labels"]:
        raise BadValue(f"{CORRUPT}: its labels are not its classes")
    model.labels.committed = len(model.labels)
    restore_task(model, header["task"])
    model.algebra = header["algebra"]
    model.totals[:] = header["rounds"], header["updates"], header["mistakes"]
    model.class_counts = np.array(header.get("class_counts", []), np.int64)
    model.constant, model.columns = float(header.get("constant", 0.0)), header.get("columns", 0)
    model.gamma = float(header.get("gamma", 0.0))
    model.names.mode = header["names"]
    restore_vocabulary(model, header, arrays)
    if header["counters"] is not None:
        restore_state(model, header, arrays)
    elif header.get("weights") == OUTSIDE and header["features"]:  # only the number of weights is known here
        model.space = model.empty_space(str(model.algebra)).with_features(header["features"])
    restore_hashes(model, arrays)
    restore_transforms(model, arrays)
    restore_recent(model, header, arrays)
    return model


def restore_task(model: Model, name: str) -> None:
    """The task that the learner had come to."""
    if model.task.name == name:
        return
    grown = model.task.grown(model.labels)
    if grown is None or grown.name != name:
        raise BadValue(f"{CORRUPT}: this rule cannot play the task it names")
    model.task = grown


def restore_vocabulary(model: Model, header: Header, arrays: Arrays) -> None:
    """The names of the features, where they have some."""
    if header["names"] == "names":
        known = restore_names(model.names, arrays)
        if not (model.makes_features or known == max(header["features"] - model.config.bias, 0)):
            raise BadValue(f"{CORRUPT}: names and features do not fit")


def restore_hashes(model: Model, arrays: Arrays) -> None:
    """The marks of hashed names; memory for all cells is taken only where the file has their weights."""
    if not isinstance(model.names, HashedNames):
        return
    learned = model.space is not None and model.learned_features == model.names.cells
    if not model.names.restore(arrays, learned):
        raise BadValue(f"{CORRUPT}: the marks of its names do not fit together")


def restore_transforms(model: Model, arrays: Arrays) -> None:
    """What the transforms have seen."""
    features = len(model.names.known) if model.names.mode == "names" else None
    for prefix, transform, width in transforms_of(model):
        start = f"{prefix}."
        saved = {name.removeprefix(start): part for name, part in arrays.items() if name.startswith(start)}
        if not transform.restore(saved, features if width is None else width):
            raise BadValue(f"{CORRUPT}: what {transform.name} has seen does not fit together")
        features = features if transform.output_width() is None else transform.output_width()
    if model.space is None and any(isinstance(one, KernelMap) for one in model.transforms):
        return  # a map makes as many features before the first round as after it
    if model.makes_features and features != model.learned_features:
        raise BadValue(f"{CORRUPT}: its features are not those that its transforms make")


def restore_recent(model: Model, header: Header, arrays: Arrays) -> None:
    """The scores of the last rounds; a file without them is older than they are, or of a merged learner."""
    recent, rows, count = model.recent, arrays.get("recent_scores"), header.get("recent_scores")
    if recent is None:
        if rows is not None or count is not None:
            raise BadValue(f"{CORRUPT}: it has scores of rounds that this learner does not record")
        return
    recent.prepare(model.task, model.labels)
    recent.lost = count is None and model.rounds > 0
    count = 0 if count is None else count
    if not is_window(rows, count, recent.columns, model.task.many) or count > model.rounds:
        raise BadValue(f"{CORRUPT}: the scores of its last rounds do not fit")
    if rows is not None:
        recent.place(rows, count)


def is_consistent(header: Header, arrays: Arrays) -> bool:
    """Whether the parts of a header agree with each other and with the arrays that are there."""
    labels, mode, learned = header["labels"], header["names"], header["counters"] is not None
    hashes = header["parameters"].get("bits") is not None
    task = TASKS[header["task"]]
    most = (task.most_classes or len(labels)) if task.labelled else 0
    return (
        all(type(header[name]) is int and 0 <= header[name] <= LARGEST_COUNT for name in COUNTS)
        and type(columns := header.get("columns", 0)) is int
        and 0 <= columns <= LARGEST_COUNT
        and isinstance(labels, list)
        and counts_of_classes(header.get("class_counts", []), len(labels))
        and is_constant(header.get("constant", 0.0), header["parameters"].get("bias"))
        and type(gamma := header.get("gamma", 0.0)) is float
        and 0.0 <= gamma < math.inf
        and (gamma == 0.0 or header["parameters"].get("gamma") is None)
        and len(set(labels)) == len(labels) <= most
        and (not learned or bool(labels) == task.labelled)
        and (mode == "names") == ("names.bytes" in arrays)
        and (mode == "hashed") <= hashes
        and (
            mode in ("names", "columns", "hashed")
            or (mode is None and (hashes or header["features"] <= bool(header["parameters"].get("bias"))))
        )
        and learned == any(name.startswith("state.") for name in arrays)
    )


def counts_of_classes(class_counts: Any, classes: int) -> bool:
    return (
        isinstance(class_counts, list)
        and len(class_counts) <= classes
        and all(type(one) is int and one >= 0 for one in class_counts)
    )


def is_constant(value: Any, bias: Any) -> bool:
    """Whether a header may give the constant feature this value: only where the first row decides it."""
    return type(value) is float and 0.0 <= value < math.inf and (value == 0.0 or bias == "auto")


def restore_state(model: Model, header: Header, arrays: Arrays) -> None:
    """The arrays and counters of the rule."""
    if model.algebra not in model.card.algebras:
        raise BadValue(f"{CORRUPT}: this rule cannot play in the algebra it names")
    classes = model.task.blocks(len(model.labels))
    labels = np.arange(float(classes)) if model.task.many else np.array([-1.0, 1.0])
    limits = size_counters(model, header["features"], classes)
    known = len(model.names.known)
    saved = SavedState(header["features"], classes, header["counters"], arrays, labels, limits, known)
    model.arrays, model.space = load_state(model.shape, model.empty_space(str(model.algebra)), saved)


def size_counters(model: Model, features: int, classes: int) -> dict[str, int]:
    """The counters that the rule uses as sizes, with their limits."""
    verbs = {verb.name for verb in model.card.verbs_with(dict(model.config.choices))}
    sizes = {"features": ("extent", features), "classes": ("breadth", classes)}
    return {name: limit for name, (verb, limit) in sizes.items() if verb in verbs and name in model.shape.counters}
