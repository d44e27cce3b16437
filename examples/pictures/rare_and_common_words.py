"""A frequent and a rare word in the same rounds: CW changes the rare one more, PA-I both equally."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import noregret as nr
from figures import COLOURS, show

LEARNERS = ("cw", "pa1")
COMMON, RARE = "common", "rare"
HEAD = ("learner", "rounds_with_both", "common_moved", "rare_moved", "rare_over_common")


class Trace(NamedTuple):
    """The weights of both words before the first round and after each, and which rounds contain both."""

    learner: str
    common: Any
    rare: Any
    both: Any

    def summary(self) -> tuple[str, int, float, float, float]:
        """How far the weight of each word moved in the rounds that contain both."""
        common, rare = (float(np.abs(np.diff(weights))[self.both].sum()) for weights in (self.common, self.rare))
        return (self.learner, int(self.both.sum()), common, rare, rare / common)


def documents(rounds: int, seed: int) -> list[tuple[dict[str, float], int]]:
    """The common word indicates +1; the rare one, which occurs only with it, -1; the others are irrelevant."""
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(rounds):
        words = {f"word {j}": 1.0 for j in rng.choice(50, size=6, replace=False)}
        common = rng.random() < 0.7
        rare = common and rng.random() < 0.06
        words |= {COMMON: 1.0} if common else {}
        words |= {RARE: 1.0} if rare else {}
        drawn.append((words, 1 if common and not rare else -1))
    return drawn


def measure(rounds: int = 600, seed: int = 3) -> list[Trace]:
    rows = documents(rounds, seed)
    both = np.array([RARE in x for x, _ in rows])
    traces = []
    for learner in LEARNERS:
        m = nr.make(learner, bias=True)
        weights = [{COMMON: 0.0, RARE: 0.0}]
        for x, y in rows:
            m.learn_one(x, y)
            weights.append(m.explain_one({COMMON: 1.0, RARE: 1.0}))
        common, rare = (np.array([weight.get(word, 0.0) for weight in weights]) for word in (COMMON, RARE))
        traces.append(Trace(learner, common, rare, both))
    return traces


def draw(axes: Any, traces: Sequence[Trace]) -> None:
    for one, trace in zip(axes, traces, strict=True):
        one.plot(trace.common, color=COLOURS[0], label=f"the {COMMON} word")
        one.plot(trace.rare, color=COLOURS[1], label=f"the {RARE} word")
        one.plot(np.flatnonzero(trace.both) + 1, trace.rare[1:][trace.both], ".", color=COLOURS[1])
        one.set(xlabel="rounds (dots: both words)", ylabel="weight", title=trace.learner)
    axes[0].legend(frameon=False)


if __name__ == "__main__":
    measured = measure()
    rows = [trace.summary() for trace in measured]
    show("rare_and_common_words", HEAD, rows, lambda axes: draw(axes, measured), panels=len(measured))
