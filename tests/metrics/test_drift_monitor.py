"""What a drift detector is given of a run, and what is kept of it in files."""

from typing import Any

import numpy as np
import pytest

from noregret.metrics import DriftAlarms
from noregret.metrics.detector import ALARM, STABLE
from noregret.metrics.drift import DriftMonitor, describe_drift


class Recorder:
    """In place of a detector: remembers the values, and sets off an alarm at the first that is as said."""

    def __init__(self, alarm: int = 10**9) -> None:
        self.seen, self.alarm = list[bool](), alarm
        self.state = np.ones(2)

    def detect(self, values: Any) -> Any:
        levels = []
        for value in values:
            self.seen.append(bool(value))
            levels.append(ALARM if len(self.seen) == self.alarm else STABLE)
            if levels[-1] == ALARM:
                break
        return np.array(levels, np.uint8)

    def copy(self) -> "Recorder":
        new = Recorder(self.alarm)
        new.seen, new.state = self.seen.copy(), self.state.copy()
        return new


def monitor(watch: str = "loss", alarm: int = 10**9) -> Any:
    return DriftMonitor(Recorder(alarm), watch)  # type: ignore[arg-type]


LOSSES = np.array([1.0, 0.7, 3.3, 5.0 / 3.0, 9.0, 0.0])
ABOVE = [False, False, True, False, True, False]  # the means before: none, 1, 0.85, 5/3, 5/3, 47/15


@pytest.mark.parametrize("cuts", [[6], [1, 5], [2, 0, 3, 1]])
def test_a_loss_is_compared_with_the_mean_of_those_before_it(cuts: list[int]) -> None:
    watching, start = monitor(), 0
    for size in cuts:
        watching.detect(np.zeros(size, bool), LOSSES[start : start + size])
        start += size
    assert watching.detector.seen == ABOVE
    assert (watching.count, watching.total) == (6, pytest.approx(LOSSES.sum()))


def test_after_an_alarm_the_first_loss_is_above_nothing() -> None:
    watching = monitor(alarm=3)
    assert watching.detect(np.zeros(6, bool), LOSSES).tolist() == [STABLE, STABLE, ALARM]
    assert (watching.count, watching.total) == (0, 0.0)
    watching.detect(np.zeros(3, bool), np.array([0.5, 0.6, 0.4]))
    assert watching.detector.seen == [False, False, True, False, True, False]


def test_mistakes_are_watched_as_they_are() -> None:
    watching = monitor("mistakes")
    watching.detect(np.array([True, False]), np.array([0.0, 9.0]))
    assert watching.detector.seen == [True, False]
    assert (watching.count, watching.total) == (0, 0.0)


def test_a_copy_goes_on_and_a_restart_has_seen_nothing() -> None:
    watching = monitor()
    watching.detect(np.zeros(3, bool), LOSSES[:3])
    twin, fresh = watching.copy(), watching.restart()
    assert (twin.count, twin.total, twin.watch) == (3, watching.total, "loss")
    twin.detect(np.zeros(3, bool), LOSSES[3:])
    assert twin.detector.seen == ABOVE
    assert (fresh.count, fresh.total, fresh.watch) == (0, 0.0, "loss")
    assert fresh.detector.state.tolist() == [0.0, 0.0]
    assert watching.detector.state.tolist() == [1.0, 1.0]
    assert watching.count == 3


def values_of(metric: DriftAlarms) -> dict[str, Any]:
    return {name: getattr(metric, name) for name in metric.saved}


def test_values_of_a_file_are_those_that_can_be() -> None:
    metric = DriftAlarms("ddm", "loss")
    assert metric.fits(values_of(metric))  # before any round
    metric.monitor.detect(np.zeros(6, bool), LOSSES)
    metric.rounds = 6
    good = values_of(metric)
    assert good["detector_state"][:2].tolist() == [6.0, pytest.approx(LOSSES.sum())]
    assert metric.fits(good)  # the sum of losses may be above the number of rounds
    state = good["detector_state"]
    many, negative, forged = state.copy(), state.copy(), state.copy()
    many[0], negative[0], forged[2] = 7.0, -1.0, -1.0
    for wrong in (many, negative, forged, state[:-1], np.append(state, 0.0)):
        assert not metric.fits({**good, "detector_state": wrong})
    for wrong in ({"alarms": [7]}, {"alarms": [3, 2]}, {"alarms": [-1]}, {"warned_from": [1]}, {"watches": "x"}):
        assert not metric.fits({**good, **wrong})
    assert metric.fits({**good, "alarms": [2, 6]})


@pytest.mark.parametrize(
    ("alarms", "said"),
    [
        ([7], "1 alarm of adwin at round 7"),
        ([7, 1200], "2 alarms of adwin at rounds 7, 1,200"),
        (list(range(1, 9)), "8 alarms of adwin at rounds 1, 2, 3, 4, 5, 6, 7, 8"),
        (list(range(1, 10)), "9 alarms of adwin at rounds 1, 2, 3, 4, 5, 6, 7, 8 and 1 more"),
    ],
)
def test_a_sentence_has_the_right_numbers(alarms: list[int], said: str) -> None:
    metric = DriftAlarms()
    metric.alarms = alarms
    assert describe_drift(metric.describe()) == f"drift: {said}"
