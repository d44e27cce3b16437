"""A user's own rule beside a built-in one: both are stamped and compiled the same way."""

from benchmarks.epoch import ours, warm
from benchmarks.measure import Row, best, in_turn, rate
from benchmarks.stream import text
from examples.my_rule import capped

TITLE = "A rule in the user's own file, one sparse epoch"


def run() -> list[Row]:
    data = text()
    warm("pa1", data)
    warm(capped, data)
    times = in_turn({"pa1": ours("pa1", data), "capped": ours(capped, data)}, repeats=7)
    rows = data.X.shape[0]
    return [
        Row(
            work="capped (examples/my_rule.py), time over pa1's",
            ours=rate(rows, best(times, "capped")),
            peer=f"our pa1 {rate(rows, best(times, 'pa1'))}",
            figure=best(times, "capped") / best(times, "pa1"),
            unit="x",
            at_most=1.2,
            seconds=times,
        )
    ]
