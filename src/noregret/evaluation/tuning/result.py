"""The result of a search: candidates, best first, the best learner, and the command that trains it."""

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from noregret.evaluation.checkpoint import READ_OPTIONS
from noregret.evaluation.command_words import learner_words, option_words
from noregret.evaluation.leaderboard import CELLS, HELD_OUT, Entry, show_held_out, show_value, signed
from noregret.evaluation.play import READING
from noregret.evaluation.report import report_entry
from noregret.evaluation.tables import html_table, table
from noregret.evaluation.tuning.candidates import PASSES, Candidate
from noregret.evaluation.tuning.measures import show_metric, sort_value
from noregret.streams import Source
from noregret.streams.read_options import DEFAULTS


@dataclass(frozen=True)
class Result:
    """What became of a candidate.

    `entry` is what its metrics report; `passes` how often it learned the rows, where that is searched; `dropped` after
    how many rounds it was dropped, where it was.
    """

    candidate: Candidate
    entry: Entry
    passes: int | None = None
    dropped: int | None = None
    metric: str | None = None  # what candidates are compared by, where it is not what the task names

    @property
    def name(self) -> str:
        """The name of the learner that is searched."""
        return str(self.candidate.variant)

    @property
    def parameters(self) -> dict[str, Any]:
        """The value of every parameter that was searched."""
        searched = dict(self.candidate.parameters)
        return searched if self.passes is None else {**searched, PASSES: self.passes}

    @property
    def sort_key(self) -> tuple[float, ...]:
        """What candidates are sorted by, the smallest first: on validation rows, or what the task names."""
        entry = self.entry
        if entry.held_out is None:
            measured = entry.sort_key
            costs = entry.confusion.cost if entry.costs is not None and entry.confusion is not None else 0.0
        else:
            key = HELD_OUT.get(entry.task.prediction, "mistakes")
            measured, costs = (signed(entry.held_out, key),), entry.held_out.get("cost", 0.0)
        if self.metric is not None:
            measured, costs = (sort_value(self.metric, entry), *measured), 0.0
        alive = -math.inf if self.dropped is None else -self.dropped
        return (entry.stopped is not None, alive, *(math.inf if one != one else one for one in (costs, *measured)))

    @property
    def status(self) -> str:
        """Why it did not play all rounds; empty where it did."""
        if self.entry.stopped is not None:
            return f"stopped after {self.entry.rounds:,}"
        return "" if self.dropped is None else f"dropped after {self.dropped:,}"

    def describe(self) -> str:
        """The learner with what differs from its defaults, as in arow(r=0.1)."""
        return self.candidate.name({} if self.passes is None else {PASSES: self.passes})

    def summarize(self) -> str:
        """The result in a few words."""
        entry = self.entry
        words = entry.summarize() if entry.held_out is None else entry.task.summarize(entry.held_out)
        return words if self.metric in (None, "mistakes", "rate") else (
            f"{self.metric} {show_metric(self.metric, entry)}, {words}"
        )  # fmt: skip

    def report(self) -> dict[str, Any]:
        """The result for programs."""
        report: dict[str, Any] = {
            "learner": self.name,
            "set": plain_values(self.candidate.settings),
            "searched": plain_values(self.parameters),
            **report_entry(self.entry),
            "name": self.describe(),
        }
        report.pop("confusion", None)
        if self.passes is not None:  # the learner has gone on to more passes since
            del report["nonzeros"]
        return report if self.dropped is None else {**report, "dropped": self.dropped}


