"""A misspelt command, option, choice, learner or parameter is answered with what was probably meant."""

import argparse
from pathlib import Path

import pytest

import noregret as nr
from noregret.cli.options import make_parser
from noregret.cli.shared_options import TASKS
from noregret.errors import find_closest
from noregret.rules.registry import RESERVED
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


COMMANDS = next(one for one in make_parser()._actions if isinstance(one, argparse._SubParsersAction)).choices
KNOWN = {
    "command": list(COMMANDS),
    "option": list(COMMANDS["learn"]._option_string_actions),
    "learner": [card.name for card in nr.learners()],
    "task": TASKS,
    "parameter of ogd": [*nr.learners()["ogd"].params, *RESERVED],
    "parameter of arow": [*nr.learners()["arow"].params, *RESERVED],
}
MEANT = {
    "command": "lern:learn pred:predict evalute:evaluate eval:evaluate shw:show raec:race learner:learners",
    "option": "--labl:--label --lable:--label --learnr:--learner --tsak:--task --quite:--quiet --pass:--passes "
              "--shufle:--shuffle --transforms:--transform --keep-id:--keep --weights:--weight --Label:--label",
    "learner": "percepton:perceptron adagard:adagrad ftlr:ftrl pa-1:pa1 arrow:arow pegasus:pegasos winow:winnow "
               "banditorn:banditron perceptron_avg:perceptron_averaged romma2:romma scw:scw1 "
               "ridge:ridge_reranker",
    "task": "regresion:regression multi-class:multiclass one_class:one-class rank:ranking reg:regression",
    "parameter of ogd": "eta:eta0 los:loss schedul:schedule clases:classes class_weights:class_weight radus:radius",
    "parameter of arow": "R:r cov:covariance",
}  # fmt: skip
NOTHING = {
    "command": "train fit test list run fly help",
    "option": "--out --target --threads --verbose --epochs --batch-size --lr --zzz --eval --model",
    "learner": "foo adam rmsprop xgboost knn tree gbm lasso lstm qqq random_forest",
    "task": "classification clustering label",
    "parameter of ogd": "lr C alpha momentum epochs n penalty l2",
    "parameter of arow": "C rr reg",
}


@pytest.mark.parametrize("kind", KNOWN)
def test_near_names_are_found_and_far_ones_are_not(kind: str) -> None:
    pairs = [pair.split(":") for pair in MEANT[kind].split()]
    assert {word: find_closest(word, KNOWN[kind]) for word, _ in pairs} == dict(pairs)
    assert {word: find_closest(word, KNOWN[kind]) for word in NOTHING[kind].split()} == dict.fromkeys(
        NOTHING[kind].split()
    )


def test_an_option_that_does_not_apply_is_named_as_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("0\tone two\n1\ttwo three\n")
    words = ["learn", "t.txt", "--format", "text", "--learner", "pa1", "--keep", "id", "--predictions", "p.csv"]
    refused(noregret(*words, cwd=tmp_path), "keep does not apply to text")
