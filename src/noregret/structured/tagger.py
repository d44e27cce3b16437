"""Sequence tagging: a tag for every token of a sentence, by its features and by the tags before it."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Rows
from noregret.data.group_truth import GroupTruth
from noregret.data.labels import check_label
from noregret.errors import BadValue, NotLearned, shown
from noregret.features.names import GrowingNames
from noregret.learner.decode_rows import find_marginals
from noregret.learner.header_fields import corrupt, read_list
from noregret.learner.model_file import Header, register_kind
from noregret.learner.rule_learner import RuleLearner
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Component, Param, suggestion
from noregret.structured.contexts import context_names, context_rows, number_contexts
from noregret.structured.factored_learner import Encoded, FactoredLearner, as_objects
from noregret.structured.templates import OF_PLACE, PROPERTIES, SIZED, TAGGING, Extractor, Numbers, parse_templates

KNOWN = (*PROPERTIES, *OF_PLACE, *(f"{name}3" for name in SIZED))
DECODER = {1: "sequence", 2: "sequence_pairs"}
ORDER = "how many tags before a token its tag depends on"
COLLINS = "Collins, Discriminative training methods for hidden Markov models, EMNLP 2002"


class TokenRows(NamedTuple):
    """Sentences as rows of numbered features, one for each token, and the tags of all tokens."""

    names: Numbers
    indptr: NDArray[np.int64]
    idx: NDArray[np.int32]
    val: NDArray[np.float64]
    lengths: NDArray[np.int64]
    tags: list[Any] | None


@register_kind
@method_card(
    paper=COLLINS,
    kind="tagger",
    tasks=("structured",),
    params={
        "learner": Component("arow", "the learner whose rule steps along differences of sequences"),
        "order": Param(1.0, at_least=1.0, at_most=2.0, grid=(1.0, 2.0), about=ORDER),
    },
    options=("templates", "competitor", "margin", "loss"),
    weights=True,
)
class Tagger(FactoredLearner):
    """Sequence tagging: the best sequence of tags by Viterbi search, with weights for features and transitions.

    A sentence is a list of words, or of dicts of properties or features; an output is a list of tags. The rule steps
    along the difference between the features of the right tags and those of a rival. `templates` declare the features
    of words; tokens that are dicts of numbers have these as features. `competitor` and `margin` are those of structured
    output: the sequence with the highest score plus loss by default for rules that are driven by the loss, the one
    predicted for others. With `loss="crf"` a gradient rule learns by the likelihood of the right tags among all
    sequences, and tags have probabilities.
    """

    kind: ClassVar[str] = "tagger"
    what: ClassVar[str] = "sentence"
    command: ClassVar[str] = "tag"  # the command that trains it and predicts

    def __init__(
        self,
        learner: Any = "arow",
        order: float = 1,
        templates: Sequence[str] = TAGGING,
        competitor: str | None = None,
        margin: str | None = None,
        loss: str | None = None,
    ) -> None:
        if order not in DECODER:
            raise BadValue(f"tagger: order must be 1 or 2, not {shown(order)}")
        self.order = int(order)
        self.templates = list(templates) if isinstance(templates, (list, tuple)) else templates
        parse_templates(self.templates)
        given = {"competitor": competitor, "margin": margin, "loss": loss}
        super().__init__(learner, DECODER[self.order], given)

    @property
    def params(self) -> dict[str, Any]:
        return {**super().params, "order": self.order}

    @property
    def classes(self) -> list[Any]:
        """The tags seen so far, in order of appearance."""
        return self.learner.classes

    # ---- sentences in ------------------------------------------------------------------------------------------------

    def encoding(self) -> Any:
        return "tokens", self.order, self.templates

    def encode_inputs(self, X: Sequence[Any], y: Sequence[Any] | None) -> TokenRows:
        """The features of all tokens, numbered as they appear, each tag's context after the sentence it first is in."""
        names = Numbers()
        extractor = Extractor(self.templates, names.__getitem__)
        indptr, idx, val, lengths = [0], array("i"), array("d"), []
        tags: list[Any] = []
        known = {} if y is None else dict.fromkeys(self.classes)
        for number, tokens in enumerate(X):
            check_sentence(tokens, number)
            for features, values in token_features(extractor, tokens, number):
                idx.extend(features)
                val.extend(values)
                indptr.append(len(idx))
            lengths.append(len(tokens))
            if y is not None:
                own = check_tags(y[number], len(tokens), number)
                tags += own
                new = [tag for tag in dict.fromkeys(own) if tag not in known]
                known.update(dict.fromkeys(new))
                if new or number == 0:
                    for name in context_names(list(known), self.order):
                        names[name]
        return TokenRows(
            names, np.array(indptr, np.int64), np.array(idx, np.int32), np.array(val, np.float64),
            np.array(lengths, np.int64), None if y is None else tags,
        )  # fmt: skip

    def arrange(self, encoded: Encoded) -> tuple[Rows, GroupTruth]:
        """Token rows, and after those of each sentence a row for every context of the tags known by then."""
        parts: TokenRows = encoded.parts
        tags = None if encoded.outputs is None else parts.tags
        order = dict.fromkeys(self.classes)
        known = np.full(len(parts.lengths), len(order))
        if tags is not None:
            firsts = {tag: at for at, tag in reversed(list(enumerate(tags))) if tag not in order}
            new = sorted(firsts, key=firsts.__getitem__)
            order.update(dict.fromkeys(new))
            sentence = np.searchsorted(np.cumsum(parts.lengths), [firsts[tag] for tag in new], "right")
            np.add.at(known, sentence, 1)
            known = len(self.classes) + np.cumsum(known - len(self.classes))
        numbers, listed = number_contexts(parts.names, parts.names.order, context_names(list(order), self.order))
        block, sizes = context_rows(parts, numbers, known, self.order)
        names = GrowingNames(listed, len(listed))
        starts = np.cumsum(sizes) - sizes
        at = np.arange(len(parts.indptr) - 1) + np.repeat(
            starts - (np.cumsum(parts.lengths) - parts.lengths), parts.lengths
        )
        return Rows(block._replace(width=len(names)), names), GroupTruth(sizes, parts.lengths, at, tags)

    def read_outputs(self, encoded: Encoded, codes: NDArray[Any], truth: GroupTruth) -> list[Any]:
        """The tags of every sentence."""
        flat, found, first = codes[truth.at].tolist(), [], 0
        for length in truth.lengths.tolist():
            found.append(flat[first : first + length])
            first += length
        return found

    # ---- probabilities -----------------------------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """The probability of every tag at every token: for each sentence an array, tags in the order of `classes`.

        Only learners with loss="crf" have them.
        """
        with self._lock:
            self._change.settle()
            if self.learner.model.arrays is None:
                raise NotLearned(f"{self.card.name} has not seen an output yet; learn something first")
            encoded = self.encode(X)
            rows, truth = self.arrange(replace(encoded, outputs=None))
            flat = find_marginals(self.learner, rows, truth)[truth.at]
            return as_objects(np.split(flat, np.cumsum(truth.lengths)[:-1]) if len(encoded) else [])

    def predict_proba_one(self, x: Any) -> list[dict[Any, float]]:
        """The probability of every tag at every token of one sentence, by tag; empty before anything was learned."""
        if self.learner.model.arrays is None:
            return []
        return [dict(zip(self.classes, row.tolist(), strict=True)) for row in self.predict_proba([x])[0]]

    # ---- model files -------------------------------------------------------------------------------------------------

    def dump_options(self) -> Header:
        return {"order": self.order, "templates": self.templates}

    @classmethod
    def restore_with(cls, learner: RuleLearner, header: Header) -> Self:
        templates = read_list(header, "templates")
        if not all(isinstance(one, str) for one in templates):
            raise corrupt("templates must be texts")
        return cls(learner, header.get("order", 1), templates)


def check_sentence(tokens: Any, number: int) -> None:
    """A sentence is a list of tokens, and not empty."""
    if isinstance(tokens, (str, bytes, Mapping)) or not isinstance(tokens, Sequence):
        raise BadValue(f"sentence {number}: a sentence is a list of tokens, not {shown(tokens)}", row=number)
    if not len(tokens):
        raise BadValue(f"sentence {number}: it has no tokens; leave it out", row=number)


def check_tags(tags: Any, length: int, number: int) -> list[Any]:
    """The tags of a sentence, one for each token."""
    if isinstance(tags, (str, bytes)) or not isinstance(tags, (Sequence, np.ndarray)):
        raise BadValue(f"sentence {number}: its tags are a list, not {shown(tags)}", row=number)
    if len(tags) != length:
        raise BadValue(f"sentence {number}: it has {length} tokens and {len(tags)} tags; they must match", row=number)
    try:
        return [check_label(tag) for tag in tags]
    except BadValue as error:
        raise BadValue(f"sentence {number}: {error}", row=number) from None


def token_features(extractor: Extractor, tokens: Sequence[Any], number: int) -> Iterator[tuple[list[int], list[float]]]:
    """The features of every token of a sentence, in order, and their values."""
    words = all(isinstance(token, str) for token in tokens)
    if words and extractor.own_keys:
        name = extractor.own_keys[0]
        raise BadValue(f"sentence {number}: the template {name!r} is no property of a word{suggestion(name, KNOWN)}; "
                       "give tokens as dicts that have it", row=number)  # fmt: skip
    if not words and not all(isinstance(token, Mapping) for token in tokens):
        raise BadValue(f"sentence {number}: its tokens must all be words, or all dicts", row=number)
    for token, features in zip(tokens, extractor.sentence(tokens), strict=True):
        given = {} if words else given_numbers(token, extractor, number)
        order = sorted(features | given.keys()) if given else sorted(features)
        yield order, [given.get(at, 1.0) for at in order] if given else [1.0] * len(order)


def given_numbers(token: Mapping[Any, Any], extractor: Extractor, number: int) -> dict[int, float]:
    """The features that a token brings itself: the numbers among its properties."""
    found = {}
    for name, value in token.items():
        if isinstance(value, (int, float, np.number)):
            if not np.isfinite(value):
                raise BadValue(f"sentence {number}: feature {name!r} is {value}; it must be finite", row=number)
            found[extractor.number(f"{name}")] = float(value)
    return found
