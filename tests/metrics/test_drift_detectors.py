"""Detectors equal their naive versions, keep the false-alarm rate of their theorem, and find changes when it says."""

from math import log, sqrt
from typing import Any

import numpy as np
import pytest

from noregret.adapters.detector_loops import choose_runner
from noregret.errors import BadValue
from noregret.metrics import DETECTORS, Adwin, Ddm, PageHinkley
from noregret.metrics.adwin import COUNTS, ROUNDS, WIDTH
from noregret.metrics.detector import ALARM, WARNING, Detector, find_detector
from tests.naive.drift_detectors import NaiveAdwin, ddm_level, page_hinkley_level
from tests.support.cover import seeds

Array = np.ndarray


def levels_of(detector: Detector, values: Any, size: int = 10**9) -> Array:
    """The level of every value, in calls of at most so many values."""
    found, start = [], 0
    while start < len(values):
        levels = detector.detect(values[start : start + size])
        found.append(levels)
        start += levels.size
    return np.concatenate(found)


def shifting(seed: int, rounds: int = 600, rates: tuple[float, ...] = (0.2, 0.6, 0.1)) -> Array:
    rng = np.random.default_rng(seed)
    return np.concatenate([(rng.random(rounds) < rate).astype(float) for rate in rates])


@seeds(12, usual=3)
@pytest.mark.parametrize("bound", ["normal", "hoeffding"])
@pytest.mark.thinned(2)
def test_adwin_is_the_naive_one(seed: int, bound: str) -> None:
    rng = np.random.default_rng(seed)
    values = (
        shifting(seed, 200) if seed % 2 else np.clip(rng.normal(0.3, 0.1, 500) + (np.arange(500) > 250) * 0.3, 0, 1)
    )
    ours, naive = Adwin(delta=0.01, clock=1 + seed % 7, bound=bound, side="both"), NaiveAdwin(0.01, 1 + seed % 7)
    naive.bound = bound
    cuts = 0
    for value in values:
        level, expected = ours.detect([value])[0], naive.see(value)
        assert (level == ALARM) == (expected != 0)
        assert ours.buckets() == [len(bucket) for bucket in reversed(naive.buckets)]
        assert ours.mean == pytest.approx(np.mean([one for bucket in naive.buckets for one in bucket]), abs=1e-12)
        cuts += expected != 0
    assert cuts > 0


@seeds(10, usual=3)
@pytest.mark.parametrize(("alpha", "threshold", "warning"), [(1.0, 8.0, 0.5), (0.9, 3.0, 0.3)])
def test_page_hinkley_is_the_naive_one(seed: int, alpha: float, threshold: float, warning: float) -> None:
    values = shifting(seed, 80, (0.1, 0.8, 0.2))
    told: dict[str, Any] = {
        "tolerance": 0.01,
        "threshold": threshold,
        "warning": warning,
        "least": 10,
        "alpha": alpha,
    }
    levels = levels_of(PageHinkley(**told), values)
    start = 0
    for t in range(len(values)):
        assert levels[t] == page_hinkley_level(values[start : t + 1], told)
        start = t + 1 if levels[t] == ALARM else start
    assert start > 0
    assert (levels == WARNING).any()


@seeds(10, usual=3)
def test_ddm_is_the_naive_one(seed: int) -> None:
    values = shifting(seed, 120, (0.2, 0.7, 0.1))
    levels = levels_of(Ddm(), values)
    start = 0
    for t in range(len(values)):
        assert levels[t] == ddm_level(values[start : t + 1], 30), t
        start = t + 1 if levels[t] == ALARM else start
    assert start > 0
    assert (levels == WARNING).any()


@pytest.mark.parametrize("name", DETECTORS)
def test_how_many_values_are_given_at_a_time_changes_nothing(name: str) -> None:
    values = shifting(3)
    whole = find_detector(name, DETECTORS)
    expected = levels_of(whole, values)
    for size in (1, 7, 100):
        other = find_detector(name, DETECTORS)
        np.testing.assert_array_equal(levels_of(other, values, size), expected)
        np.testing.assert_array_equal(other.state, whole.state)


@pytest.mark.compiles
@pytest.mark.parametrize(
    "spec", ["adwin", "adwin:bound=hoeffding,side=both,clock=5", "ddm", "page_hinkley:threshold=9"]
)
def test_compiled_detectors_are_the_interpreted_ones_bit_for_bit(spec: str) -> None:
    values = shifting(5)
    compiled, plain = find_detector(spec, DETECTORS, choose_runner(True)), find_detector(spec, DETECTORS)
    np.testing.assert_array_equal(levels_of(compiled, values), levels_of(plain, values))
    np.testing.assert_array_equal(compiled.state, plain.state)


@pytest.mark.parametrize("name", DETECTORS)
def test_a_copy_goes_on_alone(name: str) -> None:
    values = shifting(4)
    one = find_detector(name, DETECTORS)
    one.detect(values[:300])
    other = one.copy()
    before = one.state.copy()
    expected = other.detect(values[300:])
    np.testing.assert_array_equal(one.state, before)
    np.testing.assert_array_equal(one.detect(values[300:]), expected)


