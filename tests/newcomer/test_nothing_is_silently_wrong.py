"""What would be wrong without a word: rows that do not fit a model, amounts and dates as text, labels that are none."""

import json
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import noregret as nr
from tests.newcomer.test_tables_of_the_world import rows_of
from tests.support import refusal
from tests.support.command_line import noregret, refused, succeeded

ROWS = [
    {"price": f"${n % 7}.50", "people": f"{n % 3},000" if n % 2 else f"{n}", "when": f"2024-05-{1 + n % 28:02d}",
     "age": n % 5, "plan": "ab"[n % 2], "label": n % 2}
    for n in range(40)
]  # fmt: skip


def write(folder: Path, rows: list[dict[str, Any]], name: str = "t") -> dict[str, Path]:
    """The same rows as CSV, JSON lines and Parquet."""
    paths = {kind: folder / f"{name}.{kind}" for kind in ("csv", "jsonl", "parquet")}
    frame = pd.DataFrame(rows)
    frame.to_csv(paths["csv"], index=False)
    frame.to_parquet(paths["parquet"])
    paths["jsonl"].write_text("".join(json.dumps(row) + "\n" for row in rows))
    return paths


def notes_of(data: Any, **options: Any) -> str:
    source = nr.open_source(data, **options)
    for _ in source:
        pass
    return "\n".join(source.notes)


# ---- rows that do not fit a model -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    for kind, path in write(folder, ROWS).items():
        succeeded(noregret("learn", path.name, "--learner", "pa1", "--save", f"{kind}.nr", "--quiet", cwd=folder))
    return folder


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_json_lines_without_any_field_of_the_model_are_refused(kind: str, folder: Path) -> None:
    (folder / "other.jsonl").write_text('{"zip": 1, "city": "Rome"}\n')
    refused(noregret("predict", f"{kind}.nr", "other.jsonl", cwd=folder), "none of the columns of the model", "'age'")
    (folder / "some.jsonl").write_text('{"age": 1, "city": "Rome"}\n')
    done = succeeded(noregret("predict", f"{kind}.nr", "some.jsonl", cwd=folder))
    assert "lacks columns of the model" in done.stderr
    assert "'price'" in done.stderr


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_text_in_a_field_of_numbers_is_refused(kind: str, folder: Path) -> None:
    good = '{"age": 3, "price": "$2.00", "when": "2024-05-31"}\n'
    for field, value in (("age", "old"), ("price", "free"), ("when", "soon")):
        (folder / "bad.jsonl").write_text(good + json.dumps({field: value}) + "\n")
        refused(noregret("predict", f"{kind}.nr", "bad.jsonl", cwd=folder), "bad.jsonl:2", repr(field), repr(value))
    (folder / "good.jsonl").write_text(good + '{"age": "3", "price": 2.0, "when": "2024-05-31"}\n')
    said = succeeded(noregret("predict", f"{kind}.nr", "good.jsonl", "--scores", "--quiet", cwd=folder)).stdout
    assert len(set(said.splitlines()[1:])) == 1  # numbers and amounts written as text or not


def test_a_learner_of_table_rows_keeps_what_a_column_held(tmp_path: Path) -> None:
    learner = nr.make("pa1", reads="table", native=False)
    learner.learn([{"age": 30, "price": "$5"}, {"age": 40, "price": "6"}], [0, 1])
    assert learner.features == ["age", "price"]
    for one in (learner, learner.copy(), saved_and_loaded(learner, tmp_path)):
        assert "'age'" in refusal(partial(one.predict_one, {"age": "old"}))
        assert "row 1" in refusal(partial(one.learn, [{"age": 3}, {"age": "old"}], [0, 1]))
        assert "'age'" in refusal(partial(one.learn_one, {"age": "old"}, 1))
        assert one.rounds == 2
        with pytest.warns(UserWarning, match="none of the columns"):
            one.predict_one({"city": "Rome"})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            one.predict_one({"city": "Rome"})
            one.predict_one({"age": "31", "city": "Rome"})
            one.predict_one({})


def test_a_failed_call_leaves_no_kind_of_a_column() -> None:
    learner = nr.make("pa1", reads="table", native=False).learn_one({"age": 1}, 0)
    refusal(lambda: learner.learn([{"size": "small"}, {"age": "old"}], [0, 1]))
    assert learner.learn_one({"size": 3}, 1).features == ["age", "size"]


def saved_and_loaded(learner: Any, folder: Path) -> Any:
    learner.save(folder / "m.nr")
    return nr.load(folder / "m.nr")


# ---- amounts and dates ----------------------------------------------------------------------------------------------


