"""One distribution over words for all documents: the baseline that topics have to beat."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.matrix_rows import MatrixRows
from noregret.decomposition.parameters import batch_param
from noregret.decomposition.topic_file import dump_topics, restore_topics
from noregret.decomposition.topic_model import TopicModel, find_words
from noregret.decomposition.topic_parameters import FILTER, LEAST_ETA, TOPIC_OPTIONS
from noregret.decomposition.topic_words import TopicWords
from noregret.learner.header_fields import corrupt, read_count
from noregret.learner.model_file import Arrays, Header, register_kind
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Param

Floats = NDArray[np.float64]
KRICHEVSKY = (
    "Krichevsky and Trofimov, The performance of universal encoding, IEEE Transactions on Information Theory 27, 1981"
)


@dataclass
class WordCounts:
    """How often every word was seen, as the only topic: lambda = eta + count."""

    topics: TopicWords
    documents: int = 0

    @property
    def features(self) -> int:
        return self.topics.words

    def prior(self) -> Floats:
        return np.ones(1)

    def grow(self, features: int) -> None:
        self.topics.grow(features)

    def copy(self) -> Self:
        return type(self)(self.topics.copy(), self.documents)

    def is_finite(self) -> bool:
        return self.topics.is_finite()


@register_kind
@method_card(
    name="unigram",
    paper=KRICHEVSKY,
    kind="unigram",
    title="Unigram",
    tasks=("unsupervised",),
    params={
        "eta": Param(1.0, at_least=LEAST_ETA, at_most=1e6, search=(0.1, 10.0, "log"),
                     about="the prior of words: what is added to their counts; 0.5 is the estimator of the paper"),
        "batch": batch_param(1),
        **FILTER,
    },
    options=TOPIC_OPTIONS,
    merge=Merge("none", "words of two learners may be numbered differently"),
)  # fmt: skip
class Unigram(TopicModel[WordCounts]):
    """One topic: the smoothed counts of all words so far. A baseline for topic models."""

    kind: ClassVar[str] = "unigram"
    tolerance, iterations = 0.0, 1  # a document has this topic and no other

    def __init__(self, eta: float, batch: float, **options: Any) -> None:
        super().__init__(batch, **options)
        self.eta = eta

    @property
    def params(self) -> dict[str, Any]:
        return {"eta": self.eta, "batch": self.batch, **self.filter_params}

    # ---- rounds --------------------------------------------------------------------------------------------------

    def start_state(self, features: int) -> WordCounts:
        topics = TopicWords.empty(1, self.eta, self.row_config.seed)
        topics.start = 0.0  # words begin with the count 0
        topics.grow(features)
        return WordCounts(topics)

    def learn_rows(self, state: WordCounts, rows: MatrixRows) -> None:
        """Count the words."""
        documents, words = find_words(rows, state.features)
        counts = np.bincount(documents.words, documents.counts, minlength=words.size)
        state.topics.weights[words, 0] += counts
        state.topics.sums = state.topics.sums + counts.sum()
        state.documents += rows.rows

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump_state(self, state: WordCounts) -> tuple[Header, Arrays]:
        header, arrays = dump_topics(state.topics)
        return {**header, "documents": state.documents}, arrays

    def restore_state(self, header: Header, arrays: Arrays, features: int) -> WordCounts:
        topics = restore_topics(self.start_state(0).topics, header, arrays, features)
        if topics.scale != 1.0 or topics.start != 0.0 or (topics.weights < 0.0).any():
            raise corrupt("the counts of its words must be numbers from 0 on")
        state = WordCounts(topics)
        state.documents = read_count(header, "documents", self.learned_rows)
        return state
