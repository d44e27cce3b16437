"""scikit-learn's stochastic gradient descent and its kin: the same weights, to the last digits."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor

import noregret as nr
from verification.reproduce.data import numbers, rows, shuffled
from verification.reproduce.report import AGREES, MISS, NOT_RUN, Progress, Row, Table

CLASSES = ("a1a/a1a.svm.gz", "svmguide3/svmguide3.svm.gz", "spambase/spambase.csv.gz")
TARGETS = ("regression/kin8nm.csv.gz", "regression/puma8nh.csv.gz", "regression/cpu_small.csv.gz")
FILES = (*CLASSES, *TARGETS)
SOURCE = "scikit-learn, run in the same process"
PROTOCOL = (
    "One pass over shuffled rows, without intercept or stopping (max_iter=1, tol=None, shuffle=False, "
    "fit_intercept=False). No weight may differ by more than 1e-10. The columns of a table are scaled to at most 1 in"
    " absolute value. scikit-learn's squared loss is half of ours, so our rate is half of its rate. Its invscaling "
    "with power 1/2 and 1 is our inv_sqrt and inv_t. Its average=True is our average=1, which leaves out the zero "
    "vector; perceptron_averaged includes it, so its mean is multiplied by (n + 1) / n. Constant rates are 3/256: "
    "their sums are exact and never give a margin of exactly 1, where scikit-learn updates and we do not. Not "
    "compared: our inv_mistakes, its optimal and adaptive schedules."
)
ALLOWED = 1e-10
RATE = 3.0 / 256.0
HAS_PA = tuple(map(int, version("scikit-learn").split(".")[:2])) >= (1, 8)
Data = dict[str, tuple[Any, np.ndarray]]
Told = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """An estimator of scikit-learn and the learner that is the same."""

    kind: Any
    theirs: Told
    learner: str
    ours: Told = field(default_factory=dict)
    from_zero: bool = False  # whether our mean counts the zero vector too, which its mean leaves out

    @property
    def name(self) -> str:
        told = {name: value for name, value in self.theirs.items() if not (name == "penalty" and value is None)}
        return f"{self.kind.__name__}({', '.join(f'{name}={value!r}' for name, value in told.items())})"

    @property
    def runs(self) -> bool:
        return HAS_PA or not str(self.theirs.get("learning_rate")).startswith("pa")

    def difference(self, X: Any, y: np.ndarray) -> float:
        """The largest difference between two weights."""
        estimator = self.kind(max_iter=1, tol=None, shuffle=False, fit_intercept=False, **self.theirs).fit(X, y)
        weights = nr.make(self.learner, **self.ours).learn(X, y).scores(np.eye(X.shape[1]))
        share = (len(y) + 1.0) / len(y) if self.from_zero else 1.0
        return float(np.abs(estimator.coef_.ravel() - share * weights).max())


SCHEDULES: dict[str, Told] = {
    "constant": {"learning_rate": "constant"},
    "inv_sqrt": {"learning_rate": "invscaling", "power_t": 0.5},
    "inv_t": {"learning_rate": "invscaling", "power_t": 1.0},
}
OF_CLASSES = {
    "hinge": "hinge",
    "log_loss": "logistic",
    "squared_error": "squared",
    "squared_hinge": "squared_hinge",
    "perceptron": "perceptron",
}
OF_TARGETS: dict[str, tuple[str, Told, Told]] = {
    "squared_error": ("squared", {}, {}),
    "epsilon_insensitive": ("eps_insensitive", {"epsilon": 0.1}, {"eps": 0.1}),
}
NOT_PULLED: Told = {"penalty": None}
STEADY: Told = {"learning_rate": "constant", "eta0": RATE, **NOT_PULLED}
MEAN: Told = {"learning_rate": "constant", "eta0": 1.0, "average": True, **NOT_PULLED}
AS_THEY_ARE: Told = {"task": "regression", "scale_target": False}
REGRESSION: Told = {**AS_THEY_ARE, "eps": 0.1}
PA_OF_TARGETS: Told = {"loss": "epsilon_insensitive", "epsilon": 0.1, **NOT_PULLED}


def descents(kind: Any, loss: str, ours: Told, theirs: Told) -> list[Case]:
    """A loss with every schedule that both have."""
    rate = RATE / 2.0 if ours["loss"] == "squared" else RATE
    return [
        Case(
            kind,
            {"loss": loss, **theirs, **told, "eta0": RATE, **NOT_PULLED},
            "ogd",
            {**ours, "schedule": schedule, "eta0": rate},
        )
        for schedule, told in SCHEDULES.items()
    ]


def for_classes() -> list[Case]:
    found = [
        Case(Perceptron, {}, "perceptron"),
        Case(Perceptron, {"eta0": RATE}, "perceptron", {"eta": RATE}),
        Case(SGDClassifier, {"loss": "hinge", "learning_rate": "pa1", "eta0": 0.5, **NOT_PULLED}, "pa1", {"C": 0.5}),
        Case(SGDClassifier, {"loss": "hinge", "learning_rate": "pa2", "eta0": 0.5, **NOT_PULLED}, "pa2", {"C": 0.5}),
        Case(SGDClassifier, {"loss": "perceptron", **MEAN}, "perceptron", {"average": 1}),
        Case(SGDClassifier, {"loss": "perceptron", **MEAN}, "perceptron_averaged", from_zero=True),
        Case(SGDClassifier, {"loss": "hinge", **STEADY}, "perceptron_margin", {"b": 1.0, "eta": RATE}),
        Case(SGDClassifier, {"loss": "hinge", **STEADY}, "mirror_descent", {"link": "euclidean", "eta": RATE}),
        Case(SGDClassifier, {"loss": "squared_error", **STEADY}, "adaline", {"rho": RATE}),
        Case(
            SGDClassifier,
            {"loss": "hinge", **SCHEDULES["inv_sqrt"], "eta0": 0.1, "average": 100, **NOT_PULLED},
            "ogd",
            {"eta0": 0.1, "average": 100},
        ),
        Case(
            SGDClassifier,
            {"loss": "hinge", "penalty": "l2", "alpha": 0.01, **SCHEDULES["inv_t"], "eta0": 100.0},
            "pegasos",
            {"lam": 0.01, "projection": "no"},
        ),
    ]
    for loss, ours in OF_CLASSES.items():
        found += descents(SGDClassifier, loss, {"loss": ours}, {})
    return found


def for_targets() -> list[Case]:
    found = [
        Case(SGDRegressor, {**PA_OF_TARGETS, "learning_rate": "pa1", "eta0": 0.5}, "pa1", {**REGRESSION, "C": 0.5}),
        Case(SGDRegressor, {**PA_OF_TARGETS, "learning_rate": "pa2", "eta0": 0.5}, "pa2", {**REGRESSION, "C": 0.5}),
        Case(SGDRegressor, {"loss": "squared_error", **STEADY}, "adaline", {**AS_THEY_ARE, "rho": RATE}),
    ]
    for loss, (ours, theirs, told) in OF_TARGETS.items():
        found += descents(SGDRegressor, loss, {**AS_THEY_ARE, "loss": ours, **told}, theirs)
    return found


def compared(cases: list[Case], data: Data) -> list[Row]:
    """A row for each estimator, with the largest difference on each data set."""
    found, progress = [], Progress("sklearn", len(cases))
    for case in cases:
        progress.step(case.name)
        if not case.runs:
            found.append(Row(case.name, case.learner, "", "", NOT_RUN, "needs scikit-learn 1.8"))
            continue
        apart = [case.difference(X, y) for X, y in data.values()]
        ours = "largest difference " + ", ".join(f"{value:.1g}" for value in apart)
        told = ", ".join(f"{name}={value!r}" for name, value in case.ours.items())
        verdict = AGREES if max(apart) <= ALLOWED else MISS
        found.append(Row(case.name, case.learner, "its weights", ours, verdict, told))
    return found


def of(base: Path, names: tuple[str, ...], positive: bool) -> Data:
    """The rows of some files, shuffled, by the names of their folders or their own."""
    data = {}
    for seed, name in enumerate(names):
        X, y = rows(base, name) if ".svm" in name else numbers(base, name, positive)
        data[name.rpartition("/")[2].partition(".")[0]] = shuffled(X, y, seed)
    return data


def run(base: Path) -> Iterator[Table]:
    for what, names, cases in (("classes", CLASSES, for_classes()), ("targets", TARGETS, for_targets())):
        data = of(base, names, positive=what == "classes")
        yield Table(f"scikit-learn, {what}: {', '.join(data)}", SOURCE, PROTOCOL, compared(cases, data))
