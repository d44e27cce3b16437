"""Metrics as plain values, so that a run that goes on later reports what it would have reported in one piece.

A metric names what it has counted in `saved`: whole numbers, floats, arrays, labels, the points of a curve. Values that
come from a file are checked against those that a new metric has. Time is not saved: equal runs give equal files.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from noregret.errors import BadValue
from noregret.metrics.baselines import LabelCodes
from noregret.metrics.basic import CurvePoint, Runtime
from noregret.metrics.metric import Metric

State: TypeAlias = dict[str, Any]
LARGEST = 1 << 53  # of the numbers of a file
MOST_CELLS = 20_000_000  # of an array


class SavedMetric(Metric, Protocol):
    """A metric that names the attributes that it has counted."""

    saved: tuple[str, ...]


def dump_metrics(metrics: Iterable[Metric]) -> list[State] | None:
    """What metrics have counted; None where one of them cannot be saved. Time is left out."""
    kept = [metric for metric in metrics if not isinstance(metric, Runtime)]
    if not all(hasattr(metric, "saved") for metric in kept):
        return None
    try:
        return [dump_metric(metric) for metric in kept]
    except BadValue:
        return None


def dump_metric(metric: Any) -> State:
    """What a metric has counted, by name."""
    if hasattr(metric, "count") and hasattr(metric, "waiting"):  # scores that wait to be counted
        metric.count()
    return {"kind": type(metric).__name__, **{name: encode(getattr(metric, name)) for name in metric.saved}}


def restore_metrics(metrics: Sequence[Metric], states: object) -> bool:
    """Let new metrics go on where others were saved; False, and nothing is changed, where they do not fit."""
    kept = [metric for metric in metrics if not isinstance(metric, Runtime)]
    if not isinstance(states, list) or len(states) != len(kept):
        return False
    try:
        found = [read_metric(metric, state) for metric, state in zip(kept, states, strict=True)]
    except (BadValue, KeyError, TypeError, ValueError, OverflowError, RecursionError):
        return False
    for metric, values in zip(kept, found, strict=True):
        for name, value in values.items():
            setattr(metric, name, value)
    return True


def read_metric(metric: Any, state: object) -> State:
    """The values of a metric, checked."""
    if not isinstance(state, dict) or state.get("kind") != type(metric).__name__:
        raise BadValue("the metrics of this model are others")
    values = {name: decode(state.get(name), getattr(metric, name)) for name in metric.saved}
    if hasattr(metric, "fits") and not metric.fits(values):
        raise BadValue("the metrics of this model are damaged")
    return values


# ---- values ----------------------------------------------------------------------------------------------------------


def encode(value: Any) -> Any:
    """A value as JSON can hold it."""
    if isinstance(value, LabelCodes):
        return [encode_label(label) for label in value]
    if isinstance(value, np.ndarray):
        places = np.flatnonzero(value)
        return {"shape": list(value.shape), "at": places.tolist(), "values": value.reshape(-1)[places].tolist()}
    if isinstance(value, list):
        return [list(one) if isinstance(one, tuple) else one for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    return value if type(value) is int else encode_label(value)


def encode_label(label: Any) -> Any:
    label = label.item() if isinstance(label, np.generic) else label
    if isinstance(label, tuple):
        return {"labels": [encode_label(one) for one in label]}
    if label is None or isinstance(label, (bool, int, str)) or (isinstance(label, float) and math.isfinite(label)):
        return label
    raise BadValue("a label of this kind is not saved")


def decode(value: Any, now: Any) -> Any:
    """A value from a file, of the kind that a new metric has."""
    if isinstance(now, LabelCodes):
        labels = [decode_label(label) for label in value]
        codes = LabelCodes({label: code for code, label in enumerate(labels)})
        return require(codes, len(codes) == len(labels))
    if isinstance(now, np.ndarray):
        return decode_array(value, now)
    if isinstance(now, list):
        if not all(isinstance(one, list) and len(one) == len(CurvePoint._fields) for one in value):
            return [require(one, is_count(one)) for one in value]
        return [CurvePoint(*(decode(one, kind) for one, kind in zip(point, (0, 0, 0.0, 0), strict=True)))
                for point in value]  # fmt: skip
    if type(now) is int:
        return require(value, type(value) is int and abs(value) < LARGEST)
    if isinstance(now, float):
        return float(require(value, type(value) in (int, float) or value in ("inf", "-inf", "nan")))
    return decode_label(value)


def decode_label(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(decode_label(one) for one in value["labels"])
    return require(value, value is None or isinstance(value, (bool, int, float, str)))


def decode_array(value: Any, now: np.ndarray) -> np.ndarray:
    """An array from a file: of the same kind and number of dimensions as the metric has."""
    shape, at, values = value["shape"], value["at"], value["values"]
    sound = isinstance(shape, list) and all(is_count(size) for size in shape) and len(shape) == now.ndim
    require(value, sound and math.prod(shape) <= MOST_CELLS and len(at) == len(values))
    whole = now.dtype.kind in "iu"
    require(value, all(is_count(place) and place < math.prod(shape) for place in at))
    require(value, all(type(one) is int and one >= 0 for one in values) if whole else all(map(is_number, values)))
    found = np.zeros(shape, now.dtype)
    found.reshape(-1)[np.array(at, np.int64)] = np.array(values, now.dtype)
    return found


def is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < LARGEST


def is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def require(value: Any, sound: bool) -> Any:
    if not sound:
        raise BadValue("the metrics of this model are damaged")
    return value
