"""`noregret plot`: a picture of the theory, of a model, or of a JSON report."""

import argparse
import sys
from pathlib import Path
from typing import Any

from noregret.cli.learner_names import import_file
from noregret.cli.output import open_output
from noregret.cli.setup import check_outputs
from noregret.errors import BadValue
from noregret.evaluation.tables import text_table

THEORY = {
    "losses": "losses against the margin",
    "updates": "updates of the perceptron, in the space of rows and of weights",
    "passive_aggressive_step": "a passive and an aggressive round",
    "passive_aggressive_sets": "the sets that steps enter: classification, regression, one-class",
    "confidence_ellipse": "the Gaussian over weights of CW before and after a round",
    "truncation": "T0 (rounding) beside T1 (truncated gradient)",
    "mistakes_against_margin": "mistakes of the perceptron and Novikoff's bound",
    "winnow_total_weight": "the sum of Winnow's weights, promotions and demotions",
}
KINDS = ("curves", "regret", "confusion", "reliability", "entry_weights")  # pictures of reports


def run(args: argparse.Namespace) -> int:
    if args.what is None:
        rows = [*THEORY.items(),
                ("MODEL.nr", "the largest weights of a saved model; of auto, those of its entries over time; "
                 "the components of a model without labels"),
                ("REPORT.json", f"of a report that --json wrote: --kind {', '.join(KINDS)}")]  # fmt: skip
        sys.stdout.write(text_table(("picture", "what it shows"), rows) + "\n")
        return 0
    if args.out is None:
        raise BadValue(f"name a file for the picture: noregret plot {args.what} --out picture.png")
    if args.out == "-":
        raise BadValue("--out -: a picture is written to a file; name one")
    is_file = args.what not in THEORY
    check_outputs({"--out": args.out}, [args.what if is_file else None, *args.rule])
    if is_file and not Path(args.what).is_file():
        raise BadValue(f"there is no picture and no file {args.what!r}; `noregret plot` lists the pictures")
    if args.kind is not None and not (is_file and args.what.lower().endswith(".json")):
        raise BadValue(f"--kind is for JSON reports, which {args.what} is not")
    if args.shape is not None and (not is_file or args.what.lower().endswith(".json")):
        raise BadValue(f"--shape is for models without labels, which {args.what} is not")
    draw(args)
    sys.stdout.write(f"wrote {args.out}\n")
    return 0


def draw(args: argparse.Namespace) -> None:
    """Make the picture and write it."""
    from noregret import plots

    if args.what in THEORY:
        plots.save_figure(getattr(plots, args.what)(), args.out, "--out")
    elif args.what.lower().endswith(".json"):
        draw_report(args)
    else:
        from noregret.cli.load_learner import load_learner

        for file in args.rule:
            import_file(file)
        learner: Any = load_learner(args.what)
        figure = learner.plot() if args.shape is None else plots.components(learner, read_shape(args.shape))
        plots.save_figure(figure, args.out, "--out")


def read_shape(text: str) -> tuple[int, ...]:
    """Height and width, as in 8x8."""
    sides = text.lower().split("x")
    if not all(side.isdecimal() for side in sides):
        raise BadValue(f"--shape takes a height and a width, as in 8x8, not {text}")
    return tuple(map(int, sides))


def draw_report(args: argparse.Namespace) -> None:
    """The picture of a report; the page of it, where the file to write is HTML."""
    from noregret import plots
    from noregret.plots.report_data import read_report

    report: Any = read_report(args.what)
    if Path(args.out).suffix.lower() in (".html", ".htm"):
        with open_output(args.out, "the page") as file:
            file.write(plots.html_report(report))
        return
    kind = args.kind or ("curves" if "learners" in report else "confusion")
    named = {"learner": args.learner} if args.learner is not None else {}
    if named and kind not in ("regret", "confusion"):
        raise BadValue(f"--learner is for --kind regret and confusion, not for {kind}")
    plots.save_figure(getattr(plots, kind)(report, **named), args.out, "--out")
