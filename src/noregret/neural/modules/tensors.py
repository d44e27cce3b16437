"""Tensors as arrays of a model file, and back: names, shapes and types are checked, and values are finite.

numpy has no bfloat16: such a tensor is kept by its bits, and a header says so. Nothing is ever unpickled.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue, import_extra, shown
from noregret.learner.header_fields import corrupt
from noregret.learner.model_file import Arrays

Tensor = Any  # torch is imported when a module is first used, and has no types here
Tensors = Mapping[str, Tensor]
TypeNames = dict[str, str]
BFLOAT16 = "bfloat16"
NAMES = (
    "float32", "float64", "float16", BFLOAT16, "int64", "int32", "int16", "int8", "uint8", "bool",
)  # fmt: skip


@cache
def load_torch() -> Any:
    """The package torch, imported when it is first needed."""
    return import_extra("torch", "torch", "a torch module")


def name_type(tensor: Tensor) -> str:
    """The name of the type of a tensor, as a header gives it."""
    return str(tensor.dtype).removeprefix("torch.")


def to_array(name: str, tensor: Tensor) -> NDArray[Any]:
    """A copy of a tensor as an array, of bfloat16 its bits; an error where a file could not hold it."""
    if name_type(tensor) not in NAMES or tensor.layout is not load_torch().strided:
        raise BadValue(f"{name} is a tensor of {tensor.dtype} in the layout {tensor.layout}, which cannot be saved; "
                       f"dense tensors of {', '.join(NAMES)} can")  # fmt: skip
    plain = tensor.detach().cpu().contiguous()
    if plain.dtype is load_torch().bfloat16:
        plain = plain.view(load_torch().int16)
    return np.array(plain.numpy())


def to_tensor(array: NDArray[Any], like: Tensor) -> Tensor:
    """A new tensor of the values of an array, of the type and on the device of another."""
    torch = load_torch()
    plain = torch.from_numpy(np.array(array))
    return (plain.view(torch.bfloat16) if like.dtype is torch.bfloat16 else plain).to(like.device)


def dump_tensors(tensors: Tensors) -> tuple[TypeNames, Arrays]:
    """The types of named tensors, and their values as arrays."""
    return {name: name_type(one) for name, one in tensors.items()}, {
        name: to_array(name, one) for name, one in tensors.items()
    }


def restore_tensors(types: Any, arrays: Arrays, like: Tensors, owner: str) -> dict[str, Tensor]:
    """New tensors of the values in a file, one for each of `like`, whose names, shapes and types they must have.

    Where numbers of `like` are finite those of the file must be, too: a mask of -inf stays possible. `owner` is what
    errors call the thing whose tensors these are.
    """
    if not isinstance(types, dict) or set(types) != set(arrays):
        raise corrupt(f"the tensors of {owner} are not those that its header names")
    missing, unknown = sorted(set(like) - set(types)), sorted(set(types) - set(like))
    if missing or unknown:
        what = f"the file has {unknown[0]!r}, which it has not" if unknown else f"the file has no {missing[0]!r}"
        raise BadValue(f"{owner} has other tensors than the one that was saved: {what}; give one of the same layers")
    return {name: restore_tensor(name, types[name], arrays[name], one, owner) for name, one in like.items()}


def restore_tensor(name: str, type_name: Any, array: NDArray[Any], like: Tensor, owner: str) -> Tensor:
    """A new tensor of the values of an array, after all checks."""
    if type_name != name_type(like):
        raise BadValue(f"{name} of {owner} is of {name_type(like)}, and in the file of {shown(type_name)}; "
                       "give one of the same types")  # fmt: skip
    if tuple(array.shape) != tuple(like.shape):
        raise BadValue(f"{name} of {owner} has the shape {tuple(like.shape)}, and in the file {tuple(array.shape)}; "
                       "give one of the same sizes")  # fmt: skip
    stored = "int16" if type_name == BFLOAT16 else type_name
    if array.dtype != np.dtype(stored):
        raise corrupt(f"the tensor {name} of {owner} is kept as {array.dtype}")
    made = to_tensor(array, like)
    if made.is_floating_point() and not is_finite(made) and is_finite(like):
        raise corrupt(f"the tensor {name} of {owner} is not finite")
    return made


def is_finite(tensor: Tensor) -> bool:
    """Whether all numbers of a tensor are finite."""
    return bool(tensor.isfinite().all())
