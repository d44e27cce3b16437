"""The options of the commands of single families: experts, games, sentences, topics, translations and others."""

import argparse

from noregret.cli.shared_options import Parser, add_output_options, add_source_options, positive

OPPONENTS = ("random", "constant", "cycle", "copycat", "beat_last", "beat_frequent", "markov", "markov2", "switching")
"""Strategies of `noregret rps`; written out, since importing them takes time that --help has not."""


def add_compress_options(compress: Parser) -> None:
    compress.add_argument(
        "image", metavar="IMAGE", help="a picture: .pgm, .ppm; with pillow also .png, .jpg and others"
    )
    compress.add_argument("--rank", type=int, metavar="R", help="how many components are kept (default: 20, or all of "
                          "a smaller picture); for a dictionary, how many atoms a patch has on average "
                          "(default: 4)")  # fmt: skip
    compress.add_argument("--method", "--by", dest="by", choices=("svd", "dictionary"), default="svd", help="svd: "
                          "components of the lines; dictionary: learned patches (default: svd)")  # fmt: skip
    compress.add_argument("--out", metavar="PATH", help="the picture to write (default: IMAGE.svdR or .dictionaryR in "
                          "the same format)")  # fmt: skip
    compress.add_argument(
        "--curve", metavar="PATH", help="draw the error by the number of components: .png, .svg, .pdf"
    )
    compress.add_argument("--json", metavar="PATH", help="write the report as JSON to a file; - is standard output")
    compress.add_argument("--quiet", action="store_true", help="no progress, only the result")
    compress.set_defaults(module="compress")


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


def add_portfolio_options(portfolio: Parser) -> None:
    portfolio.add_argument("data", metavar="FILE.csv", help="a table with a row for each day and a column for each "
                           "stock, perhaps with names and a first column of dates, also compressed; - is standard "
                           "input")  # fmt: skip
    portfolio.add_argument("--prices", action="store_true", help="the values are prices (default: price relatives, if "
                           "every column hovers around 1, otherwise prices)")  # fmt: skip
    portfolio.add_argument("--relatives", action="store_true", help="the values are price relatives: prices over those "
                           "of the day before")  # fmt: skip
    portfolio.add_argument("--strategies", metavar="NAMES", help="strategies separated by commas, also with "
                           "parameters, as in 'crp,pamr(eps=0.9)'; all (the default): each of them, with best_stock "
                           "and bcrp, which are chosen in hindsight")  # fmt: skip
    portfolio.add_argument("--cost", type=float, default=0.0, metavar="C", help="what trading costs, as a share of "
                           "what is traded: 0.001 is 0.1 %% (default: 0)")  # fmt: skip
    portfolio.add_argument("--days-per-year", type=float, default=252.0, metavar="N", help="of the growth and the "
                           "Sharpe ratio of a year (default: 252)")  # fmt: skip
    portfolio.add_argument("--seed", type=int, default=0, metavar="N", help="of the portfolios that are drawn by the "
                           "universal portfolio (default: 0)")  # fmt: skip
    portfolio.add_argument("--json", metavar="PATH", help="write the report as JSON to a file; - is standard output")
    portfolio.add_argument("--picture", metavar="PATH", help="where to draw wealth on a logarithmic scale: .png, .svg, "
                           ".pdf (default: NAME.portfolio.png, where matplotlib is installed)")  # fmt: skip
    portfolio.add_argument("--no-picture", action="store_true", help="draw nothing")
    portfolio.set_defaults(module="portfolio")


