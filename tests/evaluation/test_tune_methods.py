"""Methods of tuning: each finds what its naive version finds, and validation rows are never learned."""

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.data.batch import Batch
from noregret.evaluation.leaderboard import Entry
from noregret.evaluation.tuning.candidates import Candidate
from noregret.evaluation.tuning.optuna_trials import to_number
from noregret.evaluation.tuning.result import Result
from noregret.evaluation.tuning.runs import plan_halving, recent_key
from noregret.evaluation.tuning.split import StratifiedHoldout
from noregret.learner.model_file import pack
from noregret.learner.variants import Variant
from noregret.metrics.basic import CurvePoint
from noregret.streams.sources import ArraySource
from tests.support import load_own_rules, refusal
from tests.support.tuning import RS, X, Y, naive, tune, values

own = load_own_rules()

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
    done: dict[float, list[tuple[bool, float]]] = {r: [] for r in grid}
    alive, start = list(grid), 0
    dropped: dict[float, int] = {}
    # 160/9 and 160/3, rounded up; compared by the rounds after the last point of the curve in the first half
    for stop, keep, since in [(18, 4, 8), (54, 2, 27), (160, 2, 0)]:
        for r in alive:
            played = runs[r].play(X[start:stop], Y[start:stop])
            done[r] += zip(played.mistakes.tolist(), played.losses.tolist(), strict=True)
        sums = {r: [math.fsum(column) for column in zip(*done[r][since:], strict=True)] for r in alive}
        ranked = sorted(alive, key=lambda r: (sums[r][0], round(sums[r][1], 9)))
        dropped |= dict.fromkeys(ranked[keep:], stop)
        alive, start = ranked[:keep], stop
    found = tune(space={"r": grid}, source=ArraySource(X, Y, batch), method="halving")
    assert {r.parameters["r"]: r.dropped for r in found} == {r: dropped.get(r) for r in grid}
    assert values(found)[:2] == alive
    assert pack(found.best) == pack(runs[alive[0]])
    assert [result.entry.rounds for result in found] == [160] * 2 + [54] * 2 + [18] * 7


def test_halving_keeps_what_learns_slowly_and_gets_good() -> None:
    slow, quick = (
        Result(Candidate(Variant(nr.make("pa1").card), {}, {}, lambda card, settings: nr.make("pa1")), entry)
        for entry in (entry_with([(8, 6), (16, 7)]), entry_with([(8, 3), (16, 6)]))
    )
    assert quick.sort_key < slow.sort_key
    assert recent_key(slow) < recent_key(quick)
    metric = replace(slow, metric="rate"), replace(quick, metric="rate")
    assert recent_key(metric[0]) < recent_key(metric[1])


def entry_with(points: list[tuple[int, int]]) -> Entry:
    curve = tuple(CurvePoint(rounds, mistakes, float(mistakes), 0) for rounds, mistakes in points)
    rounds, mistakes = points[-1]
    report = {"rounds": rounds, "mistakes": mistakes, "loss": float(mistakes), "rate": mistakes / rounds}
    return Entry("pa1", nr.make("pa1"), report, curve=curve)


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
    assert "--passes 2" in found.command


def test_a_split_is_made_before_rows_are_shuffled_anew_in_each_pass() -> None:
    orders = [nr.open_source((X[:128], Y[:128]), shuffle=7, passes=passes) for passes in (1, 2)]
    for passes, source in zip((1, 2), orders, strict=True):
        alone = nr.make("arow", native=False)
        nr.play(source, alone)
        found = tune(space={"r": [1.0]}, method="split", shuffle=7, passes=passes)
        assert pack(found.best) == pack(alone)
        assert f"--shuffle 7{' --passes 2' if passes == 2 else ''}" in found.command


def test_a_candidate_that_overflows_in_a_later_pass_keeps_its_results_of_fewer_passes() -> None:
    """Each round multiplies the error: it is finite after one pass, and infinite after some more."""
    alike = np.ones((60, 1))
    found = tune("adaline", {"rho": [400.0], "passes": [1, 9]}, source=(alike, alike[:, 0]), task="regression",
                 method="split", scale_target="no", bias=False)  # fmt: skip
    ended = {(result.parameters["rho"], result.passes): result.entry.stopped is None for result in found}
    assert ended == {(0.01, 1): True, (0.01, 9): True, (400.0, 1): True, (400.0, 9): False}
    assert found.results[-1].passes == 9


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


def test_a_random_split_keeps_the_rows_of_a_query_together() -> None:
    query, relevance = np.repeat(np.arange(16), 10), (X[:, 0] > 0) * 1.0
    found = tune("pa1", source=(X, relevance, query), task="ranking", method="split", validation_seed=2, candidates=2)
    assert found.first.entry.held_out is not None
    assert found.first.entry.held_out["rows"] % 10 == 0
    assert found.best.rounds + found.first.entry.held_out["rows"] // 10 == 16


