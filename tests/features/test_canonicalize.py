"""Names and rows under other numbers: what grows is known by itself, and rows are sorted again."""

import numpy as np
import pytest

import noregret as nr
from noregret.data.blocks import LARGEST_INDEX, Rows, SparseBlock, check_rows, find_order, sort_rows
from noregret.errors import BadValue
from noregret.features import canonicalize
from noregret.features.names import GrowingNames, Names, extends
from noregret.learner.transform_loops import renumber_rows


def block(rng: np.random.Generator, rows: int, width: int, longest: int) -> SparseBlock:
    sizes = rng.integers(0, longest, rows)
    indptr = np.concatenate(([0], np.cumsum(sizes)))
    idx = rng.integers(0, width, int(indptr[-1])).astype(np.int32)
    return SparseBlock(indptr, idx, rng.integers(-9, 10, idx.size).astype(float), width)


@pytest.mark.parametrize("longest", [2, 17, 40, 65, 255, 258, 300, 1500])
@pytest.mark.thinned(4)
def test_rows_with_other_numbers_are_sorted_and_summed_as_numpy_does_it(longest: int) -> None:
    rng = np.random.default_rng(longest)
    given = block(rng, 30, 400, longest)
    numbers = rng.permutation(400).astype(np.int32)
    expected = sort_rows(given._replace(idx=numbers[given.idx]))
    before = given.idx.copy()

    def plain(table: np.ndarray, new: np.ndarray, indptr: np.ndarray, idx: np.ndarray, *others: np.ndarray) -> None:
        canonicalize.renumber(int(table[canonicalize.NEW_ONLY]), new, indptr, idx, others[0], (others[1], others[2]))

    for found in (renumber_rows(numbers, given), canonicalize.renumber_block(numbers, given, plain)):
        assert check_rows(found) == 0
        for mine, other in zip(found[:3], expected[:3], strict=True):
            np.testing.assert_array_equal(mine, other)
    np.testing.assert_array_equal(given.idx, before)


def test_entries_are_in_the_order_of_their_rows_and_features() -> None:
    """Whatever the features are: those that are too large or negative are refused only later."""
    rows = np.repeat(np.arange(3), [40, 0, 60])
    for low, high in ((0, 7), (-3, 7), (0, LARGEST_INDEX), (2**62, 2**63 - 1), (-(2**63), 0)):
        ends = np.array([low, high, low, high])
        idx = np.concatenate((ends, np.random.default_rng(high % 97).integers(low, high, 92), ends))
        assert find_order(rows, idx).tolist() == sorted(range(100), key=lambda k: (rows[k], idx[k]))
    assert find_order(rows[:0], idx[:0]).tolist() == []


@pytest.mark.parametrize("longest", [3, 30, 257, 700])
def test_values_of_one_feature_are_summed_in_their_order_and_a_negative_zero_stays_one(longest: int) -> None:
    rng = np.random.default_rng(longest)
    given = block(rng, 40, 20, longest)
    val = np.where(given.val == 0.0, -0.0, given.val / 7.0 * 10.0 ** rng.integers(-9, 9, given.val.size))
    given, numbers = given._replace(val=val), rng.permutation(20).astype(np.int32)
    found = renumber_rows(numbers, given)
    for row in range(given.rows):
        sums: dict[int, float] = {}
        for k in range(given.indptr[row], given.indptr[row + 1]):
            number = int(numbers[given.idx[k]])
            sums[number] = sums[number] + float(val[k]) if number in sums else float(val[k])
        part = slice(found.indptr[row], found.indptr[row + 1])
        assert found.idx[part].tolist() == sorted(sums)
        assert list(map(repr, found.val[part].tolist())) == [repr(sums[number]) for number in sorted(sums)]


def test_a_list_that_grows_is_known_by_itself() -> None:
    names = [f"n{j}" for j in range(1000)]
    few, many = GrowingNames(names, 3), GrowingNames(names, 900)
    assert extends(many, few)
    assert not extends(few, many)
    assert extends(many, names[:700])
    assert not extends(GrowingNames(["x", *names], 900), few)
    assert (few[2], few[-1], few[1:], list(few), len(many)) == ("n2", "n2", ["n1", "n2"], names[:3], 900)
    assert few == names[:3]
    assert names[:3] == GrowingNames(["n0", "n1", "n2", "x"], 3)
    assert few != names[:2]
    assert few != "n0"
    with pytest.raises(IndexError):
        few[3]


def test_names_of_a_stream_have_the_numbers_that_single_names_have() -> None:
    names = [f"n{j}" for j in range(2000)]
    for before in ([], ["n7", "other"], names[:5]):
        known = Names()
        known.known.update({name: number for number, name in enumerate(before)})
        for size in (300, 301, 900, 900, 2000, 400, 2000):
            found = known.add_names(GrowingNames(names, size))
            assert found.numbers.tolist() == [known.known[name] for name in names[:size]]
            assert found.identity == (found.numbers.tolist() == list(range(size)))
            assert found.increasing == bool((np.diff(found.numbers) > 0).all())
        assert sorted(known.known.values()) == list(range(len(known.known)))
        strange = [*names[:500], "stranger", *names[500:]]
        for size in (400, 800, 2001):
            looked = known.look_up(GrowingNames(strange, size))
            assert looked.all_known == (size <= 500)
            assert looked.numbers.tolist() == [known.known.get(name, len(known.known)) for name in strange[:size]]


def test_names_of_a_stream_and_of_single_rows_are_one_vocabulary() -> None:
    """A learner that has met a stream only enters its names when asked; no order of batches and rows shows it."""
    rng = np.random.default_rng(5)
    names = [f"n{j}" for j in range(1200)]
    learner, twin = nr.make("pa1"), nr.make("pa1")
    for turn, size in enumerate((300, 400, 400, 700, 900, 1200)):
        given = block(rng, 20, size, 9)
        y = rng.choice([-1, 1], 20)
        given = sort_rows(given)
        learner.learn(Rows(given, GrowingNames(names, size)), y)
        if turn in (0, 4):
            endless = given._replace(val=np.full_like(given.val, np.inf), ready=False)
            with pytest.raises(BadValue):
                learner.learn(Rows(endless, GrowingNames(names, size + 50)), y)
        pairs = zip(given.indptr[:-1], given.indptr[1:], strict=True)
        twin.learn([{}, dict.fromkeys(names[:size], 0.0)], [1, 1])  # numbers in the order of the stream
        learner.learn([{}, {}], [1, 1])
        twin.learn([{names[j]: given.val[k] for k, j in enumerate(given.idx[a:b], a)} for a, b in pairs], y)
        if turn in (1, 3):
            row = {"n3": 1.0, f"n{size - 1}": -2.0, f"alone{turn}": 1.0}
            for one in (learner, twin):
                one.learn_one(row, 1)
                one.learn_one(row, -1)
        assert learner.model.names.size == twin.model.names.size
    assert learner.model.names.as_list() == twin.model.names.as_list()
    assert learner.mistakes == twin.mistakes
    np.testing.assert_array_equal(learner.model.arrays.w, twin.model.arrays.w)