def add_teach_options(teach: Parser) -> None:
    teach.add_argument("--target", required=True, metavar="LITERALS", help="the hidden concept: literals separated by "
                       "commas, as in 2,3,100 for x2, x3 and x100, or drugs,credit,pill; !x5 is negated")  # fmt: skip
    which = teach.add_mutually_exclusive_group(required=True)
    which.add_argument("--n", type=positive, metavar="N", help="the number of features, which are called x1 to xN")
    which.add_argument("--features", metavar="NAMES", help="the names of the features, separated by commas")
    teach.add_argument("--protocol", choices=("queries", "teacher", "random"), default="queries", help="queries: the "
                       "learner asks for the labels of rows it chooses (the default); teacher: a teacher chooses the "
                       "examples; random: they come at random")  # fmt: skip
    teach.add_argument("--concept", choices=("conjunction", "disjunction"), default="conjunction", help="what is "
                       "hidden: an AND or an OR of the literals (default: conjunction)")  # fmt: skip
    teach.add_argument("--negations", action="store_true", help="the learner allows for negated literals")
    teach.add_argument("--eps", type=float, metavar="SHARE", help="with --protocol random: the error that is allowed "
                       "(default: 0.1)")  # fmt: skip
    teach.add_argument("--delta", type=float, metavar="P", help="with --protocol random: the probability of a larger "
                       "error (default: 0.05)")  # fmt: skip
    teach.add_argument("--rounds", type=int, metavar="N", help="with --protocol random: this many examples (default: "
                       "the PAC count for --eps and --delta)")  # fmt: skip
    teach.add_argument("--seed", type=int, metavar="N", help="with --protocol random: of the examples (default: 0)")
    teach.add_argument("--json", metavar="PATH", help="write the report as JSON to a file; - is standard output")
    teach.add_argument("--quiet", action="store_true", help="print only the result")
    teach.set_defaults(module="teach")


def add_topics_options(topics: Parser) -> None:
    topics.add_argument("data", nargs="+", help="files with documents: tables with columns of text (CSV, JSON lines, "
                        "Parquet), .txt with one in each line, a folder with one in each file, or word numbers and "
                        "counts (libsvm; LDA-C with --format lda-c); - for standard input")  # fmt: skip
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


def add_recommend_options(recommend: Parser) -> None:
    recommend.add_argument("data", nargs="+", help="tables of ratings (CSV, JSON lines, Parquet, Arrow) with the "
                           "columns user, item and rating, - for standard input; or a saved model, which answers "
                           "without learning")  # fmt: skip
    recommend.add_argument("--user", metavar="ID", action="append", default=[], help="print what this user will "
                           "probably like; may be repeated")  # fmt: skip
    recommend.add_argument("--top", type=positive, default=10, metavar="N", help="how many items (default: 10)")
    recommend.add_argument("--columns", metavar="USER,ITEM,RATING", help="the columns, where they have other names")
    recommend.add_argument("--scale", nargs=2, type=float, metavar=("LOW", "HIGH"), help="the lowest and the highest "
                           "rating (default: 1 5)")  # fmt: skip
    recommend.add_argument("--model", choices=("pmf", "rmf"), help="pmf: learn ratings (the default); rmf: learn the "
                           "order of the items of each user")  # fmt: skip
    recommend.add_argument("--method", choices=("sgd", "da"), help="sgd: stochastic gradient descent (the default); "
                           "da: dual averaging")  # fmt: skip
    recommend.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="set a parameter of the "
                           "learner, as in k=20; may be repeated")  # fmt: skip
    recommend.add_argument("--save", metavar="PATH", help="where to save the model; also saved when Ctrl-C or SIGTERM "
                           "stops the command")  # fmt: skip
    recommend.add_argument("--resume", metavar="PATH", help="go on with this model: on the file it was interrupted in, "
                           "after the ratings it has learned; saved to the same place unless --save names "
                           "another")  # fmt: skip
    recommend.add_argument("--every", type=float, default=30.0, metavar="SECONDS", help="with --save: how often to "
                           "save a checkpoint of the model while it learns (default: 30)")  # fmt: skip
    group = recommend.add_argument_group("the data")
    group.add_argument("--format", metavar="NAME", help="the format, where the file name does not show it: csv, jsonl, "
                       "parquet, arrow")  # fmt: skip
    group.add_argument("--header", action=argparse.BooleanOptionalAction, help="CSV: whether the first line names the "
                       "columns; without names they are c1, c2, ...")  # fmt: skip
    group.add_argument("--encoding", metavar="NAME", help="CSV and JSON lines: the encoding, if it is not UTF-8")
    group.add_argument("--skip", type=int, metavar="N", help="leave out the first N rows")
    group.add_argument("--limit", type=positive, metavar="N", help="read at most N rows")
    group.add_argument("--shuffle", type=int, metavar="SEED", help="read the rows in random order, within a buffer of "
                       "65,536 rows")  # fmt: skip
    group.add_argument("--passes", type=positive, metavar="N", help="read the data N times")
    group.add_argument("--on-bad", choices=("stop", "skip"), default="stop", help="what to do with a row that cannot "
                       "be read: stop with an error (the default), or skip and count it")  # fmt: skip
    group.add_argument("--seed", type=int, default=0, metavar="N", help="of the factors at the start (default: 0)")
    add_output_options(recommend)
    recommend.set_defaults(module="recommend")


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