# ---- one value at a time ---------------------------------------------------------------------------------------------

SPECS = ["adwin", "adwin:bound=hoeffding,side=both,clock=5", "adwin:clock=1", "ddm", "page_hinkley:threshold=9"]


@pytest.mark.parametrize("native", [False, pytest.param(True, marks=pytest.mark.compiles)])
@pytest.mark.parametrize("spec", SPECS)
def test_update_is_detect_of_one_value_bit_for_bit(spec: str, native: bool) -> None:
    values = shifting(6)
    one, whole = (find_detector(spec, DETECTORS, choose_runner(native)) for _ in range(2))
    expected = levels_of(whole, values).tolist()
    assert [one.update(value) for value in values.tolist()] == expected
    np.testing.assert_array_equal(one.state, whole.state)
    mixed, found, at = find_detector(spec, DETECTORS, choose_runner(native)), [], 0
    while at < len(values):  # single values between arrays of them, with the state looked at in between
        if at % 3:
            found.append(mixed.update(float(values[at])))
        else:
            found += mixed.detect(values[at : at + 4]).tolist()
        at = len(found)
        if at % 7 == 0:
            assert mixed.is_valid(mixed.state)
    assert found == expected
    np.testing.assert_array_equal(mixed.state, whole.state)


@pytest.mark.parametrize("spec", SPECS)
def test_a_value_that_was_watched_can_be_taken_back_again_and_again(spec: str) -> None:
    values = shifting(7).tolist()
    detector, other = find_detector(spec, DETECTORS), find_detector(spec, DETECTORS)
    for value in values:
        mark = detector.mark()
        for _ in range(2):
            detector.update(1.0 - value)
            detector.go_back(mark)
            detector.go_back(mark)
        assert detector.update(value) == other.update(value)
    np.testing.assert_array_equal(detector.state, other.state)


@pytest.mark.parametrize("spec", SPECS)
def test_a_copy_knows_single_values_and_shares_none(spec: str) -> None:
    values = shifting(8).tolist()
    one, other = find_detector(spec, DETECTORS), find_detector(spec, DETECTORS)
    for value in values[:70]:
        one.update(value)
        other.update(value)
    twin = one.copy()
    for value in values[70:90]:
        twin.update(1.0)
        assert one.update(value) == other.update(value)
    np.testing.assert_array_equal(one.state, other.state)


@pytest.mark.parametrize("name", DETECTORS)
@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_single_value_that_cannot_be_watched_is_refused(name: str, value: float) -> None:
    detector = find_detector(name, DETECTORS)
    for mistake in (0.0, 1.0, 0.0):
        detector.update(mistake)
    before = detector.copy().state
    with pytest.raises(BadValue, match=f"{name} watches"):
        detector.update(value)
    np.testing.assert_array_equal(detector.state, before)


def test_ddm_refuses_a_single_loss_that_is_no_mistake() -> None:
    with pytest.raises(BadValue, match=r"ddm watches mistakes, 0 or 1, not 0\.5"):
        Ddm().update(0.5)


# ---- the theorems of ADWIN -------------------------------------------------------------------------------------------


def count_cuts(detector: Adwin, values: Array) -> tuple[int, int]:
    """How many checks cut the window, and how many checks there were."""
    levels = levels_of(detector, values)
    return int((levels == ALARM).sum()), len(values) // int(detector.params["clock"])


@pytest.mark.parametrize("bound", ["normal", "hoeffding"])
@pytest.mark.parametrize("rate", [0.02, 0.3, 0.5])
def test_adwin_cuts_a_window_whose_mean_stays_with_probability_delta_at_most(rate: float, bound: str) -> None:
    delta, cuts, checks = 0.05, 0, 0
    for seed in range(6):
        values = (np.random.default_rng(seed).random(1500) < rate).astype(float)
        found = count_cuts(Adwin(delta=delta, warning=delta, clock=16, bound=bound, side="both"), values)
        cuts, checks = cuts + found[0], checks + found[1]
    assert cuts <= delta * checks


def find_certain_round(sizes: list[int], rise: float, after: int, delta: float) -> bool:
    """Whether the buckets have a cut at which the expected means differ by more than twice what chance allows."""
    width, older = sum(sizes), 0
    for size in sizes[:-1]:
        older += size
        newer = width - older
        # The expected means of both parts, as shares of values from after the change.
        gap = rise * (min(after, newer) / newer - max(after - newer, 0) / older)
        if gap > 2.0 * sqrt(0.5 * (1.0 / older + 1.0 / newer) * log(4.0 * width / delta)):
            return True
    return False


