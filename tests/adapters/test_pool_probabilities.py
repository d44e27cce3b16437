"""The probabilities of a pool equal their definition; rounds that are used, classes that come, and files."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import noregret as nr
import noregret.adapters.pool_probabilities as module
from noregret.adapters.pool_probabilities import EVERY, FIRST, ProbabilityMixture, calibrate, find_used, score_columns
from tests.support.cover import seeds

Floats = NDArray[np.float64]
LEAST = 1e-4


class NaiveEntry:
    """One entry: probabilities of exp(slope s / size + offset), and Newton steps on its log loss."""

    def __init__(self, classes: int) -> None:
        self.slope, self.curvature, self.squares, self.seen, self.loss = 1.0, 0.0, 0.0, 0.0, 0.0
        self.offsets, self.offset_curvatures = np.zeros(classes), np.zeros(classes)

    def size(self) -> float:
        return math.sqrt(self.squares / self.seen) if self.squares else 1.0

    def probabilities(self, scores: Floats) -> Floats:
        known = np.isfinite(scores)
        powers = self.slope * scores[known] / self.size() + self.offsets[known]
        powers = np.exp(powers - powers.max())
        found = np.zeros(scores.size)
        found[known] = (1 - LEAST) * powers / powers.sum() + LEAST / known.sum()
        return found

    def learn(self, scores: Floats, y: int, q: Floats) -> None:
        known = np.isfinite(scores)
        s, q, error = scores[known] / self.size(), q[known], q[known] - (np.flatnonzero(known) == y)
        self.offset_curvatures[known] += q * (1 - q)
        self.offsets[known] -= error / (1 + self.offset_curvatures[known])
        self.curvature += float(q @ s**2 - (q @ s) ** 2)
        self.slope = max(0.0, self.slope - float(error @ s) / (1 + self.curvature))
        self.squares += float((scores[known] ** 2).sum())
        self.seen += float(known.sum())


def naive(scores: Floats, truth: NDArray[np.int64]) -> tuple[list[NaiveEntry], float, int]:
    """All entries, the log loss of the mixture, and the rounds in which there was one."""
    entries, total, used = [NaiveEntry(scores.shape[2]) for _ in range(scores.shape[1])], 0.0, 0
    for row, y in zip(scores, truth, strict=True):
        awake = [i for i in range(len(entries)) if not np.isnan(row[i, 0])]
        if not awake:
            continue
        said = {i: entries[i].probabilities(row[i]) for i in awake}
        weights = {i: math.exp(-entries[i].loss) for i in awake}
        own = -math.log(sum(weights[i] * said[i][y] for i in awake) / sum(weights.values()))
        total, used = total + own, used + 1
        for i, entry in enumerate(entries):
            if i in said:
                entry.loss -= math.log(said[i][y])
                entry.learn(row[i], int(y), said[i])
            else:
                entry.loss += own
    return entries, total, used


def draw(seed: int, classes: int, rounds: int = 60) -> tuple[Floats, NDArray[np.int64]]:
    """Scores of different sizes and quality; entries that do not play, and a class that most do not know at first."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, rounds)
    scores = rng.normal(size=(rounds, 3, classes)) * [[[1.0], [30.0], [0.01]]]
    scores[:, :2] += [[[1.0], [-20.0]]] * (truth[:, None, None] == np.arange(classes))  # the second is always wrong
    scores[rng.random((rounds, 3)) < 0.2] = np.nan
    truth[:10] = np.minimum(truth[:10], 1)
    if classes > 2:
        scores[:10, 1:, 2] = np.where(np.isnan(scores[:10, 1:, 2]), np.nan, -np.inf)
    scores[7] = np.nan
    return scores, truth


