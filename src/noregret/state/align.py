"""Two states with the same classes, features and supports in the same order, so that their cells can be combined."""

from collections.abc import Sequence

import numpy as np

from noregret.algebra.banks import BORN
from noregret.state.bank_rows import add_rows, bank_size, list_supports, read_rows
from noregret.state.growth import State, bank_of, counters_of, grow, make, parts, replace_values, stores_and_values
from noregret.state.space import Shape, Space, enlarge


def rearrange(
    shape: Shape, state: State, old: Space, new: Space, classes: Sequence[int], features: Sequence[int] | None
) -> State:
    """Return a state whose cells are in other places: the first of them in class classes[0] and feature features[0].

    Without features, these stay where they are. The state is at rest.
    """
    fresh = make(shape, new)
    counters_of(fresh)[:] = counters_of(state)
    rows = np.array(classes, dtype=np.int64)
    columns = np.arange(old.features) if features is None else np.array(features, dtype=np.int64)
    values = [
        store.rearrange((value, old), (target, new), rows, columns)
        for (store, value), target in zip(stores_and_values(state), fresh[:-1], strict=True)
    ]
    return replace_values(fresh, values)


def share_supports(
    shape: Shape, first: State, second: State, spaces: tuple[Space, Space]
) -> tuple[State, State, Space]:
    """Return two states of the kernel algebra that have the supports of both, those of the first one first.

    The supports of the other have coefficient zero. Only the first one has the rows of the supports.
    """
    own, rows = spaces[0], read_rows(bank_of(second))
    mine, theirs = int(bank_of(first).n[0]), rows.sq.size
    held = (
        int(np.diff(rows.start).max(initial=0))
        if own.layout == "slots"
        else bank_size(bank_of(first))[1] + rows.idx.size
    )
    space = enlarge(own, own.features, own.classes, mine + theirs, held)
    larger, other = grow(shape, first, own, space), make(shape, space)
    bank = bank_of(larger)
    add_rows(bank, rows._replace(born=rows.born + int(bank.n[BORN])))
    list_supports(bank)
    counters_of(other)[:] = counters_of(second)
    for (_, _, source), (_, _, target) in zip(parts(shape, second, spaces[1]), parts(shape, other, space), strict=True):
        target[:, mine : mine + theirs] = source[: target.shape[0], :theirs]
    return larger, other, space
