"""Conjunctions of several features, also negated ones: truth tables, other ways to the same rows, limits."""

import math
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.features.hashing import hash_name
from noregret.features.transforms import parse_transform
from noregret.learner.model_file import pack
from tests.features.passing import after, stream, y
from tests.features.test_feature_selectors import cell
from tests.support.encoding import encoded

BITS = np.array(list(product((0.0, 1.0), repeat=3)))
NAMED = [{name: value for name, value in zip("abc", row, strict=True) if value} for row in BITS.tolist()]


def interpreted(steps: Any, **how: Any) -> nr.RuleLearner:
    learner: nr.RuleLearner = steps | nr.make("pa1", native=False, **how)
    return learner


# ---- what they are -------------------------------------------------------------------------------------------------


def test_products_of_up_to_three_features_and_of_negated_ones() -> None:
    learner = interpreted(nr.conjunctions(3, negate="c"))
    assert after(learner, [{"b": 2.0, "a": 3.0}, {"a": 5.0, "b": 7.0, "c": 1.0}]) == [
        {"b": 2.0, "a": 3.0, "not c": 1.0, "b*a": 6.0, "b*not c": 2.0, "a*not c": 3.0, "b*a*not c": 6.0},
        {"a": 5.0, "b": 7.0, "c": 1.0, "b*a": 35.0, "b*c": 7.0, "a*c": 5.0, "b*a*c": 35.0},
    ]


def test_any_boolean_function_is_linear_in_the_conjunctions_of_all_its_variables() -> None:
    rows = after(interpreted(nr.conjunctions(3, negate=list("abc"))), NAMED)
    names = sorted({name for row in rows for name in row})
    assert len(names) == 3**3 - 1  # each variable as it is, negated or left out, but not all left out
    full = [name for name in names if name.count("*") == 2]
    table = np.array([[row.get(name, 0.0) for name in full] for row in rows])
    assert np.array_equal(table.sum(axis=0), np.ones(8))  # each full conjunction is true in one row of the truth table
    assert np.array_equal(table.sum(axis=1), np.ones(8))


def test_parity_of_three_is_learned_with_products_of_three_and_not_of_two() -> None:
    parity = [int(row.sum()) % 2 for row in BITS]
    for order, learned in ((2, False), (3, True)):
        learner = nr.conjunctions(order) | nr.make("perceptron", bias=True, native=False)
        for _ in range(60):
            learner.learn(NAMED, parity)
        assert (learner.predict(NAMED).tolist() == parity) == learned


def test_a_feature_that_is_zero_or_absent_is_false() -> None:
    for row in ({"a": 1.0}, {"a": 1.0, "b": 0.0}):
        (found,) = after(interpreted(nr.conjunctions(2, negate=["a", "b"])), [row])
        assert found == {**row, "not b": 1.0, "a*not b": 1.0}
    assert after(interpreted(nr.conjunctions(2, negate=["a", "b"])), [{}]) == [
        {"not a": 1.0, "not b": 1.0, "not a*not b": 1.0}
    ]


def test_a_negated_namespace_is_true_where_none_of_its_features_is() -> None:
    learner = interpreted(nr.conjunctions(1, negate=["city"]))
    found = after(learner, [{"city=Rome": 1.0}, {"city=Bonn": 0.0, "x": 0.5}, {"cityscape": 2.0}])
    assert ["not city" in row for row in found] == [False, True, True]


def test_matrices_dicts_and_sparse_matrices_become_the_same_rows() -> None:
    X = np.round(np.random.default_rng(4).random((20, 5)))
    steps = nr.conjunctions(3, negate=range(5))
    dicts = [{j: value for j, value in enumerate(row) if value} for row in X.tolist()]
    expected = after(interpreted(steps), dicts)
    assert after(interpreted(steps), csr_array(X)) == expected
    dense = after(interpreted(steps), X)
    assert [{name: value for name, value in row.items() if value} for row in dense] == expected


def test_products_of_two_are_those_of_pairs() -> None:
    rows = [{name: value for name, value in row.items() if value} for row in stream("pairs")]
    mine, its = (interpreted(steps).learn(rows, y) for steps in (nr.conjunctions(), nr.pairs()))
    assert set(mine.features) == set(its.features)
    assert mine.scores(rows) == pytest.approx(its.scores(rows), abs=1e-12)


def test_negated_features_and_their_products_are_not_scaled() -> None:
    learner = (nr.conjunctions(3, negate=list("ab")) | nr.scale() | nr.make("pa1", native=False)).learn(
        NAMED, [0, 1] * 4
    )
    assert after(learner, [{}], learn=False) == [{"not a": 1.0, "not b": 1.0, "not a*not b": 1.0}]


# ---- made in parts, and by hash ------------------------------------------------------------------------------------


