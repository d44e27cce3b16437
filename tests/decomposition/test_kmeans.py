"""Online k-means: equal to the papers' equations, means that are means, and clusters beside those of scikit-learn."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import noregret as nr
from noregret.decomposition.centres import STARTS, Centres
from noregret.decomposition.kmeans import REFINEMENTS
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.naive.kmeans import Row, find_clusters
from tests.support import by_name

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 4)) + 3.0 * RNG.normal(size=(3, 4))[RNG.integers(3, size=60)]
ROWS = [{name: value for at, (name, value) in enumerate(by_name(row).items()) if (number + at) % 4} for number, row
        in enumerate(X)]  # fmt: skip
NONE, LABELS = [None] * 60, [number % 3 for number in range(60)]
BAD_ROW, BAD_DICT = np.full(4, np.nan), {"f1": float("inf")}


def make(**options: Any) -> Any:
    return nr.make("kmeans", **{"k": 3, "batch": 4, "start": 12, "native": False, **options})


CASES = {
    "one row at a time": Case(lambda: make(batch=1), X, NONE, BAD_ROW),
    "mini-batches of dicts": Case(lambda: make(batch=5, start=7), ROWS, LABELS, BAD_DICT),
    "a start of all rows": Case(lambda: make(start=100, seed=3), X, NONE, BAD_ROW),
    "hashed names": Case(lambda: make(bits=3, scale=True), ROWS, NONE, BAD_DICT),
    "more centres than rows": Case(lambda: make(k=70, start=3), X, NONE, BAD_ROW),
}


@pytest.mark.thinned(6)
@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_follows_the_protocol(case: Case, check: Callable[[Case], None]) -> None:
    check(case)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_saved_and_loaded_goes_on(case: Case, tmp_path: Path) -> None:
    check_save_and_go_on(case, tmp_path)


# ---- twin ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"batch": 1}, {}, {"batch": 9, "k": 5, "start": 30}, {"k": 1}], ids=str)
def test_learns_as_its_twin(options: dict[str, Any]) -> None:
    learner = make(**options)
    first = learner.first_batch
    random = np.random.Generator(np.random.Philox(key=np.array([0, 0], np.uint64)))

    def draw() -> list[Row]:
        seeds = Centres.start(4)
        seeds.seed(X[:first], learner.k, random)
        return list(seeds.centres.tolist())

    twin = find_clusters(X[:first].tolist(), draw, STARTS, 1 + REFINEMENTS)
    losses = learner.play(X).losses
    np.testing.assert_allclose(losses[:first], (X[:first] ** 2).sum(axis=1))  # no centre is known yet
    for start in range(first, 60, learner.batch):
        batch = X[start : start + learner.batch].tolist()
        expected = [twin.loss(row) for row in batch]
        np.testing.assert_allclose(losses[start : start + len(batch)], expected, rtol=1e-9, atol=1e-12)
        twin.learn(batch)
    np.testing.assert_allclose(learner.centres, twin.centres, rtol=1e-10)
    assert learner.counts.tolist() == twin.counts
    assert learner.predict(X).tolist() == [twin.nearest(row) for row in X.tolist()]
    distances = np.sqrt(((X[:, None] - learner.centres) ** 2).sum(axis=2))
    np.testing.assert_allclose(learner.transform(X), distances, rtol=1e-9)
    assert learner.inertia(X) == pytest.approx(sum(twin.loss(row) for row in X.tolist()))


@pytest.mark.parametrize(("batch", "start", "first"), [(4, 0, 90), (100, 0, 100), (4, 12, 12), (20, 12, 20)])
def test_the_first_mini_batch_has_30_rows_for_each_centre_or_as_many_as_asked_for(
    batch: int, start: int, first: int
) -> None:
    learner = make(batch=batch, start=start)
    losses = learner.play(np.random.default_rng(1).normal(size=(130, 2)) + 10.0).losses
    assert learner.first_batch == first
    assert (losses[:first] > 50.0).all()  # the square of the length of the row: no centre is known
    assert (losses[first:] < 50.0).all()


# ---- what the method promises --------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 6])
def test_each_centre_is_the_mean_of_the_rows_it_has_learned(batch: int) -> None:
    learner, owned = make(batch=batch, start=12).learn(X[:12]), list[int]()
    owned = learner.predict(X[:12]).tolist()
    for start in range(12, 60, batch):
        owned += learner.predict(X[start : start + batch]).tolist()
        learner.learn(X[start : start + batch])
    means = [X[np.array(owned) == number].mean(axis=0) for number in range(3)]
    np.testing.assert_allclose(learner.centres, means, rtol=1e-10)
    assert learner.counts.sum() == learner.rounds == 60


def test_a_step_towards_a_row_lowers_its_loss() -> None:
    learner = make(batch=1).learn(X[:20])
    for row in X[20:]:
        before = learner.evaluate([row]).losses[0]
        number = learner.predict([row])[0]
        rate = 1.0 / (learner.counts[number] + 1)
        learner.learn([row])
        own = ((learner.centres[number] - row) ** 2).sum()
        assert own == pytest.approx((1.0 - rate) ** 2 * before)


def test_seeds_are_rows_far_from_each_other() -> None:
    """Rows at the corners of a large square, many at three of them: every corner has a seed, whatever the seed."""
    corners = np.array([[0.0, 0.0], [0.0, 100.0], [100.0, 0.0], [100.0, 100.0]])
    rows = np.repeat(corners, [40, 40, 40, 2], axis=0)
    for seed in range(5):
        found = make(k=4, seed=seed, start=122).learn(rows).centres
        assert sorted(found.tolist()) == corners.tolist()


def test_seeding_keeps_its_bound() -> None:
    """Arthur and Vassilvitskii 2007: the expected loss of the seeds is at most 8 (ln k + 2) times the smallest."""
    rows = np.repeat(np.arange(5.0), 20)[:, None] * 50.0 + np.random.default_rng(6).normal(size=(100, 1))
    best = sum(((part - part.mean()) ** 2).sum() for part in np.split(rows, 5))
    losses = []
    for seed in range(40):
        state = Centres.start(1)
        state.seed(rows, 5, np.random.default_rng(seed))
        losses.append(state.distances(rows).min(axis=1).sum())
        assert set(state.centres.ravel().tolist()) <= set(rows.ravel().tolist())
    assert np.mean(losses) <= 8.0 * (np.log(5) + 2.0) * best


def test_rows_that_are_all_equal_have_one_centre_until_another_comes() -> None:
    learner = make(start=4).learn(np.ones((8, 2)))
    assert learner.centres.tolist() == [[1.0, 1.0]]
    assert learner.transform([[1.0, 1.0]]).tolist() == [[0.0, np.inf, np.inf]]
    learner.learn([[1.0, 1.0], [5.0, 1.0], [1.0, 1.0], [5.0, 1.0]])
    assert sorted(learner.centres.tolist()) == [[1.0, 1.0], [5.0, 1.0]]
    assert learner.predict([[4.0, 1.0], [0.0, 0.0]]).tolist() == [1, 0]
    assert make(start=4).learn(np.zeros((5, 2))).centres.shape[1] == 2


def test_distances_are_exact_far_from_the_origin() -> None:
    learner = make().learn(X + 1e8)
    expected = ((X + 1e8)[:, None] - learner.centres) ** 2
    np.testing.assert_allclose(learner.transform(X + 1e8), np.sqrt(expected.sum(axis=2)), rtol=1e-6)


def test_features_that_come_late_count_in_the_loss_of_their_row() -> None:
    learner = make(k=1, batch=1, start=2).learn([{"a": 1.0}, {"a": 3.0}])
    transcript = learner.play([{"a": 5.0, "b": 4.0}])
    assert transcript.losses.tolist() == [3.0**2 + 4.0**2]
    assert transcript.scores.tolist() == [[5.0]]
    assert learner.centres.tolist() == [[3.0, pytest.approx(4.0 / 3.0)]]


def test_seeds_are_better_than_those_of_a_single_draw() -> None:
    rows = np.random.default_rng(6).normal(size=(150, 2))
    losses = {"own": 0.0, "single": 0.0}
    for seed in range(40):
        state = Centres.start(2)
        state.seed(rows, 8, np.random.default_rng(seed))
        losses["own"] += state.distances(rows).min(axis=1).sum()
        losses["single"] += draw_seeds(rows, 8, np.random.default_rng(seed))
    assert losses["own"] < 0.9 * losses["single"]


def draw_seeds(rows: NDArray[np.float64], k: int, random: np.random.Generator) -> float:
    """The loss of the seeds of k-means++ with one draw for each."""
    nearest = ((rows - rows[random.integers(len(rows))]) ** 2).sum(axis=1)
    for _ in range(k - 1):
        drawn = rows[random.choice(len(rows), p=nearest / nearest.sum())]
        nearest = np.minimum(nearest, ((rows - drawn) ** 2).sum(axis=1))
    return float(nearest.sum())


def test_clusters_are_as_tight_as_those_of_scikit_learn() -> None:
    """Inertia on digits after one and after three passes: at most 1 % above MiniBatchKMeans, mean of 5 seeds."""
    cluster, datasets = pytest.importorskip("sklearn.cluster"), pytest.importorskip("sklearn.datasets")
    with pytest.importorskip("threadpoolctl").threadpool_limits(1):  # threads that wait for each other are slow
        digits = datasets.load_digits().data
        for batch, passes in ((32, 1), (256, 1), (256, 3)):
            own, theirs = list[float](), list[float]()
            for seed in range(5):
                rows = digits[np.random.default_rng(seed).permutation(len(digits))]
                learner = make(k=10, batch=batch, start=0, seed=seed)
                for _ in range(passes):
                    learner.learn(rows)
                own.append(learner.inertia(rows))
                other = cluster.MiniBatchKMeans(10, batch_size=batch, max_iter=passes, random_state=seed, n_init=1,
                                                max_no_improvement=None).fit(rows)  # fmt: skip
                theirs.append(float((other.transform(rows).min(axis=1) ** 2).sum()))
            assert np.mean(own) <= 1.01 * np.mean(theirs)


def test_clusters_are_described_by_what_sets_them_apart() -> None:
    """The largest first, and at most five features of each, the largest differences first."""
    rows = np.zeros((1500, 7))
    rows[:1100, :6] = np.arange(1.0, 7.0)
    assert make(k=2, start=1500).learn(rows).describe_results()[0] == (
        "  cluster      rows  largest differences from the mean of all rows"
    )
    lines = sorted(make(k=2, start=1500).learn(rows).describe_results()[1:], key=lambda line: line[9:19])
    assert [line[9:] for line in lines] == [
        "       400  5 -4.4, 4 -3.67, 3 -2.93, 2 -2.2, 1 -1.47",
        "     1,100  5 +1.6, 4 +1.33, 3 +1.07, 2 +0.8, 1 +0.533",
    ]
    learner = make(k=2, start=1500).learn(rows)
    assert [int(line[:9]) for line in learner.describe_results()[1:]] == np.argsort(-learner.counts).tolist()


def test_features_without_a_difference_are_not_described() -> None:
    rows = np.column_stack((np.arange(40.0) % 2.0, np.zeros(40)))
    assert sorted(line[9:] for line in make(k=2).learn(rows).describe_results()[1:]) == [
        "        20  0 +0.5", "        20  0 -0.5",
    ]  # fmt: skip


def test_a_cluster_of_one_row_is_the_mean() -> None:
    assert make(k=1, batch=1, start=1).learn([[3.0, 4.0]]).describe_results()[1:] == ["        0         1  "]


def test_of_many_clusters_the_20_largest_are_described() -> None:
    lines = make(k=21, start=63).learn(np.random.default_rng(1).normal(size=(80, 2))).describe_results()
    counts = [int(line[9:19]) for line in lines[1:]]
    assert len(counts) == 20
    assert counts == sorted(counts, reverse=True)
