"""What is said of kernel models is true: the kernel, the number of supports, the budget and the coefficients."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.algebra.arrays import Floats
from noregret.evaluation.inspect_model import describe_model, report_model
from noregret.learner.supports import describe_kernel

RNG = np.random.default_rng(3)
X = RNG.normal(size=(90, 3))
TWO, THREE = np.sign(X[:, 0] * X[:, 1]), np.digitize(X[:, 0] * X[:, 1], [-0.4, 0.4])


def rbf(rows: Floats, support: dict[Any, float], gamma: float) -> Floats:
    row = np.zeros(rows.shape[1])
    row[list(support)] = list(support.values())
    return np.asarray(np.exp(-gamma * ((rows - row) ** 2).sum(axis=1)))


@pytest.mark.parametrize("name", ["pa1@rbf(gamma=0.6)", "pegasos@rbf(gamma=0.6)", "pa1@rbf(gamma=0.6, budget=9)"])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two classes", "three"])
def test_scores_are_the_sum_of_the_supports_times_their_coefficients(name: str, y: Floats) -> None:
    learner: Any = nr.make(name, native=False).learn(X, y)
    supports, rows = learner.supports, RNG.normal(size=(7, 3))
    assert 0 < len(supports) == learner.nonzeros
    scores = learner.scores(rows)
    if len(set(y)) == 2:
        expected = sum(one.coefficient * rbf(rows, one.row, 0.6) for one in supports)
    else:
        expected = np.column_stack([
            sum(one.coefficient[label] * rbf(rows, one.row, 0.6) for one in supports) for label in learner.classes
        ])  # fmt: skip
    assert scores == pytest.approx(expected, abs=1e-9)
    largest = learner.largest_supports(2)
    assert largest == supports[:2]
    sizes = [np.abs(list(one.coefficient.values()) if len(set(y)) > 2 else one.coefficient).max() for one in supports]
    assert sizes == sorted(sizes, reverse=True)


def test_the_kernel_is_told_as_it_is_in_use() -> None:
    learner: Any = nr.make("pa1@polynomial(degree=2, budget=12, policy=random)", native=False)
    before = describe_kernel(learner.model)
    assert before is not None
    assert (before.parameters, before.supports) == ({"coef0": 1.0, "degree": 2.0}, 0)  # gamma: by the first row
    learner.learn(X, TWO)
    used = describe_kernel(learner.model)
    assert used is not None
    assert used.parameters == {"gamma": pytest.approx(1.0 / (X[0] @ X[0])), "coef0": 1.0, "degree": 2.0}
    assert (used.supports, used.budget, used.policy) == (12, 12, "random")
    assert used.text.endswith("coef0 = 1, degree = 2), 12 supports of at most 12 (policy random)")
    assert describe_kernel(nr.make("pa1", native=False).learn(X, TWO).model) is None
    with pytest.raises(nr.Error, match="pa1 has no supports"):
        nr.make("pa1", native=False).learn(X, TWO).supports  # noqa: B018


def test_a_saved_kernel_model_is_described(tmp_path: Path) -> None:
    file = tmp_path / "k.nr"
    nr.make("pa1(C=0.5)@rbf(gamma=0.7, budget=8)", native=False).learn(X, TWO).save(file)
    learner: Any = nr.load(file)
    text, report = describe_model(learner, "k.nr"), report_model(learner, "k.nr")
    assert text.startswith("k.nr: pa1(C=0.5)@rbf(gamma=0.7, budget=8), passive-aggressive")
    assert "\nkernel      rbf (gamma = 0.7), 8 supports of at most 8 (policy oldest)\n" in text
    assert "\nfeatures    3 seen\n" in text  # and not so many with a weight
    assert "\nlargest coefficients, for 1  support\n" in text
    assert text.count("=") >= 8 * 3
    assert report["name"] == "pa1(C=0.5)@rbf(gamma=0.7, budget=8)"
    told = report["kernel"]
    assert (told["kernel"], told["parameters"], told["budget"], told["policy"]) == ("rbf", {"gamma": 0.7}, 8, "oldest")
    assert [one["coefficient"] for one in told["rows"]] == [one.coefficient for one in learner.supports]
    assert "rbf (gamma = 0.7), 8 supports of at most 8" in learner._repr_html_()


def test_names_of_features_and_the_constant_stand_in_supports() -> None:
    rows, labels = [{"a": 1.0, "b": 2.0}, {"b": -1.0}], ["yes", "no"]
    learner: Any = nr.make("perceptron@linear", bias=True, native=False).learn(rows, labels)
    found = [one.row for one in learner.supports]
    assert {"(constant)": 1.0, "a": 1.0, "b": 2.0} in found
