"""The table of ratings by user and item, and how loops over arrays are run."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.decomposition import rating_loops, rating_table
from noregret.decomposition.document_loops import place_values
from noregret.decomposition.rating_table import Known, Loop, add_rating, count_slots, fill_lists, find_slot
from noregret.learner.model_file import pack


def make_known(users: Any, items: Any, slots: int) -> Known:
    """Ratings that are in no list yet."""
    who, what = np.array(users, np.int32), np.array(items, np.int32)
    heads, table = np.full(who.max() + 1, -1, np.int32), np.full(slots, -1, np.int32)
    return Known(who, what, np.arange(who.size) / who.size, np.zeros(who.size, np.int32), heads, table)


# ---- the table -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [16, 128])
def test_a_rating_stands_in_the_first_empty_slot_from_that_of_its_user_and_item_on(size: int) -> None:
    """Each search finds what a dict finds, also of pairs without a rating, in tables that are half full."""
    everything = [(int(n) // 8 * 1000, int(n) % 8) for n in np.random.default_rng(4).permutation(64)]
    for first in range(0, 64, size // 2):
        pairs = everything[first : first + size // 2]
        known, numbers = make_known([u for u, _ in pairs], [i for _, i in pairs], size), dict[tuple[int, int], int]()
        slots = [-1] * size
        for n, (u, i) in enumerate(pairs):
            mixed = u * 40503 + i * 1000003
            at = (mixed ^ mixed >> 15) % size
            while slots[at] >= 0:
                at = (at + 1) % size
            assert find_slot(known, u, i) == at
            add_rating(known, at, n, u, i, 0.5)
            slots[at] = numbers[u, i] = n
        assert known.table.tolist() == slots
        for pair in itertools.product(range(0, 9000, 1000), range(9)):
            assert known.table[find_slot(known, *pair)] == numbers.get(pair, -1)


def test_ratings_are_listed_by_user_and_those_that_are_there_twice_are_counted() -> None:
    known = make_known([0, 1, 0, 0, 1, 0], [2, 2, 1, 2, 2, 2], 16)
    assert fill_lists(known, 5, native=False) == 2
    assert (known.heads.tolist(), known.later.tolist()) == ([2, 1], [-1, -1, 0, 0, 0, 0])
    assert sorted(known.table[known.table >= 0].tolist()) == [0, 1, 2]
    assert fill_lists(make_known([3, 3], [0, 1], 8), 2, native=False) == 0


def test_the_table_is_a_power_of_two_and_at_most_half_full() -> None:
    assert [count_slots(n) for n in (0, 1, 4, 5, 8, 9, 70_000)] == [8, 8, 8, 16, 16, 32, 2**18]


# ---- loops -----------------------------------------------------------------------------------------------------------


class Interpreted:
    """Stands for the compiler: values are read where they were written, and the entry runs as plain Python."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.patch, self.values, self.written = patch, dict[tuple[int, int], Any](), list[str]()
        patch.setattr(rating_table, "get_function", self.get_function)
        patch.setattr(rating_table, "fill", self.fill)
        patch.setattr(rating_table, "address", id)

    def fill(self, table: Any, slot: int, value: Any) -> None:
        self.values[id(table), slot] = value
        self.written.append(type(value).__name__)

    def get_function(self, entry: Callable[[Any], int], places: dict[str, Any]) -> Any:
        module = rating_table if entry.__module__ == rating_table.__name__ else rating_loops

        def run(where: int) -> int:
            for name, (slot, _) in places.items():
                self.patch.setattr(module, f"read_{name}", lambda _, slot=slot: self.values[where, slot])
            return entry(np.zeros(0, np.int64))

        return type("Entry", (), {"run": staticmethod(run)})


