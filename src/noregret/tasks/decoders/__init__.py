"""Decoders: how the best output of a structured round is found, as plain functions that are compiled into the loop.

A decoder works on the scores f of the parts of a group of rows: f[i, c] is that of row i and class c. An output uses
some parts; `tally` counts them. See `layout` for the columns of y. The functions allocate nothing; `work` is scratch.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from noregret.tasks.decoders import arcs, forward_backward, nonprojective, projective, sequence, string


def is_aligned(f: Any, y: Any, work: Any, first: Any) -> None:
    """The truth of every row is known: there is nothing to find."""


def count_none(length: int) -> int:
    """No row needs a label."""
    return 0


def count_all(length: int) -> int:
    """Every position needs a label."""
    return length


class Decoder(NamedTuple):
    """The functions of a decoder, and how many rows a group must have."""

    search: Callable[..., None]  # (f, y, work, first, known, augment): write the best output into CHOSEN
    tally: Callable[..., None]  # (y, counts, first, column, a): add a to the counts of the parts of an output
    loss: Callable[..., float]  # (y, first): the loss of CHOSEN
    scratch: Callable[[int, int, int], int]  # (rows, length, width): floats of work that search and expect need
    rows: Callable[[int, int], int]  # (length, classes): the rows of a group
    labelled: Callable[[int], int] = count_none  # (length): how many of the first rows need a label to be learned
    classes: int = 0  # the number of classes, where it is fixed; otherwise labels are classes
    align: Callable[..., None] = is_aligned  # (f, y, work, first): find which parts the right output uses
    expect: Callable[..., float] | None = None  # (f, y, work, counts, first, known): subtract marginals, return log Z


def sequence_rows(length: int, classes: int) -> int:
    """Tokens, and a context for the start and every tag."""
    return length + classes + 1


def pair_rows(length: int, classes: int) -> int:
    """Tokens, and a context for every pair of the start and the tags."""
    return length + (classes + 1) ** 2


def string_rows(length: int, classes: int) -> int:
    """Two slots for every letter, and a context for the start and every symbol, which are all classes but one."""
    return 2 * length + classes


DECODERS: dict[str, Decoder] = {
    "sequence": Decoder(
        sequence.search,
        sequence.tally,
        sequence.loss,
        sequence.scratch,
        sequence_rows,
        count_all,
        expect=forward_backward.expect,
    ),
    "sequence_pairs": Decoder(
        sequence.search_pairs,
        sequence.tally_pairs,
        sequence.loss,
        sequence.scratch_pairs,
        pair_rows,
        count_all,
        expect=forward_backward.expect_pairs,
    ),
    "projective": Decoder(projective.search, arcs.tally, arcs.loss, projective.scratch, arcs.count_arcs, classes=1),
    "nonprojective": Decoder(
        nonprojective.search, arcs.tally, arcs.loss, nonprojective.scratch, arcs.count_arcs, classes=1
    ),
    "string": Decoder(string.search, string.tally, string.loss, string.scratch, string_rows, align=string.align),
}


def functions_of(name: str) -> dict[str, Any]:
    """What a decoder stands for in the text of a loop."""
    decoder = DECODERS[name]
    names = ("search", "tally", "loss", "align")
    found: dict[str, Any] = {name: getattr(decoder, name) for name in names}
    return found if decoder.expect is None else {**found, "expect": decoder.expect}
