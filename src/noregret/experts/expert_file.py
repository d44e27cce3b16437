"""Weights of experts in model files: a header and named arrays, everything checked when it is read."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.partial_features import PRIME
from noregret.errors import BadValue
from noregret.experts.card import find_algorithm
from noregret.learner.header_fields import LARGEST_COUNT, corrupt, read_count

if TYPE_CHECKING:
    from noregret.experts.expert_weights import ExpertWeights

Made = TypeVar("Made", bound="ExpertWeights")
WHOLE = ("t", "lost_votes", "runs", "arrived")
LARGEST = 100_000_000  # of experts in a file


def dump_state(weights: "ExpertWeights") -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The algorithm with its parameters, and the arrays with the counters."""
    state = weights.state
    header = {"algorithm": weights.card.name, "params": dict(weights.params), "seed": weights.seed}
    header["experts"] = weights.experts
    arrays = {name: getattr(state, name).copy() for name in state._fields[:-1]}
    arrays["counters"] = np.array([float(state.n[name]) for name in weights.card.all_counters])
    return header, arrays


def restore_state(
    kind: type[Made], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], native: bool
) -> Made:
    """The weights of a header and arrays, or an error that says what is wrong with them."""
    name, params = header.get("algorithm"), header.get("params")
    if not isinstance(name, str) or not isinstance(params, dict):
        raise corrupt("algorithm must be a name, and params its parameters")
    try:
        experts, seed = read_count(header, "experts", LARGEST, 1), read_count(header, "seed")
        new = kind(find_algorithm(name), experts, seed, native, **params)
    except (BadValue, TypeError) as error:
        raise corrupt(str(error).removeprefix("corrupt model file: ")) from None
    state, counters = new.state, new.card.all_counters
    for field, size in [(one, new.experts) for one in state._fields[:-1]] + [("counters", len(counters))]:
        read = arrays.get(field)
        if read is None or read.dtype != np.float64 or read.shape != (size,) or np.isnan(read).any():
            raise corrupt(f"{field} must be {size} numbers")
        if field != "counters":
            if not np.isfinite(read).all():
                raise corrupt(f"{field} must be finite numbers")
            getattr(state, field)[:] = read
    for counter, value in zip(counters, arrays["counters"].tolist(), strict=True):
        check_counter(counter, value)
        state.n[counter] = value
    problem = find_problem(new)
    if problem is not None:
        raise corrupt(problem)
    return new


def check_counter(name: str, value: float) -> None:
    """A counter is not negative, and finite but for the rate before the first round."""
    sound = value >= 0.0 and (math.isfinite(value) or name == "eta")
    if name in WHOLE:
        sound = sound and value.is_integer() and value <= LARGEST_COUNT
    if name == "random":
        sound = sound and value.is_integer() and 1.0 <= value < PRIME
    if not sound:
        raise corrupt(f"counter {name} is {value:g}, which it cannot be")


def find_problem(weights: "ExpertWeights") -> str | None:
    """What is wrong with arrays of the right sizes, or None."""
    s, rounds = weights.state, weights.state.n.t
    largest = rounds * (1.0 + 1e-9) + 1e-9
    if s.n.runs < 1.0 or s.n.loss > largest or s.n.lost_votes > rounds:
        return "the counters contradict each other"
    for name in ("losses", "filled", "slept"):
        array = getattr(s, name)
        if array.min() < -largest or array.max() > largest:
            return f"{name} must be within the number of rounds"
    if s.asleep.min() < 0.0 or s.asleep.max() > rounds:
        return "experts cannot sleep in more rounds than there are"
    return None if weights.card.find_problem is None else weights.card.find_problem(s)
