"""Break every rule on purpose and see whether its tests detect it; docs/mutants.md shows the result."""

import argparse
import json
import os
import signal
import sys
from pathlib import Path

from verification.mutants.record import known_killers
from verification.mutants.report import Live, page
from verification.mutants.results import Keeper, partial_results, recall, rows
from verification.mutants.run import Broken, Run
from verification.mutants.shared_files import FILES
from verification.mutants.subjects import ROOT, subjects
from verification.mutants.verdicts import Verdict, equivalents, faults, key, scores, unmatched

PAGE = ROOT / "docs" / "mutants.md"


def parser(known: list[str]) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m verification.mutants", description=__doc__)
    made.add_argument("names", nargs="*", metavar="NAME", help="learners, or of " + ", ".join(FILES))
    made.add_argument("--jobs", type=int, default=2, help="how many processes (default 2)")
    made.add_argument("--json", type=Path, metavar="FILE", help="write what became of every mutant")
    made.add_argument("--docs", action="store_true", help="then rewrite docs/mutants.md from the kept results")
    made.add_argument("--recall", action="store_true", help="run nothing: report the kept results")
    made.add_argument("--new", action="store_true", help="run only mutants that have no recorded killer")
    made.add_argument("--list", action="store_true", help="show the mutants and run nothing")
    return made


def stop_as_interrupted() -> None:
    """A run that is asked to end stores its results first; the processes that it forked end at once."""
    parent = os.getpid()

    def stop(*_: object) -> None:
        if os.getpid() != parent:
            os._exit(1)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)


def main() -> int:
    known = subjects()
    reader = parser(list(known))
    options = reader.parse_args()
    if unknown := sorted(set(options.names) - set(known)):
        reader.error(f"no learner or file named {', '.join(unknown)}")
    if options.jobs < 1:
        reader.error("--jobs must be at least 1")

    listed = equivalents()
    everyone = [make() for make in known.values()]
    if gone := unmatched(listed, everyone):
        print(
            "listed as equivalent, but no mutant any more:",
            *(f"  {' | '.join(map(str, one))}" for one in gone),
            sep="\n",
        )
        return 1
    chosen = [one for one in everyone if one.name in (options.names or known)]
    if options.list:
        print(*(f"{one.name}  {mutant}" for one in chosen for mutant in one.mutants), sep="\n")
        return 0

    live, untried = Live(sys.stdout), 0
    if not options.recall:
        killers, keeper = known_killers(everyone), Keeper(everyone)
        run = Run(chosen, everyone, listed, options.jobs, killers=killers)

        def tell(verdict: Verdict) -> None:
            keeper.add(verdict)
            live.verdict(verdict)

        run.progress, run.verdict = live.progress, tell
        if options.new:
            decided = killers.keys() | listed.keys()
            run.choose = lambda subject: [one for one in subject.mutants if key(one) not in decided]
        stop_as_interrupted()
        try:
            with live:
                run()
        except Broken as error:
            print(error)
            return 1
        except KeyboardInterrupt:
            print(f"interrupted; {len(run.verdicts)} results are kept")
            return 130
        finally:
            keeper.store()
        verdicts = run.verdicts
        live.say(f"{len(run.tests)} tests, {len(run.left_out)} left out, {run.seconds:.0f} s on {run.jobs} processes")
    if options.recall or options.docs:
        verdicts, never = recall(everyone, listed)
        untried = len(never)
        if never:
            print(f"{untried} mutants have no result yet, for example {never[0]}: run make mutants")
    found = scores(verdicts, [one.name for one in (everyone if options.recall or options.docs else chosen)])
    live.table(found, verdicts)
    if options.json:
        options.json.write_text(json.dumps(rows(verdicts), indent=1) + "\n", encoding="utf-8")
    if options.docs:
        pieced = options.recall or bool(options.names)
        PAGE.write_text(page(verdicts, found, pieced, partial_results(verdicts), untried), encoding="utf-8")
    wrong = faults(found, verdicts, listed)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong or untried else 0


if __name__ == "__main__":
    raise SystemExit(main())
