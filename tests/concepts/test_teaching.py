"""The three protocols need exactly as many examples as is taught, and what is learned is the target."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.concepts.hidden_concept import pac_examples
from tests.naive import concepts as naive
from tests.support import refusal
from tests.support.command_line import noregret

LECTURE = ["x2", "x3", "x4", "x5", "x100"]
CONCEPTS = ("conjunction", "disjunction")


@pytest.mark.parametrize("concept", CONCEPTS)
def test_the_learner_asks_exactly_n_rows(concept: str) -> None:
    lesson = nr.teach(LECTURE, 100, "queries", concept=concept)
    assert lesson.examples == lesson.promised == 100
    assert lesson.exact
    assert [step.undecided for step in lesson.steps] == list(range(99, -1, -1))
    asked = "all but x7" if concept == "conjunction" else "only x7"
    assert lesson.steps[6].example == asked
    needed = [step.number for step in lesson.steps if step.label == (concept == "disjunction")]
    assert needed == [2, 3, 4, 5, 100]


@pytest.mark.parametrize("concept", CONCEPTS)
def test_a_teacher_shows_r_plus_1_examples(concept: str) -> None:
    lesson = nr.teach(LECTURE, 100, "teacher", concept=concept)
    assert lesson.examples == lesson.promised == 6
    assert lesson.exact
    assert [step.undecided for step in lesson.steps] == [5, 4, 3, 2, 1, 0]
    assert lesson.mistakes == 1


@pytest.mark.parametrize("concept", CONCEPTS)
@pytest.mark.parametrize("target", [["a"], ["!a"], ["a", "!c"], ["!a", "!b", "c", "d"], []])
def test_with_negations_one_example_more_is_needed(concept: str, target: list[str]) -> None:
    queries = nr.teach(target, list("abcd"), "queries", concept=concept, negations=True)
    assert (queries.examples, queries.exact, queries.steps[-1].undecided) == (5, True, 0)
    teacher = nr.teach(target, list("abcd"), "teacher", concept=concept, negations=True)
    assert (teacher.examples, teacher.exact) == (len(target) + (2 if len(target) < 4 else 1), True)
    assert teacher.steps[-1].undecided == 0
    assert max(queries.mistakes, teacher.mistakes) <= queries.bound == 5


@pytest.mark.parametrize("concept", CONCEPTS)
@pytest.mark.parametrize("protocol", ["queries", "teacher"])
def test_no_other_concept_is_consistent_with_what_was_told(concept: str, protocol: Any) -> None:
    """By brute force over all conjunctions (disjunctions) with negations of four features."""
    features, target = list("abcd"), ["a", "!c"]
    lesson = nr.teach(target, features, protocol, concept=concept, negations=True)
    on = {"no feature": [], "all features": features}
    rows = []
    for step in lesson.steps:
        words = step.example.removeprefix("only ").removeprefix("all but ").split(", ")
        named = on.get(
            step.example, words if step.example.startswith("only") else [f for f in features if f not in words]
        )
        rows.append((dict.fromkeys(named, 1), bool(step.label)))
    sets = naive.literal_sets(features, 4, True, False)
    fit = [one for one in sets if all(naive.as_concept(one, concept == "conjunction")(row) == y for row, y in rows)]
    assert fit == [(("a", True), ("c", False))]


@pytest.mark.parametrize("negations", [False, True])
@pytest.mark.parametrize("concept", CONCEPTS)
def test_the_pac_count_of_random_examples_keeps_the_error_small(concept: str, negations: bool) -> None:
    assert pac_examples(100, 0.1, 0.05) == naive.pac_count(100, 0.1, 0.05) == 7601
    assert pac_examples(100, 0.1, 0.05, True) == naive.pac_count(200, 0.1, 0.05)
    for seed in range(4):
        lesson = nr.teach(
            ["x2", "x5"], 20, "random", concept=concept, negations=negations, eps=0.2, delta=0.1, seed=seed
        )
        assert lesson.examples == lesson.promised == pac_examples(20, 0.2, 0.1, negations)
        assert lesson.error is not None
        assert lesson.error <= 0.2
        assert lesson.mistakes == len(lesson.steps) <= lesson.bound == 20 + negations


def test_with_few_random_examples_literals_are_left_and_the_error_shows_it() -> None:
    lesson = nr.teach(["x2"], 60, "random", rounds=3, seed=1)
    assert not lesson.exact
    assert lesson.examples == 3
    assert lesson.error is not None
    assert lesson.error > 0.1
    assert "the target is x2" in str(lesson)


def test_a_random_lesson_is_elimination_on_the_same_rows() -> None:
    told: list[Any] = []
    lesson = nr.teach([2, 3], 12, "random", rounds=1500, seed=5, tell=lambda lesson, step: told.append(step))
    assert [step for step in told if step is not None] == lesson.steps
    from noregret.concepts.hidden_concept import as_target, draw_blocks

    learner: Any = nr.make("elimination", classes=[-1, 1], features=12)
    mistakes = [learner.play(X, y).mistakes for X, y in draw_blocks(as_target([2, 3], 12, True, False), 1500, 5)]
    assert (np.flatnonzero(np.concatenate(mistakes)) + 1).tolist() == [step.number for step in lesson.steps]
    again = nr.teach([2, 3], 12, "random", rounds=1500, seed=5)
    assert again.steps == lesson.steps


REFUSED: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "an unknown literal": ((["x9"], 5), {}, "there is no feature 'x9' among the 5 given"),
    "a typing error": ((["drug"], ["drugs", "pill"]), {}, "did you mean 'drugs'?"),
    "a negated literal": ((["!x2"], 5), {}, "negations=True"),
    "both": ((["x2", "!x2"], 5), {"negations": True}, "x2 and !x2 together"),
    "a text": (("x2", 5), {}, "target must be a list of literals"),
    "a float": (([2.5], 5), {}, "a literal is the name of a feature"),
    "no features": ((["x2"], 0), {}, "features must be from 1"),
    "a protocol": ((["x2"], 5, "guess"), {}, "protocol must be one of queries, teacher, random"),
    "a concept": ((["x2"], 5), {"concept": "xor"}, "concept must be one of"),
    "eps for a teacher": ((["x2"], 5, "teacher"), {"eps": 0.1}, "no option 'eps' for the protocol teacher"),
    "a large eps": ((["x2"], 5, "random"), {"eps": 1.0}, "eps must be above 0 and below 1"),
    "rounds": ((["x2"], 5, "random"), {"rounds": -1}, "rounds must be a whole number"),
    "a seed": ((["x2"], 5, "random"), {"seed": 1.5}, "seed must be a whole number"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_lessons_are_refused(name: str) -> None:
    given, options, words = REFUSED[name]
    assert words in refusal(lambda: nr.teach(*given, **options))


# ---- the command -----------------------------------------------------------------------------------------------------


def test_the_command_shows_the_lecture_round_by_round(tmp_path: Path) -> None:
    done = noregret("teach", "--n", "100", "--target", "2,3,4,5,100", "--protocol", "random", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[2].split() == ["round", "example", "label", "predicted", "mistakes", "literals", "left"]
    assert lines[4].split() == ["1", "49", "of", "100", "features", "1", "0", "1", "49"]
    assert "learned: x2 AND x3 AND x4 AND x5 AND x100 (exactly the target)" in lines
    assert "examples: 7,601 (the PAC count for eps = 0.1 and delta = 0.05: 7,601)" in lines
    assert "mistakes of elimination on the way: 6, bound 100" in lines


def test_the_command_teaches_the_spam_filter(tmp_path: Path) -> None:
    words = (
        "--features",
        "drugs,credit,pill,meeting,lunch",
        "--target",
        "drugs, credit,pill",
        "--concept",
        "disjunction",
    )
    done = noregret("teach", *words, "--protocol", "teacher", "--quiet", cwd=tmp_path)
    assert done.stdout.splitlines()[:2] == [
        "learned: drugs OR credit OR pill (exactly the target)",
        "examples: 4 (r + 1 examples: 4)",
    ]
    long = noregret("teach", "--n", "200", "--target", "7", cwd=tmp_path)
    assert "... 140 more rounds ..." in long.stdout


def test_the_command_writes_json(tmp_path: Path) -> None:
    words = ("--n", "8", "--target", "2,!5", "--negations", "--protocol", "teacher", "--json", "-")
    done = noregret("teach", *words, cwd=tmp_path)
    report = json.loads(done.stdout)
    assert report["exact"] is True
    assert (report["examples"], report["promised"], report["relevant"]) == (4, 4, 2)
    assert [step["label"] for step in report["steps"]] == [1, 1, 0, 0]
    assert report["target"] == "x2 AND NOT x5"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--n", "5", "--target", "9"), "there is no feature 'x9'"),
        (("--n", "5", "--target", "!2"), "--negations"),
        (("--n", "0", "--target", "2"), "at least 1"),
        (("--target", "2"), "--n"),
        (("--n", "5", "--target", "2", "--eps", "0.2"), "no option 'eps' for the protocol queries"),
    ],
)
def test_the_command_refuses_in_words(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = noregret("teach", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
