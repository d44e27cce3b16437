"""`noregret recommend`: learn ratings of items by users, and say which items a user will probably like."""

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from noregret.cli.interrupts import check_interrupt, defer_interrupts, exit_code, ignore_interrupts
from noregret.cli.load_learner import load_learner
from noregret.cli.output import write_json
from noregret.cli.passes import is_model
from noregret.cli.rating_columns import RatingFile, open_ratings, say_rating
from noregret.cli.screen import Screen
from noregret.cli.setup import check_outputs, given_read_options
from noregret.data.batch import Batch
from noregret.decomposition.rating_columns import RATING
from noregret.decomposition.rating_learner import RatingLearner
from noregret.errors import BadValue
from noregret.evaluation.checkpoint import Checkpoints, check_options, fingerprint_source, restore_options
from noregret.evaluation.play import locate_error
from noregret.evaluation.report import SCHEMA, count_of, describe_skipped, report_head
from noregret.learner.factory import make
from noregret.learner.variants import parse_value
from noregret.version import __version__

FIRST = 1024  # ratings before the first line of progress
LEAST_DEVIATION = 0.02  # of ratings, as a share of their scale
FILLS_LITTLE = (
    "the ratings fill little of the scale from {0.minimum:g} to {0.maximum:g}, so that factors are learned badly; "
    "choose a scale that they fill (--scale LOW HIGH), or learn their logarithms"
)
HEAD = ("ratings", "users", "items", "RMSE", "biases", "mean")
FOR_NEW_MODELS = ("model", "method", "scale", "set")
FOR_DATA = ("save", "resume", "columns", *FOR_NEW_MODELS)


def run(args: argparse.Namespace) -> int:
    if args.seed < 0:
        raise BadValue(f"--seed must not be negative, not {args.seed}")
    if args.save == "-":
        raise BadValue("--save -: a model is saved to a file; name one")
    path = args.save or args.resume
    check_outputs({"--save": path, "--json": args.json}, args.data)
    if is_model(args.data[0]):
        return answer_only(args)
    screen = Screen(args.quiet, piped=args.json == "-")
    given = given_read_options(args)
    if args.resume:
        learner = resume_model(args)
        given = {**given, **check_options(learner, given, args.resume)}
        file = open_ratings(args, {**restore_options(learner, given), **given})
    else:
        learner, file = make_model(args), open_ratings(args, given)
    if file.left_out:
        screen.note(f"columns that are not read: {', '.join(file.left_out)}")
    fingerprint = fingerprint_source(file.source, args.data, args.seed)
    checkpoints = Checkpoints(learner, file.source, path, every=args.every, fingerprint=fingerprint, options=given)
    command = RecommendCommand(args, learner, checkpoints, screen, file)
    screen.announce(file.source)
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


def make_model(args: argparse.Namespace) -> RatingLearner:
    """A new learner of ratings."""
    options: dict[str, Any] = {"seed": args.seed}
    options |= {name: getattr(args, name) for name in ("model", "method") if getattr(args, name) is not None}
    if args.scale is not None:
        options["minimum"], options["maximum"] = args.scale
    for setting in args.set:
        key, equal, value = setting.partition("=")
        if not equal:
            raise BadValue(f"--set takes NAME=VALUE, as in k=20, not {setting}")
        options[key.strip()] = parse_value(value)
    found = make("factorisation", **options)
    assert isinstance(found, RatingLearner)
    return found


def load_model(path: str) -> RatingLearner:
    learner = load_learner(path)
    if not isinstance(learner, RatingLearner):
        raise BadValue(f"{path} was learned by {learner.card.name}, which does not learn ratings")
    return learner


def resume_model(args: argparse.Namespace) -> RatingLearner:
    """A saved learner, which goes on as it was made."""
    for name in FOR_NEW_MODELS:
        if getattr(args, name) not in (None, []):
            raise BadValue(f"--{name} is for a new model; {args.resume} goes on as it was made")
    return load_model(args.resume)


