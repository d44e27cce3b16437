"""Play random streams with every implementation of every learner, and show the smallest stream that fails."""

import argparse
import sys
import time
from collections.abc import Iterator

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.conformance.plays import NAMES, Play, plays
from tests.fuzz.agreeing import Tally
from tests.fuzz.case import Case
from tests.fuzz.checks import COMPILED, check
from tests.fuzz.strategies import cases

BATCH = 50  # streams between two looks at the clock
WAYS = plays()


class Failure(Exception):
    """A case that went wrong, as small as it could be made."""

    def __init__(self, case: Case, error: BaseException) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.case = case


def batch(several: list[Play], size: int, number: int, totals: Tally) -> None:
    """Play some streams; the first that fails is made smaller and raised."""
    failed: list[tuple[Case, BaseException]] = []

    @seed(number)
    @settings(
        max_examples=size,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(cases(several))
    def every_claim(case: Case) -> None:
        try:
            check(case, totals)
        except Exception as error:
            failed.append((case, error))
            raise

    try:
        every_claim()
    except BaseException as error:
        if not failed or isinstance(error, KeyboardInterrupt):
            raise
        raise Failure(*failed[-1]) from failed[-1][1]


def batches(name: str, asked: argparse.Namespace) -> Iterator[tuple[Tally, Failure | None]]:
    """Play a learner until the streams or the seconds are used up; half of the plays are those with a compiled loop."""
    ways = [play for play in WAYS if play.name == name]
    fast = [play for play in ways if play in COMPILED]
    began, number, totals = time.perf_counter(), 10_000 * asked.seed, Tally(plain=asked.plain)
    while totals.streams < asked.streams and time.perf_counter() - began < asked.seconds:
        try:
            batch(fast if number % 2 else ways, min(BATCH, asked.streams - totals.streams), number, totals)
        except Failure as failure:
            yield totals, failure
            return
        number += 1
        yield totals, None


def line(name: str, totals: Tally, seconds: float) -> str:
    return (
        f"{name:<22}{totals.streams:>7} streams{totals.rounds:>8} rounds{totals.compiled:>7} compiled"
        f"{totals.reference:>7} reference{totals.twin:>7} twin{totals.undecided:>5} undecided"
        f"{totals.refused:>6} refused{seconds:>7.1f} s"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m verification.fuzz", description=__doc__)
    parser.add_argument("--streams", type=int, default=1000, help="how many streams for each learner (1000)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="how long for each learner, at most")
    parser.add_argument("--seed", type=int, default=0, help="where to begin; another number, other streams")
    parser.add_argument("--plain", action="store_true", help="leave the compiled loops out")
    parser.add_argument("--only", nargs="+", metavar="LEARNER", help="only these learners")
    options = parser.parse_args()
    if unknown := sorted(set(options.only or []) - set(NAMES)):
        parser.error(f"no learner named {', '.join(unknown)}: there are {', '.join(NAMES)}")

    failures = 0
    for name in options.only or NAMES:
        began, told = time.perf_counter(), ""
        failed: Failure | None = None
        for totals, failure in batches(name, options):
            told, failed = line(name, totals, time.perf_counter() - began), failure
            if sys.stdout.isatty():
                print(told, end="\r", flush=True)
        print(told, flush=True)
        if failed is not None:
            failures += 1
            print(f"\n{name} fails: {failed}\n\n{failed.case.text()}\n", flush=True)
    print(f"{failures} learners failed" if failures else "no learner failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
