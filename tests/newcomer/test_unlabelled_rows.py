"""Labels that are missing or come later, on the command line; and one class whose table may have a label."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import noregret as nr
from tests.support.command_line import noregret, refused, succeeded

HEAD = "id,x,kind,late"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, rng = tmp_path_factory.mktemp("delayed"), np.random.default_rng(0)
    events, known = [], {}
    for number in range(120):
        x, kind = round(float(rng.normal()), 3), str(rng.choice(["a", "b"]))
        label = "yes" if x + (kind == "a") > 0.3 else "no"
        known[number] = f"{number},{x},{kind},{label}"
        events.append(f"{number},{x},{kind},{'?' if number % 3 else ''}")
        if number >= 10:
            events.append(known.pop(number - 10))
    (folder / "events.csv").write_text("\n".join([HEAD, *events]) + "\n")
    records = [dict(zip(HEAD.split(","), event.split(","), strict=True)) for event in events]
    numbers = [{**one, "x": float(one["x"])} for one in records]
    (folder / "events.jsonl").write_text("".join(json.dumps(one) + "\n" for one in numbers))
    return folder


def by_hand(path: Path) -> nr.RuleLearner:
    """The same events through `nr.delayed`, one by one."""
    learner = nr.delayed(nr.make("pa1", scale=True, bias=True, reads="table"))
    with open(path) as file:
        for row in csv.DictReader(file):
            key, label = row.pop("id"), row.pop("late")
            x = {"x": float(row["x"]), "kind": row["kind"]}
            if label in ("?", ""):
                learner.ask(key, x)
            else:
                learner.tell(key, label)
    return learner  # type: ignore[return-value]


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_label_that_comes_later_is_learned_then(kind: str, folder: Path) -> None:
    words = ["learn", f"events.{kind}", "--label", "late", "--unlabelled", "?", "--key", "id", "--learner", "pa1"]
    told = json.loads(succeeded(noregret(*words, "--save", "m.nr", "--json", "-", cwd=folder)).stdout)["learners"][0]
    learner, expected = nr.load(folder / "m.nr"), by_hand(folder / "events.csv")
    assert (learner.rounds, learner.mistakes, len(learner)) == (expected.rounds, expected.mistakes, len(expected))  # type: ignore[arg-type]
    assert (told["rounds"], told["mistakes"]) == (110, expected.mistakes)
    assert learner.learner.weights == pytest.approx(expected.learner.weights)  # type: ignore[attr-defined]
    assert len(learner) == 10
    assert "id" not in learner.learner.features


def test_resuming_finds_the_questions_that_wait(folder: Path) -> None:
    lines = (folder / "events.csv").read_text().splitlines()
    (folder / "first.csv").write_text("\n".join(lines[:101]) + "\n")
    (folder / "rest.csv").write_text("\n".join([lines[0], *lines[101:]]) + "\n")
    words = ["--label", "late", "--unlabelled", "?", "--key", "id"]
    succeeded(noregret("learn", "first.csv", *words, "--learner", "pa1", "--save", "half.nr", "--quiet", cwd=folder))
    succeeded(noregret("learn", "rest.csv", "--resume", "half.nr", "--quiet", cwd=folder))
    whole, resumed = by_hand(folder / "events.csv"), nr.load(folder / "half.nr")
    assert (resumed.rounds, resumed.mistakes) == (whole.rounds, whole.mistakes)
    assert resumed.learner.weights == pytest.approx(whole.learner.weights)  # type: ignore[attr-defined]
    said = succeeded(noregret("predict", "half.nr", "rest.csv", "--keep", "id", "--quiet", cwd=folder)).stdout
    assert said.startswith("id,prediction\n")


def test_predictions_are_written_for_every_row(folder: Path) -> None:
    words = ["learn", "events.csv", "--label", "late", "--unlabelled", "?", "--key", "id", "--learner", "pa1"]
    succeeded(noregret(*words, "--predictions", "p.csv", "--quiet", cwd=folder))
    with open(folder / "p.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 230
    asked = {row["id"]: row["prediction"] for row in rows if not row["label"]}
    assert all(asked[row["id"]] == row["prediction"] for row in rows if row["label"])


def test_without_keys_such_rows_are_only_predicted(folder: Path) -> None:
    words = ["learn", "events.csv", "--label", "late", "--unlabelled", "?", "--drop", "id", "--learner", "pa1"]
    said = succeeded(noregret(*words, cwd=folder)).stdout
    assert "in 110 rounds" in said


def test_races_wait_too(folder: Path) -> None:
    words = [
        "race",
        "events.csv",
        "--label",
        "late",
        "--unlabelled",
        "?",
        "--key",
        "id",
        "--learners",
        "pa1,perceptron",
    ]
    told = json.loads(succeeded(noregret(*words, "--json", "-", cwd=folder)).stdout)
    assert [one["rounds"] for one in told["learners"]] == [110, 110]


def test_what_makes_no_sense_is_refused(folder: Path) -> None:
    words = ["learn", "events.csv", "--learner", "pa1"]
    refused(noregret(*words, "--label", "late", "--key", "id", cwd=folder), "--unlabelled")
    refused(noregret(*words, "--unlabelled", "?", "--key", "id", cwd=folder), "--label")
    twice = "\n".join([HEAD, "1,1,a,?", "1,2,b,?"]) + "\n"
    (folder / "twice.csv").write_text(twice)
    said = ["learn", "twice.csv", "--label", "late", "--unlabelled", "?", "--key", "id", "--learner", "pa1"]
    refused(noregret(*said, cwd=folder), "waits for its label already")


def test_one_class_leaves_out_what_would_be_the_label(tmp_path: Path) -> None:
    lines = [f"{k % 5},{k % 3},{'bad' if k % 10 == 0 else 'good'}" for k in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["u,v,state", *lines]) + "\n")
    words = ["learn", "t.csv", "--task", "one-class", "--learner", "pa1", "--save", "m.nr"]
    assert "column 'state'" in succeeded(noregret(*words, cwd=tmp_path)).stderr
    assert nr.load(tmp_path / "m.nr").features == ["u", "v"]
    done = succeeded(noregret("predict", "m.nr", "t.csv", cwd=tmp_path))
    assert "lacks" not in done.stderr
    succeeded(noregret(*words, "--label", "NONE", cwd=tmp_path))
    assert "state=good" in nr.load(tmp_path / "m.nr").features


def test_rows_of_a_table_that_wait_are_saved(tmp_path: Path) -> None:
    learner = nr.delayed(nr.make("pa1", reads="table", native=False))
    learner.learn_one({"plan": "basic", "active": True}, "yes")
    learner.ask("k", {"plan": "plus", "active": False, "age": 30, "note": None})
    learner.save(tmp_path / "m.nr")
    loaded = nr.load(tmp_path / "m.nr")
    for one in (learner, loaded):
        one.tell("k", "no")
    assert loaded.learner.weights == learner.learner.weights  # type: ignore[attr-defined]
    assert loaded.predict_one({"plan": "plus"}) == "no"
