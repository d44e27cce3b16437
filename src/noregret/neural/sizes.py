"""The sizes of hidden layers as a parameter: [100, 50] or, as text, 100-50."""

from dataclasses import dataclass
from typing import Any

from noregret.errors import BadValue, shown
from noregret.rules.parameters import Choice

WIDEST, DEEPEST = 1 << 16, 1000
NO_LAYERS = "none"


@dataclass(frozen=True)
class Sizes(Choice):
    """The sizes of hidden layers; `among` are those worth trying, and any others may be given."""

    @property
    def limits(self) -> str:
        return f"a list of whole numbers from 1 to {WIDEST}, as in [100, 50] or 100-50, or {NO_LAYERS}"

    def check(self, owner: str, name: str, given: Any) -> str:
        """The sizes as text."""
        try:
            sizes = read_sizes(given)
        except (TypeError, ValueError):
            sizes = (0,)
        if not all(1 <= size <= WIDEST for size in sizes) or len(sizes) > DEEPEST:
            raise BadValue(f"{owner}: {name} must be {self.limits}, not {shown(given)}")
        return "-".join(map(str, sizes)) or NO_LAYERS


def read_sizes(given: Any) -> tuple[int, ...]:
    """The sizes that a list, a number or a text stands for."""
    if isinstance(given, str):
        return () if given == NO_LAYERS else tuple(int(part) for part in given.split("-"))
    if isinstance(given, bool):
        raise TypeError
    if isinstance(given, (int, float)):
        given = [given]
    sizes = tuple(given)
    if any(isinstance(size, (bool, str)) or size != int(size) for size in sizes):
        raise ValueError
    return tuple(int(size) for size in sizes)
