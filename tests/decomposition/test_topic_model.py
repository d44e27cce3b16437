"""What all topic models share: results, documents as they are read, words that come late, parameters, files."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from numpy.typing import NDArray

import noregret as nr
from noregret.data.blocks import Rows, SparseBlock
from noregret.decomposition import topic_parameters as parameters
from noregret.decomposition.documents import find_texts, is_document, list_documents, name_words, sort_words
from noregret.decomposition.largest import find_largest
from noregret.decomposition.matrix_rows import MatrixRows
from noregret.decomposition.topic_file import dump_topics, restore_topics
from noregret.decomposition.topic_model import Topic, find_words, number_words
from noregret.decomposition.topic_words import TopicWords
from tests.support import refusal, refused

Floats = NDArray[np.float64]
COUNTS = np.random.default_rng(6).poisson(0.7, (12, 9)).astype(float)
MODELS: dict[str, dict[str, Any]] = {"lda": {"k": 3}, "hdp": {"t": 5, "k": 3}, "unigram": {}}


def make(name: str = "lda", **options: Any) -> Any:
    return nr.make(name, **{"native": False, "batch": 4, **MODELS[name], **options})


# ---- results ---------------------------------------------------------------------------------------------------------


def test_topics_are_told_by_share_and_their_words_by_probability() -> None:
    learner = make().learn(COUNTS)
    topics = learner.state.topics
    topics.sums = np.array([1.0, -2.0, 3.0])
    assert learner.topic_shares.tolist() == [0.25, 0.0, 0.75]
    found = learner.topics(4)
    assert [topic.number for topic in found] == [2, 0, 1]
    for topic in found:
        shares = learner.components[topic.number]
        assert [word for word, _ in topic.words] == np.argsort(-shares)[:4].tolist()
        assert [share for _, share in topic.words] == np.sort(shares)[::-1][:4].tolist()
    assert [topic.words for topic in learner.topics(0)] == [[]] * 3
    topics.sums = np.array([-1.0, -2.0, 0.0])
    assert learner.topic_shares.tolist() == [1 / 3] * 3
    assert Topic(3, 0.125, [("a", 0.5), ("b", 0.25)]).describe() == "   3  12.5 %  a b"


def test_the_corpus_is_as_large_as_given_or_as_seen() -> None:
    learner = make()
    assert [learner.corpus_size(0.0, seen) for seen in (5, 10_000, 20_000)] == [10_000.0, 10_000.0, 20_000.0]
    assert [learner.corpus_size(50.0, seen) for seen in (5, 20_000)] == [50.0, 50.0]


@pytest.mark.parametrize("name", MODELS)
def test_a_state_counts_documents_and_numbers(name: str) -> None:
    learner = make(name).learn(COUNTS[:10])
    assert [learner.start_state(words).features for words in (0, 5)] == [0, 5]
    assert (learner.state.documents, learner.latest.documents) == (8, 10)
    assert learner.state.copy().documents == 8
    assert learner.count_numbers(7) == 7 * learner.components.shape[0]
    assert learner.state.is_finite()
    learner.state.topics.sums[0] = np.nan
    assert not learner.state.is_finite()


def test_perplexity_is_that_of_the_words_that_are_known() -> None:
    learner = make().learn(COUNTS)
    losses, words = learner.score(COUNTS).losses.sum(), COUNTS.sum()
    for rows in (COUNTS, sparse.csr_matrix(COUNTS)):
        assert learner.perplexity(rows) == pytest.approx(np.exp(losses / words))
    spare = sparse.csr_matrix(COUNTS)
    used = spare.nnz
    spare.data, spare.indices = np.append(spare.data, [5.0, 6.0]), np.append(spare.indices, [0, 1]).astype(np.int32)
    assert spare.indptr[-1] == used
    assert learner.perplexity(spare) == pytest.approx(np.exp(losses / words))
    assert np.isnan(learner.perplexity(np.zeros((2, 9))))
    names = make().learn([["a", "b"]])
    names.perplexity([["a", "new"]])
    assert names.feature_names == ["a", "b"]
    named = make(least_documents=2.0).learn([["a", "b"], ["a", "b"], ["b"]])
    before = named.dump()
    assert named.perplexity([["a", "new", "new"], ["b", "c"]]) == pytest.approx(
        np.exp(named.score([["a"], ["b"]]).losses.sum() / 2)
    )
    assert named.filter.documents == 3
    assert named.filter.counts == {"a": 2, "b": 3}
    assert str(named.dump()) == str(before)


# ---- documents -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_a_document_without_words_may_be_anything_empty(name: str) -> None:
    learners = [make(name, batch=1) for _ in range(4)]
    for learner, empty in zip(learners, ("", [], (), {}), strict=True):
        learner.learn_one(empty).learn([["a", "b"]]).learn([empty]).learn_one(empty).learn([empty, {"b": 1}, "c a"])
        assert learner.transform([empty]).tolist() == [learner.transform_one(empty).tolist()]
        assert learner.predict_one(empty).tolist() == learner.transform_one({}).tolist()
    assert all(str(learner.dump()) == str(learners[0].dump()) for learner in learners)


def test_documents_are_texts_or_lists_of_words_in_a_list() -> None:
    documents: list[Any] = [["a"], ("a",), [["a"]], [("a",)], [[]], [{}, "a"], [{}, []], [{"a": 1}, ["b"]], [3, "a"]]
    others: list[Any] = [[], "text", {"a": 1}, [{"a": 1}], [[1.0]], [3], np.zeros((2, 2)), [[1, "a"]], None]
    assert all(is_document(rows) for rows in documents)
    assert not any(is_document(rows) for rows in others)


def test_a_document_of_something_else_is_refused_by_its_row() -> None:
    learner = make().learn([["a", "b"]])
    assert "row 1: a document is a text" in refused(learner, lambda: learner.learn([["a"], 3]))
    assert "row 0: the count of 'a' is -1;" in refused(learner, lambda: learner.learn([{"a": -1}]))
    assert "row 2: the count of 'c' is 0.5;" in refused(
        learner, lambda: learner.learn([{}, {"a": 1}, {"b": 1, "c": 0.5}])
    )
    assert "row 1: the count of 'a' is -2;" in refusal(lambda: learner.score([{"b": 0}, {"b": 1.5, "a": -2}]))
    assert "row 0: a document is a text" in refused(learner, lambda: learner.learn_one(["a", 2]))
    columns = make().learn(COUNTS)
    assert "row 1: the count of 4 is -2;" in refused(
        columns, lambda: columns.learn([[0.0] * 9, [0.0] * 4 + [-2.0] * 5])
    )


def test_a_call_that_fails_leaves_the_words_that_were_scored() -> None:
    learner = make(batch=1)
    assert learner.words_scored == 0.0
    learner.play(["aa bb", "bb"])
    learner.score(["bb bb new"])
    assert learner.words_scored == 5.0
    refused(learner, lambda: learner.play([{"aa": 4}, {"aa": -1}]))
    assert learner.words_scored == 5.0


def test_words_are_filtered_however_they_are_named() -> None:
    options: dict[str, Any] = {"least_documents": 2.0, "batch": 1}
    texts = ["aa bb", "aa cc", "bb aa"]
    rows = Rows(
        SparseBlock(np.array([0, 2, 4, 6]), np.array([0, 1, 0, 2, 1, 0], np.int32), np.ones(6), 3), ["aa", "bb", "cc"]
    )
    expected = make(**options).learn(texts)
    assert expected.feature_names == ["aa", "bb"]
    assert name_words(rows.block, ["aa", "bb", "cc"]) == [
        {"aa": 1.0, "bb": 1.0},
        {"aa": 1.0, "cc": 1.0},
        {"bb": 1.0, "aa": 1.0},
    ]
    for documents in ([text.split() for text in texts], [dict.fromkeys(text.split(), 1) for text in texts], rows,
                      tuple(texts)):  # fmt: skip
        found = make(**options).learn(documents)
        assert found.filter.counts == {"aa": 3, "bb": 2, "cc": 1}
        assert found.feature_names == ["aa", "bb"]
        np.testing.assert_allclose(found.components, expected.components)
    for matrix in (COUNTS, sparse.csr_matrix(COUNTS), COUNTS.tolist(), Rows(rows.block)):
        assert make(**options).learn(matrix).filter.counts == {}
    assert make().read_rows(rows, learn=True) == [
        {"aa": 1.0, "bb": 1.0},
        {"aa": 1.0, "cc": 1.0},
        {"aa": 1.0, "bb": 1.0},
    ]
    mixed = make(**options)
    assert "dict" in refused(mixed, lambda: mixed.learn([{"a": 1}, np.zeros(2)]))


def test_a_column_of_texts_is_a_list() -> None:
    texts = ["aa bb", "cc"]
    for column in (np.array(texts), SimpleNamespace(shape=(2,), to_list=lambda: texts)):
        assert list_documents(column) == texts
    for other in (
        np.arange(2.0),
        np.array([texts]),
        SimpleNamespace(shape=(2,)),
        SimpleNamespace(tolist=lambda: texts),
    ):
        assert list_documents(other) is other


def test_a_column_of_texts_may_be_an_arrow_array() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    texts = ["aa bb", "cc", "bb"]
    expected = str(make().learn(texts).dump())
    for column in (pyarrow.array(texts), pyarrow.chunked_array([texts[:1], texts[1:]])):
        assert str(make().learn(column).dump()) == expected
    counts = make().learn(pyarrow.table({"a": [1, 2], "b": [0, 1]}))
    assert counts.feature_names == ["a", "b"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_with_a_column_of_texts_is_to_be_given_as_this_column(library: str) -> None:
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({"n": [1, 2], "body": ["aa bb", "cc"]})
    learner = make().learn(["aa bb"])
    problem = (
        "column 'body' holds texts; give documents as this column alone, X['body'], or leave it out of a matrix of "
    )
    assert refused(learner, lambda: learner.learn(frame)) == f"{problem}counts"
    assert refused(learner, lambda: learner.score(frame[["body"]])) == f"{problem}counts"
    learner.learn(frame["body"])
    for counts in (frame[["n"]], frames.DataFrame({"n": []}), frames.DataFrame({str(name): [1] for name in range(60)})):
        assert find_texts(counts) is None
    if library == "pandas":
        assert find_texts(frames.DataFrame([[1, 2]], columns=["n", "n"])) is None
    assert make().learn(frame[["n"]]).feature_names == ["n"]


@pytest.mark.parametrize("make_rows", [iter, set, lambda texts: dict.fromkeys(texts).values()])
def test_documents_without_an_order_or_that_are_read_once_are_to_be_made_a_list(make_rows: Any) -> None:
    learner = make().learn(["aa bb"])
    rows = make_rows(["aa", "bb"])
    problem = f"documents come in a list or a column; make a list of this {type(rows).__name__}: list(documents)"
    assert refused(learner, lambda: learner.learn(rows)) == problem


@pytest.mark.parametrize("wrong", [None, b"aa", {"a"}, [["a"]], [b"a"], [("a",)], iter("a")])
def test_what_cannot_be_a_document_is_refused_by_its_row(wrong: Any) -> None:
    learner = make().learn([{"a": 1}])
    problem = "row 1: a document is a text, a list of words or a dict of counts, not "
    assert refused(learner, lambda: learner.learn([{"a": 1}, wrong])).startswith(problem)


@pytest.mark.parametrize("several", [[], [4], [4, 7, 9], [9, 7, 4], [4, 4], [4, 7, 7, 9], [7, 7, 4, 9]])
def test_words_of_one_document_or_of_several_are_numbered_alike(several: list[int]) -> None:
    words, places = number_words(np.array(several, np.int32))
    assert words.tolist() == sorted(set(several))
    assert words[places].tolist() == several


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 6, 9])
def test_the_largest_values_come_in_order_and_the_first_of_equal_ones_first(count: int) -> None:
    for values in ([0.5, 2.0, 0.5, 3.0, 0.5, 2.0], [1.0] * 6, [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]):
        assert find_largest(np.array(values), count) == np.argsort(-np.array(values), kind="stable")[:count].tolist()
    assert find_largest(np.zeros(0), count) == []


def test_new_words_are_numbered_in_the_order_of_the_alphabet() -> None:
    words, mixed = {"bb": 2, "aa": 1}, {"bb": 2, 3: 1}
    assert list(sort_words(words).items()) == [("aa", 1), ("bb", 2)]
    assert sort_words(mixed) is mixed
    for learn, expected in ((True, ["aa", "bb"]), (False, ["bb", "aa"])):
        assert [list(one) for one in make().read_rows([words], learn=learn)] == [expected]


@pytest.mark.parametrize(
    ("source", "documents"),
    [
        (None, False),
        ({}, False),
        ({"reading": None}, False),
        ({"reading": {}}, False),
        ({"reading": {"documents": 1}}, False),
        ({"reading": {"documents": True}}, True),
    ],
)
def test_a_model_of_documents_is_read_on_by_the_command_that_made_it(source: Any, documents: bool) -> None:
    learner = make()
    learner.source = source
    assert learner.learned_documents is documents
    more = "noregret topics MORE_DOCUMENTS" if documents else "noregret learn MORE_ROWS"
    assert learner.commands("m.nr") == ["noregret predict m.nr NEW_ROWS --out predictions.csv", f"{more} --resume m.nr"]


def test_words_beside_those_that_are_known_are_never_looked_up() -> None:
    """Also where a number was changed after it was checked; words with a count of 0 are not there."""
    block = SparseBlock(np.array([0, 3, 3, 8]), np.array([4, 0, -1, 2, 4, 5, 3, 1], np.int32),
                        np.array([1.0, 2.0, 3.0, 1.0, 0.0, 4.0, 5.0, 0.0]), 6)  # fmt: skip
    documents, words = find_words(MatrixRows(block, 6, np.zeros(3)), 4)
    assert words.tolist() == [0, 2, 3]
    assert documents.offsets.tolist() == [0, 1, 1, 3]
    assert documents.words.tolist() == [0, 1, 2]
    assert documents.counts.tolist() == [2.0, 1.0, 5.0]
    assert documents.unknown.tolist() == [[0.0, 4.0], [0.0, 0.0], [0.0, 4.0]]
    assert [str(one.dtype) for one in (words, documents.offsets, documents.words)] == ["int64", "int64", "int32"]


# ---- parameters ------------------------------------------------------------------------------------------------------


def test_parameters_have_these_limits_and_ranges_to_search() -> None:
    inf, fall, weight = np.inf, (0.51, 1.0, "linear"), (0.1, 10.0, "log")
    expected = [
        (parameters.topics_param(), 20.0, 1.0, 16384.0, None),
        (parameters.prior_param("a"), 0.0, 0.0, 1e6, (0.01, 1.0, "log")),
        (parameters.delay_param(), 64.0, 0.0, inf, (1.0, 1024.0, "log")),
        (parameters.decay_param(), 0.7, 0.0, 1.0, fall),
        (parameters.documents_param(), 0.0, 0.0, 1e12, None),
        (parameters.tolerance_param(0.1, "a"), 0.1, 0.0, inf, None),
        (parameters.iterations_param(), 100.0, 1.0, 1e6, None),
        (parameters.truncation_param(), 150.0, 2.0, 16384.0, None),
        (parameters.slots_param(), 15.0, 2.0, 1024.0, None),
        (parameters.weight_param(3.0, "a"), 3.0, 1e-6, 1e6, weight),
        (parameters.words_param(), 0.05, 0.002, inf, (0.01, 1.0, "log")),
        (parameters.stick_delay_param(), 16.0, 0.0, inf, (1.0, 64.0, "log")),
        (parameters.stick_decay_param(), 0.7, 0.0, 1.0, fall),
    ]
    for one, *limits in expected:
        assert [one.default, one.at_least, one.at_most, one.search] == limits
    assert parameters.start_choice().among == {"topics": False, "uniform": True}
    assert (parameters.LEAST_ALPHA, parameters.LEAST_ETA) == (1e-6, 0.002)


# ---- model files -----------------------------------------------------------------------------------------------------


WEIGHTS = np.array([[3.0, -0.9, 0.0], [1.0, 0.9, 0.0]])
SUMS = WEIGHTS.sum(axis=0)


def read_topics(weights: Floats = WEIGHTS, sums: Floats = SUMS, words: int = 2, **header: Any) -> TopicWords:
    fresh = TopicWords.empty(3, 0.5, 1)
    return restore_topics(fresh, {"scale": 0.5, "start": 0.25, **header}, {"weights": weights, "sums": sums}, words)


def test_topics_are_read_as_they_were_written() -> None:
    found = read_topics()
    assert (found.words, found.scale, found.start) == (2, 0.5, 0.25)
    assert found.parameters().tolist() == (0.5 + 0.5 * WEIGHTS).tolist()
    header, arrays = dump_topics(found)
    assert header == {"scale": 0.5, "start": 0.25}
    assert arrays["weights"].tolist() == WEIGHTS.tolist()
    assert arrays["sums"].tolist() == SUMS.tolist()
    for name, limit in (("scale", 1.0), ("scale", 1e-99), ("start", 0.0), ("start", 1.0)):
        assert getattr(read_topics(WEIGHTS / 2.0, SUMS / 2.0, 2, **{name: limit}), name) == limit
    for rounded in ([3e-9, 0.0, 0.0], [-3e-9, 0.0, 0.0], [0.0, 1.5e-9, 0.0]):
        assert read_topics(sums=SUMS + rounded).words == 2


SCALES = [
    {"scale": 0.0},
    {"scale": 1.5},
    {"scale": -0.5},
    {"start": -0.5},
    {"start": 1.5},
    {"scale": 1.5, "start": 2.0},
]
SHAPES = [{"words": 3}, {"weights": WEIGHTS[:, :2]}, {"sums": SUMS[:2]}, {"sums": SUMS[:1]}, {"weights": WEIGHTS.T}]
NUMBERS = [
    *({"sums": SUMS + np.array(off)} for off in ((5e-9, 0.0, 0.0), (0.0, -2e-9, 0.0), (0.0, 0.0, 1e-300))),
    {"weights": np.full((2, 3), 1e308), "sums": np.ones(3)},
    {"weights": np.array([[-1.0] * 3, [2.0] * 3]), "sums": np.ones(3)},
]


@pytest.mark.parametrize(
    ("problem", "several"),
    [
        ("the scale of its topics must be between 0 and 1", SCALES),
        ("the weights of its topics do not fit its words", SHAPES),
        ("the weights of its topics are not those of Dirichlet distributions", NUMBERS),
    ],
)
def test_topics_that_make_no_sense_are_refused(problem: str, several: list[dict[str, Any]]) -> None:
    for forged in several:
        with np.errstate(over="ignore"):
            assert refusal(lambda: read_topics(**forged)) == f"corrupt model file: {problem}"  # noqa: B023
