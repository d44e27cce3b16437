"""What must hold of every state, whatever the stream: no number that is none, and what each learner promises."""

from collections.abc import Callable
from typing import Any

import numpy as np

import noregret as nr
from tests.conformance.plays import arrays, state
from tests.fuzz.agreeing import measurable
from tests.fuzz.case import Case
from tests.naive.rules import Array

SLACK = 1e-9


def finite(learner: nr.RuleLearner) -> None:
    for name, found in arrays(learner).items():
        assert np.isfinite(found).all(), f"{name} is not finite"


def size(w: Array) -> float:
    """The length of all weights, also of those whose squares vanish."""
    largest = float(np.abs(w).max(initial=0.0))
    return largest * float(np.linalg.norm(w / largest)) if largest > 0.0 else 0.0


def few(case: Case, learner: nr.RuleLearner, parts: dict[str, Any]) -> None:
    assert np.count_nonzero(parts["w"]) <= int(case.numbers["B"]), "more than B weights"
    longest = float(case.numbers.get("R", np.inf))
    if case.numbers.get("lam", 0.0) > 0.0:
        longest = 1.0 / float(np.sqrt(case.numbers["lam"]))
    assert size(parts["w"]) <= longest * (1.0 + SLACK), "weights left the ball"


def projected(case: Case, learner: nr.RuleLearner, parts: dict[str, Any]) -> None:
    """After a step: a third class that splits weights waits for one."""
    w, radius = parts["w"], case.numbers["radius"]
    onto = dict(case.play.options)["onto"]
    if case.auto or learner.updates == 0:
        return
    reached = {"ball": size(w), "box": np.abs(w).max(initial=0.0), "l1": np.abs(w).sum(), "simplex": w.sum()}
    assert reached.get(onto, 0.0) <= radius * (1.0 + SLACK), f"weights left the {onto}"
    if onto in ("orthant", "simplex"):
        assert (w >= 0.0).all(), f"a weight of the {onto} is negative"
    if onto == "simplex" and learner.model.arrays.n.steps > 0.0:
        assert w.sum() >= radius * (1.0 - SLACK), "weights of the simplex are short of it"


def boxed(case: Case, learner: nr.RuleLearner, parts: dict[str, Any]) -> None:
    if dict(case.play.options)["onto"] == "box" and not case.auto:
        assert np.abs(parts["w"]).max(initial=0.0) <= case.numbers["radius"], "a weight left the box"
    assert (parts["squares"] >= 0.0).all()


def counted_up(case: Case, learner: nr.RuleLearner, parts: dict[str, Any]) -> None:
    for name in ("squares", "moves"):
        assert (parts.get(name, np.zeros(1)) >= 0.0).all(), f"{name} are negative"


def shortened(case: Case, learner: nr.RuleLearner, parts: dict[str, Any]) -> None:
    projects = dict(case.play.options)["projection"] == "yes" and case.numbers["lam"] > 0.0
    if projects and not case.auto and "kernel" not in dict(case.play.options):
        assert size(parts["w"]) <= (1.0 + SLACK) / np.sqrt(case.numbers["lam"]), "weights left the ball"


def in_p_ball(case: Case, learner: nr.RuleLearner, parts: dict[str, Any]) -> None:
    p, theta = case.numbers["p"], np.abs(parts["theta"])
    largest = theta.max(initial=0.0)
    if largest > 0.0 and not case.auto:
        assert largest * np.sum((theta / largest) ** p) ** (1.0 / p) <= 1.0 + 1e-6, "the sum left the p-ball"


def whole(case: Case, learner: nr.RuleLearner, parts: dict[str, Any]) -> None:
    """Weights read from unit rows: they sum to one, or their sizes to at most U."""
    n = int(max(case.numbers["features"], learner.model.arrays.n.features, 1.0))
    if case.auto or n > 64:
        return
    w = learner.scores(np.eye(n))
    if case.play.name == "eg":
        assert (w >= 0.0).all(), "a weight is negative"
        if learner.task != "multiclass" or learner.model.arrays.n.classes == w.shape[1]:
            assert abs(w.sum() - 1.0) <= 1e-8, f"weights sum to {w.sum()!r}"
    elif case.numbers["U"] > 0.0:  # 0 stands for a size that follows the rows
        assert np.abs(w).sum() <= case.numbers["U"] * (1.0 + SLACK), "weights exceed U"


def spread(case: Case, learner: nr.RuleLearner, parts: dict[str, Any]) -> None:
    """Variances are positive, whole matrices without a negative direction; of these the lower triangle is kept."""
    sigma = parts["sigma"]
    if sigma.ndim == 2:
        assert (sigma > 0.0).all(), "a variance is not positive"
        return
    for S in sigma:
        largest = np.abs(S).max(initial=0.0)
        if case.play.algebra == "reference":
            assert (np.abs(S - S.T) <= SLACK * largest).all(), "Sigma is not symmetric"
        assert np.linalg.eigvalsh(S, UPLO="L").min(initial=0.0) >= -SLACK * largest, "Sigma has a negative direction"


def not_negative(case: Case, learner: nr.RuleLearner, parts: dict[str, Any]) -> None:
    for name in ("w", "plus", "minus"):
        assert (parts.get(name, np.zeros(1)) >= 0.0).all(), f"a weight of {name} is negative"


PROMISES: dict[str, Callable[[Case, nr.RuleLearner, dict[str, Any]], None]] = {
    **dict.fromkeys(["ofs", "ofs_partial", "perceptron_truncated"], few),
    **dict.fromkeys(["eg", "eg_signed"], whole),
    **dict.fromkeys(["winnow", "winnow_balanced"], not_negative),
    **dict.fromkeys(["adadelta", "ftrl"], counted_up),
    "ogd": projected,
    "adagrad": boxed,
    "pegasos": shortened,
    "alma": in_p_ball,
}


def holds(case: Case, learner: nr.RuleLearner) -> None:
    """What is kept is finite, and what the learner promises holds."""
    finite(learner)
    promise = PROMISES.get(case.play.name)
    if promise is not None and "kernel" not in dict(case.play.options):
        promise(case, learner, state(learner))
    if "sigma" in case.play.card.state and measurable(case):
        spread(case, learner, state(learner))
