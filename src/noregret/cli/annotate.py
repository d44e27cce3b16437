"""What commands that annotate sentences have in common: train on a file or load a model, measure on others, write."""

import argparse
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any, ClassVar, Protocol

from noregret.cli.learner_names import add_settings, find_variant
from noregret.cli.load_learner import load_learner
from noregret.cli.output import open_output, write_json
from noregret.cli.passes import is_model, learn_passes
from noregret.cli.screen import Screen
from noregret.cli.setup import check_outputs
from noregret.data.sentences import Sentence
from noregret.errors import BadValue
from noregret.evaluation.report import SCHEMA
from noregret.learner.factory import make
from noregret.learner.variants import Variant
from noregret.streams.conllu import read_blocks
from noregret.structured.factored_learner import FactoredLearner
from noregret.version import __version__

MAKING = ("learner", "set", "average", "order", "crossing", "bits")  # options of a fresh learner


class Counts(Protocol):
    """Compares annotations with the right ones."""

    @property
    def total(self) -> int: ...

    def add(self, truths: Sequence[Any], predictions: Sequence[Any]) -> None: ...

    def report(self) -> dict[str, Any]: ...

    def describe(self, name: str) -> str: ...


class Annotation(ABC):
    """A command: what it learns, reads, compares and writes."""

    kind: ClassVar[type[FactoredLearner]]
    verb: ClassVar[tuple[str, str]]  # what it does with sentences: tag, tagged
    what: ClassVar[str]  # what it writes
    block: ClassVar[int] = 512  # sentences that are annotated in one go

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args

    @abstractmethod
    def make(self, variant: Variant, options: dict[str, Any]) -> Any:
        """A fresh learner of the kind, for a rule and its options."""

    @abstractmethod
    def read(self, path: str, keep_lines: bool) -> Iterator[Sentence]:
        """The sentences of a file, which can be annotated."""

    @abstractmethod
    def truth(self, sentence: Sentence) -> Any:
        """The right annotation of a sentence; None where the file has none."""

    @abstractmethod
    def demand_truth(self, sentence: Sentence) -> Any:
        """The same of a sentence to learn from; an error names its place where it has none."""

    @abstractmethod
    def input(self, sentence: Sentence) -> Any:
        """A sentence as the learner takes it."""

    @abstractmethod
    def write(self, sentence: Sentence, found: Any) -> str:
        """A sentence with its annotation, as text."""

    @abstractmethod
    def counts(self) -> Counts:
        """An empty comparison."""

    # ---- the command -------------------------------------------------------------------------------------------------

    def run(self) -> int:
        args = self.args
        check_outputs({"--json": args.json, "--save": args.save, "--out": args.out}, args.files)
        screen = Screen(args.quiet, piped=args.json == "-" or args.out == "-")
        first, *others = args.files
        if args.out is not None and len(others) != 1:
            raise BadValue(f"--out writes {self.what} of one file: give the file to learn or the model, then that file")
        report: dict[str, Any] = {
            "schema": SCHEMA, "noregret": __version__, "command": ["noregret", *args.command_line]
        }  # fmt: skip
        if is_model(first):
            self.refuse_options(f"{first} is a model, which is not trained here", (*MAKING, "save", "resume"))
            learner = self.load(first)
            if not others:
                raise BadValue(
                    f"{first} is a model: give the files to {self.verb[0]} after it, or `noregret show {first}`"
                )
        else:
            learner = self.make_or_resume()
            report["passes"] = learn_passes(args, screen, learner, first, self.rounds(first))
            report["sentences"] = learner.rounds
        report["tests"] = {path: self.annotate(screen, learner, path) for path in others}
        write_json(args.json, report)
        return 0

    def make_or_resume(self) -> FactoredLearner:
        """A fresh learner with the options given, or the one that is resumed."""
        if self.args.resume is not None:
            self.refuse_options("--resume goes on with the learner of the model", MAKING)
            return self.load(self.args.resume)
        (variant,) = add_settings(self.args.set, [find_variant(self.args.learner or self.args.usual)])
        made = self.make(variant, {"average": True} if self.args.average else {})
        assert isinstance(made, self.kind)
        return made

    def refuse_options(self, reason: str, names: Sequence[str]) -> None:
        """Refuse options that would have no effect."""
        if given := [name for name in names if getattr(self.args, name, None)]:
            raise BadValue(f"{reason}; leave --{given[0]} out")

    def load(self, path: str) -> FactoredLearner:
        learner = load_learner(path)
        if not isinstance(learner, self.kind):
            raise BadValue(f"{path}: this is a model of {learner.card.name}, not of {self.kind.card.name}")
        return learner

    def rounds(self, path: str) -> Iterator[tuple[list[Any], list[Any]]]:
        """The sentences of a file with their annotation, block after block."""
        for block in read_blocks(self.read(path, keep_lines=False), self.block):
            yield [self.input(one) for one in block], [self.demand_truth(one) for one in block]

    def annotate(self, screen: Screen, learner: FactoredLearner, path: str) -> dict[str, Any]:
        """Annotate a file; compare where it is annotated already, and write where that is asked for."""
        counts, done, target = self.counts(), 0, self.args.out
        with open_output(target, self.what) if target else nullcontext() as out:
            for block in read_blocks(self.read(path, keep_lines=out is not None), self.block):
                found = learner.predict([self.input(one) for one in block])
                truths = [self.truth(one) for one in block]
                known = [at for at, truth in enumerate(truths) if truth is not None]
                counts.add([truths[at] for at in known], [found[at] for at in known])
                done += len(block)
                if out is not None:
                    out.writelines(self.write(one, tags) for one, tags in zip(block, found, strict=True))
                if screen.due():
                    screen.show((), (), f"{path}: {done:,} sentences {self.verb[1]}")
        if self.args.json != "-" and target != "-" and (counts.total or target is None):
            sys.stdout.write(f"{counts.describe(path)}\n")
        if target not in (None, "-"):
            screen.note(f"{done:,} sentences written to {target}")
        return counts.report() if counts.total else {"sentences": done}


def make_rule(variant: Variant, options: dict[str, Any]) -> Any:
    """The rule learner that a variant names."""
    return make(variant.card, **variant.options, **options)
