"""What holds for every kind of store, in every algebra: growth, copies, files, and what files are refused for."""

from typing import Any

import numpy as np
import pytest

from noregret.algebra import TYPES
from noregret.algebra.centre import toward
from noregret.algebra.examples import Dense, Sparse
from noregret.algebra.internal_verbs import row
from noregret.algebra.kernel import KernelRows
from noregret.algebra.reference import ReferenceExample
from noregret.algebra.verbs import add, dot, keep, remember, shorten, shrink, take_snapshot
from noregret.errors import BadValue, Error
from noregret.state import fields
from noregret.state.fields import Field
from noregret.state.files import SavedState, load_state, save_arrays, save_counters
from noregret.state.growth import (
    bank_of,
    copy_state,
    grow,
    leaves,
    make,
    memory_needed,
    nonzero_weights,
    parts,
    settle,
)
from noregret.state.space import Shape, Space, enlarge
from noregret.state.stores import STORES, field_counters, find_store

DECLARED = {name: field for name, field in vars(fields).items() if isinstance(field, Field)}
IN_KERNELS = ("plain", "scaled", "counts", "averaged", "centre", "random_init")
CASES = [
    (name, algebra, "diagonal")
    for name in DECLARED
    for algebra in TYPES
    if name != "basis" and (algebra != "kernel" or name in IN_KERNELS)  # a basis only stands beside kernel vectors
] + [("covariance", algebra, way) for algebra in TYPES if algebra != "kernel" for way in ("drop", "full")]
ROWS = np.array([[0.0, 2.0, 0.0, -1.0, 0.5], [1.0, 0.0, 3.0, 0.0, 0.0]])


def example(state: Any, space: Space, x: np.ndarray) -> Any:
    idx = np.flatnonzero(x).astype(np.uint32)
    if space.algebra == "kernel":
        return row(KernelRows(np.array([0, idx.size]), idx, x[idx], 1, bank_of(state)), 0)
    if space.algebra == "sparse":
        return Sparse(idx, x[idx], 1.0, float(x @ x))
    whole = np.zeros(space.room)
    whole[: x.size] = x
    if space.algebra == "dense":
        return Dense(whole, 1.0, float(x @ x))
    return ReferenceExample(whole, space.room, 1, float(x @ x))


def used(name: str, algebra: str, way: str = "diagonal") -> tuple[Shape, Any, Space]:
    """A state with one field that has been through some rounds."""
    named = {"f": DECLARED[name]}
    shape = Shape(named, field_counters(named))
    base = Space(algebra, covariance=way, seed=3, spread=0.5, groups=(0, 0, 1), bias=True)
    space = enlarge(base, 5, 1, 4, 20)
    state = make(shape, space)
    for x in ROWS:
        state.n.t += 1.0
        step(name, state, example(state, space, x))
    return shape, state, space


def step(name: str, state: Any, z: Any) -> None:
    if name == "reservoir":
        remember(state.f, 3.0, z)
        return
    if name == "covariance":
        cells = state.f[0]
        cells[...] *= 0.5
        return
    if name == "centre":
        add(state.f, 0.5, toward(state.f, z, 2.0))
        return
    if name == "snapshot":
        take_snapshot(state.f)
    add(state.f, 0.75, z)
    if name == "lazy":
        shrink(state.f, 0.125, 10.0)
    if name == "lazy_groups":
        shorten(state.f, 0.125)
    if name == "top_k":
        keep(state.f, 3)


def saved(shape: Shape, state: Any, space: Space) -> SavedState:
    arrays, counters = save_arrays(shape, state, space), save_counters(shape, state)
    return SavedState(space.features, space.classes, counters, arrays, np.array([-1.0, 1.0]), {})


def bare(space: Space) -> Space:
    return Space(space.algebra, covariance=space.covariance, seed=3, spread=0.5, groups=space.groups, bias=space.bias)


def same(a: SavedState, b: SavedState) -> bool:
    alike = a.arrays.keys() == b.arrays.keys() and a.counters == b.counters
    return alike and all(a.arrays[name].tobytes() == b.arrays[name].tobytes() for name in a.arrays)


