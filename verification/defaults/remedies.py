"""What could keep a default from being worse than guessing: general remedies, measured on the deciding streams.

`python -m verification.defaults.remedies` prints the table of docs/defaults.md. Each remedy is compared with the
default: the geometric mean of the ratio of mistakes, 5 added to both, and on how many streams it makes more mistakes
than the majority guess and two standard deviations. No remedy changes a rule:

- a constant feature of 2 in place of 1, so that the offset of scaled tables is learned sooner;
- predictions by the mean of all weights (average=True);
- the majority label in place of the prediction, as long as the learner has made more mistakes than that guess and one
  standard deviation. Both are known before each round, so this is a prediction like any other;
- `auto` with the learner and the majority label as its pool: Hedge weighs the two by their mistakes.

`--guess` prints another table instead: of streams on which some default is worse than guessing, the mistakes of
the guess, of each learner and of the pool.
"""

import argparse
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import noregret as nr
from noregret.errors import Error
from noregret.evaluation.tables import table
from verification.defaults.measure import last_label, majority
from verification.defaults.page import FEW
from verification.defaults.rows import Rows
from verification.defaults.streams import Stream, find_streams

LEARNERS = ("perceptron", "pa1", "pa2", "ogd", "rda", "pegasos", "norma", "adagrad", "scw1", "arow", "eg_signed")
REMEDIES = ("constant of 2", "average", "majority while ahead", "auto with the majority label")
GUESSED = ("perceptron", "pa1", "ogd", "adagrad", "arow")
NOISY = ("generated table", "german_numer", "svmguide3", "mammography", "oil spills", "wines", "weather", "airlines")
Wrong = np.ndarray


def play(name: str, stream: Stream, rows: Rows, **more: Any) -> Wrong | None:
    """Which rounds of one pass were mistakes; None where the learner cannot, or its weights overflow."""
    bias: Any = "auto" if stream.is_sparse else False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            options = {} if name == "auto" else {"algebra": "sparse"}
            learner = nr.make(name, task="multiclass" if stream.many else "binary", bias=bias, **options, **more)
            return np.asarray(learner.play(*rows).mistakes, bool)
    except Error:
        return None


def play_pool(name: str, stream: Stream, rows: Rows) -> Wrong | None:
    """The same of `auto` with this learner and the majority label as its pool."""
    return play("auto", stream, rows, pool=[name, "majority"])


def guesses(y: np.ndarray) -> Wrong:
    """On which rounds the majority label so far was wrong."""
    counts: dict[Any, int] = {}
    best, wrong = None, np.zeros(len(y), bool)
    for t, label in enumerate(y.tolist()):
        wrong[t] = label != best
        counts[label] = counts.get(label, 0) + 1
        if best is None or counts[label] > counts[best]:
            best = label
    return wrong


def while_ahead(wrong: Wrong, guessed: Wrong) -> int:
    """The mistakes of the learner, or of the majority guess in rounds before which that was ahead."""
    own, other = (np.append(0, np.cumsum(one)[:-1]) for one in (wrong, guessed))
    return int(np.where(own > other + np.sqrt(other + 1.0), guessed, wrong).sum())


def measure(name: str, stream: Stream, rows: Rows) -> dict[str, int | None] | None:
    """The mistakes of the default and with every remedy; None where one does not apply."""
    wrong = play(name, stream, rows)
    if wrong is None:
        return None
    found: dict[str, int | None] = {"default": int(wrong.sum()), REMEDIES[2]: while_ahead(wrong, guesses(rows[1]))}
    averaged = play(name, stream, rows, average=True)
    found[REMEDIES[1]] = None if averaged is None else int(averaged.sum())
    pooled = play_pool(name, stream, rows)
    found[REMEDIES[3]] = None if pooled is None else int(pooled.sum())
    if stream.kind == "table":
        larger = rows[0].copy()
        larger.data[larger.indptr[:-1]] = 2.0  # the constant is the first column
        doubled = play(name, stream, (larger, rows[1]))
        found[REMEDIES[0]] = None if doubled is None else int(doubled.sum())
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m verification.defaults.remedies", description=__doc__)
    parser.add_argument("--data", metavar="DIR", help="a folder of data; by default that of NOREGRET_DATA, if any")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=LEARNERS, help="some learners")
    parser.add_argument("--guess", action="store_true", help="guess, learner and pool, stream by stream")
    told = parser.parse_args(arguments)
    if told.guess:
        print(table(("stream", "majority guess", *GUESSED), list(guess_lines(told.data))))
        return 0
    found: dict[str, list[tuple[dict[str, int | None], float]]] = {name: [] for name in told.only}
    for stream in find_streams(told.data):
        if stream.lot == 0:
            rows = stream.load()
            errors = majority(rows)
            most = errors + 2.0 * np.sqrt(errors * (1.0 - errors / rows[0].shape[0]))
            for name in told.only:
                one = measure(name, stream, rows)
                if one is not None:
                    found[name].append((one, most))
            print(f"{stream.name}: guessing errs {errors} times, the last label {last_label(rows)}", file=sys.stderr)
    print(table(("learner", "worse than guessing", *REMEDIES), [line(name, found[name]) for name in told.only]))
    return 0


def guess_lines(data: str | None) -> Iterator[tuple[str, ...]]:
    """Of every stream the mistakes of the guess, then of each learner: alone, and in a pool with the guess."""
    for stream in find_streams(data):
        if stream.name in NOISY:
            rows = stream.load()
            cells = []
            for name in GUESSED:
                alone, pooled = play(name, stream, rows), play_pool(name, stream, rows)
                cells.append("" if alone is None or pooled is None else f"{alone.sum():,} to {pooled.sum():,}")
            yield (stream.name, f"{majority(rows):,}", *cells)


def line(name: str, found: list[tuple[dict[str, int | None], float]]) -> tuple[str, ...]:
    """The row of a learner: how often it is worse than guessing, and of each remedy its ratio and the same."""
    cells = [f"{sum((one['default'] or 0) > most for one, most in found)}"]
    for remedy in REMEDIES:
        able = [(one[remedy], one["default"] or 0, most) for one, most in found if one.get(remedy) is not None]
        logs = [np.log(((after or 0) + FEW) / (before + FEW)) for after, before, _ in able]
        before_worse = sum(before > most for _, before, most in able)
        after_worse = sum((after or 0) > most for after, _, most in able)
        cells.append(f"{np.exp(np.mean(logs)):.3f} ({before_worse} to {after_worse} of {len(able)})" if able else "")
    return (name, *cells)


if __name__ == "__main__":
    sys.exit(main())
