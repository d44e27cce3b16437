"""A rule learner in the model file: its header, its arrays, and the checks of both.

Arrays are stored as (class, feature) without spare room, so a file depends neither on layout nor on history.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from noregret.data.blocks import all_finite
from noregret.errors import BadValue
from noregret.features.fitted import FittedTransform
from noregret.features.hashing import HashedNames
from noregret.learner.config import resolve
from noregret.learner.model import Model
from noregret.learner.model_file import FORMAT, Arrays, FindCard, Header
from noregret.state.growth import Space, bank_of, enlarged, make, named, parts, refreshed
from noregret.state.reservoirs import derived, revived_samples, sample_tensors
from noregret.state.stores import possible
from noregret.tasks import TASKS
from noregret.tasks.regression import Regression

TARGETS_SCALED = 3  # from this format on, a regression learner scales its targets unless its parameters say otherwise
BANK = ("start", "idx", "val", "sq")
CORRUPT = "corrupt model file"


# ---- out -------------------------------------------------------------------------------------------------------------


def dump_model(model: Model) -> tuple[Header, Arrays]:
    """The header and the arrays of a model."""
    return dump_header(model), dump_arrays(model)


def dump_header(model: Model) -> Header:
    config, state, space = model.config, model.arrays, model.space
    parameters = dict(config.given)
    if isinstance(config.class_weight, Mapping):
        parameters["class_weight"] = [[label, weight] for label, weight in config.class_weight.items()]
    if config.task.cost is not None:
        parameters["cost"] = [list(entry) for entry in config.task.cost]
    return {
        **({"class_counts": model.class_counts.tolist()} if isinstance(config.class_weight, str) else {}),
        "rule": model.card.name,
        "task": model.task.name,
        "algebra": model.algebra,
        "parameters": parameters,
        "labels": model.labels.order,
        "names": model.names.mode,
        "features": 0 if space is None else space.features,
        "counters": None if state is None else dump_counters(state),
        "rounds": model.rounds,
        "mistakes": model.mistakes,
        "updates": model.updates,
        "random": {"seed": config.seed},
    }


def dump_counters(state: Any) -> dict[str, float]:
    known = derived(state)
    return {name: float(state.n[name]) for name in state.n.dtype.names if name not in known}


def dump_arrays(model: Model) -> Arrays:
    """Every array of the state without its spare room, and the feature names as bytes with offsets."""
    found: Arrays = {}
    space, state = model.space, model.arrays
    if state is not None and space is not None:
        used = space.features
        for name, _, array in parts(model.shape, state, space):
            cut = array[: space.classes, : int(bank_of(state).n[0]) if space.algebra == "kernel" else used]
            found[f"state.{name}"] = np.ascontiguousarray(cut[:, :, :used] if cut.ndim == 3 else cut)
        if space.algebra == "kernel":
            bank = bank_of(state)
            supports = int(bank.n[0])
            sizes = (supports + 1, int(bank.start[supports]), int(bank.start[supports]), supports)
            for name, size in zip(BANK, sizes, strict=True):
                kept = getattr(bank, name)[:size]
                found[f"bank.{name}"] = kept.astype(np.int32) if name == "idx" else kept.copy()
        found.update(sample_tensors(state))
    for prefix, transform, width in transforms_of(model):
        found |= {f"{prefix}.{name}": array for name, array in transform.dump(width).items()}
    if isinstance(model.names, HashedNames):
        found |= model.names.dump()
    elif model.names.mode == "names":
        encoded = [name.encode("utf-8", "surrogatepass") for name in model.names.as_list()]
        found["names.bytes"] = np.frombuffer(b"".join(encoded), np.uint8)
        found["names.offsets"] = np.cumsum([0, *map(len, encoded)]).astype(np.int64)
    return found


def transforms_of(model: Model) -> Iterator[tuple[str, FittedTransform, int | None]]:
    """The transforms, how their arrays are called, and of how many features; what scale=True asked for is the last."""
    for number, _ in enumerate(model.config.transforms):
        yield f"transform.{number}", model.transforms[number], None
    if model.config.scale:
        yield "scaling", model.transforms[-1], model.learned_features


# ---- in --------------------------------------------------------------------------------------------------------------


def upgrade(header: Header) -> Header:
    """The header of an older format in today's words."""
    if header.get("format", FORMAT) >= FORMAT:
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


