"""The multilabel task: sets of labels, a virtual label between those that are a row's and those that are not."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

import noregret as nr
from tests import naive
from tests.conformance.plays import CARDS, ONE_OF_A_KIND, arrays, near, rows_of, same_bits
from tests.naive.rules import Array
from tests.naive.tasks.multilabel import Multilabel
from tests.support.cover import ALL, seeds

RULES = {"perceptron": {}, "pa1": {"C": 0.3}, "pa2": {"C": 0.3}, "arow": {"r": 0.5}, "scw1": {"C": 0.4}}
THRESHOLDS = ("virtual", "zero")
LABELS = 5
Sets = list[set[int]]


def stream(rounds: int = 40, seed: int = 0, density: float = 0.4) -> tuple[Array, Sets]:
    """Noisy rows with one to four of five labels, numbered as they appear; a row of zeros is among them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 9)) * (rng.random((rounds, 9)) < density)
    X[11] = 0.0
    F = X @ rng.normal(size=(9, LABELS)) + 0.4 * rng.normal(size=(rounds, LABELS))
    sets = [{int(c) for c in np.argsort(-f)[: rng.integers(1, 5)] if f[c] > -0.5} or {int(np.argmax(f))} for f in F]
    order: dict[int, int] = {}
    for row in sets:
        for label in sorted(row):
            order.setdefault(label, len(order))
    return X, [{order[label] for label in row} for row in sets]


def made(name: str, **told: Any) -> nr.RuleLearner:
    return nr.make(name, task="multilabel", **{"native": False, **told})


def names(sets: Sets) -> list[tuple[str, ...]]:
    return [tuple(f"label {c}" for c in sorted(row)) for row in sets]


def same_model(a: nr.RuleLearner, b: nr.RuleLearner) -> bool:
    first, second = arrays(a), arrays(b)
    whole = a.classes == b.classes and a.mistakes == b.mistakes and a.rounds == b.rounds and a.updates == b.updates
    return whole and first.keys() == second.keys() and all(same_bits(first[name], second[name]) for name in first)


# ---- the twin --------------------------------------------------------------------------------------------------------


@pytest.mark.thinned(2)
@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
@pytest.mark.parametrize("fixed", [False, True], ids=["growing", "fixed"])
def test_plays_as_its_twin(name: str, threshold: str, dense: bool, fixed: bool) -> None:
    X, sets = stream(seed=3)
    learner = made(name, threshold=threshold, **RULES[name], **({"classes": range(LABELS)} if fixed else {}))
    options = {key: value for key, value in learner.params.items() if key != "threshold"}
    twin = Multilabel(naive.rule(name, **options), LABELS, X.shape[1], fixed, threshold)
    scores, updated, losses = twin.run(X, sets)
    transcript = learner.play(X if dense else csr_matrix(X), sets)
    near(transcript.scores, scores)
    near(transcript.losses, losses)
    assert transcript.updated.tolist() == updated.tolist()
    near(learner.scores(X), twin.final(X))
    guessed = [tuple(c for c in range(LABELS) if row[c] > 0.0) for row in scores]
    assert transcript.predictions.tolist() == guessed
    assert transcript.truth.tolist() == [tuple(sorted(row)) for row in sets]
    assert transcript.mistakes.tolist() == [set(guess) != own for guess, own in zip(guessed, sets, strict=True)]
    assert learner.classes == list(range(LABELS))


@pytest.mark.thinned(2)
@pytest.mark.compiles
@pytest.mark.parametrize(
    ("name", "threshold"),
    [("pa1", "virtual"), ("arow", "zero"), ("pa1", "zero"), ("arow", "virtual")][: None if ALL else 2],
)
def test_compiled_rounds_are_the_interpreted_ones(name: str, threshold: str) -> None:
    X, sets = stream(seed=4)
    plain, native = (made(name, threshold=threshold, native=on) for on in (False, True))
    first, second = (one.play(csr_matrix(X), sets) for one in (plain, native))
    assert same_bits(first.scores, second.scores)
    assert same_bits(first.losses, second.losses)
    assert same_bits(plain.scores(csr_matrix(X)), native.scores(csr_matrix(X)))


