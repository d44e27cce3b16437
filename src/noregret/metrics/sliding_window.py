"""A clock in place of a detector: learners take turns, so that the one in use knows only the last rounds."""

from typing import Any, ClassVar

from noregret.data.settings import Setting, Settings
from noregret.metrics.detector import ALARM, WARNING, Detector, Floats, Loop


def sliding_window(numbers: Any, state: Any, values: Any, levels: Any) -> None:
    """An alarm after every half of the window, and a warning in all other rounds."""
    for i in range(len(values)):
        state[0] += 1.0
        levels[i] = WARNING
        if 2.0 * state[0] >= numbers[0]:
            levels[i] = ALARM
            state[0] = 0.0
            return


class SlidingWindow(Detector):
    """Looks at no loss: an alarm after every size / 2 rounds, and a warning in all other rounds.

    With on_drift="shadow" the learner in use has learned, from the second change on, at least the last size / 2 and at
    most the last size rounds.
    """

    name = "window"
    about = "a clock: learners take turns every size / 2 rounds, so that each knows at most the last size rounds"
    paper = "Widmer and Kubat, Learning in the presence of concept drift and hidden contexts, Machine Learning 23, 1996"
    loop: ClassVar[Loop] = staticmethod(sliding_window)
    size = 1
    settings: ClassVar[Settings] = {
        "size": Setting(10_000, 2, 1_000_000_000_000, whole=True, about="the most rounds that a learner knows"),
    }

    def is_valid(self, state: Floats) -> bool:
        return bool(0.0 <= 2.0 * state[0] < self.numbers[0])
