"""Online latent Dirichlet allocation: topics of a stream of documents by stochastic variational inference."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.document_loops import return_statistics
from noregret.decomposition.matrix_rows import MatrixRows
from noregret.decomposition.parameters import batch_param
from noregret.decomposition.topic_file import dump_topics, restore_topics
from noregret.decomposition.topic_model import TopicModel
from noregret.decomposition.topic_parameters import (
    FILTER,
    LEAST_ALPHA,
    LEAST_ETA,
    TOPIC_OPTIONS,
    decay_param,
    delay_param,
    documents_param,
    iterations_param,
    prior_param,
    tolerance_param,
    topics_param,
)
from noregret.decomposition.topic_words import TopicWords
from noregret.errors import BadValue
from noregret.learner.header_fields import read_count
from noregret.learner.model_file import Arrays, Header, register_kind
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card

Floats = NDArray[np.float64]
HOFFMAN = "Hoffman, Blei, Bach, Online learning for latent Dirichlet allocation, NIPS 2010"


@dataclass
class LDAState:
    """Topics over words, and how many mini-batches and documents they come from."""

    topics: TopicWords
    alpha: Floats
    steps: int = 0
    documents: int = 0

    @property
    def features(self) -> int:
        return self.topics.words

    def prior(self) -> Floats:
        return self.alpha

    def grow(self, features: int) -> None:
        self.topics.grow(features)

    def copy(self) -> Self:
        return type(self)(self.topics.copy(), self.alpha, self.steps, self.documents)

    def is_finite(self) -> bool:
        return self.topics.is_finite()


@register_kind
@method_card(
    name="lda",
    paper=HOFFMAN,
    kind="lda",
    tasks=("unsupervised",),
    params={
        "k": topics_param(),
        "alpha": prior_param("the prior of topics in a document; 0: 1 / k"),
        "eta": prior_param(f"the prior of words in a topic; 0: 1 / k, but not less than {LEAST_ETA}"),
        "tau0": delay_param(),
        "kappa": decay_param(),
        "batch": batch_param(64),
        "documents": documents_param(),
        "tolerance": tolerance_param(1e-3, "inference in a document ends when the mean change of gamma is smaller"),
        "iterations": iterations_param(),
        **FILTER,
    },
    options=TOPIC_OPTIONS,
    merge=Merge("none", "topics of two learners have no common order"),
)
class LDA(TopicModel[LDAState]):
    """Latent Dirichlet allocation: k topics, learned online from mini-batches of documents."""

    kind: ClassVar[str] = "lda"
    command_line: ClassVar[str] = "noregret topics DATA --learner {name}"

    def __init__(self, k: float, batch: float, tolerance: float, iterations: float, **options: Any) -> None:
        names = ("alpha", "eta", "tau0", "kappa", "documents")
        self.given = {name: float(options.pop(name)) for name in names}
        super().__init__(batch, **options)
        self.k, self.tolerance, self.iterations = int(k), tolerance, int(iterations)
        if k != self.k or iterations != self.iterations:
            raise BadValue("lda: k and iterations must be whole numbers")
        self.alpha = self.given["alpha"] or 1.0 / self.k
        self.eta = self.given["eta"] or max(1.0 / self.k, LEAST_ETA)
        for name, value, least in (("alpha", self.alpha, LEAST_ALPHA), ("eta", self.eta, LEAST_ETA)):
            if value < least:
                raise BadValue(f"lda: {name} must be 0, or at least {least:g}, not {value:g}")

    @property
    def params(self) -> dict[str, Any]:
        return {"k": self.k, **self.given, "batch": self.batch, "tolerance": self.tolerance,
                "iterations": self.iterations, **self.filter_params}  # fmt: skip

    # ---- rounds --------------------------------------------------------------------------------------------------

    def start_state(self, features: int) -> LDAState:
        topics = TopicWords.empty(self.k, self.eta, self.row_config.seed)
        topics.grow(features)
        return LDAState(topics, np.full(self.k, self.alpha))

    def count_numbers(self, features: int) -> int:
        return self.k * features

    def learn_rows(self, state: LDAState, rows: MatrixRows) -> None:
        """A step towards the topics that the mini-batch alone would give, were the corpus made of copies of it."""
        found, words = self.infer(state, rows, scoring=False)
        state.steps += 1
        state.documents += rows.rows
        size = self.corpus_size(self.given["documents"], state.documents)
        rate = (self.given["tau0"] + state.steps) ** -self.given["kappa"]
        if state.steps > 1:
            rate *= rows.rows / self.batch  # a mini-batch that is not full yet counts for its share
        state.topics.step(rate, words, size / rows.rows, found.statistics, self.row_config.native)
        return_statistics(found)

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump_state(self, state: LDAState) -> tuple[Header, Arrays]:
        header, arrays = dump_topics(state.topics)
        return {**header, "steps": state.steps, "documents": state.documents}, arrays

    def restore_state(self, header: Header, arrays: Arrays, features: int) -> LDAState:
        topics = restore_topics(self.start_state(0).topics, header, arrays, features)
        state = LDAState(topics, np.full(self.k, self.alpha))
        state.documents = read_count(header, "documents", self.learned_rows, 1)
        state.steps = read_count(header, "steps", state.documents, 1)
        return state
