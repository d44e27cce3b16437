"""Labels that arrive later: mistakes are counted on what was said when asked, and rows are learned as they are told."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from noregret.data.blocks import Rows, SparseBlock
from noregret.learner.model_file import card_finder, pack, restore
from tests.support import by_name, refusal, refused, small_stream

X, Y = small_stream(rows=60)
ROWS = [by_name(row) for row in X]
WORDS = ["late" if label > 0 else "early" for label in Y]


def plain(**told: Any) -> nr.RuleLearner:
    return nr.make("pa1", native=False, **told)


def events(delay: int) -> list[tuple[int, Any, Any]]:
    """Every row asked in turn and told so many rows later."""
    found: list[tuple[int, Any, Any]] = []
    for t in range(len(ROWS) + delay):
        if t < len(ROWS):
            found.append((t, ROWS[t], None))
        if t >= delay:
            found.append((t - delay, None, WORDS[t - delay]))
    return found


def obvious(delay: int) -> tuple[nr.RuleLearner, int]:
    """The same with a list of predictions."""
    learner, mistakes = plain(), 0
    said: dict[int, Any] = {}
    for key, x, y in events(delay):
        if y is None:
            said[key] = learner.predict_one(x)
        else:
            mistakes += said[key] != y
            learner.learn_one(ROWS[key], y)
    return learner, mistakes


@pytest.mark.parametrize("delay", [0, 1, 9, 60])
def test_mistakes_are_those_of_the_predictions_made_when_asked(delay: int) -> None:
    found = nr.delayed(plain())
    report = found.play_events(events(delay))
    learner, mistakes = obvious(delay)
    assert pack(found.learner) == pack(learner)
    assert report["mistakes"] == mistakes
    assert (report["rounds"], report["waiting"], report["skipped"]) == (60, 0, 0)


def test_without_delay_it_is_the_plain_task() -> None:
    found = nr.delayed(plain())
    found.play_events(events(0))
    whole = plain().learn(ROWS, WORDS)
    assert pack(found.learner) == pack(whole)
    assert found.mistakes == whole.mistakes


def test_a_delay_costs_mistakes_that_the_learner_does_not_count() -> None:
    late = nr.delayed(plain())
    late.play_events(events(60))
    assert late.mistakes == 60  # nothing was known when anything was asked
    assert late.learner.mistakes < 60


def test_ask_and_tell_return_what_was_said_when_asked() -> None:
    d = nr.delayed(plain())
    assert d.ask("a", ROWS[0]) is None
    assert "a" in d
    assert len(d) == 1
    assert d.tell("a", "late") is None
    said = d.ask("b", ROWS[1])
    d.ask("c", ROWS[2])
    d.tell("c", "early")
    assert d.tell("b", "late", weight=0.5) == said
    d.ask("b", ROWS[1])  # told, so the key is free again
    d.forget("b")
    assert d.report() == {"rounds": 3, "mistakes": d.mistakes, "rate": d.mistakes / 3, "waiting": 0, "forgotten": 1}


@pytest.mark.parametrize("kind", ["dict", "row", "sparse"])
def test_what_the_caller_does_to_a_row_after_asking_is_not_learned(kind: str) -> None:
    x: Any = {"dict": {"a": 1.0, "b": 2.0}, "row": np.array([1.0, 2.0]), "sparse": sp.csr_array([[1.0, 2.0]])}[kind]
    d = nr.delayed(plain())
    d.ask(1, x)
    if kind == "sparse":
        x.data[:] = 9.0
    else:
        x["a" if kind == "dict" else 0] = 9.0
    d.tell(1, "late")
    fresh: Any = {"dict": {"a": 1.0, "b": 2.0}, "row": np.array([1.0, 2.0]), "sparse": sp.csr_array([[1.0, 2.0]])}[kind]
    assert pack(d.learner) == pack(plain().learn_one(fresh, "late"))


def test_room_forgets_the_oldest() -> None:
    d = nr.delayed(plain(), room=2)
    for key in "abc":
        d.ask(key, ROWS[0])
    assert [key in d for key in "abc"] == [False, True, True]
    assert d.forgotten == 1
    assert "was forgotten (room=2)" in refusal(lambda: d.tell("a", "late"))
    report = nr.delayed(plain(), room=5).play_events(events(9))
    assert report["skipped"] == report["forgotten"] == 55
    assert report["rounds"] == 5  # at the end nothing new is asked, and the last five are told


def test_refused_keys_and_labels_change_nothing() -> None:
    d = nr.delayed(plain().learn(ROWS[:20], WORDS[:20]))
    d.ask("k", ROWS[20])
    before = d.report()
    for action, words in (
        (lambda: d.ask("k", ROWS[21]), "waits for its label already"),
        (lambda: d.tell("other", "late"), "no question waits"),
        (lambda: d.forget("other"), "no question waits"),
        (lambda: d.ask(["list"], ROWS[21]), "a key must be"),
        (lambda: d.ask("bad", {"a": np.nan}), "finite"),
        (lambda: d.tell("k", 0.5), "not a class"),
        (lambda: d.tell("k", None), "a label must be"),
    ):
        assert words in refused(d.learner, action)
        assert d.report() == before
        assert "k" in d
    d.tell("k", WORDS[20])
    assert "told before" in refusal(lambda: d.tell("k", WORDS[20]))


@pytest.mark.parametrize("bad", [0, 2.5, True, "many"])
def test_bad_room_is_refused(bad: Any) -> None:
    assert "room must be" in refusal(lambda: nr.delayed(plain(), room=bad))


@pytest.mark.parametrize("kind", ["dicts", "rows", "sparse"])
def test_questions_are_saved_with_the_model(kind: str, tmp_path: Path) -> None:
    rows: Any = {"dicts": ROWS, "rows": X, "sparse": [sp.csr_array(row[None]) for row in X]}[kind]
    story = [(key, None if x is None else rows[key], y) for key, x, y in events(9)]
    whole = nr.delayed(plain())
    whole.play_events(story)
    half = nr.delayed(plain())
    half.play_events(story[:51])
    half.save(tmp_path / "half.nr")
    again = nr.load(tmp_path / "half.nr")
    assert again.report() == half.report()
    again.play_events(story[51:])
    assert again.report() == whole.report()
    assert pack(again.learner) == pack(whole.learner)


def test_what_cannot_be_saved_says_so_and_leaves_the_model_as_it_was(tmp_path: Path) -> None:
    d = nr.delayed(plain().learn(ROWS[:9], WORDS[:9]))
    d.ask(("a", 1), ROWS[9])
    assert "keys must be numbers or strings" in refused(d.learner, lambda: d.save(tmp_path / "x.nr"), nr.Error)
    assert not (tmp_path / "x.nr").exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"questions": 3}, "questions must be a list"),
        ({"questions": [[1, 2]]}, "a question must be"),
        ({"questions": [[1, {}, 2]]}, "must have values or features"),
        ({"questions": [[1, {"values": ["a"]}, 2]]}, "must be a finite number"),
        ({"questions": [[1, {"features": [[1.5, 2.0]]}, 2]]}, "a name and a value"),
        ({"questions": [[1, {"features": [["a", 1.0]], "indicators": [1]}, 2]]}, "whether it is an indicator"),
        ({"questions": [[[], {"values": []}, 2]]}, "the key of a question"),
        ({"questions": [[1, {"values": []}, {}]]}, "a prediction"),
        ({"questions": [[1, {"values": []}, 1], [True, {"values": []}, 1]]}, "the same key"),
        ({"room": 1, "questions": [[1, {"values": []}, 1], [2, {"values": []}, 1]]}, "than there is room for"),
        ({"room": 0}, "room must be"),
        ({"forgotten": -1}, "forgotten must be"),
        ({"mistakes": 10**9}, "mistakes must be"),
        ({"rounds": 2.0}, "rounds must be"),
        ({"learner": None}, "a header is missing"),
    ],
)
def test_questions_of_a_corrupt_file_are_refused(changes: dict[str, Any], words: str) -> None:
    d = nr.delayed(plain().learn(ROWS[:9], WORDS[:9]))
    d.ask(1, ROWS[9])
    header, arrays = d.dump()
    message = refusal(lambda: restore({"kind": "delayed", **header, **changes}, arrays, card_finder(None)))
    assert "corrupt model file" in message
    assert words in message


def test_a_row_of_a_stream_keeps_its_indicators(tmp_path: Path) -> None:
    block = SparseBlock(np.array([0, 2]), np.array([0, 1], np.int32), np.array([3.0, 1.0]), 2)
    x = Rows(block, ["size", "city=Rome"], np.array([False, True]))
    d = nr.delayed(nr.scale() | plain())
    d.ask("a", x)
    d.save(tmp_path / "rows.nr")
    again = nr.load(tmp_path / "rows.nr")
    for one in (d, again):
        one.tell("a", "late")
    assert pack(again) == pack(d)


def test_targets_have_no_mistakes() -> None:
    d = nr.delayed(plain(task="regression"))
    d.ask(1, ROWS[0])
    d.tell(1, 2.5)
    assert (d.rounds, d.mistakes) == (1, 0)
    assert "needs a learner" in refusal(lambda: nr.delayed("pa1"))  # type: ignore[arg-type]
