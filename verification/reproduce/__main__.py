"""Compute published tables again and show each figure beside the published one, with a verdict."""

import argparse
import platform
import sys
from dataclasses import replace
from datetime import date
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter

from verification.reproduce.data import Missing, folder, must_hold
from verification.reproduce.report import MISS, Table, count, lines, section, write

MODULES = {
    "libol": "libol",
    "sol": "sol",
    "sklearn": "scikit",
    "vw": "vowpal",
    "kernel": "kernel",
    "portfolio": "portfolio",
}
PACKAGES = ("noregret", "numpy", "numba", "scipy", "scikit-learn", "vowpalwabbit")
PAGE = Path(__file__).parents[2] / "docs" / "reproductions.md"
BELOW = "## Every learner"  # what stands from here on in the page is kept

PREFACE = """# Published results, computed again

Each table compares published figures with those of this library and gives the command that computes it. `make
reproduce` computes all of them (data: the folder `NOREGRET_DATA`).

- `agrees`: the figures agree as the protocol above the table requires.
- `departs`: the published tool differs from the paper, or its parameters are not known. The remark says how, and gives
  the result of the tool's own rule, or of the closest parameters; that result must agree with the published figure.
- `MISS`: the figures do not agree, and the reason is not known.

Python {python}, {versions}.

{counted}.
"""


def versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def counted(tables: list[Table]) -> str:
    return ", ".join(f"{number} {verdict}" for verdict, number in count(tables).items() if number or verdict == MISS)


def page(tables: list[Table], before: str) -> str:
    """The page of the docs; what stood below the tables is kept."""
    packages = ", ".join(f"{name} {number}" for name, number in versions().items())
    head = PREFACE.format(python=platform.python_version(), versions=packages, counted=counted(tables))
    _, mark, tail = before.partition(f"\n{BELOW}")
    return "\n".join([head, *map(section, tables, [None, *tables])]) + (mark + tail)


def computed(names: list[str], told: str | None) -> list[Table]:
    """The tables, each shown as soon as it is there."""
    modules = {name: import_module(f"verification.reproduce.{MODULES[name]}") for name in names}
    for module in modules.values():
        must_hold(told, module.FILES)
    found: list[Table] = []
    for name, module in modules.items():
        start = perf_counter()
        for table in module.run(folder(told, module.FILES[0])):
            now = perf_counter()
            whole = replace(table, only=name, date=date.today().isoformat(), seconds=now - start)
            print("\n".join(lines(whole, found[-1] if found else None)), end="\n\n", flush=True)
            found.append(whole)
            start = now
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m verification.reproduce", description=__doc__)
    parser.add_argument("--data", metavar="DIR", help="the folder of data; by default that of NOREGRET_DATA")
    parser.add_argument("--only", nargs="+", choices=MODULES, metavar="NAME", help=f"some of {', '.join(MODULES)}")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the tables to this file too")
    parser.add_argument("--docs", action="store_true", help="rewrite docs/reproductions.md (computes all)")
    options = parser.parse_args(arguments)
    if options.docs and options.only:
        parser.error("--docs writes the whole page: leave --only out")
    if options.json is not None and not options.json.parent.is_dir():
        parser.error(f"there is no folder {options.json.parent} to write {options.json.name} to")
    try:
        tables = computed(options.only or list(MODULES), options.data)
    except Missing as error:
        print(f"reproduce: {error}", file=sys.stderr)
        return 2
    if options.json is not None:
        write(tables, options.json, {"python": platform.python_version(), "versions": versions()})
    if options.docs:
        PAGE.write_text(page(tables, PAGE.read_text() if PAGE.exists() else ""))
        print(f"wrote {PAGE}")
    print(counted(tables))
    return 1 if count(tables)[MISS] else 0


if __name__ == "__main__":
    raise SystemExit(main())