def test_many_products_are_made_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = nr.one_hot(only="f0") | nr.conjunctions(3, negate="f0")
    whole = interpreted(steps).learn(stream("pairs"), y)
    for piece in (1, 10):
        monkeypatch.setattr("noregret.features.conjunctions.BATCH", piece)
        assert pack(interpreted(steps).learn(stream("pairs"), y)) == pack(whole)


def test_hashed_products_are_hashed_from_the_hashes_of_their_parts() -> None:
    given = {"a": 3.0, "b": 6.0, "c": 8.0, "d": 9.0}
    block: Any = encoded(interpreted(nr.conjunctions(3), bits=12), [given], True, False)
    row = {hash_name(name) % 2**12: value if (hash_name(name) >> 31) & 1 else -value for name, value in given.items()}
    row = dict(sorted(row.items()))
    expected = dict(row)
    for a, b in combinations(row, 2):
        expected[cell(a, b, 12)] = expected.get(cell(a, b, 12), 0.0) + row[a] * row[b]
    for a, b, c in combinations(row, 3):
        place = cell(cell(a, b, 64), c, 12)
        expected[place] = expected.get(place, 0.0) + row[a] * row[b] * row[c]
    assert dict(zip(block.idx.tolist(), block.val.tolist(), strict=True)) == expected


@pytest.mark.parametrize("bits", [3, 12])
def test_hashed_rows_can_be_negated_and_survive_chunks(bits: int) -> None:
    steps = nr.conjunctions(3, negate=["a", "city"])
    rows = [{"a": 1.0, f"city={t % 3}": 1.0, f"b{t % 5}": 2.0} if t % 2 else {"b1": 1.0} for t in range(40)]
    labels = [t % 2 for t in range(40)]
    whole, ones = (interpreted(steps, bits=bits) for _ in range(2))
    whole.learn(rows, labels)
    for row, label in zip(rows, labels, strict=True):
        ones.learn_one(row, label)
    assert pack(whole) == pack(ones) == pack(whole.copy())


# ---- refused -------------------------------------------------------------------------------------------------------


def test_rows_that_would_become_too_many_features_are_refused() -> None:
    learner = interpreted(nr.conjunctions(3, limit=7, negate="z")).learn([{"a": 1.0, "b": 1.0}], [1])
    before = pack(learner)
    with pytest.raises(nr.BadValue, match=r"^row 1: conjunctions of order 3 would make 14 features of its 4; the lim"):
        learner.learn([{"a": 1.0}, {"a": 1.0, "b": 1.0, "c": 1.0}], [1, 1])
    assert pack(learner) == before
    all_products = sum(math.comb(3000, factors) for factors in range(1, 17))
    with pytest.raises(nr.BadValue, match=rf"would make {all_products} features of its 3000; the limit is 20000, set"):
        interpreted(nr.conjunctions(16)).learn(np.ones((2, 3000)), [1, 1])


def test_calls_whose_rows_would_become_too_many_features_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noregret.features.conjunctions.MOST", 20)
    with pytest.raises(nr.BadValue, match=r"would make 28 features of these 4 rows; the most is 20: give fewer rows"):
        interpreted(nr.conjunctions(3)).learn(np.ones((4, 3)), [1, 0, 1, 0])


@pytest.mark.parametrize("value", [0.5, -1.0, 2.0])
def test_only_truth_values_are_negated(value: float) -> None:
    learner = interpreted(nr.conjunctions(negate=["b", "a"]))
    with pytest.raises(nr.BadValue, match=rf"^row 1: a feature of 'a' has the value {value:g}; only features that are"):
        learner.learn([{"a": 1.0}, {"b": 1.0, "a": value}], [1, -1])
    assert learner.rounds == 0


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ("conjunctions: order must be a whole number at least 1 and at most 16, not 2.5", {"order": 2.5}),
        ("conjunctions: order must be at least 1 and at most 16, not 0", {"order": 0}),
        ("conjunctions: order must be at least 1 and at most 16, not 17", {"order": 17}),
        ("conjunctions: limit must be at least 1 and at most 1e+07, not 0", {"limit": 0}),
        ('conjunctions: negate selects features by name, as in negate=["user", "ad"], not 1.5', {"negate": 1.5}),
    ],
)
def test_wrong_parameters_are_named(words: str, given: dict[str, Any]) -> None:
    with pytest.raises(nr.BadValue) as caught:
        nr.conjunctions(**given)
    assert words in str(caught.value)


def test_they_are_written_and_read_again() -> None:
    steps = nr.conjunctions(3, negate=["a", 7], only="a b")
    assert str(steps) == "conjunctions:order=3.0,limit=20000.0,negate=a+7,only=a%20b"
    assert parse_transform(str(steps)) == steps
    assert parse_transform("conjunctions:order=3,negate=a") == nr.conjunctions(3, negate="a")
