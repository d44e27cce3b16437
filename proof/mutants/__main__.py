"""Break every rule on purpose and see whether its own tests notice; docs/mutants.md keeps the result."""

import argparse
import json
import sys
from datetime import date
from pathlib import Path

from proof.mutants.report import Live, page, rows
from proof.mutants.running import Broken, Run
from proof.mutants.subjects import ROOT, subjects
from proof.mutants.verdicts import equivalents, faults, scores, unmatched

PAGE = ROOT / "docs" / "mutants.md"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m proof.mutants", description=__doc__)
    known = subjects()
    parser.add_argument("names", nargs="*", metavar="NAME", help="learners, or of " + ", ".join(list(known)[-9:]))
    parser.add_argument("--jobs", type=int, default=2, help="how many processes (default 2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what became of every mutant")
    parser.add_argument("--docs", action="store_true", help="rewrite docs/mutants.md (runs all)")
    parser.add_argument("--list", action="store_true", help="show the mutants and run nothing")
    options = parser.parse_args()
    if unknown := sorted(set(options.names) - set(known)):
        parser.error(f"no learner or file named {', '.join(unknown)}")
    if options.docs and options.names:
        parser.error("--docs writes the whole page: give it no names")
    if options.jobs < 1:
        parser.error("--jobs must be at least 1")

    listed = equivalents()
    made = {name: make() for name, make in known.items()}
    if gone := unmatched(listed, list(made.values())):
        print("listed as equivalent, but no mutant any more:", *(f"  {' | '.join(one)}" for one in gone), sep="\n")
        return 1
    chosen = [made[name] for name in options.names or known]
    if options.list:
        print(*(f"{one.name}  {mutant}" for one in chosen for mutant in one.mutants), sep="\n")
        return 0

    with Live(sys.stdout) as live:
        try:
            run = Run(chosen, listed, options.jobs, told=live.told, verdict=live.verdict)()
        except Broken as error:
            live.close()
            print(error)
            return 1
    found = scores(run.verdicts)
    wrong = faults(found, run.verdicts, listed)
    live.table(found, run)
    if options.json:
        options.json.write_text(json.dumps(rows(run), indent=1) + "\n", encoding="utf-8")
    if options.docs:
        PAGE.write_text(page(run, found, date.today().isoformat(), "make mutants ARGS=--docs"), encoding="utf-8")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
