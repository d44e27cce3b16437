"""Certificates, races, models and errors tell what concept learners guarantee."""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import noregret as nr
from noregret.evaluation.concept_bounds import cover_positives
from tests.support.command_line import noregret

STREAM = "disjunction:features=30,relevant=2,active=3,rows=300"
OR = "elimination(concept=disjunction)"


def test_a_certificate_bounds_the_mistakes_of_concept_learners() -> None:
    names = [OR, "elimination", "halving(concept=disjunction,features=30)", "winnow(theta=30,alpha=2)", "winnow"]
    found = nr.certify(STREAM, names, native=False)
    own = found[OR]
    assert (own.at_most, own.bounds, own.observed, own.holds) == (30.0, "mistakes", own.mistakes, True)
    assert "none does" in str(found["elimination"].why_not)
    assert found["halving(concept=disjunction)"].at_most == 8.0  # log2 of 466 concepts
    winnow = next(one for one in found.learners if one.learner.startswith("winnow("))
    assert winnow.comparator == "a disjunction of 2 features"
    assert winnow.at_most == 3 * 2 * 5 + 2
    assert winnow.holds
    assert "theta = 30" in str(found["winnow"].why_not)


def test_a_certificate_of_other_rows_says_why_there_is_no_bound() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] > 0, 1, -1)
    found = nr.certify((X, y), ["elimination", "winnow", "perceptron"], expansions=False, native=False)
    assert "must be 0 or 1" in str(found["elimination"].why_not)
    assert found["winnow"].why_not == "its theorem is about rows of 0 and 1"
    xor = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    found = nr.certify((xor, [-1, 1, 1, -1]), ["winnow(theta=2)", OR], expansions=False, native=False)
    assert "no disjunction explains" in str(found["winnow(theta=2)"].why_not)
    assert "none does" in str(found[OR].why_not)


def test_a_disjunction_that_covers_the_positive_rows_is_found_greedily() -> None:
    X = sp.csr_matrix(np.array([[1, 0, 0, 1], [1, 1, 0, 0], [0, 1, 0, 1], [0, 0, 0, 1], [0, 0, 1, 1]]))
    assert cover_positives(X, np.array([True, True, True, False, False])) == 2
    assert cover_positives(X, np.array([True, True, True, True, False])) is None
    assert cover_positives(X, np.zeros(5, bool)) == 0


def test_a_race_with_regret_shows_the_bound() -> None:
    race: Any = nr.race(STREAM, [OR, "elimination", "winnow"], regret=True, native=False)
    said = {entry.name: entry.regret for entry in race}
    assert f"{race[OR].mistakes} mistakes, at most 30 where a concept of its class explains all labels" in said[OR]
    assert said["elimination"].endswith("which these labels contradict")


def test_commands_warn_about_contradictions_and_show_the_hypothesis(tmp_path: Path) -> None:
    done = noregret("learn", STREAM, "--learner", "elimination", "--save", "m.nr", cwd=tmp_path)
    assert done.returncode == 0
    assert "contradict every concept of the class" in done.stderr
    done = noregret("learn", STREAM, "--learner", OR, "--save", "m.nr", cwd=tmp_path)
    assert "contradict" not in done.stderr
    shown = noregret("show", "m.nr", cwd=tmp_path).stdout
    model: Any = nr.load(tmp_path / "m.nr")
    assert f"hypothesis  {model.words}" in shown
    assert "features    30 seen" in shown
    report = json.loads(noregret("show", "m.nr", "--json", "-", cwd=tmp_path).stdout)
    assert report["hypothesis"] == model.words
    resumed = noregret("learn", f"{STREAM},seed=1", "--resume", "m.nr", cwd=tmp_path)
    assert resumed.returncode == 0
    assert nr.load(tmp_path / "m.nr").rounds == 600


def test_concept_learners_are_evaluated_delayed_and_pooled_as_any_other() -> None:
    X, y = nr.any_of(1, 2).draw(60, 6, on=0.3, seed=2)
    for learner in (nr.make("halving", concept="disjunction"), nr.make(OR), nr.delayed(nr.make(OR))):
        report = nr.evaluate((X, y), learner.learn(X, y))
        assert (report["mistakes"], report["rounds"]) == (0, 60)
    pool: Any = nr.make("auto", pool=[nr.make(OR), "pa1"], native=False)
    assert pool.learn(X, y).rounds == 60
    assert nr.epochs(nr.make(OR), X, y, passes=5).stopped == "no update"
    assert nr.make("halving").learn([], []).rounds == 0


def test_rows_of_other_numbers_stop_a_concept_learner_and_no_other() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 3)), np.tile([1, -1], 10)
    race: Any = nr.race((X, y), ["elimination", "pa1"], native=False)
    assert "must be 0 or 1" in next(entry.stopped for entry in race if entry.name == "elimination")


def test_elimination_on_many_sparse_features_costs_the_features_that_are_on() -> None:
    """Every round is a mistake about one feature: with a cost of n for each, ten times n would take a hundred times."""

    def seconds(n: int) -> float:
        learner: Any = nr.make("elimination", concept="disjunction", negations=True, classes=[0, 1])
        began = time.process_time()
        learner.learn(sp.eye_array(n, format="csr"), np.zeros(n, int))
        assert learner.mistakes == n
        return time.process_time() - began

    small, large = min(seconds(1_000) for _ in range(3)), min(seconds(10_000) for _ in range(2))
    assert large < 40 * small
