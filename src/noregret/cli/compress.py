"""`noregret compress`: a picture made of a few components, and how much each of them adds."""

import argparse
import sys
import time
from pathlib import Path

from noregret.cli.output import write_json
from noregret.cli.screen import EVERY, REFRESH, Screen, format_time, repeat
from noregret.cli.setup import check_outputs
from noregret.evaluation.compress import METHODS
from noregret.evaluation.compressed import Compressed
from noregret.evaluation.images import check_suffix, read_image, write_image
from noregret.evaluation.report import SCHEMA
from noregret.evaluation.tables import table
from noregret.version import __version__

RANKS = {"svd": 20, "dictionary": 4}
"""How many components are kept, or all of a small picture, or atoms for each patch, where nothing else is asked for."""


def run(args: argparse.Namespace) -> int:
    source, picture = Path(args.image), read_image(args.image)
    rank = args.rank
    if rank is None:
        rank = min(RANKS[args.by], *picture.shape[:2]) if args.by == "svd" else RANKS[args.by]
    out = args.out or str(source.with_name(f"{source.stem}.{args.by}{rank}{source.suffix}"))
    check_outputs({"--out": out, "--curve": args.curve, "--json": args.json}, [args.image])
    check_suffix(out)
    progress = Progress(Screen(args.quiet, piped=args.json == "-"))
    with progress.screen.live(), repeat(progress.show, REFRESH if progress.screen.is_live else EVERY):
        found = METHODS[args.by](picture, rank, progress.tell)
    write_image(out, found.picture)
    if args.curve is not None:
        from noregret.plots import compression, save_figure

        save_figure(compression(found.errors, found.best, source.name), args.curve, "--curve")
    head = {"schema": SCHEMA, "noregret": __version__, "command": ["noregret", *args.command_line]}
    report = {"picture": args.image, "out": out, "by": args.by, "rank": len(found.errors), "errors": found.errors,
              "best": found.best, "sizes": found.sizes, "kept": found.kept, "values": int(picture.size)}  # fmt: skip
    write_json(args.json, {**head, **report})
    if args.json != "-":
        sys.stdout.write(f"{describe(found)}\nwritten to {out}\n")
    return 0


class Progress:
    """Says what is being done, how much of it is done, and for how long, once the whole has taken two seconds."""

    def __init__(self, screen: Screen) -> None:
        self.screen, self.began, self.now = screen, time.monotonic(), "preparing"

    def tell(self, what: str, done: float) -> None:
        self.now = f"{what}, {100.0 * done:.0f} %" if done else what

    def show(self) -> None:
        self.screen.show((), (), f"{self.now}, {format_time(time.monotonic() - self.began)}")


def describe(found: Compressed) -> str:
    """The error each time the number of components has doubled, and what is kept."""
    ranks = [rank for rank in (2**step for step in range(20)) if rank < len(found.errors)] + [len(found.errors)]
    kept = f"{found.kept:,} numbers for {found.picture.size:,} values ({100 * found.share:.1f} %)"
    if not found.errors:
        return f"the picture is black\n\n{kept}"
    head = ("rank", "numbers", "error", *(() if found.best is None else ("best possible",)))
    columns = [found.errors] if found.best is None else [found.errors, found.best]
    rows = [(str(at), f"{found.sizes[at - 1]:,}", *(f"{one[at - 1]:.4f}" for one in columns)) for at in ranks]
    return f"{table(head, rows)}\n\n{kept}"
