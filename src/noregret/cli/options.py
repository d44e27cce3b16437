"""The options of the command line."""

import argparse
from collections.abc import Sequence

from noregret.cli.confusion_option import separate_value
from noregret.cli.shared_options import (
    DATA,
    Parser,
    add_confusion_option,
    add_delay_options,
    add_drift_options,
    add_holdout_options,
    add_keep_option,
    add_learner_options,
    add_model_options,
    add_output_options,
    add_regret_option,
    add_report_option,
    add_source_options,
    positive,
    share_or_count,
)
from noregret.version import __version__

OPPONENTS = ("random", "constant", "cycle", "copycat", "beat_last", "beat_frequent", "markov", "markov2", "switching")
"""Strategies of `noregret rps`; written out, since importing them takes time that --help has not."""


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
    experts = commands.add_parser("experts", help="follow the advice of experts: weights, regret and bounds")
    add_expert_options(experts)
    add_rps_options(commands.add_parser("rps", help="play rock-paper-scissors against an expert algorithm"))
    add_tag_options(commands.add_parser("tag", help="tag the words of sentences: train, measure, tag new text"))
    add_parse_options(commands.add_parser("parse", help="parse sentences into dependency trees: train, measure, parse"))
    add_topics_options(commands.add_parser("topics", help="find the topics of documents, and their shares over time"))
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
                      "learners`, also with options and a kernel, as in 'arow(r=0.1),pa1@rbf(gamma=0.5)', or "
                      "FILE.py:RULE for your own; all: every one that plays the task (default: about ten that are "
                      "often good)")  # fmt: skip
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
    add_drift_options(race)
    race.set_defaults(module="race")


def add_learn_options(learn: Parser) -> None:
    learn.add_argument("data", nargs="+", help=DATA)
    learn.add_argument("--learner", metavar="NAME", help="the learner: a name from `noregret learners`, also "
                       "with options, as in 'arow(r=0.1)', or FILE.py:RULE for your own (default: auto, which "
                       "weighs many learners by Hedge in one pass)")  # fmt: skip
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
    add_drift_options(learn)
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
    group.add_argument("--metric", metavar="NAME", help="compare by this metric: mistakes, loss, balanced_accuracy, "
                       "mae, rmse, ndcg ...; with --method split also log_loss, brier, auc (default: what the task "
                       "names)")  # fmt: skip
    group.add_argument("--save", metavar="MODEL", help="save the best learner, as it is at the end of the search")
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
    certify.add_argument("--no-expansions", dest="expansions", action="store_false", help="do not try rows that are "
                         "not separable again with squares and pairs of features, which takes long")  # fmt: skip
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


def add_expert_options(experts: Parser) -> None:
    experts.add_argument("data", metavar="FILE.csv", help="a table with a row for each round and a column for each "
                         "expert; - is standard input, up_down a built-in example")  # fmt: skip
    experts.add_argument(
        "--truth", metavar="COLUMN", help="the column that holds the truth; the others are predictions"
    )
    experts.add_argument("--losses", action="store_true", help="the cells are losses, from 0 to 1")
    experts.add_argument("--loss", choices=("zero_one", "squared", "absolute", "log"), help="the loss of a prediction "
                         "(default: zero_one, for labels)")  # fmt: skip
    experts.add_argument("--loss-range", nargs=2, type=float, metavar=("LOW", "HIGH"), help="the lowest and highest "
                         "loss there can be (default: 0 1)")  # fmt: skip
    experts.add_argument("--algorithms", metavar="NAMES", help="algorithms separated by commas (default: hedge, "
                         "adahedge, squint, fixed_share, weighted_majority, follow_the_leader)")  # fmt: skip
    experts.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="set a parameter; "
                         "ALGORITHM.NAME=VALUE for one algorithm only; may be repeated")  # fmt: skip
    experts.add_argument("--switches", type=int, default=3, metavar="K", help="compare also with the best sequences of "
                         "experts that change up to K times (default: 3)")  # fmt: skip
    experts.add_argument("--missing", choices=("refuse", "sleep"), default="refuse", help="an empty cell is an error, "
                         "or its expert sleeps in this round")  # fmt: skip
    experts.add_argument("--drop", metavar="COLUMN", action="append", default=[], help="a column that is no expert; "
                         "may be repeated")  # fmt: skip
    experts.add_argument("--seed", type=int, default=0, metavar="N", help="of everything drawn at random (default: 0)")
    experts.add_argument("--json", metavar="PATH", help="write the report as JSON to a file; - is standard output")
    experts.add_argument("--picture", metavar="PATH", help="draw the weights and the regret: .png, .svg, .pdf")
    experts.set_defaults(module="experts")


