"""Labels that are told only when they are asked for: on rounds whose prediction is not sure."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from noregret.algebra.partial_features import PRIME
from noregret.learner.model_file import pack
from noregret.tasks.label_queries import asked, lead
from tests import naive
from tests.conformance.plays import near, rows_of, stream
from tests.naive.tasks.bandit import Draws, asking

TASK_TABLE = ["binary", "multiclass"]
NAMES = ["perceptron", "pa1", "pa2", "arow", "scw1", "ogd", "adagrad"]
SEVERAL = ["perceptron", "arow", "perceptron_averaged", "pegasos", "truncated_gradient", "ofs_partial"]
every_task = pytest.mark.parametrize("task", TASK_TABLE)


def learner(name: str, task: str, **told: Any) -> nr.RuleLearner:
    classes = [-1, 1] if task == "binary" else range(4)
    given = {"labels": "asked", "ask": 0.5, "native": False, "seed": 3, **told}
    return nr.make(name, task=task, classes=classes, **{key: value for key, value in given.items() if value != ()})


def plain(name: str, task: str, **told: Any) -> nr.RuleLearner:
    return learner(name, task, labels=(), ask=(), **told)


def twin(name: str, task: str) -> Any:
    card = nr.learners()[name]
    told = {key: param.default for key, param in card.params.items()}
    return naive.binary(name, **told) if task == "binary" else naive.multiclass(name, 4, fixed=True, **told)


@every_task
@pytest.mark.parametrize("name", NAMES)
def test_asks_and_learns_as_its_twin(name: str, task: str) -> None:
    X, y = stream(task, dense=True, rounds=80)
    scores, asked = asking(twin(name, task), 0.5, 3, X, y)
    found = learner(name, task)
    transcript = found.play(X, y)
    near(transcript.scores, scores)
    assert found.asked == np.count_nonzero(asked)
    assert 0 < found.asked < len(y)
    assert not transcript.updated[~asked].any()
    predicted = np.where(scores >= 0.0, 1, -1) if task == "binary" else scores.argmax(axis=1)
    assert transcript.mistakes.tolist() == (predicted != y).tolist()
    assert found.mistakes == np.count_nonzero(predicted != y)


@pytest.mark.parametrize(
    ("name", "task", "more"),
    [
        *((name, task, {"eta": 0.01} if name == "ofs_partial" else {}) for name in SEVERAL for task in TASK_TABLE),
        ("pa1", "multiclass", {"competitor": "rest"}),
        ("perceptron_ultraconservative", "multiclass", {}),
    ],
)
def test_what_is_not_asked_for_leaves_no_trace(name: str, task: str, more: Any) -> None:
    """The state is that of a learner that only ever saw the rows whose label was asked for."""
    X, y = stream(task, dense=False, rounds=60)
    found, told = learner(name, task, **more), plain(name, task, **more)
    rows = np.zeros(len(y), bool)
    for t in range(len(y)):
        before = found.asked
        found.learn(X[t : t + 1], y[t : t + 1])
        rows[t] = found.asked > before
    told.learn(X[rows], y[rows])
    assert 0 < rows.sum() < len(y)
    assert found.scores(X).tobytes() == told.scores(X).tobytes()
    assert found.model.arrays.n.t == told.model.arrays.n.t


@pytest.mark.compiles
@every_task
@pytest.mark.parametrize("native", [False, True], ids=["plain", "compiled"])
def test_with_a_boundless_ask_it_is_the_plain_task_bit_for_bit(task: str, native: bool) -> None:
    X, y = stream(task, dense=False)
    for rows in (sp.csr_array(X), X)[: 1 if native else 2]:
        found, told = learner("pa1", task, ask=1e300, native=native), plain("pa1", task, native=native)
        a, b = found.play(rows, y), told.play(rows, y)
        assert a.scores.tobytes() == b.scores.tobytes()
        assert (found.asked, found.mistakes, found.updates) == (len(y), told.mistakes, told.updates)
        assert found.scores(X).tobytes() == told.scores(X).tobytes()


@every_task
@pytest.mark.parametrize("native", [False, True], ids=["plain", "compiled"])
def test_chunks_saving_and_copying_leave_no_trace(task: str, native: bool, tmp_path: Path) -> None:
    X, y = stream(task, dense=False)
    rows = rows_of(X)
    whole = learner("pa1", task, native=native).learn(rows, y)
    one_by_one = learner("pa1", task, native=native)
    for x, label in zip(rows, y, strict=True):
        one_by_one.learn_one(x, label)
        assert one_by_one._loops.fast_path is None
    by_seven = learner("pa1", task, native=native)
    for start in range(0, len(y), 7):
        by_seven.learn(rows[start : start + 7], y[start : start + 7])
        by_seven.save(tmp_path / "model.nr")
        by_seven = nr.load(tmp_path / "model.nr").copy()
    assert pack(whole) == pack(one_by_one) == pack(by_seven)
    assert by_seven.asked == whole.asked


@every_task
def test_a_refused_call_is_undone_with_its_random_numbers(task: str) -> None:
    X, y = stream(task, dense=True)
    found = learner("perceptron", task).learn(X, y)
    before = pack(found)
    with pytest.raises(nr.BadValue, match="not one of the classes"):
        found.learn(X[:3], [y[0], y[1], 77])
    with pytest.raises(nr.BadValue, match="no longer finite"):
        found.learn(np.full((30, X.shape[1]), 1e308), np.tile(y[:2], 15))
    assert pack(found) == before


def test_a_round_without_weight_asks_nothing() -> None:
    X, y = stream("binary", dense=True)
    found = learner("pa1", "binary")
    found.learn(X, y, weight=np.where(np.arange(len(y)) % 2, 1.0, 0.0))
    told = learner("pa1", "binary").learn(X[1::2], y[1::2])
    assert (found.asked, found.model.arrays.n.asking_random) == (told.asked, told.model.arrays.n.asking_random)


def test_a_label_is_asked_for_as_often_as_it_should() -> None:
    """Rows of one feature whose score stays as it is: the perceptron is right about them."""
    found = nr.make("perceptron", labels="asked", ask=0.5, classes=[-1, 1], seed=1)
    found.learn([[1.0]], [1])
    assert found.asked == 1  # at a score of zero the label is always asked for
    for size, chance in ((0.5, 0.5), (2.0, 0.2), (4.5, 0.1)):
        before = found.asked
        found.learn(np.full((4000, 1), size), np.ones(4000, int))
        share = (found.asked - before) / 4000
        assert abs(share - chance) <= 4.0 * np.sqrt(chance * (1.0 - chance) / 4000)


def test_many_classes_ask_by_the_lead_of_the_first_over_the_second() -> None:
    draws, found = Draws(3), learner("perceptron", "multiclass", ask=1.0)
    found.learn(np.eye(4), [0, 1, 2, 3])
    asked = found.asked
    for _ in range(4):
        draws.next()
    x = np.array([[1.0, 2.0, 4.0, 3.0]])
    first, second = np.sort(found.scores(x)[0])[::-1][:2]
    for _ in range(200):
        expected = draws.next() < 1.0 / (1.0 + first - second)
        found.learn(x, [int(np.argmax(found.scores(x)))])
        assert found.asked - asked == expected
        asked = found.asked


@pytest.mark.thinned(3)
@pytest.mark.parametrize("b", [0.05, 0.5, 5.0])
def test_the_perceptron_that_asks_keeps_its_bound_in_the_mean(b: float) -> None:
    """Cesa-Bianchi, Gentile and Zaniboni 2006: E M <= (1 + R^2/2b) L/gamma + |u|^2 (2b + R^2)^2 / (8 b gamma^2)."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(1500, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    u = np.array([0.6, 0.0, 0.8])
    X = X[np.abs(X @ u) >= 0.2]
    y = np.sign(X @ u)
    y[rng.random(len(y)) < 0.01] *= -1.0
    mistakes, asked = [], []
    for seed in range(20):
        found = nr.make("perceptron", labels="asked", ask=b, classes=[-1, 1], seed=seed).learn(X, y)
        mistakes.append(found.mistakes)
        asked.append(found.asked)

    def bound(gamma: float) -> float:
        loss = float(np.maximum(0.0, gamma - y * (X @ u)).sum())
        return (1.0 + 1.0 / (2.0 * b)) * loss / gamma + (2.0 * b + 1.0) ** 2 / (8.0 * b * gamma**2)

    assert np.mean(mistakes) <= min(bound(gamma) for gamma in (0.1, 0.2, 0.3, 0.5))
    assert np.mean(mistakes) < 0.2 * len(y)
    assert np.mean(asked) < {0.05: 0.2, 0.5: 0.6, 5.0: 1.0}[b] * len(y)


