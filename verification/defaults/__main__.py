"""Measure the defaults of all learners and print the tables of docs/defaults.md; progress goes to stderr."""

import argparse
import sys
import time
from pathlib import Path

from verification.defaults.measure import Measurements, last_label, majority, subjects
from verification.defaults.page import Figures, write_page
from verification.defaults.streams import find_streams


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m verification.defaults", description=__doc__)
    parser.add_argument("--data", metavar="DIR", help="a folder of data; by default that of NOREGRET_DATA, if any")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="some learners")
    parser.add_argument("--streams", nargs="+", metavar="NAME", help="some streams")
    parser.add_argument("--results", metavar="FILE", type=Path, help="keep what is measured, and go on from it")
    parser.add_argument("--docs", action="store_true", help="write docs/defaults.md")
    told = parser.parse_args(arguments)
    measured, figures, began = Measurements(told.results), Figures(), time.perf_counter()
    streams = [one for one in find_streams(told.data) if told.streams is None or one.name in told.streams]
    for number, stream in enumerate(streams, 1):
        rows = stream.load()
        figures.add_stream(stream, rows[0].shape[0], majority(rows), last_label(rows))
        for card in subjects(told.only):
            if ("multiclass" if stream.many else "binary") in card.tasks:
                measured.measure(card, stream, rows)
                figures.add(card, stream, measured)
        measured.save()
        print(f"{number} of {len(streams)}: {stream.name}, {time.perf_counter() - began:.0f} s", file=sys.stderr)
    page = write_page(figures)
    print(page)
    if told.docs:
        Path("docs/defaults.md").write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
