"""The numbers of a torch module in a model file: parameters, and buffers that belong to its state.

header, arrays = dump_module(net)
restore_module(net, header, arrays)     # into a module of the same layers; nothing changes if anything is wrong
"""

from collections.abc import Iterator
from typing import Any

from noregret.errors import BadValue, shown
from noregret.learner.header_fields import corrupt
from noregret.learner.model_file import Arrays, Header
from noregret.neural.modules.tensors import Tensor, Tensors, dump_tensors, load_torch, restore_tensors

Module = Any


def check_module(module: Module) -> Module:
    """A torch module whose parameters all exist."""
    torch = load_torch()
    if not isinstance(module, torch.nn.Module):
        raise BadValue(f"module must be a torch.nn.Module, such as torch.nn.Linear(4, 2), not {shown(module)}")
    return module


def saved_tensors(module: Module) -> dict[str, Tensor]:
    """The parameters and the persistent buffers of a module by name; those it has under two names come once."""
    found = dict(module.named_parameters())
    found.update(persistent_buffers(module))
    return found


def persistent_buffers(module: Module) -> Iterator[tuple[str, Tensor]]:
    """The buffers that torch saves, too."""
    seen: set[int] = set()
    for prefix, part in module.named_modules():
        left_out = part._non_persistent_buffers_set
        for name, buffer in part.named_buffers(recurse=False):
            if name not in left_out and id(buffer) not in seen:
                seen.add(id(buffer))
                yield f"{prefix}.{name}" if prefix else name, buffer


def dump_module(module: Module) -> tuple[Header, Arrays]:
    """The types of all tensors of a module, as a header, and their values."""
    types, arrays = dump_tensors(saved_tensors(module))
    return {"tensors": types}, arrays


def restore_module(module: Module, header: Any, arrays: Arrays) -> None:
    """Give a module the values of a file, all checked before the first is set."""
    read_module(module, header, arrays).write()


class ReadTensors:
    """Values that were read for the tensors of a module; `write` sets them."""

    def __init__(self, targets: Tensors, values: Tensors) -> None:
        self.targets, self.values = targets, values

    def write(self) -> None:
        """Copy the values into the tensors."""
        with load_torch().no_grad():
            for name, target in self.targets.items():
                target.copy_(self.values[name])


def read_module(module: Module, header: Any, arrays: Arrays) -> ReadTensors:
    """The values of a file for the tensors of a module, checked and not yet set."""
    if not isinstance(header, dict):
        raise corrupt("the header of its module must be a table")
    targets = saved_tensors(module)
    owner = f"the module {type(module).__name__}"
    return ReadTensors(targets, restore_tensors(header.get("tensors"), arrays, targets, owner))
