"""Writes the golden model files and what is expected of them: `python -m tests.golden.make`.

The files in this folder were written by the format they carry. A new format gets new files; the old ones stay: names
given on the command line are all that is written.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import noregret as nr

FOLDER = Path(__file__).parent
EXPECTED = FOLDER / "expected.json"


def matrix(rows: int, first: int = 0) -> np.ndarray:
    """Rows that need no random numbers, of which a later numpy might make others."""
    t = np.arange(first, first + rows)[:, None]
    return np.round(np.sin(1.0 + 3.0 * t + 0.7 * np.arange(5)) * 64.0) / 64.0


def named(rows: np.ndarray) -> list[dict[str, float]]:
    names = ("sun", "Regen", "snø", "雪", "")
    return [dict(zip(names, row, strict=True)) for row in rows.tolist()]


def with_gaps(rows: np.ndarray) -> list[dict[str, Any]]:
    """The same rows; what is small is missing."""
    return [{name: None if abs(value) < 0.1 else value for name, value in row.items()} for row in named(rows)]


def same(rows: np.ndarray) -> np.ndarray:
    return rows


def pairs(rows: np.ndarray, labels: tuple[Any, ...]) -> list[Any]:
    return [labels[int(row.argmax()) % len(labels)] for row in rows]


SHAPES: dict[str, tuple[dict[str, Any], Callable[[np.ndarray], Any], Callable[[np.ndarray], Any]]] = {
    "binary_sparse_names": ({"rule": "pa1", "C": 0.5}, named, lambda rows: pairs(rows, ("stay", "go"))),
    "multiclass_dense": ({"rule": "arow", "r": 2.0}, same, lambda rows: pairs(rows, (3, 1, 2))),
    "regression": ({"rule": "pa2", "task": "regression", "eps": 0.25}, same, lambda rows: rows[:, 0] - rows[:, 3]),
    "kernel_rbf": ({"rule": "perceptron", "algebra": "kernel", "gamma": 0.5}, same, lambda rows: pairs(rows, (-1, 1))),
    "full_covariance": ({"rule": "sop", "covariance": "full"}, same, lambda rows: pairs(rows, (False, True))),
    "averaged": ({"rule": "perceptron_averaged"}, named, lambda rows: pairs(rows, (0, 1))),
    "transformed": (
        {"rule": "pa1", "bias": True, "transforms": ["missing:policy=mean", "tf_idf", "squares", "pairs", "min_max"]},
        with_gaps,
        lambda rows: pairs(rows, ("stay", "go")),
    ),
    "pool": (
        {"rule": "auto", "pool": ["pa1", ("arow", {"r": 0.1}), ("ogd", {"loss": "logistic"})], "scale": True},
        named,
        lambda rows: pairs(rows, ("a", "b", "c")),
    ),
}


def scores(learner: Any, rows: Any) -> list[Any]:
    return list(learner.scores(rows).tolist())


def main() -> None:
    expected = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
    for name in sys.argv[1:] or SHAPES:
        told, view, label = SHAPES[name]
        early, late, fresh = matrix(30), matrix(20, first=30), matrix(6, first=100)
        learner = nr.make(native=False, **told).learn(view(early), label(early))
        learner.save(FOLDER / f"{name}.nr")
        before = scores(learner, view(fresh))
        learner.learn(view(late), label(late))
        expected[name] = {"scores": before, "after_more": scores(learner, view(fresh))}
    EXPECTED.write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
