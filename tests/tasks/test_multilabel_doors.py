"""Sets of labels from files, and on the command line."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noregret as nr
from noregret.streams import open_source
from tests.support.command_line import noregret, refused

ROUNDS = 40
LABELS = [["rain"], ["snow", "wind"], ["wind"], ["rain", "wind"]]
TRUTH = [LABELS[k % 4] for k in range(ROUNDS)]


def written(folder: Path, kind: str) -> Path:
    """The same rounds in a file of this kind."""
    path, lines = folder / f"rounds.{kind}", []
    for k in range(ROUNDS):
        own, a, b, c = LABELS[k % 4], *(int(k % 4 == turn) for turn in range(3))
        if kind == "svm":
            lines.append(f"{','.join(own)} 1:{a} 2:{b} 3:{c}")
        elif kind == "csv":
            lines.append(f"{a},{b},{c},{'; '.join(own)}")
        else:
            lines.append(json.dumps({"topics": own, "a": a, "b": b, "c": c}))
    head = ["a,b,c,topics"] if kind == "csv" else []
    path.write_text("\n".join([*head, *lines]) + "\n")
    return path


OPTIONS: dict[str, dict[str, Any]] = {
    "svm": {},
    "csv": {"label": "topics", "labels_by": ";"},
    "jsonl": {"label": "topics"},
}


@pytest.mark.parametrize("kind", OPTIONS)
def test_a_file_gives_sets(kind: str, tmp_path: Path) -> None:
    source = open_source(written(tmp_path, kind), sets=True, **OPTIONS[kind])
    (batch,) = list(source)
    found = [[one] if isinstance(one, str) else list(one) for one in batch.y]
    assert found == TRUTH
    learner = nr.make("pa1", task="multilabel", native=False)
    learner.learn(batch.X, batch.y)
    assert learner.classes == ["rain", "snow", "wind"]


def test_numbers_are_labels_too(tmp_path: Path) -> None:
    for name, text in (("a.svm", "1,3 1:1\n2 1:2\n"), ("a.csv", 'x,label\n1,"1,3"\n2,2\n')):
        (tmp_path / name).write_text(text)
        learner = nr.make("pa1", task="multilabel", native=False)
        for batch in open_source(tmp_path / name, sets=True):
            learner.learn(batch.X, batch.y)
        assert learner.classes == [1, 3, 2]


def test_a_list_is_no_label_where_sets_are_not_asked_for(tmp_path: Path) -> None:
    with pytest.raises(nr.BadValue, match=r"jsonl:1: the label is \['rain'\]"):
        list(open_source(written(tmp_path, "jsonl"), label="topics"))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("[]", "at least one of them"),
        ("[null]", "numbers or texts"),
        ('[["a"]]', "numbers or texts"),
        ("[1e999]", "inf"),
    ],
)
def test_a_list_that_cannot_be_labels_is_refused_or_skipped(line: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"y": ["a"], "x": 1}}\n{{"y": {line}, "x": 2}}\n')
    with pytest.raises(nr.BadValue, match=f"a.jsonl:2: .*{why}"):
        list(open_source(path, sets=True))
    source = open_source(path, sets=True, on_bad="skip")
    assert sum(batch.rows for batch in source) == 1
    assert source.skipped == 1


def test_a_column_of_lists_gives_sets(tmp_path: Path) -> None:
    lists = pa.array([["x, 1", "y"], ["y"], [], None])
    pq.write_table(pa.table({"a": [1.0, 2.0, 3.0, 4.0], "label": lists}), tmp_path / "a.parquet")
    source = open_source(tmp_path / "a.parquet", sets=True, on_bad="skip")
    assert [labels for batch in source for labels in batch.y] == [("x, 1", "y"), ("y",)]
    assert source.skipped == 2
    frame = pd.DataFrame({"a": [1.0, 2.0]}), [[1, 2], [2]]
    assert [labels for batch in open_source(frame, sets=True) for labels in batch.y] == [(1, 2), (2,)]
    with pytest.raises(nr.BadValue, match="column 'label' holds lists; several labels of a row need --task multilabel"):
        list(open_source(tmp_path / "a.parquet"))


def test_a_cell_of_separators_is_an_empty_set(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('x,label\n1,"a,b"\n2,","\n')
    with pytest.raises(nr.BadValue, match=r"a.csv:3: the set of labels is empty"):
        nr.play(open_source(tmp_path / "a.csv", sets=True), nr.make("pa1", task="multilabel", native=False))


def test_what_stands_between_labels_is_a_text() -> None:
    with pytest.raises(nr.BadValue, match="labels_by is the text between two labels"):
        open_source("iris", labels_by="")


@pytest.mark.parametrize("kind", OPTIONS)
def test_the_command_line_learns_races_predicts_and_goes_on(kind: str, tmp_path: Path) -> None:
    path = written(tmp_path, kind)
    said = [f"--{name.replace('_', '-')}={value}" for name, value in OPTIONS[kind].items()]
    how = [*said, "--task", "multilabel", "--scale", "--bias"]
    done = noregret("learn", path.name, "--learner", "arow", *how, "--save", "m.nr", "--json", "r.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "micro F1 0." in done.stdout
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["task"] == "multilabel"
    assert {"hamming_loss", "ranking_loss", "one_error", "micro_f1", "macro_f1"} < set(report["learners"][0])
    if kind == "csv":
        again = noregret("learn", path.name, "--resume", "m.nr", "--passes", "1", cwd=tmp_path)
        assert again.returncode == 0, again.stderr
    guessed = noregret("predict", "m.nr", path.name, "--out", "guess.csv", "--json", "p.json", "--scores", cwd=tmp_path)
    assert guessed.returncode == 0, guessed.stderr
    lines = (tmp_path / "guess.csv").read_text().splitlines()
    assert lines[0] == "prediction,score rain,score snow,score wind"
    learner = nr.load(tmp_path / "m.nr")
    assert learner.rounds == (2 if kind == "csv" else 1) * ROUNDS
    (batch,) = list(open_source(path, sets=True, labelled=False, **OPTIONS[kind]))
    found = [",".join(labels) for labels in learner.predict(batch.X)]
    cells = [line.rsplit(",", 3)[0].strip('"') for line in lines[1:]]
    assert cells == found
    wrong = sum(set(cell.split(",")) != set(own) for cell, own in zip(cells, TRUTH, strict=True))
    assert json.loads((tmp_path / "p.json").read_text())["mistakes"] == wrong
    assert wrong == 0
    if kind == "svm":
        race = noregret("race", path.name, "--learners", "pa1,arow", *how, cwd=tmp_path)
        assert "ranking loss  micro F1" in race.stdout, race.stderr
        assert "--task multilabel" in race.stdout


def test_several_labels_where_one_is_wanted_are_refused_with_the_line(tmp_path: Path) -> None:
    path = written(tmp_path, "svm")
    done = noregret("learn", path.name, "--learner", "pa1", cwd=tmp_path)
    refused(done, f"{path.name}:2: ", "--task multilabel")


def test_a_made_up_learner_of_rows_and_matrices_is_raced() -> None:
    X = np.eye(4)
    race = nr.race((X, np.array([[1, 0], [0, 1], [1, 0], [0, 1]])), ["pa1"], task="multilabel", native=False)
    assert race.winner.classes == [0, 1]
