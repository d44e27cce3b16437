"""The commands, run as a user runs them, against the library called directly."""

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

import noregret as nr
from noregret.jit.cache import cache_folder
from noregret.streams import csv, libsvm, vw
from tests.support.command_line import OWN_RULE, SAMPLE, noregret, noregret_process, succeeded
from tests.support.cover import only_in_test_all

TABLE = "height,city,depth,kind\n" + "".join(
    f"{10 + k % 7},{'Oslo' if k % 5 else 'Rome'},{(3 * k) % 11 / 10},{'big' if k % 7 > 3 else 'small'}\n"
    for k in range(150)
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data.svm").write_text(SAMPLE)
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "my_rule.py").write_text(OWN_RULE)
    return tmp_path


def test_a_race_over_a_file_is_the_race_of_the_library(folder: Path) -> None:
    words = ["race", "data.svm", "--learners", "perceptron,pa1,arow", "--json", "out.json"]
    said = succeeded(noregret(*words, cwd=folder))
    report = json.loads((folder / "out.json").read_text())
    X, y = load_svmlight_file(str(folder / "data.svm"))
    library = nr.race((X, y), ["perceptron", "pa1", "arow"], bias="auto")
    assert [one["name"] for one in report["learners"]] == [one.name for one in library]
    for told, one in zip(report["learners"], library, strict=True):
        assert (told["rounds"], told["mistakes"], told["updates"]) == (one.rounds, one.mistakes, one.updates)
        assert told["loss"] == one.loss
        assert told["nonzeros"] == one.nonzeros
        assert told["seconds"] > 0.0
    assert report["winner"] == report["learners"][0]["name"]
    assert report["source"]["name"] == "data.svm"
    assert report["command"] == ["noregret", *words]
    labels = y.tolist()
    assert report["baselines"]["last_label"] == 1 + sum(a != b for a, b in pairwise(labels))
    assert "majority" in said.stdout
    assert f"best: {report['winner']}" in said.stdout
    assert report["train"] in said.stdout


def test_the_same_seed_gives_the_same_report(folder: Path) -> None:
    def run(*words: str) -> dict[str, object]:
        told = json.loads(
            succeeded(noregret("race", "wine", "--learners", "pa1,ogd", "--json", "-", *words, cwd=folder)).stdout
        )
        for one in told["learners"]:
            del one["seconds"]
        del told["command"], told["train"]
        return dict(told)

    assert run("--seed", "3") == run("--seed", "3")
    assert run("--seed", "3") != run("--seed", "4")


def test_learn_save_predict(folder: Path) -> None:
    learned = succeeded(
        noregret("learn", "data.svm", "--learner", "arow", "--set", "r=0.5", "--save", "m.nr", cwd=folder)
    )
    X, y = load_svmlight_file(str(folder / "data.svm"))
    library = nr.make("arow", r=0.5, bias="auto").learn(X, y)
    assert f"{library.mistakes} mistakes" in learned.stdout
    assert np.array_equal(nr.load(folder / "m.nr").scores(X), library.scores(X))
    succeeded(noregret("predict", "m.nr", "data.svm", "--out", "preds.csv", cwd=folder))
    lines = (folder / "preds.csv").read_text().splitlines()
    assert lines[0] == "prediction"
    assert [int(line) for line in lines[1:]] == library.predict(X).astype(int).tolist()
    unlabelled = "".join(line.partition(" ")[2] for line in SAMPLE.splitlines(keepends=True))
    (folder / "new.svm").write_text(unlabelled)
    again = succeeded(noregret("predict", "m.nr", "new.svm", "--quiet", "--scores", cwd=folder)).stdout.splitlines()
    assert again[0] == "prediction,score"
    assert [float(line.split(",")[1]) for line in again[1:]] == library.scores(X).tolist()


def test_resuming_equals_never_stopping(folder: Path) -> None:
    lines = SAMPLE.splitlines(keepends=True)
    (folder / "first.svm").write_text("".join(lines[:90]))
    (folder / "second.svm").write_text("".join(lines[90:]))
    succeeded(noregret("learn", "data.svm", "--learner", "pa1", "--save", "whole.nr", cwd=folder))
    succeeded(noregret("learn", "first.svm", "--learner", "pa1", "--save", "parts.nr", cwd=folder))
    said = succeeded(noregret("learn", "second.svm", "--resume", "parts.nr", "--json", "-", cwd=folder))
    assert json.loads(said.stdout)["learners"][0]["rounds_in_all"] == 200
    whole, parts = nr.load(folder / "whole.nr"), nr.load(folder / "parts.nr")
    X, _ = load_svmlight_file(str(folder / "data.svm"))
    assert np.array_equal(whole.scores(X), parts.scores(X))
    assert (whole.rounds, whole.mistakes, whole.updates) == (parts.rounds, parts.mistakes, parts.updates)


