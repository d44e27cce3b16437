"""The quantities of theorems are those of their definitions, for certificates and for regret alike."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.evaluation.bounds import Theorem, why_no_bound
from noregret.evaluation.hindsight import Played, Rounds
from noregret.evaluation.theorem_quantities import LARGEST_DETERMINANT, OF_COMPARATOR, OF_ROWS, Quantities
from noregret.evaluation.weight_path import WeightReader
from noregret.learner.weights import weight_columns
from noregret.rules.quantities import QUANTITIES

rng = np.random.default_rng(3)
ROWS, FEATURES, CLASSES = 12, 3, 3
X = rng.normal(size=(ROWS, FEATURES)) * (rng.random((ROWS, FEATURES)) < 0.7)
X[0, 2] = 1.0  # the last feature is used
CODES = rng.integers(0, CLASSES, ROWS)
MISTAKES, UPDATED = rng.random(ROWS) < 0.4, rng.random(ROWS) < 0.6
PLAYED = Played(np.abs(rng.normal(size=ROWS)), MISTAKES, UPDATED)
P = nr.make("p_norm", p=3.0, native=False).card.in_force({"p": 3.0})[0]


def signed(kind: str, u: np.ndarray) -> list[np.ndarray]:
    """z_t of every round as one vector; with many classes, against the rival with the least margin."""
    if kind == "signs":
        return [(2.0 * (code > 0) - 1.0) * x for code, x in zip(CODES, X, strict=True)]
    found = []
    for code, x in zip(CODES, X, strict=True):
        blocks = []
        for rival in range(CLASSES):
            z = np.zeros((FEATURES, CLASSES))
            z[:, code] += x
            z[:, rival] -= x
            blocks += [z.reshape(-1)] if rival != code else []
        found.append(min(blocks, key=lambda z: float(z @ u.reshape(-1))))
    return found


def define(kind: str, u: np.ndarray) -> dict[str, float]:
    """The quantities as they are defined."""
    flat, Z = u.reshape(-1), np.array(signed(kind, u))
    margins, hinge = Z @ flat, np.maximum(0.0, 1.0 - Z @ flat)
    sizes, sizes_p = np.linalg.norm(Z, axis=1), np.linalg.norm(Z, 3, axis=1)
    slopes = (PLAYED.losses > 0.0) | UPDATED
    least = margins.min()
    separates = least > 0.0
    return {
        "rounds": ROWS, "features": FEATURES, "classes": 2 if kind == "signs" else CLASSES, "radius": sizes.max(),
        "least_radius": sizes.min(), "radius_p": sizes_p.max(), "row_radius": np.linalg.norm(X, axis=1).max(),
        "row_range": (X.max(axis=1) - X.min(axis=1)).max(), "largest_value": np.abs(X).max(), "initial_norm": 0.0,
        "norm": np.linalg.norm(flat), "norm_1": np.abs(flat).sum(), "norm_inf": np.abs(flat).max(),
        "norm_q": np.linalg.norm(flat, 1.5),
        "margin": least / np.linalg.norm(flat) if separates else math.nan,
        "margin_1": least / np.abs(flat).sum() if separates else math.nan,
        "margin_q": least / np.linalg.norm(flat, 1.5) if separates else math.nan,
        "relative_margin": (margins / sizes_p).min() / np.linalg.norm(flat, 1.5) if separates else math.nan,
        "comparator_loss": hinge.sum(), "comparator_squares": (hinge**2).sum(),
        "comparator_squared_errors": ((1.0 - margins) ** 2).sum(),
        "comparator_normalised_errors": ((1.0 - margins) ** 2 / np.linalg.norm(X, axis=1) ** 2).sum(),
        "comparator_loss_on_updates": hinge[UPDATED].sum(),
        "updates_without_mistake": (UPDATED & ~MISTAKES).sum(),
        "largest_gradient": (slopes * sizes).max(), "squared_gradients": (slopes * sizes**2).sum(),
        "squared_gradients_inf": (slopes * np.abs(Z).max(axis=1) ** 2).sum(),
        "squared_gradients_p": (slopes * sizes_p**2).sum(),
        "squared_scores_on_updates": (margins[UPDATED] ** 2).sum(),
        "log_det": np.linalg.slogdet(np.eye(Z.shape[1]) + Z[UPDATED].T @ Z[UPDATED])[1],
        "coordinate_gradients": np.sqrt((slopes[:, None] * Z**2).sum(axis=0)).sum(),
        "active_features": (slopes[:, None] * Z**2).any(axis=0).sum(),
        "distance": 2.0 + np.linalg.norm(flat), "distance_inf": 1.0 + np.abs(flat).max(),
    }  # fmt: skip


class Plain:
    p, loss, eps = P, "hinge", 0.0


def rounds_of(kind: str, sparse: bool) -> Rounds:
    truths = np.where(CODES > 0, 1.0, -1.0) if kind == "signs" else CODES
    return Rounds(csr_array(X) if sparse else X, truths, kind, 2 if kind == "signs" else CLASSES)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", ["signs", "codes"])
def test_quantities_are_those_of_their_definitions(kind: str, sparse: bool) -> None:
    rounds = rounds_of(kind, sparse)
    quantities = Quantities(rounds, PLAYED, Plain(), (2.0, 1.0))
    for _ in range(3):
        u = rng.normal(size=(FEATURES, 1 if kind == "signs" else CLASSES))
        for name, value in define(kind, u).items():
            if quantities.missing([name]):
                assert kind == "codes", name
                continue
            found = quantities.find([name], rounds.fix(u))
            assert (found is None) == math.isnan(value), name
            assert found is None or found[name] == pytest.approx(value, rel=1e-9), name


def test_a_separator_has_margins_and_can_be_made_longer() -> None:
    u = np.array([[1.0], [-2.0], [0.5]])
    rows = X[np.abs(X @ u)[:, 0] > 0.1]
    rounds = Rounds(rows, np.sign(rows @ u)[:, 0], "signs")
    fixed = rounds.fix(u)
    longer = rounds.scale(fixed, 1.0 / fixed.least)
    assert fixed.separates
    assert longer.margins.min() == pytest.approx(1.0)
    play = Played(np.zeros(len(rows)), np.zeros(len(rows), bool), np.zeros(len(rows), bool))
    for one in (fixed, longer):
        found = Quantities(rounds, play, Plain()).find(["margin", "relative_margin"], one)
        assert found is not None
        assert found["margin"] == pytest.approx(fixed.margins.min() / np.linalg.norm(u))
        assert found["relative_margin"] == pytest.approx(
            (fixed.margins / np.linalg.norm(rows, 3, axis=1)).min() / np.linalg.norm(u[:, 0], 1.5)
        )


def test_errors_of_targets_are_not_scaled_with_the_weights() -> None:
    rounds = Rounds(X, X[:, 0] + 1.0, "targets")
    fixed = rounds.fix(np.array([[1.0], [0.0], [0.0]]))
    assert rounds.scale(fixed, 0.5).margins == pytest.approx(1.0 + 0.5 * X[:, 0])
    assert rounds.scale(fixed, 1.0) is fixed


def test_what_is_known_only_sometimes_is_missing_otherwise() -> None:
    rounds = rounds_of("signs", False)
    assert Quantities(rounds, PLAYED, Plain()).missing(["norm", "distance"]) == ["distance"]
    theorem = Theorem(nr.make("perceptron", native=False).card, {}, "signs")

    class Random(Plain):
        p: Any = type("p", (), {"random_start": 0.5})()

    assert Quantities(rounds, PLAYED, Random()).missing(["initial_norm"]) == ["initial_norm"]
    assert Quantities(rounds, PLAYED, theorem).missing(["initial_norm"]) == []
    many = LARGEST_DETERMINANT + 1
    wide = Rounds(csr_array((many, many)), np.ones(many), "signs")
    flags = np.ones(many, bool)
    assert Quantities(wide, Played(np.zeros(many), flags, flags), theorem).missing(["log_det"]) == ["log_det"]


def test_all_quantities_that_are_computed_are_of_the_vocabulary() -> None:
    assert set(OF_ROWS) | set(OF_COMPARATOR) <= set(QUANTITIES)
    assert not set(OF_ROWS) & set(OF_COMPARATOR)


def test_a_class_against_each_of_the_others_has_no_theorem() -> None:
    assert why_no_bound(nr.make("pa1", task="multiclass", native=False)) is None
    reason = why_no_bound(nr.make("pa1", task="multiclass", competitor="rest", native=False))
    assert "best rival" in str(reason)


@pytest.mark.parametrize("algebra", ["sparse", "dense"])
@pytest.mark.parametrize("name", ["pa1", "eg_signed", "fobos"])
def test_weights_that_are_read_again_and_again_are_those_of_the_model(name: str, algebra: str) -> None:
    learner = nr.make(name, algebra=algebra, native=False)
    reader = WeightReader(learner.model)
    labels = ["a", "b", "a", "c"]
    for t in range(ROWS):  # a third class and new features replace the arrays
        row = X[t] if algebra == "dense" else {j: X[t, j] for j in range(1 + t // 4)}
        learner.learn_one(row, labels[t % 2 if t < 6 else 3])
        assert reader.read() == pytest.approx(weight_columns(learner.model), rel=1e-12, abs=1e-15)


def test_features_that_find_room_are_read_too() -> None:
    learner = nr.make("pa1", algebra="sparse", native=False)
    reader = WeightReader(learner.model)
    for t in range(60):
        learner.learn_one({f"word {t}": 1.0, "always": 0.5}, t % 2)
        assert np.array_equal(reader.read(), weight_columns(learner.model))
