"""Certificates: what is proved about rows, and bounds that hold for every learner."""

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.data.batch import Batch
from noregret.evaluation import certify
from noregret.evaluation.certified_rows import MOST_ROWS, prepare

XOR = ([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [-1, 1, 1, -1])


def with_margin(seed: int, rows: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Rows that a line through the origin separates by a margin."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4 * rows, 3))
    score = X @ [1.0, -1.0, 0.5]
    return X[abs(score) > 0.3][:rows], np.where(score > 0, "yes", "no")[abs(score) > 0.3][:rows]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("flipped", [0, 3])
def test_no_learner_exceeds_its_bound(seed: int, flipped: int) -> None:
    X, y = with_margin(seed)
    y[:flipped] = np.where(y[:flipped] == "yes", "no", "yes")
    certificate = nr.certify((X, y), native=False)
    assert certificate.separable is (flipped == 0)
    assert len(certificate.learners) > 10
    for bound in certificate.learners:
        assert bound.holds is not False, bound
        assert (bound.at_most is None) == (bound.why_not is not None)
    if flipped == 0:
        assert certificate["romma"].at_most == pytest.approx((certificate.radius / certificate.margin) ** 2, rel=1e-6)
        assert float(certificate["perceptron"].at_most or 0.0) <= float(certificate["romma"].at_most or 0.0)
    else:
        assert certificate["pa"].why_not == "its theorem needs separable rows"
        assert certificate.hinge is not None
        assert certificate.hinge.wrong <= 3


def test_many_classes_have_bounds_too() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = np.array(["a", "b", "c"])[np.argmax(X, axis=1)]
    X[np.arange(80), np.argmax(X, axis=1)] += 0.5
    certificate = nr.certify((X, y), native=False)
    assert certificate.separable is True
    assert all(bound.holds is not False for bound in certificate.learners)
    assert {"mira", "perceptron_ultraconservative", "pa1"} <= {bound.learner for bound in certificate.learners}
    assert certificate["pa_all"].assumes == "no step reaches C"
    assert certificate["winnow_balanced"].why_not == "its theorem is about two classes"
    assert certificate["perceptron_truncated"].at_most is not None
    scores = X @ np.array([[certificate.separator[j][label] for label in "abc"] for j in range(3)])
    assert np.array(["a", "b", "c"])[scores.argmax(axis=1)].tolist() == y.tolist()


def test_the_separator_is_told_by_feature_names() -> None:
    rows = [({"long": 2.0, "red": 1.0}, "a"), ({"long": 1.0}, "b"), ({"red": 3.0, "long": 2.0}, "a")]
    certificate = nr.certify(rows, learners=["perceptron"], bias=True, native=False)
    assert set(certificate.separator) == {"bias", "long", "red"}
    score = {True: -1.0, False: 1.0}
    for x, label in rows:
        total = certificate.separator["bias"] + sum(certificate.separator[name] * value for name, value in x.items())
        assert total * score[label == "a"] >= certificate.margin * (1.0 - 1e-9)


def test_products_make_exclusive_or_separable() -> None:
    certificate = nr.certify(XOR, native=False, learners=["perceptron"])
    assert certificate.separable is False
    assert {one.title: one.separable for one in certificate.attempts} == {
        "a constant feature": False,
        "squares, with a constant feature": False,
        "pairs, with a constant feature": True,
        "squares and pairs, with a constant feature": True,
    }
    assert nr.certify(XOR, native=False, learners=["pa"], bias=True, transforms=["pairs"]).separable is True


def test_other_features_are_not_tried_where_nobody_asks_for_them() -> None:
    certificate = nr.certify(XOR, native=False, learners=["perceptron"], expansions=False)
    assert certificate.separable is False
    assert certificate.attempts == []
    assert "with other features" not in str(certificate)
    with pytest.raises(nr.BadValue, match="expansions must be True or False"):
        nr.certify(XOR, expansions="pairs")  # type: ignore[arg-type]


def test_the_invariants_of_novikoff_hold_on_every_update() -> None:
    X, y = with_margin(5)
    certificate = nr.certify((X, y), learners=["perceptron"], invariants=True, native=False)
    found = certificate.invariants
    assert found is not None
    assert found.hold
    w, updates = np.zeros(3), 0
    u = np.array([certificate.separator[j] for j in range(3)])
    signs = np.where(y == y[0], -1.0, 1.0)
    for t in range(len(y)):
        z = signs[t] * X[t]
        if w @ z <= 0.0:
            assert found.rounds[updates] == t + 1
            assert u @ z >= certificate.margin * (1.0 - 1e-9)
            w = w + z
            assert found.squares[updates] == pytest.approx(w @ w)
            assert found.projections[updates] == pytest.approx(u @ w)
            updates += 1
    assert updates == len(found.rounds) == certificate["perceptron"].updates
    assert "both hold on all of them" in str(certificate)


def test_a_broken_invariant_is_seen() -> None:
    from scipy.sparse import csr_matrix

    from noregret.evaluation.invariants import trace_invariants
    from noregret.evaluation.separability import Examples

    rows = Examples(csr_matrix([[1.0, 0.0], [1.0, 0.1]]), np.arange(2), 2)
    everywhere = np.ones(2, bool)  # the second round is no mistake: |w|^2 grows by more than R^2
    assert not trace_invariants(rows, everywhere, np.array([1.0, 0.0]), 1.0).hold
    assert not trace_invariants(rows, np.array([True, False]), np.array([0.0, 1.0]), 0.05).hold
    assert trace_invariants(rows, np.array([True, False]), np.array([1.0, 0.0]), 1.0).hold


def test_bounds_of_a_full_covariance_use_what_was_played() -> None:
    X, y = with_margin(1)
    certificate = nr.certify((X, y), learners=["arow"], covariance="full", native=False)
    assert certificate["arow"].holds is True
    diagonal = nr.certify((X, y), learners=["arow", "ogd"], native=False)
    assert diagonal["arow"].why_not == "it is proved for covariance=full, not for covariance=diagonal"
    assert "regret" in str(diagonal["ogd"].why_not)


def test_the_report_is_plain_values() -> None:
    from noregret.evaluation.report import to_json

    certificate = nr.certify(XOR, native=False, learners=["perceptron", "pa"])
    report = json.loads(to_json(certificate.report()))
    assert report["separable"] is False
    assert report["combination"] == [{"row": 0, "weight": 1.0, "fraction": "1/1"}]
    assert {one["learner"]: one["holds"] for one in report["learners"]} == {"perceptron": True, "pa": None}


@pytest.mark.parametrize("classes", [2, 3])
def test_the_proof_in_a_report_can_be_checked_with_nothing_else(classes: int) -> None:
    rng = np.random.default_rng(classes)
    X, y = np.round(rng.normal(size=(30, 2)), 2), rng.integers(0, classes, 30)
    certificate = nr.certify((X, y), learners=["perceptron"], native=False)
    report = json.loads(json.dumps(certificate.report()))
    assert report["separable"] is False
    total = {(label, j): Fraction(0) for label in range(classes) for j in range(2)}
    for entry in report["combination"]:
        weight, row = Fraction(entry["fraction"]), entry["row"]
        assert weight > 0
        rival = entry["rival"] if classes == 3 else 1 - y[row]
        assert rival != y[row]
        for j in range(2):
            total[y[row], j] += weight * Fraction(float(X[row, j]))
            total[rival, j] -= weight * Fraction(float(X[row, j]))
    assert not any(total.values())


def test_programs_that_are_not_solved_are_replaced_and_what_is_not_tried_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(certify, "find_hinge_sum", lambda examples: None)
    X = np.array([[1e60, 0.0], [1e60, 0.0]])
    certificate = nr.certify((X, ["a", "b"]), learners=["perceptron"], native=False)
    said = str(certificate)
    assert certificate.hinge is not None
    assert (
        certificate.hinge.limit <= 2.0 <= certificate.hinge.total * (1.0 + 1e-9)
    )  # two equal rows of different labels
    assert "smallest hinge sum: 2" in said
    assert "squares, with a constant feature: not tried: " in said
    assert certificate["perceptron"].holds


def test_rows_are_those_that_a_learner_sees() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(3.0, 2.0, size=(40, 2)), np.where(rng.random(40) < 0.5, -1.0, 1.0)
    options: dict[str, Any] = {"scale": True, "bias": True, "transforms": ["squares"]}
    batches = [Batch(X[start : start + 15], y[start : start + 15]) for start in (0, 15, 30)]
    prepared = prepare("rows", batches, options)
    w, steps = np.zeros(prepared.X.shape[1]), []
    for z in prepared.examples.Z.toarray():  # the perceptron
        steps.append(bool(sum(w * z) <= 0.0))  # in order: the fourth row is a tie but for roundings
        w += z * steps[-1]
    learner = nr.make("perceptron", classes=[-1.0, 1.0], native=False, **options)
    assert np.concatenate([learner.play(one.X, one.y).updated for one in batches]).tolist() == steps
    assert prepared.feature_names()[0] == "bias"
    assert len(prepared.feature_names()) == prepared.X.shape[1]


def test_options_that_theorems_do_not_speak_of_leave_no_bound() -> None:
    X, y = with_margin(1, rows=20)
    weighted = nr.certify((X, y), learners=["pa1"], class_weight={"yes": 2.0}, native=False)
    assert "class_weight" in str(weighted["pa1"].why_not)
    kernel = nr.certify((X, y), learners=["perceptron"], algebra="kernel", native=False)
    assert "algebra=kernel" in str(kernel["perceptron"].why_not)
    dropped = nr.certify((X, y), learners=["perceptron_truncated"], B=2, native=False)
    assert "a condition on them does not hold" in str(dropped["perceptron_truncated"].why_not)


@pytest.mark.parametrize(
    ("source", "options", "words"),
    [
        (([[1.0]], ["a"]), {}, "every label is 'a'; with one class"),
        (([[1.0], [2.0]], ["a", "b"]), {"learners": ["peceptron"]}, "there is no learner 'peceptron'"),
        (([[1.0], [2.0]], ["a", "b"]), {"learners": []}, "name at least one learner"),
        (([[1.0], [2.0]], ["a", "b"]), {"learners": [nr.make("pa")]}, "makes its learners itself"),
        (XOR, {"invariants": True}, "the invariants need a separator"),
        ((np.eye(3), ["a", "b", "c"]), {"invariants": True, "learners": ["pa"]}, "two classes, not 3"),
        ((np.ones((MOST_ROWS + 1, 1)), np.ones(MOST_ROWS + 1)), {}, "more than 20,000 rows"),
        ((np.zeros((0, 2)), []), {}, "no rows"),
        (([[1.0], [float("nan")]], ["a", "b"]), {}, "finite"),
        (([[1.0], [1e-200]], ["a", "b"]), {}, "a value has the size 1e-200"),
        (([[1.0], [1e200]], ["a", "b"]), {}, "a value has the size 1e[+]200"),
    ],
)
def test_what_cannot_be_certified_is_refused(source: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(nr.BadValue, match=words):
        nr.certify(source, native=False, **options)
