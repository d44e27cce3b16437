"""`noregret recommend`: ratings in, RMSE beside the baselines, and what users will like."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.cli import main
from noregret.learner.model_file import pack

RNG = np.random.default_rng(2)
ROWS = [(int(user), f"m{item}", int(rating)) for user, item, rating in zip(RNG.integers(9, size=300),
        RNG.integers(40, size=300), RNG.integers(1, 6, size=300), strict=True)]  # fmt: skip


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "ratings.csv"
    path.write_text(
        "rating,user,time,item\n" + "".join(f"{y},{user},{n},{item}\n" for n, (user, item, y) in enumerate(ROWS))
    )
    return path


def run(capsys: Any, *arguments: Any) -> tuple[int, str, str]:
    code = main(["recommend", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


def expected(rows: int = 300, **options: Any) -> Any:
    """The learner of the command: users are texts, as they stand in the file."""
    learner = nr.make("factorisation", **options)
    pairs = [(str(user), item) for user, item, _ in ROWS[:rows]]
    return learner.learn(pairs, [rating for _, _, rating in ROWS[:rows]])


def test_it_prints_the_error_beside_the_baselines_and_what_a_user_will_like(table: Path, capsys: Any) -> None:
    code, out, err = run(capsys, table, "--user", 7, "--user", "new", "--top", 3)
    assert code == 0
    lines, learner = out.splitlines(), expected()
    assert lines[0].split() == ["ratings", "users", "items", "RMSE", "biases", "mean"]
    assert lines[1].split() == ["300", "9", "40", *(f"{error:.4f}" for error in learner.progress)]
    assert "300 ratings" in lines[2]
    assert "not saved" in lines[2]
    assert lines[4] == "user 7"
    for line, (item, rating) in zip(lines[5:8], learner.recommend("7", 3), strict=True):
        assert line.split()[1:] == [f"{rating:.3f}", item]
    assert lines[9] == "user new"
    assert "'new'" in err


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "other names"])
def test_formats_and_names_of_columns_make_no_difference(kind: str, tmp_path: Path, table: Path, capsys: Any) -> None:
    target, path, more = tmp_path / "m.nr", tmp_path / f"r.{kind}", list[str]()
    if kind == "csv":
        path = table
    elif kind == "jsonl":
        rows = [{"user": user, "item": item, "rating": y, "stars": "x"} for user, item, y in ROWS]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif kind == "parquet":
        pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        columns = {
            "UserId": [row[0] for row in ROWS],
            "movieId": [row[1] for row in ROWS],
            "rating": [row[2] for row in ROWS],
        }
        parquet.write_table(pyarrow.table(columns), path)
    else:
        path = tmp_path / "r.csv"
        path.write_text("customer;book;stars;title\n" + "".join(f"{user};{item};{y};a b\n" for user, item, y in ROWS))
        more = ["--columns", "customer,book,stars"]
    code, _, err = run(capsys, path, "--save", target, "--quiet", *more)
    assert (code, err) == (0, "")
    learner = nr.load(target)
    learner.source = None
    assert pack(learner) == pack(expected())


def test_standard_input_may_have_other_columns(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    text = b"user,customer,stars,item\nA,x,3,1\nB,x,4,2\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    code, out, _ = run(capsys, "-", "--columns", "customer,item,stars", "--user", "x")
    assert code == 0
    assert "2 ratings" in out
    assert "every item is rated" in out


@pytest.mark.parametrize(("text", "options"), [
    ("movieId,userId,rating,genre\r\nA,x,3,1\r\n\r\nB,x,4,2\r\n", []),
    ("\ufeffitem;genre;USER;rating\nA;g;x;3\nB;g;x;4\n", []),
    ('{"userId": "x", "item": "A", "rating": 3}\n{"userId": "x", "item": "B", "genre": 1, "rating": 4}\n', []),
    ("A,x,3\nB,x,4\n", ["--columns", "c2,c1,c3"]),
])  # fmt: skip
def test_columns_of_standard_input_are_known_by_their_names(
    text: str, options: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    code, out, err = run(capsys, "-", *options, "--user", "x", "--quiet")
    assert (code, err) == (0, "")
    assert "2 ratings" in out
    assert "every item is rated" in out


def test_columns_that_are_not_read_are_named(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "r.csv"
    path.write_text("user,item,rating,title,genre\na,b,3,x,y\n")
    assert "columns that are not read: title, genre" in run(capsys, path)[2]


def test_a_saved_model_answers_without_learning(table: Path, tmp_path: Path, capsys: Any) -> None:
    model, report = tmp_path / "m.nr", tmp_path / "r.json"
    assert run(capsys, table, "--save", model, "--model", "rmf", "--method", "da", "--set", "k=3")[0] == 0
    content = model.read_bytes()
    code, out, _ = run(capsys, model, "--user", "7", "--top", 4, "--json", report)
    assert code == 0
    learner: Any = nr.load(model)
    assert learner.params["k"] == 3
    assert [line.split()[2] for line in out.splitlines()[2:]] == [item for item, _ in learner.recommend("7", 4)]
    found = json.loads(report.read_text())
    assert found["recommendations"][0]["known"] is True
    assert found["recommendations"][0]["items"][0]["rating"] == learner.recommend("7", 1)[0][1]
    assert model.read_bytes() == content
    assert main(["show", str(model)]) == 0
    told = capsys.readouterr().out
    assert f"noregret recommend {model} --user ID" in told
    assert "9 users, 40 items" in told
    numbers: Any = nr.make("factorisation").learn([(user, item) for user, item, _ in ROWS], [row[2] for row in ROWS])
    numbers.save(model)
    code, out, err = run(capsys, model, "--user", "7", "--quiet")
    assert (code, err) == (0, "")
    assert out.splitlines()[2].split()[2] == numbers.recommend(7)[0][0]


def test_an_interrupted_run_goes_on_where_it_stopped(table: Path, tmp_path: Path, capsys: Any) -> None:
    part, report = tmp_path / "part.nr", tmp_path / "r.json"
    assert run(capsys, table, "--save", part, "--limit", 120)[0] == 0
    assert pack_of(part) == pack(expected(120))
    assert run(capsys, table, "--resume", part, "--json", report)[0] == 0
    assert pack_of(part) == pack(expected())
    found = json.loads(report.read_text())
    assert found["rmse"] == expected().progress._asdict()
    assert (found["ratings"], found["ratings_learned"], found["interrupted"]) == (300, 180, False)
    assert found["source"]["label"] == "rating"
    code, _, err = run(capsys, table, "--resume", part, "--model", "rmf")
    assert (code, "--model is for a new model" in err) == (2, True)


def pack_of(path: Path) -> bytes:
    learner = nr.load(path)
    learner.source = None
    return pack(learner)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGTERM") or os.name != "posix", reason="no signals here")
def test_a_signal_saves_the_model(tmp_path: Path) -> None:
    """An endless stream of ratings until SIGTERM."""
    model = tmp_path / "m.nr"
    command = [sys.executable, "-m", "noregret", "recommend", "ratings:rows=0", "--save", str(model), "--set", "k=4"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()  # progress
    time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM, err
    assert "stopped: " in out
    learner: Any = nr.load(model)
    assert learner.rounds >= 1024
    assert f"{learner.rounds:,} ratings" in out


def test_the_generator_needs_no_columns(tmp_path: Path, capsys: Any) -> None:
    report = tmp_path / "r.json"
    code, _, _ = run(capsys, "ratings:rows=3000,users=50,items=40", "--user", "3", "--json", report)
    found = json.loads(report.read_text())
    assert code == 0
    assert found["rmse"]["rmse"] < found["rmse"]["mean"]
    assert len(found["recommendations"][0]["items"]) <= 10


BAD = "user,item,rating\na,b,3\na,c,{}\n"


@pytest.mark.parametrize(("text", "arguments", "problem"), [
    (BAD.format(9), [], "r.csv:3: the rating 9 is outside of the scale from 1 to 5"),
    (BAD.format("x"), [], "r.csv:3: the rating 'x' is not a number\n"),
    (BAD.format("nan"), [], "r.csv:3: the rating is nan; it must be finite\n"),
    (BAD.format(""), [], "r.csv:3: the rating is empty; every row needs one\n"),
    ("user,item,rating\na,b,inf\n", [], "r.csv:2: "),  # no row can be used: the first is named
    ("user,item,rating\na,b,3\n,c,4\n", [], "r.csv:3: the user is missing"),
    ("user,rating\na,3\n", [], "no column is called item"),
    ("who,what,stars\na,b,3\n", [], "no column is called user"),
    ("user,item,itemId,rating\na,b,c,3\n", [], "may both be the item"),
    (BAD.format(4), ["--columns", "user,item"], "--columns takes"),
    (BAD.format(4), ["--columns", "user,thing,rating"], "there is no column 'thing' of the item"),
    (BAD.format(4), ["--set", "k"], "NAME=VALUE"), (BAD.format(4), ["--set", "power=3"], "power"),
    (BAD.format(4), ["--set", "k=0"], "k must be"), (BAD.format(4), ["--scale", "5", "1"], "minimum must be below"),
    (BAD.format(4), ["--save", "-"], "name one"), (BAD.format(4), ["--seed", "-1"], "--seed"),
    (BAD.format(4), ["--top", "0"], "--top"), (BAD.format(4), ["--resume", "missing.nr"], "missing.nr"),
    ("user,item,rating\n", [], "holds no rows"), ("", [], "r.csv"),
])  # fmt: skip
def test_mistakes_end_with_one_line(tmp_path: Path, text: str, arguments: list[str], problem: str, capsys: Any) -> None:
    path = tmp_path / "r.csv"
    path.write_text(text)
    code, _, err = run(capsys, path, *arguments, "--quiet")
    assert code == 2
    assert problem in err
    assert len(err.strip().splitlines()) == 1


def test_rows_that_cannot_be_used_are_skipped_and_counted(tmp_path: Path, capsys: Any) -> None:
    """Also those that are read, but lack a user or an item, or have a rating outside of the scale."""
    lines = [f"{n % 7},film {n % 5},{1 + n % 5}" for n in range(40)]
    path, good = tmp_path / "bad.csv", tmp_path / "good.csv"
    bad = {3: ",film 1,3", 4: "1,film 2,9", 9: "1,,3", 15: "1,film 2,x", 20: "1,film 2", 30: "1,film 2,0", 39: ",,3"}
    path.write_text("\n".join(["user,item,rating", *(bad.get(n, line) for n, line in enumerate(lines))]) + "\n")
    good.write_text("\n".join(["user,item,rating", *(line for n, line in enumerate(lines) if n not in bad)]) + "\n")
    code, _, problem = run(capsys, path, "--save", tmp_path / "m.nr")
    assert (code, "bad.csv:" in problem, (tmp_path / "m.nr").exists()) == (2, True, False)
    code, out, warning = run(capsys, path, "--on-bad", "skip", "--save", tmp_path / "m.nr")
    assert (code, "learned: 33 ratings" in out) == (0, True)
    assert "7 rows could not be used and were skipped" in warning
    assert run(capsys, good, "--save", tmp_path / "n.nr")[0] == 0
    one, other = nr.load(tmp_path / "m.nr"), nr.load(tmp_path / "n.nr")
    one.source = other.source = None
    assert pack(one) == pack(other)
    path.write_text("user,item,rating\n,film 1,3\n2,film 1,7\n")
    code, _, problem = run(capsys, path, "--on-bad", "skip")
    assert (code, "no rating can be used, and all rows were skipped" in problem) == (2, True)


def test_ids_of_json_may_be_numbers_and_texts(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"user": "a=b", "item": 1, "rating": 4}\n{"user": 8, "item": "x", "rating": 2}\n')
    code, out, err = run(capsys, path, "--user", "8", "--user", "a=b", "--quiet")
    assert (code, err) == (0, "")
    assert [line.split()[-1] for line in out.splitlines() if line.startswith("    1")] == ["1", "x"]
    assert "ratings are tables with the columns user, item, rating" in run(capsys, "digits")[2]


def test_a_finished_model_has_nothing_left_to_learn_of_its_file(table: Path, tmp_path: Path, capsys: Any) -> None:
    model = tmp_path / "m.nr"
    run(capsys, table, "--save", model)
    before = model.read_bytes()
    code, out, err = run(capsys, table, "--resume", model)
    assert (code, out) == (2, "")
    assert "nothing is left: all its ratings are learned already" in err
    assert model.read_bytes() == before


def test_names_of_items_are_printed_on_one_line_without_control_characters(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"user": "a", "item": "x\\u001b[2J\\ny", "rating": 4}\n')
    assert "  x�[2J�y\n" in run(capsys, path, "--user", "b", "--quiet")[1]


def test_models_that_do_not_fit_are_refused(table: Path, tmp_path: Path, capsys: Any) -> None:
    model, other = tmp_path / "m.nr", tmp_path / "pa1.nr"
    run(capsys, table, "--save", model)
    nr.make("pa1", native=False).learn([{"a": 1.0}], [1]).save(other)
    for arguments, problem in (
        ([model], "name users with --user"),
        ([model, table], "to learn more ratings: noregret recommend"),
        ([model, "--user", "7", "--method", "da"], "leave --method out"),
        ([other, "--user", "7"], "was learned by pa1, which does not learn ratings"),
        ([table, "--resume", other], "was learned by pa1"),
    ):
        code, _, err = run(capsys, *arguments)
        assert (code, len(err.strip().splitlines())) == (2, 1)
        assert problem in err


@pytest.mark.parametrize(("scale", "warned"), [((1, 5), False), ((-100, 100), True)])
def test_ratings_that_fill_little_of_their_scale_are_told(
    scale: tuple[int, int], warned: bool, table: Path, capsys: Any
) -> None:
    code, _, err = run(capsys, table, "--quiet", "--scale", *scale)
    assert code == 0
    assert ("fill little of the scale from -100 to 100" in err) == warned
