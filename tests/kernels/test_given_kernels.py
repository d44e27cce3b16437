"""Kernels of the caller: a function, a matrix, texts; checked for symmetry and finite values, saved and loaded."""

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.algebra.kernel_functions import KERNELS
from noregret.evaluation.kernel_rows import gram_matrix
from noregret.learner.kernel_values import kernel_values
from noregret.learner.model_file import pack
from tests.naive.kernels import Kernel
from tests.support.engines import engines


def half_width(x: Any, z: Any) -> float:
    total = 0.0
    for i in range(x.size):
        total += (x[i] - z[i]) ** 2
    return math.exp(-0.5 * total)


def odd(x: Any, z: Any) -> float:
    return float(x[0] - z[0])


def undefined(x: Any, z: Any) -> float:
    return math.nan


def rings(n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 3))
    return X, (X[:, 0] * X[:, 1] > 0.0).astype(int)


def gram(X: np.ndarray) -> np.ndarray:
    return np.array([[half_width(x, z) for z in X] for x in X])


@engines
def test_a_function_and_a_matrix_learn_like_the_kernel_they_are(native: bool) -> None:
    X, y = rings()
    known = nr.make("pa1", algebra="kernel", gamma=0.5, native=native).learn(X, y)
    own = nr.make("pa1", algebra="kernel", kernel=half_width, native=native).learn(X, y)
    np.testing.assert_allclose(own.scores(X), known.scores(X), rtol=1e-9, atol=1e-12)
    objects = np.arange(len(y))
    matrix = nr.make("pa1", algebra="kernel", kernel="precomputed", gram=gram(X), native=native).learn(objects, y)
    np.testing.assert_allclose(matrix.scores(objects), known.scores(X), rtol=1e-9, atol=1e-12)
    assert matrix.predict_one(3) == known.predict_one(X[3])
    assert own.nonzeros == matrix.nonzeros == known.nonzeros


def test_a_budget_and_chunks_of_objects() -> None:
    X, y = rings()
    made = {"algebra": "kernel", "kernel": "precomputed", "gram": gram(X), "budget": 7, "native": False}
    whole = nr.make("perceptron", **made).learn(np.arange(120), y)
    parts = nr.make("perceptron", **made)
    for t in range(120):
        parts.learn_one(t, y[t])
    assert whole.nonzeros == 7
    assert parts.scores(np.arange(120)).tolist() == whole.scores(np.arange(120)).tolist()


def test_saved_and_loaded(tmp_path: Path) -> None:
    X, y = rings()
    own = nr.make("pa1", algebra="kernel", kernel=half_width, native=False).learn(X[:60], y[:60])
    own.save(tmp_path / "own.nr")
    again = nr.load(tmp_path / "own.nr", functions=half_width)
    assert pack(again.learn(X[60:], y[60:])) == pack(own.learn(X[60:], y[60:]))
    with pytest.raises(nr.Error, match="learned with kernel=half_width"):
        nr.load(tmp_path / "own.nr")
    matrix = nr.make("pa1", algebra="kernel", kernel="precomputed", gram=gram(X), native=False)
    matrix.learn(np.arange(60), y[:60]).save(tmp_path / "matrix.nr")
    loaded = nr.load(tmp_path / "matrix.nr")
    assert pack(loaded.learn(np.arange(60, 120), y[60:])) == pack(matrix.learn(np.arange(60, 120), y[60:]))


@pytest.mark.parametrize(
    ("kernel", "options", "message"),
    [(odd, {}, "is not symmetric: of rows 1 and 0"), (undefined, {}, "of rows 0 and 0 is nan"),
     ("precomputed", {}, "needs gram="), ("precomputed", {"gram": np.zeros((2, 3))}, r"shape \(2, 3\)"),
     ("precomputed", {"gram": [[1.0, 2.0], [3.0, 4.0]]}, r"not symmetric: gram\[0, 1\] is 2.0"),
     ("precomputed", {"gram": [[1.0, np.nan], [np.nan, 4.0]]}, r"gram\[0, 1\] is nan"),
     ("precomputed", {"gram": "no"}, "matrix of numbers"), ("rbf", {"gram": np.eye(2)}, "is for kernel="),
     ("precomputed", {"gram": np.eye(2), "scale": True}, "leave scale out"),
     (half_width, {"task": "ranking"}, "ranking needs one of the kernels"), (rings, {}, "takes"),
     ("spectrum", {"p": 0}, "p must be"), ("spectrum", {"p": 2.5}, "whole number")],
)  # fmt: skip
def test_what_is_no_kernel_is_refused(kernel: Any, options: dict[str, Any], message: str) -> None:
    X, y = rings(20)
    with pytest.raises(nr.Error, match=message):
        nr.make("perceptron", algebra="kernel", kernel=kernel, native=False, **options).learn(X, y)


