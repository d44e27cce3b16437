"""Tables to a model in one pass: CSV compared with pandas and scikit-learn, and the share of reading Parquet."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

import noregret
from benchmarks.measure import Row, best, in_turn, installed, missing, rate
from noregret.streams import open_source
from noregret.streams.csv import Csv

TITLE = "Tables to a model, one pass (300 000 rows, 40 columns of numbers)"
ROWS, COLUMNS = 300_000, 40
CSV, PARQUET = "CSV to pa1", "Parquet to pa1, scaled, with a bias"
ARROW = "the same with the lines parsed by pyarrow"
PEER = "pandas read_csv(engine='pyarrow'), SGDClassifier.partial_fit"


def write(folder: Path) -> None:
    """The same rows as CSV and as Parquet."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    rng = np.random.default_rng(2)
    X = rng.normal(size=(ROWS, COLUMNS)).round(5)
    y = np.where(X @ rng.normal(size=COLUMNS) + rng.normal(size=ROWS) > 0, 1, -1)
    table = pa.table({**{f"x{j}": X[:, j] for j in range(COLUMNS)}, "label": y})
    pa.csv.write_csv(table, folder / "rows.csv")
    pa.parquet.write_table(table, folder / "rows.parquet", row_group_size=1 << 16)


def streamed(path: Path) -> Any:
    """A learner that has seen the file once, batch by batch."""
    learner = noregret.make("pa1")
    for batch in open_source(path):
        learner.learn(batch.X, batch.y)
    return learner


def by_arrow(path: Path) -> Any:
    """The same, without the compiled parser of lines."""
    learner, source = noregret.make("pa1"), open_source(path)
    assert isinstance(source, Csv)
    source.native = False
    for batch in source:
        learner.learn(batch.X, batch.y)
    return learner


def by_pandas(path: Path) -> Any:
    import pandas
    from sklearn.linear_model import SGDClassifier

    model = SGDClassifier(loss="hinge", learning_rate="pa1", eta0=1.0, penalty=None, shuffle=False)
    table = pandas.read_csv(path, engine="pyarrow")
    return model.partial_fit(table.drop(columns="label").to_numpy(), table["label"].to_numpy(), classes=[-1, 1])


def learning_share(path: Path) -> tuple[float, float]:
    """Seconds that a pass waits for rows, and seconds it learns, scaled and with a bias as the command line does it;
    the best of five."""
    found = []
    for _ in range(5):
        learner, learned = noregret.make("pa1", scale=True, bias=True), 0.0
        began = perf_counter()
        for batch in open_source(path):
            start = perf_counter()
            learner.learn(batch.X, batch.y)
            learned += perf_counter() - start
        found.append((perf_counter() - began - learned, learned))
    return min(found)


def act(work: Callable[[Path], Any], path: Path) -> Any:
    return lambda: lambda: work(path)


def run() -> list[Row]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        write(folder)
        mistakes = streamed(folder / "rows.csv").mistakes
        if mistakes != streamed(folder / "rows.parquet").mistakes:
            raise AssertionError("CSV and Parquet are learned differently")
        contestants = {CSV: act(streamed, folder / "rows.csv"), ARROW: act(by_arrow, folder / "rows.csv")}
        if installed("pandas"):
            contestants[PEER] = act(by_pandas, folder / "rows.csv")
        times = in_turn(contestants, repeats=5)
        waits, learns = learning_share(folder / "rows.parquet")
    mine = rate(ROWS, best(times, CSV))
    work = f"{CSV} ({mistakes} mistakes, as from Parquet)"
    if PEER in times:
        figure = best(times, PEER) / best(times, CSV)
        first = Row(work, mine, f"{PEER} {rate(ROWS, best(times, PEER))}", figure, "x", 1.5, seconds=times)
    else:
        first = missing(work, mine, PEER, "x", 1.5, times)
    figure = best(times, ARROW) / best(times, CSV)
    second = Row(CSV, mine, f"{ARROW} {rate(ROWS, best(times, ARROW))}", figure, "x", 2.0, seconds=times)
    share = 100.0 * waits / learns
    told = f"{1e3 * waits:.0f} ms reading, {1e3 * learns:.0f} ms learning"
    return [first, second, Row(PARQUET, rate(ROWS, waits + learns), told, share, "% of learning", at_most=20.0)]
