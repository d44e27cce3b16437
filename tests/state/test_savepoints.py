"""A savepoint brings a state back to the bit, however much a call may change, and also when it is interrupted."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

from noregret.algebra.examples import Sparse
from noregret.algebra.verbs import add, keep, scale
from noregret.jit.compiled import get_undo_log
from noregret.state import (
    averaged,
    covariance,
    grouped,
    lazy,
    lazy_groups,
    log_weights,
    plain,
    scaled,
    snapshot,
    top_k,
)
from noregret.state.growth import counters_of, make, memory
from noregret.state.savepoint import Reach, SavedCells, SavedNonzeros, SavedWhole, Savepoint, SparseRows, take_savepoint
from noregret.state.space import Shape, Space
from noregret.state.stores import field_counters

WIDTH = 4000
FEATURES = np.array([3, 40, 41, 3999], np.int32)
KINDS = {
    "vector": plain,
    "scaled": scaled,
    "lazy": lazy,
    "lazy_groups": lazy_groups,
    "grouped": grouped,
    "log_weights": log_weights,
    "snapshot": snapshot,
    "averaged": averaged,
}


def fresh(*fields: Any, algebra: str = "sparse", classes: int = 1) -> tuple[Any, Space]:
    named = {f"f{number}": field for number, field in enumerate(fields)}
    space = Space(algebra, features=WIDTH, room=WIDTH, classes=classes, class_room=classes, groups=2)
    return make(Shape(named, field_counters(named)), space), space


def example(value: float = 1.0) -> Sparse:
    return Sparse(FEATURES.view(np.uint32), np.full(FEATURES.size, value), 1.0, FEATURES.size * value * value)


def rows() -> SparseRows:
    return SparseRows(FEATURES.size, lambda: FEATURES, get_undo_log)


def test_the_strategy_follows_from_what_a_call_may_change() -> None:
    state, space = fresh(plain, covariance)
    assert isinstance(take_savepoint(state, space, "row", rows()), SavedCells)
    assert isinstance(take_savepoint(state, space, "row"), SavedWhole)
    assert isinstance(take_savepoint(state, space, "all", rows()), SavedWhole)
    many = rows()._replace(nonzeros=WIDTH)
    assert isinstance(take_savepoint(state, space, "row", many), SavedWhole)
    few, space = fresh(top_k)
    assert isinstance(take_savepoint(few, space, "top_k"), SavedNonzeros)
    eager, space = fresh(top_k, algebra="reference")
    assert isinstance(take_savepoint(eager, space, "top_k"), SavedWhole)


@pytest.mark.parametrize("reach", ["row", "all"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_rollback_brings_every_kind_of_vector_back(kind: str, reach: Reach) -> None:
    state, space = fresh(KINDS[kind], plain)
    add(state.f0, 0.5, example())
    add(state.f1, 0.25, example())
    cells = [array.tobytes() for array in memory_of(state)]
    savepoint = take_savepoint(state, space, reach, rows())
    add(state.f0, -3.0, example(2.0))
    add(state.f1, 1.0, example())
    state.n.t += 5.0
    assert [array.tobytes() for array in memory_of(state)] != cells
    assert savepoint.is_finite(state)
    assert savepoint.rollback() is state
    assert [array.tobytes() for array in memory_of(state)] == cells
    assert state.n.t == 0.0


def memory_of(state: Any) -> list[np.ndarray]:
    return [*memory(state), counters_of(state)]


def few_nonzeros() -> tuple[Any, Savepoint]:
    state, space = fresh(top_k)
    add(state.f0, 0.5, example())
    return state, take_savepoint(state, space, "top_k")


def few_cells() -> tuple[Any, Savepoint]:
    state, space = fresh(plain, scaled)
    add(state.f0, 0.5, example())
    add(state.f1, 0.5, example())
    return state, take_savepoint(state, space, "row", rows())


def all_cells() -> tuple[Any, Savepoint]:
    state, space = fresh(lazy, plain)
    add(state.f0, 0.5, example())
    return state, take_savepoint(state, space, "all", rows())


def change(state: Any) -> None:
    for value in state[:-1]:
        add(value, 2.0, example(3.0))
    if hasattr(state.f0, "heap"):
        scale(state.f0, 0.5)
        keep(state.f0, 2)
    state.n.t += 1.0


def test_the_heap_of_a_top_k_vector_is_whole_after_a_rollback() -> None:
    state, savepoint = few_nonzeros()
    w = state.f0
    before = w.v.copy()
    add(w, 1.0, Sparse(np.array([7, 9], np.uint32), np.array([5.0, -6.0]), 1.0, 61.0))
    keep(w, 1)
    savepoint.rollback()
    assert w.v.tobytes() == before.tobytes()
    size = int(w.n[3])
    assert sorted(w.heap[:size].tolist()) == np.flatnonzero(w.v).tolist()
    assert (w.slot[w.heap[:size]] == np.arange(1, size + 1)).all()
    assert np.count_nonzero(w.slot) == size


class Interrupter:
    """Raises KeyboardInterrupt on the k-th line that the state's modules run."""

    def __init__(self, after: int) -> None:
        self.left = after

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if "noregret/state" not in frame.f_code.co_filename:
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self


