"""The options of learners that train modules: the shape of rows, and the device."""

from math import prod
from typing import Any

from noregret.errors import BadValue, shown
from noregret.learner.outside_rounds import require_memory
from noregret.neural.modules.module_file import Module, check_module
from noregret.neural.modules.tensors import load_torch

Shape = tuple[int, ...]


def whole(name: str, value: float) -> int:
    """A parameter that must be a whole number."""
    if value != int(value):
        raise BadValue(f"torch_module: {name} must be a whole number, not {value!r}")
    return int(value)


def check_shape(shape: Any) -> Shape | None:
    """The shape of a row: a number, or several."""
    if shape is None:
        return None
    sizes = (shape,) if isinstance(shape, int) else tuple(shape) if isinstance(shape, (tuple, list)) else ()
    if not sizes or not all(type(size) is int and size > 0 for size in sizes):
        raise BadValue(f"shape must be the shape of one row, such as 20 or (1, 28, 28), not {shown(shape)}")
    require_memory("a row of the module", prod(sizes))
    return sizes


def first_shape(module: Module) -> Shape | None:
    """The shape of a row, where the module begins with a linear layer; None where only a row can tell."""
    nn = load_torch().nn
    first = module
    while isinstance(first, nn.Sequential) and len(first):
        first = first[0]
    return (first.in_features,) if type(first) is nn.Linear else None


def place_module(module: Any, device: Any) -> Module:
    """The module on a device; by default where it is."""
    torch = load_torch()
    check_module(module)
    if any(isinstance(one, torch.nn.parameter.UninitializedParameter) for one in module.parameters()):
        raise BadValue("the module has lazy parameters, whose sizes are not known; let it see a row first, as in "
                       "module(torch.zeros(1, 20))")  # fmt: skip
    for name, one in module.named_parameters():
        if one.is_complex():
            raise BadValue(f"{name} is of complex numbers; parameters must be real")
    return module if device is None else module.to(choose_device(device))


def choose_device(device: Any) -> Any:
    """A device of torch: "auto" is the GPU where there is one."""
    torch = load_torch()
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(device)
    except (RuntimeError, TypeError):
        raise BadValue(f'device must be "cpu", "cuda" or "auto", not {shown(device)}') from None
    if found.type == "cuda" and not torch.cuda.is_available():
        raise BadValue('device="cuda", and torch finds no GPU; use device="auto" to take one only where there is one')
    if found.type not in ("cpu", "cuda"):
        raise BadValue(f'device must be "cpu", "cuda" or "auto", not {shown(device)}')
    return found
