"""Tuning compares candidates as single runs would, and never learns what it is to be measured on."""

import inspect
import json
import shlex
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.evaluation.report import to_json
from noregret.evaluation.tuning.space import Axis, card_axes, make_points
from noregret.learner.model_file import pack
from tests.support import load_own_rules, refusal
from tests.support.cover import only_in_test_all
from tests.support.tuning import RS, X, Y, naive, tune, values

own = load_own_rules()


def by_card(card: nr.RuleCard) -> str:
    return card.name


# ---- progressive validation -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 3])
def test_candidates_are_what_a_loop_over_them_plays(threads: int) -> None:
    found = tune(threads=threads)
    reports = {r: nr.play((X, Y), nr.make("arow", r=r, native=False)) for r in (1.0, *RS)}
    assert values(found) == sorted(reports, key=lambda r: (reports[r]["mistakes"], reports[r]["loss"]))
    for result in found:
        report = reports[result.parameters["r"]]
        assert (result.entry.mistakes, result.entry.loss) == (report["mistakes"], report["loss"])
        assert result.entry.rounds == 160
    assert found.parameters == {"r": values(found)[0]}
    assert pack(found.best) == pack(naive(**found.parameters))


def test_default_parameters_come_first_and_win_ties() -> None:
    right = np.where(np.arange(40) % 2, 1, -1)
    found = tune(["pa1", "arow"], {"pa1.C": [5.0, 0.5], "r": [3.0, 0.3]}, source=(right[:, None] * 1.0, right))
    assert found.first.entry.mistakes == found.results[-1].entry.mistakes
    alike = tune("pa1", {"C": [7.0, 8.0, 9.0, 0.0]}, source=(right[:, None] * 1.0, right))
    assert values(alike, "C") == [0.0, 7.0, 8.0, 9.0]
    assert alike.parameters == {}
    assert alike.command == "noregret learn FILE --learner pa1"


def test_the_default_is_a_candidate_also_where_the_space_does_not_have_it() -> None:
    assert sorted(values(tune(space={"r": [0.1, 10]}))) == [0.1, 1.0, 10]


def test_several_learners_are_tuned_side_by_side() -> None:
    found = tune(["arow", "pa1", "romma"], candidates=3)
    names = [result.name for result in found]
    assert {name: names.count(name) for name in names} == {"arow": 3, "pa1": 3, "romma": 1}
    keys = [(result.entry.mistakes, result.entry.loss) for result in found]
    assert keys == sorted(keys)
    assert found.best is found.first.entry.learner


def test_options_that_are_no_parameters_can_be_searched() -> None:
    found = tune("arow", {"covariance": ["diagonal", "full"], "bias": [True]})
    tried = [(result.parameters["covariance"], result.parameters["bias"]) for result in found]
    assert sorted(tried) == [("diagonal", False), ("diagonal", True), ("full", True)]


def test_a_learner_without_numbers_to_search_is_searched_by_its_options() -> None:
    assert [axis.name for axis in card_axes(nr.learners()["perceptron"], {})] == ["schedule"]
    assert {result.parameters["gate"] for result in tune("pa")} == set(nr.learners()["pa"].choices["gate"].among)


@pytest.mark.parametrize(
    ("name", "options", "searched"),
    [
        ("ogd", {}, ["eta0"]),
        ("ogd", {"onto": "ball"}, ["eta0", "radius"]),
        ("mirror_descent", {}, ["eta"]),
        ("mirror_descent", {"link": "p_norm"}, ["eta", "p"]),
        ("scw1", {"eta": 0.8}, ["C", "floor"]),
    ],
)
def test_numbers_that_only_other_options_read_are_not_searched(name: str, options: Any, searched: list[str]) -> None:
    assert [axis.name for axis in card_axes(nr.learners()[name], options)] == searched


def test_options_that_a_task_refuses_are_left_out() -> None:
    found = tune("ogd", ["loss"], source=(X, X[:, 0]), task="regression")
    assert len(found) >= 2
    assert "hinge" not in values(found, "loss")


# ---- the points -----------------------------------------------------------------------------------------------------


def test_a_grid_that_is_too_large_becomes_a_seeded_sample() -> None:
    axes = [Axis("a", (1, 2, 3)), Axis("b", span=nr.Param(0.0, search=(0.01, 100.0, "log")))]
    assert len(make_points(axes, 18, seed=0)) == 18  # the 0 below the range and five values of it
    some = make_points(axes, 17, seed=0)
    assert len({repr(point) for point in some}) == 17
    assert some == make_points(axes, 17, seed=0) != make_points(axes, 17, seed=1)
    assert all(point["b"] == 0.0 or 0.01 <= point["b"] <= 100.0 for point in some)
    assert 1 <= sum(point["b"] == 0.0 for point in make_points(axes, 17, seed=0)) < 12


def test_a_space_with_few_points_does_not_end_in_a_search_for_more() -> None:
    assert len(make_points([Axis("a", (1, 2)), Axis("b", (1, 2))], 3, seed=0)) == 3
    found = tune("pa1", {"C": [0.1, 0.2, 0.3, 0.4]}, candidates=3)
    assert len(found) == 3
    assert 0.0 in values(found, "C")


