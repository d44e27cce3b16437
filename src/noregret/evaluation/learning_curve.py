"""The learning curve of a learner: the amount of data it has learned against how well it predicts held-out rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from noregret.errors import BadValue, shown
from noregret.evaluation.capabilities import is_learner, task_of
from noregret.evaluation.evaluate import Evaluation
from noregret.evaluation.play import open_for_tasks, play_batch
from noregret.learner.protocol import Learner

FIRST = 16  # rows of the first point


@dataclass(frozen=True)
class SizePoint:
    """What was measured on the held-out rows after so many rows had been learned."""

    rows: int
    report: Mapping[str, float]


def learning_curve(
    source: object, learner: Learner, test: object, sizes: Iterable[int] | None = None, **reading: Any
) -> list[SizePoint]:
    """Learn a source and measure the learner on the rows of `test` at each size, by default doubling, and at the end.

    The amounts of data are nested: each contains the smaller ones. Give shuffle=SEED where the rows are sorted. Options
    of `open_source` say how the source is read; `test` is read with the same, but in its own order and whole.
    """
    if not is_learner(learner):
        raise BadValue(f"learning_curve needs a learner, not {shown(learner)}")
    wanted = check_sizes(sizes)
    tasks = [task_of(learner)]
    kept = {name: value for name, value in reading.items() if name not in ("shuffle", "limit", "skip", "passes")}
    held_out = list(open_for_tasks(test, tasks, kept))
    opened, learned, points = open_for_tasks(source, tasks, reading), 0, list[SizePoint]()
    for batch in opened:
        start = 0
        while start < batch.rows:
            size = next((one for one in wanted if one > learned), None) if sizes is not None else next_size(learned)
            stop = batch.rows if size is None else min(batch.rows, start + size - learned)
            play_batch(learner, opened, batch.cut(start, stop))
            learned, start = learned + stop - start, stop
            if learned == size:
                points.append(measure(learner, held_out, learned))
    if not learned:
        raise BadValue("the source has no rows, so that nothing is learned")
    if not points or points[-1].rows < learned:
        points.append(measure(learner, held_out, learned))
    return points


def check_sizes(sizes: Iterable[int] | None) -> list[int]:
    """The sizes in order."""
    found = sorted(set(sizes or ()))
    if sizes is not None and (not found or any(type(one) is not int or one < 1 for one in found)):
        raise BadValue(f"sizes must be whole numbers of rows, at least 1, not {shown(list(found))}")
    return found


def next_size(learned: int) -> int:
    """The next number of rows to measure at: FIRST, then each time it has doubled."""
    size = FIRST
    while size <= learned:
        size *= 2
    return size


def measure(learner: Learner, held_out: Iterable[Any], learned: int) -> SizePoint:
    evaluation = Evaluation(learner)
    for batch in held_out:
        evaluation.see(batch)
    return SizePoint(learned, evaluation.report())
