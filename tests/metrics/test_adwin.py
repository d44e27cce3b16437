"""ADWIN in detail: its warnings, the smallest windows, its buckets and what it keeps of them."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import noregret.metrics.adwin as module
from noregret.metrics.adwin import (
    COUNTS,
    END,
    ROUNDS,
    SIZES,
    SQUARE_SUMS,
    SQUARES,
    SUMS,
    TOTAL,
    WARNED,
    WIDTH,
    Adwin,
    allowed,
    confidence_of,
    find_cut,
    largest_size,
)
from noregret.metrics.detector import ALARM, STABLE, WARNING
from tests.naive.drift_detectors import NaiveAdwin
from tests.support.cover import seeds

Array = NDArray[np.float64]


def naive_levels(values: Array, told: dict[str, Any]) -> list[int]:
    """An alarm where a rise cuts the window; a warning where none does and one would by the delta of warnings."""
    naive = NaiveAdwin(told["delta"], told["clock"], told["least"], told["bound"])
    level, levels = STABLE, list[int]()
    for value in values:
        cut = naive.see(value)
        if naive.round % told["clock"] == 0:
            warns = cut == 0 and naive.find_cut(told["warning"]) > 0
            level = ALARM if cut > 0 else WARNING if warns else STABLE
        levels.append(level)
        level = STABLE if level == ALARM else level
    return levels


@seeds(8, usual=2)
@pytest.mark.thinned(4)
@pytest.mark.parametrize("bound", ["normal", "hoeffding"])
@pytest.mark.parametrize(
    ("delta", "warning", "clock", "least"), [(0.01, 0.2, 4, 5), (0.5, 1.0, 1, 1), (0.5, 1.0, 1, 3), (0.002, 0.05, 7, 2)]
)
def test_alarms_and_warnings_are_the_naive_ones(
    seed: int, bound: str, delta: float, warning: float, clock: int, least: int
) -> None:
    rng = np.random.default_rng(seed)
    values = np.concatenate([(rng.random(30) < rate).astype(float) for rate in (0.9, 0.05, 0.3, 0.9, 0.1, 0.5)])
    if seed % 2:
        values = np.clip(0.8 * values + 0.2 * rng.random(values.size), 0.0, 1.0)
    told: dict[str, Any] = {"delta": delta, "warning": warning, "clock": clock, "least": least, "bound": bound}
    detector = Adwin(**told)
    levels = [int(detector.detect([value])[0]) for value in values]
    assert levels == naive_levels(values, told)
    assert max(levels) > 0 or delta < 0.1  # so small that not every stream has an alarm


def test_a_fall_that_cuts_the_window_is_no_warning_of_what_is_left() -> None:
    """Of ones, zeros and a few ones, the first ones are dropped; what is left has risen, but less than a cut needs."""
    values = np.concatenate([np.ones(80), np.zeros(100), np.ones(8)])
    detector = Adwin(delta=0.01, warning=0.2, clock=188)
    assert not detector.detect(values).any()
    assert detector.width < 150


@pytest.mark.parametrize(("before", "level"), [(0.0, WARNING), (1.0, STABLE)])
def test_of_several_warnings_the_first_decides(before: float, level: int) -> None:
    """The mean rises and falls again, or falls and rises again; the oldest change is the one that is told."""
    values = np.concatenate([np.full(40, before), np.full(40, 1.0 - before), np.full(40, before)])
    assert Adwin(delta=1e-12, warning=1.0, clock=120).detect(values)[-1] == level


def test_parts_of_a_few_values_are_compared_too() -> None:
    """After 100 zeros, three ones are enough where delta is large; the newest buckets have one value each."""
    told: dict[str, Any] = {"delta": 0.5, "warning": 1.0, "clock": 1, "least": 1, "bound": "normal"}
    values = np.concatenate([np.zeros(100), np.ones(3)])
    levels = Adwin(**told).detect(values).tolist()
    assert levels == naive_levels(values, told)
    assert levels[-1] == ALARM


@pytest.mark.parametrize(("rounds", "cut"), [(127, False), (128, True)])
def test_parts_of_the_smallest_size_are_enough(rounds: int, cut: bool) -> None:
    values = np.concatenate([np.zeros(64), np.ones(64)])[:rounds]
    assert (Adwin(least=64, clock=rounds).detect(values)[-1] == ALARM) == cut


def test_a_difference_of_exactly_what_chance_allows_is_an_alarm() -> None:
    """Of 8 zeros and 8 ones the means differ by 1; sqrt((1/8 + 1/8) / 2 ln(64 / delta)) is 1 where ln is 8."""
    delta = 64.0 * math.exp(-8.0)
    assert allowed(True, 0.25, 0.0, confidence_of(True, 16.0, delta)) == 1.0
    for warning, alarm, level in (
        (delta, delta, ALARM),
        (delta, delta / 2.0, WARNING),
        (delta / 1.001, delta / 2.0, 0),
    ):
        detector = Adwin(delta=alarm, warning=warning, clock=16, least=8, bound="hoeffding")
        assert detector.detect([0.0] * 8 + [1.0] * 8)[-1] == level


def test_the_confidence_by_hand() -> None:
    """ln(4 n / delta), or ln(2 ln(n) / delta) where ln(n) is at least 1."""
    assert confidence_of(True, 100.0, 0.01) == pytest.approx(math.log(40000.0))
    assert confidence_of(False, 2.0, 0.5) == pytest.approx(math.log(4.0))
    assert confidence_of(False, math.exp(1.5), 0.5) == pytest.approx(math.log(6.0))
    assert allowed(True, 0.5, 9.0, 8.0) == pytest.approx(math.sqrt(2.0))
    assert allowed(False, 0.5, 0.25, 8.0) == pytest.approx(math.sqrt(2.0) + 8.0 / 3.0)


@pytest.mark.parametrize("value", [0.1, 0.3, 0.7])
def test_equal_values_have_no_variance_however_they_are_rounded(value: float) -> None:
    assert not Adwin(clock=1, delta=0.5, warning=1.0).detect(np.full(300, value)).any()


def test_the_oldest_bucket_is_found_at_every_size() -> None:
    state = np.zeros(END)
    assert largest_size(state) == 0
    for size in range(SIZES):
        state[COUNTS + size] = 1.0
        assert largest_size(state) == size


def test_sums_and_squares_are_those_of_the_buckets_also_beyond_the_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SIZES", 3)
    state = np.zeros(END)
    values = np.random.default_rng(0).random(200)
    for t, value in enumerate(values):
        module.insert(state, value)
        inside = values[t + 1 - int(state[WIDTH]) : t + 1]
        assert state[TOTAL] == pytest.approx(inside.sum(), rel=1e-12)
        assert state[SQUARES] == pytest.approx((inside**2).sum(), rel=1e-12)
        sums, squares = [], []
        for size in range(3):
            first = size * 6
            kept = slice(first, first + int(state[COUNTS + size]))
            sums.append(state[SUMS:][kept].sum())
            squares.append(state[SQUARE_SUMS:][kept].sum())
        assert (sum(sums), sum(squares)) == pytest.approx((state[TOTAL], state[SQUARES]), rel=1e-12)
    assert state[WIDTH] < 40


@pytest.mark.parametrize("seed", range(3))
def test_rises_that_are_hardly_more_than_chance_are_found_in_long_windows(seed: int) -> None:
    """There the first of the two terms that chance allows is nearly all of it: no rise above it is skipped."""
    rng = np.random.default_rng(seed)
    rates = np.concatenate([np.full(700, 0.4), np.linspace(0.4, 0.75, 900), np.full(200, 0.45)])
    values = np.clip(rates + 0.15 * rng.normal(size=rates.size), 0.0, 1.0)
    told: dict[str, Any] = {"delta": 0.3, "warning": 0.9, "clock": 8, "least": 5, "bound": "normal"}
    detector = Adwin(**told)
    found = [detector.update(value) for value in values.tolist()]
    assert found == naive_levels(values, told)
    assert {WARNING, ALARM} <= set(found)


def test_single_values_wait_until_the_next_check() -> None:
    """What makes them cheap: the window is not touched in between, and to take one back needs no copy of it."""
    detector = Adwin(clock=8)
    for turn in range(3):
        for t in range(7):
            mark = detector.mark()
            assert (mark[0] is None) == (turn + t > 0)  # how long they can wait is not known before the first
            detector.update(1.0)
            detector.go_back(mark)
            detector.update(0.0)
            assert detector.waiting == [0.0] * (t + 1)
            assert detector.cells[WIDTH] == 8.0 * turn
        detector.update(0.0)
        assert (detector.waiting, detector.cells[WIDTH]) == ([], 8.0 * (turn + 1))


def test_all_values_but_those_of_checks_wait() -> None:
    detector, waiting = Adwin(clock=8), list[int]()
    for _ in range(20):
        detector.update(0.0)
        waiting.append(len(detector.waiting))
    assert waiting == [*range(1, 8), 0, *range(1, 8), 0, 1, 2, 3, 4]


def test_an_empty_window_has_the_mean_0() -> None:
    assert (Adwin().mean, Adwin().width) == (0.0, 0)


@pytest.mark.parametrize(
    ("cells", "sound"),
    [
        ({}, True),
        ({WIDTH: 5.0, COUNTS: 5.0}, True),
        ({WIDTH: 6.0, COUNTS: 6.0}, False),  # too many buckets of a size
        ({WIDTH: 0.5, COUNTS: 0.5}, False),
        ({WIDTH: 9.0, COUNTS: 1.0, COUNTS + 3: 1.0}, True),
        ({WIDTH: 8.0, COUNTS: 1.0, COUNTS + 3: 1.0}, False),
        ({ROUNDS: 31.0}, True),
        ({ROUNDS: 32.0}, False),  # a check was due
        ({ROUNDS: -1.0}, False),
        ({WARNED: 1.0}, True),
        ({WARNED: 2.0}, False),
        ({SUMS: -1.0}, False),
        ({END - 1: -1.0}, False),
    ],
)
def test_a_state_of_a_file_is_one_that_can_be(cells: dict[int, float], sound: bool) -> None:
    state = np.zeros(END)
    for place, value in cells.items():
        state[place] = value
    assert Adwin().restore_state(state) == sound


def window(least: float, delta: float, *buckets: tuple[int, float]) -> tuple[Any, Any]:
    """A window of buckets of zeros and ones, each given by its size and sum, the oldest first."""
    numbers, state = np.zeros(module.BOTH + 1), np.zeros(module.END)
    numbers[[module.DELTA, module.WARNING_DELTA, module.LEAST]] = delta, delta, least
    for size, total in buckets:
        at = module.COUNTS + size
        state[module.SUMS + size * (module.ROOM + 1) + int(state[at])] = total
        state[at] += 1.0
        state[[module.WIDTH, module.TOTAL, module.SQUARES]] += 2.0**size, total, total
    return numbers, state


def test_a_rise_just_above_what_chance_allows_is_found() -> None:
    """Of 512 values with 2/5 ones and 512 with one half, the difference of 0.1 is chance for a delta of 0.2."""
    halves = (9, 0.4 * 512), (9, 0.5 * 512)
    variance = 0.45 * 0.55
    for delta, cut in ((0.23, 1), (0.21, 0), (0.15, 0)):
        confidence = math.log(2.0 * math.log(1024.0) / delta)
        chance = math.sqrt(2.0 / 256.0 * variance * confidence) + 2.0 / 3.0 / 256.0 * confidence
        assert (chance < 0.1) == bool(cut)
        assert find_cut(*window(5.0, delta, *halves)) == (cut, cut)


def test_an_older_part_with_too_few_values_is_no_part_however_different_it_is() -> None:
    for least, cut in ((16.0, -1), (17.0, 0)):
        assert find_cut(*window(least, 0.5, (4, 16.0), (4, 0.0), (4, 0.0)))[0] == cut
