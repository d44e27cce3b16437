"""What the metrics of every run cost beside the learner: `python -m benchmarks.metrics_cost` prints the table.

The aim is under 10 % of the time that the learner takes.
"""

import time
from collections.abc import Callable, Sequence

import numpy as np

import noregret as nr
from noregret.evaluation.tables import table
from noregret.metrics import Confusion, Metric, Runtime, Totals

ROWS = 16_384  # of a batch
STREAMS = ((2_000, 10), (400_000, 4), (400_000, 20), (100_000, 100))  # rounds, features


def shortest(act: Callable[[], object], repeats: int = 5) -> float:
    """The seconds of the fastest of some runs."""
    found = []
    for _ in range(repeats):
        began = time.perf_counter()
        act()
        found.append(time.perf_counter() - began)
    return min(found)


def measure(name: str, rounds: int, features: int) -> tuple[str, ...]:
    """The nanoseconds that a round takes in a learner and in the metrics, and the share of the metrics."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rounds, features))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=rounds) > 0.0, 1, -1)
    parts = [(X[at : at + ROWS], y[at : at + ROWS]) for at in range(0, rounds, ROWS)]

    def play() -> list[nr.Transcript]:
        learner = nr.make(name)
        return [learner.play(*part) for part in parts]

    played = play()

    def watch(kinds: Sequence[Callable[[], Metric]]) -> None:
        metrics = [kind() for kind in kinds]
        for transcript in played:
            for metric in metrics:
                metric.see(None, transcript)  # type: ignore[arg-type]

    learner = shortest(play)
    totals, all_metrics = shortest(lambda: watch([Totals])), shortest(lambda: watch([Totals, Runtime, Confusion]))
    each = [f"{1e9 * seconds / rounds:.1f}" for seconds in (learner, totals, all_metrics)]
    shares = [f"{100.0 * seconds / learner:.1f} %" for seconds in (totals, all_metrics)]
    return f"{name}, {features} features", f"{rounds:,}", *each, *shares


def main() -> None:
    """Print the table."""
    head = ("dense rows", "rounds", "learner ns", "curve ns", "all metrics ns", "curve", "all metrics")
    print(table(head, [measure(name, *stream) for stream in STREAMS for name in ("perceptron", "pa1", "arow")]))


if __name__ == "__main__":
    main()
