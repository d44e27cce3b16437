"""Ratings from rows of streams: columns of numbers, names of categories, and columns that are left out."""

import copy
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.data.blocks import Rows, SparseBlock
from noregret.decomposition.rating_columns import Ratings
from noregret.decomposition.rating_stream import RowReader


def ratings(users: list[Any], items: list[Any], beside: list[Any] | None) -> Ratings:
    return Ratings(users, items, beside)


def make_rows(names: list[str] | None, *cells: dict[int, float]) -> Rows:
    """A row for each dict of values by column, with room to spare behind the last."""
    indptr = np.cumsum([0, *map(len, cells)])
    idx = np.array([at for row in cells for at in row] + [0], np.int32)
    val = np.array([value for row in cells for value in row.values()] + [7.0])
    return Rows(SparseBlock(indptr, idx, val, max(idx, default=-1) + 1), names)


def test_numbers_and_categories_are_read_by_the_names_of_columns() -> None:
    names = ["user", "item=a", "rating", "item=b=c", "timestamp", "time.hour=3", "item="]
    X = make_rows(names, {0: 0.0, 1: 1.0, 2: 4.0}, {0: 8.0, 3: 1.0, 2: 0.0, 4: 9.0, 5: 1.0}, {0: 7.0, 2: 1.0, 6: 1.0})
    assert RowReader().read(X) == ratings([0.0, 8.0, 7.0], ["a", "b=c", ""], [4.0, 0.0, 1.0])
    assert RowReader().read(make_rows(names, {0: 3.0, 1: 1.0})) == ratings([3.0], ["a"], None)
    assert RowReader().read(make_rows(names)) == ratings([], [], None)


def test_rows_without_names_are_two_columns_or_three() -> None:
    reader = RowReader()
    assert reader.read(make_rows(None, {0: 3.0, 1: 1.0}, {1: 2.0})) == ratings([3.0, 0.0], [1.0, 2.0], None)
    assert reader.read(make_rows(None, {0: 3.0, 1: 1.0, 2: 5.0})) == ratings([3.0], [1.0], [5.0])
    with pytest.raises(nr.BadValue, match="two columns, user and item"):
        reader.read(make_rows(None, {0: 3.0, 3: 1.0}))


def test_names_may_grow_and_streams_may_change() -> None:
    reader = RowReader()
    first, grown, other = ["user=a", "item=x"], ["user=a", "item=x", "user=b", "item=y"], ["item=z", "user=a", "item=x"]
    row, new = {0: 1.0, 1: 1.0}, {2: 1.0, 3: 1.0}
    for _ in range(2):
        assert reader.read(make_rows(first, row)) == ratings(["a"], ["x"], None)
        assert reader.read(make_rows(grown, new, row)) == ratings(["b", "a"], ["y", "x"], None)
        assert reader.read(make_rows(other, {0: 1.0, 1: 1.0}, {1: 1.0, 2: 1.0})) == ratings(
            ["a", "a"], ["z", "x"], None
        )
        with pytest.raises(nr.BadValue, match=r"^unknown column 'genre'; a rating has user, item, rating, time: leave"):
            reader.read(make_rows([*other, "genre"], row))
        assert reader.known.roles.size == len(reader.known.categories) == 3


def test_rows_are_read_by_their_own_names_while_another_thread_reads_others() -> None:
    other = make_rows(["item=a", "user=x", "item=b"], {0: 1.0, 1: 1.0})

    class Shared(RowReader):
        def read_names(self, names: Any) -> Any:
            found = super().read_names(names)
            if names != other.names:
                self.read(other)
            return found

    assert Shared().read(make_rows(["user=a", "item=x"], {0: 1.0, 1: 1.0})) == ratings(["a"], ["x"], None)


def test_names_that_were_read_are_read_no_more() -> None:
    asked = list[str]()

    class Counting(RowReader):
        def find_role(self, column: str) -> str:
            asked.append(column)
            return super().find_role(column)

    reader = Counting({"who": "user", "what": "item"})
    names = ["who=a", "what=x"]
    for more in ([], ["what=y"], []):
        names = [*names, *more]
        reader.read(make_rows(names, {0: 1.0, 1: 1.0}))
    assert asked == ["who", "what", "what"]


def test_columns_that_are_named_are_read_and_others_left_out() -> None:
    reader = RowReader({"customer": "user", "item": "item", "user": "rating"})
    X = make_rows(["customer", "user", "userid", "item=x", "genre=y", "rating"], dict.fromkeys(range(6), 4.0))
    for one in (reader, copy.deepcopy(reader)):
        assert one.read(X) == ratings([4.0], ["x"], [4.0])
    assert copy.deepcopy(reader).known.names == ()


@pytest.mark.parametrize(("cells", "problem"), [
    ([{0: 1.0, 2: 1.0}, {2: 1.0}], "row 1: the user is missing"),
    ([{0: 1.0, 2: 1.0}, {0: 1.0}, {0: 1.0, 2: 1.0}], "row 1: the item is missing"),
    ([{0: 1.0, 2: 1.0, 3: 1.0}, {0: 1.0, 2: 1.0}], "row 1: the rating is missing"),
    ([{0: 1.0, 2: 1.0}, {0: 1.0, 2: 1.0}, {0: 1.0, 1: 1.0, 2: 1.0}],
     "row 2: there is more than one user; leave one of the columns out"),
])  # fmt: skip
def test_rows_that_lack_a_column_or_have_it_twice_are_refused(cells: Any, problem: str) -> None:
    with pytest.raises(nr.BadValue, match=f"^{problem}$") as error:
        RowReader().read(make_rows(["user", "user_id", "item", "rating"], *cells))
    assert f"row {error.value.row}:" in problem


def test_one_row_of_a_stream_is_learned_as_a_pair() -> None:
    one, other = (nr.make("rating_biases", native=False) for _ in range(2))
    one.learn_one(make_rows(["user", "item=x"], {0: 7.0, 1: 1.0}), 3.0)
    other.learn_one((7, "x"), 3.0)
    assert one.dump()[0] == other.dump()[0]
