"""A rule that is wrong is refused where it is written, or where it goes wrong: file, line and round are named."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import scipy.sparse as sp

import noregret as nr
from noregret.algebra import add, dot
from noregret.rules.registry import REGISTRY
from noregret.rules.rule_card import P, S, X, Z
from tests.support import OWN_RULES, by_name, by_number, load_own_rules, refusal, refused, small_stream

pytestmark = pytest.mark.compiles
ROWS, Y = small_stream()
own = load_own_rules()
BOTH = pytest.mark.parametrize("native", [False, True], ids=["interpreted", "compiled"])


def line_of(text: str) -> str:
    """The place of a line in the file of the rules, as an error names it."""
    lines = OWN_RULES.read_text().splitlines()
    return f"{OWN_RULES}:{1 + next(number for number, line in enumerate(lines) if text in line)}:"


# ---- while it plays -----------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("task", ["binary", "multiclass"])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.coo_array, lambda rows: rows.copy()], ids=["CSR", "COO", "dense"])
@pytest.mark.thinned(2)
def test_a_rule_that_raises_in_a_batch_is_named_with_its_line_and_round(kind: Any, task: str, native: bool) -> None:
    learner = nr.make(own.impatient, task=task, native=native)
    message = refused(learner, lambda: learner.learn(kind(ROWS), Y), nr.Error)
    assert message.startswith(line_of('raise ValueError("enough")'))
    assert "rule impatient raised ValueError: enough in round" in message
    assert learner.learn(kind(ROWS[:3]), Y[:3]).rounds == 3


@BOTH
@pytest.mark.parametrize("labels", [[1, 2] * 10, ["a", "b", "c", "d"] * 5], ids=["turning", "growing"])
def test_the_round_is_found_also_while_classes_come(labels: list[Any], native: bool) -> None:
    learner = nr.make(own.impatient, native=native)
    assert "enough in round 5" in refused(learner, lambda: learner.learn(ROWS, labels), nr.Error)


@BOTH
@pytest.mark.parametrize("as_row", [by_number, by_name])
def test_a_rule_that_raises_in_a_single_round_is_named_with_its_line_and_round(as_row: Any, native: bool) -> None:
    learner = nr.make(own.impatient, native=native)
    for t in range(4):
        learner.learn_one(as_row(ROWS[t]), Y[t])
    message = refused(learner, lambda: learner.learn_one(as_row(ROWS[4]), Y[4]), nr.Error)
    assert message.startswith(line_of('raise ValueError("enough")'))
    assert "in round 5" in message


@BOTH
def test_a_score_that_raises_is_named_with_its_line(native: bool) -> None:
    learner = nr.make(own.shy, native=native).learn(sp.csr_array(ROWS[:5]), Y[:5])
    asked: list[Callable[[Any], Any]] = [learner.predict_one, learner.scores_one, learner.explain_one]
    for ask in asked:
        message = refused(learner, lambda a=ask: a(by_number(ROWS[0])), nr.Error)  # type: ignore[misc]
        assert message.startswith(line_of('raise ValueError("no more scores")'))
    assert "no more scores" in refused(learner, lambda: learner.predict(ROWS), nr.Error)
    assert "no more scores" in refused(learner, lambda: learner.learn(ROWS, Y), nr.Error)


def test_what_cannot_be_compiled_is_named_with_its_file_and_line() -> None:
    learner = nr.make(own.reader)
    message = refused(learner, lambda: learner.learn(ROWS, Y), nr.Error)
    assert message.startswith(f"{OWN_RULES}:")
    assert "rule reader cannot be compiled" in message
    assert nr.make(own.reader, native=False).learn(ROWS, Y).rounds == 20


@BOTH
def test_a_parameter_that_is_on_no_card_is_named_with_its_line(native: bool) -> None:
    learner = nr.make(own.forgetful, native=native)
    message = refused(learner, lambda: learner.learn(ROWS, Y), nr.Error)
    assert message.startswith(line_of("add(s.w, p.C, z)"))
    assert "'C'" in message


# ---- when it is written -------------------------------------------------------------------------------------------


def nothing(p: P, s: S, z: Z, margin: float) -> bool:
    return False


def written(rule: Any = nothing, **told: Any) -> Callable[[], Any]:
    return lambda: nr.margin_rule(**{"paper": "mine", "state": {"w": nr.plain}, **told})(rule)


def closure() -> Any:
    step = 0.5

    def stepping(p: P, s: S, z: Z, margin: float) -> bool:
        add(s.w, step, z)
        return True

    return stepping


def scoring_closure() -> Any:
    threshold = 0.5
    return lambda p, s, x: dot(s.w, x) - threshold


def pa1(p: P, s: S, z: Z, margin: float) -> bool:
    return False


def too_short(p: P, s: S, z: Z) -> bool:
    return False


@pytest.mark.parametrize(
    ("writing", "words"),
    [
        (written(paper=""), "must declare its paper"),
        (written(state={}), "must declare its state"),
        (written(papers="mine"), "declares papers, which no card has"),
        (written(name="other"), "declares name, which no card has"),
        (written(closure()), "uses step of the function around it"),
        (written(score=scoring_closure()), "uses threshold of the function around it"),
        (written(score=3), "a hook is a plain Python function, not 3"),
        (written(lambda p, s, z, margin: False), "needs a name of its own"),
        (written(too_short), "takes (p, s, z); a margin rule takes (p, s, z, margin)"),
        (written(params={"C": 1.0}), "C in params must be a Param"),
        (written(params={"lambda": nr.Param(1.0)}), "'lambda' cannot be a name"),
        (written(params={"seed": nr.Param(1.0)}), "'seed' cannot be a name"),
        (written(state={"w": 0.0}), "w in state must be"),
        (written(state={"w": nr.plain, "n": nr.plain}), "'n' cannot be a name"),
        (written(weight_param="C"), "weight_param is 'C', which is not one of its parameters"),
        (
            written(params={"C": nr.Param(0.0, per_size=1.0)}),
            "C follows the rows; that takes a margin rule with counters",
        ),
    ],
)
def test_an_incomplete_rule_is_refused_where_it_is_written(writing: Callable[[], Any], words: str) -> None:
    message = refusal(writing)
    assert message.startswith(f"{Path(__file__)}:")
    assert words in message


def silent(p: P, s: S, z: Z, margin: float) -> None:
    add(s.w, 1.0, z)


def test_a_rule_that_does_not_say_whether_it_moved_cannot_be_made() -> None:
    card = written(silent)()
    del REGISTRY["silent"]
    message = refusal(lambda: nr.make(card))
    assert message.startswith(f"{Path(__file__)}:{silent.__code__.co_firstlineno}: rule silent returns nothing")


def test_a_rule_is_a_function() -> None:
    assert "a plain Python function" in refusal(written(int))


def test_a_rule_cannot_take_the_name_of_a_built_in_learner() -> None:
    built_in = nr.learners()["pa1"]
    message = refusal(written(pa1))
    assert "the name pa1 is taken by a built-in learner" in message
    assert REGISTRY["pa1"] is built_in


def test_nor_before_the_built_in_learners_are_loaded(tmp_path: Path) -> None:
    file = tmp_path / "early.py"
    file.write_text(
        "import noregret as nr\n"
        "@nr.margin_rule(paper='mine', state={'w': nr.plain})\n"
        "def pa1(p, s, z, margin):\n"
        "    return False\n"
        "nr.make('pa1')\n"
    )
    ended = subprocess.run([sys.executable, str(file)], capture_output=True, text=True)
    assert f"BadValue: {file}:2: the name pa1 is taken" in ended.stderr


def test_a_broken_hook_of_a_rule_is_no_hindrance_to_the_catalogue() -> None:
    assert own.impatient.tasks == ("binary", "multiclass", "multilabel", "ranking", "structured")
    assert own.forgetful.tasks == ("binary", "multiclass", "multilabel", "ranking", "structured")


def unheard(p: P, s: S, x: X) -> float:
    return float(dot(s.v, x))


@BOTH
def test_a_score_of_a_state_that_is_not_kept_is_named_with_its_line(native: bool) -> None:
    card = written(score=unheard)()
    del REGISTRY["nothing"]
    learner = nr.make(card, native=native)
    message = refused(learner, lambda: learner.learn(ROWS, Y), nr.Error)
    assert message.startswith(f"{Path(__file__)}:{unheard.__code__.co_firstlineno + 1}:")
    assert "'v'" in message
