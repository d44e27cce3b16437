"""The options of the command line."""

import argparse
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from noregret.cli.confusion_option import COLUMNS, COUNTS, separate_value
from noregret.errors import BadValue
from noregret.version import __version__

TASKS = ("binary", "multiclass", "regression", "multilabel", "ranking", "one-class", "bandit")
"""The tasks whose rounds can be read from a file; written out, since importing them takes time that --help has not."""

DATA = (
    "files (libsvm, VW, CSV, JSON lines, Parquet, Arrow, idx; also .gz .bz2 .xz .zst) read one after another, a "
    "quoted pattern like 'day-*.svm', - for standard input, or a name from `noregret datasets`"
)


class Parser(argparse.ArgumentParser):
    """Reports an error in one line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "allow_abbrev": False})

    def error(self, message: str) -> NoReturn:
        hint = self.suggest(message)
        raise BadValue(f"{message}{hint}{' See' if hint else '; see'} `{self.prog} --help`")

    def suggest(self, message: str) -> str:
        """What may have been meant, where an option or a choice is misspelt."""
        from noregret.rules.parameters import suggestion

        unknown = re.match(r"unrecognized arguments: (-\S+)", message)
        if unknown is not None:
            return suggestion(unknown[1].partition("=")[0], self._option_string_actions)
        choice = re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message)
        return "" if choice is None else suggestion(choice[1], re.findall(r"[\w-]+", choice[2]))


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The arguments by name, `module` for the module that runs the command, and `command_line` as it was typed."""
    top = make_parser()
    args, unknown = top.parse_known_args(separate_value(arguments))
    if unknown:
        command = next(action for action in top._actions if isinstance(action, argparse._SubParsersAction))
        command.choices[args.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    args.command_line = list(arguments)
    return args


def make_parser() -> Parser:
    top = Parser(
        prog="noregret",
        description="Online learning, one round at a time.",
        epilog="Start with `noregret race`, or `noregret race your.csv`. `noregret COMMAND --help` lists the options "
        "of a command.",
    )
    top.add_argument("--version", action="version", version=f"noregret {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    add_race_options(commands.add_parser("race", help="run learners side by side over one source and name the best"))
    add_learn_options(commands.add_parser("learn", help="train a model and print its mistakes on the way"))
    add_tune_options(commands.add_parser("tune", help="search good parameters of learners"))
    add_predict_options(commands.add_parser("predict", help="predict with a saved model"))
    add_evaluate_options(commands.add_parser("evaluate", help="measure a saved model on rows with labels"))
    certify = commands.add_parser("certify", help="prove whether the rows are separable, and bound mistakes")
    add_certify_options(certify)
    add_compare_options(
        commands.add_parser("compare", help="say what differs between two JSON reports, or rank learners")
    )
    add_show_options(commands.add_parser("show", help="show what a saved model is, with its largest weights"))
    add_plot_options(commands.add_parser("plot", help="draw a report, a model, or a picture of the theory"))
    learners = commands.add_parser("learners", help="list the learners, or show the card of one")
    learners.add_argument("name", nargs="?", help="the learner whose card to show")
    datasets = commands.add_parser("datasets", help="list the built-in, synthetic and local data sets")
    for parser, what in ((learners, "the list, or the card,"), (datasets, "the list")):
        parser.add_argument("--json", metavar="PATH", help=f"write {what} as JSON to a file; - is standard output")
        parser.set_defaults(module="catalog")
    add_warm_options(commands.add_parser("warm", help="compile the learners ahead of time"))
    return top


# ---- commands -------------------------------------------------------------------------------------------------------


def add_race_options(race: Parser) -> None:
    race.add_argument("data", nargs="*", default=["digits"], help=f"{DATA} (default: digits)")
    race.add_argument("--learners", metavar="NAMES", help="learners separated by commas: names from `noregret "
                      "learners`, or FILE.py:RULE for your own; all: every one that plays the task (default: about ten "
                      "that are often good)")  # fmt: skip
    race.add_argument("--threads", type=int, default=2, metavar="N", help="how many learners run in parallel "
                      "(default: 2)")  # fmt: skip
    add_source_options(race)
    add_holdout_options(race)
    add_delay_options(race)
    add_learner_options(race)
    add_output_options(race)
    add_report_option(race)
    add_confusion_option(race)
    add_regret_option(race)
    race.set_defaults(module="race")


def add_learn_options(learn: Parser) -> None:
    learn.add_argument("data", nargs="+", help=DATA)
    learn.add_argument("--learner", metavar="NAME", help="the learner: a name from `noregret learners`, or "
                       "FILE.py:RULE for your own; not needed with --resume")  # fmt: skip
    learn.add_argument("--save", metavar="PATH", help="where to save the model; also saved when Ctrl-C or "
                       "SIGTERM stops the command")  # fmt: skip
    learn.add_argument("--resume", metavar="PATH", help="continue training this model: on the file it was interrupted "
                       "in, after the rows it has learned; on any other, from the start; saved to the same place "
                       "unless --save names another")  # fmt: skip
    learn.add_argument("--predictions", metavar="PATH", help="write what was predicted for each row before it was "
                       "learned: .csv, .jsonl or .parquet; - is standard output, line by line where - is the "
                       "data")  # fmt: skip
    add_keep_option(learn, "; it is not a feature then")
    learn.add_argument("--plot", metavar="PATH", help="draw the learning curve to a file (.png, .svg, .pdf); needs "
                       "matplotlib")  # fmt: skip
    learn.add_argument("--every", type=float, default=30.0, metavar="SECONDS", help="with --save: how often to save a "
                       "checkpoint of the model while it learns (default: 30)")  # fmt: skip
    learn.add_argument("--rule", metavar="FILE.py", action="append", default=[], help="the file of your own rule")
    add_source_options(learn)
    add_holdout_options(learn)
    add_delay_options(learn)
    add_learner_options(learn)
    add_report_option(learn)
    add_output_options(learn)
    add_confusion_option(learn)
    add_regret_option(learn)
    learn.set_defaults(module="learn")


def add_tune_options(tune: Parser) -> None:
    tune.add_argument("data", nargs="+", help=DATA)
    which = tune.add_mutually_exclusive_group(required=True)
    which.add_argument("--learner", metavar="NAME", help="a name from `noregret learners`, or FILE.py:RULE for your "
                       "own")  # fmt: skip
    which.add_argument("--learners", metavar="NAMES", help="several learners, separated by commas")
    group = tune.add_argument_group("the search")
    group.add_argument("--try", dest="space", metavar="NAME=VALUES", action="append", default=[], help="search a "
                       "parameter: values separated by commas, as in C=0.1,1,10, a range, as in r=0.01:100:log or "
                       "eta=0.1:0.9:linear, or the name alone, for the values of the card; LEARNER.NAME for one "
                       "learner only; may be repeated (default: the numbers for which the card has a "
                       "range)")  # fmt: skip
    group.add_argument("--candidates", type=int, default=30, metavar="N", help="at most so many candidates for each "
                       "learner, the default parameters included: the whole grid, or random ones where it is larger "
                       "(default: 30)")  # fmt: skip
    group.add_argument("--method", default="progressive", metavar="NAME", help="progressive: all candidates side by "
                       "side in one pass, each predicting every row before it learns it (the default); halving: the "
                       "same, but the worse ones are dropped on the way; split: compare on rows that are not learned; "
                       "optuna: one pass for each trial of Optuna, which must be installed")  # fmt: skip
    group.add_argument("--factor", type=float, metavar="F", help="with --method halving: one of F candidates goes on "
                       "after one of F rows (default: 3)")  # fmt: skip
    group.add_argument("--validation", type=share_or_count, metavar="N", help="with --method split: compare on the "
                       "last N rows (10000), or this share of them (default: 0.2)")  # fmt: skip
    group.add_argument("--validation-seed", type=int, metavar="SEED", help="with --method split: compare on a random "
                       "share of the rows of each class instead of the last rows")  # fmt: skip
    group.add_argument("--refit", action="store_true", help="with --method split: train the best on all rows at the "
                       "end")  # fmt: skip
    group.add_argument("--threads", type=int, default=2, metavar="N", help="how many candidates run in parallel "
                       "(default: 2)")  # fmt: skip
    add_source_options(tune)
    add_learner_options(tune)
    add_output_options(tune)
    tune.set_defaults(module="tune")


def add_regret_option(parser: Parser) -> None:
    parser.add_argument("--regret", action="store_true", help="compare each learner with the best fixed weights in "
                        "hindsight, as the rounds go by, beside the bound of its theorem")  # fmt: skip


def add_predict_options(predict: Parser) -> None:
    add_model_options(predict)
    predict.add_argument("data", nargs="+", help=f"{DATA}; labels may be missing")
    predict.add_argument("--out", metavar="PATH", default="-", help="where to write: .csv, .jsonl or .parquet "
                         "(default: standard output, as CSV)")  # fmt: skip
    add_keep_option(predict)
    predict.add_argument("--scores", action="store_true", help="write the scores beside the predictions")
    predict.add_argument("--proba", action="store_true", help="write the probability of each class beside the "
                         "predictions")  # fmt: skip
    add_source_options(predict)
    add_output_options(predict)
    add_confusion_option(predict)
    predict.set_defaults(module="predict")


def add_evaluate_options(evaluate: Parser) -> None:
    add_model_options(evaluate)
    evaluate.add_argument("data", nargs="+", help=DATA)
    add_source_options(evaluate)
    add_output_options(evaluate)
    add_confusion_option(evaluate)
    evaluate.add_argument("--reliability", action="store_true", help="print how often the predicted label is right, by "
                          "its probability")  # fmt: skip
    evaluate.set_defaults(module="evaluate")


def add_certify_options(certify: Parser) -> None:
    certify.add_argument("data", nargs="+", help=DATA)
    certify.add_argument("--learners", metavar="NAMES", help="learners separated by commas (default: all whose cards "
                         "bound mistakes)")  # fmt: skip
    certify.add_argument("--invariants", action="store_true", help="list the updates of the perceptron, with what each "
                         "adds to u.w and to |w|^2")  # fmt: skip
    certify.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="set a parameter of the "
                         "card; LEARNER.NAME=VALUE for one learner only; may be repeated")  # fmt: skip
    certify.add_argument("--transform", metavar="NAME", action="append", default=[], help="transforms of the rows, as "
                         "in `noregret race` (default: rows as they are read)")  # fmt: skip
    certify.add_argument("--scale", action="store_true", help="standardize every number by its running mean and "
                         "deviation")  # fmt: skip
    certify.add_argument(
        "--bits", type=int, metavar="N", help="feature hashing: hash the names of features to 2^N cells"
    )
    certify.add_argument("--bias", action="store_true", help="add a constant feature of 1")
    add_source_options(certify)
    add_output_options(certify)
    certify.set_defaults(module="certify")


def add_compare_options(compare: Parser) -> None:
    compare.add_argument("reports", nargs="+", metavar="REPORT", help="JSON files written by `noregret race --json` or "
                         "`noregret learn --json`")  # fmt: skip
    compare.add_argument("--ranks", action="store_true", help="the mean ranks of the learners over all reports, with "
                         "the Friedman test and the critical difference of Nemenyi")  # fmt: skip
    compare.add_argument("--alpha", type=float, default=0.05, metavar="LEVEL", help="with --ranks: the level of "
                         "significance (default: 0.05)")  # fmt: skip
    compare.add_argument("--json", metavar="PATH", help="write the result as JSON to a file; - is standard output")
    compare.set_defaults(module="compare")


def add_show_options(show: Parser) -> None:
    add_model_options(show)
    show.add_argument("--json", metavar="PATH", help="write it as JSON, with all weights; - is standard output")
    show.set_defaults(module="show")


def add_plot_options(plot: Parser) -> None:
    plot.add_argument("what", nargs="?", metavar="NAME|MODEL|REPORT.json", help="a picture of the theory, a model "
                      "saved by `noregret learn --save`, or a report that --json wrote (default: list the "
                      "pictures)")  # fmt: skip
    plot.add_argument("--out", metavar="PATH", help="the file to write: .png, .svg, .pdf; of a report also .html")
    plot.add_argument("--kind", choices=("curves", "regret", "confusion", "reliability"), help="what to draw of a "
                      "report (default: curves; of `evaluate`, confusion)")  # fmt: skip
    plot.add_argument("--learner", metavar="NAME", help="a learner of the report, for its regret or confusion matrix")
    plot.add_argument("--rule", metavar="FILE.py", action="append", default=[], help="the file of your own rule")
    plot.set_defaults(module="plot")


def add_warm_options(warm: Parser) -> None:
    warm.add_argument("names", nargs="*", metavar="LEARNER", help="which learners (default: all)")
    warm.add_argument("--tasks", default="binary,multiclass,regression", help="tasks separated by commas (default: "
                      "binary,multiclass,regression)")  # fmt: skip
    warm.add_argument("--algebras", default="sparse,dense", help="separated by commas (default: sparse,dense)")
    warm.add_argument("--quiet", action="store_true", help="no progress")
    warm.set_defaults(module="catalog")


def add_model_options(parser: Parser) -> None:
    parser.add_argument("model", help="a model saved by `noregret learn --save`")
    parser.add_argument("--rule", metavar="FILE.py", action="append", default=[], help="the file of your own rule")


def add_keep_option(parser: Parser, more: str = "") -> None:
    parser.add_argument("--keep", metavar="COLUMN", action="append", default=[], help="tables: write a column beside "
                        f"the predictions, such as an id{more}; may be repeated")  # fmt: skip


def positive(text: str) -> int:
    """A whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, not {text!r}")
    return int(text)


# ---- options that commands share ------------------------------------------------------------------------------------


def add_source_options(parser: Parser) -> None:
    group = parser.add_argument_group("the data")
    group.add_argument("--format", metavar="NAME", help="the format, where the file name does not show it: libsvm, "
                       "vw, csv, jsonl, parquet, arrow, idx, text")  # fmt: skip
    group.add_argument("--header", action=argparse.BooleanOptionalAction, help="CSV: whether the first line names the "
                       "columns (default: unless it holds a number); without names they are c1, c2, ...")  # fmt: skip
    group.add_argument("--label", metavar="COLUMN", help="tables: the column of the label (default: label, target, "
                       "class or y, else the last column; JSON lines have no last one)")  # fmt: skip
    group.add_argument("--labels-by", metavar="TEXT", help="tables, with --task multilabel: the text that separates "
                       "the labels of a row (default: a comma)")  # fmt: skip
    group.add_argument("--weight", metavar="COLUMN", help="tables: the column of the importance weight of each row")
    group.add_argument("--drop", metavar="COLUMN", action="append", default=[], help="tables: leave a column out; may "
                       "be repeated")  # fmt: skip
    group.add_argument("--text", metavar="COLUMN", action="append", default=[], help="tables: a column of text, whose "
                       "words become features with their counts; may be repeated")  # fmt: skip
    group.add_argument("--ngrams", type=int, metavar="N", help="with --text or --format text: sequences of up to N "
                       "words are features, too (default: 1)")  # fmt: skip
    group.add_argument("--categorical", metavar="COLUMN", action="append", default=[], help="tables: a column whose "
                       "numbers or dates are categories; each value becomes a feature; may be repeated")  # fmt: skip
    group.add_argument("--missing", metavar="MARKS", type=lambda text: text.split(","), help="tables: marks of missing "
                       "values, separated by commas, as in NA,?,null; such a cell counts as empty")  # fmt: skip
    group.add_argument("--encoding", metavar="NAME", help="CSV, JSON lines and text: the encoding, if it is not UTF-8, "
                       "as in latin-1 or cp1252")  # fmt: skip
    group.add_argument("--timestamp", metavar="COLUMN", help="tables: the column of the time, which must not decrease "
                       "and is not a feature")  # fmt: skip
    group.add_argument("--query", metavar="COLUMN", help="tables, with --task ranking: the column that says which "
                       "list a row belongs to (libsvm text has qid:)")  # fmt: skip
    group.add_argument("--zero-based", action="store_true", help="libsvm: the first feature is number 0")
    group.add_argument("--skip", type=int, metavar="N", help="leave out the first N rows")
    group.add_argument("--limit", type=positive, metavar="N", help="read at most N rows")
    group.add_argument("--shuffle", type=int, metavar="SEED", help="read the rows in random order, within a buffer of "
                       "65,536 rows")  # fmt: skip
    group.add_argument("--passes", type=int, metavar="N", help="read the data N times")
    group.add_argument("--on-bad", choices=("stop", "skip"), default="stop", help="what to do with a row that cannot "
                       "be used: stop with an error (the default), or skip and count it")  # fmt: skip
    group.add_argument("--seed", type=int, default=0, metavar="N", help="the seed of the order of built-in data, of "
                       "synthetic data, and of learners that draw random numbers (default: 0)")  # fmt: skip


def add_holdout_options(parser: Parser) -> None:
    group = parser.add_argument_group("rows that are held out")
    group.add_argument("--holdout", type=share_or_count, metavar="N", help="do not learn the last N rows (10000), or "
                       "this share of them (0.2); predict them at the end, as rows that are new")  # fmt: skip
    group.add_argument("--holdout-seed", type=int, metavar="SEED", help="with --holdout: a random share of the rows "
                       "instead of the last ones")  # fmt: skip


def add_delay_options(parser: Parser) -> None:
    group = parser.add_argument_group("labels that are missing or come later")
    group.add_argument("--unlabelled", metavar="MARKS", type=lambda text: text.split(","), help="tables: marks of "
                       "labels that are not known, separated by commas, as in '?'; empty cells count, too. Such rows "
                       "are predicted and not learned")  # fmt: skip
    group.add_argument("--key", metavar="COLUMN", help="tables, with --unlabelled: the column that tells rows apart. A "
                       "row without a label waits until a row with its key brings the label, and is learned then; it "
                       "counts as it was predicted at first")  # fmt: skip


def share_or_count(text: str) -> float:
    """A share between 0 and 1, or a whole number of at least 1."""
    if text.isdecimal():
        return positive(text)
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0.0 < share < 1.0:
        raise argparse.ArgumentTypeError(f"must be a share such as 0.2 or a number of rows, not {text!r}")
    return share


def add_learner_options(parser: Parser) -> None:
    group = parser.add_argument_group("the learners")
    group.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="set a parameter of the "
                       "learner (those on its card) or of the task, as in C=0.1; LEARNER.NAME=VALUE for one learner "
                       "only; may be repeated")  # fmt: skip
    group.add_argument("--task", choices=TASKS, help="what is learned (default: binary or multiclass classification, "
                       "by the labels). regression: real targets; multilabel: several labels per row; ranking: lists "
                       "of rows ordered by relevance; one-class: novelty detection, with or without labels; bandit: "
                       "the learner sees only whether its choice was correct")  # fmt: skip
    group.add_argument("--classes", metavar="LABELS", help="all labels, separated by commas, for learners that do not "
                       "see every label (default: found by reading the data once before)")  # fmt: skip
    group.add_argument("--class-weight", metavar="WEIGHTS", help="importance weights of classes: spam=5,ham=1; or "
                       "balanced, in inverse proportion to their frequency so far; or balanced_root, its square "
                       "root")  # fmt: skip
    group.add_argument("--cost", metavar="COSTS", help="costs of mistakes: truth:predicted=cost,...; or a file: JSON "
                       "{truth: {predicted: cost}}, or a CSV matrix with a column for each prediction; other mistakes "
                       "cost 1")  # fmt: skip
    group.add_argument("--transform", metavar="NAME", action="append", default=[], help="transforms, applied in the "
                       "order given; their statistics come from earlier rows only: scale, min_max, unit_norm, clip, "
                       "log1p, tf_idf, missing, squares, pairs, conjunctions, one_hot, or one with parameters as in "
                       "clip:limit=3, pairs:between=user*ad or conjunctions:order=3,negate=a+b")  # fmt: skip
    group.add_argument("--scale", action=argparse.BooleanOptionalAction, help="standardize every number by its running "
                       "mean and deviation, after all transforms (default: tables without --transform)")  # fmt: skip
    group.add_argument("--bits", type=int, metavar="N", help="feature hashing: hash the names of features to 2^N cells "
                       "instead of storing them; collisions are counted")  # fmt: skip
    group.add_argument("--bias", action=argparse.BooleanOptionalAction, help="add a constant feature of 1 (default: "
                       "where features are scaled, and for regression; in libsvm, VW and text files one that is as "
                       "large as the values of the first row)")  # fmt: skip


def add_output_options(parser: Parser) -> None:
    group = parser.add_argument_group("the output")
    group.add_argument("--json", metavar="PATH", help="write the report as JSON to a file; - is standard output")
    group.add_argument("--quiet", action="store_true", help="no progress and no notes, only the result")


def add_report_option(parser: Parser) -> None:
    parser.add_argument("--report", metavar="PATH.html", help="write the results as one HTML page that needs no "
                        "network: ranking, curves, confusion matrix, largest weights, warnings")  # fmt: skip


def add_confusion_option(parser: Parser) -> None:
    parser.add_argument("--confusion", nargs="?", const=COUNTS, choices=(COUNTS, COLUMNS), help="print the confusion "
                        "matrix of the rows with a label, with recall, precision and F1 of each class; columns: for "
                        "each class, a column with the shares of its rows predicted as every class")  # fmt: skip