@seeds(20, usual=4)
@pytest.mark.parametrize("rise", [0.3, 0.6])
def test_adwin_finds_a_rise_as_soon_as_its_theorem_promises(seed: int, rise: float) -> None:
    """Where the means of two parts differ by more than twice the allowed difference, the window is cut."""
    delta, before, clock = 0.01, 1000, 8
    rng = np.random.default_rng(seed)
    values = (rng.random(2000) < np.where(np.arange(2000) < before, 0.2, 0.2 + rise)).astype(float)
    detector, uncut = Adwin(delta=delta, clock=clock, bound="hoeffding"), Adwin(delta=1e-12, clock=10**6)
    levels = detector.detect(values)
    alarm = levels.size - 1
    assert levels[-1] == ALARM
    uncut.detect(values[:before])
    for at in range(before, 2000):
        uncut.detect(values[at : at + 1])
        if (at + 1) % clock == 0 and find_certain_round(uncut.buckets(), rise, at + 1 - before, delta):
            break
    assert before <= alarm <= at
    assert at - before < 0.6 * before  # the promise says something


def test_adwin_takes_logarithmic_room() -> None:
    detector = Adwin()
    detector.detect(np.zeros(20_000))
    assert detector.width == 20_000
    assert len(detector.buckets()) <= 5 * np.log2(20_000)


def test_a_fall_of_the_losses_is_no_alarm_unless_asked_for() -> None:
    values = shifting(0, 500, (0.7, 0.1))
    up, both = Adwin(), Adwin(side="both")
    assert not (levels_of(up, values) == ALARM).any()
    assert (levels_of(both, values) == ALARM).any()
    assert up.width < 700  # the window was cut all the same


@pytest.mark.parametrize("name", DETECTORS)
def test_a_warning_comes_before_an_alarm_and_a_stable_stream_has_neither(name: str) -> None:
    rng = np.random.default_rng(5)
    rising = (rng.random(3000) < np.where(np.arange(3000) < 1500, 0.1, 0.25)).astype(float)
    levels = find_detector(name, DETECTORS).detect(rising)
    assert levels[-1] == ALARM
    assert 1500 <= levels.size - 1 < 2200
    assert (levels[1500:-1] == WARNING).any()
    steady = np.tile([0.0, 0.0, 1.0, 0.0], 500)
    assert not levels_of(find_detector(name, DETECTORS), steady).any()


def test_adwin_beyond_its_largest_bucket_drops_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    import noregret.metrics.adwin as module

    monkeypatch.setattr(module, "SIZES", 3)
    state = np.zeros(module.END)
    for value in np.ones(200):
        module.insert(state, value)
    counts = state[COUNTS : COUNTS + 3]
    assert state[WIDTH] == (counts * [1, 2, 4]).sum() == state[1]
    assert counts.max() <= 5


# ---- what cannot be --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("adwim", "there is no detector 'adwim'; did you mean adwin?"),
        (3, "a detector is one of adwin, ddm, page_hinkley, not 3"),
        ("adwin:delta=0", "adwin: delta must be a number of at least 1e-12 and at most 0.5, not '0'"),
        ("adwin:delta=nan", "adwin: delta must be"),
        ("adwin:dlta=1", "adwin: there is no setting 'dlta'; did you mean delta?"),
        ("adwin:bound=exact", "adwin: bound must be one of normal, hoeffding, not 'exact'"),
        ("adwin:delta=0.1,warning=0.01", "adwin: warning must be at least delta, 0.1"),
        ("adwin:clock", "adwin: give clock a value, as in adwin:clock=32"),
        ("ddm:warning=4", "ddm: warning must be at most alarm, 3"),
        ("page_hinkley:threshold=-1", "page_hinkley: threshold must be"),
    ],
)
def test_settings_that_cannot_be_are_refused(spec: Any, words: str) -> None:
    with pytest.raises(BadValue) as refused:
        find_detector(spec, DETECTORS)
    assert words in str(refused.value)


@pytest.mark.parametrize("name", DETECTORS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -0.1, 1.1])
def test_values_outside_0_and_1_are_refused_and_change_nothing(name: str, value: float) -> None:
    detector = find_detector(name, DETECTORS)
    detector.detect(np.ones(40) * (np.arange(40) % 2))
    before = detector.state.copy()
    with pytest.raises(BadValue, match=f"{name} watches"):
        detector.detect([0.0, value])
    np.testing.assert_array_equal(detector.state, before)


def test_ddm_watches_mistakes_only() -> None:
    with pytest.raises(BadValue, match=r"ddm watches mistakes, 0 or 1, not 0\.5"):
        Ddm().detect([0.5])


@pytest.mark.parametrize("name", DETECTORS)
def test_a_forged_state_is_refused(name: str) -> None:
    detector = find_detector(name, DETECTORS)
    detector.detect(shifting(1)[:100])
    good = detector.state.copy()
    assert find_detector(name, DETECTORS).restore_state(good)
    assert not detector.restore_state(good[:-1])
    assert not detector.restore_state(good.astype(np.float32))
    for place in range(min(good.size, COUNTS + 3)):
        for wrong in (np.nan, -1.0, 6.5, 1e300):
            forged = good.copy()
            forged[place] = wrong
            if name == "adwin" and place in (1, 2):
                continue  # sums are not compared, since they are rounded
            if not detector.restore_state(forged):
                continue
            assert name != "adwin" or place == ROUNDS  # a number that can be
            detector.detect(shifting(2)[:50])
    np.testing.assert_array_equal(find_detector(name, DETECTORS).state.shape, good.shape)