def add_rerank_options(rerank: Parser) -> None:
    rerank.add_argument("file", metavar="LISTS.jsonl", help='a file with a list in every line: {"source": text, '
                        '"reference": text, "candidates": [{"text": text, "score": number, "features": {name: number}}'
                        "]}, the candidates in the order of the system; - is standard input")  # fmt: skip
    rerank.add_argument("--learner", metavar="NAME", help="adaptive_reranker, ridge_reranker, bayesian_reranker, "
                        "loglinear_reranker, mira, or a rule such as pa1, which learns the weights of "
                        "adaptive_reranker (default: adaptive_reranker)")  # fmt: skip
    rerank.add_argument("--mode", choices=("generative", "discriminative", "combined"), help="what is learned: "
                        "models of the references, weights of features, or both (default: combined)")  # fmt: skip
    rerank.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="set a parameter of the "
                        "learner; may be repeated")  # fmt: skip
    rerank.add_argument("--quality", choices=("bleu", "ter"), help="how candidates are compared with the reference: "
                        "sentence BLEU, or the translation edit rate (default: bleu)")  # fmt: skip
    rerank.add_argument("--limit", type=positive, metavar="N", help="stop after N lists")
    rerank.add_argument("--save", metavar="PATH", help="write the model to a file, also every 30 seconds")
    rerank.add_argument("--resume", metavar="MODEL", help="go on with a saved model: where it was interrupted in the "
                        "same file, or with another file; saved to the same place unless --save names "
                        "another")  # fmt: skip
    rerank.add_argument("--out", metavar="PATH", help="write the chosen texts; - is standard output")
    rerank.add_argument("--json", metavar="PATH", help="write the report as JSON to a file; - is standard output")
    rerank.add_argument("--quiet", action="store_true", help="print only the result")
    rerank.set_defaults(module="rerank")


def add_translate_options(translate: Parser) -> None:
    translate.add_argument("model", metavar="MODEL", help="a saved translator")
    translate.add_argument("file", metavar="FILE", help="the text, a sentence in every line; - is standard input")
    translate.add_argument("--adapt", metavar="REFERENCES", help="learn: after each sentence its validated "
                           "translation, which is the same line of this file")  # fmt: skip
    translate.add_argument("--validate", action="store_true", help="learn: show each translation and ask for a "
                           "correction")  # fmt: skip
    translate.add_argument("--update", choices=("sgd", "adagrad", "adadelta", "adam", "pa"), help="the step of each "
                           "sentence (default: that of the model, usually adagrad)")  # fmt: skip
    translate.add_argument("--eta", type=float, metavar="NUMBER", help="the learning rate (default: the usual one of "
                           "the update)")  # fmt: skip
    translate.add_argument("--skip", type=int, default=0, metavar="N", help="leave the first N lines out")
    translate.add_argument("--out", metavar="PATH", help="write the translations, with --validate the validated ones "
                           "(default: standard output, -, unless it learns)")  # fmt: skip
    translate.add_argument("--save", metavar="PATH", help="save the adapted translator at the end, also when Ctrl-C "
                           "or SIGTERM stops the command")  # fmt: skip
    translate.add_argument("--json", metavar="PATH", help="write the report as JSON to a file; - is standard output")
    translate.add_argument("--quiet", action="store_true", help="print only the result")
    translate.set_defaults(module="translate")


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
