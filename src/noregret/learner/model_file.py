"""Model files: safetensors with a JSON header, versioned, checked before use, written whole or not at all.

Nothing in a model file is ever executed. A user's own rule is looked up by name in the running program.
"""

import contextlib
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.data.blocks import all_finite
from noregret.errors import BadValue, Error
from noregret.features.fitted import FittedTransform
from noregret.features.hashing import HashedNames
from noregret.learner.config import settle
from noregret.learners import load_all
from noregret.rules.card import Card, suggestion
from noregret.state.growth import Space, bank_of, enlarged, make, named, parts, refreshed
from noregret.state.reservoirs import derived, revived_samples, sample_tensors
from noregret.state.stores import possible
from noregret.tasks import TASKS

if TYPE_CHECKING:
    from noregret.learner.rule_learner import Learner

FORMAT = 4
TARGETS_SCALED = 3  # from this format on, a regression learner scales its targets unless its parameters say otherwise
KEY = "noregret"
BANK = ("start", "idx", "val", "sq")


# ---- out ---------------------------------------------------------------------------------------------------------


def header(learner: "Learner") -> dict[str, Any]:
    settings, state, space = learner.settings, learner.state, learner.space
    told = dict(settings.told)
    if isinstance(settings.class_weight, Mapping):
        told["class_weight"] = [[label, weight] for label, weight in settings.class_weight.items()]
    if settings.cost is not None:
        told["cost"] = [list(entry) for entry in settings.cost]
    told_of_source = {} if learner.source is None else {"source": learner.source}
    return {
        **told_of_source,
        **({"class_counts": learner.class_counts.tolist()} if isinstance(settings.class_weight, str) else {}),
        "format": FORMAT,
        "rule": learner.card.name,
        "task": learner.task,
        "algebra": learner.algebra,
        "parameters": told,
        "labels": learner.labels.order,
        "names": learner.names.mode,
        "features": 0 if space is None else space.features,
        "counters": None if state is None else told_counters(state),
        "rounds": learner.rounds,
        "mistakes": learner.mistakes,
        "updates": learner.updates,
        "random": {"seed": settings.seed},
    }


def told_counters(state: Any) -> dict[str, float]:
    known = derived(state)
    return {name: float(state.n[name]) for name in state.n.dtype.names if name not in known}


def tensors(learner: "Learner") -> dict[str, np.ndarray]:
    """Every array of the state without its spare room, and the feature names as bytes with offsets."""
    found: dict[str, np.ndarray] = {}
    space, state = learner.space, learner.state
    if state is not None and space is not None:
        used = space.features
        for name, _, array in parts(learner.shape, state, space):
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
    for prefix, transform, width in transforms_of(learner):
        found |= {f"{prefix}.{name}": array for name, array in transform.dump(width).items()}
    if isinstance(learner.names, HashedNames):
        found |= learner.names.dump()
    elif learner.names.mode == "names":
        encoded = [name.encode("utf-8", "surrogatepass") for name in learner.names.as_list()]
        found["names.bytes"] = np.frombuffer(b"".join(encoded), np.uint8)
        found["names.offsets"] = np.cumsum([0, *map(len, encoded)]).astype(np.int64)
    return found


def transforms_of(learner: "Learner") -> Iterator[tuple[str, FittedTransform, int | None]]:
    """The transforms, how their arrays are called, and of how many features; what scale=True asked for is the last."""
    for number, _ in enumerate(learner.settings.transforms):
        yield f"transform.{number}", learner.transforms[number], None
    if learner.scaling is not None:
        yield "scaling", learner.scaling, known_features(learner)


def known_features(learner: "Learner") -> int:
    """How many features the learner knows, not counting the bias."""
    return 0 if learner.space is None else learner.space.features - learner.settings.bias


def digest(text: str, arrays: dict[str, np.ndarray]) -> str:
    seal = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        seal.update(f"{name} {arrays[name].dtype} {arrays[name].shape}".encode())
        seal.update(np.ascontiguousarray(arrays[name]).data)
    return seal.hexdigest()