@pytest.mark.parametrize("most", [2, 3, 4, 5, 6, 8])
def test_a_single_range_has_a_coarser_grid_where_few_candidates_are_wanted(most: int) -> None:
    found = values(tune("pegasos", {"lam": (1e-6, 1e-2, "log")}, candidates=most), "lam")
    assert len(found) == most
    assert {0.0, 1e-6} <= set(found) or most == 2  # the default is below the range
    ratios = np.diff(np.log(sorted(found)[1:]))
    assert np.ptp(ratios) < 1e-3 if most > 3 else True


def test_the_ends_of_a_range_are_exact_and_the_rest_has_four_digits() -> None:
    axis = Axis("C", span=nr.Param(1.0, search=(2.0**-8, 256.0, "log")))
    assert axis.grid(3) == (2.0**-8, 1.0, 256.0)
    assert all(float(f"{value:.4g}") == value for value in axis.grid(7)[1:-1])
    found = sorted(values(tune(space={"r": (0.5, 2.5, "linear")})))
    assert (found[0], found[-1], len(found)) == (0.5, 2.5, 8)


def test_the_same_seed_gives_the_same_result() -> None:
    told: dict[str, Any] = {"learners": ["scw1", "adagrad"], "space": None, "candidates": 6}
    first, again, other = (tune(**told, seed=seed) for seed in (5, 5, 6))
    assert str(first) == str(again) != str(other)
    assert pack(first.best) == pack(again.best)


# ---- what goes wrong ------------------------------------------------------------------------------------------------


def test_a_candidate_that_cannot_go_on_is_shown_last_and_the_others_finish() -> None:
    found = tune("perceptron", {"eta": [1e308, 0.5]}, source=(1000.0 * X, Y))
    stopped = [result for result in found if result.entry.stopped]
    assert stopped
    assert found.results[-1] in stopped
    assert found.first.entry.rounds == 160
    assert "stopped after" in str(found)
    assert json.loads(to_json(found.report()))["candidates"][-1]["stopped"]


def test_an_error_of_all_candidates_is_an_error_of_the_data() -> None:
    broken = X.copy()
    broken[70, 2] = np.nan
    assert "row 70" in refusal(lambda: tune(source=(broken, Y)))
    assert "row 70" in refusal(lambda: tune(source=(broken, Y), method="split"))
    broken[70, 2], broken[150, 2] = 0.0, np.nan
    assert "row 150" in refusal(lambda: tune(source=(broken, Y), method="split"))


