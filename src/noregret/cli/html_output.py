"""`--report PATH.html`: the results of a run as one page."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from noregret.cli.output import open_output
from noregret.errors import BadValue
from noregret.evaluation.inspect_model import largest_weights
from noregret.evaluation.leaderboard import Entry
from noregret.evaluation.report import describe_reading, describe_skipped, find_notes, find_warnings
from noregret.streams import Source


def check_html(path: str | None) -> None:
    """Refuse standard output, where the result is printed, and names of other kinds of files."""
    if path == "-":
        raise BadValue("--report -: the page is written to a file; name one")
    if path is not None and not path.lower().endswith((".html", ".htm")):
        raise BadValue(f"--report {path}: the report is a web page; name a file that ends in .html")


def complete_report(
    report: dict[str, Any], source: Source, entries: Iterable[Entry], notes: list[str]
) -> dict[str, Any]:
    """A JSON report with all that its page shows: the largest weights of the learners, warnings and notes."""
    ordered = list(entries)
    learner = ordered[0].learner
    weights = [largest_weights(entry.learner) for entry in ordered]
    updates = sum(entry.updates for entry in ordered)
    return {
        **report,
        "learners": [{**one, "largest_weights": own} for one, own in zip(report["learners"], weights, strict=True)],
        "warnings": [*describe_skipped(source), *find_warnings(source, learner, updates)],
        "notes": [*describe_reading(learner, source), *notes, *find_notes(source, learner)],
    }


def write_html(path: str | None, report: dict[str, Any]) -> None:
    """Write a complete report as a page, where a path is given."""
    if path is None:
        return
    from noregret.plots.html_report import html_report

    with open_output(path, "the report") as file:
        file.write(html_report({**report, "written": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")}))
