"""A report as one HTML file that needs no network: its style, its script and its data are inside.

Everything that comes from data is in one block of JSON without `<`, `>` and `&`, which the script shows as text. The
content security policy allows this script only.
"""

import base64
import hashlib
import html
import json
from importlib.resources import files
from string import Template
from typing import Any

from noregret.evaluation.baselines import describe_baselines
from noregret.evaluation.inspect_model import largest_weights
from noregret.evaluation.leaderboard import Leaderboard
from noregret.evaluation.report import replace_infinite, report_entry
from noregret.plots.report_data import Report, entries_of, has_targets, name_of
from noregret.version import __version__

SCRIPTS = ("elements.js", "chart.js", "page.js")
UNSAFE = {character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="$policy">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<link rel="icon" href="data:,">
<style>$style</style>
</head>
<body>
<header>
<div><h1>$title</h1><p>$summary</p></div>
<button id="theme" type="button">light / dark</button>
</header>
<main><noscript><p>This page draws its tables and curves with JavaScript, which is turned off.</p></noscript></main>
<footer>Written by noregret. This file loads nothing from anywhere else.</footer>
<script type="application/json" id="report">$data</script>
<script>$script</script>
</body>
</html>
""")


def html_report(results: Leaderboard | Report) -> str:
    """The page of a leaderboard, or of a JSON report of `race` or `learn`."""
    report = report_board(results) if isinstance(results, Leaderboard) else results
    entries = entries_of(report)
    source = report.get("source")
    name = str(source.get("name", "")) if isinstance(source, dict) else ""
    first = "Race" if len(entries) > 1 else name_of(entries[0])
    style = (files("noregret.plots") / "page" / "page.css").read_text("utf-8")
    script = "".join((files("noregret.plots") / "page" / one).read_text("utf-8") for one in SCRIPTS)
    script = f'"use strict";\n{script}'
    return PAGE.substitute(
        title=html.escape(f"{first} on {name}" if name else first),
        summary=html.escape(summarize(report)),
        policy=f"default-src 'none'; img-src data:; script-src '{hash_source(script)}'; "
        f"style-src '{hash_source(style)}'",
        style=style,
        data=to_safe_json({**report, "targets": has_targets(report)}),
        script=script,
    )


def report_board(board: Leaderboard) -> Report:
    """What is known of a race that was run in Python."""
    best = board.best
    learners = [{**report_entry(entry), "largest_weights": largest_weights(entry.learner)} for entry in board]
    return {
        "noregret": __version__,
        "task": best.learner.task,
        "source": {"rounds": best.rounds},
        "learners": learners,
        "compare": describe_baselines(best.learner, board.baselines, best.rounds) if board.baselines else None,
    }


def summarize(report: Report) -> str:
    """The result in one line."""
    best = entries_of(report)[0]
    rounds, mistakes, rate = best.get("rounds"), best.get("mistakes"), best.get("rate")
    words = f"{name_of(best)} is the best of {len(entries_of(report))} learners" if len(entries_of(report)) > 1 else ""
    if "winner" in report and report["winner"] is None:
        words = f"{len(entries_of(report))} learners, whose losses are not the same thing"
    if not has_targets(report) and type(mistakes) is int and type(rounds) is int and isinstance(rate, float):
        result = f"{mistakes:,} mistakes in {rounds:,} rounds ({100.0 * rate:.2f} %)"
        return f"{words}: {result}" if words else result
    return words or f"{rounds} rounds"


def to_safe_json(value: Any) -> str:
    """JSON that can stand inside a script element, whatever texts it holds."""
    text = json.dumps(replace_infinite(value), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return "".join(UNSAFE.get(one, one) for one in text.encode("utf-8", "replace").decode("utf-8"))


def hash_source(text: str) -> str:
    """The source expression of a content security policy that allows exactly this text."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
