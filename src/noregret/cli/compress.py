"""`noregret compress`: a picture made of a few components, and how much each of them adds."""

import argparse
import sys
from pathlib import Path

from noregret.cli.output import write_json
from noregret.cli.setup import check_outputs
from noregret.evaluation.compress import METHODS, Compressed
from noregret.evaluation.images import read_image, write_image
from noregret.evaluation.report import SCHEMA
from noregret.evaluation.tables import table
from noregret.version import __version__


def run(args: argparse.Namespace) -> int:
    source = Path(args.image)
    out = args.out or str(source.with_name(f"{source.stem}.{args.by}{args.rank}{source.suffix}"))
    check_outputs({"--out": out, "--curve": args.curve, "--json": args.json}, [args.image])
    picture = read_image(args.image)
    found = METHODS[args.by](picture, args.rank)
    write_image(out, found.picture)
    if args.curve is not None:
        from noregret.plots import compression, save_figure

        save_figure(compression(found.errors, found.best, source.name), args.curve, "--curve")
    head = {"schema": SCHEMA, "noregret": __version__, "command": ["noregret", *args.command_line]}
    report = {"picture": args.image, "out": out, "by": args.by, "rank": len(found.errors), "errors": found.errors,
              "best": found.best, "kept": found.kept, "values": int(picture.size)}  # fmt: skip
    write_json(args.json, {**head, **report})
    if args.json != "-":
        sys.stdout.write(f"{describe(found)}\nwritten to {out}\n")
    return 0


def describe(found: Compressed) -> str:
    """The error each time the number of components has doubled, and what is kept."""
    ranks = [rank for rank in (2**step for step in range(20)) if rank < len(found.errors)] + [len(found.errors)]
    rows = [(str(rank), f"{found.errors[rank - 1]:.4f}", f"{found.best[rank - 1]:.4f}") for rank in ranks if rank]
    lines = table(("rank", "error", "best possible"), rows) if found.errors else "the picture is black"
    return f"{lines}\n\n{found.kept:,} numbers for {found.picture.size:,} values ({100 * found.share:.1f} %)"
