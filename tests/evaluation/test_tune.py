"""Tuning compares candidates as single runs would, and never learns what it is to be measured on."""

import inspect
import json
import math
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.data.batch import Batch
from noregret.evaluation.report import to_json
from noregret.evaluation.tuning.result import Tuning
from noregret.evaluation.tuning.runs import plan_halving
from noregret.evaluation.tuning.space import Axis, card_axes, make_points
from noregret.evaluation.tuning.split import StratifiedHoldout
from noregret.learner.model_file import pack
from noregret.streams.sources import ArraySource
from tests.support import load_own_rules, refusal, small_stream

X, Y = small_stream(rows=160, seed=3)
RS = (0.001, 0.01, 0.1, 10.0, 100.0, 1000.0)  # the range of arow's r without its default
own = load_own_rules()


def tune(learners: object = "arow", space: Any = None, source: object = (X, Y), **told: Any) -> Tuning:
    return nr.tune(source, learners, space, native=False, **told)


def naive(rows: Any = slice(None), source: Any = (X, Y), **told: Any) -> nr.RuleLearner:
    """A learner that learned some rows, one after another."""
    return nr.make("arow", native=False, **told).learn(source[0][rows], source[1][rows])


def values(found: Tuning, name: str = "r") -> list[Any]:
    return [result.parameters[name] for result in found]


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
    alike = tune("pa1", {"C": [7.0, 8.0, 9.0, 1.0]}, source=(right[:, None] * 1.0, right))
    assert values(alike, "C") == [1.0, 7.0, 8.0, 9.0]
    assert alike.parameters == {}
    assert alike.command == "noregret learn FILE --learner pa1"


def test_the_default_is_a_candidate_also_where_the_space_does_not_have_it() -> None:
    assert sorted(values(tune(space={"r": [0.1, 10]}))) == [0.1, 1.0, 10]


def test_several_learners_are_tuned_side_by_side() -> None:
    found = tune(["arow", "pa1", "romma"], candidates=4)
    names = [result.name for result in found]
    assert {name: names.count(name) for name in names} == {"arow": 4, "pa1": 4, "romma": 1}
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
    assert 1.0 in values(found, "C")


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


# ---- successive halving ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("candidates", "factor", "plan"),
    [(1, 3, []), (3, 3, []), (4, 3, [(30, 2)]), (9, 3, [(30, 3)]), (10, 3, [(10, 4), (30, 2)]),
     (27, 3, [(10, 9), (30, 3)]), (8, 2, [(23, 4), (45, 2)]), (2, 1.5, [(60, 2)])],
)  # fmt: skip
def test_the_plan_of_halving_leaves_two_candidates_to_the_end(candidates: int, factor: float, plan: Any) -> None:
    found = plan_halving(candidates, 90, factor)
    assert found == plan
    assert all(keep >= 2 for _, keep in found)


@pytest.mark.parametrize("batch", [1000, 13])
def test_halving_is_what_its_naive_version_finds(batch: int) -> None:
    grid = [1.0, *RS, 0.03, 0.3, 3.0, 30.0]
    runs = {r: nr.make("arow", r=r, native=False) for r in grid}
    losses, alive, start = dict.fromkeys(grid, 0.0), list(grid), 0
    dropped: dict[float, int] = {}
    for stop, keep in [(18, 4), (54, 2), (160, 2)]:  # 160/9 and 160/3, rounded up
        for r in alive:
            losses[r] += math.fsum(runs[r].play(X[start:stop], Y[start:stop]).losses)
        ranked = sorted(alive, key=lambda r: (runs[r].mistakes, round(losses[r], 9)))
        dropped |= dict.fromkeys(ranked[keep:], stop)
        alive, start = ranked[:keep], stop
    found = tune(space={"r": grid}, source=ArraySource(X, Y, batch), method="halving")
    assert {r.parameters["r"]: r.dropped for r in found} == {r: dropped.get(r) for r in grid}
    assert values(found)[:2] == alive
    assert pack(found.best) == pack(runs[alive[0]])
    assert [result.entry.rounds for result in found] == [160] * 2 + [54] * 2 + [18] * 7