@pytest.mark.parametrize(
    ("learners", "told", "words"),
    [
        ("nosuch", {}, "no learner 'nosuch'"),
        ([], {}, "at least one learner"),
        (5, {}, "the name of a learner"),
        (["arow", "arow"], {}, "each learner once"),
        ("romma", {}, "no parameters to tune"),
        ("perceptron_averaged", {}, "the start matters little"),
        ("arow", {"space": {}}, "empty"),
        ("arow", {"space": {"r": []}}, "a list of values"),
        ("arow", {"space": {"r": 3}}, "a list of values"),
        ("arow", {"space": "r"}, "space must be"),
        ("arow", {"space": {3: [1]}}, "names parameters"),
        ("arow", {"space": {"r": [0.0]}}, "r must be above 0"),
        ("arow", {"space": {"r": ["x"]}}, "r must be a number"),
        ("arow", {"space": {"r": (0.0, 1.0, "log")}}, "above 0"),
        ("arow", {"space": {"r": (2.0, 1.0, "log")}}, "the range of r"),
        ("arow", {"space": {"r": (1.0, 2.0, "cubic")}}, "the range of r"),
        ("arow", {"space": {"C": [1.0]}}, "C"),
        ("arow", {"space": {"pa1.C": [1.0]}}, "'pa1' is not tuned here"),
        ("arow", {"space": ["random_start"]}, "the start matters little"),
        ("arow", {"space": ["covariance"]}, "not on its card"),
        ("arow", {"space": {"r": [1.0]}, "r": 2.0}, "r is set"),
        ("ogd", {"space": {"loss": ["cubic"]}}, "loss must be"),
        ("arow", {"method": "grid"}, "method must be"),
        ("arow", {"candidates": 1}, "candidates must be"),
        ("arow", {"candidates": 2.5}, "candidates must be"),
        ("arow", {"candidates": 10**9}, "at most 10,000"),
        ("arow", {"limit": 0}, "no rows"),
        ("arow", {"limit": 1, "method": "split"}, "validation leaves no rows to learn"),
        ("arow", {"threads": 0}, "threads must be"),
        ("arow", {"seed": -1}, "seed must be"),
        ("arow", {"holdout": 0.2}, "holdout"),
        ("arow", {"unlabelled": ["?"]}, "rows with labels"),
        ("arow", {"validation": 0.3}, "method='split'"),
        ("arow", {"refit": True}, "method='split'"),
        ("arow", {"factor": 2, "method": "split"}, "method='halving'"),
        ("arow", {"factor": 1, "method": "halving"}, "at least 1.1"),
        ("arow", {"validation": 1.5, "method": "split"}, "validation must be"),
        ("arow", {"validation": 0, "method": "split"}, "validation must be"),
        ("arow", {"validation": (X, Y), "method": "split"}, "validation must be"),
        ("arow", {"validation_seed": -1, "method": "split"}, "validation_seed"),
        ("arow", {"validation": 1000, "method": "split"}, "no rows to learn"),
        ("arow", {"refit": "yes", "method": "split"}, "True or False"),
        ("arow", {"passes": [1, 2]}, "method='split'"),
        ("arow", {"passes": [0], "method": "split"}, "passes must be"),
        ("arow", {"passes": [], "method": "split"}, "passes must be"),
        ("arow", {"passes": 2, "space": {"passes": [1]}, "method": "split"}, "given twice"),
        ("arow", {"nosuch": 1}, "nosuch"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(learners: object, told: dict[str, Any], words: str) -> None:
    assert words in refusal(lambda: tune(learners, **told))


def test_options_that_no_candidate_can_have_are_the_error() -> None:
    assert "features must be" in refusal(lambda: tune("joint"))


TUNED = [card for card in nr.learners().rules.values() if card.built_in and card_axes(card, {})]


@only_in_test_all
@pytest.mark.parametrize("card", TUNED, ids=by_card)
def test_every_learner_with_something_to_search_is_tuned(card: nr.RuleCard) -> None:
    task = card.tasks[0]
    classes = {"classes": [-1, 1]} if task == "bandit" else {}
    found = tune(card, task=task, candidates=3, **classes)
    assert 2 <= len(found) <= 3
    assert found.best.rounds == 160


def test_learners_are_made_by_tune_itself() -> None:
    assert "give the name" in refusal(lambda: tune(nr.make("arow", native=False)))


def test_there_is_no_parameter_for_test_data() -> None:
    names = list(inspect.signature(nr.tune).parameters)
    assert names == ["source", "learners", "space", "method", "candidates", "options"]
    for name in ("test", "X_test", "test_source", "held_out", "holdout", "validation_data"):
        refusal(partial(tune, **{name: (X, Y)}))


# ---- what is shown --------------------------------------------------------------------------------------------------


def test_the_table_names_parameters_measures_and_rounds() -> None:
    found = tune(["arow", "pa1"], candidates=3)
    head, _, *lines = str(found).splitlines()
    assert head.split() == ["learner", "r", "C", "mistakes", "rate", "loss", "rounds"] or "C" in head
    assert len(lines) == len(found) == 6
    assert "<table>" in found._repr_html_()
    assert found.command in repr(found)


def test_the_command_has_the_options_that_were_given() -> None:
    assert tune(source="separable:rows=30", candidates=2).command.startswith("noregret learn separable:rows=30 ")
    found = tune("pa1", {"C": [0.01]}, source=([{"a": 1.0}] * 6, [0, 1] * 3), limit=5, bias=True, classes=[0, 1])
    learner = shlex.quote(found.first.describe())
    assert learner in ("pa1", "'pa1(C=0.01)'")
    assert found.command == f"noregret learn FILE --learner {learner} --limit 5 --bias --classes 0,1"


def test_the_command_knows_files_and_how_an_open_source_is_read(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("a,b,y\n" + "".join(f"{k % 5},NA,{int(k % 5 > 2)}\n" for k in range(20)))
    files = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    source = nr.open_source(files, label="y", missing=["NA", "?"], drop=["b"], limit=30)
    found = tune("pa1", {"C": [2.0]}, source=source)
    learner = shlex.quote(found.first.describe())
    assert learner in ("pa1", "'pa1(C=2)'")
    command = f"noregret learn {' '.join(files)} --learner {learner} --label y --drop b --missing 'NA,?' --limit 30"
    assert found.command == command


def test_values_of_numpy_are_those_of_python() -> None:
    found = tune(space={"r": np.array([0.1, 1.0])})
    assert sorted(values(found)) == [0.1, 1.0]
    found = tune(space={"r": [np.float64(1.0), np.int64(2)]})
    assert sorted(values(found)) == [1.0, 2]
    assert json.loads(to_json(found.report()))


def test_a_best_value_at_the_end_of_what_was_tried_is_told() -> None:
    tried = tune().parameters["r"]
    assert tune(space={"r": [tried, 1e8]}).find_edges() == {"r": "smallest"}
    assert tune(space={"r": [tried, 1e8]}, source=(X[:1], Y[:1])).find_edges() == {}
    assert tune(space={"r": [tried]}).find_edges() == {}


def test_the_report_is_json_with_every_candidate() -> None:
    report = json.loads(to_json(tune(method="split", passes=[1, 2]).report()))
    assert report["method"] == "split"
    assert len(report["candidates"]) == 14
    first = report["candidates"][0]
    assert first["searched"]["passes"] in (1, 2)
    assert first["held_out"]["rows"] == 32
    assert report["best"]["learner"] == "arow"
