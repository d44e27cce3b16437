"""Whether tensors are finite, in few calls."""

from collections.abc import Mapping
from typing import Any

from noregret.neural.modules.tensors import Tensor, load_torch

SMALL = 1 << 16  # numbers of a tensor that is looked at together with others


def all_finite(tensors: list[Tensor]) -> bool:
    """Whether all numbers of all tensors are finite."""
    plain = [as_dense(one.detach()) for one in tensors if one.is_floating_point() and one.numel()]
    # A finite sum has finite terms. A sum may overflow although all its terms are finite, hence the second test.
    return all(bool(one.isfinite()) for one in add_up(plain)) or all(bool(one.isfinite().all()) for one in plain)


def as_dense(tensor: Tensor) -> Tensor:
    """The numbers of a tensor, of a sparse one those that it has."""
    return tensor.coalesce().values() if tensor.is_sparse else tensor


def add_up(tensors: list[Tensor]) -> list[Tensor]:
    """The sums of tensors, of small ones of a kind together."""
    alike: dict[Any, list[Tensor]] = {}
    for one in tensors:
        if one.numel() <= SMALL:
            alike.setdefault((one.dtype, one.device), []).append(one.reshape(-1))
    together = [load_torch().cat(some).sum() for some in alike.values()]
    return [*together, *(one.sum() for one in tensors if one.numel() > SMALL)]


def find_infinite(tensors: Mapping[str, Tensor]) -> str:
    """The name of the first tensor that is not finite."""
    return next((name for name, one in tensors.items() if not all_finite([one])), "something")