def add_topics_options(topics: Parser) -> None:
    topics.add_argument("data", nargs="+", help="files with documents: tables with columns of text (CSV, JSON lines, "
                        "Parquet), .txt with one in each line, or word numbers and counts (libsvm, LDA-C); - for "
                        "standard input")  # fmt: skip
    topics.add_argument("--k", type=positive, metavar="N", help="the number of topics; of hdp, the most (default: 20, "
                        "hdp 150)")  # fmt: skip
    topics.add_argument("--learner", choices=("lda", "hdp"), help="lda: a fixed number of topics (the default); hdp: "
                        "as many as the documents need")  # fmt: skip
    topics.add_argument("--words", type=positive, default=10, metavar="N", help="words of a topic that are shown "
                        "(default: 10)")  # fmt: skip
    topics.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="set a parameter of the "
                        "learner, as in tau0=64; may be repeated")  # fmt: skip
    topics.add_argument("--vocabulary", metavar="FILE", help="the words of LDA-C or libsvm files, one in each line, "
                        "from word 0 on")  # fmt: skip
    words = topics.add_argument_group("which words are learned")
    words.add_argument("--stop-words", choices=("english", "none"), help="words to leave out (default: english)")
    words.add_argument("--least-documents", type=positive, metavar="N", help="leave a word out until N documents have "
                       "it (default: 2)")  # fmt: skip
    words.add_argument("--most-share", type=float, metavar="SHARE", help="leave a word out while more than this share "
                       "of the documents so far have it (default: 0.5)")  # fmt: skip
    topics.add_argument("--save", metavar="PATH", help="where to save the model; also saved when Ctrl-C or SIGTERM "
                        "stops the command")  # fmt: skip
    topics.add_argument("--resume", metavar="PATH", help="go on with this model: on the file it was interrupted in, "
                        "after the documents it has learned; saved to the same place unless --save names "
                        "another")  # fmt: skip
    topics.add_argument("--every", type=float, default=30.0, metavar="SECONDS", help="with --save: how often to save a "
                        "checkpoint of the model while it learns (default: 30)")  # fmt: skip
    topics.add_argument("--plot", metavar="PATH", help="draw the shares of topics over time to a file (.png, .svg, "
                        ".pdf); needs matplotlib")  # fmt: skip
    add_source_options(topics)
    add_output_options(topics)
    topics.set_defaults(module="topics")


def add_rps_options(rps: Parser) -> None:
    rps.add_argument("--against", choices=OPPONENTS, help="watch a match against a strategy instead of playing")
    rps.add_argument("--moves", metavar="FILE", help="play against recorded moves: words or letters, separated by "
                     "spaces or line ends; - is standard input")  # fmt: skip
    rps.add_argument("--rounds", type=positive, metavar="N", help="stop after N rounds (default: 1000 with --against, "
                     "else no limit)")  # fmt: skip
    rps.add_argument("--algorithm", default="fixed_share", metavar="NAME", help="the expert algorithm that weighs the "
                     "predictors: hedge, fixed_share, adahedge, squint ... (default: fixed_share)")  # fmt: skip
    rps.add_argument("--deterministic", action="store_true", help="play the most probable move instead of drawing one")
    rps.add_argument("--seed", type=int, default=0, metavar="N", help="of everything drawn at random (default: 0)")
    rps.add_argument("--save", metavar="PATH", help="save the player at the end, also when Ctrl-C stops the game")
    rps.add_argument("--resume", metavar="PATH", help="go on with a saved player; saved to the same place unless "
                     "--save names another")  # fmt: skip
    rps.add_argument("--json", metavar="PATH", help="write the report as JSON to a file; - is standard output")
    rps.add_argument("--quiet", action="store_true", help="no progress, only the result")
    rps.set_defaults(module="rps")