def test_every_format_reads_amounts_and_dates_alike(tmp_path: Path) -> None:
    paths = write(tmp_path, ROWS)
    expected = rows_of(paths["csv"])
    assert expected[1] == {
        "price": 1.5, "people": 1000.0, "age": 1.0, "when.year": 2024.0, "when.days": 19845.0, "when.month=5": 1.0,
        "when.weekday=Thu": 1.0, "plan=b": 1.0,
    }  # fmt: skip
    assert rows_of(paths["jsonl"]) == expected
    assert rows_of(paths["parquet"]) == expected
    assert rows_of(pd.DataFrame(ROWS)) == expected
    learner = nr.make("pa1", reads="table", native=False)
    learner.learn([{k: v for k, v in row.items() if k not in ("label", "people")} for row in ROWS], [0, 1] * 20)
    assert {"price", "when.year", "plan=a"} <= set(learner.features)


def test_text_of_plain_numbers_stays_text_where_there_are_types() -> None:
    frame = pd.DataFrame({"zip": ["02139", "10115"] * 5, "label": [0, 1] * 5})
    assert rows_of(frame)[0] == {"zip=02139": 1.0}
    assert rows_of(frame, numbers=["zip"])[0] == {"zip": 2139.0}
    dates = frame.assign(zip=pd.Categorical(["2024-05-01"] * 10))
    assert rows_of(dates)[0] == {"zip=2024-05-01": 1.0}


def test_a_time_has_an_hour_unless_it_is_a_date(tmp_path: Path) -> None:
    rows = [{"when": "2024-05-31", "label": 0}, {"when": "2024-05-31 00:10:00", "label": 1}]
    for path in write(tmp_path, rows).values():
        found = rows_of(path)
        assert [name for name in found[0] if "hour" in name] == []
        assert found[1]["when.hour=0"] == 1.0
    assert "empty" not in notes_of(tmp_path / "t.csv")


@pytest.mark.parametrize(("field", "what"), [("price", "amount"), ("when", "date or time")])
def test_one_other_text_in_a_column_is_noted_with_its_line(field: str, what: str, tmp_path: Path) -> None:
    rows = [{**ROWS[1], field: "soon"}, *ROWS[2:10]]
    for kind, path in write(tmp_path, rows).items():
        place = {"csv": "line 2", "jsonl": "line 1", "parquet": "row 0"}[kind]
        assert f"column {field!r} is read as categories: 'soon' ({place}) is no {what}" in notes_of(path), kind
    done = succeeded(noregret("learn", "t.csv", "--learner", "pa1", cwd=tmp_path))
    assert f"'{field}' is read as categories: 'soon' (line 2)" in done.stderr


@pytest.mark.parametrize("field", ["price", "when"])
def test_one_other_text_among_many_is_an_error_with_its_line(field: str, tmp_path: Path) -> None:
    rows = [*ROWS[:30], {**ROWS[30], field: "soon"}, *ROWS[31:]]
    for kind, path in write(tmp_path, rows).items():
        place = {"csv": ":32", "jsonl": ":31", "parquet": "row 30"}[kind]
        said = refusal(partial(rows_of, path))
        assert place in said, kind
        assert "'soon'" in said
        assert len(rows_of(path, on_bad="skip")) == 39
        assert f"{field}=soon" in rows_of(path, categorical=[field])[30]
    marked = write(tmp_path, [*rows[:30], {**ROWS[30], field: "NA"}])
    assert "--missing NA" in refusal(lambda: rows_of(marked["csv"]))
    for path in marked.values():
        assert not any(name.startswith(field) for name in rows_of(path, missing=["NA"])[30])


def test_amounts_among_plain_numbers_are_numbers(tmp_path: Path) -> None:
    rows = [{"people": "1,200" if n == 25 else str(n), "label": n % 2} for n in range(60)]
    assert rows_of(write(tmp_path, rows)["csv"])[25] == {"people": 1200.0}


def test_values_that_hardly_repeat_are_noted_in_every_format(tmp_path: Path) -> None:
    rows = [{"name": f"person {n}", "tags": ["a"], "label": n % 2} for n in range(200)]
    for path in write(tmp_path, rows).values():
        assert "--text name" in notes_of(path)
        assert "--drop name" in notes_of(path)
    assert "--text" not in notes_of(write(tmp_path, [{**row, "name": "x"} for row in rows])["jsonl"])


# ---- labels ---------------------------------------------------------------------------------------------------------


def test_dropping_the_label_does_not_make_another_one(tmp_path: Path) -> None:
    for path in write(tmp_path, ROWS).values():
        assert "label" in refusal(partial(rows_of, path, drop=["label"]))
    refused(noregret("learn", "t.csv", "--learner", "pa1", "--drop", "label", cwd=tmp_path), "'label'", "--label")
    assert len(rows_of(tmp_path / "t.csv", drop=["label"], label="plan")) == 40


