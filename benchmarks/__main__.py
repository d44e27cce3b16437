"""Run all benchmarks, or those named, and show each figure with its target; results.json stores them."""

import argparse
import json
from collections.abc import Sequence
from datetime import date
from importlib import import_module
from pathlib import Path
from time import perf_counter

from benchmarks import page
from benchmarks.chart import draw_text
from benchmarks.measure import installed, machine, record, show
from benchmarks.page import Section

NAMES = (
    "epoch", "dense", "dicts", "one_row", "text_file", "vw_text", "tables", "raw_text", "memory", "startup", "full",
    "lines", "own_speed", "many_classes", "per_learner", "drift", "experts", "portfolio", "auto", "kernel",
    "kernel_maps", "structured", "svd", "ratings", "networks", "compiling", "sparse_limit",
)  # fmt: skip
PACKAGES = ("noregret", "numpy", "numba", "scipy", "scikit-learn", "river", "vowpalwabbit")
RESULTS = Path(__file__).with_name("results.json")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which to run, of {', '.join(NAMES)}")
    parser.add_argument(
        "--docs", action="store_true", help="write docs/benchmarks.md, or the named parts of it, and its chart"
    )
    options = parser.parse_args()
    if unknown := sorted(set(options.names) - set(NAMES)):
        parser.error(f"no benchmark named {', '.join(unknown)}: there are {', '.join(NAMES)}")

    where, versions = machine(), {package: installed(package) or "not installed" for package in PACKAGES}
    print(where)
    print(", ".join(f"{package} {number}" for package, number in versions.items()))
    sections = {name: run(name) for name in options.names or NAMES}
    keep(sections, where, versions)
    print("", *draw_text([row.cells() for section in sections.values() for row in section.rows]), sep="\n")
    if options.docs:
        command = " ".join(["python -m benchmarks --docs", *options.names])
        write_docs(list(sections.values()), bool(options.names), page.describe_run(command, where, versions))
    verdicts = [row.met for section in sections.values() for row in section.rows]
    print(f"\n{verdicts.count(True)} targets met, {verdicts.count(False)} missed; figures in {RESULTS}")
    return 0


def run(name: str) -> Section:
    """Run one benchmark and show its table."""
    start = perf_counter()
    benchmark = import_module(f"benchmarks.{name}")
    section = Section(benchmark.TITLE, benchmark.run(), getattr(benchmark, "NOTE", ""))
    show(f"{name}: {section.title} ({perf_counter() - start:.0f} s)", section.rows)
    return section


def write_docs(sections: Sequence[Section], some: bool, measured: str) -> None:
    """Write the page, or some sections of it, and the chart of all its figures."""
    if some:
        text = page.replace_sections(page.PAGE.read_text(), sections, measured)
    else:
        text = page.compose(sections, measured)
    if page.write(text):
        print(f"\nwrote {page.PAGE} and {page.CHART}")
    else:
        print("\nmatplotlib is not installed: neither the page nor its chart was written")


def keep(sections: dict[str, Section], where: str, versions: dict[str, str]) -> None:
    """Write results.json; a benchmark that was not run keeps its last figures."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name, section in sections.items():
        results[name] = {
            "date": date.today().isoformat(),
            "machine": where,
            "versions": versions,
            "rows": [record(row) for row in section.rows],
        }
    RESULTS.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    raise SystemExit(main())