@dataclass
class Tuning:
    """The candidates of a search, best first; of equals, the one that was made first, and default parameters first.

    `best` is the best learner, trained and ready to predict or to go on learning; `parameters` are those of its
    parameters that are not the defaults.
    """

    results: Sequence[Result]
    best: Any
    method: str
    source: Source
    baselines: Mapping[str, float] = field(default_factory=dict)
    refitted: bool = False
    passes: int = 1  # how often rows were learned, where that is not searched
    given: Mapping[str, Any] = field(default_factory=dict)  # options of reading and of learners that were given

    def __post_init__(self) -> None:
        self.results = sorted(self.results, key=lambda result: result.sort_key)

    @property
    def first(self) -> Result:
        """The result of the best candidate."""
        return self.results[0]

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the best candidate that are not the defaults."""
        first = self.first
        return {**first.candidate.settings, **({} if first.passes in (None, 1) else {PASSES: first.passes})}

    def find_edges(self) -> dict[str, str]:
        """The parameters of the best candidate that are the smallest or the largest value tried, by name."""
        edges = {}
        for name, value in self.first.candidate.settings.items():
            tried = [result.parameters[name] for result in self.results if result.name == self.first.name]
            numbers: list[Any] = [one for one in tried if type(one) in (int, float)]
            if type(value) in (int, float) and len(set(numbers)) > 2 and value in (min(numbers), max(numbers)):
                edges[name] = "smallest" if value == min(numbers) else "largest"
        return edges

    @property
    def command(self) -> str:
        """The command that trains the best candidate; FILE stands for data that are not in a file."""
        words = ["noregret", "learn", *self.find_data(), "--learner", self.first.candidate.name()]
        options = getattr(self.source, "options", None)
        opened = {} if options is None else {name: getattr(options, name) for name in options.non_defaults()}
        given = {name: value for name, value in self.given.items() if value != getattr(DEFAULTS, name, None)}
        reading = {name: value for name, value in {**opened, **given}.items() if name in READ_OPTIONS}
        learning = {name: value for name, value in self.given.items() if name not in READING}
        task = self.first.entry.learner.task
        if task not in ("binary", "multiclass"):
            learning.setdefault("task", task)
        passes = self.parameters.get(PASSES, self.passes)
        reading |= {PASSES: passes} if passes > 1 else {}
        return shlex.join([*words, *option_words(reading), *learner_words(learning)])

    def find_data(self) -> list[str]:
        """The files of the source, or its name where the command line knows it; FILE for other data."""
        parts = getattr(self.source, "sources", [self.source])
        return [one.path or (one.name if one.kind in ("built-in", "synthetic") else "FILE") for one in parts]

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """The titles and the rows: the learner, the parameters searched, what the task measures, and the rounds."""
        searched = list(dict.fromkeys(name for result in self.results for name in result.parameters))
        searched.sort(key=PASSES.__eq__)  # the last one
        held_out = any(result.entry.held_out is not None for result in self.results)
        titles = ("validation",) if held_out else tuple(self.first.entry.task.columns)
        metric = self.first.metric
        titles = titles if metric is None or metric in titles else (metric, *titles)
        head = ("learner", *searched, *titles, "rounds")
        if any(result.status for result in self.results):
            head = (*head, "ended")
        return head, [self.row(result, searched, titles)[: len(head)] for result in self.results]

    def row(self, result: Result, searched: Sequence[str], titles: Sequence[str]) -> tuple[str, ...]:
        """One line of the table; a candidate that stopped has no result to compare."""
        entry, parameters = result.entry, result.parameters
        values = [show_value(parameters[name]) if parameters.get(name) is not None else "" for name in searched]
        cells = {**CELLS, "validation": show_held_out}
        if result.metric is not None and result.metric not in cells:
            cells[result.metric] = partial(show_metric, result.metric)
        measured = ["" if entry.stopped is not None else cells[title](entry) for title in titles]
        return (result.name, *values, *measured, f"{entry.rounds:,}", result.status)

    def __str__(self) -> str:
        return table(*self.table())

    def __repr__(self) -> str:
        return f"{self}\n\nbest: {self.first.describe()}, {self.first.summarize()}\n{self.command}"

    def _repr_html_(self) -> str:
        return html_table(*self.table())

    def report(self) -> dict[str, Any]:
        """The result for programs; `evaluation.report.to_json` writes it as JSON."""
        first = self.first
        return {
            "task": first.entry.learner.task,
            "method": self.method,
            "metric": first.metric,
            "candidates": [result.report() for result in self.results],
            "baselines": dict(self.baselines),
            "best": {
                "learner": first.name,
                "name": first.describe(),
                "set": plain_values(self.parameters),
                "refitted": self.refitted,
            },
        }


def plain_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by name as JSON has them; functions and the like by their text."""
    plain = (bool, int, float, str, type(None))
    return {name: value if type(value) in plain else str(value) for name, value in values.items()}
