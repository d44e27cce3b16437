"""The options of the command line."""

import argparse
from collections.abc import Sequence

from noregret.cli.confusion_option import separate_value
from noregret.cli.family_options import (
    add_compress_options,
    add_expert_options,
    add_parse_options,
    add_portfolio_options,
    add_recommend_options,
    add_rerank_options,
    add_rps_options,
    add_tag_options,
    add_teach_options,
    add_topics_options,
    add_translate_options,
)
from noregret.cli.shared_options import (
    DATA,
    LEARNER_TASKS,
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
    share_or_count,
)
from noregret.version import __version__


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
    compress = commands.add_parser("compress", help="compress a picture by an online decomposition")
    add_compress_options(compress)
    experts = commands.add_parser("experts", help="follow the advice of experts: weights, regret and bounds")
    add_expert_options(experts)
    portfolio = commands.add_parser("portfolio", help="invest in stocks day by day: wealth, risk and regret")
    add_portfolio_options(portfolio)
    teach = commands.add_parser("teach", help="teach a hidden AND or OR: by queries, by a teacher, or at random")
    add_teach_options(teach)
    add_rps_options(commands.add_parser("rps", help="play rock-paper-scissors against an expert algorithm"))
    add_tag_options(commands.add_parser("tag", help="tag the words of sentences: train, measure, tag new text"))
    add_parse_options(commands.add_parser("parse", help="parse sentences into dependency trees: train, measure, parse"))
    add_topics_options(commands.add_parser("topics", help="find the topics of documents, and their shares over time"))
    recommend = commands.add_parser("recommend", help="learn ratings of items by users, and recommend items")
    add_recommend_options(recommend)
    add_rerank_options(commands.add_parser("rerank", help="rerank n-best lists, learning every reference: BLEU, TER"))
    add_translate_options(
        commands.add_parser("translate", help="translate a text, and adapt to its validated translations")
    )
    add_show_options(commands.add_parser("show", help="show what a saved model is, with its largest weights"))
    add_plot_options(commands.add_parser("plot", help="draw a report, a model, or a picture of the theory"))
    learners = commands.add_parser("learners", help="list the learners, or show the card of one")
    learners.add_argument("name", nargs="?", help="the learner whose card to show")
    learners.add_argument("--task", choices=LEARNER_TASKS, help="list only learners that play this task; unsupervised: "
                          "components, clusters, densities and topics of rows without labels")  # fmt: skip
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
                       "weighs many learners by Hedge in one pass; svd with --task unsupervised)")  # fmt: skip
    learn.add_argument("--save", metavar="PATH", help="where to save the model; also saved when Ctrl-C or "
                       "SIGTERM stops the command")  # fmt: skip
    learn.add_argument("--resume", metavar="PATH", help="continue training this model: on the file it was interrupted "
                       "in, after the rows it has learned; on any other, from the start; saved to the same place "
                       "unless --save names another")  # fmt: skip
    learn.add_argument("--predictions", metavar="PATH", help="write what was predicted for each row before it was "
                       "learned: .csv, .jsonl or .parquet; - is standard output, line by line where - is the "
                       "data; of learners without labels also its loss, which is large for novelties")  # fmt: skip
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
    predict.add_argument("--scores", action="store_true", help="write the scores beside the predictions; of "
                         "learners without labels the loss of each row, which is large for novelties")  # fmt: skip
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
    plot.add_argument("--shape", metavar="HxW", help="of a model without labels: height and width of the picture that "
                      "the features are (default: a square, where they fill one); 8x8x3 with colours")  # fmt: skip
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
