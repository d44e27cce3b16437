"""Parameters that several decompositions have, declared in one way."""

from noregret.errors import BadValue
from noregret.rules.parameters import Param

MOST_COMPONENTS = 1 << 14
MOST_ROWS = 1 << 16  # of a mini-batch


def rank_param(default: float) -> Param:
    """How many components there are."""
    return Param(default, at_least=1.0, at_most=MOST_COMPONENTS, about="the most components that are kept",
                 untuned="more components lose less and cost more")  # fmt: skip


def batch_param(default: float) -> Param:
    """How many rows are learned together."""
    return Param(default, at_least=1.0, at_most=MOST_ROWS, about="rows that are learned together (mini-batch)",
                 untuned="larger mini-batches are faster, and losses are by an older state")  # fmt: skip


def threshold_param(default: float = 1e-8) -> Param:
    """Which directions are rounding errors."""
    return Param(default, at_least=0.0, below=1.0, untuned="it separates directions from rounding errors",
                 about="directions smaller than this share of the largest singular value are left out")  # fmt: skip


def check_whole(owner: str, name: str, value: float) -> int:
    """A parameter that is a whole number."""
    if value != int(value):
        raise BadValue(f"{owner}: {name} must be a whole number, not {value!r}")
    return int(value)
