"""`python -m noregret`: race the built-in learners."""

import argparse
import sys

from noregret import __version__
from noregret.errors import Error


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="noregret", description="Online learning, one round at a time.")
    parser.add_argument("--version", action="version", version=f"noregret {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    racing = commands.add_parser("race", help="race the built-in learners on a built-in data set")
    racing.add_argument("data", nargs="?", default="digits", help="the data set (default: digits)")
    commands.add_parser("learners", help="list the learners")
    told = parser.parse_args(arguments)
    try:
        print(race(told.data) if told.command == "race" else catalogue())
    except Error as error:
        print(f"noregret: {error}", file=sys.stderr)
        return 2
    return 0


def race(data: str) -> str:
    from noregret import session, warming
    from noregret.streams.datasets import dataset

    X, y = dataset(data)
    print(
        f"{data}: {X.shape[0]} rows, {X.shape[1]} features; compiling what is not compiled yet ...",
        file=sys.stderr,
    )
    warming.warm(algebras=("dense",))
    result = session.race((X, y))
    best = result.standings[0]
    how = "each predicted before its label was seen"
    return f"{result}\n\nbest: {best.name}, {best.mistakes} mistakes in {best.rounds} rounds ({how})"


def catalogue() -> str:
    from noregret import learners

    return repr(learners())


if __name__ == "__main__":
    sys.exit(main())