def test_halving_counts_rows_whose_number_is_not_known() -> None:
    rounds = [(dict(enumerate(x)), y) for x, y in zip(X.tolist(), Y.tolist(), strict=True)]
    found = tune(source=rounds, method="halving", factor=2)
    assert [result.dropped for result in found if result.dropped is not None] == [80, 80, 40, 40, 40]
    assert "read only once" in refusal(lambda: tune(source=iter(rounds), method="halving"))


# ---- a validation split ---------------------------------------------------------------------------------------------


def errors(learner: nr.RuleLearner, rows: Any) -> int:
    return int(np.count_nonzero(learner.predict(X[rows]) != Y[rows]))


def test_a_split_measures_the_last_rows_after_each_number_of_passes() -> None:
    found = tune(method="split", passes=[3, 1])
    learned = np.arange(128)
    for result in found:
        passes, r = result.parameters["passes"], result.parameters["r"]
        alone = naive(np.tile(learned, passes), r=r)
        assert result.entry.held_out is not None
        assert result.entry.held_out["mistakes"] == errors(alone, slice(128, None))
        assert result.entry.rounds == 128 * passes
    best, settings = found.first.parameters, found.first.candidate.settings
    assert pack(found.best) == pack(naive(np.tile(learned, best["passes"]), **settings))
    assert len(found) == 14


def test_the_best_learner_of_a_split_is_that_of_its_number_of_passes() -> None:
    flipped = Y.copy()
    flipped[128:] = -Y[128:]  # the longer it learns, the worse
    found = tune("perceptron", {"passes": [1, 6]}, source=(X, flipped), method="split")
    alone = nr.make("perceptron", native=False, **found.first.candidate.settings)
    for _ in range(found.first.parameters["passes"]):
        alone.learn(X[:128], flipped[:128])
    assert pack(found.best) == pack(alone)


def test_refit_trains_the_best_on_all_rows() -> None:
    found = tune(method="split", space={"r": [0.1, 1.0], "passes": [2]}, refit=True)
    assert pack(found.best) == pack(naive(np.tile(np.arange(160), 2), **found.first.candidate.settings))
    assert found.refitted
    assert found.best.rounds == 320


@pytest.mark.parametrize("told", [{}, {"validation_seed": 4}, {"validation": 31}, {"shuffle": 7, "passes": 2}])
def test_validation_rows_are_never_learned(told: dict[str, Any]) -> None:
    """Labels that only validation rows have, and values that would be felt by every weight, leave no trace."""
    plain = tune(method="split", **told, candidates=2)
    held_out = find_held_out(told)
    poisoned_X, poisoned_y = X.copy(), Y.copy()
    poisoned_X[held_out] *= 1e150
    poisoned_y[held_out] *= 1 if "validation_seed" in told else 99  # other classes would be other strata
    found = tune(method="split", **told, candidates=2, source=(poisoned_X, poisoned_y))
    assert {result.name: result.entry.rounds for result in found} == {"arow": plain.first.entry.rounds}
    by_r = {result.parameters["r"]: result for result in plain}
    weights = {r: getattr(result.entry.learner, "weights", None) for r, result in by_r.items()}
    for result in found:
        assert result.entry.loss == by_r[result.parameters["r"]].entry.loss
        learner: Any = result.entry.learner
        assert learner.weights == weights[result.parameters["r"]]


def find_held_out(told: dict[str, Any]) -> list[int]:
    if "validation_seed" not in told:
        return list(range(160 - told.get("validation", 32), 160))
    holdout = StratifiedHoldout(0.2, told["validation_seed"], False, True)
    list(holdout.split(ArraySource(X, Y), 0))
    return find_lines(holdout.batches)


def find_lines(batches: Iterable[Batch]) -> list[int]:
    return [int(line) for batch in batches if batch.lines is not None for line in batch.lines]


@pytest.mark.parametrize("share", [0.2, 0.5, 0.37, 0.9])
def test_a_random_split_has_the_share_of_each_class_all_along_the_stream(share: float) -> None:
    y = np.repeat(["a", "b", "c"], [500, 90, 10])
    np.random.default_rng(0).shuffle(y)
    rows = [split_rows(y, share, batch, 3) for batch in (600, 7)]
    assert rows[0] == rows[1] != split_rows(y, share, 600, 4)
    held_out = np.array(rows[0])
    for label, count in (("a", 500), ("b", 90), ("c", 10)):
        assert abs(np.count_nonzero(y[held_out] == label) - share * count) <= 1.0
    assert abs(np.count_nonzero(held_out < 300) - share * 300) <= 4.0


