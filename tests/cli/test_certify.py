"""`noregret certify`: proofs and bounds on the command line."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import noregret, refused, succeeded

APART = "+1 1:2 2:1\n-1 1:-1 2:1\n+1 1:3\n-1 1:-2 2:-1\n"
XOR = "x,y,label\n0,0,no\n0,1,yes\n1,0,yes\n1,1,no\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "apart.svm").write_text(APART)
    (tmp_path / "xor.csv").write_text(XOR)
    (tmp_path / "one.svm").write_text("+1 1:2\n+1 1:3\n")
    (tmp_path / "weighted.csv").write_text("x,w,label\n1,2,yes\n2,1,no\n")
    return tmp_path


def test_it_prints_and_writes_the_certificate(folder: Path) -> None:
    words = ["certify", "apart.svm", "--learners", "perceptron,pa1", "--invariants"]
    said = succeeded(noregret(*words, "--json", "out.json", cwd=folder)).stdout
    for part in ("separable: yes", "no unit vector has a margin above", "perceptron", "both hold on all of them"):
        assert part in said
    report = json.loads((folder / "out.json").read_text())
    assert report["separable"] is True
    assert report["source"]["name"] == "apart.svm"
    assert [one["learner"] for one in report["learners"]] == ["perceptron", "pa1"]
    assert report["invariants"]["hold"] is True
    piped = succeeded(noregret(*words, "--json", "-", "--quiet", cwd=folder)).stdout
    assert json.loads(piped)["margin"] == report["margin"]


def test_other_features_are_tried_and_can_be_asked_for(folder: Path) -> None:
    said = succeeded(noregret("certify", "xor.csv", "--learners", "pa1", cwd=folder)).stdout
    assert "separable: no. 1 signed row (1) with positive weights sum to exactly 0" in said
    assert "pairs, with a constant feature" in said
    words = ["--learners", "pa1", "--no-expansions"]
    assert "constant feature" not in succeeded(noregret("certify", "xor.csv", *words, cwd=folder)).stdout
    words = ["--bias", "--transform", "pairs", "--learners", "pa1", "--set", "pa1.C=0.5"]
    assert "separable: yes" in succeeded(noregret("certify", "xor.csv", *words, cwd=folder)).stdout


def test_bad_input_is_refused(folder: Path) -> None:
    refused(noregret("certify", "one.svm", cwd=folder), "one.svm", "one class")
    refused(noregret("certify", "nowhere.svm", cwd=folder), "nowhere.svm")
    refused(noregret("certify", "xor.csv", "--learners", "pa7", cwd=folder), "pa7")
    refused(noregret("certify", "xor.csv", "--set", "pa1.C=-1", "--learners", "pa1", cwd=folder), "C must be")
    refused(noregret("certify", "weighted.csv", "--weight", "w", cwd=folder), "--weight")
    refused(noregret("certify", "xor.csv", "--invariants", "--learners", "pa1", cwd=folder), "need a separator")
