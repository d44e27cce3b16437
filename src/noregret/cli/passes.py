"""Several passes over the sentences of a file, for commands that train learners of structured output.

Features are extracted once. A model is saved now and then and at the end, with the number of sentences it has learned
of how many passes, so that an interrupted run goes on where it stopped.
"""

import argparse
import time
from collections.abc import Iterable
from typing import Any

from noregret.cli.interrupts import check_interrupt, defer_interrupts, ignore_interrupts
from noregret.cli.screen import Screen
from noregret.data.transcript import Transcript
from noregret.errors import BadValue
from noregret.structured.factored_learner import Encoded, FactoredLearner

HEAD = 9  # bytes of a model file: the size of its header, and how that begins
EVERY = 30.0  # seconds between checkpoints


def is_model(path: str) -> bool:
    """Whether a file is a saved model rather than text."""
    try:
        with open(path, "rb") as file:
            head = file.read(HEAD)
    except OSError:
        return False
    return len(head) == HEAD and head[-1:] == b"{" and head[4:8] == bytes(4)


def learn_passes(
    args: argparse.Namespace, screen: Screen, learner: FactoredLearner, path: str, blocks: Iterable[tuple[Any, Any]]
) -> list[dict[str, Any]]:
    """Learn a file in several passes, predicting every sentence before it is learned; returns what each pass erred."""
    report: list[dict[str, Any]] = []
    done = resumed_at(learner, path, args)
    saver = Saver(args.save, learner, path)
    encoded: list[Encoded] = []
    if not args.quiet:
        screen.note(f"{'pass':>4}  {'sentences':>9}  {'error while learning':>20}  {'seconds':>8}")
    try:
        for number in range(args.passes):
            source = (learner.encode(*block) for block in blocks) if number == 0 else encoded
            began, wrong, parts, seen, next_line = time.monotonic(), 0.0, 0, 0, 64
            for block in source:
                check_interrupt()
                if parts and ((number == 0 and seen >= next_line) or screen.due()):
                    screen.show((), (), line(number, seen, wrong, parts, began))
                    next_line = 2 * seen
                if number == 0:
                    encoded.append(block)
                seen += len(block)
                if number * BIG + seen <= done:
                    continue
                with defer_interrupts():
                    played = learner.play(block)
                    saver.saw(number, seen)
                wrong, parts = wrong + count_wrong(learner, played), parts + sum(map(len, block.inputs))
            if not seen:
                raise BadValue(f"{path}: has no sentences to learn from")
            if parts:
                report.append({"sentences": seen, "error": wrong / parts, "seconds": time.monotonic() - began})
                screen.note(line(number, seen, wrong, parts, began))
    except KeyboardInterrupt:
        with ignore_interrupts():
            saver.save()
        if args.save is not None:
            screen.note(f"stopped; saved to {args.save}: go on with --resume {args.save}")
        raise
    saver.save(ended=True)
    if args.save is not None:
        screen.note(f"learned: {learner.rounds:,} rounds; saved to {args.save}")
    return report


BIG = 1 << 40  # more sentences than a file has


def line(number: int, seen: int, wrong: float, parts: int, began: float) -> str:
    error = f"{100 * wrong / max(parts, 1):.2f} %"
    return f"{number + 1:>4}  {seen:>9,}  {error:>20}  {time.monotonic() - began:>8.1f}"


def resumed_at(learner: FactoredLearner, path: str, args: argparse.Namespace) -> int:
    """How far a model that is resumed has come in this file: pass and sentence in one number; otherwise 0."""
    saved = learner.source or {}
    if args.resume is None or saved.get("file") != path or saved.get("ended") is not False:
        return 0
    number, sentence = saved.get("pass"), saved.get("sentence")
    if type(number) is not int or type(sentence) is not int or not (0 <= number < BIG and 0 <= sentence < BIG):
        raise BadValue(f"{args.resume}: the position to resume from is damaged; learn from the start instead")
    return number * BIG + sentence


class Saver:
    """Saves the model every few seconds, with the position in the file."""

    def __init__(self, path: str | None, learner: FactoredLearner, file: str) -> None:
        self.path, self.learner, self.file = path, learner, file
        self.at, self.saved = (0, 0), time.monotonic()

    def saw(self, number: int, seen: int) -> None:
        self.at = number, seen
        if time.monotonic() - self.saved > EVERY:
            self.save()

    def save(self, ended: bool = False) -> None:
        if self.path is not None:
            place = {"pass": self.at[0], "sentence": self.at[1]}
            self.learner.source = {"name": self.file, "file": self.file, "ended": ended, **place}
            self.learner.save(self.path)
            self.saved = time.monotonic()


def count_wrong(learner: FactoredLearner, played: Transcript) -> float:
    """Wrong parts as predicted: the loss, unless that is -log p."""
    if not learner.learner.model.task.scores_are_log_odds:
        return float(played.losses.sum())
    pairs = zip(played.predictions, played.truth, strict=True)
    return float(sum(a != b for one, other in pairs for a, b in zip(one, other, strict=True)))