def restore_model(header: Header, arrays: Arrays, find_card: FindCard) -> Model:
    """The model that a header and arrays describe; nothing of them is used before it is checked."""
    header = upgrade(header)
    card = find_card(header["rule"])
    parameters = dict(header["parameters"])
    if isinstance(parameters.get("class_weight"), list):
        parameters["class_weight"] = dict(parameters["class_weight"])
    if parameters.get("cost") is not None:
        parameters["cost"] = {(truth, other): cost for truth, other, cost in parameters["cost"]}
    if not is_consistent(header, arrays):
        raise BadValue(f"{CORRUPT}: inconsistent header")
    model = Model.new(resolve(card, parameters))
    for label in header["labels"]:
        model.labels.code[label]
    model.labels.committed = len(model.labels)
    restore_task(model, header["task"])
    model.algebra = header["algebra"]
    model.totals[:] = header["rounds"], header["updates"], header["mistakes"]
    model.class_counts = np.array(header.get("class_counts", []), np.int64)
    model.names.mode = header["names"]
    restore_names(model, header, arrays)
    if header["counters"] is not None:
        restore_state(model, header, arrays)
    restore_transforms(model, arrays)
    return model


def restore_task(model: Model, name: str) -> None:
    """The task that the learner had come to."""
    if model.task.name == name:
        return
    grown = model.task.grown(model.labels)
    if grown is None or grown.name != name:
        raise BadValue(f"{CORRUPT}: this rule cannot play the task it names")
    model.task = grown


def restore_names(model: Model, header: Header, arrays: Arrays) -> None:
    """The names of the features, or the marks of hashed names."""
    if header["names"] == "names":
        bounds, letters = arrays["names.offsets"], arrays["names.bytes"].tobytes()
        offsets = bounds.tolist()
        if bounds.dtype != np.int64 or bounds.ndim != 1 or offsets[0] != 0 or offsets[-1] != len(letters):
            raise BadValue(f"{CORRUPT}: names and features do not fit")
        if (np.diff(bounds) < 0).any():
            raise BadValue(f"{CORRUPT}: names and features do not fit")
        for first, last in pairwise(offsets):
            model.names.known[letters[first:last].decode("utf-8", "surrogatepass")]
        fits = len(model.names.known) == len(offsets) - 1
        fits = fits and (model.makes_features or len(offsets) - 1 == max(header["features"] - model.config.bias, 0))
        if not fits:
            raise BadValue(f"{CORRUPT}: names and features do not fit")
    if isinstance(model.names, HashedNames) and not model.names.restore(arrays):
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
    if model.makes_features and features != model.learned_features:
        raise BadValue(f"{CORRUPT}: its features are not those that its transforms make")


def is_consistent(header: Header, arrays: Arrays) -> bool:
    """Whether the parts of a header agree with each other and with the arrays that are there."""
    labels, mode, learned = header["labels"], header["names"], header["counters"] is not None
    task = TASKS[header["task"]]
    most = (task.most_classes or len(labels)) if task.labelled else 0
    return (
        all(type(header[name]) is int and header[name] >= 0 for name in ("rounds", "mistakes", "updates", "features"))
        and isinstance(labels, list)
        and counts_of_classes(header.get("class_counts", []), len(labels))
        and len(set(labels)) == len(labels) <= most
        and (not learned or bool(labels) == task.labelled)
        and (mode == "names") == ("names.bytes" in arrays)
        and (mode == "hashed") <= (header["parameters"].get("bits") is not None)
        and (
            mode in ("names", "columns", "hashed")
            or (mode is None and header["features"] <= bool(header["parameters"].get("bias")))
        )
        and learned == any(name.startswith("state.") for name in arrays)
    )


