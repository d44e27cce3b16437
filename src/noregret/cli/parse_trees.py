"""`noregret parse`: train a dependency parser on a treebank, measure it on another, parse new sentences."""

import argparse
from collections.abc import Iterator
from typing import Any

from noregret.cli.annotate import Annotation, make_rule
from noregret.data.sentences import Sentence, check_tree
from noregret.errors import BadValue
from noregret.evaluation.parsing import ParseCounts
from noregret.learner.factory import make
from noregret.learner.variants import Variant
from noregret.streams.conllu import read_sentences
from noregret.streams.conllu_output import write_conllu
from noregret.structured.parser import BITS, Parser
from noregret.structured.parser_inputs import LONGEST, tree_of


def run(args: argparse.Namespace) -> int:
    return Parsing(args).run()


class Parsing(Annotation):
    """Words with tags in, trees out."""

    kind = Parser
    verb = ("parse", "parsed")
    what = "the trees"
    block = 256

    def make(self, variant: Variant, options: dict[str, Any]) -> Any:
        rule = make_rule(variant, options)
        return make("parser", learner=rule, projective=not self.args.crossing, bits=self.args.bits or BITS)

    def read(self, path: str, keep_lines: bool) -> Iterator[Sentence]:
        return map(check_sentence, read_sentences(path, keep_lines=keep_lines))

    def input(self, sentence: Sentence) -> Any:
        return sentence

    def truth(self, sentence: Sentence) -> Any:
        return None if sentence.heads is None else tree_of(sentence, 0)

    def demand_truth(self, sentence: Sentence) -> Any:
        if sentence.heads is None:
            raise BadValue(f"{sentence.place}: its words have no heads to learn from; give a treebank")
        check_tree(sentence.heads, sentence.place)
        return sentence

    def write(self, sentence: Sentence, found: list[Any]) -> str:
        """The lines of a sentence with the heads and relations that were found; _ where no relation was learned."""
        if not isinstance(found[0], tuple):
            return write_conllu(sentence, found, ["_"] * len(found))
        return write_conllu(sentence, [head for head, _ in found], [str(relation) for _, relation in found])

    def counts(self) -> ParseCounts:
        return ParseCounts()


def check_sentence(one: Sentence) -> Sentence:
    """A sentence that can be parsed, or an error with its place in the file."""
    if one.upos is None and one.xpos is None:
        raise BadValue(f"{one.place}: its words have no tags, which the parser needs; tag it first, by `noregret tag`")
    if len(one) > LONGEST:
        raise BadValue(f"{one.place}: it has {len(one):,} words, more than the {LONGEST} that the parser takes")
    return one
