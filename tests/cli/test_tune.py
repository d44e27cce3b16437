"""`noregret tune`: the table, the command to paste, the report, and what it refuses."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.cli import tune as tune_command
from tests.support.command_line import OWN_RULE, SAMPLE, Done, noregret, refused, succeeded

TABLE = "a,b,word,y\n" + "".join(f"{k % 5},{k % 3},{'uv'[k % 2]},{int(k % 5 > 2)}\n" for k in range(60))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.svm").write_text(SAMPLE)
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "rule.py").write_text(OWN_RULE)
    return tmp_path


def tune(*words: str, cwd: Path, **more: Any) -> Done:
    return noregret("tune", *words, "--set", "native=False", cwd=cwd, **more)


def test_the_command_to_paste_trains_what_was_found(folder: Path) -> None:
    done = succeeded(tune("table.csv", "--label", "y", "--learner", "arow", cwd=folder))
    said = [line for line in done.stdout.splitlines() if line.startswith(("best: ", "train it: "))]
    report = json.loads(tune("table.csv", "--learner", "arow", "--json", "-", cwd=folder).stdout)
    words = shlex.split(said[1].removeprefix("train it: "))
    assert words[:5] == ["noregret", "learn", "table.csv", "--learner", report["best"]["name"]]
    assert words[5:7] == ["--label", "y"]
    succeeded(noregret(*words[1:], cwd=folder))
    model = nr.load(folder / "arow.nr")
    best = report["candidates"][0]
    assert (model.rounds, model.mistakes) == (60, best["mistakes"])
    assert model.params["r"] == best["searched"]["r"]
    assert f"{best['mistakes']} mistake" in said[0]


def test_the_report_has_version_source_and_all_candidates(folder: Path) -> None:
    words = ["good.svm", "--learners", "pa1,arow", "--try", "C=0.1,10", "--method", "halving", "--json", "out.json"]
    succeeded(tune(*words, cwd=folder))
    report = json.loads((folder / "out.json").read_text())
    assert report["noregret"] == nr.__version__
    assert report["source"]["name"] == "good.svm"
    assert {one["learner"] for one in report["candidates"]} == {"pa1", "arow"}
    assert sorted(one["searched"]["C"] for one in report["candidates"] if one["learner"] == "pa1") == [0.0, 0.1, 10]
    assert (report["method"], report["interrupted"], report["seed"]) == ("halving", False, 0)
    assert sum("dropped" in one for one in report["candidates"]) > 0
    assert report["train"].startswith("noregret learn good.svm --learner ")


def test_a_split_searches_passes_and_puts_them_into_the_command(folder: Path) -> None:
    words = ["good.svm", "--learner", "pa1", "--method", "split", "--try", "passes=2,3", "--try", "C=0.1:10:log"]
    done = succeeded(tune(*words, "--refit", "--shuffle", "4", cwd=folder))
    assert "on 40 validation rows, which it did not learn" in done.stdout
    pasted = shlex.split(done.stdout.splitlines()[-1].removeprefix("train it: "))
    assert pasted[pasted.index("--passes") + 1] in ("2", "3")
    assert pasted[pasted.index("--shuffle") + 1] == "4"
    fixed = succeeded(tune(*words[:5], "--passes", "2", "--validation", "0.3", "--validation-seed", "1", cwd=folder))
    assert "--passes 2" in fixed.stdout
    assert " passes" not in fixed.stdout.splitlines()[0]


def test_names_alone_are_searched_as_the_card_says_and_own_rules_are_named_by_their_file(folder: Path) -> None:
    done = succeeded(tune("good.svm", "--learner", "rule.py:capped", "--try", "C=1,2", "--quiet", cwd=folder))
    assert "--learner rule.py:capped" in done.stdout
    done = succeeded(tune("good.svm", "--learner", "pa", "--try", "gate", cwd=folder))
    assert done.stdout.split()[:2] == ["learner", "gate"]


def test_an_interrupted_search_keeps_its_standings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tune_command, "check_interrupt", stop)
    done = tune("good.svm", "--learner", "pa1", "--json", "out.json", cwd=folder)
    assert done.returncode == 130
    assert "best: pa1" in done.stdout
    assert "standings so far" in done.stderr
    assert json.loads((folder / "out.json").read_text())["interrupted"] is True
    early = tune("good.svm", "--learner", "pa1", "--method", "split", cwd=folder)
    assert (early.returncode, early.stdout) == (130, "")


def test_a_candidate_that_stops_is_a_warning(folder: Path) -> None:
    done = succeeded(tune("good.svm", "--learner", "perceptron", "--try", "eta=1e308,0.5", cwd=folder))
    assert "perceptron(eta=1e308) could not go on: " in done.stderr
    assert "stopped after 0" in done.stdout


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("good.svm", ("--learner",)),
        ("good.svm --learner arow --learners pa1", ("not allowed with",)),
        ("good.svm --learner nosuch", ("no learner 'nosuch'",)),
        ("nosuch.svm --learner arow", ("nosuch.svm",)),
        ("good.svm --learner romma", ("no parameters to tune",)),
        ("good.svm --learner perceptron_averaged", ("the start matters little", "name the values to try")),
        ("good.svm --learner arow --try =3", ("write NAME=VALUES",)),
        ("good.svm --learner arow --try r=", ("write NAME=VALUES",)),
        ("good.svm --learner arow --try r=,", ("a list of values",)),
        ("good.svm --learner arow --try r=1 --try r=2", ("given twice",)),
        ("good.svm --learner arow --try r=5:1:log", ("the range of r",)),
        ("good.svm --learner arow --try r=1:5", ("r must be a number",)),
        ("good.svm --learner arow --try r=-1,2", ("above 0",)),
        ("good.svm --learner arow --try nosuch=1", ("nosuch",)),
        ("good.svm --learner arow --try r=1,2 --set r=3", ("r is set",)),
        ("good.svm --learner arow --method grid", ("method must be one of",)),
        ("good.svm --learner arow --candidates 1", ("candidates",)),
        ("good.svm --learner arow --validation 0.2", ("method='split'",)),
        ("good.svm --learner arow --method split --validation 2.5", ("--validation",)),
        ("good.svm --learner arow --try passes=1,2", ("method='split'",)),
        ("good.svm --learner arow --holdout 0.2", ("unrecognized arguments: --holdout",)),
        ("good.svm --learner arow --json good.svm", ("overwrite",)),
        ("- --learner arow --method halving", ("read only once",)),
    ],
)
def test_bad_input_ends_in_a_line_and_exit_code_2(words: str, parts: tuple[str, ...], folder: Path) -> None:
    refused(tune(*words.split(), cwd=folder, stdin=SAMPLE), *parts)


def test_marks_of_missing_values_come_together_in_the_command(folder: Path) -> None:
    (folder / "holes.csv").write_text(TABLE.replace("0,0,u", "NA,?,u"))
    words = ["holes.csv", "--missing", "NA,?", "--set", "native=False", "--json", "-"]
    for command in (["tune", "--learner", "pa1"], ["race", "--learners", "pa1"]):
        done = succeeded(noregret(*command, *words, cwd=folder))
        assert "--missing 'NA,?'" in json.loads(done.stdout)["train"]


def test_a_bad_line_of_the_file_is_named(folder: Path) -> None:
    (folder / "bad.svm").write_text(SAMPLE + "1 1:abc\n")
    refused(tune("bad.svm", "--learner", "pa1", cwd=folder), "bad.svm:201")


def test_the_best_learner_is_saved(folder: Path) -> None:
    words = ["table.csv", "--label", "y", "--learner", "arow", "--metric", "loss", "--json", "-"]
    done = succeeded(tune(*words, "--save", "best.nr", cwd=folder))
    best = json.loads(done.stdout)["candidates"][0]
    model = nr.load(folder / "best.nr")
    assert (model.rounds, model.mistakes, model.params["r"]) == (60, best["mistakes"], best["searched"]["r"])
    assert min(one["loss"] for one in json.loads(done.stdout)["candidates"]) == best["loss"]
    assert "saved to best.nr" in done.stderr
    succeeded(noregret("predict", "best.nr", "table.csv", "--out", "told.csv", cwd=folder))  # the label is remembered
    refused(tune(*words[:-2], "--save", "-", cwd=folder), "--save -")
    refused(tune(*words[:-2], "--save", "no/best.nr", cwd=folder), "--save")
    refused(tune(*words[:-4], "--metric", "speed", cwd=folder), "metric must be one of")