def interrupted(action: Callable[[], Any], after: int) -> bool:
    """Run an action and interrupt it; whether it was interrupted at all."""
    tracing = sys.gettrace()
    sys.settrace(Interrupter(after))
    try:
        action()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(tracing)
    return False


@pytest.mark.parametrize("take", [few_nonzeros, few_cells, all_cells], ids=lambda take: take.__name__)
def test_a_rollback_that_was_interrupted_at_any_line_is_finished_by_another(
    take: Callable[[], tuple[Any, Savepoint]],
) -> None:
    state, savepoint = take()
    before = [array.tobytes() for array in memory_of(state)]
    after = 1
    while True:
        change(state)
        stopped = interrupted(savepoint.rollback, after)
        savepoint.rollback()
        assert [array.tobytes() for array in memory_of(state)] == before, f"interrupted at line {after}"
        if not stopped:
            break
        after += 1
    assert after > 5


@pytest.mark.parametrize("take", [few_nonzeros, few_cells, all_cells], ids=lambda take: take.__name__)
@pytest.mark.parametrize("where", ["cell", "counter"])
def test_what_is_not_finite_is_seen(take: Callable[[], tuple[Any, Savepoint]], where: str) -> None:
    state, savepoint = take()
    assert savepoint.is_finite(state)
    if where == "counter":
        state.n.t = np.inf
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            add(state.f0, 1e308, example(10.0))
    assert not savepoint.is_finite(state)
    savepoint.rollback()
    assert savepoint.is_finite(state)


def test_a_state_that_rounds_do_not_work_on_is_left_alone() -> None:
    state, space = fresh(plain)
    other, _ = fresh(plain)
    savepoint = take_savepoint(state, space, "nothing")
    add(other.f0, 1.0, example(np.nan))
    assert not savepoint.is_finite(other)
    assert savepoint.rollback() is state
    assert savepoint.covers_all


def test_copies_that_are_left_for_later_are_made_before_the_first_round() -> None:
    state, space = fresh(plain, scaled)
    add(state.f0, 0.5, example())
    before = [array.copy() for array in memory(state)]
    savepoint = take_savepoint(state, space, "all", later=True)
    savepoint.rollback()  # nothing was copied and nothing has changed
    assert [array.tobytes() for array in memory(state)] == [array.tobytes() for array in before]
    savepoint.take()
    change(state)
    savepoint.take()  # what is kept is the state before the rounds
    savepoint.rollback()
    assert [array.tobytes() for array in memory(state)] == [array.tobytes() for array in before]