def pack(learner: "Learner") -> bytes:
    """The learner as the content of a model file."""
    from safetensors.numpy import save

    try:
        text = json.dumps(header(learner), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Error(f"this learner cannot be saved: {error}; labels must be numbers, strings or truth values") from None
    arrays = tensors(learner)
    return ordered(bytes(save(arrays, metadata={KEY: text, "sha256": digest(text, arrays)})))


def ordered(content: bytes) -> bytes:
    """The same file with its header sorted, which safetensors does not do: equal learners give equal bytes."""
    size = int.from_bytes(content[:8], "little")
    head = json.dumps(json.loads(content[8 : 8 + size]), sort_keys=True).encode()
    head += b" " * (-len(head) % 8)
    return len(head).to_bytes(8, "little") + head + content[8 + size :]


def write(learner: "Learner", path: Any) -> None:
    """Write a model file beside its place, then put it there in one step."""
    content = pack(learner)
    temporary: Path | None = None
    try:
        target = Path(os.path.realpath(path))  # a link stays a link
        if target.exists() and not target.is_file():
            with open(target, "wb") as device:  # not a place to put a file at: a device or a pipe takes the bytes
                device.write(content)
            return
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
        with open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except (OSError, TypeError, ValueError) as error:
        if temporary is not None:
            with contextlib.suppress(OSError, ValueError):
                temporary.unlink()
        raise Error(f"{path}: the model cannot be saved: {getattr(error, 'strerror', None) or error}") from None


# ---- in ----------------------------------------------------------------------------------------------------------


def load(path: Any, rule: Card | None = None) -> "Learner":
    """Read a learner from a model file. For a model of your own rule, import its file first or give the rule."""
    try:
        content = Path(path).read_bytes()
    except (OSError, TypeError, ValueError) as error:
        raise Error(f"{path}: the model cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return unpack(content, str(path), rule)


def unpack(content: bytes, where: str, rule: Card | None = None) -> "Learner":
    """A learner from the content of a model file; every error names the file."""
    try:
        told, arrays = opened(content, where)
        return revived(told, arrays, rule)
    except Error as error:
        text = str(error)
        raise Error(text if text.startswith(where) else f"{where}: {text}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError):
        raise Error(f"{where}: the model file is damaged: its parts do not fit together") from None


def opened(content: bytes, where: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    from safetensors import SafetensorError, deserialize

    size = int.from_bytes(content[:8], "little")
    if len(content) < 8 or size > len(content) - 8:
        raise Error(f"{where}: not a noregret model, or only a part of one")
    try:
        metadata = json.loads(content[8 : 8 + size])["__metadata__"]
        text = metadata[KEY]
        told = json.loads(text)
        found = dict(deserialize(content))  # type: ignore[no-untyped-call]
    except (SafetensorError, KeyError, TypeError, ValueError, RecursionError):
        raise Error(f"{where}: not a noregret model, or a damaged one") from None
    version = told.get("format") if isinstance(told, dict) else None
    if not isinstance(version, int) or version < 1:
        raise Error(f"{where}: not a noregret model")
    if version > FORMAT:
        raise Error(f"{where}: written by a newer noregret (format {version}; this one reads up to {FORMAT}); upgrade")
    kinds = {"F64": np.float64, "I64": np.int64, "I32": np.int32, "U32": np.uint32, "U8": np.uint8}
    arrays = {
        name: np.frombuffer(bytes(part["data"]), kinds[part["dtype"]]).reshape(part["shape"])
        for name, part in found.items()
    }
    if metadata.get("sha256") != digest(text, arrays):
        raise Error(f"{where}: the model file was changed after it was written, or damaged")
    return upgrade(told), arrays


def upgrade(told: dict[str, Any]) -> dict[str, Any]:
    """The header of an older format in today's words."""
    if told["format"] >= FORMAT:
        return told
    names = {"game": "task", "met": "class_counts"}
    told = {names.get(name, name): value for name, value in told.items()}
    parameters = {
        "task" if name == "game" else f"task.{name[5:]}" if name.startswith("game.") else name: value
        for name, value in told["parameters"].items()
    }
    return {**told, "parameters": parameters}


def revived(told: dict[str, Any], arrays: dict[str, np.ndarray], rule: Card | None) -> "Learner":
    from noregret.learner.rule_learner import Learner

    card = rule or load_all().get(told["rule"])
    if card is None or card.name != told["rule"]:
        known = suggestion(told["rule"], load_all())
        raise Error(f"the model was learned by the rule {told['rule']!r}, which is not known here{known}; "
                    "import the file that defines it, or give it as rule= (--rule FILE.py)")  # fmt: skip
    parameters = dict(told["parameters"])
    if isinstance(parameters.get("class_weight"), list):
        parameters["class_weight"] = dict(parameters["class_weight"])
    if parameters.get("cost") is not None:
        parameters["cost"] = {(truth, other): cost for truth, other, cost in parameters["cost"]}
    if told["task"] == "regression" and told["format"] < TARGETS_SCALED:
        parameters.setdefault("scale_target", False)
    if not sensible(told, arrays):
        raise BadValue("the model file is damaged: what it says of itself makes no sense")
    learner = Learner(settle(card, parameters))
    for label in told["labels"]:
        learner.labels.code[label]
    learner.task, learner.algebra = told["task"], told["algebra"]
    learner.totals[:] = told["rounds"], told["updates"], told["mistakes"]
    learner.classes_before, learner.class_counts = len(learner.labels), np.array(told.get("class_counts", []), np.int64)
    learner.names.mode = told["names"]
    if told["names"] == "names":
        offsets, letters = arrays["names.offsets"].tolist(), arrays["names.bytes"].tobytes()
        for first, last in pairwise(offsets):
            learner.names.known[letters[first:last].decode("utf-8", "surrogatepass")]
        fits = learner.makes_features or len(learner.names.known) == max(told["features"] - learner.settings.bias, 0)
        if not fits or offsets[-1] != len(letters):
            raise BadValue("the model file is damaged: names and features do not fit")
    if isinstance(learner.names, HashedNames) and not learner.names.restore(arrays):
        raise BadValue("the model file is damaged: the marks of its names do not fit together")
    learner.source = told.get("source")
    if told["counters"] is not None:
        revive_state(learner, told, arrays)
    revive_transforms(learner, arrays)
    return learner


def revive_transforms(learner: "Learner", arrays: dict[str, np.ndarray]) -> None:
    features = len(learner.names.known) if learner.names.mode == "names" else None
    for prefix, transform, width in transforms_of(learner):
        start = f"{prefix}."
        saved = {name.removeprefix(start): part for name, part in arrays.items() if name.startswith(start)}
        if not transform.restore(saved, features if width is None else width):
            raise BadValue(f"the model file is damaged: what {transform.name} has seen does not fit together")
        features = features if transform.output_width() is None else transform.output_width()
    if learner.makes_features and features != known_features(learner):
        raise BadValue("the model file is damaged: its features are not those that its transforms make")


def sensible(told: dict[str, Any], arrays: dict[str, np.ndarray]) -> bool:
    """Whether the parts of a header agree with each other and with the arrays that are there."""
    labels, mode, learned = told["labels"], told["names"], told["counters"] is not None
    task = TASKS[told["task"]]
    most = (2 if told["task"] == "binary" else len(labels)) if task.labelled else 0
    return (
        all(type(told[name]) is int and told[name] >= 0 for name in ("rounds", "mistakes", "updates", "features"))
        and isinstance(labels, list)
        and counts_of_classes(told.get("class_counts", []), len(labels))
        and isinstance(told.get("source", {}), dict)
        and len(set(labels)) == len(labels) <= most
        and (not learned or bool(labels) == task.labelled)
        and (mode == "names") == ("names.bytes" in arrays)
        and (mode == "hashed") <= (told["parameters"].get("bits") is not None)
        and (
            mode in ("names", "columns", "hashed")
            or (mode is None and told["features"] <= bool(told["parameters"].get("bias")))
        )
        and learned == any(name.startswith("state.") for name in arrays)
    )


def counts_of_classes(class_counts: Any, classes: int) -> bool:
    return (
        isinstance(class_counts, list)
        and len(class_counts) <= classes
        and all(type(one) is int and one >= 0 for one in class_counts)
    )


def revive_state(learner: "Learner", told: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    if learner.task not in (*learner.card.tasks, learner.settings.task) or learner.algebra not in learner.card.algebras:
        raise BadValue("the model file is damaged: this rule cannot play the task it names")
    classes = learner.task_object.blocks(len(learner.labels))
    space = expected_space(learner, told["features"], classes, arrays)
    learner.state = make(learner.shape, space)
    learner.space = space
    for name, _, array in parts(learner.shape, learner.state, space):
        saved = arrays[f"state.{name}"]
        array[tuple(slice(0, size) for size in saved.shape)] = saved
    if space.algebra == "kernel":
        bank = bank_of(learner.state)
        for name in BANK:
            getattr(bank, name)[: arrays[f"bank.{name}"].size] = arrays[f"bank.{name}"]
        bank.n[0] = arrays["bank.sq"].size
    kept = learner.shape.counters  # a file written before a rule or a field kept one has its first value
    if set(told["counters"]) | set(kept) != set(learner.state.n.dtype.names):
        raise BadValue("the model file is damaged: its counters are not those of the rule")
    for name, value in told["counters"].items():
        learner.state.n[name] = float(value)
    with_rows = revived_samples(learner.state, arrays, space, learner.task)
    if with_rows is None:
        raise BadValue("the model file is damaged: the rows it remembers do not fit together")
    learner.state = with_rows
    if not counted(learner, space):
        raise BadValue("the model file is damaged: its counters are not finite, or do not fit its weights")
    refreshed(learner.state)
    learner.rebind()


def counted(learner: "Learner", space: Space) -> bool:
    """Whether the counters can be those of the state: a round goes by them to cells, and looks no second time."""
    n, verbs = learner.state.n, {verb.name for verb in learner.card.verbs_with(dict(learner.settings.choices))}
    most = {"features": ("extent", space.features), "classes": ("breadth", space.classes)}
    return (
        bool(np.isfinite(np.array(n.item())).all())
        and n.t >= 0.0
        and all(possible(value) for value in learner.state[:-1])
        and all(n[name] <= limit for name, (by, limit) in most.items() if by in verbs and name in n.dtype.names)
    )


def expected_space(learner: "Learner", features: Any, classes: int, arrays: dict[str, np.ndarray]) -> Space:
    """The space of the saved state, once every array is known to have just the size it needs."""
    if not isinstance(features, int) or features < 0:
        raise BadValue("the model file is damaged: a number of features is missing")
    base = learner.settings.space(str(learner.algebra))
    supports = values = 0
    if base.algebra == "kernel":
        start, idx = arrays["bank.start"], arrays["bank.idx"]
        supports, values = arrays["bank.sq"].size, idx.size
        sound = (
            start.size == supports + 1 and start[0] == 0 and start[-1] == values and bool((np.diff(start) >= 0).all())
        )
        sound = sound and all_finite(arrays["bank.val"]) and all_finite(arrays["bank.sq"])
        if not sound or arrays["bank.val"].size != values or (values and not 0 <= idx.min() <= idx.max() < features):
            raise BadValue("the model file is damaged: its supports do not fit together")
    for name, _, field in named(learner.shape, base.algebra):
        square = field.kind == "covariance" and (learner.keeps_full or base.algebra == "reference")
        width = supports if base.algebra == "kernel" else features
        shape = (classes, width, width) if square else (classes, width)
        saved = arrays[f"state.{name}"]
        if saved.shape != shape or saved.dtype != np.float64 or not all_finite(saved):
            raise BadValue(f"the model file is damaged: {name} has shape {saved.shape}, not {shape}, or is not finite")
    return enlarged(base, features, classes, supports, values)
