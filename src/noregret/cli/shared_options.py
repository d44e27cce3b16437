"""Options that several commands share, and the parser that reports an error in one line."""

import argparse
import math
import re
from typing import Any, NoReturn

from noregret.cli.confusion_option import COLUMNS, COUNTS
from noregret.errors import BadValue

TASKS = ("binary", "multiclass", "regression", "multilabel", "ranking", "one-class", "bandit", "unsupervised",
         "recommendation")  # fmt: skip
"""The tasks whose rounds can be read from a file; written out, since importing them takes time that --help has not."""

LEARNER_TASKS = (*TASKS, "structured", "convex", "experts")  # also of learners that no file is read for

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


def add_regret_option(parser: Parser) -> None:
    parser.add_argument("--regret", action="store_true", help="compare each learner with the best fixed weights in "
                        "hindsight, as the rounds go by, beside the bound of its theorem")  # fmt: skip


def add_drift_options(parser: Parser) -> None:
    group = parser.add_argument_group("concept drift")
    group.add_argument("--detect", metavar="DETECTOR", help="watch each learner for concept drift: adwin, ddm or "
                       "page_hinkley, with settings as in adwin:delta=0.01; the rounds of its alarms are "
                       "reported")  # fmt: skip
    group.add_argument("--on-drift", choices=("reset", "shadow"), help="after an alarm (of --detect; default: adwin): "
                       "reset starts a new learner; shadow puts in one that has learned since the warning")  # fmt: skip
    group.add_argument("--window", type=positive, metavar="N", help="a sliding window: predict with a learner that "
                       "knows at most the last N rounds, and at least the last N / 2")  # fmt: skip


def add_source_options(parser: Parser) -> None:
    group = parser.add_argument_group("the data")
    group.add_argument("--format", metavar="NAME", help="the format, where the file name does not show it: libsvm, "
                       "vw, csv, jsonl, parquet, arrow, idx, text")  # fmt: skip
    group.add_argument("--header", action=argparse.BooleanOptionalAction, help="CSV: whether the first line names the "
                       "columns (default: unless it holds a number); without names they are c1, c2, ...")  # fmt: skip
    group.add_argument("--label", metavar="COLUMN", help="tables: the column of the label (default: label, target, "
                       "class or y, else the last column; JSON lines have no last one. With --task unsupervised: else "
                       "none; NONE: none at all)")  # fmt: skip
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
    try:
        share = int(text) if text.isdecimal() else float(text)
    except ValueError:
        share = math.nan
    if share == 0.0:
        raise argparse.ArgumentTypeError(f"{text} holds no rows out; leave the option out to learn all of them")
    if not (0.0 < share < 1.0 or type(share) is int):
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
                       "the learner sees only whether its choice was correct; unsupervised: components, clusters, "
                       "densities or topics of rows without labels; recommendation: ratings of items by "
                       "users")  # fmt: skip
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
                       "mean and deviation, after all transforms (default: tables without --transform; not with "
                       "--task unsupervised)")  # fmt: skip
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
