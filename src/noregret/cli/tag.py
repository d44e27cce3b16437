"""`noregret tag`: train a tagger on sentences with tags, measure it on others, tag new text."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import IO, Any

from noregret.cli.learner_names import add_settings, find_variant
from noregret.cli.output import open_output, write_json
from noregret.cli.passes import is_model, learn_passes
from noregret.cli.screen import Screen
from noregret.cli.setup import check_outputs
from noregret.data.sentences import Sentence
from noregret.errors import BadValue
from noregret.evaluation.report import SCHEMA
from noregret.evaluation.tagging import TagCounts
from noregret.learner.factory import make
from noregret.learner.model_file import load
from noregret.streams.conllu import Columns, read_blocks, read_sentences
from noregret.structured.crf import CRF
from noregret.structured.tagger import Tagger
from noregret.version import __version__

BLOCK = 512  # sentences that are tagged in one go
UPOS, FIELDS = 3, 10  # where a line of CoNLL-U has the tag, and how many fields it has


def run(args: argparse.Namespace) -> int:
    check_outputs({"--json": args.json, "--save": args.save, "--out": args.out}, args.files)
    screen = Screen(args.quiet, piped=args.json == "-" or args.out == "-")
    first, *others = args.files
    if args.out is not None and len(others) != 1:
        raise BadValue("--out writes the tags of one file: give the training file or the model, then that file")
    report: dict[str, Any] = {"schema": SCHEMA, "noregret": __version__, "command": ["noregret", *args.command_line]}
    if is_model(first):
        learner = load_tagger(first)
        if not others:
            raise BadValue(f"{first} is a model: give the files to tag after it, or `noregret show {first}`")
    else:
        learner = make_tagger(args)
        passes = learn_passes(args, screen, learner, first, tagged_blocks(args, first))
        report["passes"] = passes.report
        report["sentences"] = learner.rounds
    report["tests"] = {path: tag_file(args, screen, learner, path) for path in others}
    write_json(args.json, report)
    return 0


def make_tagger(args: argparse.Namespace) -> Tagger:
    """A fresh tagger with the options given, or the one that is resumed."""
    if args.resume is not None:
        return load_tagger(args.resume)
    (variant,) = add_settings(args.set, [find_variant(args.learner)])
    options = {"average": True} if args.average else {}
    if variant.card.kind == CRF.kind:
        tagger = make(variant.card, **{"order": args.order, **variant.options}, **options)
    else:
        learner = make(variant.card, **variant.options, **options)
        tagger = make("tagger", learner=learner, order=args.order)
    assert isinstance(tagger, Tagger)
    return tagger


def load_tagger(path: str) -> Tagger:
    learner = load(path)
    if not isinstance(learner, Tagger):
        raise BadValue(f"{path}: this is a model of {learner.card.name}, not of tagger")
    return learner


# ---- sentences -------------------------------------------------------------------------------------------------------


def open_sentences(args: argparse.Namespace, path: str, keep_lines: bool = False) -> Iterator[Sentence]:
    """The sentences of a file: CoNLL-U, a table of tokens (--columns), or text with a sentence in every line."""
    if args.columns is not None:
        word, _, tag = args.columns.partition(",")
        if not word.isdigit() or not (tag.isdigit() or not tag):
            raise BadValue(f"--columns takes the numbers of the columns of word and tag, as in 1,2, not {args.columns}")
        return read_sentences(path, Columns(int(word), int(tag) if tag else None), keep_lines)
    if path.removesuffix(".gz").removesuffix(".xz").endswith(".txt"):
        return read_text(path)
    return read_sentences(path, keep_lines=keep_lines)


def read_text(path: str) -> Iterator[Sentence]:
    """Text with a sentence in every line, its tokens separated by spaces."""
    try:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if words := line.split():
                    yield Sentence(tuple(words), file=path, line=number, number=number)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise BadValue(f"{path}: cannot be read: {reason}") from None


def tags_of(args: argparse.Namespace, sentence: Sentence) -> Sequence[str] | None:
    return sentence.xpos if args.tags == "xpos" and args.columns is None else sentence.upos


def tagged_blocks(args: argparse.Namespace, path: str) -> Iterator[tuple[list[Any], list[Any]]]:
    """Words and tags of a training file, block after block."""
    for block in read_blocks(open_sentences(args, path), BLOCK):
        truths = [tags_of(args, one) for one in block]
        for one, truth in zip(block, truths, strict=True):
            if truth is None:
                raise BadValue(f"{one.place}: it has no tags to learn from; name their column with --tags or --columns")
        yield [one.words for one in block], truths


# ---- tagging ---------------------------------------------------------------------------------------------------------


def tag_file(args: argparse.Namespace, screen: Screen, learner: Tagger, path: str) -> dict[str, Any]:
    """Tag a file; compare with its tags where it has any, and write the tags where they are asked for."""
    counts, done = TagCounts(), 0
    with open_output(args.out or "-", "the tags") if args.out else no_file() as out:
        for block in read_blocks(open_sentences(args, path, keep_lines=out is not None), BLOCK):
            found = learner.predict([one.words for one in block])
            known = [(truth, tags) for one, tags in zip(block, found, strict=True) if (truth := tags_of(args, one))]
            counts.add([truth for truth, _ in known], [tags for _, tags in known])
            done += len(block)
            if out is not None:
                for one, tags in zip(block, found, strict=True):
                    write_sentence(args, out, one, tags)
            if screen.due():
                screen.show((), (), f"{path}: {done:,} sentences tagged")
    if args.json != "-" and args.out != "-" and (counts.tokens or args.out is None):
        sys.stdout.write(f"{counts.describe(path)}\n")
    if args.out not in (None, "-"):
        screen.note(f"{done:,} sentences written to {args.out}")
    return counts.report() if counts.tokens else {"sentences": done}


class no_file:  # noqa: N801 (used as `open_output` is)
    """Nothing is written."""

    def __enter__(self) -> IO[str] | None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


def write_sentence(args: argparse.Namespace, out: IO[str], sentence: Sentence, tags: Sequence[str]) -> None:
    """A sentence with its tags: the lines of the file with the tags in their column, or word/tag."""
    if sentence.lines is None:
        out.write(" ".join(f"{word}/{tag}" for word, tag in zip(sentence.words, tags, strict=True)) + "\n")
        return
    rest = iter(tags)
    column = UPOS + (args.tags == "xpos")
    if args.columns is not None:
        column = int(args.columns.partition(",")[2] or 0) - 1
    for line in sentence.lines:
        fields = line.split("\t")
        if is_token(line, fields, args.columns is not None):
            tag = str(next(rest))
            fields = [*fields, tag] if column < 0 else [*fields[:column], tag, *fields[column + 1 :]]
        out.write("\t".join(fields) + "\n")
    out.write("\n")


def is_token(line: str, fields: Sequence[str], table: bool) -> bool:
    """Whether a line holds a token: in CoNLL-U no comment, multiword token or empty node."""
    return bool(line.strip()) if table else len(fields) == FIELDS and fields[0].isdigit()
