"""The leaderboard: the results of a race, best first, as entries and as a table."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeAlias

from noregret.errors import import_extra
from noregret.evaluation.capabilities import (
    asked_labels,
    class_weight_of,
    drift_of,
    nonzeros_of,
    task_of,
)
from noregret.evaluation.play import Run, collect_reports
from noregret.evaluation.regret_report import RegretReport
from noregret.evaluation.tables import html_table, table
from noregret.learner.protocol import Learner
from noregret.learner.variants import find_named, name_learner, value_text
from noregret.metrics import Confusion
from noregret.metrics.basic import CurvePoint
from noregret.metrics.tracking import Sequence
from noregret.tasks.costs import Costs
from noregret.tasks.task import Task

FIRST = 8  # rounds before the first part of a trend
LONG = 1e9  # losses from here on are shown by their magnitude only
# What is compared on rows that were held out, by kinds of predictions; of others, the mistakes.
HELD_OUT = {"target": "mae", "score": "-pair_accuracy", "components": "mean_loss"}


@dataclass(frozen=True)
class Entry:
    """The result of one learner: all that its metrics report, and of these the measures that only its task has.

    `stopped` is the error that stopped it. Where the learner does not see every label, `full_information` is the number
    of mistakes of another learner that does. `held_out` is the report on rows that it did not learn. `regret` is that
    against the best fixed weights in hindsight, or why there is none; None where it was not asked for. `curve` has
    the totals at log-spaced rounds. `drift` has the alarms of a drift detector, where one was asked for.
    """

    name: str
    learner: Learner
    report: Mapping[str, float]
    measures: Mapping[str, float] = field(default_factory=dict)
    confusion: Confusion | None = None
    stopped: str | None = None
    full_information: int | None = None
    held_out: Mapping[str, float] | None = None
    regret: RegretReport | str | None = None
    curve: tuple[CurvePoint, ...] = ()
    drift: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, run: Run, name: str | None = None, stopped: str | None = None) -> "Entry":
        """The result of a run so far."""
        learner, confusion = run.learner, None if run.confusion is None else run.confusion.copy()
        report, measures = collect_reports(run.metrics), collect_reports(run.task_metrics)
        full_information = run.comparison.mistakes
        return cls(name or name_learner(learner), learner, report, measures, confusion, stopped, full_information,
                   run.held_out, run.regret, () if run.totals is None else tuple(run.totals.all_points()),
                   drift_of(learner) if run.drift is None else run.drift.describe())  # fmt: skip

    def trend(self, doublings: int = 8) -> list[float]:
        """The mistake rate, or of real targets the mean loss, in each of the last doublings of the rounds."""
        points = [point for point in self.curve if point.rounds & (point.rounds - 1) == 0] + [*self.curve[-1:]]
        name = "mistakes" if self.task.counts_mistakes else "loss"
        pairs = [(one, two) for one, two in pairwise(points) if two.rounds > one.rounds >= FIRST]
        return [
            (getattr(two, name) - getattr(one, name)) / (two.rounds - one.rounds) for one, two in pairs[-doublings:]
        ]

    @property
    def task(self) -> type[Task]:
        return task_of(self.learner)

    @property
    def rounds(self) -> int:
        return int(self.report["rounds"])

    @property
    def mistakes(self) -> int:
        return int(self.report["mistakes"])

    @property
    def loss(self) -> float:
        return self.report["loss"]

    @property
    def updates(self) -> int:
        return int(self.report["updates"])

    @property
    def seconds(self) -> float:
        return self.report["seconds"]

    @property
    def rate(self) -> float:
        return self.mistakes / max(self.rounds, 1)

    @property
    def mean_loss(self) -> float:
        return self.loss / max(self.rounds, 1)

    @property
    def sort_key(self) -> tuple[float, ...]:
        """What the leaderboard is sorted by, the smallest first: the measures that the task names."""
        return tuple(signed(self.report, name) for name in self.task.sort_keys)

    @property
    def nonzeros(self) -> int | None:
        """How many features have a weight, where the learner has weights."""
        return nonzeros_of(self.learner)

    @property
    def asked(self) -> int | None:
        """How many labels were asked for, where the learner decides that."""
        return asked_labels(self.learner)

    @property
    def costs(self) -> Costs | None:
        """The costs of mistakes, where some were given."""
        return None if self.confusion is None else self.confusion.costs

    @property
    def imbalanced(self) -> bool:
        """Whether the rate alone may mislead: some class is rare, or classes have weights."""
        weighted = class_weight_of(self.learner) is not None
        return self.confusion is not None and (weighted or self.confusion.imbalanced)

    def summarize(self) -> str:
        """The result in a few words."""
        words = self.task.summarize(self.report)
        if self.confusion is not None and self.imbalanced:
            words += f", balanced accuracy {self.confusion.balanced_accuracy:.4f}"
        return words if self.confusion is None or self.costs is None else f"{words}, cost {self.confusion.cost:,.6g}"


def tell_apart(entries: list[Entry]) -> list[Entry]:
    """Entries of one name get a name with all their options, and those that still have one name a number."""
    counts = Counter(entry.name for entry in entries)
    names = [name_learner(one.learner, whole=True) if counts[one.name] > 1 else one.name for one in entries]
    seen: Counter[str] = Counter()
    found = []
    for entry, name in zip(entries, names, strict=True):
        seen[name] += 1
        found.append(replace(entry, name=name if seen[name] == 1 else f"{name}#{seen[name]}"))
    return found


def show_value(value: object) -> str:
    """A parameter of a candidate; of a learner or a detector, its name."""
    return value_text(value)


def signed(report: Mapping[str, float], key: str) -> float:
    """A measure to sort by, the smallest first; with a minus before its name the largest is the best."""
    return -report[key[1:]] if key.startswith("-") else float(report[key])


class Leaderboard:
    """The entries of a race, best first, the report of the baselines, and the best sequences of learners in hindsight.

    Best is the smallest cost where costs were given, then what the task names: the fewest mistakes, then the smallest
    loss; in ranking, the most pairs in the right order. Learners that stopped come last.
    """

    def __init__(
        self,
        entries: Iterable[Entry],
        baselines: Mapping[str, float] | None = None,
        sequences: Iterable[Sequence] = (),
    ) -> None:
        unsorted = tell_apart(list(entries))
        self.sequences = [
            (one.loss, [(start, unsorted[learner].name) for start, learner in one.parts]) for one in sequences
        ]
        self.costs = next((entry.costs for entry in unsorted if entry.costs is not None), None)
        self.entries = sorted(unsorted, key=self.sort_key)
        self.baselines = dict(baselines or {})

    def sort_key(self, entry: Entry) -> tuple[float, ...]:
        return (entry.stopped is not None, self.cost_of(entry), *entry.sort_key)

    def cost_of(self, entry: Entry) -> float:
        """The total cost of its mistakes, by the costs of this race."""
        return 0.0 if self.costs is None or entry.confusion is None else entry.confusion.cost_by(self.costs)

    @property
    def best(self) -> Entry:
        return self.entries[0]

    @property
    def best_held_out(self) -> Entry | None:
        """The best on rows that were held out, by the first measure that the task names; None without such rows."""
        entries = [entry for entry in self.entries if entry.held_out is not None and entry.stopped is None]
        key = HELD_OUT.get(self.best.task.prediction, "mistakes")
        return min(entries, key=lambda entry: signed(entry.held_out or {}, key), default=None)

    @property
    def winner(self) -> Any:
        """The best learner."""
        return self.best.learner

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, name: str) -> Entry:
        return self.entries[find_named(name, [entry.name for entry in self.entries])]

    def columns(self) -> dict[str, "Cell"]:
        """The columns of the table by their titles.

        Beside the rate stand the balanced accuracy, where classes are imbalanced or weighted, and the costs.
        """
        columns: dict[str, Cell] = {"learner": show_name}
        for title in self.best.task.columns:
            columns[title] = CELLS[title]
            if title == "rate" and self.best.task.one_label:
                columns |= self.label_columns()
        columns |= {"updates": lambda entry: str(entry.updates), "non-zeros": lambda entry: show(entry.nonzeros)}
        if any(entry.held_out is not None for entry in self.entries):
            columns["held out"] = show_held_out
        if any(isinstance(entry.regret, RegretReport) for entry in self.entries):
            columns |= {"regret": show_regret, "bound": show_bound}
        if any(entry.full_information is not None for entry in self.entries):
            columns["full information"] = lambda entry: show(entry.full_information)
        if any(entry.asked is not None for entry in self.entries):
            columns["labels asked"] = lambda entry: show(entry.asked)
        columns["rounds/s"] = lambda entry: f"{entry.rounds / max(entry.seconds, 1e-9):,.0f}"
        return columns

    def label_columns(self) -> dict[str, "Cell"]:
        """Balanced accuracy and cost, where they tell more than the rate."""
        columns: dict[str, Cell] = {}
        if any(entry.imbalanced for entry in self.entries):
            columns["balanced"] = show_balanced
        if self.costs is not None:
            columns["cost"] = lambda entry: "" if entry.confusion is None else f"{self.cost_of(entry):,.6g}"
        return columns

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """The titles and the rows of the table; a learner that stopped has no results to compare."""
        columns = self.columns()
        empty = ("",) * (len(columns) - 1)
        return tuple(columns), [
            tuple(cell(entry) for cell in columns.values()) if entry.stopped is None else (show_name(entry), *empty)
            for entry in self.entries
        ]

    def __str__(self) -> str:
        return table(*self.table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(*self.table())

    def plot(self) -> Any:
        """The curves of the learners as a matplotlib figure: mistake rate and mean loss against rounds."""
        return import_extra("noregret.plots", "plots", "plot()").curves(self)


# ---- cells -----------------------------------------------------------------------------------------------------------

Cell: TypeAlias = Callable[[Entry], str]


def show(value: object) -> str:
    return "" if value is None else str(value)


def show_name(entry: Entry) -> str:
    if entry.stopped is None:
        return entry.name
    return f"{entry.name} (stopped after {entry.rounds:,} round{'' if entry.rounds == 1 else 's'})"


def show_loss(entry: Entry) -> str:
    return f"{entry.loss:.1f}" if entry.loss < LONG else f"{entry.loss:.3g}"


def show_balanced(entry: Entry) -> str:
    return "" if entry.confusion is None else f"{entry.confusion.balanced_accuracy:.4f}"


def show_held_out(entry: Entry) -> str:
    """The rate of mistakes on rows that were held out; in regression and ranking, what the task measures."""
    names = {"target": "mae", "score": "pair_accuracy", "components": "mean_loss"}
    found = (entry.held_out or {}).get(names.get(entry.task.prediction, "rate"))
    return "" if found is None else f"{found:.4f}"


def show_regret(entry: Entry) -> str:
    """The losses beyond those of the best fixed weights."""
    return f"{entry.regret.last.regret:.1f}" if isinstance(entry.regret, RegretReport) else ""


def show_bound(entry: Entry) -> str:
    """What the theorem of the learner allows: of its regret, or of what else it bounds."""
    curve = entry.regret.guarantee if isinstance(entry.regret, RegretReport) else None
    if curve is None:
        return ""
    what = "" if curve.of_regret else f"{curve.bounds} "
    return f"{what}<= {curve.points[-1].bound:,.0f}"


def show_measure(name: str) -> Cell:
    """A cell for a measure of the task; empty for a learner that has none."""
    return lambda entry: f"{entry.report[name]:.4f}" if name in entry.report else ""


CELLS: dict[str, Cell] = {
    "mistakes": lambda entry: str(entry.mistakes),
    "rate": lambda entry: f"{entry.rate:.4f}",
    "loss": show_loss,
    "mean loss": lambda entry: f"{entry.mean_loss:.4g}",
    "ranking loss": show_measure("ranking_loss"),
    "micro F1": show_measure("micro_f1"),
    "pairs right": show_measure("pair_accuracy"),
    "NDCG": show_measure("ndcg"),
    "NDCG@10": show_measure("ndcg_at_10"),
    "MAE": lambda entry: f"{entry.report['mae']:.4g}" if "mae" in entry.report else "",
    "RMSE": lambda entry: f"{entry.report['rmse']:.4g}" if "rmse" in entry.report else "",
    "R2": show_measure("r2"),
    "wrong lists": lambda entry: str(entry.mistakes),
}
"""The columns that a task can name."""