def test_an_object_that_is_not_there_is_refused_and_nothing_learned() -> None:
    learner = nr.make("perceptron", algebra="kernel", kernel="precomputed", gram=np.eye(4), native=False)
    learner.learn([0, 1], [0, 1])
    before = pack(learner)
    for rows in ([2, 4], [2, -1], [2, 1.5]):
        with pytest.raises(nr.Error, match=f"row 1: {rows[1]} is not the number of an object"):
            learner.learn(rows, [0, 1])
    with pytest.raises(nr.Error, match="numbers of objects"):
        learner.learn([{"a": 1.0}], [0])
    assert pack(learner) == before


def spectrum(a: str, b: str, p: int) -> int:
    first, second = (Counter(text[i : i + p] for i in range(len(text) - p + 1)) for text in (a, b))
    return sum(first[part] * second[part] for part in first)


def test_the_spectrum_kernel_counts_substrings_that_texts_share() -> None:
    texts = ["banana", "bandana", "cabana", "an", "", "nab an ananas", "naïve"]
    learner = nr.make("perceptron", algebra="kernel", kernel="spectrum", p=3, native=False)
    learner.learn(texts, [0, 1, 0, 1, 0, 1, 0])
    found = kernel_values(learner, texts)
    expected = [[spectrum(a, b, 3) for b in map(as_bytes, texts)] for a in map(as_bytes, texts)]
    assert found.tolist() == expected
    assert learner.predict_one("banana") == learner.predict(["banana"])[0]
    with pytest.raises(nr.Error, match="row 1: the spectrum kernel compares texts"):
        learner.learn(["ok", 3], [0, 1])


def as_bytes(text: str) -> str:
    return text.encode().decode("latin-1")


# ---- Mercer's condition ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [name for name in KERNELS if name != "sigmoid"])
def test_kernels_of_the_library_pass(kernel: str) -> None:
    X, _ = rings(80)
    found = nr.check_mercer(X, kernel, sample=60)
    assert found.passed
    assert found.rows == 60


def test_the_sigmoid_and_a_function_that_is_no_kernel_fail() -> None:
    X, _ = rings(80)
    with pytest.warns(UserWarning, match="not positive semidefinite"):
        nr.make("perceptron", algebra="kernel", kernel="sigmoid")
    failed = nr.check_mercer(X, "sigmoid", gamma=0.5, coef0=1.0)
    assert not failed.passed
    assert "NOT positive semidefinite" in str(failed)
    assert nr.check_mercer(X, half_width, sample=30).passed
    with pytest.raises(nr.Error, match="sample must be"):
        nr.check_mercer(X, sample=0)


@pytest.mark.parametrize("kernel", [name for name in KERNELS if name != "sigmoid"])
def test_values_between_rows_are_those_of_the_definition(kernel: str) -> None:
    X, y = rings(12)
    learner = nr.make("perceptron", algebra="kernel", kernel=kernel, native=False).learn(X, y)
    gamma, coef0, degree = learner.model.kernel_params
    twin = Kernel(kernel, gamma, coef0, int(degree))
    expected = [[twin(x, z) for z in X] for x in X]
    np.testing.assert_allclose(kernel_values(learner, X), expected, rtol=1e-9)
    np.testing.assert_allclose(gram_matrix(csr_array(X), learner.model), expected, rtol=1e-9)


def test_gamma_follows_the_first_row_however_rows_are_batched() -> None:
    X, y = rings(40)
    X[:3] = 0.0
    whole = nr.make("perceptron", algebra="kernel", native=False).learn(X, y)
    assert whole.model.kernel_params[0] == pytest.approx(1.0 / float(X[3] @ X[3]))
    parts = nr.make("perceptron", algebra="kernel", native=False)
    for t in range(40):
        parts.learn(X[t : t + 1], y[t : t + 1])
    assert pack(parts) == pack(whole)
