"""Changes of the contents of a model file: of one or more entries of its header, or of its arrays."""

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from noregret.learner.model_file import FORMAT, KEY, Arrays, Header, digest

DTYPES = (np.float64, np.int64, np.int32, np.uint32, np.uint8, np.float32, np.int16, np.uint64)
NUMBERS = (
    0, -1, 1, 2, 3, 7, 1000, 2**31 - 1, 2**31, 2**32, 2**40, 2**53, 2**63 - 1, 2**63, 2**64, 10**9, 10**30, -(2**31),
    -(2**63), 0.5, -0.5, 1e-320, 1e-300, 1e300, 1.7e308, -1e308, 1e17, 2147483646.0, 2147483647.0, float("nan"),
    float("inf"), -float("inf"),
)  # fmt: skip
OTHERS: tuple[Any, ...] = (
    None, True, False, "", "a", "nan", "names", "columns", "hashed", "sparse", "dense", "kernel", "reference",
    "multiclass", "regression", "pa1", "\ud800", [], [1], [[]], {}, {"a": 1}, [None] * 3, "x" * 3000,
)  # fmt: skip
HUGE = {
    "features": (2**40, 2**31 - 1, 10**9, 2**28), "groups": (10**9, 2**40, 2**62), "bits": (30, 28),
    "dimension": (10**9, 2**40), "reservoir": (1e12, 2**53), "room": (2**62,), "batch": (1e300, 0.5),
}  # fmt: skip
HAVE_NATIVE = ("parameters", "options", "shared")  # entries of a header that say whether a learner is compiled
Parts = tuple[Header, Arrays]
Mutation = Callable[[Parts, np.random.Generator], str]


def seal(header: Header, arrays: Arrays) -> bytes:
    """A model file with these contents and the right checksum."""
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps({"format": FORMAT, **header}, sort_keys=True)
    return bytes(save(arrays, metadata={KEY: text, "sha256": digest(text, arrays)}))


def mutate(header: Header, arrays: Arrays, seed: int, native: bool) -> tuple[str, bytes]:
    """What was changed, and the file."""
    rng = np.random.default_rng(seed)
    changed: Parts = (copy.deepcopy(header), dict(arrays))
    done = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        kinds = (*IN_HEADER, *IN_ARRAYS) if changed[1] else IN_HEADER
        done.append(kinds[rng.integers(len(kinds))](changed, rng))
    if not native:
        stay_interpreted(changed[0])
    return "; ".join(done), seal(*changed)


def stay_interpreted(value: Any) -> None:
    """Let no learner of a header be compiled, which takes seconds."""
    for where, key in list(places(value)):
        if key in HAVE_NATIVE and isinstance(where[key], dict):
            where[key]["native"] = False


# ---- the header ------------------------------------------------------------------------------------------------------


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every list or dict with every key in it."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield value, key
        yield from places(inner)


def pick_place(parts: Parts, rng: np.random.Generator) -> tuple[Any, Any]:
    found = list(places(parts[0])) or [(parts[0], parts[0].setdefault("source", None) or "source")]
    return found[rng.integers(len(found))]


def set_number(parts: Parts, rng: np.random.Generator) -> str:
    where, key = pick_place(parts, rng)
    where[key] = NUMBERS[rng.integers(len(NUMBERS))]
    return f"{key} = {where[key]!r}"


def set_other(parts: Parts, rng: np.random.Generator) -> str:
    where, key = pick_place(parts, rng)
    where[key] = copy.deepcopy(OTHERS[rng.integers(len(OTHERS))])
    return f"{key} = {where[key]!r:.40}"


def set_counter(parts: Parts, rng: np.random.Generator) -> str:
    found = [(where, key) for where, key in places(parts[0]) if type(where[key]) in (int, float)]
    if not found:
        return set_number(parts, rng)
    where, key = found[rng.integers(len(found))]
    ways = (NUMBERS[rng.integers(len(NUMBERS))], where[key] + rng.choice((-1, 1)).item(), -where[key], where[key] * 1e6)
    where[key] = ways[rng.integers(len(ways))]
    return f"{key} = {where[key]!r}"


def remove_entry(parts: Parts, rng: np.random.Generator) -> str:
    where, key = pick_place(parts, rng)
    del where[key]
    return f"no {key}"


def swap_entries(parts: Parts, rng: np.random.Generator) -> str:
    (first, one), (second, other) = pick_place(parts, rng), pick_place(parts, rng)
    first[one], second[other] = copy.deepcopy(second[other]), copy.deepcopy(first[one])
    return f"{one} and {other} swapped"