@pytest.mark.parametrize("name", ["pa1", "pa2", "arow", "ogd"])
def test_weights_are_those_of_the_rule(name: str) -> None:
    X, sets = stream(seed=5)
    weight = np.random.default_rng(5).choice([0.0, 0.5, 2.0], len(X))
    learner = made(name, classes=range(LABELS))
    options = {key: value for key, value in learner.params.items() if key != "threshold"}
    twin = Multilabel(naive.rule(name, **options), LABELS, X.shape[1], fixed=True)
    scores, updated, _ = twin.run(X, sets, weight)
    transcript = learner.play(X, sets, weight)
    near(transcript.scores, scores)
    assert transcript.updated.tolist() == updated.tolist()


def test_kernels_play_too() -> None:
    X, sets = stream(seed=6)
    linear = made("pa1", algebra="kernel", kernel="linear").play(X, sets)
    near(linear.scores, made("pa1").play(X, sets).scores, 1e-8)


# ---- what a step does ------------------------------------------------------------------------------------------------


def blocks(learner: nr.RuleLearner) -> Array:
    """The weights: of the virtual label first, then of the labels."""
    return np.asarray(arrays(learner)["state.w"])


def projected(before: Array, x: Array, r: int, q: int) -> Array:
    """The weights nearest to these with which label r beats label q by 1."""
    start = before.ravel()

    def apart(v: Array) -> float:
        w = v.reshape(before.shape)
        return float((w[1 + r] - w[1 + q]) @ x) - 1.0

    def distance(v: Array) -> float:
        return 0.5 * float(np.sum((v - start) ** 2))

    found = minimize(distance, start, method="SLSQP", constraints={"type": "ineq", "fun": apart}, tol=1e-12)
    return np.asarray(found.x).reshape(before.shape)


def test_a_step_of_pa_moves_as_little_as_its_constraint_allows() -> None:
    X, sets = stream(seed=7)
    learner = made("pa", threshold="zero", classes=range(LABELS)).learn(X[:20], sets[:20])
    moved = 0
    for x, own in zip(X[20:], sets[20:], strict=True):
        before = blocks(learner)
        s = before[1:] @ x
        r = min(own, key=lambda c: float(s[c]))
        q = max(set(range(LABELS)) - own, key=lambda c: float(s[c]))
        learner.learn_one(x, own)
        after = blocks(learner)
        if s[r] - s[q] >= 1.0 or not x.any():
            assert same_bits(before, after)
            continue
        assert (after[1 + r] - after[1 + q]) @ x == pytest.approx(1.0)
        moved += 1
        if moved <= 3:
            np.testing.assert_allclose(after, projected(before, x, r, q), atol=1e-6)
    assert moved > 10


def test_after_a_round_of_pa_the_virtual_label_beats_every_label_that_is_not_the_rows() -> None:
    X, sets = stream(seed=8)
    learner = made("pa", classes=range(LABELS))
    for x, own in zip(X, sets, strict=True):
        before = learner.scores([x])[0] if learner.rounds else np.zeros(LABELS)
        learner.learn_one(x, own)
        after = learner.scores([x])[0]
        others = [c for c in range(LABELS) if c not in own]
        closest = max(others, key=lambda c: float(before[c]))
        if x.any():
            assert after[closest] <= -1.0 + 1e-9  # the last step; those above it were not the closest


def test_where_all_labels_are_the_rows_only_the_virtual_one_is_stepped_against() -> None:
    x = [1.0, 2.0]
    learner = made("pa").learn_one(x, ["a", "b"])
    near(blocks(learner) @ x, [-0.5, 0.5, 0.0])  # among equals the first steps; half of the margin for each
    learner.learn_one(x, ["b", "a"])
    near(learner.scores([x])[0], [0.5 + 0.75, 0.25 + 0.75])
    alone = made("pa", threshold="zero").learn_one(x, ["a", "b"])
    assert alone.updates == 0
    assert not blocks(alone).any()


