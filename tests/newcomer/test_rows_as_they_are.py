"""Rows as people have them: the same features from CSV, JSON lines, Parquet, frames and dicts."""

import csv
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import noregret as nr
from tests.support import refusal
from tests.support.command_line import noregret, succeeded


def make_rows(count: int, seed: int = 0) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        age, plan, active = int(rng.integers(18, 80)), str(rng.choice(["basic", "plus"])), bool(rng.random() < 0.5)
        words = str(rng.choice(["never again", "all is fine", "so slow"]))
        score = (age - 50) / 10 + (plan == "basic") - 2 * active + ("never" in words) + rng.logistic()
        row = {"id": number, "age": age, "plan": plan, "active": active, "note": words, "income": float(age) / 7}
        if number % 9 == 0:
            row["income"] = None
        if number % 11 == 0:
            row["plan"] = None
        rows.append({**row, "churn": "yes" if score > 0 else "no"})
    return rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows")
    rows = make_rows(300)
    with open(folder / "train.csv", "w", newline="") as file:
        out = csv.DictWriter(file, list(rows[0]))
        out.writeheader()
        out.writerows(rows)
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pd.DataFrame(rows).to_parquet(folder / "train.parquet")
    for kind in ("csv", "jsonl", "parquet"):
        words = ["learn", f"train.{kind}", "--label", "churn", "--drop", "id", "--text", "note", "--learner", "pa1"]
        succeeded(noregret(*words, "--save", f"{kind}.nr", "--quiet", cwd=folder))
    return folder


def weights(learner: Any) -> dict[str, float]:
    return dict(learner.weights)


