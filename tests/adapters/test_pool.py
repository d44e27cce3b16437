"""`auto`: its votes, its weights, its guarantee, and what becomes of entries that fail or sleep."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.adapters.pool_entries import POOLS
from noregret.adapters.pool_probabilities import FIRST
from noregret.adapters.pool_rounds import PoolRounds
from noregret.adapters.pool_sleep import BLOCK, cut_blocks
from noregret.learner.model_file import pack
from noregret.learner.variants import write
from noregret.rules.parameters import Param
from tests.adapters.pools import FEW, encode_as, few, fresh, noisy
from tests.naive.pool import play_pool
from tests.support import by_name, small_stream

# ---- the same as its definition --------------------------------------------------------------------------------------


def test_votes_and_weights_are_those_of_the_definition() -> None:
    X, y = noisy(300)
    expected = play_pool([fresh(part) for part in FEW], list(X), y.tolist())
    learner = few()
    played = learner.play(X, y)
    assert played.predictions[1:].tolist() == expected["votes"][1:]
    np.testing.assert_allclose(played.losses[1:], expected["suffered"][1:], rtol=1e-12, atol=1e-12)
    first = expected["suffered"][0] - played.losses[0]  # before any label there is nothing to predict: no mistake
    assert (learner.mixture.cumulative_losses + first).tolist() == expected["losses"]


def test_every_entry_is_the_learner_that_plays_alone() -> None:
    """Names, scaling and the constant are prepared once for all, and change no bit of what an entry learns."""
    X, y = small_stream(rows=80, seed=3)
    rows = [by_name(row) for row in X]
    options = {"scale": True, "bias": True}
    learner = few(**options)
    transcript = learner.play(rows, y)
    losses = learner.mixture.cumulative_losses
    for number, part in enumerate(FEW):
        alone = fresh(part, **options).learn(rows, y)
        entry = learner.entries[number]
        assert entry.learner.mistakes == alone.mistakes == losses[number]
        seen = encode_as(learner, rows) if entry.sees == "encoded" else rows
        assert entry.learner.scores(seen).tolist() == alone.scores(rows).tolist()
    assert transcript.rounds == 80


@pytest.mark.parametrize("task", ["multiclass", "regression", "multilabel", "ranking"])
def test_other_tasks_in_chunks_and_whole(task: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 4))
    query = None
    y: Any = (X[:, 0] + 0.1 * rng.normal(size=60)).round(3)
    if task == "multiclass":
        y = np.argmax(X[:, :3], axis=1)
    if task == "multilabel":
        y = [[k for k in range(3) if row[k] > 0] or [3] for row in X]
    if task == "ranking":
        y, query = np.round(X[:, 0]), np.repeat(np.arange(12), 5)
    pool = ["pa1", ("pa1", {"C": 0.1}), "arow"]
    whole, parts = few(pool, task=task), few(pool, task=task)
    expected = whole.play(X, y, query=query)
    found = []
    for start in range(0, 60, 10):
        part = slice(start, start + 10)
        found.append(parts.play(X[part], y[part], query=None if query is None else query[part]))
    assert np.concatenate([one.losses for one in found]).tolist() == expected.losses.tolist()
    assert [p for one in found for p in one.predictions.tolist()] == expected.predictions.tolist()
    assert parts.shares == whole.shares
    assert parts.mistakes == whole.mistakes
    assert ((expected.losses >= 0.0) & (expected.losses <= 1.0)).all()
    assert len(whole.predict(X)) == 60


def test_loss_of_regression_is_the_squared_share_of_four_deviations() -> None:
    X = np.ones((5, 1))
    y = np.array([1.0, 3.0, -2.0, 8.0, 8.0])
    learner = few(["pa1"], task="regression")
    played = learner.play(X, y)
    errors = np.abs(played.predictions - y)
    for t in range(5):
        width = 4.0 * y[: t + 1].std()
        expected = min(1.0, errors[t] / width) ** 2 if width > 0 else float(errors[t] > 0)
        assert played.losses[t] == pytest.approx(expected, rel=1e-9)


# ---- the guarantee ---------------------------------------------------------------------------------------------------


def adversarial(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Every label is the opposite of what a perceptron says."""
    rng = np.random.default_rng(2)
    X, w, y = rng.normal(size=(rows, 5)), np.zeros(5), np.zeros(rows, int)
    for t in range(rows):
        y[t] = -1 if w @ X[t] >= 0 else 1
        w += y[t] * X[t]
    return X, y