def add_tag_options(tag: Parser) -> None:
    tag.add_argument("files", nargs="+", metavar="FILE", help="a training file (CoNLL-U, or a table with --columns) or "
                     "a saved model; then files to measure it on or to tag (.txt: a sentence a line)")  # fmt: skip
    add_rule_options(tag, "arow")
    tag.add_argument("--order", type=int, choices=(1, 2), help="how many tags before a token its tag "
                     "depends on (default: 1)")  # fmt: skip
    tag.add_argument("--tags", default="upos", choices=("upos", "xpos"), help="which tags of CoNLL-U (default: upos)")
    tag.add_argument("--columns", metavar="WORD,TAG", help="files are tables of tokens, with these columns, counted "
                     "from 1")  # fmt: skip
    add_pass_options(tag)
    tag.set_defaults(module="tag")


def add_parse_options(parse: Parser) -> None:
    parse.add_argument("files", nargs="+", metavar="FILE", help="a treebank in CoNLL-U or a saved model; then files to "
                       "measure it on or to parse")  # fmt: skip
    add_rule_options(parse, "pa1")
    parse.add_argument("--crossing", action="store_true", help="arcs may cross: non-projective trees (default: "
                       "projective trees)")  # fmt: skip
    parse.add_argument("--bits", type=positive, metavar="B", help="features are hashed to 2^B cells "
                       "(default: 22)")  # fmt: skip
    add_pass_options(parse)
    parse.set_defaults(module="parse_trees")


def add_rule_options(parser: Parser, usual: str) -> None:
    """The options of commands that train the learners of structured output by a rule."""
    parser.add_argument("--learner", metavar="NAME", help=f"the rule (default: {usual})")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="set a parameter of the rule")
    parser.add_argument("--average", action="store_true", help="predict with the average of the weights")
    parser.set_defaults(usual=usual)


def add_pass_options(parser: Parser) -> None:
    """The options of commands that learn sentences in several passes."""
    parser.add_argument("--passes", type=positive, default=5, metavar="N", help="how often the training file is "
                        "learned (default: 5)")  # fmt: skip
    parser.add_argument("--save", metavar="PATH", help="write the model to a file, also every 30 seconds")
    parser.add_argument("--resume", metavar="MODEL", help="go on with a saved model: where it was interrupted in the "
                        "same file, or with another file")  # fmt: skip
    parser.add_argument("--out", metavar="PATH", help="write the predictions for the second file; - is standard "
                        "output")  # fmt: skip
    parser.add_argument("--json", metavar="PATH", help="write the report as JSON to a file; - is standard output")
    parser.add_argument("--quiet", action="store_true", help="print only the result")


def add_show_options(show: Parser) -> None:
    add_model_options(show)
    show.add_argument("--json", metavar="PATH", help="write it as JSON, with all weights; - is standard output")
    show.set_defaults(module="show")


def add_plot_options(plot: Parser) -> None:
    plot.add_argument("what", nargs="?", metavar="NAME|MODEL|REPORT.json", help="a picture of the theory, a model "
                      "saved by `noregret learn --save`, or a report that --json wrote (default: list the "
                      "pictures)")  # fmt: skip
    plot.add_argument("--out", metavar="PATH", help="the file to write: .png, .svg, .pdf; of a report also .html")
    plot.add_argument("--kind", choices=("curves", "regret", "confusion", "reliability", "entry_weights"),
                      help="what to draw of a report (default: curves; of `evaluate`, confusion)")  # fmt: skip
    plot.add_argument("--learner", metavar="NAME", help="a learner of the report, for its regret or confusion matrix")
    plot.add_argument("--rule", metavar="FILE.py", action="append", default=[], help="the file of your own rule")
    plot.set_defaults(module="plot")


def add_warm_options(warm: Parser) -> None:
    warm.add_argument("names", nargs="*", metavar="LEARNER", help="which learners, or variants such as "
                      "'pa1@rbf(budget=500)' (default: all)")  # fmt: skip
    warm.add_argument("--tasks", default="binary,multiclass,regression", help="tasks separated by commas (default: "
                      "binary,multiclass,regression)")  # fmt: skip
    warm.add_argument("--algebras", default="sparse,dense", help="separated by commas (default: sparse,dense)")
    warm.add_argument("--quiet", action="store_true", help="no progress")
    warm.set_defaults(module="catalog")
