"""Run the benchmarks, all or those named, and show each figure beside its target; results.json keeps them."""

import argparse
import json
from datetime import date
from importlib import import_module
from pathlib import Path
from time import perf_counter

from benchmarks.chart import bars, draw
from benchmarks.measure import COLUMNS, Row, installed, machine, record, show

NAMES = (
    "epoch", "dense", "dicts", "text_file", "vw_text", "tables", "raw_text", "memory", "startup", "full", "lines",
    "own_speed", "many_classes", "per_learner",
)  # fmt: skip
PACKAGES = ("noregret", "numpy", "numba", "scipy", "scikit-learn", "river", "vowpalwabbit")
RESULTS = Path(__file__).with_name("results.json")
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"

CHART = RESULTS.with_name("results.png")
PICTURE = PAGE.with_suffix(".png")

PREFACE = """# Benchmarks

Measured on {day} by `{command}` on {where}.
{versions}.
The data are generated from a seed. Contestants run in one process and take turns; the best of several turns
counts. A figure in x is a ratio of times: the peer's over ours where the target is a floor (>=), ours over
the other's where it is a ceiling (<=).

![how many times as fast as each peer](benchmarks.png)
"""


def page(tables: dict[str, list[Row]], titles: dict[str, str], where: str, command: str) -> str:
    """The tables as a page of the docs."""
    parts = [PREFACE.format(day=date.today().isoformat(), command=command, where=where, versions=versions_line())]
    for name, rows in tables.items():
        lines = [f"## {titles[name]}", ""]
        lines += ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
        lines += ["| " + " | ".join(row.cells()) + " |" for row in rows]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def patched(old: str, new: str) -> str:
    """The old page with the sections of a new one, by their titles, in place of its own."""
    fresh = {part.partition("\n")[0]: part for part in new.split("\n## ")[1:]}
    head, *parts = old.split("\n## ")
    kept = [fresh.pop(part.partition("\n")[0], part) for part in parts]
    return "\n## ".join([head, *(part.rstrip("\n") + "\n" for part in [*kept, *fresh.values()])])


def versions() -> dict[str, str]:
    return {package: installed(package) or "not installed" for package in PACKAGES}


def versions_line() -> str:
    return ", ".join(f"{package} {number}" for package, number in versions().items())


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which to run, of {', '.join(NAMES)}")
    parser.add_argument(
        "--docs", action="store_true", help="rewrite docs/benchmarks.md, or those parts of it that are named"
    )
    options = parser.parse_args()
    if unknown := sorted(set(options.names) - set(NAMES)):
        parser.error(f"no benchmark named {', '.join(unknown)}: there are {', '.join(NAMES)}")

    where = machine()
    print(where)
    print(versions_line())
    tables: dict[str, list[Row]] = {}
    titles: dict[str, str] = {}
    for name in options.names or NAMES:
        start = perf_counter()
        benchmark = import_module(f"benchmarks.{name}")
        titles[name] = benchmark.TITLE
        tables[name] = benchmark.run()
        show(f"{name}: {benchmark.TITLE} ({perf_counter() - start:.0f} s)", tables[name])

    keep(tables, where)
    print()
    for line in bars(tables):
        print(line)
    caption = f"noregret beside its peers, {date.today().isoformat()}"
    if draw(tables, CHART, caption):
        print(f"\ndrew {CHART}")
    if options.docs:
        if not options.names:
            draw(tables, PICTURE, caption)
        PAGE.parent.mkdir(exist_ok=True)
        whole = page(tables, titles, where, "python -m benchmarks --docs")
        PAGE.write_text(patched(PAGE.read_text(), whole) if options.names else whole)
        print(f"\nwrote {PAGE}")
    verdicts = [row.met for rows in tables.values() for row in rows]
    print(f"\n{verdicts.count(True)} targets met, {verdicts.count(False)} missed; figures in {RESULTS}")
    return 0


def keep(tables: dict[str, list[Row]], where: str) -> None:
    """Write results.json; a benchmark that was not run keeps its last figures."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name, rows in tables.items():
        results[name] = {
            "date": date.today().isoformat(),
            "machine": where,
            "versions": versions(),
            "rows": [record(row) for row in rows],
        }
    RESULTS.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    raise SystemExit(main())
