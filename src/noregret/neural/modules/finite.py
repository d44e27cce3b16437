"""Whether tensors are finite, in few calls."""

from collections.abc import Mapping
from math import inf
from typing import Any

from noregret.neural.modules.tensors import Tensor, load_torch


def all_finite(tensors: list[Tensor]) -> bool:
    """Whether all numbers of all tensors are finite: the largest of each is a number."""
    torch = load_torch()
    alike: dict[Any, list[Tensor]] = {}
    for one in tensors:
        if one.is_floating_point() and one.numel():
            plain = one.detach()
            alike.setdefault((one.dtype, one.device), []).append(
                plain.coalesce().values() if plain.is_sparse else plain
            )
    return all(bool(torch.stack(torch._foreach_norm(some, inf)).isfinite().all()) for some in alike.values())


def find_infinite(tensors: Mapping[str, Tensor]) -> str:
    """The name of the first tensor that is not finite."""
    return next((name for name, one in tensors.items() if not all_finite([one])), "something")
