"""`noregret rerank`: rerank n-best lists, learning every reference after its list; BLEU and TER before and after."""

import argparse
import sys
import time
from contextlib import nullcontext
from itertools import islice
from typing import IO, Any

from noregret.cli.interrupts import check_interrupt, defer_interrupts, ignore_interrupts
from noregret.cli.learner_names import add_settings, find_variant
from noregret.cli.load_learner import load_learner
from noregret.cli.output import open_output, write_json
from noregret.cli.screen import Screen
from noregret.cli.setup import check_outputs
from noregret.data.candidate_lists import CandidateList
from noregret.errors import BadValue
from noregret.evaluation.report import SCHEMA
from noregret.evaluation.reranking import HEAD, RerankingCounts
from noregret.learner.factory import make
from noregret.loglinear.list_player import ListPlayer
from noregret.rules.rule_card import RuleCard
from noregret.streams.candidate_lists import read_lists
from noregret.version import __version__

BLOCK = 16  # lists that are learned in one go
EVERY = 30.0  # seconds between checkpoints
MAKING = ("learner", "set", "mode", "quality")  # options of a fresh learner
USUAL = "adaptive_reranker"


def run(args: argparse.Namespace) -> int:
    check_outputs({"--json": args.json, "--save": args.save, "--out": args.out}, [args.file])
    if args.save is None:
        args.save = args.resume
    screen = Screen(args.quiet, piped="-" in (args.json, args.out))
    learner = resume_learner(args) if args.resume is not None else make_learner(args)
    command = Reranking(args, learner, screen)
    with open_output(args.out, "the chosen texts") if args.out else nullcontext() as out:
        command.learn(out)
    write_json(args.json, command.report())
    if "-" not in (args.json, args.out):
        sys.stdout.write(f"{command.counts.describe()}\n")
    return 0


def make_learner(args: argparse.Namespace) -> ListPlayer:
    """A reranker by name, or the adaptive one with a rule."""
    variant = find_variant(args.learner or USUAL)
    if variant.card.kind not in RERANKERS and not isinstance(variant.card, RuleCard):
        raise BadValue(f"{variant.card.name} does not rerank lists; give {', '.join(RERANKERS)}, or a rule such as pa1")
    options: dict[str, Any] = {} if args.quality is None else {"quality": args.quality}
    (variant,) = add_settings(args.set, [variant])
    if variant.card.kind == USUAL:
        options |= {} if args.mode is None else {"mode": args.mode}
        found = make(variant.card, **{**options, **variant.options})
    elif variant.card.kind in RERANKERS:
        if args.mode is not None:
            raise BadValue(f"--mode is for {USUAL} and rules, not for {variant.card.name}")
        found = make(variant.card, **{**options, **variant.options})
    else:
        learner = args.learner if args.learner == "mira" else str(variant)
        found = make(USUAL, learner=learner, mode=args.mode or "combined", **options)
    assert isinstance(found, ListPlayer)
    return found


def resume_learner(args: argparse.Namespace) -> ListPlayer:
    """The reranker of a model file."""
    for name in MAKING:
        if getattr(args, name):
            raise BadValue(f"--resume goes on with the learner of the model; leave --{name} out")
    found = load_learner(args.resume)
    if not isinstance(found, ListPlayer):
        raise BadValue(f"{args.resume}: this is a model of {found.card.name}, which does not rerank lists")
    return found


class Reranking:
    """A reranker going through a file, with checkpoints and progress."""

    def __init__(self, args: argparse.Namespace, learner: ListPlayer, screen: Screen) -> None:
        self.args, self.learner, self.screen = args, learner, screen
        self.counts = RerankingCounts()
        self.done = self.resumed_at()
        self.skipped, self.began = self.done, time.monotonic()
        self.saved = self.began
        self.curve: list[dict[str, Any]] = []

    def resumed_at(self) -> int:
        """How many lists of this file a model that was interrupted in it has learned."""
        saved = self.learner.source or {}
        if saved.get("file") != self.args.file or saved.get("ended") is not False:
            return 0
        lists = saved.get("lists")
        if type(lists) is not int or not 0 <= lists <= self.learner.rounds:
            raise BadValue(f"{self.args.resume}: the position to resume from is damaged; rerank from the start instead")
        return lists

    def learn(self, out: IO[str] | None) -> None:
        """Play all lists, block by block."""
        lists = islice(read_lists(self.args.file), self.skipped, self.args.limit)
        if not self.args.quiet:
            self.screen.note(HEAD)
        following = 64
        try:
            while block := list(islice(lists, BLOCK)):
                check_interrupt()
                with defer_interrupts():
                    self.play(block, out)
                if self.counts.lists >= following or self.screen.due():
                    self.mark()
                    following = 2 * self.counts.lists
        except KeyboardInterrupt:
            with ignore_interrupts():
                self.save(ended=False)
            if self.args.save is not None:
                self.screen.note(f"stopped; saved to {self.args.save}: go on with --resume {self.args.save}")
            raise
        if not self.counts.lists:
            raise BadValue(f"{self.args.file}: all {self.skipped:,} lists were learned before")
        self.mark()
        self.save(ended=True)
        if self.args.save is not None:
            self.screen.note(f"learned: {self.learner.rounds:,} lists; saved to {self.args.save}")

    def play(self, block: list[CandidateList], out: IO[str] | None) -> None:
        try:
            places = self.learner.play(block).predictions.tolist()
        except BadValue as error:
            if error.row is None:
                raise
            text = str(error).removeprefix(f"row {error.row}: ")
            raise BadValue(f"{block[error.row].place}: {text}") from None
        self.counts.add(block, places)
        self.done += len(block)
        if out is not None:
            out.writelines(f"{one.texts[place]}\n" for one, place in zip(block, places, strict=True) if one.texts)
        if self.args.save is not None and time.monotonic() - self.saved > EVERY:
            self.save(ended=False)

    def mark(self) -> None:
        """A line of progress, and a point of the curve."""
        if self.curve and self.curve[-1]["lists"] == self.counts.lists:
            return
        self.screen.note(self.counts.line())
        outputs = self.counts.outputs
        self.curve.append({"lists": self.counts.lists, **{name: one.bleu for name, one in outputs.items()}})

    def save(self, ended: bool) -> None:
        if self.args.save is not None:
            name = self.args.file
            self.learner.source = {"name": name, "file": name, "lists": self.done, "ended": ended}
            self.learner.save(self.args.save)
            self.saved = time.monotonic()

    def report(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "noregret": __version__,
            "command": ["noregret", *self.args.command_line],
            "file": self.args.file,
            "learner": self.learner.card.name,
            "params": self.learner.params,
            "skipped": self.skipped,
            **self.counts.report(),
            "curve": self.curve,
            "seconds": time.monotonic() - self.began,
            "saved": self.args.save,
        }


RERANKERS = ("adaptive_reranker", "ridge_reranker", "bayesian_reranker", "loglinear_reranker")
