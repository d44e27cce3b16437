"""Dependency parsing: the head of every word of a sentence and its relation to it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Rows
from noregret.data.group_truth import GroupTruth
from noregret.data.inputs import RowsLike
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, shown
from noregret.learner.arguments import check_integer
from noregret.learner.header_fields import corrupt, read_count
from noregret.learner.model_file import Arrays, FindCard, Header, dump_part, register_kind, restore_part
from noregret.learner.rule_learner import RuleLearner
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Component
from noregret.structured.arc_features import ArcExtractor, Nodes, all_arcs, block_of, make_extractor, make_nodes
from noregret.structured.arc_templates import check_templates
from noregret.structured.factored_learner import Encoded, FactoredLearner, as_list, as_objects
from noregret.structured.parser_inputs import check_output, check_sentence
from noregret.structured.relations import (
    RelationRows,
    check_labeller,
    foresee_relations,
    learn_relations,
    make_labeller,
    predict_relations,
    right_arcs,
)

DECODER = {True: "projective", False: "nonprojective"}
MCDONALD = "McDonald, Crammer and Pereira, Online large-margin training of dependency parsers, ACL 2005"
RELATION_BITS = 6  # relations have a weight for every relation, so they get fewer cells
LEAST_BITS, BITS, MOST_BITS = 10, 22, 28
ARCS_AT_ONCE = 1 << 18  # arcs of the sentences that are predicted in one go


class ArcRows(NamedTuple):
    """Sentences as rows of features, one for each arc, with the heads and the relations of all words."""

    features: tuple[ArcExtractor, ArcExtractor]  # of arcs and of relations
    nodes: Nodes
    counts: NDArray[np.int64]  # features of each arc
    cells: NDArray[np.int32]
    heads: NDArray[np.int64] | None
    right: RelationRows | None


@register_kind
@method_card(
    paper=MCDONALD,
    kind="parser",
    tasks=("structured",),
    params={
        "learner": Component("pa1", "the learner whose rule steps along differences of trees"),
    },
    options=("bits", "projective", "templates", "competitor", "margin"),
    weights=True,
)
class Parser(FactoredLearner):
    """Dependency parsing: the best tree over the words of a sentence, with weights for features of its arcs.

    A sentence is a list of pairs (word, tag), of dicts with these keys, or a `Sentence` that was read from a file; an
    output is a list of heads, one for each word (0 is the root), or of pairs (head, relation). The best tree is found
    by Eisner's algorithm, or with `projective=False`, where arcs may cross, by that of Chu, Liu and Edmonds. The loss
    is the number of wrong heads. Features of arcs are hashed to 2^bits cells. Relations are learned in the same rounds
    by a multiclass learner with the same rule.
    """

    kind: ClassVar[str] = "parser"
    what: ClassVar[str] = "sentence"
    command: ClassVar[str] = "parse"  # the command that trains it and predicts

    def __init__(
        self,
        learner: Any = "pa1",
        bits: int = BITS,
        projective: bool = True,
        templates: Mapping[str, Sequence[str]] | None = None,
        competitor: str | None = None,
        margin: str | None = None,
    ) -> None:
        if not isinstance(projective, (bool, np.bool_)):
            raise BadValue(f"parser: projective is True or False, not {shown(projective)}")
        if check_integer("bits", bits, LEAST_BITS) > MOST_BITS:
            raise BadValue(f"bits must be a whole number from {LEAST_BITS} to {MOST_BITS}, not {shown(bits)}")
        self.bits, self.projective, self.templates = int(bits), bool(projective), check_templates(templates)
        super().__init__(learner, DECODER[self.projective], {"competitor": competitor, "margin": margin})
        self.labeller = make_labeller(self.learner)

    @property
    def params(self) -> dict[str, Any]:
        return {**super().params, "bits": self.bits, "projective": self.projective}

    @property
    def classes(self) -> list[Any]:
        """The relations seen so far, in order of appearance."""
        return self.labeller.classes

    @property
    def extractor(self) -> ArcExtractor:
        """The features of arcs, for relations."""
        return self.extractors()[1]

    def extractors(self) -> tuple[ArcExtractor, ArcExtractor]:
        """The features of arcs, for trees and for relations."""
        arcs = make_extractor(tuple(self.templates["arcs"]), self.bits)
        return arcs, make_extractor(tuple(self.templates["relations"]), self.bits - RELATION_BITS)

    def learners(self) -> list[RuleLearner]:
        return [self.learner, self.labeller]

    # ---- sentences in ------------------------------------------------------------------------------------------------

    def encoding(self) -> Any:
        return self.kind, [(one.texts, one.bits) for one in self.extractors()]

    def encode_inputs(self, X: Sequence[Any], y: Sequence[Any] | None) -> ArcRows:
        """The features of all arcs as cells, and the trees."""
        sentences = [check_sentence(one, number) for number, one in enumerate(X)]
        heads: list[int] = []
        relations: list[list[Any] | None] = []
        for number, sentence in enumerate(sentences if y is not None else ()):
            own, named = check_output(y[number], len(sentence), number)  # type: ignore[index]
            heads += own
            relations.append(named)
        features = self.extractors()
        nodes = make_nodes(sentences, features[0].atoms | features[1].atoms)
        counts, cells = features[0].rows(nodes, all_arcs(nodes))
        if y is None:
            return ArcRows(features, nodes, counts, cells, None, None)
        trees = np.array(heads, np.int64)
        return ArcRows(features, nodes, counts, cells, trees, right_arcs(features[1], nodes, trees, relations))

    def arrange(self, encoded: Encoded) -> tuple[Rows, GroupTruth]:
        """A row for every arc; the arcs of the trees have class 0."""
        parts: ArcRows = encoded.parts
        lengths, sizes = parts.nodes.lengths, parts.nodes.lengths**2
        words, at = int(lengths.sum()), np.zeros(0, np.int64)
        if encoded.outputs is not None and parts.heads is not None:
            modifiers = np.arange(words) - np.repeat(np.cumsum(lengths) - lengths, lengths) + 1
            own = (modifiers - 1) * np.repeat(lengths, lengths) + parts.heads - (parts.heads > modifiers)
            at = np.repeat(np.cumsum(sizes) - sizes, lengths) + own
        rows = Rows(block_of(parts.counts, parts.cells, self.bits))
        labels = None if encoded.outputs is None else np.zeros(len(at), np.int64)
        return rows, GroupTruth(sizes, lengths, at, labels)  # type: ignore[arg-type]

    def read_outputs(self, encoded: Encoded, codes: NDArray[Any], truth: GroupTruth) -> list[Any]:
        """The heads of every sentence, as an array."""
        lengths = truth.lengths
        chosen = np.flatnonzero(codes == 0) - np.repeat(truth.starts[:-1], lengths)
        width = np.repeat(lengths, lengths)
        heads = chosen % width
        heads += heads >= chosen // width + 1
        return np.split(heads, np.cumsum(lengths)[:-1])

    # ---- rounds ------------------------------------------------------------------------------------------------------

    def learn_encoded(self, encoded: Encoded, h: NDArray[np.float64] | None, began: float | None) -> Transcript | None:
        """Learn the trees, then the relations; what is predicted of a sentence is so before it is learned."""
        played = super().learn_encoded(encoded, h, began)
        parts: ArcRows = encoded.parts
        assert parts.right is not None
        if played is not None and len(encoded):
            heads = np.concatenate(list(played.predictions))
            relations = foresee_relations(self.labeller, self.extractor, parts.nodes, heads, parts.right, h)
            played = replace(played, predictions=as_objects(join_outputs(played.predictions, relations)))
        learn_relations(self.labeller, self.extractor, parts.right, h)
        return played

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """The best tree of every sentence: its heads, with relations if it has learned any."""
        with self._lock:
            self._change.settle()
            if isinstance(X, Encoded) or self.learner.model.arrays is None:
                return self.predict_encoded(X)
            sentences = [check_sentence(one, number) for number, one in enumerate(as_list(X, "X"))]
            return np.concatenate([as_objects([]), *map(self.predict_encoded, split(sentences))])

    def predict_encoded(self, X: Any) -> NDArray[Any]:
        """The best trees of a few sentences, or of what `encode` made of many."""
        encoded = self.encode(X)
        found = super().predict(encoded)
        if not len(found):
            return found
        nodes, heads = encoded.parts.nodes, np.concatenate(list(found))
        return as_objects(join_outputs(found, predict_relations(self.labeller, self.extractor, nodes, heads)))

    # ---- model files -------------------------------------------------------------------------------------------------

    def dump_options(self) -> Header:
        return {"bits": self.bits, "projective": self.projective, "templates": self.templates}

    def dump(self) -> tuple[Header, Arrays]:
        with self._lock:
            header, arrays = super().dump()
            labeller, own = dump_part("labeller", self.labeller)
            return {**header, "labeller": labeller}, {**arrays, **own}

    @classmethod
    def restore_with(cls, learner: RuleLearner, header: Header) -> Self:
        projective = header.get("projective")
        if not isinstance(projective, bool):
            raise corrupt("projective must be true or false")
        bits = read_count(header, "bits", MOST_BITS, LEAST_BITS)
        return cls(learner, bits, projective, header.get("templates"))

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        new = super().restore(header, arrays, find_card)
        labeller = restore_part("labeller", header.get("labeller"), arrays, find_card)
        new.labeller = check_labeller(labeller, new.labeller, new.bits - RELATION_BITS)
        return new


def split(sentences: Sequence[Sequence[Any]]) -> Iterator[list[Any]]:
    """Some sentences after another, so many that the features of their arcs need little memory."""
    block: list[Any] = []
    arcs = 0
    for one in sentences:
        arcs += len(one) ** 2
        if block and arcs > ARCS_AT_ONCE:
            yield block
            block, arcs = [], len(one) ** 2
        block.append(one)
    if block:
        yield block


def join_outputs(heads: Iterable[NDArray[np.int64]], relations: Sequence[Any] | None) -> list[Any]:
    """The output of every sentence: pairs of head and relation, or only heads where no relation was known yet."""
    found: list[Any] = []
    first = 0
    for own in heads:
        named = relations[first : first + len(own)] if relations is not None else ()
        first += len(own)
        found.append(list(zip(own.tolist(), named, strict=True)) if named and named[0] is not None else own.tolist())
    return found
