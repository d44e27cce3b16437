"""`noregret topics`: the topics of documents, with their words and their shares over time, while they are learned."""

import argparse
import math
import sys
from collections.abc import Sequence
from typing import Any

from noregret.cli.interrupts import check_interrupt, defer_interrupts, exit_code, ignore_interrupts
from noregret.cli.load_learner import load_learner
from noregret.cli.output import write_json
from noregret.cli.screen import Screen
from noregret.cli.setup import check_outputs, given_read_options
from noregret.cli.topic_documents import open_documents
from noregret.data.batch import Batch
from noregret.decomposition.topic_model import DOCUMENTS, Topic, TopicModel
from noregret.errors import BadValue
from noregret.evaluation.checkpoint import Checkpoints, check_options, fingerprint_source, restore_options
from noregret.evaluation.play import locate_error
from noregret.evaluation.report import count_of, report_head
from noregret.evaluation.tables import sparkline
from noregret.evaluation.topic_history import TopicHistory
from noregret.learner.factory import make
from noregret.learner.variants import parse_value
from noregret.streams import Source

POINTS = 24  # of a curve on the screen
FIRST = 1024  # documents before topics are printed for the first time
FEW_LETTERS = 30  # of words in a line of the live table, below which the curves are left out
SHOWN = 5  # topics that are printed on the way
FOR_NEW_MODELS = ("k", "learner", "set", "stop_words", "least_documents", "most_share")
LEARNERS = ("lda", "hdp")


def run(args: argparse.Namespace) -> int:
    if args.seed < 0:
        raise BadValue(f"--seed must not be negative, not {args.seed}")
    if args.save == "-":
        raise BadValue("--save -: a model is saved to a file; name one")
    path = args.save or args.resume
    check_outputs({"--save": path, "--json": args.json, "--plot": args.plot}, [*args.data, args.vocabulary])
    screen = Screen(args.quiet, piped=args.json == "-")
    given = given_read_options(args)
    if args.resume:
        learner = resume_model(args)
        given = {**given, **check_options(learner, given, args.resume)}
        source, reader = open_documents(args, {**restore_options(learner, given), **given})
    else:
        learner = make_model(args)
        source, reader = open_documents(args, given)
    if reader.columns:
        given["text"] = list(reader.columns)  # so that a resumed run reads the same columns
    given[DOCUMENTS] = True  # so that other commands read new documents alike
    fingerprint = fingerprint_source(source, args.data, args.seed)
    checkpoints = Checkpoints(learner, source, path, every=args.every, fingerprint=fingerprint, options=given)
    command = TopicsCommand(args, learner, checkpoints, screen, reader)
    screen.announce(source)
    if (files := count_files(source)) > 1 and source.kind == "text":
        screen.note(
            f"{files:,} files, each line of which is a document; `noregret topics FOLDER` takes every file as one"
        )
    interrupted = False
    try:
        with screen.live():
            command.learn()
    except KeyboardInterrupt:
        interrupted = True
    with ignore_interrupts():
        checkpoints.save(ended=not interrupted)
    command.finish(interrupted, path)
    return exit_code() if interrupted else 0


def count_files(source: Source) -> int:
    """How many files a source reads in turn."""
    return len(getattr(source, "sources", [source]))


def make_model(args: argparse.Namespace) -> TopicModel[Any]:
    """A new topic model."""
    name = args.learner or LEARNERS[0]
    options: dict[str, Any] = {"stop_words": args.stop_words or "english", "seed": args.seed}
    options["least_documents"] = 2 if args.least_documents is None else args.least_documents
    options["most_share"] = 0.5 if args.most_share is None else args.most_share
    if args.k == 1 and name == "hdp":
        raise BadValue("--k is the most topics that hdp may use, at least 2, not 1")
    if args.k is not None:
        options["k" if name == "lda" else "t"] = args.k
        if name == "hdp" and args.k < 15:
            options["k"] = args.k
    for setting in args.set:
        key, equal, value = setting.partition("=")
        if not equal:
            raise BadValue(f"--set takes NAME=VALUE, as in tau0=64, not {setting}")
        options[key.strip()] = parse_value(value)
    found: TopicModel[Any] = make(name, **options)  # type: ignore[assignment]
    return found


def resume_model(args: argparse.Namespace) -> TopicModel[Any]:
    """A saved topic model, which goes on as it was made."""
    learner = load_learner(args.resume)
    if not isinstance(learner, TopicModel):
        raise BadValue(f"{args.resume} was learned by {learner.card.name}, which has no topics")
    for name in FOR_NEW_MODELS:
        if getattr(args, name) not in (None, []):
            raise BadValue(f"--{name.replace('_', '-')} is for a new model; {args.resume} goes on as it was made")
    return learner


def fit_words(rows: Sequence[Sequence[str]], width: int) -> tuple[Sequence[str], list[Sequence[str]]]:
    """The table of topics with as many words as fit on a line; without the curves where these leave little room."""
    head: Sequence[str] = ("topic", "share", "over time", "words")
    fixed = [max(map(len, column)) + 2 for column in zip(head[:3], *(row[:3] for row in rows), strict=True)]
    parts = (0, 1, 2) if width - sum(fixed) >= FEW_LETTERS else (0, 1)
    room = max(width - sum(fixed[part] for part in parts), len(head[3]))
    found: list[Sequence[str]] = [[*(row[part] for part in parts), shorten(row[3], room)] for row in rows]
    return [head[part] for part in (*parts, 3)], found


