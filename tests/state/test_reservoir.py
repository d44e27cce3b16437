"""A sample of the rows so far, kept by a rule of our own: uniform, undone and grown."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, vstack
from scipy.stats import chi2

import noregret as nr
from noregret.algebra import add, count_correct, dot, remember, sample_size
from noregret.learner.model_file import pack
from noregret.rules.decorators import gradient_rule, margin_rule
from noregret.rules.merge_law import Merge
from noregret.rules.parameters import Param
from noregret.rules.registry import REGISTRY
from noregret.rules.rule_card import P, S, Z
from noregret.state import plain, reservoir
from noregret.state.stores.base import by_class_and_feature
from noregret.state.stores.reservoir import list_rows
from tests.naive import streams
from tests.naive.pocket import Reservoir
from tests.naive.rules import Array
from tests.support.cover import only_in_test_all


@margin_rule(
    paper="-",
    params={"m": Param(6.0, at_least=1.0)},
    state={"w": plain, "seen": reservoir},
    counters={"moves": 0.0, "right": 0.0},
    merge=Merge("heuristic", "weights are averaged", "mix"),
)
def recollect(p: P, s: S, z: Z, margin: float) -> bool:
    """A perceptron that counts after every round what it puts right of its sample; a record below 0 stops no count."""
    remember(s.seen, p.m, z)
    if margin <= 0.0:
        add(s.w, 1.0, z)
        s.n.moves += 1.0
    s.n.right = count_correct(s.seen, s.w, z, s.n.moves, -1.0)
    return bool(margin <= 0.0)


@margin_rule(paper="-", params={}, state={"w": plain, "seen": reservoir}, counters={"a": 0.0, "b": 0.0})
def twice(p: P, s: S, z: Z, margin: float) -> bool:
    """Ask the same with a record and without one, about a w that no sum tells apart."""
    remember(s.seen, 30.0, z)
    add(s.w, 0.1, z)
    s.n.a = count_correct(s.seen, s.w, z, s.n.t, 20.0)
    s.n.b = count_correct(s.seen, s.w, z, -s.n.t, -1.0)
    return bool(dot(s.w, z) < 1.0 and sample_size(s.seen) > 0.0)


@gradient_rule(paper="-", params={}, state={"w": plain, "seen": reservoir})
def of_gradients(p: P, s: S, g: Any) -> None:
    remember(s.seen, 5.0, g)
    add(s.w, -0.1, g)


for rule in (recollect, twice, of_gradients):
    REGISTRY.pop(rule.name)  # they are for this file alone
D = 19_001
WAYS = [("sparse", False), ("sparse", True), ("dense", False), ("reference", False)]
everywhere = pytest.mark.parametrize(("algebra", "native"), WAYS)


def kept(learner: nr.RuleLearner) -> list[tuple[dict[int, float], float]]:
    """The rows of the sample, by feature, with their truths."""
    rows = list_rows(learner.model.arrays.seen)
    return [
        (dict(zip(rows["idx"][a:b].tolist(), rows["val"][a:b].tolist(), strict=True)), truth)
        for a, b, truth in zip(rows["start"][:-1], rows["start"][1:], rows["truth"].tolist(), strict=True)
    ]


def as_dict(x: Array) -> dict[int, float]:
    return {int(j): float(x[j]) for j in np.flatnonzero(x)}


def wide(seed: int, rounds: int = 90) -> tuple[csr_array, Array]:
    """A few features, far apart among many."""
    X, y = streams.sparse(rounds, 20, density=0.3, seed=seed)
    X[:, 0] = X[0, 19] = 1.0  # no row is empty, and the first has the last feature
    rows = csr_array(X)
    return csr_array((rows.data, rows.indices * (D // 19), rows.indptr), shape=(rounds, D)), y


def by_number(rows: csr_array, t: int) -> dict[int, float]:
    part = slice(rows.indptr[t], rows.indptr[t + 1])
    return dict(zip(rows.indices[part].tolist(), rows.data[part].tolist(), strict=True))


# ---- what is remembered --------------------------------------------------------------------------------------------


@pytest.mark.thinned(2)
@everywhere
@pytest.mark.parametrize("m", [1, 6, 50, 1000])
def test_the_sample_is_that_of_a_plain_list(algebra: str, native: bool, m: int) -> None:
    X, y = streams.sparse(120, 8, density=0.4, seed=1)
    X[X[:, 0] == 0.0, 0] = 0.5
    learner, plainly = nr.make(recollect, m=m, algebra=algebra, native=native), Reservoir(m)
    for start in range(0, 120, 40):
        learner.learn(X[start : start + 40], y[start : start + 40])
        for x, label in zip(X[start : start + 40], y[start : start + 40], strict=True):
            plainly.offer(x, int(label))
        found = [({j: v for j, v in row.items() if v}, truth) for row, truth in kept(learner)]
        assert found == [(as_dict(x), float(truth)) for x, truth in plainly.things]
        w = learner.scores(np.eye(8))
        right = sum((w @ x >= 0.0) == (truth > 0) for x, truth in plainly.things)
        assert learner.model.arrays.n.right == right
    assert 0 < right < max(m, 2)


@only_in_test_all
def test_every_row_is_as_likely_to_be_in_the_sample_and_in_any_place_of_it() -> None:
    seeds, rounds, m = 300, 40, 5
    X, y = csr_array(np.eye(rounds)), np.ones(rounds)
    times = np.zeros((rounds, m))
    for seed in range(seeds):
        for place, (row, _) in enumerate(kept(nr.make(recollect, m=m, seed=seed).learn(X, y))):
            times[next(iter(row)), place] += 1.0
    in_it, at = times.sum(axis=1), times[m:]
    likely = m / rounds
    misfit = float(((in_it - seeds * likely) ** 2).sum() / (seeds * likely * (1.0 - likely)) * (rounds - 1) / rounds)
    assert misfit < chi2(rounds - 1).ppf(0.999)
    assert misfit > chi2(rounds - 1).ppf(0.001)  # chance, not a quota
    by_place = at.sum(axis=0)
    assert ((by_place - by_place.mean()) ** 2 / by_place.mean()).sum() < chi2(m - 1).ppf(0.999)


def test_in_one_long_stream_early_and_late_rows_are_remembered_alike() -> None:
    rounds, m = 20_000, 500
    X = csr_array((np.ones(rounds), np.arange(rounds), np.arange(rounds + 1)), shape=(rounds, rounds))
    rows = [next(iter(row)) for row, _ in kept(nr.make(recollect, m=m).learn(X, np.ones(rounds)))]
    assert len(set(rows)) == m
    times = np.bincount(np.array(rows) // (rounds // 10), minlength=10)
    assert ((times - m / 10) ** 2 / (m / 10)).sum() < chi2(9).ppf(0.999)


def test_another_seed_draws_another_sample_and_the_same_seed_the_same() -> None:
    X, y = wide(1)
    first, second, third = (nr.make(recollect, seed=seed).learn(X, y) for seed in (1, 1, 2))
    assert kept(first) == kept(second)
    assert kept(first) != kept(third)


@pytest.mark.thinned(2)
@everywhere
def test_many_classes_are_told_apart_as_the_task_does_it(algebra: str, native: bool) -> None:
    X, _ = streams.sparse(150, 6, density=0.5, seed=3)
    X[:, 0] = 1.0
    y = np.concatenate(([0, 1, 0, 2, 1, 0, 3], np.random.default_rng(3).integers(0, 6, size=143)))
    learner = nr.make(recollect, m=20, algebra=algebra, native=native, task="multiclass")
    for t in range(150):  # classes come one after another
        learner.learn(X[t : t + 1], y[t : t + 1])
        W = learner.scores(np.eye(6)).T
        right = sum(int(np.argmax(W @ dense(row, 6))) == truth for row, truth in kept(learner))
        assert t == 0 or learner.model.arrays.n.right == right  # with one class only a round is none
    assert {learner.classes[int(truth)] for _, truth in kept(learner)} > {0, 1, 2, 3}


def dense(row: dict[int, float], d: int) -> Array:
    x = np.zeros(d)
    x[list(row)] = list(row.values())
    return x


@pytest.mark.thinned(2)
@pytest.mark.parametrize("labels", [("a", "b", "c"), (1, 5, 7), (1, 0, 2), (-1, 1, 3), (5, 1, 7)])
@everywhere
def test_truths_stay_true_when_classes_come(algebra: str, native: bool, labels: tuple[Any, ...]) -> None:
    X = np.eye(60) + np.eye(60)[0]
    rng = np.random.default_rng(4)
    y = [labels[0]] * 10 + [labels[rng.integers(2)] for _ in range(20)] + [labels[rng.integers(3)] for _ in range(30)]
    y[10], y[30] = labels[1], labels[2]
    learner = nr.make(recollect, m=12, algebra=algebra, native=native)
    for start, stop in ((0, 10), (10, 11), (11, 30), (30, 31), (31, 60)):
        learner.learn(X[start:stop], y[start:stop])
        signs = learner.model.labels.signs(len(learner.model.labels)) if learner.task == "binary" else np.arange(3.0)
        assert [truth for _, truth in kept(learner)] == [
            signs[learner.model.labels.code[y[max(row)]]] for row, _ in kept(learner)
        ]
        again = learner.copy()
        assert kept(again) == kept(learner)
    assert learner.task == "multiclass"


def test_a_zero_row_may_bring_a_class() -> None:
    X = np.array([[1.0, 1.0], [1.0, -1.0], [1.0, 2.0], [0.0, 0.0], [2.0, 1.0], [1.0, -3.0]])
    for told in ({"algebra": "reference"}, {"native": False}, {"algebra": "dense"}):
        learner = nr.make(recollect, **told).learn(X, [0, 1, 0, 2, 0, 1])
        W = learner.scores(np.eye(2)).T
        assert learner.model.arrays.n.right == sum(
            int(np.argmax(W @ dense(row, 2))) == truth for row, truth in kept(learner)
        )


@pytest.mark.parametrize("algebra", ["sparse", "dense", "reference"])
def test_a_score_of_zero_is_positive_and_of_classes_that_tie_the_first_leads(algebra: str) -> None:
    one = np.array([[1.0, 0.0]])
    binary = nr.make(recollect, algebra=algebra, native=False).learn(np.repeat(one, 3, axis=0), [1, 1, -1])
    many = nr.make(recollect, algebra=algebra, native=False, task="multiclass", classes=[0, 1, 2])
    many.learn(np.repeat(one, 2, axis=0), [1, 0])
    assert binary.scores(one).tolist() == [0.0]
    assert many.scores(one).tolist() == [[0.0, 0.0, 0.0]]
    assert (binary.model.arrays.n.right, many.model.arrays.n.right) == (2.0, 1.0)


@pytest.mark.parametrize("algebra", ["sparse", "dense"])
def test_a_count_goes_on_from_the_last_one_as_rows_come_and_go(algebra: str) -> None:
    X, y, _ = streams.separable(150, 4, 0.3, seed=14)
    y = streams.flip(y, 0.3, seed=14)
    learner = nr.make(recollect, m=5, algebra=algebra, native=False)
    for t in range(150):
        learner.learn(X[t : t + 1], y[t : t + 1])
        w = learner.scores(np.eye(4))
        assert learner.model.arrays.n.right == sum(
            (w @ dense(row, 4) >= 0.0) == (truth > 0.0) for row, truth in kept(learner)
        )


@pytest.mark.parametrize("algebra", ["sparse", "dense"])
def test_a_class_that_comes_while_w_stands_still_takes_the_rows_it_leads_on(algebra: str) -> None:
    learner = nr.make(recollect, m=100, algebra=algebra, native=False, task="multiclass")
    one = np.array([[1.0, 0.0]])
    learner.learn(
        np.repeat(one, 40, axis=0), [0, 1, 2, 3, 4] * 8
    )  # the first round has no rival, and is not remembered
    assert learner.model.space is not None
    assert (
        learner.model.space.class_room > learner.model.space.classes
    )  # so that nothing is moved when the next one comes
    home = learner.model.arrays.seen.val
    w = by_class_and_feature(learner.model.arrays.w, learner.model.space)
    w[:5] = -1.0  # no score is positive any more, and class 0 leads
    w[0] = -0.5
    learner.model.arrays.n.moves += 1.0
    moves = float(learner.model.arrays.n.moves)
    assert learner.learn(one, [0]).model.arrays.n.right == 8.0
    assert learner.learn(np.zeros((1, 2)), [5]).learn(one, [5]).model.arrays.n.right == 1.0
    assert learner.model.arrays.n.moves == moves
    assert learner.model.arrays.seen.val is home


def test_a_count_that_stops_early_is_below_the_record_exactly_when_the_whole_count_is() -> None:
    X, y = wide(5, 200)
    learner = nr.make(twice, native=False)
    above = []
    for t in range(200):
        learner.learn(X[t : t + 1], y[t : t + 1])
        a, b, size = learner.model.arrays.n.a, learner.model.arrays.n.b, min(t + 1.0, 30.0)
        above.append(bool(b > 20.0))
        assert a == b if b > 20.0 or b == size else b <= a <= 20.0
    assert set(above) == {False, True}


# ---- calls, undone and not -----------------------------------------------------------------------------------------


@pytest.mark.thinned(2)
@pytest.mark.compiles
@pytest.mark.parametrize("m", [3, 25])
def test_how_rounds_are_called_for_changes_nothing(m: int) -> None:
    X, y = wide(6)
    whole, few, single, slow = (nr.make(recollect, m=m, native=native) for native in (True, True, True, False))
    whole.learn(X, y)
    slow.learn(X, y)
    for t in range(0, 90, 4):
        few.learn(X[t : t + 4], y[t : t + 4])
        if t == 40:
            few = few.copy()
    for t in range(90):
        single.learn_one(by_number(X, t), y[t])
    assert pack(whole) == pack(few) == pack(single)
    assert kept(whole) == kept(slow)
    assert whole.model.arrays.n.right == slow.model.arrays.n.right


@pytest.mark.compiles
def test_a_single_round_moves_nothing_and_many_need_no_more_room_than_the_sample() -> None:
    X, y = wide(7)
    learner = nr.make(recollect, m=20).learn(X[:60], y[:60])
    learner.learn_one(by_number(X, 60), y[60])
    homes = set()
    for t in range(3000):
        learner.learn_one(by_number(X, t % 90), y[t % 90])
        homes.add(id(learner.model.arrays.seen.val))
    assert len(homes) < 15
    assert learner.model.arrays.seen.truth.size < 300
    assert learner.model.arrays.seen.val.size < 3000


def bursting(rows: csr_array, labels: Any) -> tuple[csr_array, Any]:
    """Rows, and after them three of which one is learned, whatever the weights, and one has no score then."""
    huge = csr_array(([1e200] * 3, ([0, 1, 2], [0, 0, 0])), shape=(3, D))
    return vstack([rows, huge]).tocsr(), [*labels, labels[0], labels[1], labels[0]]


@pytest.mark.compiles
@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("by", ["call", "long call", "single", "unfinished"])
@pytest.mark.thinned(3)
def test_a_refused_call_leaves_the_sample_as_it_was(by: str, native: bool) -> None:
    X, y = wide(8)
    learner, twin = (nr.make(recollect, m=9, native=native) for _ in range(2))
    for one in (learner, twin):
        one.learn(X[:40], y[:40])
        one.learn_one(by_number(X, 40), y[40])
    before, rows = pack(learner), kept(learner)
    heaviest = int(np.argmax(np.abs(learner.model.arrays.w[:D])))
    for t in range(41, 45):
        if by == "single":
            with pytest.raises(nr.Error):
                learner.learn_one({heaviest: 1.7e308}, y[t])
        elif by == "unfinished":
            rows_read = csr_array(([1.0, 2.0, np.nan], ([0, 1, 2], [0, 1000, 0])), shape=(3, D))
            with pytest.raises(nr.Error, match="must be finite"):
                learner.learn(rows_read, [-1, 1, 1])
        else:
            several = 1 if by == "call" else 25
            bad, labels = bursting(X[[t] * 5 * several], [1, -1, 1, 1, -1] * several)
            with pytest.raises(nr.Error, match="no longer finite"):
                learner.learn(bad, labels)
        assert pack(learner) == before
        assert kept(learner) == rows
    for one in (learner, twin):
        for t in range(41, 90, 7):
            one.learn(X[t : t + 7], y[t : t + 7])
        for t in range(90):
            one.learn_one(by_number(X, t), y[t])
    assert pack(learner) == pack(twin)


@pytest.mark.parametrize("native", [False, True])
def test_a_refused_call_that_brings_a_class_leaves_signs_and_weights_as_they_were(native: bool) -> None:
    X, _ = wide(9)
    for labels, new in (([1, 1], 5), ([1, 5], 7)):
        learner = nr.make(recollect, m=9, native=native).learn(X[:40], np.resize(labels, 40))
        before = pack(learner)
        with pytest.raises(nr.Error, match="no longer finite"):
            learner.learn(*bursting(X[[40, 41]], [new, labels[0]]))
        assert pack(learner) == before


def test_a_refused_call_that_turns_the_signs_is_undone_where_no_row_reaches() -> None:
    learner = nr.make("perceptron", eta=10.0)
    learner.learn(csr_array(([1.0, 2.0, 3.0], ([0, 1, 2], [5, 600, 7000])), shape=(3, D)), [1, 1, 1])
    before = pack(learner)
    with pytest.raises(nr.Error, match="no longer finite"):
        learner.learn(csr_array(([1.3e154] * 2, ([0, 1], [5, 5])), shape=(2, D)), [5, 5])
    assert pack(learner) == before


# ---- where there is none -------------------------------------------------------------------------------------------


def test_where_rows_cannot_be_remembered_with_their_class_it_is_said() -> None:
    with pytest.raises(nr.BadValue, match="of_gradients remembers rows with their classes: only a margin rule"):
        nr.make(of_gradients)
    with pytest.raises(
        nr.BadValue, match="recollect cannot play in the kernel algebra: it names count_correct, remember"
    ):
        nr.make(recollect, algebra="kernel")
    X, y = streams.dense(20, 3, 0)
    a, b = (nr.make(recollect, native=False).learn(X, y) for _ in range(2))
    with pytest.raises(nr.BadValue, match="recollect cannot be merged: each learner remembers a sample"):
        a.merge(b)


@margin_rule(paper="-", params={}, state={"w": plain, "seen": reservoir})
def on_losses(p: P, s: S, z: Z, margin: float) -> bool:
    remember(s.seen, 5.0, z)
    if margin < 1.0:
        add(s.w, 0.1, z)
    return bool(margin < 1.0)


REGISTRY.pop("on_losses")


def test_a_target_is_no_class() -> None:
    assert "regression" in on_losses.tasks
    with pytest.raises(nr.BadValue, match="only a margin rule in a task of classes"):
        nr.make(on_losses, task="regression")
