"""Whatever a user hands over is used as it was meant, or refused in a few words, and then nothing has changed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from noregret.learner.model_file import pack
from tests.support import by_name, by_number, refusal, refused, small_stream

X, Y = small_stream()
NAN, INF = float("nan"), float("inf")


def plain(rule: str = "pa1", **told: Any) -> nr.RuleLearner:
    return nr.make(rule, native=False, **told)


def learned(rows: Any = X, **told: Any) -> nr.RuleLearner:
    return nr.make("pa1", **told).learn(rows, Y)


def kept(learner: nr.RuleLearner, rows: Any = X) -> None:
    """After a refusal the learner goes on as one that never met it."""
    twin = nr.make(learner.card, **learner.config.given).learn(rows, Y).learn(rows, Y)
    assert pack(learner.learn(rows, Y)) == pack(twin)


def broken(indptr: Any, indices: Any, data: Any, shape: tuple[int, int] = (1, 4)) -> Any:
    """A sparse matrix with the insides told, which scipy would not have made."""
    matrix = sp.csr_matrix(shape)
    matrix.indptr, matrix.indices, matrix.data = np.array(indptr), np.array(indices), np.array(data, float)
    return matrix


# ---- make ---------------------------------------------------------------------------------------------------------

BAD_MAKE: list[tuple[Any, dict[str, Any], str]] = [
    ("pa11", {}, "did you mean 'pa1'?"),
    ("zzz", {}, "`noregret learners` lists them"),
    (None, {}, "a name or a decorated rule"),
    ("pa1", {"zzz": 1}, "no parameter 'zzz'; it takes C,"),
    ("pa1", {"clases": [1, 2]}, "did you mean 'classes'?"),
    ("ogd", {"eta": 0.1}, "did you mean 'eta0'?"),
    ("pa1", {"C": -1}, "C must be at least 0, not -1"),
    ("pa1", {"C": NAN}, "C must be at least 0, not nan"),
    ("pa1", {"C": INF}, "C must be at least 0, not inf"),
    ("pa1", {"C": 10**400}, "C must be at least 0"),
    ("pa1", {"C": "1"}, "C must be a number at least 0, not '1'"),
    ("pa1", {"C": None}, "C must be a number at least 0, not None"),
    ("pa1", {"C": True}, "not True"),
    ("pa1", {"C": np.complex128(1.0)}, "C must be a number"),
    ("pa1", {"C": np.zeros(2)}, "C must be a number"),
    ("pa1", {"task": "regresion"}, "did you mean 'regression'?"),
    ("pa1", {"task": ["binary"]}, "task must be one of"),
    ("perceptron", {"task": "regression"}, "it updates on mistakes, not on losses"),
    ("pa1", {"task": "regression", "eps": -1.0}, "eps must be at least 0"),
    ("pa1", {"eps": 0.1}, "no parameter 'eps'"),
    ("pa1", {"algebra": "sprse"}, "did you mean 'sparse'?"),
    ("pa1", {"algebra": {}}, "algebra must be one of"),
    ("winnow", {"algebra": "kernel"}, "it names extent, multiply"),
    ("arow", {"algebra": "kernel"}, "it names image, inner, move_and_sharpen"),
    ("pa1", {"covariance": "full"}, "keeps no covariance"),
    ("arow", {"covariance": "ful"}, "covariance must be one of"),
    ("pa1", {"kernel": "rbf"}, 'needs algebra="kernel"'),
    ("pa1", {"algebra": "kernel", "kernel": "rb"}, "did you mean 'rbf'?"),
    ("pa1", {"algebra": "kernel", "gamma": -1.0}, "gamma must be above 0"),
    ("pa1", {"algebra": "kernel", "kernel": "linear", "gamma": 1.0}, "no parameter 'gamma'"),
    ("ogd", {"loss": "hing"}, "did you mean 'hinge'?"),
    ("ogd", {"loss": ""}, "loss must be one of"),
    ("ogd", {"loss": "eps_insensitive"}, "does not fit binary"),
    ("ogd", {"task": "regression", "loss": "squared", "eps": 0.1}, "eps belongs to the eps_insensitive loss"),
    ("pa1", {"classes": 3}, "classes must be a list"),
    ("pa1", {"classes": "ab"}, "classes must be a list"),
    ("pa1", {"classes": ["a", "a"]}, "at least two different labels"),
    ("pa1", {"classes": [[1], [2]]}, "a label must be"),
    ("pa1", {"classes": [0.5, 1.0]}, 'task="regression"'),
    ("pa1", {"classes": ["a", "b", "c"], "task": "binary"}, "two classes, not 3"),
    ("pa1", {"classes": [1, 2], "task": "regression"}, "leave classes out"),
    ("pa1", {"class_weight": "even"}, "must map labels to weights, or be"),
    ("pa1", {"class_weight": {1: 2.0, "c": 1.0}, "classes": [1, -1]}, "names the class 'c', which is not one of"),
    ("pa1", {"class_weight": "balanced", "task": "regression"}, "leave class_weight out"),
    ("winnow", {"class_weight": "balanced"}, "cannot weigh rounds"),
    ("pa1", {"class_weight": "balanced", "labels": "asked", "classes": [1, -1]}, "not all are revealed"),
    ("pa1", {"class_weight": {1: -1.0}}, "at least 0"),
    ("pa1", {"class_weight": {1: 2.0}, "task": "regression"}, "leave class_weight out"),
    ("winnow", {"class_weight": {1: 2.0}}, "cannot weigh rounds"),
    ("pa1", {"seed": -1}, "seed must be a whole number"),
    ("pa1", {"native": "no"}, "native must be True or False"),
]


@pytest.mark.parametrize(("rule", "told", "words"), BAD_MAKE, ids=[f"{rule}-{told}" for rule, told, _ in BAD_MAKE])
def test_make_says_what_cannot_be_made(rule: Any, told: dict[str, Any], words: str) -> None:
    assert words in refusal(lambda: nr.make(rule, **told))


def test_numpy_numbers_are_numbers() -> None:
    learner = plain(C=np.float32(0.5), seed=np.int64(3), classes=np.array([1, -1])).learn(X, Y)
    assert pack(learner) == pack(plain(C=0.5, seed=3, classes=[1, -1]).learn(X, Y))


# ---- rows ---------------------------------------------------------------------------------------------------------

BAD_X: dict[str, tuple[Any, str]] = {
    "ragged": ([[1.0, 2.0], [1.0]], "different lengths"),
    "strings": ([["a", "b"]], "matrix of numbers"),
    "objects": (np.array([[1.0, "a"]], dtype=object), "matrix of numbers"),
    "complex": (np.zeros((1, 2), complex), "complex128"),
    "dates": (np.array([["2020-01-01"]], dtype="datetime64[D]"), "datetime64"),
    "one row": (np.ones(4), "two dimensions"),
    "three dimensions": (np.ones((1, 2, 2)), "shape (1, 2, 2)"),
    "nothing": (None, "NoneType"),
    "a number": (5, "int"),
    "a string": ("abc", "str"),
    "a dict": ({"a": 1.0}, "dict"),
    "a generator": ((row for row in X), "generator"),
    "NaN": (np.array([[1.0, NAN]]), "row 0, feature 1: the value is nan"),
    "infinity": (np.array([[1.0, 0.0], [INF, 0.0]]), "row 1, feature 0: the value is inf"),
    "dict and list": ([{0: 1.0}, [1.0]], "row 1: expected a dict"),
    "dict with NaN": ([{0: 1.0}, {3: NAN}], "row 1, feature 3: the value is nan"),
    "dict with a string": ([{0: "x"}], "feature 0: expected a number, not 'x'"),
    "dict with None": ([{0: None}], "expected a number, not None"),
    "dict with a large integer": ([{0: 10**400}], "too large"),
    "negative number": ([{-1: 1.0}], "-1 is outside"),
    "number too large": ([{2**31: 1.0}], "2147483648 is outside"),
    "number not whole": ([{1.5: 1.0}], "feature 1.5"),
    "feature None": ([{None: 1.0}], "feature None"),
    "name among numbers": ([{0: 1.0, "a": 1.0}], "feature 'a'"),
}
BAD_SPARSE: dict[str, tuple[Any, str]] = {
    "NaN": (sp.csr_matrix([[0.0, 0.0], [NAN, 1.0]]), "row 1, feature 0: the value is nan"),
    "infinity in columns": (sp.csc_matrix([[0.0, -INF]]), "row 0, feature 1: the value is -inf"),
    "complex": (sp.csr_matrix([[1j]]), "complex128"),
    "one row": (sp.coo_array(np.ones(4)), "two dimensions"),
    "negative index": (broken([0, 1], [-1], [1.0]), "-1 is outside"),
    "negative int64 index": (broken([0, 1], np.array([-1], np.int64), [1.0]), "-1 is outside"),
    "index too large": (broken([0, 1], [7], [1.0]), "7 is outside 0 to 3"),
    "unsorted and too large": (broken([0, 2], [7, 0], [1.0, 1.0]), "7 is outside 0 to 3"),
    "index 2**31": (broken([0, 1], np.array([2**31], np.int64), [1.0], (1, 2**33)), "2147483648 is outside"),
    "index 2**31 in a small matrix": (broken([0, 1], np.array([2**31], np.int64), [1.0]), "2147483648 is outside"),
    "fractional index": (broken([0, 1], [0.5], [1.0]), "corrupt"),
    "offsets fall": (broken([0, 2, 1], [0, 1], [1.0, 1.0], (2, 4)), "corrupt"),
    "offsets beyond the values": (broken([0, 5], [0, 1], [1.0, 1.0]), "corrupt"),
    "offsets start late": (broken([1, 2], [0, 1], [1.0, 1.0]), "corrupt"),
    "no offsets": (broken([], [0], [1.0]), "corrupt"),
    "too few offsets": (broken([0, 1], [0], [1.0], (3, 4)), "corrupt"),
    "fewer values than indices": (broken([0, 2], [0, 1], [1.0]), "corrupt"),
    "values in two dimensions": (broken([0, 1], [0], [[1.0]]), "corrupt"),
}


def all_refuse(learner: nr.RuleLearner, rows: Any, words: str) -> None:
    count = rows.shape[0] if hasattr(rows, "shape") else len(rows) if hasattr(rows, "__len__") else 1
    actions: list[Callable[[], Any]] = [
        lambda: learner.learn(rows, [1] * count),
        lambda: learner.play(rows, [1] * count),
        lambda: learner.predict(rows),
        lambda: learner.scores(rows),
    ]
    for action in actions:
        assert words in refused(learner, action)


@pytest.mark.parametrize("what", BAD_X)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_bad_rows_are_refused(what: str, kind: Any) -> None:
    learner = learned(kind(X), native=False)
    all_refuse(learner, *BAD_X[what])
    kept(learner, kind(X))


@pytest.mark.parametrize("what", BAD_SPARSE)
@pytest.mark.parametrize("algebra", ["sparse", "dense", "kernel"])
@pytest.mark.parametrize("native", [False, True], ids=["interpreted", "compiled"])
@pytest.mark.thinned(4)
def test_bad_sparse_rows_are_refused(what: str, algebra: str, native: bool) -> None:
    learner = learned(sp.csr_array(X), algebra=algebra, native=native)
    all_refuse(learner, *BAD_SPARSE[what])
    kept(learner, sp.csr_array(X))


def test_a_learner_refuses_bad_rows_also_before_it_has_learned() -> None:
    for rows, words in (*BAD_X.values(), *BAD_SPARSE.values()):
        learner = plain()
        count = rows.shape[0] if hasattr(rows, "shape") else len(rows) if hasattr(rows, "__len__") else 1
        assert words in refused(learner, lambda a=learner, b=rows, n=count: a.learn(b, [1] * n))  # type: ignore[misc]
        assert learner.learn([by_name(X[0])], [1]).rounds == 1


BAD_ROW: list[tuple[Any, str]] = [
    ({0: NAN}, "the value is nan"),
    ({0: INF, 1: -INF}, "the value is inf"),
    ({0: "a"}, "expected a number, not 'a'"),
    ({0: 10**400}, "too large"),
    ({"a": 1.0}, "was given names"),
    ({-1: 1.0}, "-1 is outside"),
    ({2**31: 1.0}, "is outside"),
    ([1.0, "a"], "a row is"),
    ([[1.0, 2.0], [3.0]], "a row is"),
    (X[:2], "a row is"),
    (sp.csr_array(X), "a row is"),
    (5.0, "a row is"),
    (None, "a row is"),
    ("abc", "a row is"),
    ([NAN], "the value is nan"),
]


@pytest.mark.parametrize(("row", "words"), BAD_ROW, ids=[" ".join(repr(row).split())[:40] for row, _ in BAD_ROW])
@pytest.mark.parametrize("native", [False, True], ids=["interpreted", "compiled"])
def test_a_bad_row_is_refused(row: Any, words: str, native: bool) -> None:
    learner = learned(sp.csr_array(X), native=native).learn_one(by_number(X[0]), 1)
    for action in (
        lambda: learner.learn_one(row, 1),
        lambda: learner.predict_one(row),
        lambda: learner.explain_one(row),
    ):
        assert words in refused(learner, action)
    assert learner.learn_one(by_number(X[0]), 1).rounds == len(X) + 2


# ---- labels and weights -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([1], "X has 20 rows and y has 1 labels"),
        (None, "no labels"),
        (iter([1] * 20), "no labels"),
        ("a" * 20, "a list or an array"),
        (set(range(20)), "a list or an array"),
        (np.ones((20, 1)), "shape (20, 1)"),
        ([1] * 19 + [None], "not None"),
        ([1] * 19 + [NAN], "must be finite"),
        (np.array([1.0] * 19 + [INF]), "must be finite"),
        ([1] * 19 + [[1]], "not [1]"),
        ([1] * 19 + [(1, 2)], "not (1, 2)"),
        ([1] * 19 + [1j], "not 1j"),
        ([1] * 19 + [b"x"], "not b'x'"),
        (np.array([1.0] * 19 + [0.5]), 'task="regression"'),
    ],
)
def test_bad_labels_are_refused(y: Any, words: str) -> None:
    learner = learned(native=False)
    assert words in refused(learner, lambda: learner.learn(X, y))
    kept(learner)


@pytest.mark.parametrize("native", [False, True], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("label", [None, NAN, INF, 0.5, [1], {}, 1j, np.zeros(2)], ids=str)
def test_a_bad_label_is_refused(label: Any, native: bool) -> None:
    learner = learned(sp.csr_array(X), native=native).learn_one(by_number(X[0]), 1)
    refused(learner, lambda: learner.learn_one(by_number(X[0]), label))


@pytest.mark.parametrize("native", [False, True], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("target", [None, NAN, INF, "1.5", [1.0], 1j, 10**400], ids=lambda target: repr(target)[:9])
def test_a_bad_target_is_refused(target: Any, native: bool) -> None:
    learner = nr.make("pa1", task="regression", native=native).learn(sp.csr_array(X), X[:, 0])
    learner.learn_one(by_number(X[0]), 1.0)
    refused(learner, lambda: learner.learn_one(by_number(X[0]), target))
    refused(learner, lambda: learner.learn(X[:2], [1.0, target]))


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (-1.0, "row 0: the weight is -1.0"),
        ([1.0] * 19 + [-2.0], "row 19: the weight is -2.0"),
        ([1.0] * 19 + [NAN], "row 19: the weight is nan"),
        (INF, "the weight is inf"),
        ([1.0] * 3, "20 rows and weights of shape (3,)"),
        (np.ones((20, 1)), "shape (20, 1)"),
        ("heavy", "a number for every row"),
        (10**400, "a number for every row"),
    ],
)
def test_bad_weights_are_refused(weight: Any, words: str) -> None:
    learner = learned(native=False)
    assert words in refused(learner, lambda: learner.learn(X, Y, weight))
    kept(learner)


def test_a_rule_that_cannot_weigh_rounds_says_so() -> None:
    learner = plain("winnow").learn(X, Y)
    assert "winnow cannot weigh rounds" in refused(learner, lambda: learner.learn(X, Y, 1.0))


# ---- merging ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (3, "only with a rule learner, not with 3"),
        (plain("pa2").learn(X, Y), "one rule, one task and the same parameters"),
        (plain(C=0.5).learn(X, Y), "one rule, one task and the same parameters"),
        (plain(task="regression").learn(X, X[:, 0]), "one rule, one task and the same parameters"),
        (plain().learn(sp.csr_array(X), Y), "dense algebra cannot be merged with one in the sparse"),
        (plain(algebra="dense").learn([by_name(row) for row in X], Y), "by name, the other by column number"),
    ],
)
def test_learners_that_cannot_be_pooled_are_refused(other: Any, words: str) -> None:
    learner = learned(native=False)
    assert words in refused(learner, lambda: learner.merge(other))
    kept(learner)


def test_learners_made_for_other_classes_cannot_be_pooled() -> None:
    learner, other = learned(native=False, classes=[1, -1]), plain().learn(X, ["a", "b"] * 10)
    assert "different classes" in refused(learner, lambda: learner.merge(other))


# ---- all that is welcome ------------------------------------------------------------------------------------------

TIDY = np.round(8.0 * X * (np.abs(X) > 0.5)) / 8.0  # exact in float32


def untidy() -> Any:
    """Indices from right to left, and every value given as two halves."""
    csr = sp.csr_matrix(TIDY)
    rows = [(csr.indices[a:b][::-1], csr.data[a:b][::-1]) for a, b in zip(csr.indptr, csr.indptr[1:], strict=False)]
    indices = np.concatenate([np.concatenate([idx, idx]) for idx, _ in rows])
    data = np.concatenate([np.concatenate([val, val]) / 2.0 for _, val in rows])
    return broken(2 * csr.indptr, indices.astype(np.int32), data, csr.shape)


def with_long_indices() -> Any:
    matrix = sp.csr_matrix(TIDY)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def read_only(rows: np.ndarray) -> np.ndarray:
    rows = rows.copy()
    rows.flags.writeable = False
    return rows


DENSE_KINDS: dict[str, Any] = {
    "list": TIDY.tolist(),
    "tuple": tuple(map(tuple, TIDY)),
    "float32": TIDY.astype(np.float32),
    "Fortran order": np.asfortranarray(TIDY),
    "read-only": read_only(TIDY),
    "every other column": np.repeat(TIDY, 2, axis=1)[:, ::2],
}
SPARSE_KINDS: dict[str, Any] = {
    "CSC": sp.csc_matrix(TIDY),
    "COO": sp.coo_matrix(TIDY),
    "LIL": sp.lil_matrix(TIDY),
    "sparse array": sp.csr_array(TIDY),
    "float32": sp.csr_matrix(TIDY, dtype=np.float32),
    "int64 indices": with_long_indices(),
    "unsorted with duplicates": untidy(),
}


@pytest.mark.parametrize("native", [False, True], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("what", DENSE_KINDS)
def test_every_kind_of_matrix_is_the_same_matrix(what: str, native: bool) -> None:
    assert pack(learned(DENSE_KINDS[what], native=native)) == pack(learned(TIDY, native=native))


@pytest.mark.parametrize("native", [False, True], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("what", SPARSE_KINDS)
def test_every_kind_of_sparse_matrix_is_the_same_matrix(what: str, native: bool) -> None:
    learner, tidy = learned(SPARSE_KINDS[what], native=native), learned(sp.csr_matrix(TIDY), native=native)
    assert pack(learner) == pack(tidy)
    np.testing.assert_array_equal(learner.scores(SPARSE_KINDS[what]), tidy.scores(sp.csr_matrix(TIDY)))


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, bool])
def test_whole_numbers_and_truth_values_are_numbers(dtype: Any) -> None:
    rows = (X > 0.0).astype(dtype)
    assert pack(learned(rows, native=False)) == pack(learned(rows.astype(float), native=False))


def test_no_rows_are_no_rounds_and_decide_nothing() -> None:
    learner = plain().learn([], [])
    assert learner.play(np.zeros((0, 4)), []).rounds == 0
    assert plain().learn([], []).learn([by_name(X[0])], [1]).algebra == "sparse"
    assert plain().learn([], []).learn(X, Y).algebra == "dense"
    learner.learn(X, Y)
    assert learner.predict([]).shape == learner.scores(np.zeros((0, 4))).shape == (0,)
    assert learner.rounds == len(X)


def test_a_row_without_features_is_a_round_that_changes_nothing() -> None:
    learner = learned(native=False)
    scores = learner.scores(X)
    assert learner.learn_one({}, 1).learn_one([], -1).rounds == len(X) + 2
    np.testing.assert_array_equal(learner.scores(X), scores)
