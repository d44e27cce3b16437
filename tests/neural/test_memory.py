"""The rounds that a network remembers: their room, their copies, and those of files, which are checked."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.errors import Error
from noregret.neural.memory import (
    copy_memory,
    dump_memory,
    empty_memory,
    make_room,
    remembered_features,
    restore_memory,
)
from noregret.neural.net import BINARY, LARGEST, REGRESSION, SOFTMAX, Memory

GIVEN: dict[str, Any] = {
    "idx": np.array([0, 2, 1, 0], np.int32), "val": np.array([0.5, -2.0, 1.0, 3.0]), "sizes": np.array([2, 0, 2]),
    "y": np.array([1.0, -1.0, 1.0]), "h": np.array([1.0, 0.5, 2.0]),
}  # fmt: skip


def restore(task: int = REGRESSION, outputs: int = 1, used: int = 3, features: int = 3, **forged: Any) -> Memory:
    """A memory of five rounds, of which three were in the file."""
    arrays = {f"memory.{name}": np.asarray(values) for name, values in {**GIVEN, **forged}.items()}
    return restore_memory(arrays, 5, used, features, (task, outputs))


# ---- room ------------------------------------------------------------------------------------------------------------


def test_room_grows_at_least_twofold_and_keeps_what_is_there() -> None:
    memory = empty_memory(3)
    for longest, room in ((0, 0), (3, 8), (8, 8), (9, 16), (40, 40), (41, 80)):
        larger = make_room(memory, longest)
        assert larger.idx.size == larger.val.size == 3 * room
        assert (larger is memory) == (3 * room == memory.val.size)
        width = memory.val.size // 3
        assert larger.idx.reshape(3, -1)[:, :width].tolist() == memory.idx.reshape(3, width).tolist()
        assert larger.val.reshape(3, -1)[:, :width].tolist() == memory.val.reshape(3, width).tolist()
        assert not larger.val.reshape(3, -1)[:, width:].any()
        assert all(one is other for one, other in zip(larger[2:], memory[2:], strict=True))
        memory = larger
        memory.idx[:], memory.val[:] = np.arange(3 * room), 0.5 + np.arange(3 * room)


def test_a_network_without_replay_has_no_memory() -> None:
    memory = empty_memory(0)
    assert make_room(memory, 9) is memory
    assert remembered_features(memory).tolist() == []


def test_copies_share_nothing() -> None:
    memory = restore()
    copied = copy_memory(memory)
    for one, other in zip(memory, copied, strict=True):
        np.testing.assert_array_equal(one, other)
        assert not np.shares_memory(one, other)


# ---- files -----------------------------------------------------------------------------------------------------------


def test_a_memory_is_restored_as_it_was_without_its_spare_room() -> None:
    memory = restore()
    assert [array.size for array in memory] == [40, 40, 5, 5, 5]
    assert remembered_features(memory).tolist() == [0, 2, 1, 0]
    assert memory.val.reshape(5, 8)[[0, 0, 2, 2], [0, 1, 0, 1]].tolist() == GIVEN["val"].tolist()
    assert np.count_nonzero(memory.val) == 4
    for name in ("sizes", "y", "h"):
        assert getattr(memory, name).tolist() == [*GIVEN[name].tolist(), 0, 0]
    dumped = dump_memory(memory, 3)
    assert {name: values.tolist() for name, values in dumped.items()} == {
        f"memory.{name}": values.tolist() for name, values in GIVEN.items()
    }
    assert not any(np.shares_memory(values, array) for values in dumped.values() for array in memory)


def test_a_memory_without_rounds_has_no_room() -> None:
    none = {name: values[:0] for name, values in GIVEN.items()}
    assert [array.size for array in restore(used=0, features=0, **none)] == [0, 0, 5, 5, 5]


@pytest.mark.parametrize("value", [LARGEST, -LARGEST])
def test_values_and_targets_may_be_as_large_as_any(value: float) -> None:
    assert restore(val=[0.5, value, 1.0, 3.0], y=[value, 0.5, 1.0]).y[0] == value


@pytest.mark.parametrize("forged", [
    *({name: values.astype(np.float32)} for name, values in GIVEN.items()),
    {"sizes": [2, 2]}, {"sizes": [2, 0, 2, 0]}, {"y": [1.0] * 4}, {"y": [1.0] * 2}, {"h": [1.0] * 4}, {"h": [1.0] * 2},
    {"idx": np.zeros(5, np.int32)}, {"idx": np.zeros(3, np.int32)}, {"val": np.zeros(5)}, {"val": np.zeros(3)},
    {"idx": np.zeros(5, np.int32), "val": np.zeros(5)}, {"sizes": [3, -1, 2]},
    {"idx": np.array([0, -1, 1, 0], np.int32)},
    {"idx": np.array([0, 3, 1, 0], np.int32)}, {"val": [0.5, np.nan, 1.0, 3.0]}, {"val": [0.5, np.inf, 1.0, 3.0]},
    {"y": [1.0, np.nan, 1.0]}, {"h": [1.0, np.inf, 1.0]}, {"h": [1.0, 0.0, 1.0]}, {"h": [1.0, -1.0, 1.0]},
    {"val": [0.5, 1.1 * LARGEST, 1.0, 3.0]}, {"val": [0.5, -1.1 * LARGEST, 1.0, 3.0]},
    {"y": [1.0, 1.1 * LARGEST, 1.0]}, {"y": [1.0, -1.1 * LARGEST, 1.0]},
])  # fmt: skip
def test_a_memory_that_contradicts_itself_is_refused(forged: dict[str, Any]) -> None:
    with pytest.raises(Error, match="the rounds that its network remembers do not fit"):
        restore(**forged)


@pytest.mark.parametrize(("task", "outputs", "y", "fits"), [
    (BINARY, 1, [1.0, -1.0, 1.0], True), (BINARY, 1, [1.0, 0.0, 1.0], False), (BINARY, 1, [1.0, -2.0, 1.0], False),
    (SOFTMAX, 3, [0.0, 2.0, 1.0], True), (SOFTMAX, 3, [0.0, 3.0, 1.0], False), (SOFTMAX, 3, [0.0, 1.5, 1.0], False),
    (SOFTMAX, 3, [0.0, -1.0, 1.0], False), (SOFTMAX, 1, [0.0, 0.0, 0.0], True), (REGRESSION, 1, [0.5, -7.0, 3.0], True),
])  # fmt: skip
def test_remembered_truths_are_those_of_the_task(task: int, outputs: int, y: list[float], fits: bool) -> None:
    if fits:
        assert restore(task, outputs, y=y).y[:3].tolist() == y
        return
    with pytest.raises(Error, match="the rounds that its network remembers do not fit"):
        restore(task, outputs, y=y)


@pytest.mark.parametrize("task", [BINARY, SOFTMAX])
def test_truths_that_fit_make_up_for_nothing_else(task: int) -> None:
    with pytest.raises(Error, match="the rounds that its network remembers do not fit"):
        restore(task, 2, y=[1.0, 1.0, 1.0], h=[1.0, 0.0, 1.0])


# ---- rounds of rows with names ---------------------------------------------------------------------------------------


def test_of_rows_with_names_the_features_are_remembered_with_their_values() -> None:
    learner: Any = nr.make("mlp", layers=[2], native=False, scale=False, replay=4)
    learner.learn([{"a": 1.0}, {"b": 2.0, "c": 3.0}, {"d": 4.0}], [0, 1, 0])
    memory = learner.network.memory
    room = memory.val.size // 4
    assert memory.sizes.tolist() == [1, 2, 1, 0]
    assert remembered_features(memory).tolist() == [0, 1, 2, 3]
    assert memory.val.reshape(4, room)[[0, 1, 1, 2], [0, 0, 1, 0]].tolist() == [1.0, 2.0, 3.0, 4.0]


def test_values_count_once_though_their_rounds_are_replayed() -> None:
    learner: Any = nr.make("mlp", layers=[2], native=False, replay=5, replays=3)
    learner.learn(np.random.default_rng(0).normal(size=(9, 2)), [0, 1, 0] * 3)
    assert learner.network.seen.reshape(-1, 3)[:2, 0].tolist() == [9.0, 9.0]
