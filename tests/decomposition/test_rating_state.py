"""What learners of ratings know: factors that are drawn, room that grows, and calls that are undone."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.decomposition.rating_state import RatingState, Shape, are_finite, find_touched, grow_side, resize
from noregret.learner.model_file import pack

PAIRS, Y = [(7, 1), (8, 2), (7, 2), (0, 1), (7, 1)], [4.0, 1.0, 5.0, 3.0, 2.0]


def make(name: str = "factorisation", **options: Any) -> Any:
    sizes = {"k": 2} if name == "factorisation" else {}
    return nr.make(name, native=False, **sizes, **options)


# ---- factors that are drawn ------------------------------------------------------------------------------------------


def test_factors_are_drawn_in_blocks_of_64_each_by_a_generator_of_its_own() -> None:
    """So they are the same however users and items come, and after a file was read."""
    shape = Shape(3, False, 5, False)
    for side in (0, 1):
        drawn = [0.1 * np.random.Generator(np.random.Philox(key=np.array([5, number], np.uint64))).normal(size=(64, 3))
                 for number in range(side, 8, 2)]  # fmt: skip
        expected = np.concatenate(drawn)
        for first, last in ((0, 1), (0, 64), (63, 65), (64, 128), (70, 71), (127, 128), (100, 256)):
            assert shape.draw(side, first, last).tolist() == expected[first:last].tolist()
    assert Shape(0, False, 5, False).draw(0, 3, 5).shape == (2, 0)


def test_users_who_come_one_by_one_share_the_block_of_factors_that_was_drawn_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw, drawn = Shape.draw_block, list[int]()

    def counted(shape: Shape, number: int) -> Any:
        drawn.append(number)
        return draw(shape, number)

    monkeypatch.setattr(Shape, "draw_block", counted)
    learner = make()
    for user in range(130):
        learner.learn([(user, 0)], [3.0])
    assert drawn == [0, 1, 2, 4]  # for 64 users each, and for items


@pytest.mark.parametrize("ends", [(10, 70, 100), (63, 64, 65, 130), (64, 128, 129), (1, 64, 200)])
def test_users_may_come_in_any_portions(ends: tuple[int, ...]) -> None:
    whole, learner = make(), make()
    whole.learn([(user, 0) for user in range(ends[-1])], [3.0] * ends[-1])
    for first, last in zip((0, *ends), ends, strict=False):
        learner.learn([(user, 0) for user in range(first, last)], [3.0] * (last - first))
    assert pack(learner) == pack(whole)


# ---- room ------------------------------------------------------------------------------------------------------------


def test_arrays_grow_to_twice_their_size_or_more() -> None:
    array = np.arange(6, dtype=np.int32).reshape(3, 2)
    assert resize(array, 2) is resize(array, 3) is array
    for size, room in ((4, 6), (6, 6), (7, 7)):
        larger = resize(array, size)
        assert larger.dtype == np.int32
        assert larger.tolist() == [*array.tolist(), *[[0, 0]] * (room - 3)]


def test_rows_that_are_new_hold_nothing_but_their_factors() -> None:
    side = Shape(2, True, 0, False).make_side(4)
    for array in side:
        array[:] = 3
    for size in (3, 9):
        grown = grow_side(side, 2, size, np.full((size - 2, 2), 0.5))
        assert grown.factors[:size].tolist() == [[3.0, 3.0]] * 2 + [[0.5, 0.5]] * (size - 2)
        assert grown.averages[:size].tolist() == [[3.0, 3.0]] * 2 + [[0.0, 0.0]] * (size - 2)
        for array in (grown.sums, grown.counts, grown.steps):
            assert array[:size].tolist() == [3] * 2 + [0] * (size - 2)


def rooms(state: RatingState) -> list[int]:
    """For how many users, items and ratings there is room, and the slots of the table."""
    known = state.known
    assert len(known.heads) >= state.users
    assert len(known.users) == len(known.items) == len(known.ratings) == len(known.later)
    return [len(state.of_users.sums), len(state.of_items.sums), len(known.users), len(known.table)]


def test_room_is_made_when_it_is_needed() -> None:
    learner = make()
    assert (rooms(learner.state), learner.state.ratings) == ([8, 8, 8, 16], 0)
    for users, items, expected in ((8, 1, [8, 8, 8, 16]), (9, 2, [16, 8, 26, 128]), (1, 8, [16, 8, 26, 128]),
                                   (3, 9, [16, 16, 52, 128]), (4, 9, [16, 16, 104, 512])):  # fmt: skip
        table = learner.state.known.table
        learner.learn([(user, item) for user in range(users) for item in range(items)], [3.0] * users * items)
        assert rooms(learner.state) == expected
        assert (learner.state.known.table is table) == (len(table) == expected[-1])
    assert (learner.state.users, learner.state.items, learner.state.ratings) == (9, 9, 46)
    known, sides = learner.state.known, (learner.state.of_users, learner.state.of_items)
    learner.learn([(0, 0)], [1.0])
    assert learner.state.known is known  # nothing is written again for a compiled loop
    assert all(new is old for new, old in zip((learner.state.of_users, learner.state.of_items), sides, strict=True))


def test_users_may_come_one_by_one() -> None:
    rows, ratings = [(user, item) for item in range(2) for user in range(40)], [1.0 + n % 5 for n in range(80)]
    one, other = make(model="rmf").learn(rows, ratings), make(model="rmf")
    for row, rating in zip(rows, ratings, strict=True):
        other.learn_one(row, rating)
    assert pack(one) == pack(other)
    for learner in (one, other):
        assert [len(learner.ratings_of(user)) for user in range(40)] == [2] * 40


def test_there_is_room_for_the_items_of_a_user_only_where_there_are_factors() -> None:
    learner, biases = make(model="rmf"), make("rating_biases")
    for user, items, expected in (("a", 0, 0), ("a", 3, 6), ("b", 2, 6), ("a", 3, 6), ("b", 4, 6), ("b", 3, 14)):
        rows = [(user, item) for item in range(items)]
        for one in (learner, biases):
            one.learn(rows, [3.0] * items)
        assert [array.size for array in learner.state.memory] == [expected] * 4 + [2] * 2
    assert [array.size for array in biases.state.memory] == [0] * 6


def test_averages_take_room_only_where_they_are_used() -> None:
    assert [make(method=method).state.of_users.averages.shape for method in ("sgd", "da")] == [(8, 0), (8, 2)]


def test_values_are_finite_also_where_their_sum_is_not() -> None:
    large, lost = np.full(2, 1e308), np.array([1.0, np.nan])
    assert are_finite([large, np.zeros((2, 0))])
    assert are_finite([large, -large])
    assert are_finite([])
    assert not are_finite([large, lost])
    assert not are_finite([-large, np.array([np.inf])])


def test_each_number_is_touched_once() -> None:
    for numbers in ([3], [], [5, 3, 5, 5, 0], [*range(99), *range(99)]):
        assert sorted(find_touched(np.array(numbers, np.int64)).tolist()) == sorted(set(numbers))


# ---- calls that are undone -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [0, 8, 40])
@pytest.mark.parametrize("options", [{}, {"method": "da", "model": "rmf"}], ids=["sgd", "da"])
def test_a_call_that_fails_is_undone_wherever_it_was(
    before: int, options: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each number of rounds that were played: none, some, all; with all arrays full, or not."""
    old, old_y = [(n % 8, n // 8) for n in range(before)], [1.0 + n % 5 for n in range(before)]
    new = [(0, 0), (7, 9), (8, 0), (7, 9), (0, 0), (0, 0), (7, 9), (1, 1)]
    learner, twin = (make(**options).learn(old, old_y) for _ in range(2))
    for played in range(len(new) + 1):
        play = learner.state.play.run

        def stop(native: bool, played: int = played, play: Any = play, **values: Any) -> None:
            rounds = values["rounds"]
            play(native, **{**values, "rounds": type(rounds)(*(array[:played] for array in rounds))})
            raise KeyboardInterrupt

        monkeypatch.setattr(learner.state.play, "run", stop)
        with pytest.raises(KeyboardInterrupt):
            learner.learn(new, [5.0, 4.0, 3.0, 2.0, 1.0, 2.0, 3.0, 4.0])
        monkeypatch.undo()
        assert pack(learner) == pack(twin)
        assert all(learner.ratings_of(user) == twin.ratings_of(user) for user in range(9))
    for one in (learner, twin):
        one.learn(new[::-1], [3.0] * 8)
    assert pack(learner) == pack(twin)