def counts_of_classes(class_counts: Any, classes: int) -> bool:
    return (
        isinstance(class_counts, list)
        and len(class_counts) <= classes
        and all(type(one) is int and one >= 0 for one in class_counts)
    )


def restore_state(model: Model, header: Header, arrays: Arrays) -> None:
    """The arrays and counters of the rule."""
    if model.algebra not in model.card.algebras:
        raise BadValue(f"{CORRUPT}: this rule cannot play in the algebra it names")
    classes = model.task.blocks(len(model.labels))
    space = expected_space(model, header["features"], classes, arrays)
    model.arrays = make(model.shape, space)
    model.space = space
    for name, _, array in parts(model.shape, model.arrays, space):
        saved = arrays[f"state.{name}"]
        array[tuple(slice(0, size) for size in saved.shape)] = saved
    if space.algebra == "kernel":
        bank = bank_of(model.arrays)
        for name in BANK:
            getattr(bank, name)[: arrays[f"bank.{name}"].size] = arrays[f"bank.{name}"]
        bank.n[0] = arrays["bank.sq"].size
    kept = model.shape.counters  # a file written before a rule or a field kept one has its first value
    if set(header["counters"]) | set(kept) != set(model.arrays.n.dtype.names):
        raise BadValue(f"{CORRUPT}: its counters are not those of the rule")
    for name, value in header["counters"].items():
        model.arrays.n[name] = float(value)
    with_rows = revived_samples(model.arrays, arrays, space, model.task.many)
    if with_rows is None:
        raise BadValue(f"{CORRUPT}: the rows it remembers do not fit together")
    model.arrays = with_rows
    if not has_valid_counters(model, space):
        raise BadValue(f"{CORRUPT}: its counters are not finite, or do not fit its weights")
    refreshed(model.arrays)


def has_valid_counters(model: Model, space: Space) -> bool:
    """Whether the counters can be those of the state: a round goes by them to cells, and looks no second time."""
    n, verbs = model.arrays.n, {verb.name for verb in model.card.verbs_with(dict(model.config.choices))}
    most = {"features": ("extent", space.features), "classes": ("breadth", space.classes)}
    return (
        bool(np.isfinite(np.array(n.item())).all())
        and n.t >= 0.0
        and all(possible(value) for value in model.arrays[:-1])
        and all(n[name] <= limit for name, (by, limit) in most.items() if by in verbs and name in n.dtype.names)
    )


def expected_space(model: Model, features: Any, classes: int, arrays: Arrays) -> Space:
    """The space of the saved state, once every array is known to have just the size it needs."""
    if not isinstance(features, int) or features < 0:
        raise BadValue(f"{CORRUPT}: a number of features is missing")
    base = model.config.space(str(model.algebra))
    supports = values = 0
    if base.algebra == "kernel":
        start, idx = arrays["bank.start"], arrays["bank.idx"]
        supports, values = arrays["bank.sq"].size, idx.size
        sound = (
            start.dtype == np.int64
            and idx.dtype == np.int32
            and start.ndim == idx.ndim == 1
            and (
                start.size == supports + 1
                and start[0] == 0
                and start[-1] == values
                and bool((np.diff(start) >= 0).all())
            )
        )
        sound = sound and all_finite(arrays["bank.val"]) and all_finite(arrays["bank.sq"])
        if not sound or arrays["bank.val"].size != values or (values and not 0 <= idx.min() <= idx.max() < features):
            raise BadValue(f"{CORRUPT}: its supports do not fit together")
    for name, _, field in named(model.shape, base.algebra):
        square = field.kind == "covariance" and (model.full_covariance or base.algebra == "reference")
        width = supports if base.algebra == "kernel" else features
        shape = (classes, width, width) if square else (classes, width)
        saved = arrays[f"state.{name}"]
        if saved.shape != shape or saved.dtype != np.float64 or not all_finite(saved):
            raise BadValue(f"{CORRUPT}: {name} has shape {saved.shape}, not {shape}, or is not finite")
    return enlarged(base, features, classes, supports, values)
