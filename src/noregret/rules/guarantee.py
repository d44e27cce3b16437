"""Guarantees: the theorem of a method, as a function that a test can call."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Guarantee:
    """A theorem: what it says, when it holds, and the bound as a function."""

    says: str
    when: str
    bound: Callable[..., float]