@pytest.fixture(autouse=True)
def roomy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reservoir has no room until it is given some."""
    build = STORES["reservoir"].build

    def with_room(self: Any, *given: Any) -> Any:
        return self.make_room(build(self, *given), 2, 10)

    monkeypatch.setattr(STORES["reservoir"], "build", with_room)


def test_every_declared_field_has_a_store_and_another_kind_is_an_error() -> None:
    assert {field.kind for field in DECLARED.values()} == set(STORES)
    with pytest.raises(Error, match="unknown kind of field 'exponent'; there are averaged, basis, centre"):
        find_store("exponent")
    odd = Shape({"w": Field("own", "exponent", 0.0, "add")}, {})
    with pytest.raises(Error, match="unknown kind"):
        make(odd, Space("sparse", room=2))


@pytest.mark.parametrize(("name", "algebra", "way"), CASES)
def test_a_state_in_a_file_comes_back_to_the_bit(name: str, algebra: str, way: str) -> None:
    shape, state, space = used(name, algebra, way)
    file = saved(shape, state, space)
    again, wider = load_state(shape, bare(space), file)
    assert (wider.features, wider.classes) == (space.features, space.classes)
    assert same(saved(shape, again, wider), file)


@pytest.mark.parametrize(("name", "algebra", "way"), CASES)
def test_a_copy_is_equal_and_shares_no_memory(name: str, algebra: str, way: str) -> None:
    shape, state, space = used(name, algebra, way)
    twin = copy_state(shape, state, space)
    assert same(saved(shape, twin, space), saved(shape, state, space))
    mine = [leaf for leaf in leaves(state) if isinstance(leaf, np.ndarray) and leaf.size]
    others = [leaf for leaf in leaves(twin) if isinstance(leaf, np.ndarray) and leaf.size]
    assert not any(np.shares_memory(a, b) for a in mine for b in others)


@pytest.mark.parametrize(("name", "algebra", "way"), CASES)
def test_growth_keeps_all_cells_and_new_ones_begin_afresh(name: str, algebra: str, way: str) -> None:
    shape, state, space = used(name, algebra, way)
    wider = enlarge(space, 40, 3, 10, 50)
    grown = grow(shape, state, space, wider)
    fresh = make(shape, wider)
    for (_, _, old), (_, _, new), (_, _, begun) in zip(
        parts(shape, state, space), parts(shape, grown, wider), parts(shape, fresh, wider), strict=True
    ):
        inside = tuple(slice(0, size) for size in old.shape)
        assert new[inside].tobytes() == old.tobytes()
        rest = new.copy()
        rest[inside] = begun[inside]
        assert rest.tobytes() == begun.tobytes()
    assert memory_needed(shape, wider) > memory_needed(shape, space)


@pytest.mark.parametrize(("name", "algebra", "way"), CASES)
def test_cells_at_rest_are_the_weights(name: str, algebra: str, way: str) -> None:
    shape, state, space = used(name, algebra, way)
    if name in ("covariance", "reservoir", "centre"):
        return
    z = example(state, space, np.array([1.0, 1.0, 1.0, 1.0, 1.0]))
    score = dot(state.f, z)
    nonzero = nonzero_weights(state, space)
    settle(state)
    assert dot(state.f, z) == pytest.approx(score, rel=1e-12, abs=1e-300)
    if algebra != "kernel":
        weights = next(parts(shape, state, space))[2][:1, :5]
        assert nonzero.tolist() == (weights != 0.0).tolist()


def odd_files(file: SavedState) -> list[SavedState]:
    """The file with each array in turn missing, cut, of another type, not finite or out of range."""
    found = []
    for name, array in file.arrays.items():
        rest = {other: value for other, value in file.arrays.items() if other != name}
        changed = [array[..., :-1], array.astype(np.float32), array.astype(np.int16), array[None]]
        if array.dtype.kind == "f":
            changed += [np.full_like(array, np.nan), np.full_like(array, np.inf)]
        elif array.size:
            changed += [array - 1, array + 1000, array[::-1] + 1, -array - 1]
        found += [file._replace(arrays={**rest, name: np.asarray(value)}) for value in changed]
        found.append(file._replace(arrays=rest))
    return found


@pytest.mark.parametrize(("name", "algebra", "way"), CASES)
def test_a_file_whose_arrays_do_not_fit_is_refused(name: str, algebra: str, way: str) -> None:
    shape, state, space = used(name, algebra, way)
    file = saved(shape, state, space)
    assert file.arrays
    for odd in odd_files(file):
        with pytest.raises(BadValue, match="corrupt model file: "):
            load_state(shape, bare(space), odd)


@pytest.mark.parametrize(("name", "algebra", "way"), CASES)
def test_a_file_whose_sizes_or_counters_do_not_fit_is_refused(name: str, algebra: str, way: str) -> None:
    shape, state, space = used(name, algebra, way)
    file = saved(shape, state, space)
    sizes: tuple[Any, ...] = (-1, 4.0, "5", True, None, 10**12)
    wrong = [file._replace(features=features) for features in sizes]
    if name != "reservoir":
        wrong += [file._replace(features=4), file._replace(classes=2)]
    for counter in file.counters:
        odd: tuple[Any, ...] = (np.nan, np.inf, "1", None, True)
        wrong += [file._replace(counters={**file.counters, counter: value}) for value in odd]
    wrong.append(file._replace(counters={**file.counters, "more": 1.0}))
    wrong.append(file._replace(counters={name: value for name, value in file.counters.items() if name != "t"}))
    wrong.append(file._replace(counters={**file.counters, "t": -1.0}))
    for odd_file in wrong:
        with pytest.raises(BadValue, match="corrupt model file: "):
            load_state(shape, bare(space), odd_file)


@pytest.mark.parametrize(
    ("name", "counter", "values"),
    [
        ("scaled", "scale", [0.0, 1e-200, 1e200]),
        ("scaled", "order", [-1.0]),
        ("centre", "scale", [0.0]),
        ("lazy", "scale", [0.0, -1.0, 1e200]),
        ("top_k", "scale", [0.0]),
        ("top_k", "size", [-1.0, 0.0, 2.0, 2.5, 1e9]),
        ("top_k", "ordered", [-1.0, 0.5, 4.0]),
        ("log_weights", "sides", [3.0, 0.5]),
        ("log_weights", "nonzeros", [-1.0, 1e9]),
        ("snapshot", "times", [-1.0, 0.0, 1.5]),
        ("reservoir", "seen", [-1.0, 1.0, 2.5, 1e300]),
        ("reservoir", "random", [0.0, -1.0, 1.5, 1e10]),
    ],
)
def test_numbers_that_cannot_belong_to_the_cells_are_refused(name: str, counter: str, values: list[float]) -> None:
    shape, state, space = used(name, "sparse")
    file = saved(shape, state, space)
    for value in values:
        odd = file._replace(counters={**file.counters, f"f_{counter}": value})
        with pytest.raises(BadValue, match="corrupt model file: "):
            load_state(shape, bare(space), odd)


def test_counters_that_rules_use_as_sizes_have_limits() -> None:
    shape = Shape({"w": fields.plain}, {"features": 0.0})
    space = enlarge(Space("sparse"), 5, 1)
    state = make(shape, space)
    file = SavedState(5, 1, save_counters(shape, state), save_arrays(shape, state, space), np.zeros(0), {"features": 5})
    assert load_state(shape, Space("sparse"), file._replace(counters={"t": 0.0, "features": 5.0}))[0].n.features == 5.0
    for value in (6.0, -1.0, 2.5):
        with pytest.raises(
            BadValue, match=rf"corrupt model file: counter features is {value}, not a whole number up to 5"
        ):
            load_state(shape, Space("sparse"), file._replace(counters={"t": 0.0, "features": value}))


def test_a_counter_that_an_older_file_does_not_know_begins_afresh() -> None:
    shape, state, space = used("scaled", "sparse")
    file = saved(shape, state, space)
    older = {name: value for name, value in file.counters.items() if name != "f_order"}
    assert load_state(shape, bare(space), file._replace(counters=older))[0].n.f_order == 0.0