def test_every_format_makes_the_same_features(folder: Path) -> None:
    models = [nr.load(folder / f"{kind}.nr") for kind in ("csv", "jsonl", "parquet")]
    assert len({model.mistakes for model in models}) == 1
    for model in models:
        assert set(model.features) == {
            "age", "active", "income", "plan=basic", "plan=plus", "note=never", "note=again", "note=all", "note=is",
            "note=fine", "note=so", "note=slow",
        }  # fmt: skip
        for name, weight in weights(models[0]).items():
            assert weights(model)[name] == pytest.approx(weight, rel=1e-9)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_loaded_model_takes_the_rows_it_was_learned_from(kind: str, folder: Path) -> None:
    model = nr.load(folder / f"{kind}.nr")
    new = make_rows(60, seed=1)
    bare = [{name: value for name, value in row.items() if name != "churn"} for row in new]
    (folder / "new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in new))
    said = succeeded(noregret("predict", f"{kind}.nr", "new.jsonl", "--quiet", cwd=folder)).stdout.split()[1:]
    assert [model.predict_one(row) for row in bare] == said
    assert [model.predict_one(row) for row in new] == said  # a label in the row is no feature
    assert model.predict(bare).tolist() == said
    assert model.predict(pd.DataFrame(new)).tolist() == said
    assert model.predict(pl.DataFrame(bare)).tolist() == said
    assert model.predict_one(pd.DataFrame(bare).iloc[3]) == said[3]
    as_text = [{name: None if value is None else str(value) for name, value in row.items()} for row in bare]
    assert model.predict(as_text).tolist() == said if kind != "jsonl" else True  # as csv.DictReader gives them
    assert set(model.predict_proba_one(bare[0])) == {"yes", "no"}
    np.testing.assert_allclose(model.predict_proba(bare)[0], list(model.predict_proba_one(bare[0]).values()))
    assert "note=never" in model.explain_one({"note": "Never!", "age": 30})


def test_learning_goes_on_with_such_rows(folder: Path, tmp_path: Path) -> None:
    new = make_rows(80, seed=2)
    labels = [row.pop("churn") for row in new]
    whole, single, frame = (nr.load(folder / "csv.nr") for _ in range(3))
    whole.learn(new, labels)
    for row, label in zip(new, labels, strict=True):
        single.learn_one(row, label)
    frame.learn(pd.DataFrame(new), labels)
    assert weights(single) == weights(whole)
    assert weights(frame) == weights(whole)
    assert "id" not in whole.features
    whole.save(tmp_path / "m.nr")
    assert nr.load(tmp_path / "m.nr").predict_one(new[0]) == whole.predict_one(new[0])
    copy = whole.copy()
    assert copy.predict_one(new[0]) == whole.predict_one(new[0])


def test_a_model_of_the_command_line_is_saved_as_it_was(folder: Path, tmp_path: Path) -> None:
    nr.load(folder / "csv.nr").save(tmp_path / "again.nr")
    assert (tmp_path / "again.nr").read_bytes() == (folder / "csv.nr").read_bytes()


def test_a_learner_made_in_python_takes_them_when_asked() -> None:
    rows = make_rows(200)
    labels = [row.pop("churn") for row in rows]
    for options in ({}, {"scale": True, "bias": True}, {"bits": 12, "scale": True}):
        whole = nr.make("pa1", reads="table", native=False, **options).learn(rows, labels)
        single = nr.make("pa1", reads="table", native=False, **options)
        for row, label in zip(rows, labels, strict=True):
            single.learn_one(row, label)
        assert single.mistakes == whole.mistakes
        if "bits" not in options:
            assert weights(single) == weights(whole)
            assert whole.weights.keys() >= {"plan=basic", "note=so slow", "active", "age"}
    plain = nr.make("pa1", reads="table", scale=True, bias=True, native=False)
    plain.learn(pd.DataFrame(rows).drop(columns=["id"]), labels)
    source = nr.open_source((pd.DataFrame(rows), labels), drop=["id"])
    other = nr.make("pa1", scale=True, bias=True, native=False)
    nr.play(source, other)
    assert plain.mistakes == other.mistakes


def test_a_table_learner_is_saved_as_one(tmp_path: Path) -> None:
    model = nr.make("pa1", reads="table", native=False).learn([{"plan": "basic"}, {"plan": "plus"}], ["a", "b"])
    model.save(tmp_path / "m.nr")
    loaded = nr.load(tmp_path / "m.nr")
    assert loaded.predict_one({"plan": " basic "}) == "a"
    assert "reads='table'" in repr(loaded)
    behind = nr.clip(3.0) | nr.make("pa1", reads="table", native=False)
    assert behind.learn_one({"plan": "basic"}, 1).features == ["plan=basic"]


def test_unknown_columns_warn_once(folder: Path) -> None:
    model = nr.load(folder / "csv.nr")
    with pytest.warns(UserWarning, match="'city'"):
        model.predict_one({"age": 30, "city": "Rome"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict_one({"age": 30, "city": "Rome"})
        model.predict_one({"age": 30})
    with pytest.warns(UserWarning, match="lacks columns of the model"):
        model.predict(pd.DataFrame({"age": [30], "plan": ["basic"]}))
    assert "none of the columns" in refusal(lambda: model.predict(pd.DataFrame({"x": [1.0]})))


def test_what_is_no_number_is_refused_by_its_column(folder: Path) -> None:
    model = nr.load(folder / "csv.nr")
    assert "'age'" in refusal(lambda: model.predict_one({"age": "old"}))
    assert "row 1" in refusal(lambda: model.predict([{"age": 1}, {"age": "old"}]))
    rounds = model.rounds
    refusal(lambda: model.learn([{"age": 1}, {"age": float("inf")}], ["yes", "no"]))
    assert model.rounds == rounds
    assert "reads" in refusal(lambda: nr.make("pa1", reads="tables"))


def test_plain_learners_still_refuse_text() -> None:
    refusal(lambda: nr.make("pa1", native=False).learn_one({"plan": "basic"}, 1))


def test_truth_values_of_csv_are_one_feature(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"{'True' if n % 2 else 'false'},{n},{n % 2}" for n in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["flag,n,label", *lines]) + "\n")
    (batch,) = nr.open_source(tmp_path / "t.csv")
    assert list(batch.X.names) == ["n", "flag"]
    assert batch.X.block.val[1::2].tolist() == [float(n % 2) for n in range(40)]
    monkeypatch.setattr("noregret.streams.csv.SAMPLE", 300)  # what the columns hold is decided before the last line
    (tmp_path / "t.csv").write_text("\n".join(["flag,n,label", *lines, "maybe,1,1"]) + "\n")
    assert "t.csv:42" in refusal(lambda: list(nr.open_source(tmp_path / "t.csv")))
    assert sum(batch.rows for batch in nr.open_source(tmp_path / "t.csv", on_bad="skip")) == 40
    assert "flag=maybe" in list([*nr.open_source(tmp_path / "t.csv", categorical=["flag"])][-1].X.names)
