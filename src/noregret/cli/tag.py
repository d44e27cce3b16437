"""`noregret tag`: train a tagger on sentences with tags, measure it on others, tag new text."""

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from noregret.cli.annotate import Annotation, make_rule
from noregret.data.sentences import Sentence
from noregret.errors import BadValue
from noregret.evaluation.tagging import TagCounts
from noregret.learner.factory import make
from noregret.learner.variants import Variant
from noregret.streams.conllu import Columns, read_sentences, read_text
from noregret.streams.conllu_output import write_conllu
from noregret.structured.crf import CRF
from noregret.structured.tagger import Tagger


def run(args: argparse.Namespace) -> int:
    return Tagging(args).run()


class Tagging(Annotation):
    """Words in, tags out."""

    kind = Tagger
    verb = ("tag", "tagged")
    what = "the tags"

    def __init__(self, args: argparse.Namespace) -> None:
        super().__init__(args)
        self.columns = None if args.columns is None else read_columns(args.columns)

    def make(self, variant: Variant, options: dict[str, Any]) -> Any:
        if variant.card.kind == CRF.kind:
            return make(variant.card, **{"order": self.args.order or 1, **variant.options}, **options)
        return make("tagger", learner=make_rule(variant, options), order=self.args.order or 1)

    def read(self, path: str, keep_lines: bool) -> Iterator[Sentence]:
        """CoNLL-U, a table of tokens (--columns), or text with a sentence in every line."""
        if self.columns is None and path.removesuffix(".gz").removesuffix(".xz").endswith(".txt"):
            return read_text(path)
        return read_sentences(path, self.columns, keep_lines)

    def input(self, sentence: Sentence) -> Any:
        return sentence.words

    def truth(self, sentence: Sentence) -> Any:
        return sentence.xpos if self.args.tags == "xpos" and self.columns is None else sentence.upos

    def demand_truth(self, sentence: Sentence) -> Any:
        if (tags := self.truth(sentence)) is None:
            raise BadValue(
                f"{sentence.place}: it has no tags to learn from; name their column with --tags or --columns"
            )
        return tags

    def write(self, sentence: Sentence, found: Sequence[str]) -> str:
        """The lines of the file with the tags in their column, or word/tag."""
        if sentence.lines is None:
            return " ".join(f"{word}/{tag}" for word, tag in zip(sentence.words, found, strict=True)) + "\n"
        if self.columns is None:
            upos = self.args.tags == "upos"
            return write_conllu(sentence, upos=found if upos else None, xpos=None if upos else found)
        lines = [set_column(line, self.columns.tag, tag) for line, tag in zip(sentence.lines, found, strict=True)]
        return "\n".join(lines) + "\n\n"

    def counts(self) -> TagCounts:
        return TagCounts()


def read_columns(text: str) -> Columns:
    """The columns of word and tag, from their numbers."""
    word, _, tag = text.partition(",")
    if not word.isdecimal() or not (tag.isdecimal() or not tag):
        raise BadValue(f"--columns takes the numbers of the columns of word and tag, as in 1,2, not {text}")
    return Columns(int(word), int(tag) if tag else None)


def set_column(line: str, column: int | None, text: str) -> str:
    """A line of a table with another text in a column, counted from 1; at its end where there is no such column."""
    fields = line.split("\t")
    if column is None:
        return "\t".join([*fields, text])
    fields[column - 1] = text
    return "\t".join(fields)
