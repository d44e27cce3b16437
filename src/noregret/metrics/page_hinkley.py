"""The Page-Hinkley test: an alarm where values exceed their mean so far by too much in sum."""

from typing import Any, ClassVar

from noregret.data.settings import Setting, Settings
from noregret.metrics.detector import ALARM, STABLE, WARNING, FewNumbers, Floats, Loop

ROUNDS, MEAN, SUM, LOWEST, END = 0, 1, 2, 3, 4  # places in the state
TOLERANCE, THRESHOLD, WARNS_AT, LEAST, ALPHA = 0, 1, 2, 3, 4  # places in the numbers


def watch_one(told: Any, state: Any, value: Any) -> Any:
    """Watch a value: the level, and the state after it. After an alarm the test starts again."""
    tolerance, threshold, warns_at, least, alpha = told
    rounds, mean, total, lowest = state
    rounds += 1.0
    mean += (value - mean) / rounds
    total = alpha * total + value - mean - tolerance
    lowest = total if total < lowest else lowest
    level = STABLE
    if rounds >= least and total - lowest > warns_at * threshold:
        if total - lowest > threshold:
            return ALARM, (0.0, 0.0, 0.0, 0.0)
        level = WARNING
    return level, (rounds, mean, total, lowest)


def page_hinkley(numbers: Any, state: Any, values: Any, levels: Any) -> None:
    """Watch values up to the first alarm."""
    told = numbers[TOLERANCE], numbers[THRESHOLD], numbers[WARNS_AT], numbers[LEAST], numbers[ALPHA]
    now = state[ROUNDS], state[MEAN], state[SUM], state[LOWEST]
    for i in range(len(values)):
        levels[i], now = watch_one(told, now, values[i])
        if levels[i] == ALARM:
            break
    state[ROUNDS], state[MEAN], state[SUM], state[LOWEST] = now


class PageHinkley(FewNumbers):
    """The Page-Hinkley test for a rise of the mean.

    m_t = alpha m_{t-1} + x_t - mean_t - tolerance; an alarm where m_t exceeds its smallest value so far by more than
    the threshold, a warning where it does by more than a share of the threshold.
    """

    name = "page_hinkley"
    about = "the Page-Hinkley test: values exceed their mean so far by more than a threshold in sum"
    paper = "Page, Continuous inspection schemes, Biometrika 41, 1954; Hinkley, Biometrika 58, 1971"
    loop: ClassVar[Loop] = staticmethod(page_hinkley)
    watch_one = staticmethod(watch_one)
    size = END
    settings: ClassVar[Settings] = {
        "tolerance": Setting(0.005, 0.0, 1.0, about="a rise of the mean that is allowed"),
        "threshold": Setting(50.0, 1e-9, 1e12, about="the sum of exceeding values that is an alarm"),
        "warning": Setting(0.5, 0.0, 1.0, about="the share of the threshold that is a warning"),
        "least": Setting(30, 1, 1_000_000_000, whole=True, about="rounds before the first warning"),
        "alpha": Setting(1.0, 0.5, 1.0, about="how much of the sum a round keeps; less than 1 forgets"),
    }

    def is_valid(self, state: Floats) -> bool:
        mean = 0.0 <= state[MEAN] <= 1.0
        return bool(mean and state[ROUNDS] >= 0.0 and state[LOWEST] <= 0.0 and state[LOWEST] <= state[SUM])
