"""m of n as a threshold and as a DNF, feature maps of conjunctions, version spaces of weights, words."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from noregret.concepts.words import describe, join_literals
from tests.support import refusal

NAMES = ["a", "b", "c", "d", "e"]
TABLE = np.array(list(itertools.product([0, 1], repeat=5)))


@pytest.mark.parametrize("m", range(7))
def test_m_of_n_is_the_same_function_as_threshold_and_as_dnf(m: int) -> None:
    function = nr.at_least(m, "a", "!b", "c", "d", "!e")
    dnf = nr.as_dnf(function)
    assert len(dnf) == (math.comb(5, m) if m else 1)
    expected = function(TABLE, columns=NAMES)
    assert (dnf(TABLE, columns=NAMES) == expected).all()
    rows = [dict(zip(NAMES, row, strict=True)) for row in TABLE.tolist()]
    assert dnf(rows).tolist() == expected.tolist()
    assert [dnf(row) for row in rows] == expected.tolist()


@pytest.mark.parametrize("seed", range(8))
def test_any_threshold_function_is_the_or_of_its_prime_implicants(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights: dict[str | int, float] = dict(zip(range(5), rng.integers(-4, 6, 5).tolist(), strict=True))
    function = nr.Threshold(weights, float(rng.integers(-5, 8)))
    dnf = nr.as_dnf(function)
    assert (dnf(TABLE) == function(TABLE)).all()
    for term, other in itertools.permutations(dnf.terms, 2):
        assert not (set(term.weights) < set(other.weights)), "a smaller term makes a larger one superfluous"


def test_normal_forms_in_words() -> None:
    assert str(nr.as_dnf(nr.at_least(2, "a", "b", "!c"))) == "(a AND b) OR (a AND NOT c) OR (b AND NOT c)"
    assert str(nr.as_dnf(nr.any_of("a", "b"))) == "a OR b"
    assert str(nr.as_dnf(nr.at_least(4, "a", "b"))) == "always false"
    assert str(nr.as_dnf(nr.all_of())) == "always true"
    assert "155,117,520 terms" in refusal(lambda: nr.as_dnf(nr.at_least(15, *range(30))))
    assert "takes a threshold function" in refusal(lambda: nr.as_dnf("a OR b"))  # type: ignore[arg-type]


def test_concepts_in_words() -> None:
    said = {
        "a OR b OR NOT c": nr.any_of("a", "b", "!c"),
        "a AND NOT c": nr.all_of("a", "!c"),
        "at least 2 of a, b, NOT c": nr.at_least(2, "a", "b", "!c"),
        "always true": nr.at_least(0, "a"),
        "always false": nr.any_of(),
        "2 a - b >= 1": nr.Threshold({"a": 2, "b": -1}, 1),
        "[3]": nr.any_of(3),
    }
    for words, function in said.items():
        assert describe(function) == words
    assert join_literals([f"x{j}" for j in range(50)], False).endswith("x19 OR ... (50 literals)")


def test_a_dnf_of_terms_with_negations_is_a_disjunction_of_conjunctions() -> None:
    """(a AND NOT b) OR (c AND d) as any-order conjunctions: Winnow and elimination learn it as an OR of features."""
    rng = np.random.default_rng(2)
    rows = [{name: 1.0 for name in "abcd" if rng.random() < 0.5} for _ in range(400)]
    y = [1 if ("a" in row and "b" not in row) or ("c" in row and "d" in row) else 0 for row in rows]
    steps = nr.conjunctions(2, negate=list("abcd"))
    learner: Any = steps | nr.make("winnow", alpha=2.0, classes=[0, 1], native=False)
    learner.learn(rows, y)
    late = learner.play(rows, y)
    assert np.count_nonzero(late.mistakes) == 0
    plain = nr.make("winnow", alpha=2.0, classes=[0, 1], native=False).learn(rows, y)
    assert np.count_nonzero(plain.play(rows, y).mistakes) > 20


# ---- version spaces --------------------------------------------------------------------------------------------------


def test_a_version_space_contains_what_separates_and_its_centre() -> None:
    space = nr.VersionSpace()
    for x, y in (([4, 0], 1), ([1, 1], -1), ([0, 1], -1), ([-2, -2], 1)):
        assert space.add(x, y) is space
    assert len(space) == 4
    assert space.feasible()
    assert space.contains([1, -3])  # what the perceptron ends with
    assert not space.contains([3, -1])
    assert space.contains(space.centre())
    assert not space.contains(np.zeros(2))
    space.add([-1, 1], 1)
    assert not space.feasible()
    assert "is empty: no weights put all 5 rows" in refusal(space.centre)


def test_the_centre_is_the_point_farthest_from_all_walls() -> None:
    rng = np.random.default_rng(4)
    u, space = rng.normal(size=3), nr.VersionSpace(3)
    rows = rng.normal(size=(12, 3))
    for row in rows:
        space.add(sp.csr_array(row[None]) if row[0] > 1 else row, 1 if row @ u > 0 else -1)
    signed = rows * np.where(rows @ u > 0, 1, -1)[:, None]

    def radius(w: Any) -> float:
        return float(min((signed @ w / np.linalg.norm(signed, axis=1)).min(), (1 - np.abs(w)).min()))

    centre = space.centre()
    assert radius(centre) > 0.0
    tries = centre + rng.normal(size=(3000, 3)) * 0.1
    assert max(map(radius, tries)) <= radius(centre) + 1e-9


def test_the_empty_version_space_and_bad_rows() -> None:
    space = nr.VersionSpace(2)
    assert space.feasible()
    assert space.contains([0, 0])
    assert space.centre().tolist() == [0.0, 0.0]
    assert not nr.VersionSpace().add([0, 0], 1).feasible()
    assert "not known" in refusal(nr.VersionSpace().centre)
    assert "3 numbers, and there are 2 features" in refusal(lambda: space.add([1, 2, 3], 1))
    assert "a label must be -1 or +1" in refusal(lambda: space.add([1, 2], 3))
    assert "finite numbers" in refusal(lambda: space.add([1, float("nan")], 1))
    assert "a list of numbers" in refusal(lambda: space.contains(["x", "y"]))
    assert "features must be" in refusal(lambda: nr.VersionSpace(0))
