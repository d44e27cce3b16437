"""Learners without labels on the command line: losses as files, races of like learners, names of other libraries."""

import csv
import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.errors import BadValue
from noregret.learner.variants import name_learner
from tests.support.command_line import Done, noregret, refused

QUIET = ("--task", "unsupervised", "--label", "NONE", "--set", "native=False", "--quiet")


@pytest.fixture
def sensors(tmp_path: Path) -> Path:
    """Readings of three sensors, of which row 70 is a fault."""
    rows = np.random.default_rng(0).normal(size=(80, 3)).round(3)
    rows[70] = 40.0
    path = tmp_path / "sensors.csv"
    path.write_text("id,a,b,c\n" + "".join(f"{k},{a},{b},{c}\n" for k, (a, b, c) in enumerate(rows.tolist())))
    return path


def run(folder: Path, *words: str) -> str:
    done: Done = noregret(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def read(path: Path) -> list[dict[str, str]]:
    with open(path) as file:
        return list(csv.DictReader(file))


# ---- losses ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", ["gaussian", "mixture(k=2)", "kernel_density", "kmeans(k=2)", "svd(rank=1)"])
def test_the_loss_of_every_row_finds_the_novel_one(learner: str, sensors: Path) -> None:
    words = ("--learner", learner, "--keep", "id", *QUIET)
    run(sensors.parent, "learn", "sensors.csv", "--limit", "70", *words, "--save", "normal.nr")
    run(sensors.parent, "predict", "normal.nr", "sensors.csv", "--scores", "--keep", "id", "--out", "p.csv", "--quiet")
    rows = read(sensors.parent / "p.csv")
    assert max(rows, key=lambda row: float(row["loss"]))["id"] == "70"
    own = nr.load(sensors.parent / "normal.nr")
    with open(sensors) as file:
        X = [{name: float(value) for name, value in row.items() if name != "id"} for row in csv.DictReader(file)]
    assert [float(row["loss"]) for row in rows] == own.evaluate(X).losses.tolist()


def test_predictions_while_learning_have_the_loss_before_each_row_was_learned(sensors: Path) -> None:
    run(
        sensors.parent,
        "learn",
        "sensors.csv",
        "--learner",
        "gaussian",
        "--keep",
        "id",
        "--predictions",
        "p.csv",
        *QUIET,
    )
    rows = read(sensors.parent / "p.csv")
    assert list(rows[0]) == ["id", "loss", "log-density", "distance"]
    assert max(rows, key=lambda row: float(row["loss"]))["id"] == "70"
    assert [float(row["loss"]) for row in rows] == [-float(row["log-density"]) for row in rows]


@pytest.mark.parametrize(("learner", "titles"), [
    ("kmeans(k=2)", ["distance to 0", "distance to 1"]),
    ("mixture(k=2)", ["probability 0", "probability 1"]),
    ("svd(rank=2)", ["component 1", "component 2"]),
    ("mean_row", ["distance"]),
    ("lda(k=2)", ["topic 0", "topic 1"]),
])  # fmt: skip
def test_columns_are_numbered_as_show_and_predict_number_them(learner: str, titles: list[str], tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{k % 3},{k % 5}\n" for k in range(12)))
    run(tmp_path, "learn", "t.csv", "--learner", learner, "--predictions", "p.csv", *QUIET)
    assert list(read(tmp_path / "p.csv")[0]) == ["loss", *titles]


def test_figures_number_components_as_show_does() -> None:
    from noregret.plots import components

    rows = np.random.default_rng(0).normal(size=(30, 3))
    for name, titles in (("svd", ["component 1", "component 2"]), ("kmeans", ["cluster 0", "cluster 1"]),
                         ("mixture", ["component 0", "component 1"])):  # fmt: skip
        learner = nr.make(name, **{"rank" if name == "svd" else "k": 2}).learn(rows)
        assert [panel.get_title() for panel in components(learner).axes if panel.get_visible()] == titles


# ---- races ----------------------------------------------------------------------------------------------------------


def test_a_race_of_learners_with_and_without_labels_is_refused(sensors: Path) -> None:
    done = noregret("race", "sensors.csv", "--learners", "svd,pa1", "--set", "native=False", cwd=sensors.parent)
    refused(done, "svd plays unsupervised, pa1 plays binary", "race them apart")
    with pytest.raises(BadValue, match="svd plays unsupervised, pa1 plays binary"):
        nr.race((np.eye(4), [0, 1, 0, 1]), ["svd", "pa1"], native=False)


def test_of_losses_that_are_not_the_same_thing_none_is_the_best(sensors: Path) -> None:
    words = ("race", "sensors.csv", "--learners", "svd(rank=1),gaussian", *QUIET)
    out = run(sensors.parent, *words, "--json", "r.json", "--report", "r.html")
    assert "no best learner" in out
    assert "best:" not in out
    assert "train it" not in out
    assert json.loads((sensors.parent / "r.json").read_text())["winner"] is None
    assert "is the best of" not in (sensors.parent / "r.html").read_text()


@pytest.mark.parametrize(("learners", "text"), [
    ("gaussian,kernel_density(budget=5)", "gaussian is the baseline itself"),
    ("gaussian(prior=1000,variance=1000),mixture(k=2)", "the baseline gaussian(prior=1000, variance=1000), mean loss"),
    ("mixture(k=2)", "race gaussian, too"),
])  # fmt: skip
def test_a_baseline_that_races_is_compared_with_and_not_recommended(learners: str, text: str, sensors: Path) -> None:
    out = run(sensors.parent, "race", "sensors.csv", "--learners", learners, "--drop", "id", "--scale", *QUIET)
    line = next(line for line in out.splitlines() if line.startswith("to compare"))
    assert text in line
    assert ("race gaussian" in line) == ("gaussian" not in learners)


def test_a_learner_behind_a_decomposition_reads_a_label_only_if_it_learns_one(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,c\n" + "".join(f"{k},{k % 5},{k % 2}\n" for k in range(12)))
    for learner, label in (("svd(rank=2) | gaussian", None), ("svd(rank=2)|majority", "c")):
        run(tmp_path, "learn", "t.csv", "--quiet", "--save", "m.nr", "--learner", learner)
        assert (nr.load(tmp_path / "m.nr").source or {}).get("label") == label


# ---- notes ----------------------------------------------------------------------------------------------------------


def test_notes_say_that_large_numbers_count_most_and_that_all_components_leave_nothing_out(sensors: Path) -> None:
    words = ("learn", "sensors.csv", "--learner", "svd", "--set", "native=False")
    notes = noregret(*words, cwd=sensors.parent).stderr
    assert "--scale standardizes them" in notes
    assert "as many components as features (4)" in notes
    assert "--set rank=2" in notes
    notes = noregret(*words, "--scale", "--set", "rank=2", cwd=sensors.parent).stderr
    assert "numbers are scaled" in notes
    assert "as many components" not in notes


def test_no_regret_is_computed_without_labels_and_the_reason_is_true(sensors: Path) -> None:
    assert "it learns without labels" in run(
        sensors.parent, "learn", "sensors.csv", "--learner", "svd", "--regret", *QUIET
    )


# ---- names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("words", "meant"), [
    ("svd --set n_components=3", "did you mean 'rank'?"),
    ("mixture --set n_components=3", "did you mean 'k'?"),
    ("kmeans --set n_clusters=3", "did you mean 'k'?"),
    ("kmeans --set random_state=3", "did you mean 'seed'?"),
    ("gmm", "that is 'mixture'"),
    ("clustering", "that is 'kmeans'"),
    ("incremental_pca", "that is 'pca_incremental'"),
])  # fmt: skip
def test_names_of_other_libraries_are_translated(words: str, meant: str, sensors: Path) -> None:
    refused(noregret("learn", "sensors.csv", "--learner", *words.split(), cwd=sensors.parent), meant)


def test_an_option_that_is_nan_is_a_word(sensors: Path) -> None:
    for words in (("svd(missing=nan)",), ("svd", "--set", "missing=nan")):
        assert "missing=nan" in run(sensors.parent, "learn", "sensors.csv", *QUIET, "--learner", *words)
    done = noregret("learn", "sensors.csv", "--learner", "oja(eta=nan)", cwd=sensors.parent)
    refused(done, "eta must be a number")


def test_a_bar_puts_a_learner_behind_a_decomposition_as_in_python(tmp_path: Path) -> None:
    X = np.random.default_rng(1).normal(size=(40, 3))
    first: Any = nr.make("svd", rank=2)
    named, made = nr.make("svd(rank=2) | kmeans(k=3)"), first | nr.make("kmeans", k=3)
    assert named.play(X).losses.tolist() == made.play(X).losses.tolist()
    (tmp_path / "t.csv").write_text("a,b,y\n1,2,u\n3,4,v\n")
    for wrong in ("svd |", "| pa1"):
        done = noregret("learn", "t.csv", "--learner", wrong, cwd=tmp_path)
        refused(done, "a decomposition stands before |")
    refused(noregret("learn", "t.csv", "--learner", "pa1|svd", cwd=tmp_path), "needs a decomposition")


def test_the_list_of_learners_can_be_that_of_a_task(tmp_path: Path) -> None:
    listed = [line.split()[0] for line in run(tmp_path, "learners", "--task", "unsupervised").splitlines()[2:-2]]
    assert listed == [card.name for card in nr.learners() if "unsupervised" in card.tasks]
    refused(noregret("learners", "svd", "--task", "binary", cwd=tmp_path), "--task is for the list")


def test_an_array_of_numpy_is_no_table(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", np.eye(3))
    refused(noregret("learn", "X.npy", "--learner", "svd", cwd=tmp_path), "X.npy: this is an array of NumPy", "savetxt")


# ---- tuning ---------------------------------------------------------------------------------------------------------


def test_no_range_of_a_card_has_values_that_its_learner_refuses() -> None:
    for card in nr.learners():
        if card.tasks == ("unsupervised",) and not card.needs:
            for name, param in card.numbers.items():
                for value in param.candidates(7):
                    nr.make(card.name, **{name: float(f"{value:.4g}")})


def test_a_search_over_mixtures_tries_more_than_the_defaults(sensors: Path) -> None:
    out = run(sensors.parent, "tune", "sensors.csv", "--learner", "mixture", "--candidates", "4", *QUIET)
    assert sum(line.startswith("mixture ") for line in out.splitlines()) == 4
    assert "each predicted before it was learned" in out


def test_svd_says_why_it_has_nothing_to_tune(sensors: Path) -> None:
    done = noregret("tune", "sensors.csv", "--learner", "svd", *QUIET, cwd=sensors.parent)
    refused(done, "svd has nothing to tune", "more components lose less")


def test_the_name_of_a_learner_behind_a_decomposition_has_the_options_of_both(sensors: Path) -> None:
    made = nr.make("svd(rank=1, scale=true) | ogd(bias=true, task=regression, native=false)")
    inside = "decomposition=svd(rank=1, scale=true), learner=ogd(task=regression, bias=true)"
    assert name_learner(made) == f"decomposed({inside})"


def test_the_command_that_a_race_prints_trains_the_same_and_resumes(sensors: Path) -> None:
    words = ("race", "sensors.csv", "--learners", "svd(rank=2, scale=true) | kmeans(k=2, seed=3)", "--quiet")
    run(sensors.parent, *words, "--json", "r.json")
    again = shlex.split(json.loads((sensors.parent / "r.json").read_text())["train"])
    run(sensors.parent, *again[1:], "--quiet", "--json", "l.json")
    raced, learned = (json.loads((sensors.parent / name).read_text())["learners"][0] for name in ("r.json", "l.json"))
    assert learned["loss"] == raced["loss"]
    refused(noregret(*again[1:5], "--resume", "decomposed.nr", cwd=sensors.parent), "nothing is left")
