"""Monotone transduction: from words to strings of symbols, such as letters to sounds; the alignment is learned, too."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Rows
from noregret.data.group_truth import GroupTruth
from noregret.data.inputs import RowsLike
from noregret.data.transcript import Transcript
from noregret.errors import BadValue
from noregret.features.names import GrowingNames
from noregret.learner.header_fields import corrupt, read_list
from noregret.learner.model_file import Header, register_kind
from noregret.learner.rule_learner import RuleLearner
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Component
from noregret.structured.contexts import context_names, context_rows, number_contexts
from noregret.structured.factored_learner import Encoded, FactoredLearner
from noregret.structured.letters import (
    INSERTED,
    LETTERS,
    NOTHING,
    Slots,
    WordRows,
    check_output,
    check_templates,
    check_word,
)

PAPER = (
    "Jiampojamarn, Cherry and Kondrak, Joint processing and discriminative training for letter-to-phoneme "
    "conversion, ACL 2008"
)


@register_kind
@method_card(
    paper=PAPER,
    kind="transducer",
    tasks=("structured",),
    params={"learner": Component("pa1(average=True)", "the learner whose rule steps along differences of outputs")},
    options=("templates", "inserted", "competitor", "margin"),
    weights=True,
)
class Transducer(FactoredLearner):
    """Words to strings, such as grapheme to phoneme; no theorem holds in general, as alignments move with the weights.

    Every letter writes nothing, one symbol or two. A word is a text or a list of letters; an output is a text or a list
    of symbols, and what was learned is what is predicted. Which letter writes which symbol is not given: every round
    takes the best alignment of the right output by the current weights. The rule steps along the difference between the
    features of that output and those of a rival. `templates` declare the features of a letter that writes a symbol,
    `inserted` those of a second symbol; `competitor` and `margin` are those of structured output. The loss is the edit
    distance. The bounds of the rules hold where only one alignment exists: for outputs of two symbols for each letter.
    """

    kind: ClassVar[str] = "transducer"
    what: ClassVar[str] = "word"

    def __init__(
        self,
        learner: Any = "pa1(average=True)",
        templates: Sequence[str] = LETTERS,
        inserted: Sequence[str] = INSERTED,
        competitor: str | None = None,
        margin: str | None = None,
    ) -> None:
        self.templates, self.inserted = check_templates(templates), check_templates(inserted)
        self.texts: bool | None = None  # whether outputs are texts; None before any was learned
        super().__init__(learner, "string", {"competitor": competitor, "margin": margin})
        if self.learner.model.labels.fixed:
            raise BadValue("transducer finds the symbols by itself; leave classes out")

    @property
    def classes(self) -> list[Any]:
        """The symbols seen so far, in order of appearance."""
        return self.learner.classes[1:]

    # ---- words in ----------------------------------------------------------------------------------------------------

    def encoding(self) -> Any:
        return self.kind, self.templates, self.inserted

    def encode_inputs(self, X: Sequence[Any], y: Sequence[Any] | None) -> Slots:
        """The features of all letters, numbered as they appear, each symbol's context after the word it first is in."""
        rows, symbols, texts = WordRows(self.templates, self.inserted), [], self.texts
        for number, word in enumerate(X):
            rows.add(check_word(word, number))
            if y is None:
                continue
            own = check_output(y[number], len(word), number)
            if texts is not None and texts != isinstance(y[number], str):
                kinds = ("texts", "a list") if texts else ("lists", "a text")
                raise BadValue(f"word {number}: outputs were {kinds[0]} so far, and this one is {kinds[1]}", row=number)
            texts = isinstance(y[number], str)
            symbols.append(own)
            for name in context_names(own, 1):
                rows.names[name]
        return rows.finish(None if y is None else symbols)

    def arrange(self, encoded: Encoded) -> tuple[Rows, GroupTruth]:
        """The rows of slots, and after those of each word a row for the start and every symbol known by then."""
        parts: Slots = encoded.parts
        outputs = None if encoded.outputs is None else parts.symbols
        order, known = dict.fromkeys(self.classes), []
        for at in range(len(parts.lengths)):
            if outputs is not None:
                order.update(dict.fromkeys(outputs[at]))
            known.append(len(order))
        numbers, listed = number_contexts(parts.names, parts.names.order, context_names(list(order), 1))
        block, sizes = context_rows(parts, numbers, np.array(known, np.int64), 1)
        names = GrowingNames(listed, len(listed))
        rows = Rows(block._replace(width=len(names)), names)
        starts, letters = np.cumsum(sizes) - sizes, parts.lengths // 2
        if outputs is None:
            return rows, GroupTruth(sizes, letters, starts, None)
        written = np.array([len(own) + 1 for own in outputs], np.int64)
        at = np.arange(written.sum()) + np.repeat(starts - (np.cumsum(written) - written), written)
        labels = [label for own in outputs for label in (NOTHING, *own)]
        return rows, GroupTruth(sizes, letters, at, labels)

    def learn_encoded(self, encoded: Encoded, h: NDArray[np.float64] | None, began: float | None) -> Transcript | None:
        """Learn the rounds, and whether outputs are texts."""
        if self.texts is None and encoded.outputs:
            self.texts = isinstance(encoded.outputs[0], str)
        return super().learn_encoded(encoded, h, began)

    # ---- outputs -----------------------------------------------------------------------------------------------------

    def read_chunks(self, encoded: Encoded, codes: NDArray[Any], truth: GroupTruth) -> list[list[list[Any]]]:
        """What each letter of every word writes."""
        found = []
        for start, letters in zip(truth.starts.tolist(), truth.lengths.tolist(), strict=False):
            slots = codes[start : start + 2 * letters].tolist()
            pairs = zip(slots[::2], slots[1::2], strict=True)
            found.append([[symbol for symbol in pair if symbol is not None and symbol != NOTHING] for pair in pairs])
        return found

    def read_outputs(self, encoded: Encoded, codes: NDArray[Any], truth: GroupTruth) -> list[Any]:
        """The output of every word."""
        chunks = self.read_chunks(encoded, codes, truth)
        written = [[symbol for chunk in word for symbol in chunk] for word in chunks]
        return ["".join(output) for output in written] if self.texts else written

    def alignments(self, X: RowsLike) -> list[list[tuple[Any, list[Any]]]]:
        """The best output of every word as pairs: a letter, and the symbols that it writes."""
        words = X.inputs if isinstance(X, Encoded) else X
        found = self.decode(X, self.read_chunks)
        return [list(zip(word, chunks, strict=True)) for word, chunks in zip(words, found, strict=True)]

    # ---- model files -------------------------------------------------------------------------------------------------

    def dump_options(self) -> Header:
        return {"templates": self.templates, "inserted": self.inserted, "texts": self.texts}

    @classmethod
    def restore_with(cls, learner: RuleLearner, header: Header) -> Self:
        templates, inserted, texts = read_list(header, "templates"), read_list(header, "inserted"), header.get("texts")
        if not all(isinstance(one, str) for one in templates + inserted):
            raise corrupt("templates must be texts")
        new = cls(learner, templates, inserted)
        if not (texts is None or isinstance(texts, bool)) or (texts is None) != (learner.rounds == 0):
            raise corrupt("it does not say whether outputs are texts")
        symbols = learner.classes
        if symbols[:1] != [NOTHING][: len(symbols)] or (texts and not all(isinstance(one, str) for one in symbols)):
            raise corrupt("its symbols do not fit its outputs")
        new.texts = texts
        return new
