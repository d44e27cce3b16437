"""`noregret compare`: what differs between two reports, or the mean ranks of learners over several."""

import argparse
import shlex
import sys
from typing import Any

from noregret.cli.output import write_json
from noregret.cli.setup import check_outputs
from noregret.errors import BadValue
from noregret.evaluation.compare_reports import (
    Differences,
    compare_reports,
    find_same_data,
    rank_reports,
    read_report,
)
from noregret.evaluation.report import count_of
from noregret.evaluation.tables import table
from noregret.metrics.comparison import MeanRanks

TITLES = {"noregret": "version", "name": "data", "kind": "format"}
LONG = 60  # characters of a value that are shown


def run(args: argparse.Namespace) -> int:
    check_outputs({"--json": args.json}, args.reports)
    if len(args.reports) < 2:
        raise BadValue("name at least two reports; `noregret race FILE --json PATH` writes one")
    if len(args.reports) > 2 and not args.ranks:
        raise BadValue(f"{len(args.reports)} reports are compared by mean ranks: say --ranks, or name two reports")
    reports = [read_report(path) for path in args.reports]
    if args.ranks:
        ranks = rank_reports(reports, args.alpha)
        same = find_same_data(reports)
        write_json(args.json, {"reports": args.reports, **vars(ranks), "same_data": same})
        text = "\n".join([describe_ranks(ranks), *map(describe_same_data, same)])
    else:
        differences = compare_reports(*reports)
        write_json(args.json, differences.report())
        text = describe_differences(differences)
    if args.json != "-":
        sys.stdout.write(f"{text}\n")
    return 0


def describe_differences(found: Differences) -> str:
    """The differences for people: what was run, then the results."""
    first, second = found.first, found.second
    lines = [f"{first.path} and {second.path}: {first.task}, {count_of(len(found.learners), 'learner')} in both"]
    for name, pair in {**found.settings, **found.source}.items():
        lines.append(f"  {TITLES.get(name, name)}: {show(pair[0])} / {show(pair[1])}")
    if not found.settings and not found.source:
        lines.append("  the same version, command, data and seed")
    for report, names in ((first, found.only_first), (second, found.only_second)):
        if names:
            lines.append(f"  only in {report.path}: {', '.join(names)}")
    if found.learners:
        lines += ["", results(found), "", describe_winners(found)]
    changed = [f"{change.name}: {name} {show(one)} / {show(other)}"
               for change in found.learners for name, (one, other) in change.parameters.items()]  # fmt: skip
    return "\n".join([*lines, *(["", "parameters that differ", *changed] if changed else [])])


def results(found: Differences) -> str:
    """The results of the learners of both reports, in the order of the first."""
    key = found.first.measure.removeprefix("-")
    rows = []
    for change in found.learners:
        one, other = found.first.result(change.names[0]), found.second.result(change.names[1])
        one, other = (-one, -other) if found.first.measure.startswith("-") else (one, other)
        ranks = " -> ".join("-" if rank is None else str(rank) for rank in change.ranks)
        rows.append((change.name, ranks, f"{one:.4f}", f"{other:.4f}", f"{other - one:+.4f}"))
    what = {"mistakes": "rate", "loss": "mean loss"}.get(key, key)
    return table(("learner", "place", f"first {what}", f"second {what}", "change"), rows)


def describe_winners(found: Differences) -> str:
    one, other = found.winners
    same = f"best in both: {one}" if one == other else f"best: {one} / {other}"
    return same if found.same_rounds else f"{same}; the reports have different numbers of rounds"


def describe_ranks(ranks: MeanRanks) -> str:
    """The mean ranks, the tests, and the learners that are as good as the best."""
    rows = [(name, f"{rank:.3f}") for rank, name in sorted(zip(ranks.ranks, ranks.names, strict=True))]
    best = ranks.as_good_as_best()
    level = f"at the level {ranks.alpha:g}"
    lines = [table(("learner", "mean rank"), rows), ""]
    lines.append(f"{count_of(ranks.streams, 'stream')}; Friedman test: chi squared {ranks.statistic:.4g}, "
                 f"p = {ranks.p_value:.3g}")  # fmt: skip
    lines.append(f"critical difference of mean ranks {level} (Nemenyi): {ranks.critical_difference:.4g}")
    others = ", ".join(best[1:])
    lines.append(f"best: {best[0]}; not significantly worse: {others}" if others else f"best: {best[0]}, significantly")
    return "\n".join(lines)


def describe_same_data(paths: list[str]) -> str:
    """A note on reports that are not of independent streams."""
    same = f"note: {' and '.join(paths)} are of the same data, which counts {len(paths)} times"
    return f"{same}; the tests take streams to be independent"


def show(value: Any) -> str:
    """A value in a few words."""
    words = isinstance(value, list) and all(isinstance(one, str) for one in value)
    text = shlex.join(value) if words else "none" if value is None else str(value)
    return text if len(text) <= LONG else f"{text[:LONG]} ..."
