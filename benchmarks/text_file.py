"""A text file to a PA-I model in one pass: libsvm text, compared with Vowpal Wabbit on its own format."""

from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sklearn.datasets import load_svmlight_file

import noregret
from benchmarks.measure import Act, Prepare, Row, Times, best, in_turn, installed, missing, rate
from benchmarks.stream import Text, text
from noregret.streams.libsvm import Libsvm
from noregret.streams.read_options import ReadOptions

TITLE = "libsvm text to a model, one pass (200 000 rows, 61 non-zeros)"
PEER = "Vowpal Wabbit"
LOADED = "scikit-learn load_svmlight_file, then learn"
WORK = "libsvm text to pa1"


def write(data: Text, libsvm: Path, vw: Path) -> None:
    """The same rows in both formats; they differ only in what stands between label and features."""
    offsets, indices, values = data.X.indptr.tolist(), data.X.indices.tolist(), data.X.data.tolist()
    with open(libsvm, "w") as ours, open(vw, "w") as theirs:
        for row, label in enumerate(data.y.tolist()):
            part = slice(offsets[row], offsets[row + 1])
            pairs = zip(indices[part], values[part], strict=True)
            features = " ".join(f"{index + 1}:{value:.6g}" for index, value in pairs)
            ours.write(f"{label} {features}\n")
            theirs.write(f"{label} | {features}\n")


def streamed(path: Path) -> Any:
    """A learner that has seen the file once, batch by batch."""
    learner = noregret.make("pa1")
    for batch in Libsvm(str(path), ReadOptions()):
        learner.learn(batch.X, batch.y)
    return learner


def loaded(path: Path) -> Any:
    """The same with the whole file in memory first."""
    X, y = load_svmlight_file(str(path))
    return noregret.make("pa1").learn(X, y.astype(int))


def vowpal_wabbit(path: Path) -> Prepare:
    """Its own reader of its own text, hinge loss, no cache file; it parses in a second thread too."""
    package: Any = import_module("vowpalwabbit")

    def act() -> None:
        model = package.Workspace(f"-d {path} --loss_function hinge --passes 1 --noconstant --quiet")
        model.finish()

    return lambda: act


def ours(path: Path) -> Prepare:
    def prepare() -> Act:
        return lambda: streamed(path)

    return prepare


def same_as_loaded(path: Path) -> str:
    """Rounds and mistakes with our reader and with scikit-learn's, which must be equal."""
    mine, other = streamed(path), loaded(path)
    if (mine.rounds, mine.mistakes) != (other.rounds, other.mistakes):
        raise AssertionError(f"{mine.rounds} rounds, {mine.mistakes} mistakes; loaded {other.rounds}, {other.mistakes}")
    return f"{mine.rounds} rows and {mine.mistakes} mistakes, as after load_svmlight_file"


def run() -> list[Row]:
    with TemporaryDirectory() as folder:
        libsvm, vw = Path(folder, "rows.svm"), Path(folder, "rows.vw")
        write(text(), libsvm, vw)
        note = same_as_loaded(libsvm)
        contestants: dict[str, Prepare] = {WORK: ours(libsvm)}
        if installed("vowpalwabbit"):
            contestants[PEER] = vowpal_wabbit(vw)
        times = in_turn(contestants, repeats=5)
        times |= in_turn({LOADED: lambda: lambda: loaded(libsvm)}, repeats=1)
    return table(times, note)


def table(times: Times, note: str) -> list[Row]:
    rows = text().X.shape[0]
    mine = rate(rows, best(times, WORK))

    def against(peer: str, work: str, at_least: float | None) -> Row:
        figure = best(times, peer) / best(times, WORK)
        seconds = {name: times[name] for name in (WORK, peer)}
        return Row(work, mine, f"{peer} {rate(rows, best(times, peer))}", figure, "x", at_least, seconds=seconds)

    if PEER not in times:
        first = missing(f"{WORK} ({note})", mine, PEER, "x", 5.0, times)
    else:
        first = against(PEER, f"{WORK} ({note})", 5.0)
    return [first, against(LOADED, WORK, 20.0)]