def declare_size(parts: Parts, rng: np.random.Generator) -> str:
    name = list(HUGE)[rng.integers(len(HUGE))]
    found = [where for where, key in places(parts[0]) if key == name] or [parts[0].setdefault("parameters", {})]
    where = found[rng.integers(len(found))]
    if isinstance(where, dict):
        where[name] = HUGE[name][rng.integers(len(HUGE[name]))]
    return f"{name} = {HUGE[name]}"


# ---- the arrays ------------------------------------------------------------------------------------------------------


def pick_array(parts: Parts, rng: np.random.Generator) -> tuple[str, NDArray[Any]]:
    names = sorted(parts[1])
    if not names:
        parts[1]["state.w"] = np.zeros((1, 3))
        names = ["state.w"]
    name = names[rng.integers(len(names))]
    return name, parts[1][name].copy()


def set_cell(parts: Parts, rng: np.random.Generator) -> str:
    name, array = pick_array(parts, rng)
    if not array.size:
        return resize(parts, rng)
    number = NUMBERS[rng.integers(len(NUMBERS))]
    if array.dtype.kind != "f":
        bounds = np.iinfo(array.dtype)
        near = int(array.flat[rng.integers(array.size)]) + int(rng.integers(-3, 4))
        number = near if rng.random() < 0.5 or number != number else max(min(number, bounds.max), bounds.min)
        number = max(min(int(number), bounds.max), bounds.min)
    with np.errstate(all="ignore"):
        for at in rng.integers(array.size, size=rng.choice((1, 1, 3))):
            array.flat[at] = number
    parts[1][name] = array
    return f"{name} has {number}"


def change_type(parts: Parts, rng: np.random.Generator) -> str:
    name, array = pick_array(parts, rng)
    dtype = DTYPES[rng.integers(len(DTYPES))]
    with np.errstate(all="ignore"):
        views = array.ndim == 1 and array.nbytes % np.dtype(dtype).itemsize == 0 and rng.random() < 0.3
        same = array.view(dtype) if views else array.astype(dtype)
    parts[1][name] = same
    return f"{name} as {np.dtype(dtype)}"


def resize(parts: Parts, rng: np.random.Generator) -> str:
    name, array = pick_array(parts, rng)
    array = np.atleast_1d(array)
    ways = (
        array[:-1], array[:0], array[1:], np.concatenate((array, array)), array.reshape(-1), array[None],
        np.zeros((), array.dtype), array.T, np.zeros((0, 3), array.dtype), np.zeros((2**20, 0), array.dtype),
    )  # fmt: skip
    parts[1][name] = ways[rng.integers(len(ways))]
    return f"{name} of shape {parts[1][name].shape}"


def shuffle(parts: Parts, rng: np.random.Generator) -> str:
    name, array = pick_array(parts, rng)
    array = array.reshape(-1)
    rng.shuffle(array)
    parts[1][name] = array.reshape(parts[1][name].shape)
    return f"{name} shuffled"


def negate(parts: Parts, rng: np.random.Generator) -> str:
    name, array = pick_array(parts, rng)
    factor = rng.choice((-1.0, 1e200, 0.0, 1e-310))
    with np.errstate(all="ignore"):
        parts[1][name] = (array * factor).astype(array.dtype)
    return f"{name} times {factor}"


def swap_arrays(parts: Parts, rng: np.random.Generator) -> str:
    (one, first), (other, second) = pick_array(parts, rng), pick_array(parts, rng)
    parts[1][one], parts[1][other] = second, first
    return f"{one} and {other} swapped"


def rename_array(parts: Parts, rng: np.random.Generator) -> str:
    name, array = pick_array(parts, rng)
    other = ("state.w", "names.cells", "bank.start", "learner/state.w", "sample.sample.start", f"{name}/", "")[
        rng.integers(7)
    ]
    if rng.random() < 0.6:
        del parts[1][name]
    parts[1][other] = array
    return f"{name} as {other}"


def remove_array(parts: Parts, rng: np.random.Generator) -> str:
    name, _ = pick_array(parts, rng)
    del parts[1][name]
    return f"no {name}"


IN_HEADER: tuple[Mutation, ...] = (
    set_number, set_other, set_counter, set_counter, set_counter, remove_entry, swap_entries, declare_size,
)  # fmt: skip
IN_ARRAYS: tuple[Mutation, ...] = (
    set_cell, set_cell, set_cell, change_type, resize, shuffle, negate, swap_arrays, rename_array, remove_array,
)  # fmt: skip
