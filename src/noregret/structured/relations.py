"""Relations of arcs: a multiclass learner over the features of arcs, which learns from the arcs of the right trees."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Rows
from noregret.learner.factory import make
from noregret.learner.header_fields import corrupt
from noregret.learner.rule_learner import RuleLearner
from noregret.structured.arc_features import ArcExtractor, Integers, Nodes, arcs_of, block_of

OTHER_TASK = ("task", "decoder", "competitor", "margin")


class RelationRows(NamedTuple):
    """The arcs of the right trees of sentences whose relations are known: features, sentence and relation of each."""

    counts: Integers
    cells: NDArray[np.int32]
    sentences: Integers
    relations: list[Any]


def make_labeller(learner: RuleLearner) -> RuleLearner:
    """A fresh multiclass learner with the rule of another one and its parameters."""
    shared = {name: value for name, value in learner.config.given.items() if name not in OTHER_TASK}
    fresh = make(learner.card, **shared, task="multiclass")
    assert isinstance(fresh, RuleLearner)
    return fresh


def check_labeller(learner: Any, own: RuleLearner, bits: int) -> RuleLearner:
    """A learner of relations from a model file, which must be one like that of the parser."""
    if (
        not isinstance(learner, RuleLearner)
        or learner.card.name != own.card.name
        or learner.task != "multiclass"
        or learner.model.names.mode not in (None, "columns")
        or (learner.model.space is not None and learner.model.space.features > 1 << bits)
    ):
        raise corrupt("the learner of relations does not fit the parser")
    return learner


def right_arcs(
    extractor: ArcExtractor, nodes: Nodes, heads: Integers, relations: list[list[Any] | None]
) -> RelationRows:
    """The rows that relations are learned from."""
    arcs, lengths = arcs_of(nodes, heads), nodes.lengths
    named = np.repeat(np.array([one is not None for one in relations], bool), lengths)
    arcs = arcs.select(named)
    sentences = np.repeat(np.arange(len(lengths)), lengths)[named]
    return RelationRows(
        *extractor.rows(nodes, arcs), sentences, [label for one in relations if one is not None for label in one]
    )


def predict_relations(learner: RuleLearner, extractor: ArcExtractor, nodes: Nodes, heads: Integers) -> list[Any] | None:
    """The relation of every word to its head; None before any relation was learned."""
    if learner.model.arrays is None:
        return None
    counts, cells = extractor.rows(nodes, arcs_of(nodes, heads))
    return list(learner.predict(Rows(block_of(counts, cells, extractor.bits))).tolist())


def learn_relations(learner: RuleLearner, extractor: ArcExtractor, right: RelationRows, h: Any) -> None:
    """Learn the relations of the arcs of right trees."""
    if len(right.relations):
        weight = None if h is None else h[right.sentences]
        learner.learn(Rows(block_of(right.counts, right.cells, extractor.bits)), right.relations, weight)


def foresee_relations(
    learner: RuleLearner, extractor: ArcExtractor, nodes: Nodes, predicted: Integers, right: RelationRows, h: Any
) -> list[Any]:
    """The relations that the learner will predict for each sentence's arcs right before it learns the sentence.

    A copy of it learns: rows of predicted arcs weigh nothing, so that they are only predicted, each sentence's before
    its right arcs. None for words of sentences before any relation is known.
    """
    found: list[Any] = [None] * len(predicted)
    known = learner.model.arrays is not None
    if not len(right.relations):
        return predict_relations(learner, extractor, nodes, predicted) or found
    owner = np.repeat(np.arange(len(nodes.lengths)), nodes.lengths)
    asked = np.flatnonzero(owner > (-1 if known else right.sentences[0]))  # sentences after the first with relations
    counts, cells = extractor.rows(nodes, arcs_of(nodes, predicted).select(asked))
    sentence = np.concatenate((owner[asked], right.sentences))
    order = np.lexsort((np.arange(len(sentence)) >= len(asked), sentence))
    block = permute(np.concatenate((counts, right.counts)), np.concatenate((cells, right.cells)), order)
    any_known = learner.classes[0] if known else right.relations[0]  # a label for rows that weigh nothing
    labels = [any_known] * len(asked) + right.relations
    weight = np.concatenate((np.zeros(len(asked)), np.ones(len(right.sentences)) if h is None else h[right.sentences]))
    played = learner.copy().play(Rows(block_of(*block, extractor.bits)), [labels[at] for at in order], weight[order])
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    for at, label in zip(asked.tolist(), played.predictions[back[: len(asked)]].tolist(), strict=True):
        found[at] = label
    return found


def permute(counts: Integers, cells: NDArray[np.int32], order: Integers) -> tuple[Integers, NDArray[np.int32]]:
    """Rows in another order."""
    starts, sizes = np.cumsum(counts) - counts, counts[order]
    places = np.arange(len(cells)) + np.repeat(starts[order] - (np.cumsum(sizes) - sizes), sizes)
    return sizes, cells[places]
