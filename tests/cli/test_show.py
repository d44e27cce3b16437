"""`noregret show`: what a saved model is."""

import json
from pathlib import Path

import pytest

import noregret as nr
from tests.support.command_line import OWN_RULE, SAMPLE, noregret, refused, succeeded

TABLE = "age,plan,y\n" + "30,basic,no\n40,pro,yes\n20,basic,no\n55,pro,yes\n" * 5


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "data.svm").write_text(SAMPLE)
    (tmp_path / "my_rule.py").write_text(OWN_RULE)
    return tmp_path


def test_a_table_shows_its_columns_as_features(folder: Path) -> None:
    succeeded(noregret("learn", "table.csv", "--learner", "pa1", "--save", "m.nr", "--quiet", cwd=folder))
    said = succeeded(noregret("show", "m.nr", cwd=folder)).stdout
    for part in ("m.nr: pa1, passive-aggressive", "binary", "C = 0", "2: no, yes", "3 seen and a constant", "20 rounds",
                 "from        table.csv", "largest weights, for yes", "plan=pro", "noregret predict m.nr"):  # fmt: skip
        assert part in said
    model = nr.load(folder / "m.nr")
    assert said.index("plan=pro") < said.index("(constant)")
    told = json.loads(succeeded(noregret("show", "m.nr", "--json", "-", cwd=folder)).stdout)
    assert told["weights"] == model.weights
    assert told["mistakes"] == model.mistakes
    assert told["source"]["columns"] == {"age": "numbers", "plan": "text"}


def test_many_classes_show_weights_for_each(folder: Path) -> None:
    (folder / "many.svm").write_text("".join(f"{k % 3} {k % 3 + 1}:1 4:{k % 2}\n" for k in range(30)))
    succeeded(noregret("learn", "many.svm", "--learner", "pa1", "--save", "m.nr", "--quiet", cwd=folder))
    said = succeeded(noregret("show", "m.nr", cwd=folder)).stdout
    assert all(f"largest weights of {label}" in said for label in range(3))
    assert set(json.loads(noregret("show", "m.nr", "--json", "-", cwd=folder).stdout)["weights"]) == {"0", "1", "2"}


def test_regression_counts_no_mistakes(folder: Path) -> None:
    words = ["learn", "data.svm", "--task", "regression", "--learner", "pa1", "--save", "m.nr", "--quiet"]
    succeeded(noregret(*words, cwd=folder))
    assert "mistake" not in succeeded(noregret("show", "m.nr", cwd=folder)).stdout
    assert json.loads(noregret("show", "m.nr", "--json", "-", cwd=folder).stdout)["mistakes"] is None


def test_a_model_that_has_learned_nothing_and_one_without_weights(folder: Path) -> None:
    nr.make("pa1").save(folder / "empty.nr")
    assert "has not learned a round yet" in succeeded(noregret("show", "empty.nr", cwd=folder)).stdout
    nr.make("perceptron", algebra="kernel", native=False).learn([{"a": 1.0}], [1]).save(folder / "k.nr")
    assert "kernel      rbf (gamma = 1), 1 support\n" in succeeded(noregret("show", "k.nr", cwd=folder)).stdout


def test_a_learner_around_another_shows_the_weights_of_the_inner_one(folder: Path) -> None:
    learner = nr.delayed(nr.make("pa1", C=0.5, native=False), room=7)
    learner.ask("later", {"age": 1.0, "plan": 2.0})
    learner.tell("later", "yes")
    learner.learn([{"age": -1.0}], ["no"]).save(folder / "d.nr")
    said = succeeded(noregret("show", "d.nr", cwd=folder)).stdout
    for part in ("d.nr: delayed", "learner     pa1(C=0.5), passive-aggressive", "room = 7, C = 0.5", "2: yes, no",
                 "2 seen", "2 rounds", "largest weights, for no", "plan"):  # fmt: skip
        assert part in said
    told = json.loads(succeeded(noregret("show", "d.nr", "--json", "-", cwd=folder)).stdout)
    assert (told["inner"]["learner"], told["inner"]["parameters"]["C"]) == ("pa1", 0.5)
    assert (told["parameters"]["room"], told["weights"]) == (7, nr.load(folder / "d.nr").learner.weights)


def test_what_is_no_model_is_refused(folder: Path) -> None:
    refused(noregret("show", "table.csv", cwd=folder), "table.csv")
    refused(noregret("show", "nothing.nr", cwd=folder), "nothing.nr", "cannot be read")
    refused(noregret("show", "data.svm", "--json", "data.svm", cwd=folder), "data.svm")


def test_a_model_of_ones_own_rule_needs_its_file(folder: Path) -> None:
    words = ["learn", "data.svm", "--learner", "my_rule.py:capped", "--save", "m.nr", "--quiet"]
    succeeded(noregret(*words, cwd=folder))
    refused(noregret("show", "m.nr", cwd=folder), "--rule")
    assert "capped" in succeeded(noregret("show", "m.nr", "--rule", "my_rule.py", cwd=folder)).stdout