def test_without_a_virtual_label_scores_are_those_of_the_labels() -> None:
    x = np.array([1.0, -2.0, 0.5])
    learner = made("perceptron", random_start=1.0, threshold="zero", classes=range(LABELS)).learn([x], [[0]])
    assert blocks(learner)[0].any()  # it starts by chance, and nothing ever moves it
    expected = blocks(learner)[1:] @ x
    near(learner.scores([x])[0], expected)
    near(learner.play([x], [[0]]).scores[0], expected)


def separable(rounds: int, seed: int) -> tuple[Array, Sets, Array]:
    """Rows whose labels some weights u tell apart from the virtual label with margin 1."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(LABELS + 1, 8))
    X = rng.normal(size=(8 * rounds, 8))
    F = X @ (u[1:] - u[0]).T
    some = ((F > 0.0).any(axis=1) & (F < 0.0).any(axis=1)).nonzero()[0]
    X, F = X[some], F[some]
    margin = np.sort(np.abs(F).min(axis=1))[-rounds]
    chosen = np.abs(F).min(axis=1) >= margin
    return X[chosen], [set(np.flatnonzero(f > 0.0).tolist()) for f in F[chosen]], u / margin


@seeds(5)
def test_the_squared_losses_of_pa_are_bounded_where_some_weights_are_right(seed: int) -> None:
    """sum l^2 <= R^2 |u|^2 over all steps, R^2 = 2 max |x|^2; every mistake has a step that loses at least 1."""
    X, sets, u = separable(300, seed)
    bound = 2.0 * (X**2).sum(axis=1).max() * (u**2).sum()
    learner = made("pa", classes=range(LABELS))
    transcript = learner.play(X, sets)
    own = np.array([[c in row for c in range(LABELS)] for row in sets])
    lowest = np.where(own, transcript.scores, np.inf).min(axis=1)
    highest = np.where(own, -np.inf, transcript.scores).max(axis=1)
    first, second = np.maximum(0.0, 1.0 - lowest), np.maximum(0.0, 1.0 + highest)
    near(transcript.losses, first + second)
    assert (first**2 + second**2).sum() <= bound
    assert learner.mistakes <= bound
    assert 0 < learner.mistakes < len(X)


# ---- chunks, models --------------------------------------------------------------------------------------------------


def pieces(size: int, rows: int) -> Iterator[slice]:
    return (slice(start, start + size) for start in range(0, rows, size))


@pytest.mark.parametrize("card", [card for card in CARDS if "multilabel" in card.tasks], ids=lambda card: card.name)
@pytest.mark.thinned(4)
def test_every_rule_plays_and_chunks_change_nothing(card: nr.RuleCard) -> None:
    if any(field.kind == "reservoir" for field in card.state.values()):
        with pytest.raises(nr.BadValue, match="only a margin rule in a task of classes"):
            made(card.name)
        return
    X, sets = stream(20, seed=9)
    labels = names(sets)
    whole = made(card.name)
    scores = whole.play(csr_matrix(X), labels).scores
    assert whole.updates > 0
    for size in (1, 7) if card.name in ONE_OF_A_KIND else ():
        cut = made(card.name)
        parts = [cut.play(csr_matrix(X[some]), labels[some]) for some in pieces(size, len(X))]
        for some, part in zip(pieces(size, len(X)), parts, strict=True):
            assert same_bits(part.scores, scores[some, : part.scores.shape[1]])
            assert np.isneginf(scores[some, part.scores.shape[1] :]).all()
        assert same_model(cut, whole)


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("name", ["pa1", "arow"])
@pytest.mark.parametrize("native", [False, True], ids=["plain", "compiled"])
def test_one_by_one_saved_and_copied_is_the_same(name: str, threshold: str, native: bool, tmp_path: Path) -> None:
    X, sets = stream(seed=10)
    rows, labels = rows_of(X), names(sets)
    told = {"threshold": threshold, "native": native}
    whole = made(name, **told).learn(rows, labels)
    single = made(name, **told)
    for x, own in zip(rows, labels, strict=True):
        single.learn_one(x, own)
    assert same_model(single, whole)
    part = made(name, **told).learn(rows[:25], labels[:25])
    part.save(tmp_path / "model.nr")
    later = [nr.load(tmp_path / "model.nr"), part.copy()]
    for one in later:
        assert one.predict(rows).tolist() == part.predict(rows).tolist()
        assert same_model(one.learn(rows[25:], labels[25:]), whole)
    assert whole.predict_one(rows[0]) == whole.predict(rows)[0]
    assert list(whole.scores_one(rows[0]).values()) == whole.scores(rows[:1])[0].tolist()
    assert list(whole.scores_one(rows[0])) == whole.classes


def test_merged_learners_know_the_labels_of_both() -> None:
    X, sets = stream(seed=11)
    labels = names(sets)
    a, b = made("perceptron").learn(X[:3], labels[:3]), made("perceptron").learn(X[3:], labels[3:])
    both = a.merge(b)
    share = 3 / len(X)
    virtual = share * blocks(a)[0] + (1.0 - share) * blocks(b)[0]
    near(blocks(both)[0], virtual)
    for label in both.classes:
        mine, theirs = (
            blocks(one)[1 + one.classes.index(label)] if label in one.classes else np.zeros(X.shape[1])
            for one in (a, b)
        )
        near(blocks(both)[1 + both.classes.index(label)], share * mine + (1.0 - share) * theirs)


# ---- labels in and out -----------------------------------------------------------------------------------------------


def test_any_collection_of_labels_is_a_set_and_one_label_alone_is_one_of_one() -> None:
    X, sets = stream(seed=12)
    whole = made("pa1", classes=range(LABELS)).learn(X, sets)
    matrix = np.array([[c in row for c in range(LABELS)] for row in sets])
    kinds: list[Any] = [
        [list(row) for row in sets],
        [tuple(row) * 2 for row in sets],
        [frozenset(row) for row in sets],
        [np.array(sorted(row)) for row in sets],
        [next(iter(row)) if len(row) == 1 else row for row in sets],
        matrix,
        matrix.astype(float),
        matrix.astype(np.int8),
    ]
    for labels in kinds:
        assert same_model(made("pa1", classes=range(LABELS)).learn(X, labels), whole)
    free = made("pa1")
    transcript = free.play(X, matrix)
    assert free.classes == list(range(LABELS))
    assert transcript.truth.tolist() == [tuple(sorted(row)) for row in sets]
    assert np.isneginf(transcript.scores[0]).all()


def test_labels_are_numbered_as_they_appear_and_those_of_a_set_as_they_are_sorted() -> None:
    learner = made("pa1").learn([[1.0], [2.0]], [["b", "a"], {"z", "c", 3, True}])
    assert learner.classes == ["b", "a", True, 3, "c", "z"]


def test_predictions_are_tuples_in_the_order_of_the_classes() -> None:
    learner = made("pa")
    for _ in range(6):
        learner.learn(np.eye(3), [("c", "a"), ("b",), ("b", "a")])
    found = learner.predict(np.eye(3))
    assert found.dtype == object
    assert found.tolist() == [("c", "a"), ("b",), ("a", "b")]
    assert made("pa").predict_one([1.0]) is None
    assert made("pa").learn([[1.0]], [["a"]]).predict([[-1.0]]).tolist() == [()]


REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "empty": ([{0}, set(), {1}], {}, "row 1: the set of labels is empty"),
    "empty in a matrix": (np.array([[1, 0], [0, 0], [0, 1]]), {"classes": [0, 1]}, "row 1: the set of labels is empty"),
    "full": ([{0}, {1, 0}, {1}], {"classes": [0, 1]}, "row 1: .* all 2 of them"),
    "strange": ([{0}, {2}, {1}], {"classes": [0, 1]}, "row 1: the label 2 is not one of the classes"),
    "nothing": ([{0}, None, {1}], {}, "row 1: a label must be a number, a string or a truth value, not None"),
    "nested": ([{0}, [[1]], {1}], {}, "row 1: labels must be numbers, strings or truth values, not"),
    "not sortable": ([{0}, {None, 1}, {1}], {}, "row 1: labels must be numbers, strings or truth values, not"),
    "not whole": ([{0}, [1.5], {1}], {}, "row 1: the label 1.5 is not a class"),
    "not 0 or 1": (np.array([[1, 0], [0, 2], [0, 1]]), {"classes": [0, 1]}, "row 1: an array of labels holds only 0"),
    "words": (np.array([["a", "b"]] * 3), {"classes": [0, 1]}, "an array of labels holds only 0 and 1"),
    "objects": (np.eye(3, 2).astype(object), {}, "an array of labels holds only 0 and 1, as numbers .* of object"),
    "too many columns": (np.eye(3), {"classes": [0, 1]}, "y has 3 columns and the learner 2 classes"),
    "more columns than labels": (np.eye(3), {}, "y has 3 columns and the learner 2 classes"),
    "one set for all": ({0, 1, 2}, {}, "y must be a list or an array of labels"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_labels_are_refused_and_nothing_changes(what: str) -> None:
    y, told, complaint = REFUSED[what]
    learner = made("arow", **told).learn(np.eye(4), [[0], [1], [0], [1]])
    before = arrays(learner)
    with pytest.raises(nr.BadValue, match=complaint):
        learner.learn(np.eye(4)[:3], y)
    after = arrays(learner)
    assert before.keys() == after.keys()
    assert all(same_bits(before[name], after[name]) for name in before)
    assert learner.classes == [0, 1]


def test_a_matrix_cannot_follow_names_it_does_not_know() -> None:
    learner = made("pa1").learn([[1.0]], [["a", "b"]])
    with pytest.raises(nr.BadValue, match=r"classes=\[\.\.\.\]"):
        learner.learn([[1.0]], np.array([[1, 0]]))


def test_what_the_task_does_not_have_is_refused() -> None:
    with pytest.raises(nr.BadValue, match="threshold must be one of virtual, zero"):
        made("pa1", threshold="half")
    with pytest.raises(nr.BadValue, match="class_weight cannot weigh it"):
        made("pa1", class_weight={"a": 2.0})
    with pytest.raises(nr.BadValue, match="the multilabel task has no costs"):
        made("pa1", cost={("a", "b"): 2.0})
    with pytest.raises(nr.BadValue, match='several labels per row use task="multilabel"'):
        nr.make("pa1", native=False).learn([[1.0], [2.0]], [("a", "b"), ("a",)])
    with pytest.raises(nr.BadValue, match="confidence is about labels, one for every row"):
        made("arow").learn([[1.0]], [["a"]]).confidence([[1.0]])


def test_a_round_that_overflows_is_named_and_undone() -> None:
    learner = made("perceptron").learn([[1.0], [2.0]], [["a"], ["b"]])
    before = arrays(learner)
    with pytest.raises(nr.BadValue, match="row 1 of this call"):
        learner.learn([[1.0], [1e308], [-1e308]], [["a", "c"], ["c"], ["c"]])
    assert learner.classes == ["a", "b"]
    assert all(same_bits(before[name], found) for name, found in arrays(learner).items())


def test_shares_of_a_score_are_measured_from_the_virtual_label() -> None:
    learner = made("pa1").learn(np.eye(3), [("c", "a"), ("b",), ("a", "b")])
    x = {0: 1.0, 1: -2.0, 2: 0.5}
    shares = learner.explain_one(x, "a")
    assert sum(shares.values()) == pytest.approx(learner.scores_one(x)["a"])
