"""torch, imported when a translator needs it: `noregret --help` and all other learners do without."""

from typing import Any, TypeAlias

from noregret.errors import import_extra

Tensor: TypeAlias = Any  # torch.Tensor, which only the extra `translation` brings
Weights: TypeAlias = dict[str, Tensor]


def torch() -> Any:
    """The module torch."""
    return import_extra("torch", "translation", "translating")


def functional() -> Any:
    """The functions of torch.nn.functional."""
    return import_extra("torch.nn.functional", "translation", "translating")