@pytest.mark.parametrize(
    "options", [{}, {"combine": "adahedge"}, {"combine": "squint"}, {"drift": True}, {"prune": True}],
    ids=["hedge", "adahedge", "squint", "drift", "prune"],
)  # fmt: skip
@pytest.mark.parametrize("stream", ["noisy", "adversarial", "random", "changing"])
@pytest.mark.thinned(4)
def test_regret_is_within_its_bound_and_the_vote_within_twice_the_loss(stream: str, options: dict[str, Any]) -> None:
    X, y = adversarial(400) if stream == "adversarial" else noisy(400, noise=0.5 if stream == "random" else 0.1)
    if stream == "changing":
        y[200:] *= -1
    learner = few(**options)
    learner.play(X, y)
    report = learner.report()
    assert report.bound is not None
    assert report.regret <= report.bound + 1e-9
    assert report.mistakes <= 2.0 * report.loss + 1e-9
    assert sum(entry.share for entry in report.entries) == pytest.approx(1.0)
    assert report.best in learner.params["pool"]


def test_a_single_good_entry_soon_has_the_weight() -> None:
    X, y = noisy(600, noise=0.0)
    learner = few(["arow", nr.make("winnow_balanced", native=False)])
    learner.learn(X, y)
    assert next(iter(learner.shares)) == "arow"
    assert next(iter(learner.shares.values())) > 0.9
    assert learner.report().entries[0].name == "arow"


# ---- entries that fail or sleep --------------------------------------------------------------------------------------


def test_an_entry_that_a_row_makes_fail_stops_there_and_the_others_go_on() -> None:
    X, y = noisy(40)
    y[25] = 7
    pool = ["pa1", nr.make("arow", classes=[-1, 1], native=False), "arow"]
    whole, one_by_one = few(pool), few(pool)
    transcript = whole.play(X, y)
    for x, label in zip(X, y.tolist(), strict=True):
        one_by_one.learn_one(x, label)
    name = whole.entries[1].name
    assert list(whole.stopped) == [name]
    assert "the label 7 is not one of the classes" in whole.stopped[name]
    assert whole.entries[1].learner.rounds == 25
    assert one_by_one.shares == whole.shares
    assert one_by_one.mistakes == whole.mistakes
    assert whole.mixture.cumulative_losses[1] >= 15  # it loses every round from there on
    assert transcript.rounds == 40
    assert whole.predict(X[:5]).shape == (5,)
    assert "stopped" in str(whole.report())


def test_a_row_that_no_entry_can_play_leaves_all_of_them_as_they_were() -> None:
    X, y = noisy(30)
    learner = few().learn(X, y)
    before = learner.shares, [entry.learner.rounds for entry in learner.entries]
    bad = X.copy()
    bad[3, 2] = np.nan
    with pytest.raises(nr.Error, match="row 3, feature 2: the value is nan"):
        learner.learn(bad, y)
    assert (learner.shares, [entry.learner.rounds for entry in learner.entries]) == before


