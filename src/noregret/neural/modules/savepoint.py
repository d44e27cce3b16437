"""A module and its optimizer before a call, in memory: `rollback` brings both back, as often as it is called.

    before = ModuleSavepoint(net, optimizer)
    ...                                         # anything may fail here, or be interrupted
    before.rollback()

The copies are made in memory that the last savepoint of the same learner used, where it still fits.
"""

from typing import Any

from noregret.neural.modules.module_file import Module
from noregret.neural.modules.tensors import Tensor, load_torch


class ModuleSavepoint:
    """The parameters, the buffers, the state of the optimizer, and the random numbers of torch, as they are now."""

    def __init__(
        self,
        module: Module,
        optimizer: Any = None,
        more: tuple[Tensor, ...] = (),
        spare: "ModuleSavepoint | None" = None,
    ) -> None:
        self.module, self.optimizer = module, optimizer
        self.buffers = list_buffers(module)
        self.modes = [(part, part.training) for part in module.modules()]
        self.states = {} if optimizer is None else {one: dict(state) for one, state in optimizer.state.items()}
        self.options = [] if optimizer is None else [dict(group) for group in optimizer.param_groups]
        self.tensors = unique([
            *module.parameters(),
            *(buffer for _, _, buffer in self.buffers),
            *(value for state in self.states.values() for value in state.values() if hasattr(value, "detach")),
            *more,
        ])  # fmt: skip
        self.values: list[Tensor] = copy_values(self.tensors, None if spare is None else spare.values)

    def rollback(self) -> None:
        """Bring everything back; may be repeated."""
        write_values(self.tensors, self.values)
        for part, name, buffer in self.buffers:
            part._buffers[name] = buffer
        for part, mode in self.modes:
            part.training = mode
        for parameter in self.module.parameters():
            parameter.grad = None
        if self.optimizer is None:
            return
        self.optimizer.state.clear()
        self.optimizer.state.update({one: dict(state) for one, state in self.states.items()})
        for group, options in zip(self.optimizer.param_groups, self.options, strict=True):
            group.clear()
            group.update(options)


def list_buffers(module: Module) -> list[tuple[Any, str, Tensor]]:
    """Every buffer with its part and its name: a forward pass may put another tensor in its place."""
    return [
        (part, name, buffer)
        for part in module.modules()
        for name, buffer in part._buffers.items()
        if buffer is not None
    ]


def unique(tensors: list[Tensor]) -> list[Tensor]:
    """Each tensor once, however many names it has."""
    return list({id(one): one.detach() for one in tensors}.values())


def copy_values(tensors: list[Tensor], spare: list[Tensor] | None) -> list[Tensor]:
    """Copies of tensors, in memory that is there already where its shapes fit."""
    if spare is not None and all_alike(tensors, spare):
        write_values(spare, tensors)
        return spare
    return [one.clone() for one in tensors]


def all_alike(tensors: list[Tensor], others: list[Tensor]) -> bool:
    """Whether tensors have the shapes, types and devices of others."""
    return len(tensors) == len(others) and all(
        one.shape == other.shape and one.dtype == other.dtype and one.device == other.device
        for one, other in zip(tensors, others, strict=True)
    )


def write_values(targets: list[Tensor], values: list[Tensor]) -> None:
    """Copy values into tensors of the same shapes."""
    torch = load_torch()
    if targets:
        with torch.no_grad():
            torch._foreach_copy_(targets, values)
