"""Regret is the difference to the best fixed weights, and never exceeds the bound of the learner's theorem."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.data.batch import Batch
from noregret.evaluation.encoded_rounds import EncodedRounds
from noregret.evaluation.regret import RegretRun
from noregret.evaluation.regret_report import RegretReport, regret_table
from noregret.streams import open_source
from tests.support.cover import ALL, seeds

ROUNDS, FEATURES = 100, 5
PLAIN: dict[str, Any] = {"native": False}
WITH_BOUNDS: dict[str, dict[str, Any]] = {
    "ogd": {"eta0": 0.2, "schedule": "constant"},
    "ogd falling": {"eta0": 0.5},
    "ogd following": {},
    "ogd ball": {"eta0": 0.5, "onto": "ball", "radius": 1.0},
    "ogd box": {"eta0": 0.5, "onto": "box", "radius": 0.5},
    "ogd orthant": {"eta0": 0.5, "onto": "orthant"},
    "ogd l1": {"eta0": 0.5, "onto": "l1", "radius": 2.0},
    "ogd simplex": {"eta0": 0.5, "onto": "simplex", "radius": 2.0},
    "eg": {"eta": 0.05},
    "eg hinge": {"eta": 0.05, "loss": "hinge"},
    "eg binary": {"eta": 0.05, "loss": "squared", "task": "binary"},
    "mirror_descent entropic": {"eta": 0.1, "link": "entropic", "task": "binary"},
    "mirror_descent p": {"eta": 0.1, "link": "p_norm"},
    "adagrad box": {"onto": "box", "radius": 0.5},
    "rda": {"gamma": 1.0, "lam": 0.01},
    "rda_strongly_convex": {"s": 0.5},
    "fobos": {"eta0": 0.2, "schedule": "constant"},
    "fobos_l2": {"eta0": 0.5, "lam": 0.01},
    "fobos_l2_squared": {},
    "truncated_gradient": {"eta0": 0.2},
    "eg_signed": {"eta": 0.05, "U": 5.0},
    "adagrad": {},
    "ada_rda": {"delta": 10.0},
    "ftrl": {},
    "pegasos": {"lam": 0.05},
    "sgd_bottou": {"eta0": 1.0},
    "mirror_descent": {"eta": 0.1},
    "perceptron": {},
    "pa": {},
    "pa1": {},
    "pa2": {},
    "arow": {"covariance": "full", "r": 1.0},
    "sop": {"covariance": "full"},
    "romma": {},
}
SEPARABLE = ("pa", "romma")
IN_SETS = ("ogd box", "ogd orthant", "ogd l1", "ogd simplex", "eg hinge", "eg binary", "mirror_descent entropic",
           "mirror_descent p", "adagrad box")  # fmt: skip


def draw(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels: separable, noisy, drawn at random, or chosen against what was learned last."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROUNDS, FEATURES))
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True) / 3.0)
    score = X @ rng.normal(size=FEATURES)
    if kind == "separable":
        keep = np.abs(score) > 0.3
        return X[keep], np.sign(score[keep])
    if kind == "noisy":
        return X, np.sign(score + 0.5 * rng.normal(size=ROUNDS))
    return X, rng.choice([-1.0, 1.0], size=ROUNDS)


def cut(source: Any, size: int, **reading: Any) -> Iterator[Batch]:
    """The rounds of a source in small batches."""
    for batch in open_source(source, **reading):
        for start in range(0, batch.rows, size):
            yield batch.cut(start, min(start + size, batch.rows))


def measure(learners: list[Any], source: Any, size: int = 1000, **reading: Any) -> list[RegretReport | str]:
    run = RegretRun(learners)
    for batch in cut(source, size, **reading):
        run.see_rows(batch)
        for tracker in run.trackers:
            tracker.see(tracker.learner.play(batch.X, batch.y))
    return [run.report(number, learner.card.name) for number, learner in enumerate(learners)]


@pytest.mark.parametrize("kind", ["separable", "noisy", "random"])
@seeds(5)
@pytest.mark.thinned(3)
def test_what_was_measured_never_exceeds_its_bound(kind: str, seed: int) -> None:
    names = [name for name in WITH_BOUNDS if kind == "separable" or name not in SEPARABLE]
    names = [name for name in names if ALL or kind == "noisy" or name not in IN_SETS]
    learners = [nr.make(name.split()[0], **WITH_BOUNDS[name], **PLAIN) for name in names]
    for name, report in zip(names, measure(learners, draw(kind, seed)), strict=True):
        assert isinstance(report, RegretReport)
        assert report.guarantee is not None, (name, report.why_no_bound)
        for point, at in zip(report.points, report.guarantee.points, strict=True):
            assert at.measured <= at.bound * (1.0 + 1e-9) + point.gap, name
            assert point.regret <= (np.inf if point.bound is None else point.bound) + point.gap, name
        assert report.guarantee.points[-1].measured > 0.0, name


SETS: dict[str, tuple[dict[str, Any], str]] = {
    "ogd ball": ({"onto": "ball", "radius": 0.5}, " with |u| <= 0.5"),
    "ogd box": ({"onto": "box", "radius": 0.25}, " with every |u_j| <= 0.25"),
    "ogd orthant": ({"onto": "orthant"}, " without negative weights"),
    "ogd l1": ({"onto": "l1", "radius": 0.5}, " with |u|_1 <= 0.5"),
    "ogd simplex": ({"onto": "simplex", "radius": 2.0}, " without negative weights, that sum to 2"),
    "pegasos": ({"lam": 4.0}, " with |u| <= 0.5"),
    "pegasos unprojected": ({"lam": 4.0, "projection": "no"}, ""),
    "adagrad": ({"onto": "box", "radius": 0.25}, " with every |u_j| <= 0.25"),
    "eg": ({}, " without negative weights, that sum to 1"),
    "eg more": ({"features": 9.0}, " without negative weights, that sum to at most 1"),
    "eg_signed": ({"U": 0.5}, " with |u|_1 <= 0.5"),
    "eg_signed free": ({}, ""),
    "winnow": ({}, " without negative weights"),
    "mirror_descent": ({"link": "entropic"}, " without negative weights, that sum to 1"),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.thinned(6)
def test_the_comparator_is_the_best_of_the_weights_that_the_learner_may_have(name: str) -> None:
    X, y = draw("noisy", 3)
    options, title = SETS[name]
    run = RegretRun([nr.make(name.split()[0], loss="hinge", **options, **PLAIN) if "winnow" not in name
                     else nr.make("winnow", **PLAIN)])  # fmt: skip
    for batch in cut((X, y), 50):
        run.see_rows(batch)
        run.trackers[0].see(run.trackers[0].learner.play(batch.X, batch.y))
    report = run.report(0, name)
    assert isinstance(report, RegretReport)
    assert report.comparator == f"the best fixed weights{title} for the rows as the rule saw them"
    assert report.last.gap <= 1e-4 * max(report.last.comparator_loss, 1.0)
    [[(_, best)]] = [solved[-1:] for solved in run.solved.values()]
    u = best.weights
    if "negative" in title:
        assert u.min() >= 0.0
    if "0.5" in title:
        assert np.linalg.norm(u, 1 if "_1" in title else 2) <= 0.5 * (1.0 + 1e-6)
    if title:  # all weights are better than those of the set
        free = measure([nr.make("pa1", **PLAIN)], (X, y))[0]
        assert isinstance(free, RegretReport)
        assert free.last.comparator_loss < report.last.comparator_loss + report.last.gap


def test_the_threshold_of_winnow_is_part_of_its_comparator() -> None:
    rng = np.random.default_rng(2)
    X = (rng.random((60, 6)) < 0.4).astype(float)
    y = np.where(X[:, 0] + X[:, 3] > 0.0, 1, -1)
    [report] = measure([nr.make("winnow", bias=False, classes=[-1, 1], **PLAIN)], (X, y))
    assert isinstance(report, RegretReport)
    assert report.last.comparator_loss <= 1e-3  # a disjunction: its weights can be the threshold and more
    assert report.last.loss > 1.0


def test_weights_that_share_a_sum_have_a_bound_where_the_number_of_features_is_known() -> None:
    X, y = draw("noisy", 1)
    growing = csr_array(np.tril(X))
    for options, known in (({}, False), ({"features": float(FEATURES)}, True)):
        [report] = measure([nr.make("eg_signed", eta=0.05, U=5.0, **options, **PLAIN)], (growing, y))
        assert isinstance(report, RegretReport)
        assert (report.guarantee is not None) is known
        assert known or "known from the start" in str(report.why_no_bound)


def test_learners_with_weights_of_one_and_of_two_classes_have_their_own_comparators() -> None:
    X, y = draw("noisy", 1)
    for order in ([0, 1], [1, 0]):
        makes = [nr.make("pa1", **PLAIN), nr.make("eg", loss="hinge", **PLAIN)]
        reports = measure([makes[at] for at in order], (X, y))
        eg = reports[order.index(1)]
        assert isinstance(eg, RegretReport)
        alone = measure([nr.make("eg", loss="hinge", **PLAIN)], (X, y))[0]
        assert isinstance(alone, RegretReport)
        assert eg.last.comparator_loss == pytest.approx(alone.last.comparator_loss, rel=1e-3)


def test_labels_chosen_against_the_learner_keep_the_bound_too() -> None:
    learner = nr.make("ogd", eta0=0.3, schedule="constant", **PLAIN)
    X, _ = draw("random", 7)
    labels: list[Any] = []
    for x in X:
        told = learner.predict_one(x.tolist()) if labels else 1
        labels.append(-told)
        learner.learn_one(x.tolist(), -told)
    fresh = nr.make("ogd", eta0=0.3, schedule="constant", **PLAIN)
    [report] = measure([fresh], (X, np.array(labels)))
    assert isinstance(report, RegretReport)
    assert fresh.mistakes >= ROUNDS - 1
    assert report.last.bound is not None
    assert 0.0 < report.last.regret <= report.last.bound


def test_regret_is_the_difference_of_the_sums() -> None:
    X, y = draw("noisy", 1)
    learner = nr.make("pa1", **PLAIN)
    [report] = measure([learner], (X, y))
    assert isinstance(report, RegretReport)
    assert report.rounds == [16, 32, 64, 100]
    losses = nr.make("pa1", **PLAIN).play(X, y).losses
    for point in report.points:
        assert point.loss == pytest.approx(losses[: point.rounds].sum(), rel=1e-12)
        assert point.regret == point.loss - point.comparator_loss
        assert point.average == point.regret / point.rounds
        assert point.gap <= 1e-4 * max(point.comparator_loss, 1.0)
        weights = learner.scores(np.eye(FEATURES))[:, None]  # no weights are better, these neither
        assert np.maximum(0.0, 1.0 - y * (X @ weights)[:, 0])[: point.rounds].sum() >= point.comparator_loss - point.gap


def test_batches_make_no_difference() -> None:
    X, y = draw("noisy", 2)
    whole = measure([nr.make("pa1", **PLAIN)], (X, y))[0]
    parts = measure([nr.make("pa1", **PLAIN)], (X, y), size=7)[0]
    assert isinstance(whole, RegretReport)
    assert whole == parts


@pytest.mark.parametrize(("task", "options"), [
    ("multiclass", {}), ("multiclass", {"competitor": "rest"}), ("multiclass", {"loss": "softmax"}),
    ("regression", {}),
    ("regression", {"scale_target": "no", "loss": "squared", "eta0": 0.01}),
])  # fmt: skip
def test_other_tasks_have_regret_too(task: str, options: dict[str, Any]) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100, 3))
    scores = X @ rng.normal(size=(3, 3)) + 0.3 * rng.normal(size=(100, 3))
    y = np.argmax(scores, axis=1) if task == "multiclass" else scores[:, 0]
    name = "ogd" if options.get("loss") else "pa1"
    [report] = measure([nr.make(name, task=task, **options, **PLAIN)], (X, y), targets=task == "regression")
    assert isinstance(report, RegretReport)
    assert all(point.regret > -point.gap for point in report.points[1:])
    assert report.last.loss > report.last.comparator_loss > 0.0


def test_comparators_see_the_rows_that_the_rule_saw() -> None:
    X, y = draw("noisy", 4)
    learner = nr.scale() | nr.make("pa1", bias=True, **PLAIN)
    run = RegretRun([learner])
    for batch in cut((1000.0 * X + 5.0, y), 50):
        run.see_rows(batch)
        run.trackers[0].see(learner.play(batch.X, batch.y))
    [encoded] = run.encoded.values()
    rows = encoded.rows()
    assert rows.shape == (ROUNDS, FEATURES + 1)
    assert np.abs(rows).max() < 20.0
    by_hand = nr.scale() | nr.make("pa1", bias=True, **PLAIN)
    expected = [by_hand.learn_one(x.tolist(), label).model.transforms[0].arrays["mean"][0] for x, label in
                zip((1000.0 * X + 5.0)[:3], y[:3], strict=True)]  # fmt: skip
    assert expected[0] == 1000.0 * X[0, 0] + 5.0
    report = run.report(0, "pa1")
    assert isinstance(report, RegretReport)
    assert report.last.comparator_loss < report.last.loss


def test_a_run_that_is_too_long_to_keep_leaves_a_fair_sample() -> None:
    X, y = draw("noisy", 5)
    encoded = EncodedRounds(nr.make("pa1", **PLAIN).config, entries=200)
    for batch in cut((X, y), 20):
        encoded.see(batch)
    places = encoded.all_places()
    assert encoded.rounds == ROUNDS
    assert not encoded.complete
    assert 10 < len(places) <= 200 / FEATURES
    assert (np.diff(places) > 0).all()
    assert np.array_equal(encoded.rows(), X[places])
    assert np.array_equal(np.array(encoded.model.labels.order)[encoded.all_truths()], y[places])


def test_a_sample_is_said_to_be_one() -> None:
    X, y = draw("noisy", 6)
    learner = nr.make("pa1", **PLAIN)
    run = RegretRun([learner])
    next(iter(run.encoded.values())).most = 300
    for batch in cut((X, y), 30):
        run.see_rows(batch)
        run.trackers[0].see(learner.play(batch.X, batch.y))
    report = run.report(0, "pa1")
    assert isinstance(report, RegretReport)
    assert "random sample" in report.notes[0]
    assert report.guarantee is None
    whole = measure([nr.make("pa1", **PLAIN)], (X, y))[0]
    assert isinstance(whole, RegretReport)
    assert report.last.comparator_loss == pytest.approx(whole.last.comparator_loss, rel=0.5)


def test_learners_that_cannot_be_compared_say_why() -> None:
    X, y = draw("noisy", 1)
    trained = nr.make("pa1", **PLAIN).learn(X, y)
    several = [
        trained,
        nr.make("pa1", algebra="kernel", kernel="rbf", **PLAIN),
        nr.make("pa1", task="one-class", **PLAIN),
    ]
    reasons = [RegretRun([learner]).report(0, "x") for learner in several]
    assert [isinstance(reason, str) for reason in reasons] == [True] * 3
    assert "learned before" in str(reasons[0])
    assert RegretRun([nr.make("pa1", **PLAIN)]).report(0, "pa1") == "no round was played"
    assert measure([nr.make("perceptron", competitor="predicted", **PLAIN)], (X, y + 2 * (X[:, 0] > 1)))[0] == (
        "the loss against the predicted class is not convex, so no best comparator is computed"
    )


def test_theorems_about_two_classes_bound_nothing_of_three() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    learners = [nr.make("eg_signed", eta=0.1, U=2.0, task="multiclass", **PLAIN),
                nr.make("pegasos", lam=0.1, task="multiclass", **PLAIN)]  # fmt: skip
    for report in measure(learners, (X, np.argmax(X, axis=1))):
        assert isinstance(report, RegretReport)
        assert report.guarantee is None
        assert report.why_no_bound == "its theorem is about two classes"


def test_rounds_of_different_weights_have_regret_but_no_bound() -> None:
    X, y = draw("noisy", 1)
    learner = nr.make("pa1", **PLAIN)
    run = RegretRun([learner])
    for batch in cut((X, y), 50):
        weighted = batch._replace(weight=np.linspace(0.5, 2.0, batch.rows))
        run.see_rows(weighted)
        run.trackers[0].see(learner.play(batch.X, batch.y, weighted.weight))
    report = run.report(0, "pa1")
    assert isinstance(report, RegretReport)
    assert report.guarantee is None
    assert report.why_no_bound == "the theorems are about rounds that weigh the same"


def test_a_race_shows_regret_and_bound() -> None:
    X, y = draw("noisy", 1)
    board = nr.race((csr_array(X), y), ["pa1", "ogd"], regret=True, threads=1, **PLAIN)
    assert {"regret", "bound"} <= set(board.table()[0])
    entry = board["ogd"]
    assert isinstance(entry.regret, RegretReport)
    assert f"{entry.regret.last.regret:.1f}" in str(board)
    assert "per round" in regret_table(entry.regret)
    assert nr.race((X, y), ["pa1"], **PLAIN).best.regret is None


def test_a_race_knows_the_best_sequence_of_its_learners() -> None:
    X, y = draw("noisy", 1)
    both = ["pa1", "perceptron"]
    board = nr.race((X, y), both, regret=True, threads=1, **PLAIN)
    made = np.array([nr.make(name, **PLAIN).play(X, y).mistakes for name in both])
    single, one_switch = board.sequences[:2]
    assert single == (made.sum(axis=1).min(), [(0, board.best.name)])
    ahead = np.cumsum(made, axis=1)
    left = made.sum(axis=1, keepdims=True) - ahead
    assert one_switch[0] == min(single[0], (ahead[0] + left[1]).min(), (ahead[1] + left[0]).min())
