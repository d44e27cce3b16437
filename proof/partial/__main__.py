"""`python -m proof.partial`: mistakes of learners that are not told every label, beside those of learners that are."""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import noregret as nr
from proof.reproduce.data import Missing, folder, must_hold, rows, shuffled

SHUFFLES = 10
ASKS = (0.1, 1.0, 10.0)
LETTER, PENDIGITS = "letter/letter.scale.svm.gz", "pendigits/pendigits.svm.gz"
MNIST, ADULT = "mnist/train-images-idx3-ubyte.gz", "a9a/a9a.svm.gz"
PIXELS = 784
PLAYERS: dict[str, dict[str, Any]] = {
    "banditron, gamma = 0.05": {"rule": "banditron", "gamma": 0.05},
    "banditron, gamma = 0.2": {"rule": "banditron", "gamma": 0.2},
    "exp3": {"rule": "exp3", "rate": "inv_sqrt", "eta": 0.5},
}
Row = tuple[str, ...]


def images(base: Path) -> tuple[Any, np.ndarray]:
    """The digits of MNIST, from 0 to 1."""
    batches = list(nr.open_source(str(base / MNIST)))
    blocks = [(batch.X.block.val, batch.X.block.idx, batch.X.block.indptr) for batch in batches]
    X = sparse.vstack([sparse.csr_array(block, shape=(len(block[2]) - 1, PIXELS)) for block in blocks], format="csr")
    return X / X.max(), np.concatenate([batch.y for batch in batches])


def mean(values: list[float], digits: int = 1) -> str:
    return f"{np.mean(values):.{digits}f} ± {np.std(values):.{digits}f}"


def over_shuffles(X: Any, y: np.ndarray, measure: Callable[[Any, np.ndarray, int], list[float]]) -> list[list[float]]:
    """Some measures, each over all shuffles."""
    return list(map(list, zip(*(measure(*shuffled(X, y, seed), seed) for seed in range(SHUFFLES)), strict=True)))


def bandits(base: Path) -> Iterator[Row]:
    """Online error in percent: told all, told only whether it was right, and not looking at the rows."""
    yield ("data", "classes", "rounds", "perceptron, told all", *PLAYERS)
    data = {"letter": rows(base, LETTER), "pendigits": rows(base, PENDIGITS), "mnist": images(base)}
    for name, (X, y) in data.items():
        classes = np.unique(y).tolist()

        def measure(X: Any, y: np.ndarray, seed: int, classes: list[Any] = classes) -> list[float]:
            told = {"classes": classes, "seed": seed, "bias": True}
            players = [nr.make(**{**told, **options}) for options in PLAYERS.values()]
            told_all = nr.informed(players[0])
            assert told_all is not None
            return [100.0 * one.learn(X, y).mistakes / len(y) for one in (told_all, *players)]

        yield (name, str(len(classes)), str(len(y)), *map(mean, over_shuffles(X, y, measure)))


def askers(base: Path) -> Iterator[Row]:
    """Mistakes of a perceptron told all labels, and of those that ask; the share of labels that are asked for."""
    yield ("a9a", "mistakes", "labels asked for, %")
    X, y = rows(base, ADULT)

    def measure(X: Any, y: np.ndarray, seed: int) -> list[float]:
        asking = [nr.make("perceptron", labels="asked", ask=b, classes=[-1, 1], seed=seed) for b in ASKS]
        played = [one.learn(X, y) for one in (nr.make("perceptron"), *asking)]
        return [float(count) for one in played for count in (one.mistakes, 100.0 * one.asked / len(y))]

    found = over_shuffles(X, y, measure)
    for number, name in enumerate(["told all", *(f"ask = {b:g}" for b in ASKS)]):
        yield name, mean(found[2 * number], 0), mean(found[2 * number + 1])


def table(lines: Iterator[Row]) -> str:
    head, *rest = lines
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ("---",) * len(head), *rest))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m proof.partial", description=__doc__)
    parser.add_argument("--data", metavar="DIR", help="the folder of data; by default that of NOREGRET_DATA")
    told = parser.parse_args()
    try:
        must_hold(told.data, (LETTER, PENDIGITS, MNIST, ADULT))
    except Missing as error:
        sys.stderr.write(f"proof.partial: {error}\n")
        return 2
    base = folder(told.data, LETTER)
    sys.stdout.write("\n\n".join(table(one(base)) for one in (bandits, askers)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
