"""Banks of supports: every layout gives the same scores, room is made as supports come, calls can be cut anywhere."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.algebra.banks import DenseBank, IndexedBank, SlotBank
from noregret.algebra.exponential import exp_below_zero
from noregret.algebra.kernel_functions import KERNELS
from noregret.learner.kernel_options import KERNEL_TAKES
from noregret.learner.model_file import pack
from noregret.learner.transaction import FEW_SUPPORTS
from noregret.state.bank_rows import BankRows, add_rows, list_supports
from noregret.state.growth import grow
from noregret.state.savepoint import take_savepoint
from noregret.state.space import enlarge
from tests.naive.kernels import Kernel
from tests.support.engines import engines


def rows(seed: int, n: int = 90, d: int = 12) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d)) * (random.random((n, d)) < 0.5)
    X[:, 1] = 1.0  # a feature of every row
    X[0] = random.standard_normal(d)  # the first row decides the layout
    X[n // 2 :: 9] = X[: n // 2 : 9][: len(X[n // 2 :: 9])]
    return X, random.integers(0, 2, n)


def parameters(kernel: str) -> dict[str, float]:
    given = {"gamma": 0.4, "coef0": 0.5, "degree": 2.0}
    return {name: given[name] for name in KERNEL_TAKES[kernel]}


def make(kernel: str = "rbf", **options: Any) -> Any:
    return nr.make("perceptron", algebra="kernel", kernel=kernel, **parameters(kernel), **options)


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_layout_gives_the_scores_of_the_definition(kernel: str) -> None:
    X, y = rows(1)
    twin, expected = Kernel(kernel, **parameters(kernel)), list[float]()  # type: ignore[arg-type]
    supports: list[tuple[np.ndarray, float]] = []
    for x, label in zip(X, y, strict=True):
        score = sum(sign * twin(z, x) for z, sign in supports)
        sign = 1.0 if label else -1.0
        expected.append(score)
        if sign * score <= 0.0:
            supports.append((x, sign))
    for data, options, kind in (
        (csr_array(X), {}, IndexedBank),
        (csr_array(X), {"budget": 1000}, SlotBank),
        (X, {}, DenseBank),
    ):
        learner = make(kernel, native=False, classes=[0, 1], **options)
        transcript = learner.play(data, y)
        np.testing.assert_allclose(transcript.scores, expected, rtol=1e-9, atol=1e-9)
        assert isinstance(learner.model.bank, kind)


@engines
def test_listed_and_unlisted_supports_give_the_same_bits(native: bool) -> None:
    X, y = rows(2, n=300)
    y = np.random.default_rng(0).integers(0, 2, 300)
    learner = make(native=native).learn(csr_array(X), y)
    bank = learner.model.bank
    assert bank.n[3] > 64  # most supports are in the lists of features
    before = learner.scores(csr_array(X))
    bank.n[3] = 0
    assert learner.scores(csr_array(X)).tolist() == before.tolist()
    list_supports(bank)
    assert bank.n[3] == bank.n[0]
    assert learner.scores(csr_array(X)).tolist() == before.tolist()


@pytest.mark.parametrize("name", ["perceptron", "pegasos"])
def test_an_undone_call_leaves_no_lists_of_supports_that_are_gone(name: str) -> None:
    """A feature is in as many of the supports that are undone as supports were listed before."""
    random = np.random.default_rng(6)
    X, y = csr_array(random.standard_normal((150, 4)) * [1.0, 1.0, 1.0, 0.0]), random.integers(0, 2, 150)
    probe = csr_array(np.ones((1, 4)))
    learner = nr.make(name, algebra="kernel", kernel="linear", native=False).learn(X, y)
    model = learner.model
    space = enlarge(model.known_space, 4, 1, 400, 1200)  # with room for more
    model.arrays, model.space = grow(model.shape, model.arrays, model.known_space, space), space
    learner._loops.bind(model)
    state, bank = model.arrays, model.bank
    before, listed = learner.scores(probe), int(bank.n[0])
    assert bank.n[3] == listed > 64
    savepoint = take_savepoint(state, space, "row")
    ones, more = np.ones(listed), np.arange(listed)
    add_rows(bank, BankRows(np.arange(listed + 1), np.full(listed, 3, np.uint32), ones, ones, ones, listed + more))
    bank.n[3] = 0
    list_supports(bank)
    savepoint.rollback()
    assert learner.scores(probe).tolist() == before.tolist()
    assert bank.n[3] <= bank.n[0] == listed


@pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
@pytest.mark.parametrize("budget", [None, 7])
def test_calls_can_be_cut_anywhere(dense: bool, budget: int | None) -> None:
    X, y = rows(3, n=200)
    data: Any = X if dense else csr_array(X)
    options: dict[str, Any] = {} if budget is None else {"budget": budget, "policy": "random"}
    whole = make(native=False, **options).learn(data, y)
    for size in (1, 13):
        parts = make(native=False, **options)
        for first in range(0, 200, size):
            parts.learn(data[first : first + size], y[first : first + size])
        assert pack(parts) == pack(whole)


def test_rows_reserve_no_support_in_advance() -> None:
    X = np.random.default_rng(4).standard_normal((5000, 3))
    y = X[:, 0] > 0.0
    learner = make(native=False).learn(csr_array(X[:200]), y[:200])
    learner.learn(csr_array(X[200:2000] + np.array([5.0, 0.0, 0.0])), np.ones(1800, bool))
    bank = learner.model.bank
    assert bank.sq.size <= 2 * (int(bank.n[0]) + FEW_SUPPORTS)


@pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
@pytest.mark.parametrize("options", [{}, {"budget": 5}, {"budget": 5, "policy": "random"}], ids=str)
def test_a_saved_learner_goes_on_like_an_unsaved_one(dense: bool, options: dict[str, Any], tmp_path: Any) -> None:
    X, y = rows(5)
    data: Any = X if dense else csr_array(X)
    whole = make(native=False, **options).learn(data, y)
    first = make(native=False, **options).learn(data[:50], y[:50])
    first.save(tmp_path / "m.nr")
    again = nr.load(tmp_path / "m.nr")
    assert type(again.model.bank) is type(first.model.bank)
    assert pack(again) == pack(first)
    assert pack(again.learn(data[50:], y[50:])) == pack(whole)


def test_mostly_empty_dense_rows_are_kept_as_sparse_ones() -> None:
    X = np.zeros((10, 40))
    X[np.arange(10), np.arange(10)] = 1.0
    learner = make(native=False).learn(X, np.arange(10) % 2)
    assert isinstance(learner.model.bank, IndexedBank)


def test_the_vectorized_exponential_is_within_two_units_in_the_last_place() -> None:
    x = np.concatenate((-np.geomspace(1e-300, 700.0, 3000), -np.linspace(0.0, 2.0, 1000)))
    found = np.array([exp_below_zero(float(value)) for value in x])
    assert (np.abs(found - np.exp(x)) <= 2.5 * np.spacing(np.exp(x))).all()
    assert exp_below_zero(0.0) == 1.0
    assert 0.0 < exp_below_zero(-1e300) < 1e-300