def test_an_error_between_entries_undoes_those_that_have_played(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = noisy(30)
    learner = few().learn(X, y)
    before = [entry.learner.rounds for entry in learner.entries], learner.shares, learner.rounds
    last = learner.entries[-1].learner
    monkeypatch.setattr(last._loops.engine, "play", lambda *given: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        learner.learn(X, y)
    assert ([entry.learner.rounds for entry in learner.entries], learner.shares, learner.rounds) == before


def test_entries_of_negligible_weight_sleep_and_wake_whatever_the_chunks() -> None:
    X, y = noisy(3 * BLOCK + 100, columns=2, noise=0.0)
    pool = ["arow", ("pa1", {"C": 0.004}), ("winnow_balanced", {})]
    whole: Any = nr.make("auto", pool=pool, prune=True)
    parts = whole.copy()
    whole.learn(X, y)
    for start in range(0, len(y), 777):
        parts.learn(X[start : start + 777], y[start : start + 777])
    assert parts.sleep == whole.sleep
    assert parts.shares == whole.shares
    assert [one.learner.rounds for one in parts.entries] == [one.learner.rounds for one in whole.entries]
    slept = [entry.learner.rounds < len(y) for entry in whole.entries]
    assert any(slept)
    assert not slept[0]
    assert whole.report().regret <= whole.report().bound


def test_blocks_end_at_the_same_rounds_however_they_are_batched() -> None:
    assert cut_blocks(0, 2 * BLOCK) == [slice(0, BLOCK), slice(BLOCK, 2 * BLOCK)]
    assert cut_blocks(BLOCK - 1, 5) == [slice(0, 1), slice(1, 5)]
    assert cut_blocks(3, 4) == [slice(0, 4)]


# ---- probabilities ---------------------------------------------------------------------------------------------------


def test_log_loss_is_within_ln_n_of_the_best_calibrated_entry() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(1500, 4))
    chance = 1.0 / (1.0 + np.exp(-X @ np.array([1.0, -2.0, 0.5, 0.0])))
    y = (rng.random(1500) < chance).astype(int)
    learner = few()
    learner.learn(X, y)
    total, rounds = learner.odds.total
    assert total <= learner.odds.entries[4].min() + np.log(len(FEW)) + 1e-9
    assert 1400 < rounds <= 1500
    found = learner.predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    positive = found[:, learner.classes.index(1)]
    assert np.abs(positive - chance).mean() < 0.06
    assert learner.predict_proba_one(X[0])[1] == pytest.approx(positive[0])


def test_probabilities_of_classes_that_come_one_after_another() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = np.array(["a"] * 10 + ["b"] * 10 + ["c"] * 10 + [["a", "b", "c"][int(np.argmax(x))] for x in X[30:]])
    whole, parts = few(), few()
    whole.learn(X, y)
    for start in range(0, 90, 7):
        parts.learn(X[start : start + 7], y[start : start + 7])
    assert whole.predict_proba(X).tolist() == parts.predict_proba(X).tolist()
    assert whole.predict_proba(X).shape == (90, 3)
    assert few(task="regression", pool=["pa1"]).has_probabilities is False


def test_a_class_that_comes_in_a_round_which_is_not_used_has_a_probability() -> None:
    X, y = noisy(FIRST + 3, columns=2)
    learner: Any = nr.make("auto", pool=["pa1", "arow"])
    learner.learn(X[:FIRST], y[:FIRST]).learn_one(X[FIRST], int(y[FIRST]))
    learner.learn_one(X[FIRST + 1], 7)
    batch: Any = nr.make("auto", pool=["pa1", "arow"])
    batch.learn(X[: FIRST + 2], [*y[: FIRST + 1].tolist(), 7])
    assert learner.predict_proba(X[:4]).shape == (4, 3)
    assert learner.predict_proba(X[:4]).tolist() == batch.predict_proba(X[:4]).tolist()
    assert pack(learner) == pack(batch)


@pytest.mark.parametrize("native", [True, False])
def test_probabilities_stay_finite_when_scores_are_huge(native: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2)) * 1e-160
    y = np.sign(X[:, 0]).astype(int)
    X[40:] *= 1e300
    X[45:] *= 1e60
    learner: Any = nr.make("auto", pool=["pa1(C=1)", "perceptron"], native=native).learn(X, y)
    assert np.isfinite(learner.odds.entries).all()
    assert np.isfinite(learner.predict_proba(X)).all()
    learner.save(tmp_path / "model.nr")
    assert np.isfinite(nr.load(tmp_path / "model.nr").predict_proba(X)).all()


# ---- what it is made of ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", [task for task in POOLS if task is not None])
def test_the_usual_pool_of_every_task_can_be_made_and_its_values_are_searched(task: str) -> None:
    learner: Any = nr.make("auto", task=task)
    names = [entry.name for entry in learner.entries]
    assert 20 <= len(names) == len(set(names)) <= 26
    for name, settings in POOLS[task]:
        card = nr.learners()[name]
        assert write(card, settings, task or "binary") in names
        assert card.merge.law != "none", f"{name} cannot be merged, so that pools could not"
        for parameter, value in settings.items():
            declared = card.params[parameter]
            if isinstance(declared, Param):
                lowest, highest, _ = declared.search or (declared.grid[0], declared.grid[-1], "")
                assert lowest <= value <= highest