def compare(mixture: ProbabilityMixture, expected: tuple[list[NaiveEntry], float, int]) -> None:
    entries, total, used = expected
    told = np.array([[one.slope, one.curvature, one.squares, one.seen, one.loss] for one in entries]).T
    np.testing.assert_allclose(mixture.entries, told, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(mixture.classes[0], [one.offsets for one in entries], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(mixture.classes[1], [one.offset_curvatures for one in entries], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(mixture.total, [total, used], rtol=1e-9)


@seeds(6, usual=2)
@pytest.mark.parametrize("classes", [2, 4])
def test_the_mixture_is_the_naive_one(seed: int, classes: int) -> None:
    scores, truth = draw(seed, classes)
    mixture = ProbabilityMixture(3, native=False)
    mixture.learn(scores[:25], truth[:25])
    mixture.learn(scores[25:], truth[25:])
    expected = naive(scores, truth)
    compare(mixture, expected)
    rows = np.random.default_rng(9).normal(size=(3, 5, classes))
    rows[1, 2, 1] = -np.inf
    powers = np.exp([-one.loss for one in expected[0]])
    np.testing.assert_allclose(mixture.weights(), powers / powers.sum(), rtol=1e-9)
    each = [np.array([one.probabilities(row) for row in some]) for one, some in zip(expected[0], rows, strict=True)]
    whole = sum(weight * one for weight, one in zip(mixture.weights(), each, strict=True))
    np.testing.assert_allclose(mixture.mix(list(rows), 5), whole, rtol=1e-9)
    part = (mixture.weights()[0] * each[0] + mixture.weights()[2] * each[2]) / (1.0 - mixture.weights()[1])
    np.testing.assert_allclose(mixture.mix([rows[0], None, rows[2]], 5), part, rtol=1e-9)
    assert mixture.mix([None] * 3, 2).tolist() == [[1.0 / classes] * classes] * 2


def test_one_step_by_hand() -> None:
    """Scores 1 and -1, slope 1 and size 1: q = e^2 / (e^2 + 1), but for the share of all classes."""
    mixture = ProbabilityMixture(1, native=False)
    mixture.learn(np.array([[[1.0, -1.0]]]), np.array([1]))
    q = (1 - LEAST) * math.exp(2) / (math.exp(2) + 1) + LEAST / 2
    p = 1.0 - q
    variance = 1.0 - (q - p) ** 2
    assert mixture.total.tolist() == pytest.approx([-math.log(p), 1.0])
    assert mixture.entries[:, 0].tolist() == pytest.approx(
        [max(0.0, 1.0 - 2 * q / (1 + variance)), variance, 2.0, 2.0, -math.log(p)]
    )
    assert mixture.classes[:, 0].tolist() == [
        pytest.approx([-q / (1 + q * p), q / (1 + q * p)]),
        pytest.approx([q * p, q * p]),
    ]


def test_scores_that_are_too_large_to_be_squared_change_no_slope() -> None:
    small, huge = np.array([[[1e-10, -1e-10]]]), np.array([[[1e200, -1e200]]])
    mixture = ProbabilityMixture(1, native=False)
    mixture.learn(small, np.array([0]))
    before = mixture.entries[:4].copy()
    mixture.learn(huge, np.array([0]))
    assert mixture.entries[:4].tolist() == before.tolist()
    mixture.learn(1e105 * huge, np.array([1]))
    assert mixture.entries[:4].tolist() == before.tolist()
    for scores in (huge[0], 1e105 * huge[0]):
        np.testing.assert_allclose(mixture.mix([scores], 1), [[1.0 - LEAST / 2, LEAST / 2]], rtol=1e-12)


def test_powers_beyond_all_numbers_count_as_the_largest() -> None:
    """A class whose power is minus infinity is still a class that is known."""
    mixture = ProbabilityMixture(1, native=False)
    mixture.learn(np.array([[[1e-10, -1e-10]]]), np.array([0]))
    before = float(mixture.entries[4, 0])
    mixture.learn(np.array([[[1e305, -1e305]]]), np.array([1]))
    assert mixture.entries[4, 0] - before == pytest.approx(-math.log(LEAST / 2))


def test_a_square_that_overflows_changes_no_curvature() -> None:
    """The second class is improbable: q s is 5e152, its square is a number, q s^2 is none."""
    mixture = ProbabilityMixture(1, native=False)
    mixture.learn(np.array([[[0.0, -1e157]]]), np.array([0]))
    assert mixture.entries[:4, 0].tolist() == [1.0, 0.0, 0.0, 0.0]


def test_before_any_round_scores_are_taken_as_they_are() -> None:
    q = (1 - LEAST) * math.exp(2) / (math.exp(2) + 1) + LEAST / 2
    found = ProbabilityMixture(1, native=False).calibrate(0, np.array([[1.0, -1.0]]))
    assert found == pytest.approx(np.array([[q, 1 - q]]))


def test_a_curvature_never_falls() -> None:
    """Equal scores have none; their squares are rounded either way."""
    mixture, last = ProbabilityMixture(1, native=False), 0.0
    for score in np.random.default_rng(0).normal(size=40):
        mixture.learn(np.full((1, 1, 3), score), np.array([0]))
        assert mixture.entries[1, 0] >= last
        last = float(mixture.entries[1, 0])


def test_only_a_native_mixture_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = list[int]()

    def compile_function(entry: Any, places: Any) -> Any:
        def run(table: Any, *arrays: Any) -> None:
            calls.append(table.size)
            module.aggregate(*arrays)

        return run

    monkeypatch.setattr(module, "compile_function", compile_function)
    scores, truth = draw(2, 2)
    with np.errstate(all="ignore"):
        for native, count in ((False, 0), (True, 1)):
            mixture = ProbabilityMixture(3, native=native)
            mixture.learn(scores, truth)
            compare(mixture, naive(scores, truth))
            assert len(calls) == count


def test_scores_with_the_mean_0_have_a_curvature() -> None:
    mixture = ProbabilityMixture(1, native=False)
    mixture.entries[0] = 0.0
    mixture.learn(np.array([[[1.0, -1.0]]]), np.array([0]))
    assert mixture.entries[:2, 0].tolist() == pytest.approx([0.5, 1.0])


@pytest.mark.parametrize("order", [[0, 1, 2], [1, 2, 0], [2, 0, 1]])
def test_losses_that_are_large_leave_weights(order: list[int]) -> None:
    """Only their differences count: weights 1, 1/2 and 0."""
    losses = np.array([2000.0, 2000.0 + math.log(2.0), 5000.0])[order]
    mixture = ProbabilityMixture(3, native=False)
    mixture.entries[4] = losses
    scores = np.tile([1.0, -1.0], (1, 3, 1)) * np.array([1.0, -1.0, 1.0])[order][None, :, None]
    q = (1 - LEAST) * math.exp(2) / (math.exp(2) + 1) + LEAST / 2
    assert mixture.weights()[order.index(0)] == pytest.approx(2 / 3)
    mixture.learn(scores, np.array([0]))
    assert mixture.total.tolist() == pytest.approx([-math.log(2 / 3 * q + 1 / 3 * (1 - q)), 1.0])


def test_a_class_that_an_entry_does_not_know_has_no_probability() -> None:
    out = np.full(3, 9.0)
    calibrate(np.array([1.0, -math.inf, 1.0]), np.array([1.0, 0.0, 0.0, 0.0, 0.0]), np.zeros((2, 3)), out)
    assert out.tolist() == pytest.approx([0.5, 0.0, 0.5])


def test_the_slope_of_an_entry_that_is_always_wrong_falls_to_0() -> None:
    mixture = ProbabilityMixture(1, native=False)
    mixture.learn(np.tile([[[-1.0, 1.0]]], (20, 1, 1)), np.zeros(20, np.int64))
    assert mixture.entries[0, 0] == 0.0


def test_a_class_that_comes_starts_without_an_offset() -> None:
    scores, truth = draw(0, 2)
    mixture = ProbabilityMixture(3, native=False)
    mixture.learn(scores, truth)
    before = mixture.classes.copy()
    mixture.widen(2)
    assert mixture.classes.shape == (2, 3, 2)
    mixture.widen(4)
    assert mixture.classes[:, :, :2].tolist() == before.tolist()
    assert mixture.classes.shape == (2, 3, 4)
    assert not mixture.classes[:, :, 2:].any()
    found = mixture.calibrate(0, np.array([[1.0, 2.0]]))  # an entry that knows two classes
    assert found[0, 2:].tolist() == [0.0, 0.0]
    assert found.sum() == pytest.approx(1.0)


def test_rounds_that_are_used() -> None:
    assert find_used(0, 5).tolist() == [0, 1, 2, 3, 4]
    assert find_used(FIRST - 2, 20).tolist() == [0, 1, 2, 2 + EVERY, 2 + 2 * EVERY]
    assert find_used(FIRST + 1, EVERY - 1).tolist() == []
    assert find_used(2 * FIRST - 1, 2).tolist() == [1]


def test_a_single_score_is_half_of_it_for_each_class() -> None:
    assert score_columns(np.array([3.0, -1.0]), np.array([-1.0, 1.0]), 2).tolist() == [[-1.5, 1.5], [0.5, -0.5]]
    wide = score_columns(np.array([[1.0, 2.0]]), np.array([]), 3)
    assert wide.tolist() == [[1.0, 2.0, -math.inf]]


def test_copies_and_files_are_independent_and_checked() -> None:
    scores, truth = draw(1, 3)
    mixture, other = ProbabilityMixture(3, native=False), ProbabilityMixture(3, native=False)
    mixture.learn(scores[:30], truth[:30])
    other.restore(mixture.dump(), 3)
    twin = mixture.copy()
    before = {name: array.copy() for name, array in mixture.dump().items()}
    for one in (other, twin):
        one.learn(scores[30:], truth[30:])
    assert all(np.array_equal(array, before[name]) for name, array in mixture.dump().items())
    mixture.learn(scores[30:], truth[30:])
    for one in (other, twin):
        assert all(np.array_equal(array, mixture.dump()[name]) for name, array in one.dump().items())


NEGATIVE = np.zeros((5, 3))
NEGATIVE[2, 1] = -1e-9
FORGED: list[dict[str, Any]] = [
    {"entries": np.zeros((5, 2))},
    {"entries": np.zeros((5, 3), np.float32)},
    {"entries": np.full((5, 3), np.nan)},
    {"entries": NEGATIVE},
    {"classes": np.zeros((2, 3, 2))},
    {"classes": np.zeros((2, 3, 4))},
    {"classes": np.zeros((2, 2, 3))},
    {"classes": np.zeros((2, 9))},
    {"classes": np.full((2, 3, 3), np.inf)},
    {"total": np.zeros(3)},
    {"total": np.full(2, np.nan)},
]


@pytest.mark.parametrize("forged", FORGED)
def test_a_forged_mixture_is_refused(forged: dict[str, Any]) -> None:
    mixture = ProbabilityMixture(3, native=False)
    mixture.widen(3)
    good = mixture.dump()
    slopes = np.zeros((5, 3))
    slopes[0] = -1.0  # offsets and slopes may have any sign
    mixture.restore({**good, "entries": slopes}, 3)
    with pytest.raises(nr.BadValue, match="the probabilities of a pool"):
        mixture.restore({**good, **forged}, 3)
    with pytest.raises(nr.BadValue, match="the probabilities of a pool"):
        mixture.restore({name: array for name, array in good.items() if name not in forged}, 3)
    fresh = ProbabilityMixture(3, native=False)
    fresh.restore(fresh.dump(), 1)  # there is always room for two classes
