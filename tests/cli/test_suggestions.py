"""A misspelt command, option, choice, learner or parameter is answered with what was probably meant."""

from pathlib import Path

import pytest

from tests.support.command_line import noregret, refused


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("lern digits", "did you mean 'learn'? See `noregret --help`"),
        ("predct m.nr digits", "did you mean 'predict'?"),
        ("learn digits --labl y --learner pa1", "did you mean '--label'? See `noregret learn --help`"),
        ("learn digits --learner=pa1 --quit", "did you mean '--quiet'?"),
        ("learn digits --task regresion --learner pa1", "did you mean 'regression'?"),
        ("learn digits --learner AROW", "did you mean 'arow'?"),
        ("learn digits --learner logistic", "--learner ogd --set loss=logistic"),
        ("learn digits --learner arow --set R=1", "did you mean 'r'?"),
    ],
)
def test_what_was_probably_meant_is_said(words: str, meant: str, tmp_path: Path) -> None:
    refused(noregret(*words.split(), cwd=tmp_path), meant)


@pytest.mark.parametrize("words", ["fly digits", "learn digits --learner pa1 --zzz 3", "learn digits --learner qqq"])
def test_what_is_far_from_everything_gets_no_guess(words: str, tmp_path: Path) -> None:
    done = noregret(*words.split(), cwd=tmp_path)
    refused(done, words.split()[-1] if words.endswith("qqq") else "--help")
    assert "did you mean" not in done.stderr


@pytest.mark.parametrize("option", ["--limit", "--passes", "--ngrams"])
def test_a_count_of_zero_is_refused(option: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,y\n1,x,0\n2,z,1\n")
    words = ["learn", "t.csv", "--learner", "pa1", "--text", "b", option, "0"]
    refused(noregret(*words, cwd=tmp_path), option[2:], "at least 1")
