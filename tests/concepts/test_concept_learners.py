"""Elimination, halving and CON equal their twins, follow the protocol of all learners, and keep their theorems."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.naive import concepts as naive
from tests.support import refusal

RNG = np.random.default_rng(0)
TABLE = (RNG.random((40, 5)) < 0.5).astype(np.float64)
TRUTH = np.where((TABLE[:, 1] == 1) | (TABLE[:, 3] == 0), 1, -1)
OR_TRUTH = np.where((TABLE[:, 1] == 1) | (TABLE[:, 3] == 1), 1, -1)
NAMES = ["a", "b", "c", "d", "e"]
DICTS = [{name: value for name, value in zip(NAMES, row, strict=True) if value} for row in TABLE.tolist()]
BAD_ROW = np.full(5, 2.0)


def make(name: str, **options: Any) -> Any:
    return nr.make(name, **options)


def has_b(x: dict[str, int]) -> bool:
    return x["b"] == 1


def b_or_d(x: dict[str, int]) -> bool:
    return bool(x["b"] or x["d"])


def has_d(x: dict[str, int]) -> bool:
    return x["d"] == 1


PREDICATES = {"has_b": has_b, "b_or_d": b_or_d, "has_d": has_d}
NOISE = np.where(np.arange(40) % 7 == 3, -OR_TRUTH, OR_TRUTH)
CASES = {
    "disjunction with negations": Case(
        lambda: make("elimination", concept="disjunction", negations=True), TABLE, TRUTH.tolist(), BAD_ROW
    ),
    "disjunction of dicts": Case(lambda: make("elimination", concept="disjunction"), DICTS, OR_TRUTH.tolist(),
                                 {"a": 3.0}),
    "conjunction, noisy": Case(lambda: make("elimination", negations=True), DICTS, NOISE.tolist(), {"z": -1.0}),
    "monotone conjunction, noisy": Case(lambda: make("elimination"), TABLE, NOISE.tolist(), BAD_ROW),
    "features and classes given": Case(
        lambda: make("elimination", concept="disjunction", features=NAMES, classes=[-1, 1]), DICTS,
        OR_TRUTH.tolist(), {"z": 1.0},
    ),
    "halving": Case(lambda: make("halving", concept="disjunction"), TABLE, OR_TRUTH.tolist(), BAD_ROW),
    "halving of names": Case(
        lambda: make("halving", concept="disjunction", negations=True, features=NAMES), DICTS, TRUTH.tolist(),
        {"z": 1.0},
    ),
    "halving, noisy": Case(
        lambda: make("halving", concept="disjunction", contradiction="count"), TABLE, NOISE.tolist(), BAD_ROW
    ),
    "halving of a list": Case(
        lambda: make("halving", concepts=[nr.any_of("b", "d"), nr.all_of("a", "!b"), nr.at_least(2, "a", "b", "c")]),
        DICTS, OR_TRUTH.tolist(), {"a": 0.5},
    ),
    "halving of predicates": Case(
        lambda: make("halving", concepts=PREDICATES), DICTS, OR_TRUTH.tolist(), {"a": 0.5}, {"functions": PREDICATES}
    ),
    "con": Case(lambda: make("con", concept="disjunction", seed=4), TABLE, OR_TRUTH.tolist(), BAD_ROW),
}  # fmt: skip


@pytest.mark.thinned(3)
@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_concept_learners_follow_the_protocol(case: Case, check: Callable[[Case], None]) -> None:
    check(case)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_concept_learners_saved_and_loaded_go_on(case: Case, tmp_path: Path) -> None:
    check_save_and_go_on(case, tmp_path)


# ---- twins -----------------------------------------------------------------------------------------------------------

KINDS = list(itertools.product(("conjunction", "disjunction"), (False, True)))


def labels_of(learner: Any, X: Any, truth: Any) -> list[bool]:
    return [bool(one > 0) for one in learner.play(X, truth).predictions]


@pytest.mark.parametrize(("concept", "negations"), KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_elimination_equals_a_set_of_literals(concept: str, negations: bool, seed: int) -> None:
    """Also on labels that no concept explains, for matrices, sparse rows and dicts of columns."""
    rng = np.random.default_rng(seed)
    n = 7
    X = (rng.random((80, n)) < (0.85 if concept == "conjunction" else 0.3)).astype(float)
    y = np.where(rng.random(80) < 0.5, 1, -1)
    twin = naive.Elimination(range(n), concept == "conjunction", negations)
    said = [twin.learn(dict(enumerate(row)), label > 0) for row, label in zip(X.tolist(), y, strict=True)]
    forms: list[Any] = [X, X.astype(bool), X.astype(int), sp.csr_array(X), sp.csc_matrix(X)]
    for form in forms:
        learner = make("elimination", concept=concept, negations=negations, classes=[-1, 1])
        assert labels_of(learner, form, y) == said
        assert (learner.mistakes, learner.updates, learner.inconsistent) == (
            twin.mistakes, twin.updates, twin.inconsistent,
        )  # fmt: skip
        assert set(learner.literals) == {f"[{at}]" if sign else f"NOT [{at}]" for at, sign in twin.left}
        assert (learner.hypothesis(X) == [twin.predict(dict(enumerate(row))) for row in X]).all()
        assert (learner.hypothesis(X) == (learner.predict(X) > 0)).all()


@pytest.mark.parametrize(("concept", "negations"), KINDS)
def test_a_feature_that_appears_later_was_false_until_then(concept: str, negations: bool) -> None:
    """The twin knows all features, and one that never occurs: an open list of features is as good as that."""
    rng = np.random.default_rng(5)
    rows = []
    for t in range(60):
        rows.append({f"f{j}": 1 for j in range(1 + t // 6) if rng.random() < 0.6})
    y = [int(one) for one in rng.random(60) < 0.5]
    learner = make("elimination", concept=concept, negations=negations, classes=[0, 1])
    twin = naive.Elimination([*(f"f{j}" for j in range(10)), "never"], concept == "conjunction", negations)
    said = [twin.learn(row, bool(label)) for row, label in zip(rows, y, strict=True)]
    assert [bool(one) for one in learner.play(rows, y).predictions] == said
    unruled = {("disjunction", False): True, ("disjunction", True): True, ("conjunction", True): False}
    assert learner.predict_one({"new": 1}) == int(unruled.get((concept, negations), twin.predict({})))


@pytest.mark.parametrize("negations", [False, True])
def test_the_hypothesis_is_the_most_specific_consistent_conjunction(negations: bool) -> None:
    rng = np.random.default_rng(8)
    n, literals = 4, [(0, True), (2, not negations)]
    for _ in range(5):
        X = (rng.random((12, n)) < 0.6).astype(int)
        rows = [dict(enumerate(row)) for row in X.tolist()]
        truth = [all(naive.value(one, row) for one in literals) for row in rows]
        learner = make("elimination", negations=negations, classes=[0, 1]).learn(X, [int(one) for one in truth])
        expected = naive.most_specific(rows, truth, range(n), negations)
        assert expected is not None
        assert set(learner.literals) == {f"[{at}]" if sign else f"NOT [{at}]" for at, sign in expected} or not any(
            truth
        )


def test_disjunctions_are_conjunctions_of_complements() -> None:
    X, y = TABLE, TRUTH
    for negations in (False, True):
        one = make("elimination", concept="disjunction", negations=negations, classes=[-1, 1]).play(X, y)
        other = make("elimination", concept="conjunction", negations=negations, classes=[-1, 1]).play(1 - X, -y)
        assert (one.predictions == -other.predictions).all()


@pytest.mark.parametrize("conjunction", [False, True])
@pytest.mark.parametrize(("k", "negations", "exactly"), [(2, False, False), (2, True, True), (3, True, False)])
def test_halving_equals_a_list_of_functions(conjunction: bool, k: int, negations: bool, exactly: bool) -> None:
    n, rng = 5, np.random.default_rng(k)
    enumerate_class = nr.k_conjunctions if conjunction else nr.k_disjunctions
    concepts = enumerate_class(n, k, negations, exactly)
    sets = naive.literal_sets(range(n), k, negations, exactly)
    assert len(concepts) == len(sets)
    target = naive.as_concept(sets[len(sets) // 2], conjunction)
    X = (rng.random((30, n)) < 0.5).astype(int)
    rows = [dict(enumerate(row)) for row in X.tolist()]
    y = [int(target(row)) for row in rows]
    twin = naive.Halving([naive.as_concept(one, conjunction) for one in sets])
    learner = make("halving", concepts=concepts, classes=[0, 1])
    for t, row in enumerate(rows):
        said = learner.predict_one(X[t])
        assert bool(said) == twin.learn(row, bool(y[t]))
        learner.learn_one(X[t], y[t])
        assert len(learner) == len(twin.left)
    assert learner.mistakes <= learner.bound == np.floor(np.log2(len(concepts)))


def test_a_class_of_thresholds_has_the_values_of_each() -> None:
    given = [nr.at_least(2, "a", "!b", "c"), nr.Threshold({"a": 0.5, "e": -1.5}, -1.0), nr.all_of(), nr.any_of("d")]
    known: Any = nr.concept_class(given, features=NAMES)
    for row in TABLE:
        active = np.flatnonzero(row)
        expected = [one(dict(zip(NAMES, row, strict=True))) for one in given]
        assert known.evaluate(active, np.arange(4)).tolist() == expected
        assert known.evaluate(active, np.array([1, 3])).tolist() == [expected[1], expected[3]]
    assert [str(one) for one in known] == [str(one) for one in given]


def test_con_follows_one_consistent_concept_and_draws_all_of_them() -> None:
    concepts = nr.k_disjunctions(4, 1)
    drawn = {make("con", concepts=concepts, seed=seed).hypothesis for seed in range(40)}
    assert len(drawn) == len(concepts) == 5
    learner = make("con", concepts=concepts, classes=[0, 1], seed=1)
    learner.learn([[1, 0, 0, 0], [0, 1, 1, 0]], [0, 1])
    assert learner.version_space == ["[1]", "[2]"]
    assert learner.hypothesis in learner.version_space
    assert learner.bound == 4


# ---- theorems --------------------------------------------------------------------------------------------------------


def test_elimination_makes_n_mistakes_and_n_plus_1_with_negations() -> None:
    """All rows are negative: the row of zeros, then the unit vectors."""
    for negations, most in ((False, 6), (True, 7)):
        learner = make("elimination", concept="disjunction", negations=negations, classes=[0, 1])
        learner.learn(np.vstack([np.zeros((1, 6)), np.eye(6)]), [0] * 7)
        assert learner.mistakes == learner.bound == most
        assert learner.words == "always false"


@pytest.mark.parametrize(("concept", "negations"), KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_elimination_stays_within_its_bound_and_errs_on_one_side(concept: str, negations: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    chosen = [nr.negation(int(j)) if negations and rng.random() < 0.5 else int(j) for j in rng.permutation(12)[:3]]
    target = nr.all_of(*chosen) if concept == "conjunction" else nr.any_of(*chosen)
    X, y = target.draw(400, 12, on=0.7 if concept == "conjunction" else 0.3, seed=seed)
    learner = make("elimination", concept=concept, negations=negations, classes=[-1, 1])
    played = learner.play(X, y)
    assert learner.mistakes <= learner.bound == 12 + negations
    assert learner.inconsistent == 0
    assert (y[played.mistakes] == (1 if concept == "conjunction" else -1)).all()


def test_halving_on_monotone_disjunctions_makes_three_mistakes_at_most_and_sometimes() -> None:
    sets = naive.literal_sets(range(3), 3, False, False)
    points = [dict(enumerate(point)) for point in itertools.product((0, 1), repeat=3)]
    tables = [tuple(naive.as_concept(one, False)(point) for point in points) for one in sets]
    assert naive.worst_case(tables) == 3
    learner = make("halving", concepts=nr.k_disjunctions(3, 3))
    assert learner.bound == 3


def test_con_makes_fewer_mistakes_than_there_are_concepts() -> None:
    for seed in range(10):
        X, y = nr.any_of(2, 5).draw(200, 8, on=0.2, seed=seed)
        learner = make("con", concept="disjunction", seed=seed).learn(X, y)
        assert learner.mistakes <= learner.bound == 36
        assert learner.inconsistent == 0


# ---- merging ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("concept", "negations"), KINDS)
def test_merged_eliminations_have_the_literals_of_all_rounds_together(concept: str, negations: bool) -> None:
    target = nr.all_of("a", "c") if concept == "conjunction" else nr.any_of("a", "c")
    rows, y = target.draw(60, NAMES, on=0.6, seed=3)
    for cut in (0, 5, 30, 60):
        parts = [make("elimination", concept=concept, negations=negations, classes=[-1, 1]) for _ in range(3)]
        parts[0].learn(rows[:cut], y[:cut]), parts[1].learn(rows[cut:], y[cut:]), parts[2].learn(rows, y)
        both = parts[0].merge(parts[1])
        assert set(both.literals) == set(parts[2].literals)
        assert (both.predict(rows) == parts[2].predict(rows)).all()
        assert both.rounds == 60
        assert (parts[1].merge(parts[0]).predict(rows) == both.predict(rows)).all()


def test_eliminations_of_other_options_labels_or_features_are_not_merged() -> None:
    one = make("elimination").learn([{"a": 1}], [1])
    assert "same options" in refusal(lambda: one.merge(make("elimination", negations=True)))
    assert "same options" in refusal(lambda: one.merge(make("halving")))
    assert "different labels" in refusal(lambda: one.merge(make("elimination", classes=["no", "yes"])))
    assert "by column number" in refusal(lambda: one.merge(make("elimination").learn(TABLE, TRUTH)))
    assert "different features" in refusal(lambda: one.merge(make("elimination", features=["a"])))


def test_merged_version_spaces_are_intersections() -> None:
    X, y = nr.any_of(1, 2).draw(40, 5, seed=2)
    one, other, whole = (make("halving", concept="disjunction") for _ in range(3))
    both = one.learn(X[:3], y[:3]).merge(other.learn(X[3:], y[3:]))
    assert both.version_space == whole.learn(X, y).version_space
    assert both.rounds == 40
    wrong = make("halving", concept="disjunction").learn([[1, 1, 1, 1, 1]], [-1])
    assert "consistent with the rounds of both" in refusal(lambda: one.merge(wrong))
    assert "same options" in refusal(lambda: one.merge(make("halving", features=5)))
