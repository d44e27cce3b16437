"""The online hierarchical Dirichlet process: topics whose number follows the documents."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import psi

from noregret.decomposition.document_loops import allocate_results, return_statistics
from noregret.decomposition.factors_file import read_array
from noregret.decomposition.matrix_rows import MatrixRows
from noregret.decomposition.parameters import batch_param
from noregret.decomposition.stick_loops import WITHOUT_STICKS, Sticks, run_sticks
from noregret.decomposition.topic_file import dump_topics, restore_topics
from noregret.decomposition.topic_model import Topic, TopicModel, find_words, read_topics
from noregret.decomposition.topic_parameters import (
    FILTER,
    TOPIC_OPTIONS,
    documents_param,
    iterations_param,
    slots_param,
    start_choice,
    stick_decay_param,
    stick_delay_param,
    tolerance_param,
    truncation_param,
    weight_param,
    words_param,
)
from noregret.decomposition.topic_words import TopicWords
from noregret.errors import BadValue
from noregret.learner.header_fields import corrupt, read_count, read_number
from noregret.learner.model_file import Arrays, Header, register_kind
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card

Floats = NDArray[np.float64]
WANG = "Wang, Paisley, Blei, Online variational inference for the hierarchical Dirichlet process, AISTATS 2011"
WORDS = 100.0  # of a document, for the size of the weights at the start
SWEEPS = 5.0  # iterations that find the candidates of a document
HALF = 0.5  # while more than this of the topics is as at random, slots start equal
USED = 0.99  # used topics are those that have this share of all words
LARGEST_RATE = 0.9999
LANES = 16  # candidates are a multiple of it, which compiled loops are fast for
LEAST_PRIOR = 1e-12  # of a topic in a document, relative to all


@dataclass
class HDPState:
    """Topics over words, how many slots of documents have each, and how much was learned."""

    topics: TopicWords
    counts: Floats
    concentrations: tuple[float, float]  # alpha of documents, gamma of the corpus
    steps: int = 0
    documents: int = 0

    @property
    def features(self) -> int:
        return self.topics.words

    def grow(self, features: int) -> None:
        self.topics.grow(features)

    def copy(self) -> Self:
        own = (self.counts.copy(), self.concentrations, self.steps, self.documents)
        return type(self)(self.topics.copy(), *own)

    def is_finite(self) -> bool:
        return self.topics.is_finite() and bool(np.isfinite(self.counts).all())

    # ---- the stick of the corpus ---------------------------------------------------------------------------------

    def order(self) -> NDArray[np.intp]:
        """The topics in the order of the stick: the one with the most words first."""
        return np.argsort(-self.topics.totals, kind="stable")

    def stick(self) -> tuple[Floats, Floats]:
        """The parameters a and b of the beta distributions of the stick, in its order; shares start equal."""
        if not self.steps:
            return np.ones(self.counts.size - 1), np.arange(self.counts.size - 1.0, 0.0, -1.0)
        counts = self.counts[self.order()]
        after = np.cumsum(counts[::-1])[::-1]
        return 1.0 + counts[:-1], self.concentrations[1] + after[1:]

    def log_shares(self) -> Floats:
        """E log of the share of every topic."""
        a, b = self.stick()
        whole = psi(a + b)
        logs = np.zeros(self.counts.size)
        logs[:-1] = psi(a) - whole
        logs[1:] += np.cumsum(psi(b) - whole)
        found = np.empty_like(logs)
        found[self.order()] = logs
        return found

    def prior(self) -> Floats:
        """The prior of topics in a document: alpha times the mean of their shares."""
        a, b = self.stick()
        part = a / (a + b)
        left = np.concatenate(([1.0], np.cumprod(1.0 - part)))
        found = np.empty(self.counts.size)
        found[self.order()] = np.append(part, 1.0) * left
        return np.asarray(self.concentrations[0] * np.maximum(found, LEAST_PRIOR))


@register_kind
@method_card(
    name="hdp",
    paper=WANG,
    kind="hdp",
    tasks=("unsupervised",),
    params={
        "t": truncation_param(),
        "k": slots_param(),
        "alpha": weight_param(5.0, "the concentration of topics in a document"),
        "gamma": weight_param(1.0, "the concentration of topics in the corpus: larger uses more of them"),
        "eta": words_param(),
        "tau": stick_delay_param(),
        "kappa": stick_decay_param(),
        "start": start_choice(),
        "batch": batch_param(100),
        "documents": documents_param(),
        "tolerance": tolerance_param(1e-4, "inference in a document ends when its bound grows by a smaller share"),
        "iterations": iterations_param(),
        **FILTER,
    },
    options=TOPIC_OPTIONS,
    merge=Merge("none", "topics of two learners have no common order"),
)
class HDP(TopicModel[HDPState]):
    """Hierarchical Dirichlet process: topics as many as the documents need, learned online."""

    kind: ClassVar[str] = "hdp"
    command_line: ClassVar[str] = "noregret topics DATA --learner {name}"
    tolerance = 1e-3  # of gamma, in results

    def __init__(self, t: float, k: float, batch: float, start: str, **options: Any) -> None:
        names = ("alpha", "gamma", "eta", "tau", "kappa", "documents", "tolerance", "iterations")
        self.given = {name: float(options.pop(name)) for name in names}
        super().__init__(batch, **options)
        self.t, self.k, self.start = int(t), int(k), start
        self.iterations = int(self.given["iterations"])
        if t != self.t or k != self.k or self.given["iterations"] != self.iterations:
            raise BadValue("hdp: t, k and iterations must be whole numbers")
        if self.k > self.t:
            raise BadValue(f"hdp: k, the topics of a document, must be at most t = {self.t}, not {self.k}")

    @property
    def params(self) -> dict[str, Any]:
        return {"t": self.t, "k": self.k, **self.given, "start": self.start, "batch": self.batch, **self.filter_params}

    # ---- rounds --------------------------------------------------------------------------------------------------

    def start_state(self, features: int) -> HDPState:
        topics = TopicWords.empty(self.t, self.given["eta"], self.row_config.seed)
        size = self.corpus_size(self.given["documents"])
        topics.shape, topics.mean = 1.0, size * WORDS / (self.t * max(features, 1))
        topics.grow(features)
        return HDPState(topics, np.zeros(self.t), (self.given["alpha"], self.given["gamma"]))

    def count_numbers(self, features: int) -> int:
        return self.t * features

    def learn_rows(self, state: HDPState, rows: MatrixRows) -> None:
        """A step towards the topics that the mini-batch alone would give, were the corpus made of copies of it."""
        documents, words = find_words(rows, state.features)
        topics, sticks = state.topics, Sticks(state.log_shares(), np.zeros(self.t))
        read = read_topics(state, words)
        out = allocate_results(rows.rows, words.size, self.t, scoring=False)
        run_sticks(documents, read, out, self.choose_start(topics.unlearned), sticks, self.row_config.native)
        state.documents += rows.rows
        copies = self.corpus_size(self.given["documents"], state.documents) / rows.rows
        rate = min((self.given["tau"] + 1.0 + state.steps) ** -self.given["kappa"], LARGEST_RATE)
        if state.steps:
            rate *= rows.rows / self.batch  # a mini-batch that is not full yet counts for its share
        topics.step(rate, words, copies, out.statistics, self.row_config.native)
        return_statistics(out)
        state.counts = (1.0 - rate) * state.counts + rate * copies * sticks.counts
        state.steps += 1

    def choose_start(self, unlearned: float) -> Floats:
        """The numbers that inference reads. While topics are mostly random, documents are assigned as wholes."""
        candidates, iterations, sweeps = self.t, self.iterations, 0.0
        if self.start == "topics" and unlearned > HALF:
            iterations = min(iterations, WITHOUT_STICKS)
        elif self.start == "topics":
            candidates, sweeps = min(self.t, -(-self.k // LANES) * LANES), SWEEPS
        return np.array([self.given["tolerance"], iterations, self.k, candidates, self.given["alpha"], 0.0, sweeps])

    # ---- results -------------------------------------------------------------------------------------------------

    @property
    def used_topics(self) -> int:
        """How many topics it takes to have 99 % of all words."""
        shares = np.sort(self.topic_shares)[::-1]
        return int(np.searchsorted(np.cumsum(shares), USED)) + 1

    def topics(self, n_words: int = 10) -> list[Topic]:
        """The most probable words of every topic that is used, the one with the largest share first."""
        return super().topics(n_words)[: self.used_topics]

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump_state(self, state: HDPState) -> tuple[Header, Arrays]:
        header, arrays = dump_topics(state.topics)
        header |= {"steps": state.steps, "documents": state.documents, "mean": state.topics.mean}
        return header, {**arrays, "counts": state.counts}

    def restore_state(self, header: Header, arrays: Arrays, features: int) -> HDPState:
        fresh, counts = self.start_state(0), read_array(arrays, "counts", 1)
        if counts.shape != (self.t,) or (counts < 0.0).any():
            raise corrupt("the counts of its topics must be numbers from 0 on, one for each")
        fresh.topics.mean = read_number(header.get("mean"), "mean")
        if fresh.topics.mean <= 0.0:
            raise corrupt("mean must be positive")
        topics = restore_topics(fresh.topics, header, arrays, features)
        state = HDPState(topics, counts, fresh.concentrations)
        state.documents = read_count(header, "documents", self.learned_rows, 1)
        state.steps = read_count(header, "steps", state.documents, 1)
        return state
