"""Results of learners without labels as lines of text, and learners that are merged."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.decomposition.component_table import describe_components
from noregret.learner.model_file import pack
from tests.support import refusal

RNG = np.random.default_rng(7)
X = RNG.normal(size=(40, 5))


def make(name: str, **options: Any) -> Any:
    return nr.make(name, native=False, **options)


def test_components_are_listed_with_their_largest_entries() -> None:
    entries = np.array([[0.5, -0.75, 0.25, 0.0, 0.125, 0.0625, 0.03125], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]])
    assert describe_components("size", np.array([1234567.0, 0.5]), entries, "abcdefg") == [
        "                size  largest entries",
        "   1     1.23457e+06  b -0.750, a +0.500, c +0.250, e +0.125, f +0.062",
        "   2             0.5  c +1.000",
    ]
    for number, last in ((10, "  10               9  a +9.000"), (11, "    and 1 more"), (13, "    and 3 more")):
        lines = describe_components("size", np.arange(float(number)), np.arange(float(number))[:, None], "a")
        assert lines[-1] == last
        assert len(lines) == (11 if number == 10 else 12)
    with pytest.raises(ValueError, match="argument"):
        describe_components("size", np.ones(2), np.ones((1, 1)), "a")


TABLES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "svd": ("singular value", lambda it: it.singular_values),
    "pca_incremental": ("variance share", lambda it: it.explained_variance_ratio),
    "oja": ("mean square", lambda it: it.variances),
}


def test_columns_of_components_are_numbered_from_1_and_those_of_distances_have_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    svd: Any = nr.make("svd")
    gaussian: Any = nr.make("gaussian")
    assert (svd.column_titles(2), svd.column_titles(0)) == (["component 1", "component 2"], [])
    assert gaussian.column_titles(2) == ["log-density", "distance"]
    monkeypatch.setattr(type(gaussian), "shows_distance", False)
    assert gaussian.column_titles(2) == svd.column_titles(2)


@pytest.mark.parametrize("name", TABLES)
def test_results_are_described_after_the_first_row(name: str) -> None:
    learner = make(name, rank=2)
    assert learner.describe_results() == []
    what, sizes = TABLES[name]
    learner.learn([{"a": 1.0, "b": 3.0}, {"a": 2.0, "b": 1.0}, {"b": -1.0, "c": 0.5}])
    names, components = learner.feature_names, learner.components
    assert learner.describe_results() == describe_components(what, sizes(learner), components, names)
    assert len(learner.describe_results()) == 3


@pytest.mark.parametrize("choose", ["lightest", "draw"])
def test_the_weights_listed_are_those_of_the_directions_beside_them(choose: str) -> None:
    learner = make("pca", rank=2, choose=choose, radius=9.0, seed=1)
    assert learner.describe_results() == []
    lines = learner.learn(np.concatenate((X, 0.3 * X[:, ::-1]), axis=1)).describe_results()
    state = learner.state
    density = (state.vectors * state.weights) @ state.vectors.T
    expected = [float(one @ density @ one) for one in learner.components]
    assert len(lines) == 3
    assert [float(line.split()[1]) for line in lines[1:]] == pytest.approx(expected, rel=1e-5)
    if choose == "draw":
        assert expected[-1] != pytest.approx(learner.weights_of_directions[1])


def test_only_rows_of_the_same_kind_are_merged() -> None:
    named, numbered = (make("svd", rank=2).learn(rows) for rows in ([{"a": 1.0}], [[1.0, 2.0]]))
    fresh, scaled = make("svd", rank=2), (make("svd", rank=2, scale=True).learn(X) for _ in range(2))
    assert refusal(lambda: named.merge(numbered)).startswith("only learners that both know their features by name")
    one, other = scaled
    assert refusal(lambda: one.merge(other)).startswith("learners with transforms cannot be merged")
    words = "svd can be merged only with one made with the same parameters, not with "
    for wrong in (3, make("svd", rank=3), make("svd", rank=2, seed=1), make("oja", rank=2)):
        assert refusal(partial(numbered.merge, wrong)).startswith(words)
    for both in (numbered.merge(fresh), fresh.merge(numbered)):
        assert both is not numbered
        assert pack(both) == pack(numbered.copy().flush())
    assert fresh.merge(make("svd", rank=2)).rounds == 0
    wide = make("svd", rank=2).learn([[0.0, 0.0, 4.0]])
    for both in (numbered.merge(wide), wide.merge(numbered)):
        assert (both.features, both.rounds, both.updates) == (3, 2, 2)
        np.testing.assert_allclose(both.singular_values, [4.0, np.sqrt(5.0)])


def test_a_learner_that_saw_no_features_takes_those_of_the_other() -> None:
    fresh = make("svd", rank=3).learn([{}])
    for rows, names in (([{"b": 1.0, "a": 2.0}], ["b", "a"]), ([[1.0, 2.0]], [0, 1]), ([{}], [])):
        other = make("svd", rank=3).learn(rows)
        for both in (fresh.merge(other), other.merge(fresh)):
            assert both.feature_names == names
            assert both.encoder.names.mode == other.encoder.names.mode
            assert both.encoder.algebra == other.encoder.algebra
            assert both.rounds == 2
    assert fresh.merge(make("svd", rank=3).learn([{"b": 1.0}])).learn([{"a": 1.0}]).feature_names == ["b", "a"]
    small, large = make("svd", rank=3).learn([{"a": 1.0}]), make("svd", rank=3).learn([{"c": 1.0, "a": 2.0}])
    assert (small.merge(large).features, large.merge(small).features, small.merge(small).features) == (2, 2, 1)


def test_hashed_names_are_merged_by_their_cells() -> None:
    one, two = (make("svd", rank=3, bits=3).learn(rows) for rows in ([{"a": 3.0}], [{"b": 4.0}]))
    both = one.merge(two)
    assert both.features == 8
    np.testing.assert_allclose(both.singular_values, [4.0, 3.0])
    assert both.merge(one).rounds == 3
    assert both.encoder.names.size == 2
    assert make("svd", rank=3, bits=3).learn([{}]).merge(one).encoder.names.mode == "hashed"
