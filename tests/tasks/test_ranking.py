"""Ranking: lists are rounds, rules learn from differences of rows, and nothing depends on how the rows come."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.algebra.examples import SparseRows
from noregret.algebra.internal_verbs import row, row_difference
from noregret.learner import transaction as rounds
from noregret.learner.model_file import pack
from noregret.tasks.ranking import check_query
from tests import naive
from tests.naive.tasks.ranking import Ranking
from tests.support.cover import ALL
from tests.tasks.graded_lists import stream

SOME = ("perceptron", "pa1", "pa2", "arow", "scw1", "pegasos")
PAIRS = ("worst", "max_loss", "each", "all")
RANKERS = [card.name for card in nr.learners().rules.values() if "ranking" in card.tasks and card.built_in]


def near(a: Any, b: Any) -> None:
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def bits(learner: nr.RuleLearner) -> bytes:
    return bytes(pack(learner))


def hold_against_twin(
    name: str, pairs: str, form: Callable[[Any], Any], weighed: bool = False, required: Any = None, **told: Any
) -> None:
    X, y, query = stream()
    weight = (1.0 + query % 3) * (query != 2) if weighed else None
    learner = nr.make(name, task="ranking", pairs=pairs, **told)
    twin = Ranking(naive.rule(name, **{key: learner.params[key] for key in learner.card.params}), pairs, required)
    truth = y if required is None else np.column_stack((y, required))
    transcript = learner.play(form(X), truth, weight, query=query)
    scores, updated = twin.run(X, y, query, weight)
    near(transcript.scores, scores)
    assert transcript.updated.tolist() == updated
    near(learner.scores(form(X)), twin.final(X))
    assert (learner.rounds, learner.updates) == (12, sum(updated))


@pytest.mark.parametrize("pairs", PAIRS)
@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_plays_as_its_twin(name: str, pairs: str, form: Callable[[Any], Any]) -> None:
    hold_against_twin(name, pairs, form, native=False)


@pytest.mark.parametrize("pairs", PAIRS)
@pytest.mark.parametrize("name", ["pa1", "pa2", "arow"])
def test_required_margins_are_those_of_its_twin(name: str, pairs: str) -> None:
    required = np.random.default_rng(5).uniform(0.0, 4.0, len(stream()[0]))
    hold_against_twin(name, pairs, csr_array, required=required, native=False)


def test_bad_required_margins_are_refused() -> None:
    learner = nr.make("pa1", task="ranking", native=False)
    for margins, words in (([1.0, np.nan], "row 1: the required margin is nan"), ([[1.0], [2.0]], "one number")):
        with pytest.raises(nr.BadValue, match=words):
            learner.learn(
                [[1.0], [2.0]], np.column_stack(([1, 0], margins)) if words[0] == "r" else margins, query=[0, 0]
            )


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", sorted({*RANKERS} - {*SOME}))
def test_every_rule_that_ranks_plays_as_its_twin(name: str) -> None:
    hold_against_twin(name, "each", csr_array, native=False)


@pytest.mark.parametrize("name", ["adaline_normalised", "pa2", "pegasos"])
def test_in_the_reference_algebra_it_plays_as_its_twin(name: str) -> None:
    hold_against_twin(name, "all", np.asarray, algebra="reference")


@pytest.mark.thinned(2)
@pytest.mark.compiles
@pytest.mark.parametrize(
    ("name", "pairs", "form"),
    [("arow", "each", np.asarray), ("pa1", "all", csr_array), ("pa1", "worst", np.asarray), ("pa1", "each", csr_array)][
        : None if ALL else 2
    ],
)
def test_compiled_it_plays_as_its_twin(name: str, pairs: str, form: Callable[[Any], Any]) -> None:
    hold_against_twin(name, pairs, form)


def test_of_level_rows_the_first_is_the_opponent() -> None:
    X = np.eye(4)
    learner = nr.make("pa", task="ranking", pairs="worst", native=False).learn(X, [1, 0, 0, 1], query=[1] * 4)
    assert learner.scores(X).tolist() == [0.5, -0.5, 0.0, 0.0]
    learner = nr.make("pa", task="ranking", pairs="worst", native=False).learn(X, [2, 1, 0, 0], query=[1] * 4)
    assert learner.scores(X).tolist() == [0.5, -0.5, 0.0, 0.0]  # all are level, and row 1 comes first


def test_the_worst_pair_is_against_the_highest_of_all_that_are_worse() -> None:
    learner = nr.make("pa", task="ranking", pairs="worst", native=False)
    learner.learn(np.eye(2, 4), [1, 0], query=[1, 1]).learn(np.eye(2, 4), [1, 0], query=[1, 1])
    X = np.array([[4.0, 0.0, 1.0, 0.0], [6.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]])
    assert learner.scores(X).tolist() == [2.0, 3.0, 0.0]
    after = learner.learn(X, [1, 0, 2], query=[1, 1, 1]).scores(X)
    assert after[2] - after[1] == pytest.approx(1.0)


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_covariances_are_those_of_the_difference(covariance: str) -> None:
    X, y, query = stream()
    told = {"task": "ranking", "covariance": covariance, "native": False}
    told |= {"r": 0.3}
    twin = Ranking(naive.rule("arow", r=0.3, covariance=covariance), "all").run(X, y, query)[0]
    for form, algebra in ((csr_array, "sparse"), (np.asarray, "dense"), (np.asarray, "reference")):
        near(nr.make("arow", algebra=algebra, **told).play(form(X), y, query=query).scores, twin)


@pytest.mark.parametrize("name", ["pa1", "arow", "adagrad"])
def test_weights_are_those_of_lists(name: str) -> None:
    if name != "arow":
        hold_against_twin(name, "each", csr_array, weighed=True, native=False)
    X, y, query = stream()
    learner = nr.make(name, task="ranking", native=False)
    with pytest.raises(nr.BadValue, match="row 1: its weight is 2, and the list it belongs to began with another"):
        learner.learn(X, y, np.where(np.arange(y.size) == 1, 2.0, 1.0), query=query)
    assert learner.rounds == 0


def test_a_difference_is_one_example() -> None:
    X = csr_array(np.array([[1.0, 2.0, 0.0, 4.0, 0.0], [0.0, 2.0, 3.0, 1.0, 0.0]]))
    none = np.zeros(0, np.uint32)
    rows = SparseRows(
        X.indptr.astype(np.int64), X.indices.view(np.uint32), X.data, 1, 0, np.zeros(1, np.int64), none, none
    )
    z = row_difference(row(rows, 0), row(rows, 1), np.zeros(5, np.uint32), np.zeros(5))
    assert (z.idx.tolist(), z.val.tolist(), z.sq) == ([0, 2, 3], [1.0, -3.0, 3.0], 19.0)  # what cancels is no feature


# ---- the step and its theorems -----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_after_pa_the_worst_pair_has_margin_one(form: Callable[[Any], Any]) -> None:
    X, y, query = stream(seed=5, count=20)
    learner = nr.make("pa", task="ranking", pairs="worst", native=False).learn(form(X), y, query=query)
    for one in range(20):
        some = query == one
        f, grades = learner.scores(form(X[some])), y[some]
        leads = np.where(grades[:, None] > grades, f[:, None] - f, np.inf)
        learner.learn(form(X[some]), grades, query=query[some])
        after = learner.scores(form(X[some]))
        i, j = np.unravel_index(np.argmin(leads), leads.shape)
        if leads[i, j] < 1.0 and (X[some][i] != X[some][j]).any():
            assert after[i] - after[j] == pytest.approx(1.0, abs=1e-12)
        else:
            assert after.tolist() == f.tolist()


def test_a_list_that_some_u_orders_is_ordered_within_the_perceptron_bound() -> None:
    """Novikoff on differences: a wrong list is one update, so there are at most (R / gamma)^2 wrong lists."""
    rng = np.random.default_rng(2)
    u = rng.normal(size=5)
    u /= np.linalg.norm(u)
    X = rng.normal(size=(360, 5))
    X += (np.round(X @ u / 0.5) * 0.5 - X @ u)[:, None] * u  # scores of u are multiples of 1/2
    y, query = np.round(X @ u / 0.5), np.repeat(np.arange(60), 6)
    Z = [
        X[i] - X[j] for q in range(60) for i in range(6 * q, 6 * q + 6) for j in range(6 * q, 6 * q + 6) if y[i] > y[j]
    ]
    radius, gamma = max(np.linalg.norm(Z, axis=1)), min(Z @ u)
    learner = nr.make("perceptron", task="ranking", pairs="worst", native=False)
    for _ in range(30):
        before = learner.mistakes
        learner.learn(X, y, query=query)
        if learner.mistakes == before:
            break
    assert learner.mistakes == learner.updates <= (radius / gamma) ** 2
    assert nr.play((X, y, query), learner)["mistakes"] == 0


def test_the_squared_losses_of_pa_keep_within_its_bound() -> None:
    """Crammer et al., theorem 2: if some u has margin 1 on all pairs, the squared hinges sum to at most R^2 |u|^2."""
    rng = np.random.default_rng(3)
    u = rng.normal(size=4)
    X = rng.normal(size=(800, 4))
    X += ((np.round(X @ u) - X @ u) / (u @ u))[:, None] * u  # u gives pairs whole margins
    y, query = np.round(X @ u), np.repeat(np.arange(200), 4)
    learner = nr.make("pa", task="ranking", pairs="worst", native=False)
    total, radius = 0.0, 0.0
    for q in range(200):
        some = query == q
        f = learner.scores(X[some]) if q else np.zeros(4)
        better = y[some][:, None] > y[some]
        if better.any():
            total += max(0.0, 1.0 - (f[:, None] - f)[better].min()) ** 2
            radius = max(radius, np.square(X[some][:, None] - X[some])[better].sum(axis=1).max())
        learner.learn(X[some], y[some], query=query[some])
    assert 0.0 < total <= radius * (u @ u)


# ---- lists, however they come ------------------------------------------------------------------------------------


@pytest.mark.parametrize("native", [False, True], ids=["plain", "compiled"])
def test_chunks_of_lists_do_not_matter(native: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, query = stream(seed=1, count=30)
    whole = nr.make("pa1", task="ranking", native=native)
    transcript = whole.play(csr_array(X), y, query=query)
    for size in (1, 7):
        parts = nr.make("pa1", task="ranking", native=native)
        for at in range(0, 30, size):
            some = (query >= at) & (query < at + size)
            parts.learn(csr_array(X[some]), y[some], query=query[some])
        assert bits(parts) == bits(whole)
    monkeypatch.setattr(rounds, "SLICE", 8)
    sliced = nr.make("pa1", task="ranking", native=native)
    again = sliced.play(csr_array(X), y, query=query)
    assert bits(sliced) == bits(whole)
    for field in ("scores", "losses", "mistakes", "updated", "truth", "lists"):
        assert getattr(again, field).tolist() == getattr(transcript, field).tolist()


def test_the_same_query_after_another_is_another_list() -> None:
    X, y, _ = stream(seed=1)
    once = nr.make("pa1", task="ranking", native=False).learn(X[:8], y[:8], query=list("aabbaacc"))
    other = nr.make("pa1", task="ranking", native=False).learn(X[:8], y[:8], query=[1, 1, 2, 2, 3, 3, 4, 4])
    assert bits(once) == bits(other)
    assert once.rounds == 4


def test_a_copy_a_file_and_a_learner_that_never_stopped_are_one(tmp_path: Path) -> None:
    X, y, query = stream(count=20)
    half = int(np.argmax(query == 10))
    whole = nr.make("scw1", task="ranking", pairs="all", native=False).learn(X, y, query=query)
    begun = nr.make("scw1", task="ranking", pairs="all", native=False).learn(X[:half], y[:half], query=query[:half])
    begun.save(tmp_path / "half.nr")
    for other in (begun.copy(), nr.load(tmp_path / "half.nr")):
        assert other.params["pairs"] == "all"
        other.learn(X[half:], y[half:], query=query[half:])
        assert other.scores(X).tolist() == whole.scores(X).tolist()
        assert (other.task, other.rounds, other.mistakes) == ("ranking", 20, whole.mistakes)


def test_rows_by_name_and_features_that_come_later() -> None:
    X, y, query = stream()
    names = [{f"f{j}": v for j, v in enumerate(x) if v} for x in X.tolist()]
    named = nr.make("pa1", task="ranking", native=False)
    for q in range(12):
        some = np.flatnonzero(query == q)
        named.learn([names[t] for t in some], y[some], query=query[some])
    near(named.scores(names), nr.make("pa1", task="ranking", native=False).learn(X, y, query=query).scores(X))
    assert named.predict_one(names[0]) == pytest.approx(named.scores(names)[0])


def test_features_that_all_rows_share_have_no_say() -> None:
    X, y, query = stream()
    plain = nr.make("arow", task="ranking", native=False).learn(csr_array(X), y, query=query)
    biased = nr.make("arow", task="ranking", native=False, bias=True).learn(csr_array(X), y, query=query)
    near(biased.scores(csr_array(X)), plain.scores(csr_array(X)))
    assert biased.nonzeros == plain.nonzeros


# ---- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "query", "why"),
    [
        ([1, 0, 1, 0], None, "say with query which list each row belongs to"),
        ([1, 0, 1, 0], [1, 1, 2, 3], "row 2: query 2 has this row only"),
        ([1, 0, np.nan, 0], [1, 1, 2, 2], "row 2: the relevance is nan"),
        ([1, 0, np.inf, 0], [1, 1, 2, 2], "row 2: the relevance is inf"),
        ([1, 0, 1, 0], [1, 1, 2], "y has 4 labels and query has 3 entries"),
        ([1, 0, 1, 0], "1122", "query must say for every row"),
        ([1, 0, 1, 0], 7, "query must say for every row"),
        ([1, 0, 1, 0], np.zeros((4, 1)), "query must say for every row"),
        (["a", "b", "c", "d"], [1, 1, 2, 2], "relevances must be numbers"),
        ([1, 0], [1, 1], "X has 4 rows and y has 2 labels"),
    ],
)
def test_what_is_refused_leaves_no_trace(y: Any, query: Any, why: str) -> None:
    X, good, q = stream()
    learner = nr.make("arow", task="ranking", native=False).learn(X, good, query=q)
    before = bits(learner)
    for call in (learner.learn, learner.play):
        with pytest.raises(nr.BadValue, match=why):
            call(X[:4], y, query=query)
    assert bits(learner) == before


def test_a_bad_row_in_the_last_list_leaves_no_trace() -> None:
    X, y, query = stream()
    for native in (False, True):
        learner = nr.make("pa1", task="ranking", native=native).learn(csr_array(X), y, query=query)
        before = bits(learner)
        bad = X.copy()
        bad[-1, 2] = np.nan
        with pytest.raises(nr.BadValue, match=f"row {len(X) - 1}, feature 2: the value is nan"):
            learner.learn(csr_array(bad), y, query=query)
        assert bits(learner) == before


def test_the_list_that_overflows_is_named() -> None:
    X, y, query = stream()
    huge = X.copy()
    last = np.flatnonzero(query == 6)
    huge[last] = 0.0
    huge[last[:2], 0], y[last] = (1e154, -1e154), 0.0
    y[last[0]] = 1.0
    learner = nr.make("perceptron", task="ranking", eta=1e300, native=False)
    with pytest.raises(nr.BadValue, match=rf"round 7 \(row {last[-1]} of this call\)"):
        learner.learn(huge, y, query=query)
    assert learner.rounds == 0


def test_what_makes_no_sense_is_said() -> None:
    learner = nr.make("pa1", task="ranking", native=False)
    with pytest.raises(nr.BadValue, match=r"give all rows of a list to learn, as in learn\(X, y, query=q\)"):
        learner.learn_one({"a": 1.0}, 2.0)
    with pytest.raises(nr.BadValue, match="ranking has relevances, not classes"):
        nr.make("pa1", task="ranking", classes=[0, 1])
    with pytest.raises(nr.BadValue, match="ranking has relevances, not classes"):
        nr.make("pa1", task="ranking", class_weight={1: 2.0})
    with pytest.raises(nr.BadValue, match="pairs must be one of all, each, worst, max_loss"):
        nr.make("pa1", task="ranking", pairs="best")
    with pytest.raises(nr.BadValue, match='query is for task="ranking"'):
        nr.make("pa1", native=False).learn(np.eye(2), [0, 1], query=[1, 1])
    with pytest.raises(nr.BadValue, match="epochs takes rows one by one, and ranking learns from lists"):
        nr.epochs(learner, np.eye(2), [0, 1])
    for name in ("sop", "narow", "winnow", "winnow_balanced", "ofs_partial", "perceptron_pocket", "perceptron_voted"):
        with pytest.raises(nr.BadValue, match=f"{name} cannot play ranking"):
            nr.make(name, task="ranking")


def test_a_list_too_long_is_refused() -> None:
    lengths = (2, 100_001, 100_002)
    for ids in (np.repeat([7, 8, 9], lengths), ["7", "7", *["8"] * 100_001]):
        with pytest.raises(nr.BadValue, match=r"row 2: query 8 has 100,001 rows; a list has at most 100,000") as error:
            check_query(ids, len(ids))
        assert error.value.row == 2
    assert check_query(np.repeat([7, 8], (100_000, 2)), 100_002).tolist() == [0, 100_000, 100_002]


def test_no_rows_and_equal_relevances_teach_nothing() -> None:
    learner = nr.make("pa1", task="ranking", native=False)
    learner.learn(np.zeros((0, 2)), [], query=[])
    learner.learn(np.eye(2), [3, 3], query=["a", "a"])
    assert (learner.rounds, learner.updates, learner.mistakes) == (1, 0, 0)
    assert learner.scores(np.eye(2)).tolist() == [0.0, 0.0]
