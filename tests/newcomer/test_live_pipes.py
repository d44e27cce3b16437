"""Pipes that are answered line by line, columns carried into the predictions, and outputs by extension."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

import noregret as nr
from noregret.streams import open_source
from tests.support.command_line import noregret, refused, succeeded

ROWS = [f"{number:03},{number % 7},{'ab'[number % 2]},{'yes' if number % 7 > 3 else 'no'}" for number in range(60)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("live")
    (folder / "old.csv").write_text("\n".join(["id,x,kind,label", *ROWS]) + "\n")
    (folder / "new.csv").write_text("\n".join(["id,x,kind", *(row.rpartition(",")[0] for row in ROWS[:9])]) + "\n")
    words = ["learn", "old.csv", "--drop", "id", "--learner", "pa1", "--save", "m.nr", "--quiet"]
    succeeded(noregret(*words, cwd=folder))
    return folder


def converse(words: list[str], lines: list[str], folder: Path) -> list[str]:
    """Send lines one by one, each after the answer to the one before; the first answer follows a line of names."""
    command = [sys.executable, "-m", "noregret", *words]
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        answers: list[str] = []
        for line in lines:
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            answers += [process.stdout.readline().rstrip("\n") for _ in range(1 if answers else 2)]
        process.stdin.close()
        assert process.stdout.read() == ""
        assert process.wait(timeout=60) == 0
    return answers


def test_predict_answers_line_by_line(folder: Path) -> None:
    lines = (folder / "new.csv").read_text().splitlines()
    words = ["predict", "m.nr", "-", "--format", "csv", "--keep", "id", "--quiet"]
    answers = converse(words, [f"{lines[0]}\n{lines[1]}", *lines[2:]], folder)
    whole = succeeded(noregret("predict", "m.nr", "new.csv", "--keep", "id", "--quiet", cwd=folder)).stdout
    assert answers == whole.splitlines()


def test_learn_predicts_then_learns_line_by_line(folder: Path) -> None:
    lines = [f"{1 if k % 3 else -1} 1:{k % 3} 2:{k % 5}" for k in range(8)]
    words = ["learn", "-", "--format", "libsvm", "--learner", "pa1", "--predictions", "-", "--no-bias", "--quiet"]
    answers = converse([*words, "--save", "live.nr"], lines, folder)
    learner, expected = nr.make("pa1"), ["prediction,label"]
    for line in lines:
        label, *features = line.split()
        row = {int(name) - 1: float(value) for name, value in (one.split(":") for one in features)}
        said = learner.predict_one(row)
        expected.append(f"{'' if said is None else said},{label}")
        learner.learn_one(row, int(label))
    assert answers[2:] == expected[2:]
    assert nr.load(folder / "live.nr").rounds == len(lines)


@pytest.mark.parametrize("text", ["csv", "jsonl", "text", "libsvm"])
def test_live_sources_read_the_same_rows(text: str, tmp_path: Path) -> None:
    rows = {
        "csv": "x,label\n" + "".join(f"{n},{n % 2}\n" for n in range(30)),
        "jsonl": "".join(f'{{"x": {n}, "label": {n % 2}}}\n' for n in range(30)),
        "text": "".join(f"{n % 2}\tword{n} other\n" for n in range(30)),
        "libsvm": "".join(f"{n % 2} 1:{n}\n" for n in range(30)),
    }[text]
    (tmp_path / "rows").write_text(rows)
    read = [
        (batch.y.tolist(), np.asarray(batch.lines).tolist())
        for live in (False, True)
        for batch in open_source(tmp_path / "rows", format=text, live=live)
    ]
    assert read[0] == read[1]


def test_columns_are_carried_into_the_predictions(folder: Path) -> None:
    words = ["predict", "m.nr", "new.csv", "--keep", "id", "--keep", "kind", "--keep", "x", "--proba"]
    rows = list(csv.DictReader(succeeded(noregret(*words, cwd=folder)).stdout.splitlines()))
    assert [row["id"] for row in rows] == [f"{number:03}" for number in range(9)]
    assert [row["kind"] for row in rows] == ["ab"[number % 2] for number in range(9)]
    assert [row["x"] for row in rows] == [str(number % 7) for number in range(9)]
    assert list(rows[0]) == ["id", "kind", "x", "prediction", "probability no", "probability yes"]
    refused(noregret("predict", "m.nr", "old.csv", "--keep", "idd", cwd=folder), "idd")
    (folder / "new.svm").write_text("1 1:2\n")
    refused(noregret("predict", "m.nr", "new.svm", "--keep", "id", cwd=folder), "keep does not apply")


def test_outputs_follow_their_extension(folder: Path) -> None:
    said = {}
    for suffix in ("csv", "jsonl", "parquet"):
        words = ["predict", "m.nr", "new.csv", "--keep", "id", "--out", f"p.{suffix}", "--scores", "--quiet"]
        succeeded(noregret(*words, cwd=folder))
    with open(folder / "p.csv") as file:
        said["csv"] = [(row["id"], row["prediction"], float(row["score"])) for row in csv.DictReader(file)]
    records = [json.loads(line) for line in (folder / "p.jsonl").read_text().splitlines()]
    said["jsonl"] = [(row["id"], row["prediction"], row["score"]) for row in records]
    table = pyarrow.parquet.read_table(folder / "p.parquet").to_pylist()
    said["parquet"] = [(row["id"], row["prediction"], row["score"]) for row in table]
    assert said["csv"] == said["jsonl"] == said["parquet"]


def test_predictions_of_learn_are_those_before_the_label(folder: Path) -> None:
    words = ["learn", "old.csv", "--learner", "pa1", "--keep", "id", "--predictions", "p.jsonl", "--json", "-"]
    told = json.loads(succeeded(noregret(*words, cwd=folder)).stdout)["learners"][0]
    rows = [json.loads(line) for line in (folder / "p.jsonl").read_text().splitlines()]
    assert sum(row["prediction"] != row["label"] for row in rows) == told["mistakes"]
    assert [row["id"] for row in rows] == [row.partition(",")[0] for row in ROWS]
    refused(
        noregret("learn", "old.csv", "--learner", "pa1", "--predictions", "-", "--json", "-", cwd=folder), "both want"
    )
    refused(noregret("learn", "old.csv", "--learner", "pa1", "--predictions", "old.csv", cwd=folder), "overwrite")


def test_text_that_looks_like_numbers_stays_a_category(folder: Path) -> None:
    rows = [f"{'00501' if n % 2 else 'K2P'},{n % 2}" for n in range(40)]
    (folder / "zip.csv").write_text("\n".join(["zip,label", *rows]) + "\n")
    succeeded(noregret("learn", "zip.csv", "--learner", "pa1", "--save", "zip.nr", "--quiet", cwd=folder))
    (folder / "one.csv").write_text("zip\n00501\n")
    done = succeeded(noregret("predict", "zip.nr", "one.csv", cwd=folder))
    assert done.stdout.split() == ["prediction", "1"]
    assert "warning" not in done.stderr


def test_a_text_in_a_column_that_began_with_numbers_names_the_way_out(folder: Path) -> None:
    words = ["learn", "-", "--format", "csv", "--learner", "pa1", "--predictions", "-", "--quiet"]
    command = [sys.executable, "-m", "noregret", *words]
    for more, code in (([], 2), (["--categorical", "kind"], 0)):
        process = subprocess.Popen(
            [*command, *more],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("kind,label\n7,no\n")
        process.stdin.flush()
        assert [process.stdout.readline() for _ in range(2)][1] == ",no\n"
        said, errors = process.communicate("b,yes\n", timeout=60)
        assert process.returncode == code
        if code:
            assert "standard input:3: column 'kind': 'b' is not a number" in errors
            assert "--categorical" in errors
        else:
            assert said.startswith("no,yes")
