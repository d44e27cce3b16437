"""`noregret portfolio`: portfolio strategies side by side over prices or price relatives."""

import argparse
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from noregret.cli.output import write_json
from noregret.cli.setup import check_outputs
from noregret.errors import BadValue
from noregret.evaluation.portfolios import ALL, PortfolioRace, race_portfolios
from noregret.evaluation.report import SCHEMA
from noregret.learner.variants import split_names
from noregret.streams.price_tables import PriceTable, hover_around_one, read_price_table
from noregret.version import __version__

PATIENCE = 2.0  # seconds after which progress is told


def run(args: argparse.Namespace) -> int:
    if args.picture is not None and args.no_picture:
        raise BadValue("give --picture PATH or --no-picture, not both")
    picture = choose_picture(args)
    check_outputs({"--json": args.json, "--picture": picture}, [args.data])
    table = read_price_table(args.data)
    prices, why = choose_kind(args, table)
    names = list(ALL) if args.strategies in (None, "all") else split_names(args.strategies)
    options: dict[str, Any] = {"seed": args.seed, "per_year": args.days_per_year, "tell": Progress(len(names))}
    race = race_portfolios(
        table.values, names, prices=prices, cost=args.cost, days=table.days, names=table.names, **options
    )
    head = {"schema": SCHEMA, "noregret": __version__, "command": ["noregret", *args.command_line]}
    kind = "prices" if prices else "relatives"
    write_json(args.json, {**head, "source": table.where, "values": kind, "picture": picture, **race.report()})
    if args.json != "-":
        sys.stdout.write(f"{table.where}: {why}\n\n{race}\n")
    draw(race, picture, args)
    return 0


def choose_kind(args: argparse.Namespace, table: PriceTable) -> tuple[bool, str]:
    """Whether the values are prices, and what to say about that."""
    if args.prices and args.relatives:
        raise BadValue("give --prices or --relatives, not both")
    if args.prices or args.relatives:
        kind, option = ("prices", "--prices") if args.prices else ("price relatives", "--relatives")
        return bool(args.prices), f"read as {kind}, as {option} says"
    if hover_around_one(table.values):
        return False, "read as price relatives, since every column hovers around 1 (--prices if these are prices)"
    return True, "read as prices, since not every column hovers around 1 (--relatives if these are price relatives)"


def choose_picture(args: argparse.Namespace) -> str | None:
    """Where the picture goes; by default beside nothing but in the folder of the call, if matplotlib is there."""
    if args.picture is not None or args.no_picture:
        return None if args.no_picture else str(args.picture)
    if find_spec("matplotlib") is None:
        return None
    stem = "portfolio" if args.data == "-" else Path(args.data).name.partition(".")[0] or "portfolio"
    return f"{stem}.portfolio.png"


def draw(race: PortfolioRace, picture: str | None, args: argparse.Namespace) -> None:
    if picture is None:
        if not args.no_picture:
            sys.stderr.write("no picture: it needs matplotlib (pip install 'noregret[plots]')\n")
        return
    from noregret import plots

    plots.save_figure(plots.portfolios(race), picture, "--picture")
    sys.stderr.write(f"picture: {picture}\n")


class Progress:
    """Says on standard error which strategy plays, once the whole has taken two seconds."""

    def __init__(self, strategies: int) -> None:
        self.began, self.done, self.strategies = time.monotonic(), 0, strategies

    def __call__(self, name: str) -> None:
        if time.monotonic() - self.began > PATIENCE:
            sys.stderr.write(f"{name} ... (strategy {self.done} of {self.strategies})\n")
        self.done += 1
