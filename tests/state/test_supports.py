"""A kernel learner can lose supports: as if they had never been, and undone with the call."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.algebra import add, norm, oldest, remove_coefficients, remove_support, scale, supports
from noregret.algebra.internal_verbs import class_block, row
from noregret.algebra.kernel import KernelRows, find_row
from noregret.algebra.verbs import dot
from noregret.learner.model_file import pack
from noregret.rules.decorators import margin_rule
from noregret.rules.parameters import Param
from noregret.rules.registry import REGISTRY
from noregret.rules.rule_card import P, S, Z
from noregret.state import averaged, centre, growth, plain, scaled
from noregret.state.bank_rows import read_rows
from noregret.state.savepoint import take_savepoint
from noregret.state.space import Layout, Shape, Space
from noregret.state.stores import field_counters
from tests.naive import streams
from tests.support.cover import ALL, only_in_test_all
from tests.support.engines import engines


@margin_rule(paper="-", params={"B": Param(5.0, at_least=1.0)}, state={"w": plain})
def lose_the_oldest(p: P, s: S, z: Z, margin: float) -> bool:
    if margin <= 0.0:
        add(s.w, 1.0, z)
        if supports(s.w) > p.B:
            remove_support(s.w, oldest(s.w), z)
        return True
    return False


@margin_rule(paper="-", params={"B": Param(5.0, at_least=1.0)}, state={"w": scaled, "u": plain}, tasks=("binary",))
def lose_the_second(p: P, s: S, z: Z, margin: float) -> bool:
    scale(s.w, 0.9)
    if margin < 1.0:
        add(s.w, 0.5 / (1.0 + norm(s.w, 2.0)), z)
        add(s.u, s.n.t, z)
        if z.bank.n[0] > p.B:
            remove_coefficients(s.u, 1, z)
            remove_support(s.w, 1, z)
    return True


for rule in (lose_the_oldest, lose_the_second):
    REGISTRY.pop(rule.name)  # they are for this file alone


def rbf(x: np.ndarray, z: np.ndarray) -> float:
    return float(np.exp(-np.sum((x - z) ** 2)))


@pytest.mark.parametrize(("native", "classes"), [(False, 2), (False, 4), *([(True, 4)] if ALL else [])])
def test_a_budget_on_the_oldest_equals_a_list_of_supports(native: bool, classes: int) -> None:
    X, _ = streams.sparse(60, 6, density=0.6, seed=3)
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    y = np.random.default_rng(3).integers(0, classes, 60)
    learner = nr.make(
        lose_the_oldest, algebra="kernel", kernel="rbf", gamma=1.0, native=native, classes=list(range(classes))
    )
    learner.learn(csr_array(X), y)
    supports: list[tuple[np.ndarray, np.ndarray]] = []
    for x, label in zip(X, y, strict=True):
        scores = sum((a * rbf(x, z) for z, a in supports), np.zeros(classes))
        rival = int(np.argmax([s if c != label else -np.inf for c, s in enumerate(scores)]))
        if x.any() and scores[label] - scores[rival] <= 0.0:
            step = np.zeros(classes)
            step[label], step[rival] = 1.0, -1.0
            supports = [*supports, (x, step)][-5:]
    found = learner.scores(csr_array(X))
    mine = np.array([sum((a * rbf(x, z) for z, a in supports), np.zeros(classes)) for x in X])
    expected = mine if classes > 2 else (mine[:, 1] - mine[:, 0]) / 2.0
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    assert learner.nonzeros == 5


@only_in_test_all
@pytest.mark.compiles
@pytest.mark.parametrize(
    "rule", [lose_the_second, lose_the_oldest] if ALL else [lose_the_second], ids=lambda card: card.name
)
def test_compiled_and_plain_python_and_any_calls_agree(rule: Any) -> None:
    X, y = streams.sparse(60, 6, density=0.6, seed=5)
    rows = csr_array(X)
    whole, plainly, single = (
        nr.make(rule, algebra="kernel"),
        nr.make(rule, algebra="kernel", native=False),
        nr.make(rule, algebra="kernel"),
    )
    whole.learn(rows, y)
    plainly.learn(rows, y)
    for t in range(60):
        single.learn(rows[t : t + 1], y[t : t + 1])
    assert pack(single) == pack(whole)
    np.testing.assert_allclose(whole.scores(rows), plainly.scores(rows), rtol=1e-12)
    again = whole.copy()
    assert pack(again.learn(rows, y)) == pack(whole.learn(rows, y))


@pytest.mark.parametrize("rule", [lose_the_oldest, lose_the_second], ids=lambda card: card.name)
@engines
def test_a_refused_call_brings_removed_supports_back(rule: Any, native: bool) -> None:
    X, y = streams.sparse(60, 6, density=0.6, seed=7)
    rows = csr_array(X)
    learner, twin = (
        nr.make(rule, algebra="kernel", kernel="linear", native=native).learn(rows[:40], y[:40]) for _ in range(2)
    )
    before = pack(learner)
    bad = rows[40:50].copy()
    labels = y[40:50].copy()
    if rule is lose_the_oldest:
        bad.data[-12:] = 1e200
    else:
        labels[-1] = 7.0  # a third class
    with pytest.raises(nr.Error):
        learner.learn(bad, labels)
    assert pack(learner) == before
    assert pack(learner.learn(rows[40:], y[40:])) == pack(twin.learn(rows[40:], y[40:]))


def test_a_rule_that_removes_supports_plays_in_the_kernel_algebra_alone() -> None:
    assert lose_the_oldest.algebras == ("kernel",)
    assert lose_the_oldest.touches(()) == "all"


# ---- states of several vectors --------------------------------------------------------------------------------------

FIELDS = {"w": scaled, "u": plain, "mean": averaged, "c": centre}


def filled(
    seed: int, classes: int = 3, supports: int = 6, layout: Layout = "slots"
) -> tuple[Any, Shape, Space, np.ndarray]:
    """A kernel state with a few supports and coefficients for all of its vectors."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((supports, 5)) * (random.random((supports, 5)) < 0.7)
    X[:, 0] = 1.0
    shape = Shape(FIELDS, field_counters(FIELDS))
    space = Space(
        "kernel",
        features=5,
        room=5,
        classes=classes,
        class_room=classes,
        supports=supports + 2,
        values=5 * (supports + 2),
        layout=layout,
    )
    state = growth.make(shape, space)
    state.n.t = 3.0
    for x in X:
        z = example(state, x)
        for c in range(classes):
            for value in (state.w, state.u, state.mean, state.c.v):
                add(value, float(random.standard_normal()), class_block(z, c, classes))
    return state, shape, space, X