def answer_only(args: argparse.Namespace) -> int:
    """Recommend by a saved model; nothing is learned."""
    path, *others = args.data
    if others:
        raise BadValue(f"{path} is a model; to learn more ratings: noregret recommend {others[0]} --resume {path}")
    for name in FOR_DATA:
        if getattr(args, name) not in (None, []):
            raise BadValue(f"{path} is a model, and nothing is learned; leave --{name} out")
    learner = load_model(path)
    if not args.user:
        raise BadValue(f"{path} is a model: name users with --user, or see `noregret show {path}`")
    answers = recommend(learner, args, Screen(args.quiet, piped=args.json == "-"))
    report = {"schema": SCHEMA, "noregret": __version__, "command": ["noregret", *args.command_line]}
    write_json(args.json, {**report, **describe(learner), "recommendations": answers})
    print_answers(answers, args)
    return 0


class RecommendCommand:
    """A learner going through ratings, with its error beside those of the baselines on the screen."""

    def __init__(
        self, args: Any, learner: RatingLearner, checkpoints: Checkpoints, screen: Screen, file: RatingFile
    ) -> None:
        self.args, self.learner, self.checkpoints, self.screen, self.file = args, learner, checkpoints, screen, file
        self.source, self.learned, self.next = file.source, 0, FIRST
        self.skips, self.skipped = args.on_bad == "skip", 0

    def learn(self) -> None:
        batches = self.checkpoints.batches()
        while (batch := self.next_batch(batches)) is not None:
            check_interrupt()
            self.play(batch)
            self.show(batch.progress)
        if not self.learned and self.skipped:
            raise BadValue(f"{self.source.name}: no rating can be used, and all rows were skipped (--on-bad skip)")
        if not self.learned:
            raise BadValue(f"{self.source.name}: nothing is left: all its ratings are learned already; give new ones; "
                           "to recommend without learning: noregret recommend MODEL --user ID")  # fmt: skip

    def next_batch(self, batches: Iterator[Batch]) -> Batch | None:
        """The next ratings; an error of their reader is about ratings, not about labels."""
        try:
            return next(batches, None)
        except BadValue as error:
            raise say_rating(error, self.file.columns.get(RATING)) from None

    def play(self, batch: Batch) -> None:
        try:
            pairs, ratings = self.read(batch) if self.skips else (self.file.read(batch.X), batch.y)
            with defer_interrupts():
                self.learner.learn(pairs, ratings)
                self.learned += len(pairs)
                self.skipped += batch.rows - len(pairs)
                self.checkpoints.advance()
        except BadValue as error:
            raise locate_error(error, self.source, batch) from None

    def read(self, batch: Batch) -> tuple[list[Any], list[Any]]:
        """The pairs and ratings of a batch without rows that lack a user or an item, or are outside of the scale."""
        pairs, ratings = list[Any](), list[Any]()
        while batch.rows:
            try:
                found = self.file.read(batch.X)
                self.learner.check_ratings(None, batch.y, batch.rows)
            except BadValue as error:
                if error.row is None:
                    raise
                before, batch = batch.cut(0, error.row), batch.cut(error.row + 1, batch.rows)
                found, usable = self.read(before)
                pairs, ratings = pairs + found, ratings + usable
            else:
                return pairs + found, ratings + list(batch.y)
        return pairs, ratings

    # ---- output --------------------------------------------------------------------------------------------------

    def show(self, done: float | None) -> None:
        """On a terminal a table, now and then; in a pipe a line whenever the ratings have doubled."""
        if self.screen.is_live:
            if self.screen.due():
                self.screen.show(HEAD, [self.cells()], self.screen.progress(self.learned, done))
        elif not (self.screen.quiet or self.screen.piped) and self.learned >= self.next and done != 1.0:
            self.write_line(self.next == FIRST)
            while self.next <= self.learned:
                self.next *= 2
            sys.stdout.flush()

    def cells(self) -> tuple[str, ...]:
        sizes = (self.learner.rounds, len(self.learner.users), len(self.learner.items))
        return (*(f"{size:,}" for size in sizes), *(f"{error:.4f}" for error in self.learner.progress))

    def write_line(self, head: bool) -> None:
        if head:
            sys.stdout.write("".join(f"{name:>12}" for name in HEAD) + "\n")
        sys.stdout.write("".join(f"{cell:>12}" for cell in self.cells()) + "\n")

    def finish(self, interrupted: bool, path: str | None) -> None:
        """The error at the end, and what the users asked for will probably like."""
        if not self.learner.rounds:
            self.screen.note("stopped before anything was learned")
            return
        self.source.skipped += self.skipped
        for text in describe_skipped(self.source):
            self.screen.warn(text)
        if fills_little(self.learner):
            self.screen.warn(FILLS_LITTLE.format(self.learner))
        answers = recommend(self.learner, self.args, self.screen)
        head = report_head(self.args.command_line, self.source, ratings=self.learned)
        more = {"ratings_learned": self.learned, "saved": path, "interrupted": interrupted}
        write_json(self.args.json, {**head, **describe(self.learner), **more, "recommendations": answers})
        if self.args.json == "-":
            return
        if not self.screen.quiet:
            self.write_line(self.next == FIRST)
        saved = f"saved to {path}" if path else "not saved (--save PATH saves the model)"
        rmse, biases, mean = self.learner.progress
        learned = f"{'stopped' if interrupted else 'learned'}: {count_of(self.learner.rounds, 'rating')}"
        sys.stdout.write(
            f"{learned}, RMSE {rmse:.4f} before learning (biases alone {biases:.4f}, mean {mean:.4f}); {saved}\n"
        )
        print_answers(answers, self.args)