@pytest.mark.parametrize("options", [{}, {"model": "rmf", "method": "da"}], ids=["pmf", "rmf"])
def test_compiled_loops_read_what_plain_ones_are_given(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after all arrays have grown, and where the same arrays are read again."""
    compiler = Interpreted(monkeypatch)
    one: Any = nr.make("factorisation", k=2, native=True, **options)
    other: Any = nr.make("factorisation", k=2, native=False, **options)
    for size in (1, 4, 3, 2, 30):
        rows, y = [(user, item) for user in range(size) for item in range(3)], [1.0, 3.0, 4.0] * size
        assert one.play(rows, y).predictions.tolist() == other.play(rows, y).predictions.tolist()
        assert one.predict(rows).tolist() == other.predict(rows).tolist()
    assert one.ratings_of(2) == other.ratings_of(2)
    assert one.dump()[1].keys() == other.dump()[1].keys()
    assert all(np.array_equal(array, other.dump()[1][name]) for name, array in one.dump()[1].items())
    compiler.written.clear()
    one.learn([(1, 1), (2, 2)], [2.0, 2.0])
    assert compiler.written == ["Rounds"]  # all else stands there already


def make_loop(ends: int = 0) -> Loop:
    """A loop that adds a number to an array."""

    def add(values: Any, number: Any) -> None:
        values += number

    def add_entry(table: Any) -> int:
        return ends

    return Loop(add, add_entry, {"values": np.zeros(1), "number": np.zeros(1)}, "number")


def test_what_could_not_be_written_is_written_again(monkeypatch: pytest.MonkeyPatch) -> None:
    written, fails = list[float](), [False]

    def fill(table: Any, slot: int, value: Any) -> None:
        if fails[0]:
            raise MemoryError
        written.append(float(value[0]))

    monkeypatch.setattr(rating_table, "fill", fill)
    monkeypatch.setattr(rating_table, "get_function", lambda entry, _: type("", (), {"run": lambda _: entry(None)}))
    loop, first, second, number = make_loop(), np.array([1.0]), np.array([2.0]), np.array([3.0])
    loop.run(True, values=first, number=number)
    fails[0] = True
    with pytest.raises(MemoryError):
        loop.run(True, values=second, number=number)
    fails[0] = False
    loop.run(True, values=first, number=number)
    assert written == [1.0, 3.0, 1.0, 3.0]
    assert list(loop.filled) == ["values"]
    with pytest.raises(IndexError, match=r"^add_entry reached out of its arrays$"):
        make_loop(1).run(True, values=first, number=number)


def test_a_call_inside_a_call_has_a_table_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    written, ran, inside = dict[int, float](), list[tuple[int, float]](), [False]

    def fill(table: Any, slot: int, value: Any) -> None:
        written[id(table)] = float(value[0])
        if not inside[0]:
            inside[0] = True
            loop.run(True, number=np.array([2.0]))  # as a signal handler would

    def run(table: int) -> int:
        ran.append((table, written[table]))
        return 0

    monkeypatch.setattr(rating_table, "fill", fill)
    monkeypatch.setattr(rating_table, "address", id)
    monkeypatch.setattr(rating_table, "get_function", lambda entry, _: type("", (), {"run": staticmethod(run)}))
    loop = make_loop()
    loop.run(True, number=np.array([1.0]))
    (inner, two), (outer, one) = ran
    assert (two, one) == (2.0, 1.0)
    assert inner != outer
    assert loop.filled == {}


def test_a_loop_has_a_slot_for_each_word_and_a_copy_its_own() -> None:
    loop: Any = nr.make("factorisation", k=2, native=False).learn([(1, 1)], [2.0])
    copy = loop.copy()
    assert pack(copy) == pack(loop)
    for mine, other in ((loop.state.play, copy.state.play), (loop.state.score, copy.state.score)):
        assert (mine.table.size, mine.once, mine.function) == (other.table.size, other.once, other.function)
        assert mine.table is not other.table
        last, example = max(mine.places.values(), key=lambda place: place[0])
        assert mine.table.size == last + place_values({"it": example})[1]


def test_overflows_of_plain_loops_do_not_warn() -> None:
    values = np.array([1e308])
    make_loop().run(False, values=values, number=np.array([1e308]))
    assert values[0] == np.inf