def example(state: Any, x: np.ndarray) -> Any:
    rows = csr_array(x.reshape(1, -1))
    rows.sort_indices()
    idx = rows.indices.astype(np.uint32)
    return row(KernelRows(rows.indptr.astype(np.int64), idx, rows.data, 1, growth.bank_of(state)), 0)


def scores(state: Any, x: np.ndarray) -> np.ndarray:
    z = example(state, x)
    vectors = (state.w, state.u, state.mean.v, state.mean.u, state.c.v)
    return np.array([dot(value, class_block(z, c, 3)) for value in vectors for c in range(3)])


def coefficients(shape: Shape, state: Any, space: Space) -> np.ndarray:
    return np.array([array.copy() for _, _, array in growth.parts(shape, state, space)])


@pytest.mark.parametrize("layout", ["slots", "dense"])
@pytest.mark.parametrize("order", [[0, 0, 0], [5, 4, 3], [2, 3, 0, 1], [0, 4, 1]], ids=str)
def test_the_others_keep_their_rows_and_coefficients(order: list[int], layout: Layout) -> None:
    state, shape, space, X = filled(1, layout=layout)
    lengths = norm(state.w, 2.0), norm(state.c.v, 2.0)
    assert min(lengths) > 0.0
    left, expected = list(range(len(X))), coefficients(shape, state, space)
    for support in order:
        growth.remove_support(state, support)
        left[support] = left[-1]  # the last takes its place
        del left[-1]
        bank = growth.bank_of(state)
        assert bank.n[0] == len(left)
        rows = read_rows(bank)
        assert rows.born.tolist() == left
        for place, number in enumerate(left):
            found, own = np.zeros(5), slice(rows.start[place], rows.start[place + 1])
            found[rows.idx[own]] = rows.val[own]
            assert found.tolist() == X[number].tolist()
            assert bank.sq[place] == pytest.approx(X[number] @ X[number])
        now = coefficients(shape, state, space)
        assert now[:, :, : len(left)].tolist() == expected[:, :, left].tolist()
        assert not now[:, :, len(left) :].any()
        for vector in (state.w, state.c.v):  # the norm that was brought up to date is the norm
            known = norm(vector, 2.0)
            vector.n[3] = 0.0
            assert norm(vector, 2.0) == pytest.approx(known, rel=1e-9)
    assert not growth.bank_of(state).scratch.any()


def test_scores_after_a_removal_are_those_of_the_rest_and_of_the_row_at_hand() -> None:
    state, _, _, X = filled(2)
    x = X[3]
    z = example(state, x)
    find_row(z)
    before = np.array([dot(state.u, class_block(z, c, 3)) for c in range(3)])
    own = np.array([rbf(x, X[1]) * state.u.coef[1 * 3 + c] for c in range(3)])
    growth.remove_support(state, 1)
    after = np.array([dot(state.u, class_block(z, c, 3)) for c in range(3)])
    np.testing.assert_allclose(after, before - own, rtol=1e-12)
    assert growth.bank_of(state).n[1] == 3  # the row at hand was and is support 3
    growth.remove_support(state, 0)
    growth.remove_support(state, 0)
    assert growth.bank_of(state).n[1] == 0  # it was the last, and took the place of the removed one
    growth.remove_support(state, 1)
    assert growth.bank_of(state).n[1] == 0
    growth.remove_support(state, 0)
    assert growth.bank_of(state).n[1] == -1


@pytest.mark.parametrize("support", [-1, 6, 100])
def test_a_support_that_is_not_there_cannot_be_removed(support: int) -> None:
    state, _, _, X = filled(3)
    before = scores(state, X[0])
    with pytest.raises(IndexError):
        growth.remove_support(state, support)
    assert scores(state, X[0]).tolist() == before.tolist()


def test_removals_are_rolled_back() -> None:
    state, shape, space, X = filled(4)
    before, rest = [scores(state, x) for x in X], coefficients(shape, state, space)
    savepoint = take_savepoint(state, space, "all")
    for support in (2, 0, 3):
        growth.remove_support(state, support)
    add(state.u, 1.0, class_block(example(state, X[0] + 1.0), 1, 3))
    add(state.w, 1.0, class_block(example(state, X[0] - 1.0), 1, 3))
    assert savepoint.rollback() is state
    assert [scores(state, x).tolist() for x in X] == [scores.tolist() for scores in before]
    assert coefficients(shape, state, space).tolist() == rest.tolist()
