"""Reservoirs: a sample of the rows seen so far.

A sample gets more room by moving to new arrays: the old ones are as they were, to be rolled back to.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from noregret.errors import Error
from noregret.state.fields import Field
from noregret.state.space import Space
from noregret.state.stores.base import Arrays, Parts, Places, Saved, Store, Vector, check_array

LARGEST = float(1 << 53)
SAVED: dict[str, type[np.generic]] = {"start": np.int64, "idx": np.int32, "val": np.float64, "truth": np.float64}


class ReservoirStore(Store[Reservoir]):
    """Rows as records that are only appended: restoring the numbers brings back the sample."""

    kind = "reservoir"
    is_vector = False
    numbers = NUMBERS
    unsaved = DERIVED

    def build(self, field: Field, space: Space, parts: Parts) -> Reservoir:
        return build_sample(parts.numbers)

    def vectors(self, value: Reservoir) -> list[Vector]:
        return []

    def cell_names(self, name: str) -> list[str]:
        return []

    def cell_fields(self, field: Field) -> list[Field]:
        return []

    def count_cells(self, space: Space) -> int:
        return 0

    def nonzero_places(self, value: Reservoir) -> NDArray[np.int64]:
        return np.zeros(0, np.int64)

    def grow(self, value: Reservoir, old: Space, fresh: Reservoir, new: Space) -> Reservoir:
        return fill_sample(fresh.n, list_rows(value))

    def rearrange(
        self, source: tuple[Reservoir, Space], target: tuple[Reservoir, Space], classes: Places, features: Places
    ) -> Reservoir:
        raise Error("a sample of rows cannot be given other classes and features")

    def flip_signs(self, value: Reservoir) -> None:
        value.n[TURN], value.n[TRIED] = -value.n[TURN], -1.0

    def number_classes(self, value: Reservoir, negative: int, positive: int) -> None:
        """Only for samples that no other state shares."""
        rewind(value)
        records = int(value.n[RECORDS])
        signs = value.truth[:records] * value.n[TURN]
        value.truth[:records] = np.where(signs > 0.0, positive, negative)
        value.n[TURN], value.n[TRIED] = 1.0, -1.0

    def set_classes(self, value: Reservoir, classes: int) -> None:
        value.marks[KNOWN] = classes

    def make_room(self, value: Reservoir, rows: int, values: int) -> Reservoir:
        records = int(value.n[RECORDS])
        if records + rows <= value.truth.size and value.start[records] + values <= value.val.size:
            return value
        larger = fill_sample(value.n, list_rows(value), rows, values)
        larger.marks[KNOWN] = value.marks[KNOWN]
        return larger

    def save(self, name: str, value: Reservoir, space: Space) -> dict[str, NDArray[Any]]:
        if value.n[SIZE] == 0.0:
            return {}
        return {f"sample.{name}.{part}": array.astype(SAVED[part]) for part, array in list_rows(value).items()}

    def check(self, name: str, saved: Saved, space: Space) -> str | None:
        problem = check_rows(saved_rows(name, saved), space, saved.labels)
        return None if problem is None else f"the rows it remembers: {problem}"

    def load(self, name: str, value: Reservoir, saved: Saved, space: Space) -> Reservoir:
        return fill_sample(value.n, saved_rows(name, saved))

    def check_numbers(self, value: Reservoir) -> str | None:
        seen, random = float(value.n[SEEN]), float(value.n[RANDOM])
        if not value.n[SIZE] <= seen < LARGEST or not seen.is_integer():
            return f"the rows it remembers are {value.n[SIZE]:g} of {seen}"
        if not (1.0 <= random < PRIME and random.is_integer()):
            return f"the rows it remembers are chosen by the random number {random}"
        return None


def build_sample(n: Vector, rows: int = 0, values: int = 0) -> Reservoir:
    """Return an empty sample with room for so many rows and values."""
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


def list_rows(r: Reservoir) -> dict[str, NDArray[Any]]:
    """Return the rows of a sample in the order of their places, as arrays without gaps."""
    rewind(r)
    records = r.record[: int(r.n[SIZE])]
    sizes = r.start[records + 1] - r.start[records]
    start = np.concatenate(([0], np.cumsum(sizes)))
    values = np.repeat(r.start[records] - start[:-1], sizes) + np.arange(start[-1])
    signs = r.n[TURN]  # 1 where the labels are numbers of classes
    return {"start": start, "idx": r.idx[values], "val": r.val[values], "truth": r.truth[records] * signs}


def fill_sample(n: Vector, rows: Mapping[str, NDArray[Any]], more: int = 0, values: int = 0) -> Reservoir:
    """Return a sample of these rows with room for so many more, and for as many again, so that it rarely moves."""
    size, used = rows["truth"].size, rows["val"].size
    r = build_sample(n, 2 * size + more, 2 * used + values)
    r.start[: size + 1], r.idx[:used], r.val[:used] = rows["start"], rows["idx"], rows["val"]
    r.truth[:size], r.before[:size] = rows["truth"], -1
    r.slot[:size] = r.record[:size] = np.arange(size)
    r.marks[0] = n[SIZE] = n[RECORDS] = size
    return r


def saved_rows(name: str, saved: Saved) -> dict[str, NDArray[Any]]:
    """Return the arrays of a saved sample; an empty one is not saved."""
    return {
        part: saved.arrays.get(f"sample.{name}.{part}", np.zeros(int(part == "start"), dtype))
        for part, dtype in SAVED.items()
    }


def check_rows(rows: Arrays, space: Space, labels: Vector) -> str | None:
    """Return why rows cannot be what a learner of this space remembers, or None."""
    start, idx, truth = rows["start"], rows["idx"], rows["truth"]
    shapes = {"start": truth.size + 1, "idx": idx.size, "val": idx.size, "truth": truth.size}
    for part, dtype in SAVED.items():
        problem = check_array(rows, part, dtype, (shapes[part],))
        if problem is not None:
            return problem
    sizes = np.diff(start)
    if start[0] != 0 or start[-1] != idx.size or (start[1:] < start[:-1]).any():
        return "they do not begin one after the other"
    if idx.size and not 0 <= idx.min() <= idx.max() < space.features:
        return f"a feature is not one of {space.features}"
    if space.algebra == "dense" and (idx != np.arange(idx.size) - np.repeat(start[:-1], sizes)).any():
        return "dense rows have all features from the first one on"
    return None if np.isin(truth, labels).all() else "a label is not one of the learner's"
