"""What can be said on the command line."""

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from noregret.errors import BadValue
from noregret.version import __version__

TASK_TABLE = ("binary", "multiclass", "regression", "multilabel", "ranking", "one-class", "bandit")

DATA = (
    "files (libsvm, VW, CSV, JSON lines, Parquet, Arrow, idx; also .gz .bz2 .xz .zst) one after another, a "
    "quoted pattern like 'day-*.svm', - for standard input, or a name from `noregret datasets`"
)


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "allow_abbrev": False})

    def error(self, message: str) -> NoReturn:
        raise BadValue(f"{message}; see `{self.prog} --help`")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The arguments by name, `module` for the module that runs the command, and `command_line` as it was typed."""
    args = make_parser().parse_args(list(arguments))
    args.command_line = list(arguments)
    return args


def make_parser() -> Parser:
    top = Parser(
        prog="noregret",
        description="Online learning, one round at a time.",
        epilog="Start with `noregret race`, or `noregret race your.csv`.",
    )
    top.add_argument("--version", action="version", version=f"noregret {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    race_options(commands.add_parser("race", help="race learners over one source and name the best"))
    learn_options(commands.add_parser("learn", help="learn a model, with its mistakes as they come"))
    predict_options(commands.add_parser("predict", help="predict with a saved model"))
    shelf = commands.add_parser("learners", help="list the learners, or show the card of one")
    shelf.add_argument("name", nargs="?", help="the learner whose card to show")
    listed = commands.add_parser("datasets", help="list the built-in, synthetic and found data sets")
    for one in (shelf, listed):
        one.add_argument("--json", metavar="PATH", help="write this as JSON to a file; - is standard output")
        one.set_defaults(module="catalog")
    warm_options(commands.add_parser("warm", help="compile the learners ahead of time"))
    return top


def race_options(race: Parser) -> None:
    race.add_argument("data", nargs="*", default=["digits"], help=f"{DATA} (default: digits)")
    race.add_argument(
        "--learners",
        metavar="NAMES",
        help="which, with commas: names from `noregret learners`, or FILE.py:RULE for your own (default: those shown)",
    )
    race.add_argument("--threads", type=int, default=2, metavar="N", help="how many learn at once (default: 2)")
    source_options(race)
    learner_options(race)
    output_options(race)
    confusion_option(race)
    race.set_defaults(module="race")


def learn_options(learn: Parser) -> None:
    learn.add_argument("data", nargs="+", help=DATA)
    learn.add_argument(
        "--learner", metavar="NAME", help="a name from `noregret learners`, or FILE.py:RULE for your own"
    )
    learn.add_argument("--save", metavar="PATH", help="where to keep the model; also kept when you stop with Ctrl-C")
    learn.add_argument(
        "--resume",
        metavar="PATH",
        help="go on with this model: an interrupted file where it stopped, any other from its start; "
        "saved to the same place unless --save names another",
    )
    learn.add_argument(
        "--every",
        type=float,
        default=30.0,
        metavar="SECONDS",
        help="how often to keep the model while it learns, so that little is lost if the machine stops (default: 30)",
    )
    learn.add_argument("--rule", metavar="FILE.py", action="append", default=[], help="the file of your own rule")
    source_options(learn)
    learner_options(learn)
    output_options(learn)
    confusion_option(learn)
    learn.set_defaults(module="learn")


def predict_options(predict: Parser) -> None:
    predict.add_argument("model", help="a model that `noregret learn --save` wrote")
    predict.add_argument("data", nargs="+", help=f"{DATA}; labels may be missing")
    predict.add_argument("--out", metavar="PATH", default="-", help="where to write, as CSV (default: standard output)")
    predict.add_argument("--scores", action="store_true", help="write the scores beside the predictions")
    predict.add_argument("--rule", metavar="FILE.py", action="append", default=[], help="the file of your own rule")
    source_options(predict)
    output_options(predict)
    predict.set_defaults(module="predict")


def warm_options(warm: Parser) -> None:
    warm.add_argument("names", nargs="*", metavar="LEARNER", help="which (default: all)")
    warm.add_argument("--tasks", default="binary,multiclass,regression", help="with commas; also multilabel, ranking "
                      "(default: the others)")  # fmt: skip
    warm.add_argument("--algebras", default="sparse,dense", help="with commas (default: sparse,dense)")
    warm.add_argument("--quiet", action="store_true", help="no progress")
    warm.set_defaults(module="catalog")


def source_options(one: Parser) -> None:
    group = one.add_argument_group("the data")
    group.add_argument("--format", metavar="NAME", help="what the data are, where their name does not tell: libsvm, "
                       "vw, csv, jsonl, parquet, arrow, idx, text")  # fmt: skip
    group.add_argument("--header", action=argparse.BooleanOptionalAction, help="CSV: whether the first line names the "
                       "columns (default: unless it holds a number); without names they are c1, c2, ...")  # fmt: skip
    group.add_argument("--label", metavar="COLUMN", help="tables: the column of the label (default: label, target, "
                       "class or y, else the last)")  # fmt: skip
    group.add_argument("--labels-by", metavar="TEXT", help="tables, with --task multilabel: what stands between the "
                       "labels of a row (default: a comma)")  # fmt: skip
    group.add_argument("--weight", metavar="COLUMN", help="tables: the column of the weight of each row")
    group.add_argument("--drop", metavar="COLUMN", action="append", default=[], help="tables: leave a column out; as "
                       "often as needed")  # fmt: skip
    group.add_argument("--text", metavar="COLUMN", action="append", default=[], help="tables: every word of this "
                       "column is a feature, counted")  # fmt: skip
    group.add_argument("--ngrams", type=int, metavar="N", help="with --text: runs of up to N words are features too")
    group.add_argument("--categorical", metavar="COLUMN", action="append", default=[], help="tables: the numbers of "
                       "this column are names; each is a feature of its own")  # fmt: skip
    group.add_argument("--timestamp", metavar="COLUMN", help="tables: the column of the time, which must never go back")
    group.add_argument("--query", metavar="COLUMN", help="tables, with --task ranking: the column that tells which "
                       "list a row belongs to (libsvm text has qid:)")  # fmt: skip
    group.add_argument("--zero-based", action="store_true", help="libsvm: the first feature is number 0")
    group.add_argument("--skip", type=int, metavar="N", help="leave out the first N rows")
    group.add_argument("--limit", type=int, metavar="N", help="read at most N rows")
    group.add_argument("--shuffle", type=int, metavar="SEED", help="rows in random order, as far as a buffer of 65,536 "
                       "reaches")  # fmt: skip
    group.add_argument("--passes", type=int, metavar="N", help="go through the data N times")
    group.add_argument("--on-bad", choices=("stop", "skip"), default="stop", help="a row that cannot be used ends the "
                       "command (stop, the default), or is skipped and counted (skip)")  # fmt: skip
    group.add_argument("--seed", type=int, default=0, metavar="N", help="for the order of built-in data, for synthetic "
                       "data, and for learners that draw (default: 0)")  # fmt: skip


def learner_options(one: Parser) -> None:
    group = one.add_argument_group("the learners")
    group.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="a parameter on the card; "
                       "LEARNER.NAME=VALUE for one learner only; as often as needed")  # fmt: skip
    group.add_argument("--task", choices=TASK_TABLE, help="what is learned (default: classes, as many as come); real "
                       "targets need --task regression, rows with several labels multilabel, "
                       "lists to be put in order ranking, "
                       "rows of one kind, with or without labels, one-class; bandit tells only whether what was played "
                       "was right")  # fmt: skip
    group.add_argument("--classes", metavar="LABELS", help="with commas: all the labels there are, where not every "
                       "label is told (default: the data are read twice)")  # fmt: skip
    group.add_argument("--class-weight", metavar="WEIGHTS", help="what the rounds of a class count: spam=5,ham=1, or "
                       "balanced: as if all were equally frequent so far (balanced_root: its root)")  # fmt: skip
    group.add_argument("--cost", metavar="COSTS", help="what mistakes cost: truth:predicted=cost,..., or a file: JSON "
                       "{truth: {predicted: cost}} or CSV, a column for each prediction; others cost 1")  # fmt: skip
    group.add_argument("--transform", metavar="NAME", action="append", default=[], help="what is done to every row "
                       "before it is learned, by the rows before it: scale, min_max, unit_norm, clip, log1p, tf_idf, "
                       "missing, squares, pairs, one_hot, or one with parameters as in clip:limit=3 or "
                       "pairs:between=user*ad; in the order given")  # fmt: skip
    group.add_argument("--scale", action=argparse.BooleanOptionalAction, help="measure every number from its running "
                       "mean in running deviations, after all else (default: for CSV only, without "
                       "--transform)")  # fmt: skip
    group.add_argument("--bits", type=int, metavar="N", help="hash the names of features to 2^N cells instead of "
                       "keeping them; collisions are counted")  # fmt: skip
    group.add_argument("--bias", action=argparse.BooleanOptionalAction, help="add a constant feature (default: where "
                       "features are scaled, and for regression)")  # fmt: skip


def output_options(one: Parser) -> None:
    group = one.add_argument_group("what is said")
    group.add_argument("--json", metavar="PATH", help="write the report as JSON to a file; - is standard output")
    group.add_argument("--quiet", action="store_true", help="no progress and no notes, only the result")


def confusion_option(one: Parser) -> None:
    one.add_argument("--confusion", action="store_true", help="show who was taken for whom, and how well each class "
                     "was found")  # fmt: skip