def split_rows(y: Any, share: float, batch: int, seed: int) -> list[int]:
    holdout = StratifiedHoldout(share, seed, False, True)
    kept = find_lines(holdout.split(ArraySource(np.zeros((600, 1)), y, batch), 0))
    held_out = find_lines(holdout.batches)
    assert sorted([*kept, *held_out]) == list(range(600))
    return held_out


# ---- other tasks ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["progressive", "halving", "split"])
@pytest.mark.parametrize(
    ("task", "source", "keys"),
    [
        ("regression", (X, X[:, 0] + 0.1 * X[:, 1]), ("loss", "mae")),
        ("ranking", (X, (X[:, 0] > 0) * 1.0, np.repeat(np.arange(16), 10)), ("-pair_accuracy", "-pair_accuracy")),
        ("multiclass", (X, (X[:, 0] > 0) + (X[:, 1] > 0) * 2), ("mistakes", "mistakes")),
        ("multilabel", (X, [("c", *"a" * int(x[0] > 0), *"b" * int(x[1] > 0)) for x in X]), ("mistakes", "mistakes")),
    ],
)
def test_other_tasks_are_sorted_by_what_they_measure(task: str, source: Any, keys: Any, method: str) -> None:
    found = tune("pa1", source=source, task=task, method=method)
    ended = [result.entry for result in found if result.dropped is None]
    key = keys[method == "split"]
    sign, name = (-1, key[1:]) if key.startswith("-") else (1, key)
    measured = [sign * ((entry.held_out or {}) if method == "split" else entry.report)[name] for entry in ended]
    assert measured == sorted(measured)
    assert len(ended) >= 2
    assert len(str(found).splitlines()) == len(found) + 2


def test_one_class_rows_without_labels_are_compared_by_their_losses() -> None:
    found = tune("pa1", source=(X, [None] * 160), task="one-class")
    keys = [(result.entry.mistakes, result.entry.loss) for result in found]
    assert keys == sorted(keys)
    assert "no labels" in refusal(lambda: tune("pa1", source=(X, [None] * 160), task="one-class", method="split"))


def test_costs_decide_before_mistakes() -> None:
    found = tune("pa1", cost={1: {-1: 50.0}})
    costs = [result.entry.confusion.cost for result in found if result.entry.confusion is not None]
    assert costs == sorted(costs)


def test_rules_of_the_user_are_tuned() -> None:
    found = tune(own.halfway, {"passes": [1, 2]}, method="split")
    assert [result.name for result in found] == ["halfway", "halfway"]


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
        ("arow", {"threads": 0}, "threads must be"),
        ("arow", {"seed": -1}, "seed must be"),
        ("arow", {"holdout": 0.2}, "holdout"),
        ("arow", {"unlabelled": ["?"]}, "rows with labels"),
        ("arow", {"validation": 0.3}, "method='split'"),
        ("arow", {"refit": True}, "method='split'"),
        ("arow", {"factor": 2, "method": "split"}, "method='halving'"),
        ("arow", {"factor": 1, "method": "halving"}, "above 1"),
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
    command = "noregret learn FILE --learner pa1 --limit 5 --bias --classes 0,1"
    assert found.command in (command, f"{command} --set C=0.01")


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


# ---- Optuna ---------------------------------------------------------------------------------------------------------


def test_optuna_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    assert "pip install 'noregret[tune]'" in refusal(lambda: tune(method="optuna"), nr.Error)


def test_optuna_tries_the_default_first_and_is_seeded() -> None:
    pytest.importorskip("optuna")
    first, again = (tune(["arow", "pa1"], method="optuna", candidates=5, seed=2) for _ in range(2))
    assert str(first) == str(again)
    assert len(first) == 10
    assert {(one.name, tuple(one.candidate.settings)) for one in first} >= {("arow", ()), ("pa1", ())}
    for result in first:
        alone = nr.play((X, Y), nr.make(result.name, native=False, **result.candidate.settings))
        assert alone["mistakes"] == result.entry.mistakes
    assert "read only once" in refusal(lambda: tune(source=iter([(X[0], 1)]), method="optuna"))
