"""Decoders: how the best output of a structured round is found, as plain functions that are compiled into the loop.

A decoder works on the scores f of the parts of a group of rows: f[i, c] is that of row i and class c. An output uses
some parts; `tally` counts them. See `layout` for the columns of y. The functions allocate nothing; `work` is scratch.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from noregret.tasks.decoders import arcs, forward_backward, nonprojective, projective, sequence


class Decoder(NamedTuple):
    """The functions of a decoder, and how many rows a group must have."""

    search: Callable[..., None]  # (f, y, work, first, known, augment): write the best output into CHOSEN
    tally: Callable[..., None]  # (y, counts, first, column, a): add a to the counts of the parts of an output
    loss: Callable[..., float]  # (y, first): the loss of CHOSEN
    scratch: Callable[[int, int, int], int]  # (rows, length, width): floats of work that search and expect need
    rows: Callable[[int, int], int]  # (length, classes): the rows of a group
    classes: int = 0  # the number of classes, where it is fixed; otherwise labels are classes
    expect: Callable[..., float] | None = None  # (f, y, work, counts, first, known): subtract marginals, return log Z


def sequence_rows(length: int, classes: int) -> int:
    """Tokens, and a context for the start and every tag."""
    return length + classes + 1


def pair_rows(length: int, classes: int) -> int:
    """Tokens, and a context for every pair of the start and the tags."""
    return length + (classes + 1) ** 2


DECODERS: dict[str, Decoder] = {
    "sequence": Decoder(
        sequence.search, sequence.tally, sequence.loss, sequence.scratch, sequence_rows, expect=forward_backward.expect
    ),
    "sequence_pairs": Decoder(
        sequence.search_pairs,
        sequence.tally_pairs,
        sequence.loss,
        sequence.scratch_pairs,
        pair_rows,
        expect=forward_backward.expect_pairs,
    ),
    "projective": Decoder(projective.search, arcs.tally, arcs.loss, projective.scratch, arcs.count_arcs, classes=1),
    "nonprojective": Decoder(
        nonprojective.search, arcs.tally, arcs.loss, nonprojective.scratch, arcs.count_arcs, classes=1
    ),
}


def functions_of(name: str) -> dict[str, Any]:
    """What a decoder stands for in the text of a loop."""
    decoder = DECODERS[name]
    found: dict[str, Any] = {"search": decoder.search, "tally": decoder.tally, "loss": decoder.loss}
    return found if decoder.expect is None else {**found, "expect": decoder.expect}
