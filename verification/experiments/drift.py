"""Drift handling on streams in the order of time: what each way gains or loses beside the plain learner."""

from pathlib import Path
from typing import Any

import numpy as np

import noregret as nr
from noregret.learner.labelled_rows import LabelledRows, select_rows
from verification.experiments.common import Row, Table

ELEC, SPAM = "elec2/elec.csv.gz", "spam_drift/spam_drift.svm.gz"
WEATHER, AIRLINES = "weather_noaa/weather.csv.gz", "airlines/airlines_delayed_labels.csv.gz"
FILES = (ELEC, SPAM, WEATHER, AIRLINES)
READING: dict[str, dict[str, Any]] = {
    ELEC: {},
    SPAM: {},
    WEATHER: {},
    AIRLINES: {"drop": ["instanceId", "timeStamp"]},
}
LEARNERS = ("arow", "pa1", "perceptron")
DETECTORS = ("adwin", "ddm", "page_hinkley")
WINDOWS = (500, 5000)
DECAYS = (0.001, 0.01)
NO_LABEL = "?"


def read(base: Path, name: str) -> tuple[list[LabelledRows], dict[str, Any]]:
    """The rows that have a label, in the order in which labels came, and options of learners that suit them."""
    source = nr.open_source(str(base / name), **READING[name])
    parts = []
    for batch in source:
        known = np.flatnonzero(np.asarray(batch.y, object) != NO_LABEL)
        parts.append(LabelledRows(select_rows(batch.X, known), select_rows(batch.y, known)))
    return parts, dict(source.learner_defaults)


def play(learner: Any, parts: list[LabelledRows]) -> Any:
    for part in parts:
        part.play(learner)
    return learner


def ways(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """The learner plain and with every way to handle drift."""
    found: dict[str, Any] = {"plain": nr.make(name, **options)}
    for detector in DETECTORS:
        for on_drift in ("reset", "shadow"):
            found[f"{detector}, {on_drift}"] = nr.drift_aware(nr.make(name, **options), detector, on_drift)
    for decay in DECAYS:
        able = nr.learners().rules[name].why_no_decay(nr.learners().rules[name].defaults) is None
        found[f"weight_decay {decay:g}"] = nr.make(name, weight_decay=decay, **options) if able else None
    for size in WINDOWS:
        found[f"window {size:,}"] = nr.drift_aware(nr.make(name, **options), f"window:size={size}", "shadow")
    return found


def run(base: Path) -> Table:
    """The mistake rate in percent, and the number of alarms."""
    rows: list[Row] = []
    head: Row = ()
    for file in FILES:
        parts, options = read(base, file)
        for name in LEARNERS:
            cells = []
            made = ways(name, options)
            for way, learner in made.items():
                if learner is None:
                    cells.append((np.inf, ""))
                    continue
                play(learner, parts)
                alarms = getattr(learner, "alarms", None)
                count = "" if alarms is None or way.startswith("window") else f" ({len(alarms)})"
                cells.append((100.0 * learner.mistakes / learner.rounds, count))
            least = min(rate for rate, _ in cells)
            texts = [f"**{rate:.1f}**{count}" if rate == least else "-" if rate == np.inf else f"{rate:.1f}{count}"
                     for rate, count in cells]  # fmt: skip
            rows.append((f"{file.partition('/')[0]}, {sum(map(len, parts)):,} rows", f"`{name}`", *texts))
            head = ("stream", "learner", *made)
    return head, rows
