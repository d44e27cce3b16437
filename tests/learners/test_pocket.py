"""Perceptrons that predict with a copy: the pocket (Gallant 1990) and the batch (Duda and Hart 1973)."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.state.stores.reservoir import list_rows
from tests.learners.reading import after_each_round, bound_of, radius_of, same, two_classes, weights, written
from tests.naive import streams
from tests.naive.pocket import Reservoir
from tests.naive.rules import Array
from tests.support.cover import only_in_test_all, seeds
from tests.support.engines import engines
from tests.support.model_files import tensors


def noisy(seed: int) -> tuple[Array, Array]:
    X, y, _ = streams.separable(300, 6, 0.05, seed)
    return X, streams.flip(y, 0.15, seed)


# ---- the pocket ---------------------------------------------------------------------------------------------------


@engines
@pytest.mark.parametrize("ratchet", [False, True])
def test_the_four_points_leave_the_second_vector_in_the_pocket_and_then_the_third(ratchet: bool, native: bool) -> None:
    X, y = streams.four()
    learner = nr.make("perceptron_pocket", ratchet=ratchet, native=native)
    written(after_each_round(learner, X, y), [[0, 0], [0, 0], [3, -1], [3, -1]])
    written(after_each_round(learner, X, y), [[3, -1], [1, -3], [1, -3], [1, -3]])
    assert (learner.model.arrays.n.run, learner.model.arrays.n.longest) == (4.0, 4.0)


def test_trains_as_the_perceptron() -> None:
    X, y = two_classes("digits")
    plain, learner = nr.make("perceptron").play(X, y), nr.make("perceptron_pocket").play(X, y)
    assert learner.margins.tolist() == (y * plain.scores).tolist()
    assert learner.updated.tolist() == plain.updated.tolist()


@engines
@seeds(3)
def test_in_the_pocket_is_the_vector_of_the_longest_run_of_right_rounds(seed: int, native: bool) -> None:
    X, y = noisy(seed)
    X = X[:120]
    path = np.vstack([np.zeros((1, 6)), after_each_round(nr.make("perceptron", native=False), X, y[:120])])
    learner = nr.make("perceptron_pocket", ratchet="no", native=native)
    run = longest = 0
    pocket, changes = path[0], 0
    for t in range(120):
        learner.learn(csr_array(X[[t]]), y[[t]])
        run = run + 1 if y[t] * path[t] @ X[t] > 0.0 else 0
        if run > longest:
            longest, changes, pocket = run, changes + int((pocket != path[t]).any()), path[t]
        same(weights(learner, 6), pocket)
    assert changes >= 3
    assert longest > 5


@pytest.mark.many_rounds
@pytest.mark.parametrize(
    "told", [{"ratchet": "no"}, {"reservoir": 1}, {"reservoir": 5}, {"reservoir": 60}, {}], ids=str
)
def test_what_separates_the_rows_ends_up_in_the_pocket(told: dict[str, Any]) -> None:
    for seed in range(5):
        X, y, u = streams.separable(150, 5, 0.05, seed)
        learner = nr.make("perceptron_pocket", **told)
        most = bound_of(learner, radius=radius_of(X), margin=float((y * (X @ u)).min()))
        while learner.play(X, y).updated.any():
            assert learner.updates <= most
        learner.learn(X, y)  # no run of a vector that errs was longer than a pass
        assert (learner.predict(X) == y).all()


@only_in_test_all
@pytest.mark.many_rounds
def test_many_classes_that_can_be_told_apart_are_told_apart_by_the_pocket() -> None:
    X, y, _ = streams.blobs(200, 6, 4, spread=0.3, seed=2)
    learner = nr.make("perceptron_pocket", reservoir=15)
    while learner.play(X, y).updated.any():
        assert learner.rounds < 100_000
    assert (learner.learn(X, y).predict(X) == y).all()


def test_on_noisy_rows_the_pocket_errs_less_than_the_last_vector() -> None:
    errors: dict[str, int] = {"perceptron": 0, "perceptron_pocket": 0}
    for seed in range(5):
        X, y = noisy(seed)
        for name in errors:
            learner = nr.make(name, native=False)
            nr.epochs(learner, X, y, passes=5, seed=seed)
            errors[name] += int((learner.predict(X) != y).sum())
    assert errors["perceptron_pocket"] < errors["perceptron"]


@pytest.mark.many_rounds
def test_on_noisy_rows_the_ratchet_errs_less_than_the_longest_run_alone() -> None:
    found = []
    for seed in range(12):
        X, y, _ = streams.separable(7000, 10, 0.2, seed)
        noise = streams.flip(y[:6000], 0.1, seed)
        both = [
            nr.make("perceptron_pocket", **told).learn(X[:6000], noise)
            for told in ({"ratchet": "no"}, {"reservoir": 300})
        ]
        found.append([int((learner.predict(X[6000:]) != y[6000:]).sum()) for learner in both])
    without, ratchet = np.array(found).T
    assert ratchet.sum() < 0.6 * without.sum()
    assert (ratchet < without).sum() >= 7
    assert (ratchet > without).sum() <= 1


# ---- the ratchet --------------------------------------------------------------------------------------------------


def put_right(learner: nr.RuleLearner, d: int) -> int:
    """How many rows of the sample the pocket puts right, as anyone would count them."""
    rows = list_rows(learner.model.arrays.sample)
    X = np.zeros((rows["truth"].size, d))
    for t in range(len(X)):
        part = slice(rows["start"][t], rows["start"][t + 1])
        X[t, rows["idx"][part]] = rows["val"][part]
    scores = learner.scores(X)
    if learner.task == "multiclass":
        return int((scores.argmax(axis=1) == rows["truth"]).sum())
    return int(((scores >= 0.0) == (rows["truth"] > 0.0)).sum())


@engines
@pytest.mark.parametrize("algebra", ["sparse", "dense"])
@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_the_pocket_changes_only_for_a_longer_run_that_puts_more_right(algebra: str, task: str, native: bool) -> None:
    X, y = noisy(1)
    if task == "multiclass":
        X, labels, _ = streams.blobs(300, 6, 4, spread=0.9, seed=4)
        y = labels.astype(float)
    learner = nr.make("perceptron_pocket", task=task, algebra=algebra, reservoir=40, native=native)
    held, record, longest, changes, refused = None, 0.0, 0.0, 0, 0
    for t in range(300):
        learner.learn(X[t : t + 1], y[t : t + 1])
        n, now = learner.model.arrays.n, weights(learner, 6).tolist()
        assert n.right >= record
        if n.longest > longest:
            assert n.longest == n.run == longest + 1.0 or held != now
            assert n.right == put_right(learner, 6)
            assert n.right > record or n.right == min(n.sample_seen, 40.0)
            changes += 1
        else:
            assert (n.right, n.longest) == (record, longest)
            assert held is None or held == now or len(held) < len(now)
            refused += bool(n.run > longest)
        held, record, longest = now, float(n.right), float(n.longest)
    assert changes >= 3
    assert refused > 20


@engines
def test_a_run_that_is_longer_but_no_better_stays_out_until_nothing_speaks_against_it(native: bool) -> None:
    """(1, 0) is right three times in a row and puts all four rows right; then w = (-2, 1) is right for ever."""
    X = np.array([[1.0, 0.0]] * 4 + [[-3.0, 1.0]] + [[0.0, 1.0]] * 45)
    sample = Reservoir(4)
    pockets = {told: nr.make("perceptron_pocket", reservoir=4, ratchet=told, native=native) for told in ("yes", "no")}
    waited = 0
    for t, x in enumerate(X):
        sample.offer(x, 1)
        for learner in pockets.values():
            learner.learn(x[None], [1])
        contradicted = any(row[0] > 0.0 for row, _ in sample.things)
        waited += contradicted and t >= 8
        if t > 0:
            written(weights(pockets["yes"], 2), [1, 0] if t < 8 or contradicted else [-2, 1])
            written(weights(pockets["no"], 2), [1, 0] if t < 8 else [-2, 1])
    assert 0 < waited < 42


def test_without_the_ratchet_nothing_is_remembered() -> None:
    X, y = noisy(5)
    learner = nr.make("perceptron_pocket", ratchet=False).learn(X, y)
    assert learner.model.arrays.n.sample_seen == learner.model.arrays.n.right == 0.0
    assert set(tensors(learner)) == {"state.w", "state.w_old", "state.w_stamp", "recent_scores"}
    assert nr.make("perceptron_pocket", native=False).learn(X, y).model.arrays.n.sample_seen == 300.0


def test_a_sample_of_all_rows_is_the_training_set() -> None:
    X, y = noisy(6)
    learner = nr.make("perceptron_pocket", reservoir=1e9, native=False).learn(X, y)
    assert list_rows(learner.model.arrays.sample)["truth"].tolist() == y.tolist()


def test_rows_are_whole() -> None:
    with pytest.raises(nr.BadValue, match=r"perceptron_pocket: reservoir must be a whole number of rows, not 2\.5"):
        nr.make("perceptron_pocket", reservoir=2.5)
    with pytest.raises(nr.BadValue, match="perceptron_pocket: ratchet must be one of yes, no"):
        nr.make("perceptron_pocket", ratchet="maybe")


def test_a_copy_taken_in_a_large_space_is_kept_when_calls_are_small_and_undone_when_one_fails(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    X = csr_array((rng.normal(size=600), rng.integers(0, 5000, size=600), np.arange(0, 601, 6)), shape=(100, 5000))
    X.sum_duplicates()
    dense = X.toarray()
    y = np.tile(np.where(dense @ rng.normal(size=5000) > 0.0, 1, -1), 4)
    X = csr_array(np.vstack([dense] * 4))
    whole, parts = nr.make("perceptron_pocket").learn(X, y), nr.make("perceptron_pocket", native=False)
    for t in range(0, 400, 3):
        parts.learn(X[t : t + 3], y[t : t + 3])
        if t % 60 == 0:
            before = parts.scores(X).tolist()
            with pytest.raises(nr.Error):
                parts.learn(csr_array(([1.0, np.nan], ([0, 1], [7, 8])), shape=(2, 5000)), [-1, 1])
            assert parts.scores(X).tolist() == before
            parts.save(tmp_path / "pocket.nr")
            parts = nr.load(tmp_path / "pocket.nr")
    np.testing.assert_allclose(parts.scores(X), whole.scores(X), rtol=1e-12)


# ---- the batch ----------------------------------------------------------------------------------------------------


def by_hand(X: Array, y: Array, rho: float, passes: int) -> Array:
    """The weights after every pass: one update each, by all rows that are not on the right side."""
    path = [np.zeros(X.shape[1])]
    for _ in range(passes):
        missed = y * (X @ path[-1]) <= 0.0
        path.append(path[-1] + rho * (y[missed] @ X[missed]))
    return np.array(path[1:])


@engines
@pytest.mark.parametrize("rho", [1.0, 0.3])
def test_with_a_batch_of_all_rows_a_pass_is_one_update(rho: float, native: bool) -> None:
    X, y = noisy(1)
    X[[0, 150, 299]] = 0.0  # a batch may begin and end with a row of zeros
    learner = nr.make("perceptron_batch", batch=300, rho=rho, native=native)
    for expected in by_hand(X, y, rho, passes=6):
        scores = learner.play(X, y).scores
        assert len(np.unique(np.round(scores[[0, 150, 299]], 12))) == 1
        same(weights(learner, 6), expected)
        assert learner.model.arrays.n.last == learner.rounds


def test_within_a_batch_nothing_changes_what_is_predicted() -> None:
    X, y = noisy(2)
    learner = nr.make("perceptron_batch", batch=50, native=False)
    for start in range(0, 300, 10):
        before = weights(learner, 6) if learner.rounds else np.zeros(6)
        same(learner.play(X[start : start + 10], y[start : start + 10]).scores, X[start : start + 10] @ before)
        assert (weights(learner, 6) == before).all() == ((start + 10) % 50 != 0)


def test_a_batch_of_one_is_the_perceptron() -> None:
    X, y = noisy(3)
    one, plain = nr.make("perceptron_batch", batch=1, native=False), nr.make("perceptron", native=False)
    assert one.play(X, y).updated.tolist() == plain.play(X, y).updated.tolist()
    same(weights(one, 6), weights(plain, 6))


@pytest.mark.parametrize("margin", [0.05, 0.3])
@pytest.mark.parametrize("batch", [1, 7, 100])
def test_rows_are_added_at_most_batch_times_radius_over_margin_squared_times(batch: int, margin: float) -> None:
    X, y, u = streams.separable(100, 5, margin, seed=4)
    learner = nr.make("perceptron_batch", batch=batch, rho=0.5)
    most = bound_of(learner, radius=radius_of(X), margin=float((y * (X @ u)).min()))
    quiet = 0
    while quiet < 2:  # the first pass without an update may still bring the end of a batch
        quiet = 0 if learner.play(X, y).updated.any() else quiet + 1
        assert learner.updates <= most
    assert learner.updates > 0
    assert (learner.predict(X) == y).all()


@pytest.mark.parametrize("b", [0.5, 4.0])
def test_with_a_margin_a_pass_adds_every_row_that_falls_short_of_it(b: float) -> None:
    X, y = noisy(8)
    learner = nr.make("perceptron_batch", batch=300, b=b, rho=0.3, native=False)
    before = np.zeros(6)
    for _ in range(5):
        learner.learn(X, y)
        short = y * (X @ before) < b
        assert ((y * (X @ before) > 0.0) & short).any() or not before.any()
        same(weights(learner, 6), before + 0.3 * (y[short] @ X[short]))
        before = weights(learner, 6)


@pytest.mark.parametrize(("batch", "b"), [(1, 0.5), (20, 0.1), (20, 3.0)])
def test_batches_go_on_until_every_row_has_the_margin_and_not_longer_than_promised(batch: int, b: float) -> None:
    X, y, u = streams.separable(60, 4, 0.3, seed=9)
    learner = nr.make("perceptron_batch", batch=batch, b=b, rho=0.5, native=False)
    most = bound_of(learner, radius=radius_of(X), margin=float((y * (X @ u)).min()))
    quiet = 0
    while quiet < 2:
        quiet = 0 if learner.play(X, y).updated.any() else quiet + 1
        assert learner.updates <= most
    assert (y * learner.scores(X) >= b).all()


def test_a_row_that_has_just_the_margin_is_not_added() -> None:
    learner = nr.make("perceptron_batch", batch=1, b=1.0, native=False)
    said = learner.play(np.array([[1.0], [1.0], [0.5]]), [1, 1, 1])
    assert said.scores.tolist() == [0.0, 1.0, 0.5]
    assert said.updated.tolist() == [True, False, True]


def test_a_batch_of_one_round_and_a_half_has_two_rounds_now_and_then() -> None:
    learner = nr.make("perceptron_batch", batch=1.5, native=False)
    learner.learn(np.array([[0.0], [1.0], [1.0]]), [1, 1, 1])  # the first round has nothing to add
    assert learner.updates == 2 <= bound_of(learner, radius=1.0, margin=1.0)


def test_the_criterion_is_zero_exactly_when_nothing_is_strictly_wrong() -> None:
    X, y, _ = streams.separable(100, 5, 0.1, seed=5)
    learner = nr.make("perceptron_batch", batch=100, rho=0.1, native=False)
    for _ in range(200):
        moved = learner.play(X, y).updated.any()
        margins = y * learner.scores(X)
        assert (np.maximum(0.0, -margins).sum() == 0.0) == (margins >= 0.0).all()
        if not moved:
            break
    assert not moved
    assert (margins > 0.0).all()


def test_the_step_may_shrink_with_the_batches() -> None:
    X, y = noisy(6)
    learner = nr.make("perceptron_batch", batch=300, schedule="inv_t", native=False)
    before = np.zeros(6)
    for number in range(1, 5):
        learner.learn(X, y)
        missed = y * (X @ before) <= 0.0
        same(weights(learner, 6), before + (y[missed] @ X[missed]) / number)
        before = weights(learner, 6)


def test_neither_is_merged_nor_played_over_kernels() -> None:
    X, y = noisy(7)
    for name in ("perceptron_pocket", "perceptron_batch"):
        a, b = (nr.make(name, native=False).learn(X, y) for _ in range(2))
        with pytest.raises(nr.BadValue, match=f"{name} cannot be merged"):
            a.merge(b)
        with pytest.raises(nr.BadValue, match=f"{name} cannot play in the kernel algebra: it names"):
            nr.make(name, algebra="kernel")
    with pytest.raises(nr.BadValue, match="perceptron_batch: batch must be at least 1"):
        nr.make("perceptron_batch", batch=0)
