"""Compare JSON reports of runs: what was run, how the learners did, and which are better over several streams."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noregret.errors import BadValue
from noregret.evaluation.capabilities import task_class
from noregret.learner.variants import head_of
from noregret.metrics.comparison import MeanRanks, mean_ranks

NUMBERS = ("rounds", "mistakes", "rate", "loss", "updates")
SETTINGS = ("noregret", "command", "seed", "interrupted")
HINT = "write one with `noregret race FILE --json PATH` or `noregret learn FILE --json PATH`"


@dataclass(frozen=True)
class Report:
    """A report of `race` or `learn`: what was run, and its learners in the order of the report, best first."""

    path: str
    head: Mapping[str, Any]
    source: Mapping[str, Any]
    task: str
    learners: Mapping[str, Mapping[str, Any]]

    @property
    def measure(self) -> str:
        """What the learners are ranked by: the first measure of the task, a minus before it if the largest is best."""
        if not task_class(self.task).counts_mistakes:
            return "loss"
        return "cost" if self.has("cost") else task_class(self.task).sort_keys[0]

    def has(self, name: str) -> bool:
        """Whether every learner has a number of this name."""
        return all(is_number(learner.get(name)) for learner in self.learners.values())

    def result(self, name: str) -> float:
        """The measure of a learner per round; a larger one is worse."""
        learner, key = self.learners[name], self.measure.removeprefix("-")
        value = float(learner.get(key, math.nan))
        if self.measure.startswith("-"):
            return -value
        return value / max(float(learner["rounds"]), 1.0)

    @property
    def ranks(self) -> dict[str, int]:
        """The place of every learner; one that stopped has none."""
        going = [name for name, learner in self.learners.items() if "stopped" not in learner]
        return {name: number + 1 for number, name in enumerate(sorted(going, key=self.result))}


def read_report(path: str) -> Report:
    """A report of `race` or `learn` from a JSON file; anything else is refused."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadValue(f"{path}: the report cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise BadValue(f"{path}: this is no report: it is not JSON; {HINT}") from None
    learners = content.get("learners") if isinstance(content, dict) else None
    source, task = (content.get(name) if isinstance(content, dict) else None for name in ("source", "task"))
    if not isinstance(learners, list) or not isinstance(source, dict) or not isinstance(task, str):
        raise BadValue(f"{path}: this is no report of race or learn; {HINT}")
    by_name: dict[str, Mapping[str, Any]] = {}
    for learner in learners:
        name = learner.get("name") if isinstance(learner, dict) else None
        if not isinstance(name, str) or name in by_name or not is_number(learner.get("rounds")):
            raise BadValue(f"{path}: damaged report: its learners need names and rounds, each name once")
        by_name[name] = {key: to_number(value) for key, value in learner.items()}
    if not by_name:
        raise BadValue(f"{path}: damaged report: it has no learners")
    report = Report(str(path), content, source, task, by_name)
    key = report.measure.removeprefix("-")
    if not report.has(key):
        raise BadValue(f"{path}: damaged report: some learner has no {key}")
    return report


def to_number(value: Any) -> Any:
    """Numbers that JSON has no words for are written as text."""
    return float(value) if value in ("inf", "-inf", "nan") else value


def is_number(value: Any) -> bool:
    return (isinstance(value, (int, float)) and not isinstance(value, bool)) or value in ("inf", "-inf", "nan")


# ---- two reports -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """One learner in two reports: its place and results in both, and the parameters that differ."""

    names: tuple[str, str]
    ranks: tuple[int | None, int | None]
    numbers: Mapping[str, tuple[float, float]]
    parameters: Mapping[str, tuple[Any, Any]]

    @property
    def name(self) -> str:
        """Its name, without the options where they are not the same."""
        return self.names[0] if self.names[0] == self.names[1] else head_of(self.names[0])


