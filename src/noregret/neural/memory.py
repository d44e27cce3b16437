"""The memory of rounds that a network learns from again: a uniform sample of all rounds, its growth and its checks."""

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import all_finite
from noregret.learner.header_fields import corrupt
from noregret.learner.model_file import Arrays
from noregret.neural.net import BINARY, LARGEST, SOFTMAX, Memory

LEAST = 8  # values that there is room for in a row


def empty_memory(capacity: int, room: int = 0) -> Memory:
    """Room for so many rounds, with rows of so many values."""
    idx, val = np.zeros(capacity * room, np.int32), np.zeros(capacity * room)
    return Memory(idx, val, np.zeros(capacity, np.int64), np.zeros(capacity), np.zeros(capacity))


def make_room(memory: Memory, longest: int) -> Memory:
    """The same memory, with room for rows of so many values."""
    capacity = memory.y.size
    before = memory.val.size // capacity if capacity else longest
    if longest <= before:
        return memory
    new = empty_memory(capacity, max(longest, 2 * before, LEAST))
    for to, values in ((new.idx, memory.idx), (new.val, memory.val)):
        to.reshape(capacity, -1)[:, :before] = values.reshape(capacity, before)
    return new._replace(sizes=memory.sizes, y=memory.y, h=memory.h)


def copy_memory(memory: Memory) -> Memory:
    idx, val, sizes, y, h = memory
    return Memory(idx.copy(), val.copy(), sizes.copy(), y.copy(), h.copy())


def remembered_features(memory: Memory) -> NDArray[np.int32]:
    """The features of all rounds in the memory: a call may learn any of them again."""
    capacity = memory.y.size
    room = memory.val.size // capacity if capacity else 0
    return memory.idx.reshape(capacity, room)[np.arange(room)[None, :] < memory.sizes[:, None]]


def dump_memory(memory: Memory, used: int) -> Arrays:
    """The first rounds of the memory, without spare room."""
    capacity = memory.y.size
    room = memory.val.size // capacity
    filled = np.arange(room)[None, :] < memory.sizes[:used, None]
    idx, val = memory.idx.reshape(capacity, room)[:used][filled], memory.val.reshape(capacity, room)[:used][filled]
    return {
        "memory.idx": idx, "memory.val": val, "memory.sizes": memory.sizes[:used].copy(),
        "memory.y": memory.y[:used].copy(), "memory.h": memory.h[:used].copy(),
    }  # fmt: skip


def restore_memory(arrays: Arrays, capacity: int, used: int, features: int, task: tuple[int, int]) -> Memory:
    """The memory that a file holds; `task` is the task and the number of outputs."""
    idx, val, sizes, y, h = (arrays[f"memory.{name}"] for name in Memory._fields)
    kinds = [str(values.dtype) for values in (idx, val, sizes, y, h)]
    sound = kinds == ["int32", "float64", "int64", "float64", "float64"]
    sound = sound and sizes.shape == y.shape == h.shape == (used,) and idx.shape == val.shape == (int(sizes.sum()),)
    sound = sound and bool((sizes >= 0).all()) and bool(((idx >= 0) & (idx < features)).all())
    sound = sound and all(all_finite(values) for values in (val, y, h)) and bool((h > 0.0).all())
    sound = sound and bool((np.abs(val) <= LARGEST).all()) and bool((np.abs(y) <= LARGEST).all())
    if sound and task[0] == BINARY:
        sound = bool((np.abs(y) == 1.0).all())
    elif sound and task[0] == SOFTMAX:
        sound = bool(((y >= 0.0) & (y < task[1]) & (y == np.floor(y))).all())
    if not sound:
        raise corrupt("the rounds that its network remembers do not fit")
    memory = make_room(empty_memory(capacity), int(sizes.max(initial=0)))
    room = memory.val.size // capacity
    filled = np.zeros((capacity, room), bool)
    filled[:used] = np.arange(room)[None, :] < sizes[:, None]
    memory.idx.reshape(capacity, room)[filled], memory.val.reshape(capacity, room)[filled] = idx, val
    memory.sizes[:used], memory.y[:used], memory.h[:used] = sizes, y, h
    return memory
