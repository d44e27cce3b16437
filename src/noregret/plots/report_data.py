"""The results of runs as plain data: of a leaderboard, or of a JSON report, which somebody may have edited."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from noregret.errors import BadValue, shown
from noregret.evaluation.capabilities import task_class
from noregret.evaluation.leaderboard import Entry, Leaderboard
from noregret.evaluation.report import SCHEMA, report_entry

Report: TypeAlias = Mapping[str, Any]
Results: TypeAlias = Leaderboard | Entry | Report
Points: TypeAlias = tuple[list[float], list[float]]  # rounds, values

LARGEST = 64 << 20  # bytes of a report


def entries_of(results: Results) -> list[Report]:
    """The entries of a leaderboard or a report, best first."""
    if isinstance(results, Leaderboard):
        return [report_entry(entry) for entry in results]
    if isinstance(results, Entry):
        return [report_entry(results)]
    found = results.get("learners") if hasattr(results, "get") else None
    if not isinstance(found, Sequence) or not found or not all(isinstance(one, Mapping) for one in found):
        raise BadValue(f"a leaderboard or a report with learners is needed, not {shown(results)}")
    return list(found)


def has_targets(results: Results) -> bool:
    """Whether there are only losses: what is predicted is not right or wrong, as real targets and components."""
    if isinstance(results, (Leaderboard, Entry)):
        return (results.best if isinstance(results, Leaderboard) else results).task.counts_mistakes is False
    name = results.get("task")
    return isinstance(name, str) and not task_class(name).counts_mistakes


def read_report(path: str) -> Report:
    """Read a JSON report that `--json` wrote."""
    try:
        if Path(path).stat().st_size > LARGEST:
            raise BadValue(f"{path}: this is too large to be a report of noregret")
        report = json.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise BadValue(f"{path}: it cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise BadValue(f"{path}: this is no JSON report; --json of `noregret race` writes one") from None
    if not isinstance(report, dict) or "noregret" not in report:
        raise BadValue(f"{path}: this is no report of noregret; --json of `noregret race` writes one")
    schema = report.get("schema", SCHEMA)
    if schema != SCHEMA:
        raise BadValue(f"{path}: the report has form {shown(schema)}; this version of noregret reads form {SCHEMA}")
    return report


def number(value: object) -> float:
    """A number of a report; NaN for anything else. Infinite numbers are written as text."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value:
        return float(value) if abs(value) < 1e300 else math.inf if value > 0 else -math.inf
    return {"inf": math.inf, "-inf": -math.inf}.get(value, math.nan) if isinstance(value, str) else math.nan


def name_of(entry: Report) -> str:
    return str(entry.get("name", "?"))


def points_of(entry: Report, key: str) -> list[Report]:
    """The points of a curve of an entry."""
    found = entry.get(key)
    points = found.get("points") if isinstance(found, Mapping) else found
    if not isinstance(points, Sequence) or isinstance(points, str):
        return []
    return [point for point in points if isinstance(point, Mapping) and number(point.get("rounds")) > 0.0]


def curve_of(entry: Report, measure: str) -> Points:
    """Rounds, and the mean of a measure ("mistakes" or "loss") so far, where it is finite."""
    found = [(number(point["rounds"]), number(point.get(measure))) for point in points_of(entry, "curve")]
    finite = [(rounds, value / rounds) for rounds, value in found if math.isfinite(value)]
    return [rounds for rounds, _ in finite], [value for _, value in finite]


def alarms_of(entry: Report) -> list[float]:
    """The rounds at which a drift detector set off an alarm."""
    drift = entry.get("drift")
    found = drift.get("alarms") if isinstance(drift, Mapping) else None
    if not isinstance(found, Sequence) or isinstance(found, str):
        return []
    return [at for at in map(number, found) if 0.0 < at < math.inf]


def guarantee_of(entry: Report) -> Report | None:
    """The theorem of an entry where it bounds something else than the regret, such as the updates."""
    regret = entry.get("regret")
    found = regret.get("guarantee") if isinstance(regret, Mapping) else None
    if not isinstance(found, Mapping) or values_of(entry, "bound")[0] or not points_of({"at": found}, "at"):
        return None
    return found


def values_of(entry: Report, name: str, key: str = "regret") -> Points:
    """Rounds, and a value of the points of the regret of an entry, where it is finite."""
    found = [(number(point["rounds"]), number(point.get(name))) for point in points_of(entry, key)]
    finite = [(rounds, value) for rounds, value in found if math.isfinite(value)]
    return [rounds for rounds, _ in finite], [value for _, value in finite]