def test_labels_are_looked_at_before_anything_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_text("x,price\n1,2.5\n2,3.5\n")
    monkeypatch.setenv("NOREGRET_CACHE", str(tmp_path / "cache"))
    for words in (["learn", "t.csv", "--learner", "pa1"], ["race", "t.csv", "--learners", "pa1,arow"]):
        done = noregret(*words, cwd=tmp_path)
        assert "compiling" not in done.stderr
        assert done.returncode == 2
        assert "t.csv:2: the label 2.5 is not a class" in done.stderr
        assert "--task regression" in done.stderr


def test_numbers_as_labels_hint_at_regression(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = [f"{x},{int(1000 * x)}" for x in rng.random(200)]
    (tmp_path / "t.csv").write_text("x,price\n" + "\n".join(lines) + "\n")
    for words in (["learn", "t.csv", "--learner", "pa1"], ["race", "t.csv", "--learners", "pa1,perceptron"]):
        done = succeeded(noregret(*words, cwd=tmp_path))
        assert "--task regression" in done.stderr
        assert "--label" in done.stderr
    digits = [f"{x},{n % 26}" for n, x in enumerate(rng.random(200))]
    (tmp_path / "t.csv").write_text("x,letter\n" + "\n".join(digits) + "\n")
    assert "--task regression" not in succeeded(noregret("learn", "t.csv", "--learner", "pa1", cwd=tmp_path)).stderr
    few = [f"{x},{int(1000 * x)}" for x in rng.random(30)]
    (tmp_path / "t.csv").write_text("x,price\n" + "\n".join(few) + "\n")
    assert "--task regression" in succeeded(noregret("learn", "t.csv", "--learner", "pa1", cwd=tmp_path)).stderr


# ---- names, words and notes -----------------------------------------------------------------------------------------


def test_misspelt_options_are_named_with_the_nearest() -> None:
    data = ([[1.0], [2.0]], [0, 1])
    calls = {
        "'drop'": lambda: nr.race(data, ["pa1"], drp=["x"]),
        "'label'": lambda: nr.tune(data, "pa1", lable="x"),
        "'threads'": lambda: nr.race(data, ["pa1"], thread=1),
        "'candidates'": lambda: nr.tune(data, "pa1", candidate=3),
        "'limit'": lambda: nr.certify(data, limt=3),
    }
    for meant, call in calls.items():
        assert f"did you mean {meant}?" in refusal(call)
    for function in (nr.race, nr.tune, nr.certify):
        assert "did you mean 'learners'?" in refusal(partial(function, data, learner="pa1"))
    assert "has no parameter 'zzz'" in refusal(lambda: nr.race(data, ["pa1"], zzz=1))
    assert "needs the name of a learner" in refusal(lambda: nr.tune(data))


def test_ranks_say_where_data_count_twice(tmp_path: Path) -> None:
    write(tmp_path, ROWS)
    for name in ("a", "b"):
        words = ["race", "t.csv", "--learners", "pa1,perceptron,arow", "--json", f"{name}.json", "--quiet"]
        succeeded(noregret(*words, cwd=tmp_path))
    done = succeeded(noregret("compare", "a.json", "b.json", "--ranks", "--json", "r.json", cwd=tmp_path))
    assert "a.json and b.json are of the same data, which counts 2 times" in done.stdout
    assert json.loads((tmp_path / "r.json").read_text())["same_data"] == [["a.json", "b.json"]]


def test_show_names_the_label_and_what_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, ROWS)
    words = ["learn", "t.csv", "--learner", "pa1", "--label", "plan", "--drop", "when", "--save", "m.nr", "--quiet"]
    succeeded(noregret(*words, "--drop", "price", cwd=tmp_path))
    lines = succeeded(noregret("show", "m.nr", cwd=tmp_path)).stdout.splitlines()
    assert "label       plan" in lines
    assert "left out    when, price" in lines


def test_words_of_single_things(tmp_path: Path) -> None:
    rows = [{"x": n, "label": "a"} for n in range(4)] + [{"x": 9, "label": "b"}]
    write(tmp_path, rows)
    said = succeeded(noregret("race", "t.csv", "--learners", "pa1", cwd=tmp_path)).stdout
    assert " 1 times" not in said
    refused(noregret("learn", "t.csv", "--learner", "pa1", "--holdout", "0", cwd=tmp_path), "leave the option out")


def test_what_has_no_probabilities_says_so_before_it_has_learned() -> None:
    learner = nr.make("pa1", task="regression", native=False)
    said = refusal(lambda: learner.predict_proba([{"a": 1.0}]))
    assert said == refusal(lambda: learner.predict_proba_one({"a": 1.0}))
