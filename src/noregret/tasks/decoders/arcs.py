"""Dependency trees as groups of rows: a row for every arc, one class, code 0 for an arc of the tree and -1 for others.

A sentence of L words has L * L arcs, from a head h in 0 .. L (0 is the root) to a modifier m in 1 .. L, m != h. The
arcs into one modifier are consecutive: (h, m) is row (m - 1) * L + h if h < m, and (m - 1) * L + h - 1 if h > m. A tree
has one root, that is, one arc from 0, as in Universal Dependencies. The loss is the number of wrong heads.
"""

from typing import Any

from noregret.tasks.decoders.layout import CHOSEN, LENGTH, TRUTH, WIDTH


def arc_row(length: Any, head: Any, modifier: Any) -> Any:
    """The row of an arc inside its group."""
    return (modifier - 1) * length + head - (1 if head > modifier else 0)


def head_of(length: Any, arc: Any) -> Any:
    """The head of an arc."""
    modifier, head = arc // length + 1, arc % length
    return head + (1 if head >= modifier else 0)


def tally(y: Any, counts: Any, first: Any, column: Any, a: Any) -> None:
    """Add a to the count of every arc of the tree in a column."""
    arcs, width = int(y[first, LENGTH]) * int(y[first, LENGTH]), int(y[first, WIDTH])
    for i in range(arcs):
        if y[first + i, column] >= 0.0:
            counts[i * width] += a


def loss(y: Any, first: Any) -> Any:
    """Words with a wrong head."""
    arcs, wrong = int(y[first, LENGTH]) * int(y[first, LENGTH]), 0.0
    for i in range(first, first + arcs):
        if y[i, CHOSEN] >= 0.0 and y[i, TRUTH] < 0.0:
            wrong += 1.0
    return wrong


def count_arcs(length: int, classes: int = 1) -> int:
    """The rows of a group."""
    return length * length
