"""How the rows that a state remembers are kept: given room before a call, carried over, named anew, written and read.

A sample is always given room by moving it to arrays of its own: what it was before is still there to go back to.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.algebra.partial_features import PRIME
from noregret.algebra.reservoir import (
    DERIVED,
    KNOWN,
    NUMBERS,
    RANDOM,
    RECORDS,
    SEEN,
    SIZE,
    TRIED,
    TURN,
    Reservoir,
    rewind,
)

if TYPE_CHECKING:
    from noregret.state.growth import Space

LARGEST = float(1 << 53)
PARTS = {"start": np.int64, "idx": np.int32, "val": np.float64, "truth": np.float64}


def empty(n: np.ndarray, rows: int = 0, values: int = 0) -> Reservoir:
    """A sample of nothing, with room for so many rows and values."""
    n[SIZE:] = list(NUMBERS.values())[SIZE:]
    return Reservoir(
        np.zeros(rows + 1, np.int64),
        np.empty(values, np.uint32),
        np.empty(values),
        np.empty(rows),
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.array([0, 1]),
        n,
    )


def samples(state: Any) -> Iterator[tuple[str, Reservoir]]:
    """The fields of a state that remember rows."""
    for name, value in zip(state._fields[:-1], state[:-1], strict=True):
        if isinstance(value, Reservoir):
            yield name, value


def listed(r: Reservoir) -> dict[str, np.ndarray]:
    """The rows of the sample in the order of their places, as arrays without gaps."""
    rewind(r)
    held = r.held[: int(r.n[SIZE])]
    sizes = r.start[held + 1] - r.start[held]
    start = np.concatenate(([0], np.cumsum(sizes)))
    values = np.repeat(r.start[held] - start[:-1], sizes) + np.arange(start[-1])
    signs = r.n[TURN]  # as they are now; the number of a class has no sign, and is never turned
    return {"start": start, "idx": r.idx[values], "val": r.val[values], "truth": r.truth[held] * signs}


def filled(n: np.ndarray, rows: Mapping[str, np.ndarray], more: int = 0, values: int = 0) -> Reservoir:
    """A sample of these rows, with room for so many more rows and values, and for itself again, to be moved rarely."""
    size, used = rows["truth"].size, rows["val"].size
    r = empty(n, 2 * size + more, 2 * used + values)
    r.start[: size + 1], r.idx[:used], r.val[:used] = rows["start"], rows["idx"], rows["val"]
    r.truth[:size], r.before[:size] = rows["truth"], -1
    r.slot[:size] = r.held[:size] = np.arange(size)
    r.marks[0] = n[SIZE] = n[RECORDS] = size
    return r


def with_room(state: Any, rows: int, values: int) -> Any:
    """The state, in which so many rows with so many values can be remembered without asking again."""
    for name, r in samples(state):
        records = int(r.n[RECORDS])
        if records + rows > r.truth.size or r.start[records] + values > r.val.size:
            moved = filled(r.n, listed(r), rows, values)
            moved.marks[KNOWN] = r.marks[KNOWN]
            state = state._replace(**{name: moved})
    return state


def carried(old: Any, new: Any) -> Any:
    """A fresh state with the samples of another; their numbers are there already."""
    for name, r in samples(old):
        new = new._replace(**{name: filled(getattr(new, name).n, listed(r))})
    return new


def tell_classes(state: Any, classes: int) -> None:
    """How many classes there are, whether or not a row of each is remembered."""
    for _, r in samples(state):
        r.marks[KNOWN] = classes


def turn(state: Any) -> None:
    """Every remembered sign is the other one from now on."""
    for _, r in samples(state):
        r.n[TURN], r.n[TRIED] = -r.n[TURN], -1.0


def number_classes(state: Any, negative: int, positive: int) -> None:
    """Remembered signs become the numbers of two classes; only for samples that no other state shares."""
    for _, r in samples(state):
        rewind(r)
        records = int(r.n[RECORDS])
        r.truth[:records] = np.where(r.truth[:records] * r.n[TURN] > 0.0, positive, negative)
        r.n[TURN], r.n[TRIED] = 1.0, -1.0


# ---- model files ---------------------------------------------------------------------------------------------------


def derived(state: Any) -> set[str]:
    """The counters that follow from the rows, or from nothing but how they came to be where they are."""
    return {f"{name}_{number}" for name, _ in samples(state) for number in DERIVED}


def sample_tensors(state: Any) -> dict[str, np.ndarray]:
    """The arrays of all samples that are not empty."""
    return {
        f"sample.{name}.{part}": found.astype(PARTS[part])
        for name, r in samples(state)
        if r.n[SIZE] > 0.0
        for part, found in listed(r).items()
    }


def revived_samples(state: Any, arrays: Mapping[str, np.ndarray], space: "Space", many: bool) -> Any:
    """A state with the samples of a file and none of its derived numbers, or None where they cannot be true."""
    truths = np.arange(float(space.classes)) if many else np.array([-1.0, 1.0])
    for name, r in samples(state):
        rows = {
            part: arrays.get(f"sample.{name}.{part}", np.zeros(int(part == "start"), PARTS[part])) for part in PARTS
        }
        if not sound(rows, space, truths) or not rows["truth"].size <= r.n[SEEN] < LARGEST:
            return None
        if not (1.0 <= r.n[RANDOM] < PRIME and r.n[RANDOM].is_integer() and r.n[SEEN].is_integer()):
            return None
        state = state._replace(**{name: filled(r.n, rows)})
    return state


def sound(rows: Mapping[str, np.ndarray], space: "Space", truths: np.ndarray) -> bool:
    """Whether rows can be what a learner of this space remembers."""
    start, idx, val, truth = rows.values()
    if any(rows[part].dtype != kind or rows[part].ndim != 1 for part, kind in PARTS.items()):
        return False
    if start.size != truth.size + 1 or start[0] != 0 or start[-1] != idx.size or idx.size != val.size:
        return False
    if (np.diff(start) < 0).any() or not np.isfinite(val).all():
        return False
    if idx.size and not 0 <= idx.min() <= idx.max() < space.features:
        return False
    if space.algebra == "dense" and (idx != np.arange(idx.size) - np.repeat(start[:-1], np.diff(start))).any():
        return False
    return bool(np.isin(truth, truths).all())
