"""Random numbers of a learner: torch draws them from a state that the learner keeps, and then goes on with its own.

The generator belongs to the process. So learners of several threads take turns.
"""

import os
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from noregret.learner.header_fields import corrupt
from noregret.learner.model_file import Arrays
from noregret.neural.modules.tensors import Tensor, load_torch

Result = TypeVar("Result")


class Turn:
    """A lock around calls that use the generator of torch; the child of a fork begins with a new one."""

    def __init__(self) -> None:
        self.renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.renew)

    def renew(self) -> None:
        self.lock = threading.RLock()


TURN = Turn()


def take_turn(act: Callable[[], Result]) -> Result:
    """Act while no other thread uses the generator of torch for a learner."""
    with TURN.lock:
        return act()


class RandomState(NamedTuple):
    """The states of the generators of torch: that of the processor, and that of the device a module is on."""

    cpu: Tensor
    device: Tensor | None = None


def start_random(seed: int, device: Any) -> RandomState:
    """The state that `torch.manual_seed(seed)` brings about."""
    torch = load_torch()
    on_device = None
    if device.type == "cuda":
        on_device = torch.Generator(device).manual_seed(seed).get_state()
    return RandomState(torch.Generator().manual_seed(seed).get_state(), on_device)


def get_random(device: Any) -> RandomState:
    """The state that torch is in."""
    torch = load_torch()
    return RandomState(torch.get_rng_state(), torch.cuda.get_rng_state(device) if device.type == "cuda" else None)


def set_random(state: RandomState, device: Any) -> None:
    """Let torch go on from a state."""
    torch = load_torch()
    torch.set_rng_state(state.cpu)
    if state.device is not None and device.type == "cuda":
        torch.cuda.set_rng_state(state.device, device)


class Restored:
    """Brings the state of torch back at the end of a block; of two, one does it where the other is interrupted."""

    def __init__(self, state: RandomState, device: Any) -> None:
        self.state, self.device = state, device

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        set_random(self.state, self.device)


def dump_random(state: RandomState) -> Arrays:
    """The states as arrays."""
    found = {"random": np.array(state.cpu.numpy())}
    return found if state.device is None else {**found, "random.device": np.array(state.device.numpy())}


def restore_random(arrays: Arrays, seed: int, device: Any) -> RandomState:
    """The states of a file, which torch has found to be sound; that of another kind of device begins anew."""
    torch = load_torch()
    fresh = start_random(seed, device)
    made: list[Tensor] = []
    for name, like in (("random", fresh.cpu), ("random.device", fresh.device)):
        if like is None or (name == "random.device" and name not in arrays):
            continue
        given = arrays[name]
        if given.dtype != np.uint8 or given.shape != tuple(like.shape):
            raise corrupt("the state of its random numbers does not fit")
        tensor = torch.from_numpy(np.array(given))
        try:
            torch.Generator(device if name == "random.device" else "cpu").set_state(tensor)
        except RuntimeError:
            raise corrupt("the state of its random numbers does not fit") from None
        made.append(tensor)
    return RandomState(made[0], made[1] if len(made) > 1 else fresh.device)
