"""Run the experiments of the docs and print their tables, with command and date."""

import argparse
import sys
from datetime import date
from importlib import import_module
from pathlib import Path

from verification.reproduce.data import Missing, folder, must_hold

NAMES = (
    "which",
    "many",
    "digits",
    "bandits",
    "asking",
    "imbalance",
    "delayed",
    "paradigms",
    "drift",
    "tagging",
    "matching",
    "parsing",
    "softmax",
    "pronouncing",
    "decompositions",
    "components",
    "topics",
    "topic_losses",
    "depths",
    "printed_depths",
    "forgetting",
    "recommendation",
)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m verification.experiments", description=__doc__)
    parser.add_argument("--data", metavar="DIR", help="the folder of data; by default that of NOREGRET_DATA")
    parser.add_argument("--only", nargs="+", choices=NAMES, metavar="NAME", help=f"some of {', '.join(NAMES)}")
    told = parser.parse_args(arguments)
    try:
        for name in told.only or NAMES:
            module = import_module(f"verification.experiments.{name}")
            must_hold(told.data, module.FILES)
            head, rows = module.run(folder(told.data, module.FILES[0]) if module.FILES else Path())
            print(f"`python -m verification.experiments --only {name}`, {date.today().isoformat()}:\n")
            print("\n".join(markdown(head, rows)), end="\n\n", flush=True)
    except Missing as missing:
        print(f"python -m verification.experiments: {missing}", file=sys.stderr)
        return 2
    return 0


def markdown(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """A table of the docs."""
    lines = [head, tuple("---" for _ in head), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]


if __name__ == "__main__":
    sys.exit(main())
