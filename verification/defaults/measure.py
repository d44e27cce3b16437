"""The mistakes of every learner on every stream: with its defaults, and with every point of a small grid."""

import json
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import noregret as nr
from noregret.errors import Error
from verification.defaults.rows import Rows
from verification.defaults.streams import Stream

TUNED = {
    "adadelta": ("eta", "delta"),
    "adagrad": ("eta",),
    "ftrl": ("alpha", "l1"),
    "group_lasso": ("lam", "gamma"),
    "mirror_descent": ("eta",),
    "multitask": ("lam", "gamma"),
    "ofs": ("B", "eta"),
    "ofs_partial": ("B", "eta"),
    "ogd": ("eta0",),
    "adaline_batch": ("rho",),
    "gradient_batch": ("eta",),
    "pegasos_batch": ("lam",),
    "perceptron_batch": (),
}
"""The numbers of the grid where a card has more to search: none that matter only for other options, nor batches."""
SIZES = {1: (7,), 2: (5, 4)}
SLOW = ("perceptron_pocket", "fobos_infinity")  # no grid: each round costs more than the non-zeros of its row
Results = dict[str, int | None]


def grid_of(card: nr.RuleCard) -> list[dict[str, float]]:
    """The points of the grid over the search ranges of a card: of at most two numbers."""
    searched = [name for name, param in card.numbers.items() if param.candidates(2)]
    names = [name for name in TUNED.get(card.name, searched[:2]) if name in card.numbers]
    if not names or card.name in SLOW:
        return []
    axes = [card.numbers[name].candidates(size) for name, size in zip(names, SIZES[len(names)], strict=True)]
    return [{name: float(f"{value:.4g}") for name, value in zip(names, point, strict=True)} for point in product(*axes)]


def subjects(only: list[str] | None) -> Iterator[nr.RuleCard]:
    """The learners of classes that are measured."""
    for card in nr.learners().rules.values():
        plays = {"binary", "multiclass"} & set(card.tasks) and "sparse" in card.algebras
        if card.built_in and plays and (only is None or card.name in only):
            yield card


def key_of(card: nr.RuleCard, stream: Stream, point: dict[str, float]) -> str:
    return f"{card.name}|{stream.name}|{json.dumps(point, sort_keys=True)}"


def mistakes(card: nr.RuleCard, stream: Stream, rows: Rows, point: dict[str, float]) -> int | None:
    """The mistakes of one pass; None where the weights overflow."""
    X, y = rows
    task = "multiclass" if stream.many else card.usual_task
    learner = nr.make(card.name, task=task, algebra="sparse", bias="auto" if stream.is_sparse else False, **point)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return int(learner.learn(X, y).mistakes)
    except Error:
        return None


def majority(rows: Rows) -> int:
    """The mistakes of guessing the majority label so far."""
    from noregret.metrics import LabelBaselines

    baseline = LabelBaselines()
    baseline.count(rows[1])
    return baseline.majority_mistakes


def last_label(rows: Rows) -> int:
    """The mistakes of guessing that the last label comes again."""
    return 1 + int((rows[1][1:] != rows[1][:-1]).sum())


class Measurements:
    """What was measured, kept in a file if one is named, so that a run can go on where another ended."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self.found: Results = json.loads(file.read_text()) if file is not None and file.exists() else {}

    def measure(self, card: nr.RuleCard, stream: Stream, rows: Rows) -> None:
        """The default of a learner, with its numbers spelled out, and all points of its grid."""
        for point in [default_of(card), *grid_of(card)]:
            key = key_of(card, stream, point)
            if key not in self.found:
                self.found[key] = mistakes(card, stream, rows, point)

    def save(self) -> None:
        if self.file is not None:
            self.file.write_text(json.dumps(self.found, indent=0))


def default_of(card: nr.RuleCard) -> dict[str, float]:
    """The defaults of the numbers of a card."""
    return {name: param.default for name, param in card.numbers.items()}
