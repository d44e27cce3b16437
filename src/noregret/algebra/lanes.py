"""Four divisions at once: processors divide a vector of four numbers in the time of one, with the same bits."""

from typing import Any


def divide_four(a: Any, b: Any) -> Any:
    """The quotients of two tuples of four numbers; in compiled code, one instruction."""
    return a[0] / b[0], a[1] / b[1], a[2] / b[2], a[3] / b[3]