@pytest.mark.parametrize("method", ["halving", "split", "optuna"])
def test_a_stream_without_an_end_is_refused_unless_it_is_limited(method: str) -> None:
    assert "has no end" in refusal(lambda: tune(source="hyperplane:rows=0", method=method))
    if method != "optuna":
        found = tune(source="hyperplane:rows=0", method=method, limit=60, candidates=2)
        assert found.first.entry.rounds == (60 if method == "halving" else 48)


def test_what_can_be_read_once_is_refused_before_anything_is_learned() -> None:
    rounds = [(dict(enumerate(x)), y) for x, y in zip(X.tolist(), Y.tolist(), strict=True)]
    assert len(tune(source=iter(rounds), method="split")) == 7
    assert "read only once" in refusal(lambda: tune(source=iter(rounds), method="split", refit=True))
    assert "read only once" in refusal(lambda: tune(source=iter(rounds), method="split", passes=2))


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


def test_bandits_and_adapters_are_tuned() -> None:
    found = tune("banditron", task="bandit", classes=[-1, 1])
    assert len({result.parameters["gamma"] for result in found}) == len(found) > 5
    found = nr.tune(([{"a": 1.0}, {"b": 1.0}] * 20, [1, -1] * 20), "self_training", candidates=3, learner="perceptron")
    assert {"confidence", "weight"} <= set(found.first.parameters)


def test_costs_decide_before_mistakes() -> None:
    found = tune("pa1", cost={1: {-1: 50.0}})
    costs = [result.entry.confusion.cost for result in found if result.entry.confusion is not None]
    assert costs == sorted(costs)


def test_rules_of_the_user_are_tuned() -> None:
    found = tune(own.halfway, {"passes": [1, 2]}, method="split")
    assert [result.name for result in found] == ["halfway", "halfway"]


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


def test_optuna_plays_a_point_once_and_goes_on_after_one_that_fails() -> None:
    pytest.importorskip("optuna")
    found = tune("perceptron", {"eta": [1e308, 0.5]}, source=(1000.0 * X, Y), method="optuna", candidates=12)
    assert {result.parameters["eta"] for result in found if result.entry.stopped is None} == {1.0, 0.5}
    assert len(found) == 3
    broken = X.copy()
    broken[70, 2] = np.nan
    assert "row 70" in refusal(lambda: tune(source=(broken, Y), method="optuna"))


def test_optuna_learns_from_trials_also_where_only_losses_differ() -> None:
    pytest.importorskip("optuna")
    found = tune("ogd", source=(X, X[:, 0]), task="regression", method="optuna", candidates=25)
    grid = tune("ogd", source=(X, X[:, 0]), task="regression")
    assert found.first.entry.loss < grid.first.entry.loss
    assert values(found, "eta0").count(0.1) == 1  # the default


@pytest.mark.parametrize("told", [{}, {"task": "regression", "source": (X, X[:, 0])}, {"cost": {1: {-1: 5.0}}}])
def test_the_number_that_optuna_minimizes_sorts_as_results_are_sorted(told: dict[str, Any]) -> None:
    results = tune("pa1", candidates=20, **told).results
    numbers = [to_number(result) for result in results]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) == len({result.sort_key for result in results}) > 3


# ---- other metrics ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("metric", "method", "sign"), [
    ("loss", "progressive", 1.0), ("mean_loss", "halving", 1.0), ("balanced_accuracy", "progressive", -1.0),
    ("log_loss", "split", 1.0), ("auc", "split", -1.0), ("brier", "split", 1.0), ("rate", "split", 1.0),
])  # fmt: skip
def test_candidates_are_sorted_by_the_metric_that_is_asked_for(metric: str, method: str, sign: float) -> None:
    found = tune(method=method, metric=metric)
    whole = [result for result in found if result.dropped is None]
    got = [sign * (result.entry.held_out or result.entry.report)[metric] for result in whole]
    assert got == sorted(got)
    assert len(got) > 1
    assert metric in found.table()[0] or metric in found.first.entry.task.columns
    assert found.report()["metric"] == metric
    assert found.best is found.first.entry.learner


@pytest.mark.parametrize(("metric", "method", "words"), [
    ("log_los", "progressive", "did you mean 'log_loss'"), (3, "split", "metric must be one of"),
    ("log_loss", "progressive", "method='split'"), ("ndcg", "halving", "is not measured for arow"),
    ("mae", "split", "is not measured for arow"), ("loss", "split", "use one of mistakes"),
])  # fmt: skip
def test_a_metric_that_is_not_measured_is_refused(metric: Any, method: str, words: str) -> None:
    assert words in refusal(lambda: tune(method=method, metric=metric))
