"""Two states are brought to the same classes, features and supports, and every cell comes to the place it is given."""

import numpy as np
import pytest

from noregret.errors import Error
from noregret.state import covariance, plain, reservoir, scaled
from noregret.state.align import rearrange, share_supports
from noregret.state.bank_rows import BankRows, add_rows, read_rows
from noregret.state.fields import Field
from noregret.state.growth import State, bank_of, make, parts
from noregret.state.space import Shape, Space, enlarge
from noregret.state.stores import field_counters


def filled(field: Field, algebra: str, way: str, seed: int) -> tuple[Shape, State, Space]:
    """A state of two classes and three features (or two supports), with another number in every cell."""
    fields = {"f": field}
    shape = Shape(fields, {**field_counters(fields), "own": 0.0})
    space = enlarge(Space(algebra, covariance=way), 3, 2, 2, 4)
    state = make(shape, space)
    random = np.random.default_rng(seed)
    for _, _, cells in parts(shape, state, space):
        cells[...] = random.standard_normal(cells.shape)
        if cells.ndim == 3:
            cells[...] += np.swapaxes(cells, 1, 2)
    state.n.own = 7.0
    return shape, state, space


@pytest.mark.parametrize("algebra", ["sparse", "dense", "reference"])
@pytest.mark.parametrize(("field", "way"), [(plain, "diagonal"), (scaled, "diagonal"), (covariance, "full")])
def test_cells_move_to_the_classes_and_features_they_are_given(field: Field, way: str, algebra: str) -> None:
    shape, state, space = filled(field, algebra, way, 1)
    wider = enlarge(space, 6, 4)
    moved = rearrange(shape, state, space, wider, [3, 1], [5, 0, 2])
    begun = next(parts(shape, make(shape, wider), wider))[2]
    (_, _, old), (_, _, new) = next(parts(shape, state, space)), next(parts(shape, moved, wider))
    for at, c in enumerate([3, 1]):
        for i, j in enumerate([5, 0, 2]):
            if old.ndim == 2:
                assert new[c, j] == old[at, i]
            else:
                assert [new[c, j, k] for k in (5, 0, 2)] == old[at, i, :3].tolist()
    assert new[0].tolist() == begun[0].tolist()
    assert moved.n.own == 7.0
    assert rearrange(shape, state, space, wider, [0, 1], None).n.own == 7.0


def test_supports_keep_their_order_and_get_the_features_of_the_other() -> None:
    shape, state, space = filled(plain, "kernel", "diagonal", 2)
    put_rows(state, [([0, 2], [1.0, 2.0]), ([1], [3.0])])
    moved = rearrange(shape, state, space, enlarge(space, 9, 3), [2, 0], [8, 4, 6])
    assert rows_of(moved) == [([6, 8], [2.0, 1.0]), ([4], [3.0])]  # sorted by feature
    (_, _, old), (_, _, new) = next(parts(shape, state, space)), next(parts(shape, moved, enlarge(space, 9, 3)))
    assert new[2].tolist() == old[0].tolist()
    assert new[0].tolist() == old[1].tolist()
    assert not new[1].any()


def test_two_states_share_the_supports_of_both() -> None:
    (shape, first, space), (_, second, other) = filled(plain, "kernel", "diagonal", 3), filled(plain, "kernel", "", 4)
    put_rows(first, [([0], [1.0])])
    put_rows(second, [([0, 1], [4.0, 5.0]), ([2], [6.0])])
    first.f.coef[2:] = 0.0
    larger, alike, wide = share_supports(shape, first, second, (space, other))
    assert rows_of(larger) == [([0], [1.0]), ([0, 1], [4.0, 5.0]), ([2], [6.0])]
    (_, _, mine), (_, _, theirs) = next(parts(shape, larger, wide)), next(parts(shape, alike, wide))
    assert mine[:, :3].tolist() == [[a, 0.0, 0.0] for a in first.f.coef[:2].tolist()]
    assert theirs[:, :3].T.ravel().tolist() == [0.0, 0.0, *second.f.coef.tolist()]
    assert alike.n.own == larger.n.own == 7.0


def test_a_sample_of_rows_cannot_be_rearranged() -> None:
    fields = {"f": reservoir}
    shape, space = Shape(fields, field_counters(fields)), Space("sparse", room=2)
    with pytest.raises(Error, match="sample of rows"):
        rearrange(shape, make(shape, space), space, space, [0], None)


def put_rows(state: State, rows: list[tuple[list[int], list[float]]]) -> None:
    bank = bank_of(state)
    for idx, val in rows:
        numbers = np.array([np.dot(val, val)]), np.zeros(1), np.array([int(bank.n[0])])
        add_rows(bank, BankRows(np.array([0, len(idx)]), np.array(idx, np.uint32), np.array(val), *numbers))


def rows_of(state: State) -> list[tuple[list[int], list[float]]]:
    rows = read_rows(bank_of(state))
    bounds = [(int(rows.start[i]), int(rows.start[i + 1])) for i in range(rows.sq.size)]
    return [(rows.idx[first:last].tolist(), rows.val[first:last].tolist()) for first, last in bounds]
