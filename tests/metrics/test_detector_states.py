"""What detectors do at their limits, and which states can be theirs."""

from typing import Any

import numpy as np
import pytest

from noregret.metrics import Ddm, PageHinkley
from noregret.metrics.detector import ALARM, STABLE, WARNING, Detector
from noregret.metrics.sliding_window import SlidingWindow


@pytest.mark.parametrize("detector", [Ddm(least=10), PageHinkley(least=10, threshold=4.0)], ids=lambda one: one.name)
def test_after_an_alarm_all_starts_again(detector: Detector) -> None:
    values = [0.0, 0.0, 0.0, 1.0] * 10 + [1.0] * 40
    assert detector.detect(values)[-1] == ALARM
    assert detector.state.tolist() == [0.0] * 4


def test_without_mistakes_ddm_has_neither_warnings_nor_alarms() -> None:
    """All rates and deviations are 0, and none exceeds another."""
    assert not Ddm().detect(np.zeros(100)).any()


def test_a_warning_of_ddm_may_be_as_late_as_the_alarm() -> None:
    values = [0.0, 0.0, 0.0, 1.0] * 20 + [1.0] * 40
    late = Ddm(warning=3.0, alarm=3.0).detect(values)
    assert late[-1] == ALARM
    assert not late[:-1].any()


@pytest.mark.parametrize(("threshold", "level"), [(1.0, STABLE), (0.5, WARNING), (0.4999, ALARM)])
def test_page_hinkley_asks_for_more_than_its_thresholds(threshold: float, level: int) -> None:
    """After 0 and 1 the mean is 1/2, and so is the sum; warnings are above half of the threshold."""
    assert PageHinkley(tolerance=0.0, threshold=threshold, least=1).detect([0.0, 1.0]).tolist() == [STABLE, level]


@pytest.mark.parametrize(("size", "turn"), [(2, 1), (5, 3), (6, 3), (7, 4)])
def test_a_window_is_an_alarm_after_every_half_of_it(size: int, turn: int) -> None:
    window = SlidingWindow(size=size)
    for _ in range(3):
        assert window.detect(np.zeros(10)).tolist() == [WARNING] * (turn - 1) + [ALARM]
        assert window.state.tolist() == [0.0]


STATES: list[tuple[Detector, list[float], bool]] = [
    (Ddm(), [0.0, 0.0, 0.0, 0.0], True),
    (Ddm(), [30.0, 0.0, 0.0, 0.0], True),
    (Ddm(), [30.0, 30.0, 1.0, 0.0], True),
    (Ddm(), [30.0, 15.0, 0.5, 0.5], True),
    (Ddm(), [30.0, 31.0, 1.0, 0.0], False),
    (Ddm(), [30.0, -1.0, 0.0, 0.0], False),
    (Ddm(), [30.0, 15.0, 1.1, 0.1], False),
    (Ddm(), [30.0, 15.0, -0.1, 0.1], False),
    (Ddm(), [30.0, 15.0, 0.5, 0.6], False),
    (Ddm(), [30.0, 15.0, 0.5, -0.1], False),
    (PageHinkley(), [0.0, 0.0, 0.0, 0.0], True),
    (PageHinkley(), [9.0, 1.0, 0.5, -1.0], True),
    (PageHinkley(), [9.0, 1.1, 0.5, -1.0], False),
    (PageHinkley(), [9.0, -0.1, 0.5, -1.0], False),
    (PageHinkley(), [-1.0, 0.5, 0.5, -1.0], False),
    (PageHinkley(), [9.0, 0.5, 0.5, 0.1], False),
    (PageHinkley(), [9.0, 0.5, -1.5, -1.0], False),
    (SlidingWindow(size=6), [0.0], True),
    (SlidingWindow(size=6), [2.0], True),
    (SlidingWindow(size=6), [3.0], False),
    (SlidingWindow(size=6), [-1.0], False),
]


@pytest.mark.parametrize(("detector", "state", "sound"), STATES)
def test_a_state_of_a_file_is_one_that_can_be(detector: Any, state: list[float], sound: bool) -> None:
    fresh = type(detector)(**detector.params)
    assert fresh.restore_state(np.array(state)) == sound
    assert fresh.state.tolist() == (state if sound else [0.0] * len(state))
