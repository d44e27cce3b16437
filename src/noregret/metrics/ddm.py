"""DDM, the drift detection method: an alarm where the mistake rate is far above the smallest it ever was."""

from math import sqrt
from typing import ClassVar

from noregret.data.settings import Setting, Settings
from noregret.errors import BadValue
from noregret.metrics.detector import ALARM, STABLE, WARNING, Detector, Floats, Levels, Loop

ROUNDS, MISTAKES, RATE, DEVIATION, END = 0, 1, 2, 3, 4  # places in the state; the rate at the lowest, its deviation
WARNS_AT, ALARMS_AT, LEAST = 0, 1, 2  # places in the numbers


def ddm(numbers: Floats, state: Floats, values: Floats, levels: Levels) -> None:
    """Watch mistakes up to the first alarm, after which all counts start again."""
    for i in range(values.size):
        state[ROUNDS] += 1.0
        state[MISTAKES] += values[i]
        levels[i] = STABLE
        if state[ROUNDS] < numbers[LEAST]:
            continue
        rate = state[MISTAKES] / state[ROUNDS]
        deviation = sqrt(rate * (1.0 - rate) / state[ROUNDS])
        if state[ROUNDS] == numbers[LEAST] or rate + deviation <= state[RATE] + state[DEVIATION]:
            state[RATE] = rate
            state[DEVIATION] = deviation
        above = rate + deviation - state[RATE]
        if above > numbers[ALARMS_AT] * state[DEVIATION]:
            levels[i] = ALARM
            state[:] = 0.0
            return
        if above > numbers[WARNS_AT] * state[DEVIATION]:
            levels[i] = WARNING


class Ddm(Detector):
    """The drift detection method, for mistakes.

    p is the mistake rate since the last alarm, s = sqrt(p (1 - p) / n) its deviation. An alarm where p + s exceeds
    p_min + 3 s_min, those of the round where p + s was smallest; a warning where it exceeds p_min + 2 s_min.
    """

    name = "ddm"
    about = "the drift detection method: the mistake rate is 3 deviations above the smallest so far"
    paper = "Gama, Medas, Castillo and Rodrigues, Learning with drift detection, SBIA 2004"
    loop: ClassVar[Loop] = staticmethod(ddm)
    size = END
    only_mistakes = True
    settings: ClassVar[Settings] = {
        "warning": Setting(2.0, 0.0, 1e6, about="deviations above the smallest rate that are a warning"),
        "alarm": Setting(3.0, 1e-9, 1e6, about="deviations above the smallest rate that are an alarm"),
        "least": Setting(30, 1, 1_000_000_000, whole=True, about="rounds before the first warning"),
    }

    def check(self) -> None:
        if self.params["warning"] > self.params["alarm"]:
            raise BadValue(f"ddm: warning must be at most alarm, {self.params['alarm']:g}, since warnings come first")

    def is_valid(self, state: Floats) -> bool:
        counts = 0.0 <= state[MISTAKES] <= state[ROUNDS]
        return bool(counts and 0.0 <= state[RATE] <= 1.0 and 0.0 <= state[DEVIATION] <= 0.5)
