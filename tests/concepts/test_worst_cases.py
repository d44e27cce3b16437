"""Exhaustive worst cases, the tree adversary, and learners of disjunctions as features are added."""

import itertools
from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.naive import concepts as naive
from tests.support import refusal
from tests.support.cover import ALL


def make(name: str, **options: Any) -> Any:
    return nr.make(name, **options)


@pytest.mark.parametrize("n", [2, 3])
def test_halving_can_be_made_to_err_log2_times_and_con_once_for_all_concepts_but_one(n: int) -> None:
    concepts = nr.k_disjunctions(n, n)
    assert nr.mistake_bound("halving", concepts).mistakes == n == make("halving", concepts=concepts).bound
    assert nr.mistake_bound("con", concepts).mistakes == 2**n - 1 == make("con", concepts=concepts).bound


@pytest.mark.parametrize("concept", ["conjunction", "disjunction"])
@pytest.mark.parametrize(("n", "negations"), [(2, False), (2, True), (3, False), (3, True)])
def test_elimination_can_be_made_to_err_n_times_and_n_plus_1_with_negations(
    concept: str, n: int, negations: bool
) -> None:
    enumerate_class = nr.k_conjunctions if concept == "conjunction" else nr.k_disjunctions
    concepts = enumerate_class(n, n, negations)
    learner = make("elimination", concept=concept, negations=negations, classes=[0, 1])
    worst = nr.mistake_bound(learner, concepts)
    assert worst.mistakes == n + negations
    again = make("elimination", concept=concept, negations=negations, classes=[0, 1])
    again.learn(np.array(worst.rows), worst.labels)
    assert again.mistakes == worst.mistakes
    assert again.inconsistent == 0


@pytest.mark.parametrize("demotion", ["halve", "eliminate"])
def test_winnow_stays_within_its_bound_on_every_sequence_of_three_features(demotion: str) -> None:
    learner = make("winnow", alpha=2.0, theta=3.0, demotion=demotion, classes=[0, 1], native=False)
    for k in (1, 2) if ALL else (1,):
        worst = nr.mistake_bound(learner, nr.k_disjunctions(3, k, exactly=True))
        assert 0 < worst.mistakes < learner.card.bound(learner.params, features=3, relevant=k)


def test_the_search_says_what_it_cannot_do() -> None:
    few = nr.k_disjunctions(2, 1)
    assert "2^20 rows" in refusal(lambda: nr.mistake_bound("halving", nr.k_disjunctions(20, 1)))
    assert "counts its rounds" in refusal(lambda: nr.mistake_bound(make("ogd"), few))
    assert "knows its features" in refusal(lambda: nr.mistake_bound("halving", {"always": lambda x: True}))
    assert "not learned anything" in refusal(lambda: nr.mistake_bound(make("elimination").learn([[1, 0]], [1]), few))
    perceptron = make("perceptron", classes=[0, 1], native=False)
    assert "err for ever" in refusal(lambda: nr.mistake_bound(perceptron, nr.concept_class([nr.any_of()], features=1)))


@pytest.mark.parametrize("n", [1, 3, 5, 9, 16])
def test_the_tree_adversary_forces_log2_of_the_class_on_halving_and_on_any_learner(n: int) -> None:
    """The unit vectors split the monotone disjunctions in halves, whatever was answered before."""
    concepts = nr.k_disjunctions(n, n) if n < 16 else nr.k_disjunctions(n, 16)
    for learner in (make("halving", concepts=concepts, classes=[0, 1]),
                    make("elimination", concept="disjunction", classes=[0, 1])):  # fmt: skip
        lost = nr.force_mistakes(learner, concepts)
        assert learner.mistakes == len(lost) >= n
        if learner.card.name == "halving":
            assert learner.mistakes == n == learner.bound == np.log2(len(concepts))
            assert len(learner) == 1


def test_the_adversary_is_always_explained_by_a_concept() -> None:
    concepts = nr.k_disjunctions(5, 2, negations=True)
    learner = make("halving", concepts=concepts, classes=[0, 1])
    lost = nr.force_mistakes(learner, concepts)
    assert 4 <= len(lost) <= learner.bound == 5
    assert learner.inconsistent == 0
    assert "knows its features" in refusal(lambda: nr.TreeAdversary({"always": lambda x: True}))


def test_the_numbers_of_disjunctions_are_those_of_the_textbook() -> None:
    """2^k C(n, k) of exactly k literals, 3^n of any number, 2^n without negations."""
    for n, k, negations in itertools.product((3, 5), (1, 2, 3), (False, True)):
        sets = naive.literal_sets(range(n), k, negations, True)
        assert len(nr.k_disjunctions(n, k, negations, exactly=True)) == len(sets)
    assert len(nr.k_disjunctions(6, 6, True)) == 3**6
    assert len(nr.k_conjunctions(6, 6)) == 2**6


def test_winnow_reaches_its_final_hypothesis_over_1024_variables_after_40_mistakes() -> None:
    """Four relevant variables, one at a time: each is promoted ten times, from 1 to 1024; the bound is 122."""
    n, relevant = 1024, [0, 1, 1022, 1023]
    learner = make("winnow", alpha=2.0, theta=float(n), classes=[0, 1], native=False)
    X = np.zeros((15 * 4, n))
    X[np.arange(60), np.tile(relevant, 15)] = 1.0
    learner.learn(X, np.ones(60, int))
    assert learner.mistakes == learner.updates == 40
    assert learner.card.bound(learner.params, features=n, relevant=4) == 122.0
    weights = learner.scores(np.eye(n)) + n
    assert np.allclose(weights[relevant], 1024.0)
    others = np.setdiff1d(np.arange(n), relevant)
    assert np.allclose(weights[others], 1.0)
    target = nr.any_of(*relevant)
    rows, labels = target.draw(300, n, on=0.5, seed=1)
    rows[0], labels[0] = 1.0, 1
    rows[0, relevant], labels[0] = 0.0, -1  # all others on: 1020 of 1024
    assert (learner.predict(rows) == (labels > 0)).all()


@pytest.mark.many_rounds
def test_as_features_are_added_winnow_and_halving_pay_a_logarithm_and_elimination_pays_most() -> None:
    import winnow_against_perceptron

    rows = winnow_against_perceptron.measure_concepts(features=(32, 128), rounds=1200)
    for row in rows:
        assert row.halving <= row.halving_bound
        assert row.elimination <= row.features
        assert row.winnow <= row.winnow_bound
        assert row.halving < row.winnow
    few, many = rows
    assert many.halving_bound - few.halving_bound == 4
    assert many.elimination > 1.5 * few.elimination
    assert many.winnow < 3 * few.winnow
