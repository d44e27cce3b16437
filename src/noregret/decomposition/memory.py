"""States and rows that do not fit in memory, as those of matrices with billions of columns, are refused in words."""

from collections.abc import Iterator
from contextlib import contextmanager

from noregret.errors import BadValue, Error
from noregret.learner import outside_rounds


def require_memory(name: str, numbers: int) -> None:
    """Refuse a state of more numbers than this machine can be expected to hold, before it is made."""
    outside_rounds.require_memory(name, numbers, "use fewer components, smaller mini-batches")


def require_sample_memory(name: str, rows: int, numbers: int) -> None:
    """Refuse to draw more rows than fit in memory, where each takes so many numbers."""
    if not outside_rounds.fits_in_memory(rows * (numbers + 1)):
        raise BadValue(f"{name}: a sample of n={rows:,} rows does not fit in memory; draw fewer")


@contextmanager
def memory_in_words(name: str) -> Iterator[None]:
    """Say in words that memory is not enough."""
    try:
        yield
    except MemoryError:
        raise Error(
            f"{name} has no memory left for these rows; learn fewer in a call, use feature names (strings), or number "
            "the features without gaps"
        ) from None
