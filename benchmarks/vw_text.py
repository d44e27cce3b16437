"""A file with string features in namespaces to a PA-I model in one pass, compared with Vowpal Wabbit."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import noregret
from benchmarks.measure import Act, Prepare, Row, Times, best, in_turn, installed, missing, rate
from benchmarks.text_file import vowpal_wabbit
from noregret.streams.read_options import ReadOptions
from noregret.streams.vw import Vw

TITLE = "Vowpal Wabbit text to a model, one pass (400 000 rows, 31 features with names and namespaces, 139 MB)"
PEER = "Vowpal Wabbit"
ROWS, WORDS, USERS = 400_000, 100_000, 20_000
OURS = {rule: f"VW text to {rule}" for rule in ("pa1", "ogd")}


def ranks(rng: np.random.Generator, most: int, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers below `most`, the k-th as frequent as 1 / k (Zipf's law)."""
    drawn: np.ndarray = np.minimum((most ** rng.random(shape)).astype(np.int64), most - 1)
    return drawn


def vocabulary(rng: np.random.Generator, size: int) -> list[str]:
    """Distinct words of letters, the rarer ones longer."""
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    lengths = rng.integers(3, 12, size).tolist()
    words = ["".join(rng.choice(letters, length)) for length in lengths]
    return [word if number < 2000 else f"{word}{number}" for number, word in enumerate(words)]


def write(path: Path, rows: int = ROWS) -> None:
    """A label; 24 words of a text; six of them with a number; a user."""
    rng = np.random.default_rng(1)
    words, weight = vocabulary(rng, WORDS), rng.normal(size=WORDS)
    with open(path, "w") as file:
        for start in range(0, rows, 10_000):
            count = min(10_000, rows - start)
            text, few = ranks(rng, WORDS, (count, 24)), ranks(rng, 200, (count, 6)).tolist()
            numbers, users = rng.random((count, 6)).round(4).tolist(), ranks(rng, USERS, (count,)).tolist()
            labels = np.where(weight[text].sum(axis=1) + rng.normal(size=count) > 0, 1, -1).tolist()
            for row, line in enumerate(text.tolist()):
                pairs = " ".join(f"{words[j]}:{v}" for j, v in zip(few[row], numbers[row], strict=True))
                said = " ".join([words[j] for j in line])
                file.write(f"{labels[row]} |text {said} |num {pairs} |user u{users[row]}\n")


def streamed(path: Path, rule: str) -> Any:
    """A learner that has seen the file once, batch by batch; it knows every feature by its name."""
    learner = noregret.make(rule)
    for batch in Vw(str(path), ReadOptions()):
        learner.learn(batch.X, batch.y, batch.weight)
    return learner


def ours(path: Path, rule: str) -> Prepare:
    def prepare() -> Act:
        return lambda: streamed(path, rule)

    return prepare


def same_as_dicts(path: Path, rows: int = 5000) -> str:
    """Mistakes on the file and on dicts made from it, which must be equal."""
    learner, seen = noregret.make("pa1"), 0
    with open(path) as file:
        for line in file:
            label, *spaces = line.split("|")
            row: dict[str, float] = {}
            for space in spaces:
                name, *features = space.split()
                for feature in features:
                    word, _, value = feature.partition(":")
                    row[f"{name}^{word}"] = row.get(f"{name}^{word}", 0.0) + float(value or 1)
            learner.learn_one(row, int(label))
            seen += 1
            if seen == rows:
                break
    other = noregret.make("pa1")
    for batch in noregret.open_source(path, limit=rows):
        other.learn(batch.X, batch.y)
    if (learner.rounds, learner.mistakes) != (other.rounds, other.mistakes):
        raise AssertionError(f"{other.mistakes} mistakes from the file, {learner.mistakes} from dicts")
    return f"{other.mistakes} mistakes in the first {rows} rows, as from dicts"


def run() -> list[Row]:
    with TemporaryDirectory() as folder:
        path = Path(folder, "rows.vw")
        write(path)
        note = same_as_dicts(path)
        contestants: dict[str, Prepare] = {work: ours(path, rule) for rule, work in OURS.items()}
        if installed("vowpalwabbit"):
            contestants[PEER] = vowpal_wabbit(path)
        times = in_turn(contestants, repeats=5)
    return [row(times, work, note if rule == "pa1" else "") for rule, work in OURS.items()]


def row(times: Times, work: str, note: str) -> Row:
    mine, told = rate(ROWS, best(times, work)), f"{work} ({note})" if note else work
    if PEER not in times:
        return missing(told, mine, PEER, "x", 2.0, times)
    figure = best(times, PEER) / best(times, work)
    seconds = {name: times[name] for name in (work, PEER)}
    return Row(told, mine, f"{PEER} {rate(ROWS, best(times, PEER))}", figure, "x", 2.0, seconds=seconds)