def fills_little(learner: RatingLearner) -> bool:
    """Whether ratings differ so little beside their scale that factors, which start at random, err by more."""
    shares = learner.state.known.ratings[: learner.state.ratings]
    return 0.0 < float(shares.std()) < LEAST_DEVIATION


def describe(learner: RatingLearner) -> dict[str, Any]:
    """A learner in a report."""
    return {
        "learner": learner.card.name,
        "params": learner.params,
        "ratings": learner.rounds,
        "users": len(learner.users),
        "items": len(learner.items),
        "rmse": learner.progress._asdict(),
    }


def recommend(learner: RatingLearner, args: argparse.Namespace, screen: Screen) -> list[dict[str, Any]]:
    """The items with the highest predicted ratings for every user asked for."""
    answers = []
    for text in args.user:
        user = find_user(learner, text)
        if user is None:
            screen.warn(f"no rating of the user {text!r} was learned; these are items that are good for everyone")
        found = learner.recommend(text if user is None else user, args.top)
        items = [{"item": item, "rating": rating} for item, rating in found]
        answers.append({"user": text, "known": user is not None, "items": items})
    return answers


def find_user(learner: RatingLearner, text: str) -> Any:
    """A user by what was typed: a text, or the number that it writes; None where neither is known."""
    names = learner.user_numbers
    if text in names:
        return text
    return int(text) if text.removeprefix("-").isdecimal() and int(text) in names else None


def printable(name: object) -> str:
    """A name on one line, without characters that a terminal would obey."""
    return "".join(one if one.isprintable() else "�" for one in str(name))


def print_answers(answers: list[dict[str, Any]], args: argparse.Namespace) -> None:
    if args.json == "-":
        return
    for answer in answers:
        sys.stdout.write(f"\nuser {answer['user']}\n")
        for number, one in enumerate(answer["items"], start=1):
            sys.stdout.write(f"{number:>5}{one['rating']:>9.3f}  {printable(one['item'])}\n")
        if not answer["items"]:
            sys.stdout.write("     every item is rated\n")
