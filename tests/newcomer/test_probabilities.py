"""Probabilities as a newcomer asks for them: on the command line, in Python, in scikit-learn."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import VotingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score

import noregret as nr
from noregret.sklearn import AROWClassifier, PassiveAggressiveClassifier
from tests.support.command_line import noregret, refused, succeeded


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    for name, rows in (("old.csv", 600), ("new.csv", 200)):
        age, plan = rng.integers(18, 80, rows), rng.choice(["basic", "plus"], rows)
        churn = np.where(rng.logistic(size=rows) + (age - 50) / 10 + (plan == "basic") > 0.0, "yes", "no")
        lines = [f"{a},{p},{c}" for a, p, c in zip(age, plan, churn, strict=True)]
        (tmp_path / name).write_text("\n".join(["age,plan,churn", *lines]) + "\n")
    words = ["learn", "old.csv", "--label", "churn", "--learner", "pa1", "--save", "m.nr", "--quiet"]
    succeeded(noregret(*words, cwd=tmp_path))
    return tmp_path


def test_predictions_with_probabilities(folder: Path) -> None:
    said = succeeded(noregret("predict", "m.nr", "new.csv", "--proba", cwd=folder)).stdout
    rows = list(csv.DictReader(said.splitlines()))
    assert set(rows[0]) == {"prediction", "probability yes", "probability no"}
    p = np.array([float(row["probability yes"]) for row in rows])
    truth = [row["churn"] == "yes" for row in csv.DictReader((folder / "new.csv").read_text().splitlines())]
    assert log_loss(truth, p) < 0.55
    assert abs(p.mean() - np.mean(truth)) < 0.1
    both = succeeded(noregret("predict", "m.nr", "new.csv", "--proba", "--scores", cwd=folder)).stdout
    assert both.startswith("prediction,score,probability ")


def test_reliability_is_shown(folder: Path) -> None:
    said = succeeded(noregret("evaluate", "m.nr", "new.csv", "--reliability", cwd=folder)).stdout
    for part in ("log loss", "Brier score", "calibration error", "0.9 to 1.0"):
        assert part in said
    told = json.loads(succeeded(noregret("evaluate", "m.nr", "new.csv", "--json", "-", cwd=folder)).stdout)
    assert sum(one["rows"] for one in told["reliability"]) == 200
    assert told["calibration_error"] < 0.15
    assert "calibrated" in succeeded(noregret("show", "m.nr", cwd=folder)).stdout


def test_where_there_are_none_it_is_said(folder: Path) -> None:
    words = ["learn", "old.csv", "--label", "age", "--task", "regression", "--learner", "pa1", "--save", "r.nr"]
    succeeded(noregret(*words, "--quiet", cwd=folder))
    refused(noregret("predict", "r.nr", "new.csv", "--proba", cwd=folder), "regression")
    said = succeeded(noregret("evaluate", "r.nr", "new.csv", "--reliability", cwd=folder)).stdout
    assert "no probabilities" in said


def test_a_stream_in_python() -> None:
    m = nr.make("arow", native=False)
    rng = np.random.default_rng(1)
    total = 0.0
    for _ in range(300):
        x = float(rng.normal())
        label = "up" if x + rng.logistic() > 0 else "down"
        p = m.predict_proba_one({"x": x, "one": 1.0})
        total -= np.log(p.get(label, 0.5))
        m.learn_one({"x": x, "one": 1.0}, label)
    assert total / 300 < np.log(2.0)


def test_scikit_learn_scores_and_votes() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 5))
    y = np.array(["a", "b"])[np.argmax(X[:, :2] + rng.gumbel(size=(400, 2)), axis=1)]
    scores = cross_val_score(AROWClassifier(random_state=0), X, y, scoring="neg_log_loss", cv=3)
    assert scores.mean() > -np.log(2.0)
    vote = VotingClassifier(
        [("arow", AROWClassifier(random_state=0)), ("pa", PassiveAggressiveClassifier(random_state=0))], voting="soft"
    ).fit(X, y)
    assert vote.predict_proba(X).shape == (400, 2)
    one = AROWClassifier(random_state=0).fit(X, y)
    np.testing.assert_allclose(np.exp(one.predict_log_proba(X)).sum(axis=1), 1.0)
    assert one.classes_[one.predict_proba(X).argmax(axis=1)].tolist() == one.predict(X).tolist()