def test_what_makes_no_sense_is_refused() -> None:
    for told, complaint in (
        ({"labels": "asked"}, "needs classes"),
        ({"labels": "some", "classes": [0, 1]}, "labels must be one of all, asked"),
        ({"labels": "asked", "ask": 0.0, "classes": [0, 1]}, "ask must be above 0"),
        ({"ask": 2.0}, "say labels"),
        ({"labels": "asked", "task": "regression"}, "no parameter 'labels'"),
    ):
        with pytest.raises(nr.BadValue, match=complaint):
            nr.make("pa1", **told)
    assert nr.make("pa1").task == "binary"
    assert nr.make("pa1", labels="asked", classes=["a", "b", "c"]).task == "multiclass"
    assert "labels" not in nr.make("pa1").params
    assert nr.make("pa1", labels="asked", classes=[0, 1]).params["ask"] == 1.0


@every_task
def test_a_race_shows_the_labels_asked_for_and_the_mistakes_of_who_is_told_all(task: str) -> None:
    X, y = stream(task, dense=True, rounds=200)
    race = nr.race((X, y), [learner("perceptron", task), plain("pa1", task)], threads=1)
    assert race["perceptron"].full_information == plain("perceptron", task).learn(X, y).mistakes
    assert race["perceptron"].asked == learner("perceptron", task).learn(X, y).asked
    assert (race["pa1"].asked, race["pa1"].full_information) == (None, None)
    assert "labels asked" in str(race)
    assert nr.make("pa1").learn(X, y).asked == len(y)


def test_who_leads_by_how_much() -> None:
    for scores, expected in (([2.0], 0.0), ([1.0, 4.0], 3.0), ([4.0, 1.0], 3.0), ([1.0, 4.0, 2.0, 3.5], 0.5)):
        assert lead(np.array(scores)) == expected
    for scores in ([1.0, 1.0], [2.0, 1.0, 2.0], [1.0, 3.0, 2.0, 3.0]):
        assert lead(np.array(scores)) == 0.0


def test_a_label_is_not_asked_for_at_the_very_chance() -> None:
    n = SimpleNamespace(asking_random=1.0, asked=0.0)
    state, task = SimpleNamespace(n=n), SimpleNamespace(ask=16807.0)
    assert not asked(task, state, PRIME - 16807.0)
    n.asking_random = 1.0
    assert asked(task, state, PRIME - 16808.0)
    assert n.asked == 1.0