def shorten(words: str, room: int) -> str:
    """The first words of a text, as many as fit."""
    return words if len(words) <= room else words[: room + 1].rpartition(" ")[0] or words[:room]


class TopicsCommand:
    """A topic model going through documents, with its topics on the screen."""

    def __init__(self, args: Any, learner: Any, checkpoints: Checkpoints, screen: Screen, reader: Any) -> None:
        self.args, self.learner, self.checkpoints, self.screen, self.reader = args, learner, checkpoints, screen, reader
        self.source, self.history = checkpoints.source, TopicHistory()
        self.documents, self.loss, self.words, self.next = 0, 0.0, 0.0, FIRST

    def learn(self) -> None:
        for batch in self.checkpoints.batches():
            check_interrupt()
            self.play(batch)
            self.show(batch.progress)
        if not self.documents:
            raise BadValue(f"{self.source.name}: no document is left to be learned")
        there = self.source.describe().get("columns", self.reader.columns)
        missing = [column for column in self.reader.columns if column not in there]
        if missing:  # records of JSON need not have all columns, so that this is known at the end
            text = f"{self.source.name}: there is no column {missing[0]!r}; the columns are {', '.join(there)}"
            if not self.words:
                raise BadValue(text)
            self.screen.warn(text)
        if not self.words:
            raise BadValue(f"{self.source.name}: no word was learned: there are none, or --stop-words, "
                           "--least-documents or --most-share leave all of them out; in a table, name the columns of "
                           "text with --text")  # fmt: skip

    def play(self, batch: Batch) -> None:
        before = self.learner.words_scored
        try:
            transcript = self.learner.play(self.reader.read(batch.X, batch.y), weight=batch.weight)
        except BadValue as error:
            raise locate_error(error, self.source, batch) from None
        with defer_interrupts():
            self.history.see(transcript.scores, transcript.losses)
            self.documents += transcript.rounds
            self.loss += float(transcript.losses.sum())
            self.words += self.learner.words_scored - before
            self.checkpoints.advance()

    @property
    def perplexity(self) -> float | None:
        """exp(loss per word), where every document counts as it was before it was learned; None without words."""
        return math.exp(min(self.loss / self.words, 700.0)) if self.words else None

    # ---- output --------------------------------------------------------------------------------------------------

    def show(self, done: float | None) -> None:
        """On a terminal a table, now and then; in a pipe the largest topics whenever the documents have doubled."""
        if self.screen.is_live:
            if self.screen.due():
                topics = self.learner.topics(self.args.words)
                head, rows = fit_words([self.cells(topic) for topic in topics], self.screen.width)
                self.screen.show(head, rows, self.title(done))
            return
        if self.screen.quiet or self.screen.piped or self.documents < self.next or done == 1.0:
            return
        while self.next <= self.documents:
            self.next *= 2
        sys.stdout.write(f"{self.title(None)}\n")
        for topic in self.learner.topics(self.args.words)[:SHOWN]:
            sys.stdout.write(f"{topic.describe()}\n")
        sys.stdout.flush()

    def title(self, done: float | None) -> str:
        share = "" if done is None else f"{100 * min(done, 1.0):.0f} %  "
        perplexity = "" if self.perplexity is None else f", perplexity {self.perplexity:,.1f}"
        return f"{share}{count_of(self.documents, 'document')}, {self.learner.features:,} words known{perplexity}"

    def cells(self, topic: Topic) -> tuple[str, ...]:
        curve = self.history.curve(topic.number, POINTS)
        drawn = sparkline(curve)
        return str(topic.number), f"{100 * topic.share:.1f} %", drawn, " ".join(str(word) for word, _ in topic.words)

    def finish(self, interrupted: bool, path: str | None) -> None:
        """The topics at the end, and what else was asked for."""
        if not self.learner.rounds:
            self.screen.note("stopped before anything was learned")
            return
        topics = self.learner.topics(self.args.words)
        write_json(self.args.json, self.report(topics, interrupted, path))
        if self.args.plot is not None and self.documents:
            from noregret.plots import save_figure
            from noregret.plots.topics import topic_shares

            names = [(topic.number, " ".join(str(word) for word, _ in topic.words[:3])) for topic in topics]
            save_figure(topic_shares(self.history, names), self.args.plot, "--plot")
        if self.args.json == "-":
            return
        lines = [f"{'topic':>5}  {'share':>6}  {'over time':<{POINTS}}  words"]
        for number, share, drawn, words in map(self.cells, topics):
            lines.append(f"{number:>5}  {share:>6}  {drawn:<{POINTS}}  {words}")
        saved = f"saved to {path}" if path else "not saved (--save PATH saves the model)"
        lines.append(f"{'stopped' if interrupted else 'learned'}: {self.title(None)}; {saved}")
        sys.stdout.write("\n".join(lines) + "\n")

    def report(self, topics: list[Topic], interrupted: bool, path: str | None) -> dict[str, Any]:
        described = [
            {"topic": one.number, "share": one.share,
             "words": [{"word": word, "probability": probability} for word, probability in one.words]}
            for one in topics
        ]  # fmt: skip
        return {
            **report_head(self.args.command_line, self.source, documents=self.documents),
            "learner": self.learner.card.name,
            "params": self.learner.params,
            "seed": self.args.seed,
            "documents": self.documents,
            "documents_in_all": self.learner.rounds,
            "words": self.words,
            "vocabulary": self.learner.features,
            "perplexity": self.perplexity,
            "topics": described,
            "history": self.history.report(),
            "saved": path,
            "interrupted": interrupted,
        }