@pytest.mark.skipif(os.name == "nt", reason="signals differ there")
def test_ctrl_c_keeps_what_was_learned_and_resuming_goes_on_after_it(folder: Path) -> None:
    data = "separable:rows=1000000,features=30"
    words = [sys.executable, "-m", "noregret", "learn", data]
    start = [*words, "--learner", "pa1", "--save", "m.nr"]
    process = subprocess.Popen(start, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if "rounds" not in line:
            break
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, (out, err)
    assert "Traceback" not in out + err
    stopped = nr.load(folder / "m.nr")
    assert 0 < stopped.rounds < 1_000_000
    assert stopped.source is not None
    assert stopped.source["ended"] is False
    resumed = succeeded(noregret("learn", data, "--resume", "m.nr", "--json", "-", cwd=folder))
    told = json.loads(resumed.stdout)["learners"][0]
    assert told["rounds_in_all"] == 1_000_000
    assert told["rounds"] == 1_000_000 - stopped.rounds
    succeeded(noregret("learn", data, "--learner", "pa1", "--save", "whole.nr", "--quiet", cwd=folder))
    X = np.eye(30)
    assert np.array_equal(nr.load(folder / "m.nr").scores(X), nr.load(folder / "whole.nr").scores(X))


def test_a_rule_of_ones_own(folder: Path) -> None:
    raced = succeeded(noregret("race", "data.svm", "--learners", "pa1,./my_rule.py:capped", "--json", "-", cwd=folder))
    assert {one["name"] for one in json.loads(raced.stdout)["learners"]} == {"pa1", "capped"}
    succeeded(
        noregret("learn", "data.svm", "--learner", "my_rule.py:capped", "--set", "C=0.3", "--save", "m.nr", cwd=folder)
    )
    said = noregret("predict", "m.nr", "data.svm", cwd=folder)
    assert said.returncode == 2
    assert "--rule" in said.stderr
    rows = succeeded(noregret("predict", "m.nr", "data.svm", "--rule", "my_rule.py", cwd=folder)).stdout
    assert len(rows.splitlines()) == 201


def test_a_table_is_scaled_and_says_so(folder: Path) -> None:
    said = succeeded(noregret("learn", "table.csv", "--learner", "pa1", "--save", "m.nr", cwd=folder))
    assert "'kind'" in said.stderr
    assert "scaled" in said.stderr
    model = nr.load(folder / "m.nr")
    assert model.config.scale
    assert model.config.bias
    row = {"height": 16.0, "depth": 0.5, "city=Oslo": 1.0}
    (folder / "new.csv").write_text("depth,city,height\n0.5,Oslo,16\n")
    predicted = succeeded(noregret("predict", "m.nr", "new.csv", "--scores", "--quiet", cwd=folder)).stdout.splitlines()
    assert predicted[1] == f"{model.predict_one(row)},{model.scores_one(row)!r}"
    checked = succeeded(noregret("predict", "m.nr", "table.csv", "--out", "p.csv", cwd=folder))
    assert "of 150 labels differ" in checked.stderr


def test_an_unscaled_table_is_the_matrix(folder: Path) -> None:
    (folder / "t.csv").write_text("a,b,y\n" + "".join(f"{k % 5},{k % 3},{int(k % 5 > 2)}\n" for k in range(60)))
    told = json.loads(succeeded(noregret("race", "t.csv", "--no-scale", "--json", "-", cwd=folder)).stdout)
    X = np.array([[k % 5, k % 3] for k in range(60)], float)
    library = nr.race((X, [int(k % 5 > 2) for k in range(60)]))
    assert {one["name"]: one["mistakes"] for one in told["learners"]} == {one.name: one.mistakes for one in library}


def test_standard_input_and_compressed_files(folder: Path) -> None:
    plain = noregret("learn", "data.svm", "--learner", "pa1", "--json", "-", cwd=folder).stdout
    (folder / "data.svm.gz").write_bytes(gzip.compress(SAMPLE.encode()))
    packed = noregret("learn", "data.svm.gz", "--learner", "pa1", "--json", "-", cwd=folder).stdout
    piped = noregret("learn", "-", "--learner", "pa1", "--json", "-", cwd=folder, stdin=SAMPLE).stdout
    mistakes = [json.loads(text)["learners"][0]["mistakes"] for text in (plain, packed, piped)]
    assert mistakes[0] == mistakes[1] == mistakes[2]


def test_zero_based_is_remembered_by_the_model(folder: Path) -> None:
    shifted = "".join(f"{k % 2} 0:{k % 2} 4:1\n" for k in range(40))
    (folder / "zero.svm").write_text(shifted)
    succeeded(noregret("learn", "zero.svm", "--zero-based", "--learner", "pa1", "--save", "m.nr", cwd=folder))
    assert len(succeeded(noregret("predict", "m.nr", "zero.svm", cwd=folder)).stdout.splitlines()) == 41
    succeeded(noregret("learn", "zero.svm", "--resume", "m.nr", "--passes", "1", cwd=folder))


def test_real_targets(folder: Path) -> None:
    (folder / "t.csv").write_text("a,b,y\n" + "".join(f"{k % 7},{k % 3},{2.5 * (k % 7) + 10}\n" for k in range(400)))
    told = json.loads(succeeded(noregret("race", "t.csv", "--task", "regression", "--json", "-", cwd=folder)).stdout)
    assert told["task"] == "regression"
    best = told["learners"][0]
    assert best["loss"] < told["baselines"]["mean"]
    succeeded(noregret("race", "diabetes", "--learners", "pa1", cwd=folder))
    succeeded(noregret("learn", "t.csv", "--task", "regression", "--learner", "pa1", "--save", "m.nr", cwd=folder))
    (folder / "new.csv").write_text("a,b\n3,1\n")
    guess = float(succeeded(noregret("predict", "m.nr", "new.csv", "--quiet", cwd=folder)).stdout.splitlines()[1])
    assert guess == pytest.approx(17.5, abs=2.0)


def test_nothing_but_text_in_a_pipe_and_nothing_but_the_result_when_quiet(folder: Path) -> None:
    done = succeeded(noregret("race", "data.svm", "--learners", "pa1", cwd=folder))
    assert "\x1b" not in done.stdout + done.stderr
    assert "data.svm" in done.stderr
    assert succeeded(noregret("race", "data.svm", "--learners", "pa1", "--quiet", cwd=folder)).stderr == ""
    learned = succeeded(noregret("learn", "data.svm", "--learner", "pa1", "--quiet", cwd=folder))
    assert learned.stderr == ""
    assert len(learned.stdout.splitlines()) == 1


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals there")
def test_on_a_terminal_the_table_is_live(folder: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "noregret", "race", "separable:rows=1500000", "--learners", "pa1,arow"]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"}
    process = subprocess.Popen(words, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    os.close(ours)
    assert process.wait() == 0
    text = seen.decode()
    assert "\x1b[" in text
    assert "to go" in text
    assert "best: " in text
    assert "Traceback" not in text


def test_what_there_is(folder: Path) -> None:
    listed = succeeded(noregret("learners", cwd=folder)).stdout
    cards = [card for card in nr.learners() if card.built_in]
    assert all(card.name in listed and card.about in listed for card in cards)
    shown = succeeded(noregret("learners", "pa1", cwd=folder)).stdout
    for part in (
        "Crammer",
        "C = 0 (regression, structured output: 1)",
        "at least 0",
        "mistakes <=",
        "binary, multiclass, regression",
    ):
        assert part in shown
    assert json.loads(succeeded(noregret("learners", "pa1", "--json", "-", cwd=folder)).stdout)["name"] == "pa1"
    (folder / "kept.svm").write_text(SAMPLE)
    sets = succeeded(noregret("datasets", cwd=folder, NOREGRET_DATA=str(folder))).stdout
    for name in ("digits", "diabetes", "separable", "kept"):
        assert name in sets
    by_name = noregret("race", "kept", "--learners", "pa1", cwd=folder.parent, NOREGRET_DATA=str(folder))
    assert by_name.returncode == 0
    assert succeeded(noregret("--version", cwd=folder)).stdout == f"noregret {nr.__version__}\n"
    assert "race" in succeeded(noregret("--help", cwd=folder)).stdout


@only_in_test_all
def test_warm_compiles_and_the_race_then_does_not(folder: Path) -> None:
    nr.make("pa1", algebra="sparse").learn([{"a": 1.0}], [1])  # here that is quicker
    for compile_reader in (csv.compile_parser, libsvm.compile_parser, vw.compile_parser, vw.compile_dictionary):
        compile_reader()
    told = succeeded(noregret_process("warm", "pa1", "--tasks", "binary", "--algebras", "sparse", cwd=folder))
    assert "1 loop is ready" in told.stdout
    shutil.copytree(cache_folder(), folder / "cache", ignore=shutil.ignore_patterns("*perceptron*", "*checked*"))
    cache = {"NOREGRET_CACHE": str(folder / "cache")}
    race = ["race", "data.svm", "--learners", "pa1"]
    raced = succeeded(noregret_process(*race, cwd=folder, **cache))
    assert "compil" not in raced.stderr
    for file in [*(folder / "cache").rglob("libsvm*"), *(folder / "cache").rglob("warm-*")]:
        file.unlink()
    first = succeeded(noregret_process("race", "data.svm", "--learners", "perceptron", cwd=folder, **cache))
    assert "compiling the reader" in first.stderr
    assert "compiling 1 loop for this machine, once" in first.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals differ there")
@pytest.mark.parametrize("kind", ["svm", "csv", "several"])
@pytest.mark.thinned(3)
def test_a_model_that_was_killed_goes_on_where_it_was_kept_last(folder: Path, kind: str) -> None:
    many = 400_000
    if kind == "csv":
        head = "a,b,c,label\n"
        (folder / "long.csv").write_text(
            head + "".join(f"{k % 7},{k % 11},v{k % 5},{k % 3 == 0}\n" for k in range(many))
        )
        data = ["long.csv"]
    else:
        rows = [f"{1 if k % 3 else -1} 1:{k % 7} {k % 11 + 2}:0.5 {k % 999 + 20}:1\n" for k in range(many)]
        data = ["long-*.svm", "--passes", "2"] if kind == "several" else ["long-all.svm"]
        parts = {"1": rows[: many // 2], "2": rows[many // 2 :]} if kind == "several" else {"all": rows}
        for name, part in parts.items():
            (folder / f"long-{name}.svm").write_text("".join(part))
    words = [sys.executable, "-m", "noregret", "learn", *data]
    start = [*words, "--learner", "arow", "--save", "m.nr", "--every", "0", "--quiet"]
    process = subprocess.Popen(start, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    waited = time.monotonic()
    while not (folder / "m.nr").exists() and process.poll() is None and time.monotonic() - waited < 60:
        time.sleep(0.002)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    killed = nr.load(folder / "m.nr")
    total = many * (2 if kind == "several" else 1)
    assert 0 < killed.rounds < total
    succeeded(noregret("learn", *data[:1], "--resume", "m.nr", "--quiet", cwd=folder))
    succeeded(noregret("learn", *data, "--learner", "arow", "--save", "whole.nr", "--quiet", cwd=folder))
    resumed, whole = nr.load(folder / "m.nr"), nr.load(folder / "whole.nr")
    assert (resumed.rounds, resumed.mistakes, resumed.updates) == (whole.rounds, whole.mistakes, whole.updates)
    assert resumed.rounds == total
    resumed.source = whole.source = None
    resumed.save(folder / "m.nr")
    whole.save(folder / "whole.nr")
    assert (folder / "m.nr").read_bytes() == (folder / "whole.nr").read_bytes()


def test_a_table_without_column_names_is_read_alike_by_all_commands(folder: Path) -> None:
    (folder / "plain.csv").write_text("ham,hello\nspam,win\n" * 20)
    raced = succeeded(noregret("race", "plain.csv", "--no-header", "--label", "c1", "--learners", "pa1", cwd=folder))
    assert "learn plain.csv --learner pa1 --no-header --label c1" in raced.stdout
    words = ["--no-header", "--label", "c1", "--learner", "pa1", "--save", "plain.nr", "--quiet"]
    succeeded(noregret("learn", "plain.csv", *words, cwd=folder))
    (folder / "new.csv").write_text("ham,hello\nham,win\n")
    assert succeeded(noregret("predict", "plain.nr", "new.csv", cwd=folder)).stdout.split() == [
        "prediction",
        "ham",
        "spam",
    ]
    asked = noregret("learn", "plain.csv", "--resume", "plain.nr", "--header", cwd=folder)
    assert asked.returncode == 2
    assert "learned without a line of column names, not with a line" in asked.stderr
