"""`noregret parse`: train a dependency parser on a treebank, measure it on another, parse new sentences."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

from noregret.cli.learner_names import add_settings, find_variant
from noregret.cli.output import open_output, write_json
from noregret.cli.passes import is_model, learn_passes
from noregret.cli.screen import Screen
from noregret.cli.setup import check_outputs
from noregret.data.sentences import Sentence, check_tree
from noregret.errors import BadValue
from noregret.evaluation.parsing import ParseCounts
from noregret.evaluation.report import SCHEMA
from noregret.learner.factory import make
from noregret.learner.model_file import load
from noregret.streams.conllu import read_blocks, read_sentences
from noregret.streams.conllu_output import write_conllu
from noregret.structured.parser import Parser
from noregret.structured.parser_inputs import LONGEST, tree_of
from noregret.version import __version__

BLOCK = 256  # sentences that are parsed in one go


def run(args: argparse.Namespace) -> int:
    check_outputs({"--json": args.json, "--save": args.save, "--out": args.out}, args.files)
    screen = Screen(args.quiet, piped=args.json == "-" or args.out == "-")
    first, *others = args.files
    if args.out is not None and len(others) != 1:
        raise BadValue("--out writes the trees of one file: give the treebank or the model, then that file")
    report: dict[str, Any] = {"schema": SCHEMA, "noregret": __version__, "command": ["noregret", *args.command_line]}
    if is_model(first):
        learner = load_parser(first)
        if not others:
            raise BadValue(f"{first} is a model: give the files to parse after it, or `noregret show {first}`")
    else:
        learner = make_parser(args)
        report["passes"] = learn_passes(args, screen, learner, first, tree_blocks(first)).report
        report["sentences"] = learner.rounds
    report["tests"] = {path: parse_file(args, screen, learner, path) for path in others}
    write_json(args.json, report)
    return 0


def make_parser(args: argparse.Namespace) -> Parser:
    """A fresh parser with the options given, or the one that is resumed."""
    if args.resume is not None:
        return load_parser(args.resume)
    (variant,) = add_settings(args.set, [find_variant(args.learner)])
    options = {"average": True} if args.average else {}
    learner = make(variant.card, **variant.options, **options)
    parser = make("parser", learner=learner, projective=not args.crossing, bits=args.bits)
    assert isinstance(parser, Parser)
    return parser


def load_parser(path: str) -> Parser:
    learner = load(path)
    if not isinstance(learner, Parser):
        raise BadValue(f"{path}: this is a model of {learner.card.name}, not of parser")
    return learner


# ---- sentences -------------------------------------------------------------------------------------------------------


def check_sentence(one: Sentence) -> Sentence:
    """A sentence that can be parsed, or an error with its place in the file."""
    if one.upos is None and one.xpos is None:
        raise BadValue(f"{one.place}: its words have no tags, which the parser needs; tag it first, by `noregret tag`")
    if len(one) > LONGEST:
        raise BadValue(f"{one.place}: it has {len(one):,} words, more than the {LONGEST} that the parser takes")
    return one


def tree_blocks(path: str) -> Iterator[tuple[list[Any], list[Any]]]:
    """The sentences of a treebank with their trees, block after block."""
    for block in read_blocks(map(check_sentence, read_sentences(path)), BLOCK):
        for one in block:
            if one.heads is None:
                raise BadValue(f"{one.place}: its words have no heads to learn from; give a treebank")
            check_tree(one.heads, one.place)
        yield block, block


# ---- parsing ---------------------------------------------------------------------------------------------------------


def parse_file(args: argparse.Namespace, screen: Screen, learner: Parser, path: str) -> dict[str, Any]:
    """Parse a file; compare with its trees where it has any, and write the trees where they are asked for."""
    counts, done = ParseCounts(), 0
    with open_output(args.out, "the trees") if args.out else nullcontext() as out:
        for block in read_blocks(map(check_sentence, read_sentences(path, keep_lines=out is not None)), BLOCK):
            found = learner.predict(block)
            known = [(tree_of(one, 0), tree) for one, tree in zip(block, found, strict=True) if one.heads is not None]
            counts.add([truth for truth, _ in known], [tree for _, tree in known])
            done += len(block)
            if out is not None:
                for one, tree in zip(block, found, strict=True):
                    out.write(write_tree(one, tree))
            if screen.due():
                screen.show((), (), f"{path}: {done:,} sentences parsed")
    if args.json != "-" and args.out != "-" and (counts.total or args.out is None):
        sys.stdout.write(f"{counts.describe(path)}\n")
    if args.out not in (None, "-"):
        screen.note(f"{done:,} sentences written to {args.out}")
    return counts.report() if counts.total else {"sentences": done}


def write_tree(sentence: Sentence, tree: list[Any]) -> str:
    """The lines of a sentence with the heads and relations that were found; _ where no relation was learned."""
    if not isinstance(tree[0], tuple):
        return write_conllu(sentence, tree, ["_"] * len(tree))
    return write_conllu(sentence, [head for head, _ in tree], [str(relation) for _, relation in tree])
