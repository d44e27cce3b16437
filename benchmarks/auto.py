"""`auto` beside one AROW pass over the same file, parsing included, with and without pruning; one row at a time."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import noregret as nr
from benchmarks.measure import Act, Prepare, Row, best, in_turn, installed, micros, missing, rate
from benchmarks.stream import text
from benchmarks.text_file import write

TITLE = "auto: 24 learners in one pass over a file"
ROWS = 100_000
ONE_ROWS = 2_000
PEER = "River ensemble of 10 logistic regressions (bagging)"


def one_pass(path: Path, name: str, **options: Any) -> Prepare:
    """Learn a file with one learner, from text to weights."""

    def prepare() -> Act:
        def act() -> None:
            learner = nr.make(name, **options)
            for batch in nr.open_source(str(path)):
                learner.learn(batch.X, batch.y)

        return act

    return prepare


def cpu_seconds(prepare: Prepare, repeats: int = 3) -> float:
    """The least time that all cores together spent: what a pass costs, however many of them are free."""
    found = []
    for _ in range(repeats):
        act = prepare()
        began = process_time()
        act()
        found.append(process_time() - began)
    return min(found)


def rows_of_ten() -> tuple[list[dict[str, float]], list[int]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ONE_ROWS, 10))
    return [{f"f{at}": float(value) for at, value in enumerate(row)} for row in X], (X[:, 0] > 0).astype(int).tolist()


def one_by_one(make: Callable[[], Any]) -> Prepare:
    """predict_one, then learn_one."""

    def prepare() -> Act:
        rows, labels = rows_of_ten()
        learner = make()
        for row, label in zip(rows[:200], labels[:200], strict=True):
            learner.learn_one(row, label)

        def act() -> None:
            for row, label in zip(rows, labels, strict=True):
                learner.predict_one(row)
                learner.learn_one(row, label)

        return act

    return prepare


def run() -> list[Row]:
    """The time of auto over that of AROW, with and without pruning, and one row at a time."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.svm")
        write(text(ROWS), path, Path(folder, "rows.vw"))
        contestants = {
            "arow": one_pass(path, "arow"), "auto": one_pass(path, "auto"),
            "auto, prune=True": one_pass(path, "auto", prune=True),
        }  # fmt: skip
        times = in_turn(contestants, 3)
        spent = {name: cpu_seconds(prepare) for name, prepare in contestants.items()}
    one = best(times, "arow")
    found = [
        Row(f"{name}, time over an AROW pass, with parsing", rate(ROWS, best(times, name)), f"arow {rate(ROWS, one)}",
            best(times, name) / one, "x", at_most=6.0, seconds=times)
        for name in ("auto", "auto, prune=True")
    ]  # fmt: skip
    found += [
        Row(f"{name}, CPU time of all cores over that of an AROW pass", f"{1e3 * spent[name]:.0f} ms",
            f"arow {1e3 * spent['arow']:.0f} ms", spent[name] / spent["arow"], "x")
        for name in ("auto", "auto, prune=True")
    ]  # fmt: skip
    contestants = {"auto": one_by_one(lambda: nr.make("auto"))}
    if installed("river"):
        contestants[PEER] = one_by_one(river_bagging)
    times = in_turn(contestants, 3)
    ours, work = best(times, "auto") / ONE_ROWS, "predict_one + learn_one of auto, 10 features"
    if PEER not in times:
        return [*found, missing(work, micros(ours), PEER, "x", 0.1, times)]
    theirs = best(times, PEER) / ONE_ROWS
    return [*found, Row(work, micros(ours), f"{PEER} {micros(theirs)}", theirs / ours, "x", seconds=times)]


def river_bagging() -> Any:
    """Ten linear learners whose votes are combined: the closest that River has."""
    from river import ensemble, linear_model

    return ensemble.BaggingClassifier(linear_model.LogisticRegression(), n_models=10, seed=0)