@pytest.mark.parametrize(
    ("pool", "message"),
    [
        ([], "the pool is empty"),
        (5, "must be a list"),
        ("arow,arow", "two entries of the pool are called 'arow'"),
        (["arow", "arow"], "two entries of the pool are called 'arow'"),
        (["arow", "nothing"], "there is no learner 'nothing'"),
        ([("arow", 3)], "a name with its parameters"),
        ([nr.make("arow"), nr.make("pa1", task="regression")], "must play one task"),
        ([("arow", {"r": -1.0})], "r must be above 0"),
        ([nr.delayed("arow")], "at least one rule learner"),
    ],
)
def test_pools_that_cannot_be_say_why(pool: Any, message: str) -> None:
    with pytest.raises(nr.Error, match=message):
        nr.make("auto", pool=pool)


def test_options_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(nr.Error, match="drift asks for fixed_share"):
        nr.make("auto", drift=True, combine="squint")
    with pytest.raises(nr.Error, match="cannot prune in ranking"):
        nr.make("auto", task="ranking", prune=True)
    with pytest.raises(nr.Error, match="threads must be a whole number"):
        nr.make("auto", threads=0)
    with pytest.raises(nr.Error, match="no parameter 'prun'"):
        nr.make("auto", prun=True)


def test_entries_may_be_rules_of_a_user_and_learners_of_any_kind(tmp_path: Path) -> None:
    X, y = noisy(60)
    pool = [nr.scale() | nr.make("arow", native=False), nr.make("perceptron", algebra="kernel", native=False), "pa2"]
    learner = few(pool)
    learner.learn(X, y)
    assert [entry.sees for entry in learner.entries] == ["given", "given", "encodes"]
    learner.save(tmp_path / "pool.nr")
    again = nr.load(tmp_path / "pool.nr")
    assert again.predict(X).tolist() == learner.predict(X).tolist()
    assert again.shares == learner.shares
    assert learner["pa2"].rounds == 60
    with pytest.raises(nr.Error, match="no entry 'pa3'"):
        learner["pa3"]


def test_weights_of_rounds_stop_entries_that_cannot_weigh_them() -> None:
    X, y = noisy(50)
    learner = few(["pa1", "arow", "nherd"])
    learner.learn(X, y, weight=np.linspace(0.5, 2.0, 50))
    assert list(learner.stopped) == ["nherd"]
    assert "cannot weigh rounds" in learner.stopped["nherd"]


def test_usual_learners_that_cannot_weigh_classes_are_left_out() -> None:
    learner: Any = nr.make("auto", class_weight="balanced", native=False)
    names = {entry.learner.card.name for entry in learner.entries}
    assert names == {"pa1", "pa2", "arow", "adagrad", "ogd"}
    with pytest.raises(nr.Error, match="scw1 cannot weigh rounds"):
        few(["pa1", "scw1"], class_weight="balanced")
    with pytest.raises(nr.Error, match="bits must be"):
        nr.make("auto", bits=-3)
    assert [entry.name for entry in nr.make("auto", pool="arow, pa1").entries] == ["arow", "pa1"]  # type: ignore[attr-defined]


def test_one_weight_for_all_rows_of_a_call_that_is_cut_into_blocks() -> None:
    X, y = noisy(20)
    learner = few(["pa1", "arow"], prune=True).learn(X, y, weight=2.0).learn_one(X[0], int(y[0]), weight=0.5)
    assert learner.rounds == 21
    assert not learner.stopped


def test_a_row_of_a_list_belongs_to_the_round_of_its_list() -> None:
    rows = np.zeros((6, 1))
    lists = PoolRounds(few(["pa1"], task="ranking"), rows, (None, None, [4, 4, 9, 9, 9, 4]))
    assert [lists.find_round(row) for row in range(6)] == [0, 0, 2, 2, 2, 5]
    assert PoolRounds(few(["pa1"]), rows, (None, None, None)).find_round(3) == 3


def test_explanations_say_which_entries_vote_for_the_label() -> None:
    X, y = noisy(100)
    learner = few().learn(X, y)
    found = learner.explain_one(X[0])
    label = learner.predict_one(X[0])
    assert set(found) <= set(learner.params["pool"])
    assert sum(found.values()) >= 0.0
    for entry in learner.entries:
        said = entry.learner.predict_one(X[0])
        assert (found[entry.name] > 0.0) == (said == label)