@dataclass(frozen=True)
class Differences:
    """What differs between two reports of the same task; `settings` and `source` hold only what does."""

    first: Report
    second: Report
    settings: Mapping[str, tuple[Any, Any]]
    source: Mapping[str, tuple[Any, Any]]
    learners: Sequence[Change]
    only_first: Sequence[str]
    only_second: Sequence[str]

    @property
    def same_rounds(self) -> bool:
        """Whether all learners have played as many rounds in both."""
        return all(len(set(change.numbers["rounds"])) == 1 for change in self.learners)

    @property
    def winners(self) -> tuple[str, str]:
        """The best learner of each report."""
        one, other = (min(report.ranks or {"": 1}, key=lambda name: report.ranks.get(name, 1))
                      for report in (self.first, self.second))  # fmt: skip
        return one, other

    def report(self) -> dict[str, Any]:
        """The differences for programs."""
        return {
            "first": self.first.path,
            "second": self.second.path,
            "task": self.first.task,
            "settings": {name: list(pair) for name, pair in self.settings.items()},
            "source": {name: list(pair) for name, pair in self.source.items()},
            "winners": list(self.winners),
            "learners": [
                {
                    "name": change.name,
                    "ranks": list(change.ranks),
                    **{name: list(pair) for name, pair in change.numbers.items()},
                    "parameters": {name: list(pair) for name, pair in change.parameters.items()},
                }
                for change in self.learners
            ],
            "only_first": list(self.only_first),
            "only_second": list(self.only_second),
        }


def compare_reports(first: Report, second: Report) -> Differences:
    """What differs between two reports; they must be of the same task."""
    if first.task != second.task:
        raise BadValue(f"{first.path} is a report of {first.task} and {second.path} of {second.task}; learners of "
                       "different tasks cannot be compared")  # fmt: skip
    common = pair_learners(list(first.learners), list(second.learners))
    changes = [
        Change(
            (name, other),
            (first.ranks.get(name), second.ranks.get(other)),
            common_numbers(first, first.learners[name], second.learners[other]),
            differing(*(as_mapping(one.get("parameters")) for one in (first.learners[name], second.learners[other]))),
        )
        for name, other in common
    ]
    settings = {name: (first.head.get(name), second.head.get(name)) for name in SETTINGS}
    return Differences(
        first, second, {name: pair for name, pair in settings.items() if pair[0] != pair[1]},
        differing(first.source, second.source), changes,
        [name for name in first.learners if name not in {one for one, _ in common}],
        [name for name in second.learners if name not in {other for _, other in common}],
    )  # fmt: skip


def pair_learners(first: list[str], second: list[str]) -> list[tuple[str, str]]:
    """The learners of two reports that are compared: those of one name, and the only variants of one learner."""
    pairs = {name: name for name in first if name in second}
    left, right = ([name for name in names if name not in pairs] for names in (first, second))
    for name in left:
        alike = [[one for one in names if head_of(one) == head_of(name)] for names in (left, right)]
        if [len(names) for names in alike] == [1, 1]:
            pairs[name] = alike[1][0]
    return [(name, pairs[name]) for name in first if name in pairs]


def common_numbers(first: Report, one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """The results that a learner has in both reports."""
    names = dict.fromkeys((*NUMBERS, first.measure.removeprefix("-")))
    return {key: (one[key], other[key]) for key in names if is_number(one.get(key)) and is_number(other.get(key))}


def as_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The entries that differ, or that only one has."""
    names = dict.fromkeys((*one, *other))
    return {name: (one.get(name), other.get(name)) for name in names if one.get(name) != other.get(name)}


# ---- several reports -------------------------------------------------------------------------------------------------


def find_same_data(reports: Sequence[Report]) -> list[list[str]]:
    """The reports of the same data, by their paths: mean ranks count such data more than once."""
    groups: dict[str, list[str]] = {}
    for report in reports:
        mark = report.head.get("fingerprint")
        if isinstance(mark, str):
            groups.setdefault(mark, []).append(report.path)
    return [paths for paths in groups.values() if len(paths) > 1]


def rank_reports(reports: Sequence[Report], alpha: float = 0.05) -> MeanRanks:
    """The mean ranks of the learners that all reports have, with the critical difference between them."""
    tasks = dict.fromkeys(report.task for report in reports)
    if len(tasks) > 1:
        raise BadValue(f"the reports are of different tasks: {', '.join(tasks)}; learners of different tasks cannot be "
                       "ranked together")  # fmt: skip
    names = [name for name in reports[0].learners if all(name in report.ranks for report in reports)]
    if len(names) < 2:
        raise BadValue("mean ranks need at least 2 learners that ended in all reports; "
                       f"there {'is 1' if names else 'are none'}")  # fmt: skip
    return mean_ranks(names, [[report.result(name) for name in names] for report in reports], alpha)
