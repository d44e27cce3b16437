"""What a pool makes of its entries, by hand: their losses, one prediction of theirs, and its mistakes."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.adapters import pool_votes
from noregret.adapters.pool_votes import (
    ClassVotes,
    Codes,
    Combination,
    combination_of,
    loss_of_errors,
    places,
    weighted_mean,
)
from noregret.data.labels import UNIVERSUM
from noregret.data.transcript import Transcript
from noregret.learner.shared_rows import PlayedRounds

NOTHING = (0, 0.0, 0.0, 0.0)


def combination(task: str = "binary", seen: tuple[int, float, float, float] = NOTHING, **told: Any) -> Any:
    return combination_of(nr.make("pa1", task=task, native=False, **told).model, seen)


def played(truth: Any, predictions: Any = None, **told: Any) -> Transcript:
    """What an entry did; mistakes where the prediction is not the truth."""
    truth = np.asarray(truth)
    said = None if predictions is None else np.asarray(predictions)
    wrong = np.zeros(len(truth), bool) if said is None else np.asarray(said != truth[: len(said)])
    told = {"scores": None, "losses": wrong.astype(float), "mistakes": wrong, **told}
    return Transcript(predictions=said, updated=told["mistakes"], truth=truth, **told)


# ---- one class -------------------------------------------------------------------------------------------------------


def test_a_mistake_costs_1_and_so_does_a_round_that_was_not_played() -> None:
    votes = combination(classes=["a", "b"])
    whole, part = played(["a", "b", "b"], ["a", "a", "b"]), played(["a", "b"], ["b", "b"])
    assert votes.losses([part, None, whole]).T.tolist() == [[1, 0, 1], [1, 1, 1], [0, 1, 0]]


def test_weights_vote_for_the_class_with_its_sign() -> None:
    shares = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.1, 0.2, 0.7]])
    said = [np.array(["a", "b", "a"]), np.array(["b", "b", "b"]), None]
    for order, signs in ((["a", "b"], [-1.0, 1.0]), (["b", "a"], [1.0, -1.0])):
        votes = combination(classes=order)
        found = votes.combine(said, shares)
        expected = np.array([0.3 - 0.5, 0.5, 0.2 - 0.1])
        assert found.tolist() == pytest.approx((signs[1] * expected).tolist())
        assert votes.decide(found).tolist() == ["a", "b", "b"]
    natural = combination(classes=[1, -1])
    assert natural.combine([np.array([1.0, -1.0])], np.ones((2, 1))).tolist() == [1.0, -1.0]


def test_entries_that_stopped_or_say_no_known_class_have_no_vote() -> None:
    votes, shares = combination(classes=["a", "b"]), np.array([[0.5, 0.3, 0.2]] * 3)
    said = [np.array(["a"]), np.array(["c", "b", "a"]), np.array(["b", "b", "b"])]
    assert votes.combine(said, shares).tolist() == pytest.approx([0.2 - 0.5, 0.3 + 0.2, 0.2 - 0.3])


def test_votes_of_many_classes_have_a_column_each() -> None:
    votes, shares = combination("multiclass", classes=["a", "b", "c"]), np.array([[0.5, 0.3, 0.2]] * 2)
    said = [np.array(["c", "a"]), np.array(["a", "b"]), np.array(["c", "x"])]
    assert votes.combine(said, shares) == pytest.approx(np.array([[0.3, 0.0, 0.7], [0.5, 0.3, 0.0]]))
    assert votes.decide(votes.combine(said, shares)).tolist() == ["c", "a"]


@pytest.mark.parametrize(("label", "sign"), [(1, 1.0), ("a", -1.0)])
def test_of_one_known_class_the_votes_have_its_sign(label: Any, sign: float) -> None:
    votes = combination_of(nr.make("pa1", native=False).learn([{"x": 1.0}], [label]).model, NOTHING)
    assert votes.combine([np.array([label]), None], np.array([[0.75, 0.25]])).tolist() == [sign * 0.75]
    nobody = combination()
    assert nobody.combine([None, None], np.array([[0.75, 0.25]])).tolist() == [0.0]
    assert nobody.combine([Codes(np.zeros(1, np.int64)), None], np.array([[0.75, 0.25]])).tolist() == [0.75]


@pytest.mark.parametrize(("label", "other", "sign"), [(1, -1, 1.0), ("a", "b", -1.0)])
def test_of_one_known_class_the_votes_for_another_count_against_it(label: Any, other: Any, sign: float) -> None:
    votes = combination_of(nr.make("pa1", native=False).learn([{"x": 1.0}], [label]).model, NOTHING)
    said = [np.array([label, other, other]), np.array([other, label, other])]
    assert votes.combine(said, np.array([[0.75, 0.25]] * 3)).tolist() == [sign * 0.5, sign * -0.5, -sign]


def test_who_says_no_class_has_no_vote_for_or_against_one() -> None:
    """As an entry does in its first round."""
    votes = combination_of(nr.make("pa1", native=False).learn([{"x": 1.0}], [1]).model, NOTHING)
    said = [np.array([None, 1], object), np.array([None, None], object)]
    assert votes.combine(said, np.array([[0.75, 0.25]] * 2)).tolist() == [0.0, 0.75]


@pytest.mark.parametrize("classes", [3, 16, 17, 30])
@pytest.mark.parametrize("kind", ["int", "float", "str", "object"])
def test_labels_of_any_kind_and_number_are_encoded(classes: int, kind: str) -> None:
    """Also those of mixed kinds; 999 is no class."""
    labels = [str(k) if kind == "str" or (kind == "object" and k % 2) else k for k in range(classes)]
    votes = combination("multiclass", classes=labels)
    said = np.array([labels[2], "999" if kind == "str" else 999, labels[1]], kind)
    assert votes.encode(said).tolist() == [2, -1, 1]


def test_codes_of_entries_that_share_rows_are_read_as_they_are() -> None:
    votes = combination(classes=["a", "b"])
    truth = np.array(["a", "b"])
    shared = PlayedRounds(np.zeros(2), np.array([1, 0]), np.array([True, True]), np.array([True, True]), truth)
    assert isinstance(votes.read(shared), Codes)
    assert votes.read(played(truth, ["a", "a"])).tolist() == ["a", "a"]
    said = [votes.read(shared), votes.read(played(truth, ["a", "a"]))]
    assert votes.combine(said, np.array([[0.6, 0.4]] * 2)).tolist() == pytest.approx([0.2, -1.0])
    assert votes.losses([shared, None]).tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize(("classes", "rows", "added"), [
    (4, 64, True), (3, 100, True), (4, 63, False), (5, 64, False), (5, 63, False), (2, 10, False),
])  # fmt: skip
def test_votes_are_added_entry_by_entry_where_classes_are_few_and_rows_many(
    classes: int, rows: int, added: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[str] = []
    for name in ("add_votes", "place_votes"):
        monkeypatch.setattr(pool_votes, name, counting(name, getattr(pool_votes, name), called))
    names = [f"class {number}" for number in range(classes)]
    said = [np.array([names[t % classes] for t in range(rows)]), np.array(names[:1] * rows)]
    votes = combination("multiclass", classes=names).combine(said, np.tile([0.75, 0.25], (rows, 1)))
    expected = 0.75 * np.eye(classes)[np.arange(rows) % classes]
    expected[:, 0] += 0.25
    assert votes.tolist() == expected.tolist()
    assert called == ["add_votes" if added else "place_votes"]


def counting(name: str, compute: Any, called: list[str]) -> Any:
    """The same function, which is noted whenever it is called."""

    def act(*given: Any) -> Any:
        called.append(name)
        return compute(*given)

    return act


@pytest.mark.parametrize(("classes", "kind"), [(2, np.int8), (127, np.int8), (128, np.int64), (300, np.int64)])
def test_codes_of_few_classes_are_short_and_those_of_many_are_whole(classes: int, kind: Any) -> None:
    """A number of 8 bits has room for codes up to 126 and for -1."""
    names = [f"class {number:03}" for number in range(classes)]
    codes = combination("multiclass", classes=names).encode_all([np.array(names), None], classes)
    assert codes.dtype == kind
    assert codes.tolist() == [list(range(classes)), [-1] * classes]


def test_the_vote_is_wrong_where_it_is_not_the_truth() -> None:
    votes = combination(classes=["a", "b"])
    assert votes.mistakes(np.array([-1.0, 1.0, 1.0]), played(["a", "a", "b"])).tolist() == [False, True, False]
    mixed = np.empty(3, object)
    mixed[:] = ["a", UNIVERSUM, "a"]
    assert votes.mistakes(np.array([-1.0, 1.0, 1.0]), played(mixed)).tolist() == [False, False, True]


def test_an_entry_speaks_for_a_label_or_against_it() -> None:
    votes: Combination = combination(classes=["a", "b"])
    assert isinstance(votes, ClassVotes)
    assert [votes.share_of(["a"], 0.3, label) for label in ("a", "b")] == [0.3, -0.3]
    assert combination("regression").share_of([2.5], 0.5, 7.0) == 1.25
    labels = combination("multilabel", classes=["one", "two", "three"])
    said = [np.array([True, False])]  # it does not know three
    assert labels.share_of(said, 0.3, ("one",)) == labels.share_of(said, 0.3, "one") == 0.3
    assert [labels.share_of(said, 0.3, one) for one in (["one", "three"], {"two"}, ("one", "two"), "two")] == [-0.3] * 4
    with pytest.raises(nr.BadValue, match="cannot explain one row in ranking"):
        combination("ranking").share_of([1.0], 0.5, 1.0)


# ---- targets ---------------------------------------------------------------------------------------------------------


def test_an_error_costs_the_square_of_its_share_of_four_deviations() -> None:
    truth = np.array([1.0, 3.0, -2.0, 8.0])
    exact, stopped = played(truth, [1.0, 1.0, 1.0, 1.0]), played(truth[:2], [0.0, 50.0])
    whole, parts = combination("regression"), combination("regression")
    found = whole.losses([exact, stopped, None])
    widths = [4.0 * truth[: t + 1].std() for t in range(4)]
    assert found[:, 0].tolist() == pytest.approx(
        [0.0, (2 / widths[1]) ** 2, (3 / widths[2]) ** 2, (7 / widths[3]) ** 2]
    )
    assert found[:, 1].tolist() == [1.0, 1.0, 1.0, 1.0]
    assert found[:, 2].tolist() == [1.0] * 4
    for t in range(4):
        one = parts.loss_of_targets({0: 1.0}, float(truth[t]), 3)
        assert one.tolist() == pytest.approx([found[t, 0], 1.0, 1.0])
    assert whole.seen == parts.seen == (4, 1.0, 0.0 + 2.0 - 3.0 + 7.0, 4.0 + 9.0 + 49.0)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_an_error_to_either_side_costs_1_at_most(side: float) -> None:
    targets = combination("regression")
    assert targets.loss_of_targets({1: 5.0 + side}, 5.0, 2).tolist() == [1.0, 1.0]  # there is no range yet
    assert targets.loss_of_targets({0: 6.0 + side, 1: 6.0 + 50.0 * side}, 6.0, 2).tolist() == [0.25, 1.0]
    later = combination("regression", targets.seen)
    assert later.losses([played([6.0], [6.0 + 50.0 * side])]).tolist() == [[1.0]]


def test_a_share_of_a_small_range() -> None:
    errors, widths = np.array([0.1, 0.1, 0.0, 0.1]), np.array([0.5, 0.05, 0.0, 0.0])
    assert loss_of_errors(errors, widths).tolist() == pytest.approx([0.04, 1.0, 0.0, 1.0])


def test_targets_seen_before_count() -> None:
    later = combination("regression", (2, 1.0, 2.0, 4.0))  # 1 and 3
    width = 4.0 * np.array([1.0, 3.0, -2.0]).std()
    assert later.ranges(np.array([-2.0])).tolist() == pytest.approx([width])
    assert later.seen == (3, 1.0, -1.0, 13.0)
    assert later.ranges(np.zeros(0)).tolist() == []
    assert later.seen == (3, 1.0, -1.0, 13.0)
    endless = combination("regression")
    assert endless.ranges(np.array([-1e200, 1e200])).tolist() == [0.0, np.inf]
    assert not endless.losses([played([0.0], [1e300])]).any()


def test_the_same_target_again_and_again_has_no_range() -> None:
    assert combination("regression").ranges(np.full(50, 0.1)).tolist() == [0.0] * 50
    assert (combination("regression", (7, 0.3, 0.7, 0.07)).ranges(np.full(9, 0.4)) >= 0.0).all()


def test_the_mean_of_targets_is_weighted_by_those_who_predict() -> None:
    shares = np.array([[0.5, 0.3, 0.2]] * 2)
    targets = combination("regression")
    found = targets.combine([np.array([1.0, 2.0]), np.array([5.0]), None], shares)
    assert found.tolist() == pytest.approx([(0.5 + 1.5) / 0.8, 2.0])
    assert weighted_mean([None, None, None], shares).tolist() == [0.0, 0.0]
    assert targets.mistakes(found, played([9.0, 9.0])).tolist() == [False, False]


# ---- sets of labels --------------------------------------------------------------------------------------------------


def sets(truth: list[list[int]], scores: list[list[float]]) -> Transcript:
    told = {"scores": np.array(scores), "relevant": np.array(truth, bool), "losses": np.zeros(len(scores))}
    return played(np.zeros(len(truth)), mistakes=np.zeros(len(scores), bool), **told)


def test_a_set_costs_what_is_wrong_or_missing_over_both_sizes() -> None:
    labels = combination("multilabel", classes=["a", "b", "c"])
    truth = [[1, 1, 0], [0, 0, 0], [1, 0, 0]]
    whole = sets(truth, [[1.0, 0.0, 2.0], [-1.0, 0.0, -1.0], [0.0, -1.0, -1.0]])
    part = sets(truth[:1], [[1.0, 1.0, 0.0]])
    assert labels.losses([whole, None, part]).T.tolist() == [[2 / 4, 0.0, 1.0], [1.0] * 3, [0.0, 1.0, 1.0]]
    assert labels.read(part).tolist() == [[True, True, False]]


def test_a_label_needs_more_than_half_of_the_weight() -> None:
    labels, shares = combination("multilabel", classes=["a", "b", "c"]), np.array([[0.5, 0.3, 0.2]] * 2)
    said = [np.array([[True, False], [True, True]]), np.array([[True, True, True]]), None]
    found = labels.combine(said, shares)
    assert found == pytest.approx(np.array([[0.3, -0.2, -0.2], [0.0, 0.0, -0.5]]))
    truth = sets([[1, 0], [1, 0]], [[0.0, 0.0]] * 2)  # the third label was not known yet
    assert labels.mistakes(found, truth).tolist() == [False, True]
    assert labels.mistakes(np.array([[0.1, 0.0, 0.0]]), sets([[1, 0]], [[0.0, 0.0]])).tolist() == [False]
    assert labels.mistakes(np.array([[0.1, -0.1, 0.1]]), sets([[1, 0]], [[0.0, 0.0]])).tolist() == [True]


def test_sets_are_asked_for_by_their_scores() -> None:
    X, y = np.eye(3), [["a"], ["b"], ["a", "b"]]
    learner = nr.make("pa1", task="multilabel", native=False).learn(X, y)
    labels = combination_of(learner.model, NOTHING)
    assert labels.ask(learner, X).tolist() == (learner.scores(X) > 0.0).tolist()
    assert labels.ask(learner, np.zeros((1, 3))).tolist() == [[False, False]]  # scores of 0


# ---- orders ----------------------------------------------------------------------------------------------------------


def lists(relevance: list[float], scores: list[float], query: list[int]) -> Transcript:
    count = len(set(query))
    told = {"losses": np.zeros(count), "mistakes": np.zeros(count, bool), "lists": np.array(query)}
    return played(np.array(relevance), scores=np.array(scores), **told)


def test_a_list_costs_its_pairs_in_the_wrong_order_and_half_of_equal_ones() -> None:
    orders = combination("ranking")
    relevance, query = [2.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0], [0, 0, 0, 1, 1, 2, 2]
    whole = lists(relevance, [1.0, 1.0, 3.0, 5.0, 4.0, 2.0, 1.0], query)
    assert orders.losses([None, whole]).T.tolist() == [[1.0] * 3, [2.5 / 3.0, 0.0, 0.0]]
    part = lists(relevance[:3], [3.0, 2.0, 1.0], query[:3])
    assert orders.losses([part, whole])[:, 0].tolist() == [0.0, 1.0, 1.0]
    scores = np.array([3.0, 2.0, 1.0, 0.0, 0.0, 1.0, 1.0])
    assert orders.mistakes(scores, whole).tolist() == [False, False, True]
    assert orders.read(whole).tolist() == whole.scores.tolist()


def test_places_are_from_0_to_1_and_equal_scores_share_theirs() -> None:
    assert places(np.array([5.0, -1.0, 3.0])).tolist() == [1.0, 0.0, 0.5]
    assert places(np.array([2.0, 2.0, 0.0, 9.0, 2.0])).tolist() == [0.5, 0.5, 0.0, 1.0, 0.5]
    assert places(np.array([7.0])).tolist() == [0.0]


def test_the_order_of_a_list_is_the_mean_of_the_places() -> None:
    orders, shares = combination("ranking"), np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1]])
    query = np.array([0, 0, 0, 4, 4])
    said = [np.array([1.0, 2.0, 3.0]), np.array([9.0, 8.0, 7.0, 1.0, 2.0]), None]
    found = orders.combine(said, shares, query)  # the first entry stopped after the first list
    assert found.tolist() == pytest.approx([0.3, 0.3 + 0.15, 0.6, 0.0, 0.7])
    assert orders.combine([None, said[0]], np.array([[0.5, 0.5]])).tolist() == [0.0, 0.25, 0.5]


def test_a_list_at_which_the_first_entry_stops_is_ordered_by_the_others() -> None:
    rng = np.random.default_rng(0)
    X, query = rng.normal(size=(20, 3)), np.repeat(np.arange(4), 5)
    y = np.round(X[:, 0])
    X[12] *= 1e200
    first = nr.make("ogd", task="ranking", bias=True, native=False)
    learner: Any = nr.make("auto", pool=[first, "pa1"], task="ranking", native=False)
    alone = nr.make("pa1", task="ranking", native=False).play(X, y, query=query)
    played = learner.play(X, y, query=query)
    assert [entry.learner.rounds for entry in learner.entries] == [2, 4]
    assert (played.rounds, len(played.scores)) == (4, 20)
    assert np.argsort(played.scores[10:15]).tolist() == np.argsort(alone.scores[10:15]).tolist()


@pytest.mark.parametrize(
    ("task", "kind"),
    [
        ("binary", "ClassVotes"),
        ("multiclass", "ClassVotes"),
        ("regression", "TargetMeans"),
        ("multilabel", "LabelVotes"),
        ("ranking", "RankMeans"),
    ],
)
def test_every_task_is_combined_in_its_own_way(task: str, kind: str) -> None:
    assert type(combination(task)).__name__ == kind
