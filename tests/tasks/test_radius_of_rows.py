"""The task of one class without a radius: it is learned from the rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from noregret.learner.model_file import pack
from tests.conformance.plays import near, unusual
from tests.naive.tasks.one_class import FollowsRows
from tests.tasks.test_one_class import ALGEBRAS, UNUSED, every_player, player, stream


def follower(name: str, **told: Any) -> nr.RuleLearner:
    return nr.make(name, **{"task": "one-class", "native": False, **told})


def radius_among_rows(learner: nr.RuleLearner) -> float:
    n = learner.model.arrays.n
    return float(np.sqrt(max(n.reach**2 - n.w_height**2, 0.0)))


@every_player
@pytest.mark.parametrize("algebra", ALGEBRAS)
def test_without_a_radius_it_plays_as_its_twin(name: str, algebra: str) -> None:
    X, y = stream()
    for numbers, labels in (({}, None), (unusual(nr.learners().rules[name]), y)):
        own = {key: value for key, value in numbers.items() if key not in UNUSED}
        twin = FollowsRows(name, **own)
        told = {"kernel": "linear"} if algebra == "kernel" else {}
        learner = follower(name, algebra=algebra, **told, **own)
        transcript = learner.play(sp.csr_array(X) if algebra == "sparse" else X, labels)
        scores, moved = twin.run(X, labels)
        near(transcript.scores, scores)
        assert transcript.updated.tolist() == moved.tolist()
        near(learner.scores(X), twin.final(X))


@pytest.mark.parametrize(("scale", "shift"), [(1e-3, 0.0), (1e3, 0.0), (1.0, 40.0), (0.01, -7.0)])
def test_the_unit_and_the_origin_of_rows_make_no_difference_to_pa(scale: float, shift: float) -> None:
    X, _ = stream()
    plain, moved = follower("pa").play(X), follower("pa").play(X * scale + shift)
    near(moved.scores[1:] / scale, plain.scores[1:], 1e-6)
    assert moved.predictions.tolist() == plain.predictions.tolist()


def test_after_a_step_of_pa_without_a_radius_the_row_is_on_the_ball_and_the_ball_has_grown() -> None:
    X, _ = stream()
    learner, radius = follower("pa"), 0.0
    middle = X.mean(axis=0)
    largest = float(np.linalg.norm(X - middle, axis=1).max())
    for t in range(len(X)):
        outside = learner.play(X[t : t + 1]).scores[0] > 0.0
        if outside:
            assert learner.scores(X[t : t + 1])[0] == pytest.approx(0.0, abs=1e-7)
        assert radius_among_rows(learner) >= radius - 1e-12
        radius = radius_among_rows(learner)
        assert radius <= learner.model.arrays.n.reach <= 2.0 * largest  # the centre stays among the rows


def test_a_first_row_at_the_origin_moves_nothing() -> None:
    played = follower("pa", algebra="dense").play(np.array([[0.0, 0.0], [3.0, 4.0]]))
    assert played.updated.tolist() == [False, True]
    assert played.scores.tolist() == [0.0, 5.0]


@pytest.mark.parametrize("name", ["pa", "pa1", "pa2"])
def test_most_rows_are_inside_by_default(name: str) -> None:
    rng = np.random.default_rng(3)
    for scale, shift in ((1.0, 0.0), (3.0, 10.0), (0.1, -2.0)):
        usual = shift + scale * rng.normal(size=(400, 4))
        learner = follower(name, algebra="dense").learn(usual)
        assert (learner.predict(shift + scale * rng.normal(size=(200, 4))) == 1).mean() > 0.8
        assert (learner.predict(shift + 8.0 * scale * rng.normal(size=(200, 4))) == -1).mean() > 0.9


def test_a_radius_learned_from_the_rows_is_saved_merged_and_undone(tmp_path: Path) -> None:
    X, _ = stream(90)
    whole, half = follower("pa1").learn(X), follower("pa1").learn(X[:40])
    half.save(tmp_path / "m.nr")
    assert pack(nr.load(tmp_path / "m.nr").learn(X[40:])) == pack(whole)
    before = pack(half)
    with pytest.raises(nr.BadValue):
        half.learn(np.vstack([X[40:], np.full((1, 5), np.nan)]))
    assert pack(half) == before
    other = follower("pa1").learn(10.0 * X)
    radii = sorted(map(radius_among_rows, (whole, other)))
    merged = whole.copy().merge(other)
    assert merged.model.arrays.n.reach == other.model.arrays.n.reach
    assert radii[0] < radius_among_rows(merged) < radii[1]


def test_the_radius_of_the_rows_takes_no_radius() -> None:
    with pytest.raises(nr.BadValue, match="leave radius out"):
        player("pa1", learn_radius="rows")
    assert follower("pa1", learn_radius=False).config.task.numbers["radius"] == 1.0


def test_a_model_from_before_keeps_its_radius_of_1(tmp_path: Path) -> None:
    X, _ = stream()
    learner = player("pa1", radius=1.0).learn(X)
    header, arrays = learner.dump()
    header = {**header, "counters": {name: one for name, one in header["counters"].items() if name != "reach"}}
    header["parameters"] = {name: value for name, value in header["parameters"].items() if name != "radius"}
    old = nr.RuleLearner.restore(header, arrays, lambda name: nr.learners()[name])  # type: ignore[arg-type]
    near(old.scores(X), learner.scores(X), 0.0)
