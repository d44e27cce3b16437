"""Variants of learners on the command line: commas in brackets, rules in files, names in reports."""

import json
import shlex
from pathlib import Path

import pytest

import noregret as nr
from tests.support.command_line import noregret, refused, succeeded

RULE = '''
import noregret as nr
from noregret.algebra import add


@nr.margin_rule(paper="none", params={"C": nr.Param(1.0, above=0.0)}, state={"w": nr.plain})
def capped(p, s, z, margin):
    """Step by C on a mistake."""
    if margin <= 0.0:
        add(s.w, p.C, z)
        return True
    return False
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [f"{1 if (x > 0) == (y > 0) else -1} 1:{x} 2:{y}" for x in (-2, -1, 1, 2) for y in (-2, -1, 1, 2)]
    (tmp_path / "xor.svm").write_text("\n".join(lines * 3) + "\n")
    (tmp_path / "rule.py").write_text(RULE)
    return tmp_path


def test_a_race_of_variants_is_reported_by_their_names(folder: Path) -> None:
    names = "pa1,pa1( C = 0.50 )@rbf(gamma=0.5,budget=6, policy=smallest), rule.py:capped(C=2)"
    words = ("race", "xor.svm", "--learners", names, "--set", "native=False", "--json", "out.json")
    done = succeeded(noregret(*words, cwd=folder))
    report = json.loads((folder / "out.json").read_text())
    best = "pa1(C=0.5)@rbf(gamma=0.5, budget=6, policy=smallest)"
    assert {one["name"] for one in report["learners"]} == {"pa1", best, "capped(C=2)"}
    assert report["winner"] == best
    assert best in done.stdout
    train = shlex.split(report["train"])
    assert train[train.index("--learner") + 1] == best
    succeeded(noregret(*train[1:], "--set", "native=False", cwd=folder))
    model = nr.load(folder / "pa1.nr")
    assert (model.config.budget, model.mistakes) == ((6, "smallest"), report["learners"][0]["mistakes"])
    resumed = noregret("learn", "xor.svm", "--resume", "pa1.nr", "--learner", "pa1(C=2)", cwd=folder)
    refused(resumed, f"was learned by {best}, not by pa1(C=2)")
    succeeded(noregret("learn", "xor.svm", "--resume", "pa1.nr", "--learner", best, "--passes", "1", cwd=folder))


def test_the_training_command_names_a_rule_by_its_file_with_its_options(folder: Path) -> None:
    words = ("race", "xor.svm", "--learners", "rule.py:capped(C=2)", "--set", "native=False", "--json", "-", "--quiet")
    report = json.loads(succeeded(noregret(*words, cwd=folder)).stdout)
    assert "--learner 'rule.py:capped(C=2)'" in report["train"]


def test_set_is_for_all_and_brackets_are_for_one(folder: Path) -> None:
    words = ("race", "xor.svm", "--learners", "pa1,pa1(C=2),arow", "--set", "C=0.5", "--set", "native=False")
    report = json.loads(succeeded(noregret(*words, "--json", "-", "--quiet", cwd=folder)).stdout)
    assert {one["name"] for one in report["learners"]} == {"pa1(C=0.5)", "pa1(C=2)", "arow"}
    done = noregret("race", "xor.svm", "--learners", "pa1(C=2)", "--set", "pa1.C=3", cwd=folder)
    refused(done, "pa1: C is given twice, in 'pa1(C=2)' and with --set pa1.C=3")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("race", "xor.svm", "--learners", "scw1,scw1(C=0)"), "two learners are called 'scw1'"),
        (("race", "xor.svm", "--learners", "arow,pa1@rbff"), "there is no kernel 'rbff'; did you mean 'rbf'?"),
        (("race", "xor.svm", "--learners", "arow,pa1(C=1"), "the bracket after pa1 is not closed"),
        (("race", "xor.svm", "--learners", "pa1)"), "'pa1)': a bracket is closed that is not open"),
        (("learn", "xor.svm", "--learner", "pa1@rbf(degree=2)"), "the kernel rbf has no parameter 'degree'"),
        (("learn", "xor.svm", "--learner", "pa1(C=many)"), "pa1: C must be a number at least 0, not 'many'"),
        (("tune", "xor.svm", "--learners", "scw1,scw1(C=0)"), "two learners are called 'scw1'"),
        (("tune", "xor.svm", "--learner", "pa1(C=3)", "--try", "C=1,2"), "C is set, and cannot be searched as well"),
        (("certify", "xor.svm", "--learners", "pa1(D=1)"), "pa1 has no option 'D'"),
        (("experts", "up_down", "--algorithms", "hedge(rate=1)"), "hedge has no option 'rate'"),
    ],
)  # fmt: skip
def test_a_variant_that_cannot_be_ends_with_one_line(words: tuple[str, ...], said: str, folder: Path) -> None:
    refused(noregret(*words, cwd=folder), said)


def test_searches_certificates_and_experts_name_variants(folder: Path) -> None:
    words = ("tune", "xor.svm", "--learner", "pa1@rbf(gamma=0.5)", "--try", "C=0,0.1", "--set", "native=False")
    report = json.loads(succeeded(noregret(*words, "--json", "-", "--quiet", cwd=folder)).stdout)
    assert {one["name"] for one in report["candidates"]} == {"pa1@rbf(gamma=0.5)", "pa1(C=0.1)@rbf(gamma=0.5)"}
    pair = "perceptron,perceptron(eta=2)"
    done = noregret("certify", "xor.svm", "--learners", pair, "--set", "native=False", "--json", "-", cwd=folder)
    report = json.loads(succeeded(done).stdout)
    assert [one["learner"] for one in report["learners"]] == ["perceptron", "perceptron(eta=2)"]
    done = succeeded(noregret("experts", "up_down", "--algorithms", "hedge, hedge(eta=0.50)", cwd=folder))
    assert "hedge(eta=0.5)" in done.stdout
