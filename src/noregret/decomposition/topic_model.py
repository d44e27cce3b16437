"""The base of topic models: documents are counts of words, components are the shares of topics.

A document is a dict of words and counts, a list of words, a text, or a row of a matrix of counts. A document without
words has the shares of the prior and teaches nothing.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Rows, SparseBlock
from noregret.data.inputs import RowLike
from noregret.decomposition.base import Scored, State, UnsupervisedLearner
from noregret.decomposition.document_loops import Documents, Results, Topics, allocate_results, run_inference
from noregret.decomposition.documents import (
    count_words,
    is_document,
    list_documents,
    name_words,
    own_documents,
    sort_words,
)
from noregret.decomposition.largest import find_largest
from noregret.decomposition.matrix_rows import MatrixRows
from noregret.decomposition.topic_words import TopicWords
from noregret.decomposition.word_filter import WordFilter
from noregret.errors import BadValue
from noregret.learner.arguments import check_integer
from noregret.learner.base_learner import BaseLearner
from noregret.learner.change import Undo
from noregret.learner.model_file import Arrays, FindCard, Header

Floats = NDArray[np.float64]


UNKNOWN = 10_000  # documents of a corpus whose size is not known, until more were seen
SHOWN = 10  # words of a topic in a table
DOCUMENTS = "documents"  # among the read options of a model that `noregret topics` made
FILTER_PARAMS = ("stop_words", "least_documents", "most_share")


class Topic(NamedTuple):
    """A topic: its number, its share of all words, and its most probable words with their probabilities."""

    number: int
    share: float
    words: list[tuple[Any, float]]

    def describe(self) -> str:
        return f"{self.number:>4}  {100.0 * self.share:4.1f} %  {' '.join(str(word) for word, _ in self.words)}"


class TopicState(State, Protocol):
    """The state of a topic model: its topics, and the prior of their shares in a document."""

    topics: TopicWords

    def prior(self) -> Floats: ...


AnyTopics = TypeVar("AnyTopics", bound=TopicState)


class TopicModel(UnsupervisedLearner[AnyTopics]):
    """Topics are distributions over words; every document mixes them in its own shares."""

    loss_measure = "minus log-probabilities of documents"
    tolerance: float
    iterations: int

    def __init__(self, batch: float, **options: Any) -> None:
        self.filter_params = {name: options.pop(name) for name in FILTER_PARAMS}
        stop_words, least, most = self.filter_params.values()
        super().__init__(batch, **options)
        if least != int(least):
            raise BadValue(f"{self.card.name}: least_documents must be a whole number, not {least!r}")
        self.filter = WordFilter(stop_words, int(least), most)
        self._journal: dict[Any, int] = {}  # counts that a call has changed, to be undone if it fails
        self.words_scored = 0.0  # of all documents whose loss was computed; it is not saved

    def corpus_size(self, given: float, seen: int = 0) -> float:
        """Documents of the corpus: as given; otherwise 10,000, or as many as were seen if these are more."""
        return given or float(max(UNKNOWN, seen))

    # ---- results -------------------------------------------------------------------------------------------------

    @property
    def components(self) -> Floats:
        """The probability of every word in every topic, of shape (topics, words): the mean of its distribution."""
        topics = self.latest.topics
        return np.asarray((topics.parameters() / topics.totals).T)

    @property
    def topic_shares(self) -> Floats:
        """The share of every topic in the words learned so far, older ones counting less."""
        topics = self.latest.topics
        counts = np.maximum(topics.sums, 0.0)
        return np.asarray(counts / counts.sum() if counts.any() else np.full(counts.size, 1.0 / counts.size))

    def topics(self, n_words: int = 10) -> list[Topic]:
        """The most probable words of every topic, with their probabilities; the topic with the largest share first."""
        shown = check_integer("n_words", n_words, 0)
        probabilities, share, names = self.components, self.topic_shares, self.feature_names
        found = []
        for number in np.argsort(-share, kind="stable").tolist():
            best = find_largest(probabilities[number], shown)
            words = [(names[word], float(probabilities[number, word])) for word in best]
            found.append(Topic(number, float(share[number]), words))
        return found

    def perplexity(self, X: Any) -> float:
        """exp(loss per word) of documents: of how many words each is as hard to guess. Words not known are left out."""
        losses = self.score(X).losses
        block, _ = self.encoder.encode(self.read_rows(X, learn=False), learn=False)
        counts = block.val[: int(block.indptr[-1])] if isinstance(block, SparseBlock) else block.val
        words = float(counts.sum())
        return float(np.exp(losses.sum() / words)) if words else float("nan")

    @property
    def learned_documents(self) -> bool:
        """Whether `noregret topics` made it: its words have no columns in their names, as other commands read them."""
        reading = (self.source or {}).get("reading")
        return isinstance(reading, dict) and reading.get(DOCUMENTS) is True

    def commands(self, path: str) -> list[str]:
        """What can be done with its model on the command line."""
        more = "noregret topics MORE_DOCUMENTS" if self.learned_documents else "noregret learn MORE_ROWS"
        return [f"noregret predict {path} NEW_ROWS --out predictions.csv", f"{more} --resume {path}"]

    def component_names(self, count: int) -> list[str]:
        """Topics count from 0; the columns of `transform` are their shares."""
        return [f"topic {number}" for number in range(count)]

    def describe_results(self) -> list[str]:
        """A line for every topic."""
        return [topic.describe() for topic in self.topics(SHOWN)] if self.rounds else []

    # ---- documents -----------------------------------------------------------------------------------------------

    def read_rows(self, X: Any, learn: bool) -> Any:
        """Texts and lists of words as dicts of counts, without words that are left out; matrices as they are.

        New words of a document get their numbers in the order of the alphabet, wherever it comes from: the topics that
        a word starts with are drawn by its number, and a file that is read on from its middle has other words first.
        """
        X = list_documents(X)
        X = [count_words(row, number) for number, row in enumerate(X)] if is_document(X) else X
        documents = name_words(X.block, X.names) if isinstance(X, Rows) and X.names is not None else X
        if not isinstance(documents, (list, tuple)) or not all(isinstance(one, Mapping) for one in documents):
            return X
        found = []
        for words in own_documents(documents):
            if learn:
                self.filter.see(words, self._journal)
            kept = self.filter.apply(words) if self.filter.active else words
            found.append(sort_words(kept) if learn else kept)
        return found

    def undo_of_calls(self) -> Undo:
        return BaseLearner.undo_of_calls(self) if self.filter.active else super().undo_of_calls()

    def _own_state(self) -> Undo:
        own = super()._own_state()
        self._journal, forget = self.filter.savepoint()

        def undo() -> None:
            own()
            forget()

        return undo

    def dump(self) -> tuple[Header, Arrays]:
        with self._lock:
            header, arrays = super().dump()
            return header, {**arrays, **self.filter.dump()}

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        new = super().restore(header, arrays, find_card)
        new.filter.restore(arrays, new.rounds)
        return new

    def learn_one(self, x: Any, y: Any = None, weight: float | None = None) -> Any:
        """Learn one document."""
        return super().learn_one(self.read_row(x), y, weight)

    def transform_one(self, x: Any) -> NDArray[Any]:
        """The shares of topics in one document."""
        return super().transform_one(self.read_row(x))

    def predict_one(self, x: Any) -> Any:
        """The same; None before anything was learned."""
        return super().predict_one(self.read_row(x))

    def read_row(self, x: Any) -> RowLike:
        found: RowLike = count_words(x, 0) if is_document([x]) else x
        return found

    def check_rows(self, rows: MatrixRows, start: int) -> None:
        block = rows.sparse
        wrong = np.flatnonzero((block.val < 0.0) | (block.val % 1.0 != 0.0))
        if wrong.size:
            row = int(np.searchsorted(block.indptr, wrong[0], side="right")) - 1
            name = self.encoder.feature_names()[int(block.idx[wrong[0]])]
            raise BadValue(
                f"row {start + row}: the count of {name!r} is {block.val[wrong[0]]:g}; a topic model takes counts of "
                "words: whole numbers from 0 on",
                row=start + row,
            )

    # ---- inference -----------------------------------------------------------------------------------------------

    def infer(
        self, state: AnyTopics, rows: MatrixRows, scoring: bool, widths: NDArray[np.int64] | None = None
    ) -> tuple[Results, NDArray[np.int64]]:
        """Gamma of every document, with the statistics of the words named beside them, or the losses.

        `widths` is the size of the vocabulary with each document; by default all have that of the rows.
        """
        documents, words = find_words(rows, state.features)
        documents.unknown[:, 0] = (rows.width if widths is None else widths) - state.features
        read = read_topics(state, words)
        out = allocate_results(rows.rows, words.size, read.alpha.size, scoring)
        numbers = np.array([self.tolerance, self.iterations, float(scoring)])
        run_inference(documents, read, out, numbers, self.row_config.native)
        return out, words

    def score_rows(self, state: AnyTopics, rows: MatrixRows) -> Scored:
        found, _ = self.infer(state, rows, scoring=True)
        return Scored(shares(found.gamma), found.losses)

    def score_part(self, state: AnyTopics | None, rows: MatrixRows, start: int, widths: NDArray[np.int64]) -> Scored:
        """Scores of documents; the words up to and with each are its vocabulary, also those that no topic knows yet."""
        found, _ = self.infer(self.start_state(0) if state is None else state, rows, scoring=True, widths=widths)
        self.words_scored += float(rows.sparse.val.sum())
        return Scored(shares(found.gamma), found.losses)


def read_topics(state: TopicState, words: NDArray[np.int64]) -> Topics:
    """What inference reads of topics for documents with these words."""
    topics = state.topics
    return Topics(topics.weights, np.array([topics.eta, topics.scale]), words, topics.totals, state.prior())


def find_words(rows: MatrixRows, known: int) -> tuple[Documents, NDArray[np.int64]]:
    """The documents with their words numbered anew, and the words in the order of these numbers, which are known.

    How many words of the vocabulary are not known is left 0.
    """
    block = rows.sparse
    numbers, counts = block.idx, block.val
    row = np.repeat(np.arange(block.rows), np.diff(block.indptr))
    inside = (numbers < known) & (numbers >= 0) & (counts > 0.0)
    outside = ~inside & (counts > 0.0)
    unknown = np.zeros((block.rows, 2))
    unknown[:, 1] = np.bincount(row[outside], counts[outside], minlength=block.rows)
    words, local = number_words(numbers[inside])
    offsets = np.concatenate(([0], np.cumsum(np.bincount(row[inside], minlength=block.rows)))).astype(np.int64)
    documents = Documents(offsets, local.astype(np.int32), np.ascontiguousarray(counts[inside]), unknown)
    return documents, words.astype(np.int64)


def number_words(numbers: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The different words in order, and where each of these stands among them."""
    if (numbers[1:] > numbers[:-1]).all():  # a single document; sorting it takes ten times as long
        return numbers, np.arange(numbers.size)
    words, places = np.unique(numbers, return_inverse=True)
    return words, places


def shares(gamma: Floats) -> Floats:
    """The mean of the Dirichlet distribution with the parameters in each row."""
    return np.asarray(gamma / np.add.accumulate(gamma, axis=1)[:, -1:])  # in order, whatever rows stand beside
