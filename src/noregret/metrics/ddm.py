"""DDM, the drift detection method: an alarm where the mistake rate is far above the smallest it ever was."""

from math import sqrt
from typing import Any, ClassVar

from noregret.data.settings import Setting, Settings
from noregret.errors import BadValue
from noregret.metrics.detector import ALARM, STABLE, WARNING, FewNumbers, Floats, Loop

ROUNDS, MISTAKES, RATE, DEVIATION, END = 0, 1, 2, 3, 4  # places in the state; the rate at the lowest, its deviation
WARNS_AT, ALARMS_AT, LEAST = 0, 1, 2  # places in the numbers


def watch_one(told: Any, state: Any, mistake: Any) -> Any:
    """Watch a mistake, or none: the level, and the state after it. After an alarm all counts start again."""
    warns_at, alarms_at, least = told
    rounds, mistakes, lowest, deviation_there = state
    rounds += 1.0
    mistakes += mistake
    if rounds < least:
        return STABLE, (rounds, mistakes, lowest, deviation_there)
    rate = mistakes / rounds
    deviation = sqrt(rate * (1.0 - rate) / rounds)
    if rounds == least or rate + deviation <= lowest + deviation_there:
        lowest, deviation_there = rate, deviation
    above = rate + deviation - lowest
    if above > alarms_at * deviation_there:
        return ALARM, (0.0, 0.0, 0.0, 0.0)
    return WARNING if above > warns_at * deviation_there else STABLE, (rounds, mistakes, lowest, deviation_there)


def ddm(numbers: Any, state: Any, values: Any, levels: Any) -> None:
    """Watch mistakes up to the first alarm."""
    told = numbers[WARNS_AT], numbers[ALARMS_AT], numbers[LEAST]
    now = state[ROUNDS], state[MISTAKES], state[RATE], state[DEVIATION]
    for i in range(len(values)):
        levels[i], now = watch_one(told, now, values[i])
        if levels[i] == ALARM:
            break
    state[ROUNDS], state[MISTAKES], state[RATE], state[DEVIATION] = now


class Ddm(FewNumbers):
    """The drift detection method, for mistakes.

    p is the mistake rate since the last alarm, s = sqrt(p (1 - p) / n) its deviation. An alarm where p + s exceeds
    p_min + 3 s_min, those of the round where p + s was smallest; a warning where it exceeds p_min + 2 s_min.
    """

    name = "ddm"
    about = "the drift detection method: the mistake rate is 3 deviations above the smallest so far"
    paper = "Gama, Medas, Castillo and Rodrigues, Learning with drift detection, SBIA 2004"
    loop: ClassVar[Loop] = staticmethod(ddm)
    watch_one = staticmethod(watch_one)
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
