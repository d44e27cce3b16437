"""What a step of structured output solves, and how many mistakes it can make: passive-aggressive and perceptron."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize

import noregret as nr
from noregret.structured.structured_learner import StructuredLearner
from tests.naive.structured import MARGINS, matchings

minimize: Any = scipy_minimize
EVERY = list(matchings(3, 2, True))


def compare(left: Any, right: Any) -> dict[str, float]:
    return {"pair": 1.0} | {f"p{k}": a * b for k, (a, b) in enumerate(zip(left, right, strict=True))}


class Listed(nr.Matching):
    """A matching decoder that also knows its best few matchings, by writing all of them down."""

    def outputs(self, x: Any) -> list[Any]:
        return EVERY

    def k_best(self, w: Any, x: Any, y: Any, k: int) -> list[Any]:
        scores = w.dots([self.features(x, one) for one in EVERY]) + [self.loss(y, one) for one in EVERY]
        return [EVERY[place] for place in np.argsort(-scores, kind="stable")[:k]]


def inputs(rng: np.random.Generator) -> Any:
    return rng.normal(size=(3, 3)).tolist(), rng.normal(size=(2, 3)).tolist()


def vectors(decoder: Any, x: Any) -> Any:
    """The features of all matchings, a row for each."""
    names = ["pair", "p0", "p1", "p2"]
    return np.array([[decoder.features(x, one).get(name, 0.0) for name in names] for one in EVERY])


def current(learner: Any) -> Any:
    weights = learner.weights if learner.rounds else {}
    return np.array([weights.get(name, 0.0) for name in ["pair", "p0", "p1", "p2"]])


C = 0.2
PRICES: dict[str, tuple[float, float]] = {
    "pa": (0.0, 0.0),
    "pa1": (C, 0.0),
    "pa2": (0.0, C),
}  # of the slack, its square


def solve(w: Any, Z: Any, required: Any, rule: str) -> Any:
    """The smallest change of w whose margins are as required but for one slack, at its price, by a general solver."""
    size, (price, squared) = len(w), PRICES[rule]

    def problem(v: Any) -> tuple[float, Any]:
        change, xi = v[:size], v[size]
        slope = np.append(change, price + 2.0 * squared * xi)
        return float(0.5 * change @ change + price * xi + squared * xi**2), slope

    table = np.column_stack((Z, np.full(len(Z), 0.0 if rule == "pa" else 1.0)))
    missing = required - Z @ w
    limits = {"type": "ineq", "fun": lambda v: table @ v - missing, "jac": lambda v: table}
    found = minimize(
        problem, np.zeros(size + 1), jac=True, bounds=[(None, None)] * size + [(0.0, None)], constraints=limits,
        method="SLSQP", options={"ftol": 1e-14, "maxiter": 1000},
    )  # fmt: skip
    assert (table @ found.x >= missing - 1e-7).all()
    return w + found.x[:size]


def learn_and_compare(rule: str, competitor: str, k: int, margin: str) -> int:
    """Play rounds, solve each by a general solver, and count those with more than one rival that mattered."""
    rng, decoder = np.random.default_rng(4), Listed(compare)
    inner = nr.make(rule, native=False, **({} if rule == "pa" else {"C": C}))
    learner = StructuredLearner(decoder, inner, competitor, margin, k)
    several = 0
    for _ in range(30):
        x = inputs(rng)
        Phi, w = vectors(decoder, x), current(learner)
        truth = int(np.argmax(Phi @ rng.normal(size=4)))
        losses = np.array([decoder.loss(EVERY[truth], one) for one in EVERY])
        required = np.array([0.0 if loss == 0.0 else MARGINS[margin](loss) for loss in losses])
        slack = Phi @ w + required if competitor != "k_best" else Phi @ w + losses
        chosen = [place for place in np.argsort(-slack, kind="stable")[:k].tolist() if place != truth]
        Z = Phi[truth] - Phi[chosen]
        learner.learn_one(x, EVERY[truth])
        expected = solve(w, Z, required[chosen], rule) if chosen else w
        np.testing.assert_allclose(current(learner), expected, atol=1e-6)
        several += int(np.count_nonzero(Z @ w < required[chosen]) > 1)
    return several


@pytest.mark.thinned(2)
@pytest.mark.parametrize("rule", PRICES)
@pytest.mark.parametrize("margin", ["loss", "sqrt", "unit"])
def test_a_step_against_the_worst_rival_solves_its_problem(rule: str, margin: str) -> None:
    learn_and_compare(rule, "max_loss", 1, margin)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("rule", ["pa1", "pa2"])
@pytest.mark.parametrize("k", [1, 3, 5])
def test_a_step_against_the_k_best_solves_the_problem_of_all_their_constraints(rule: str, k: int) -> None:
    several = learn_and_compare(rule, "k_best", k, "loss")
    assert (several > 0) == (k > 1)


@pytest.mark.parametrize("rule", ["pa1", "pa2"])
def test_a_step_against_all_outputs_solves_the_problem_of_all_constraints(rule: str) -> None:
    assert learn_and_compare(rule, "all", len(EVERY), "loss") > 0


@pytest.mark.thinned(2)
@pytest.mark.parametrize("margin", ["loss", "sqrt", "unit"])
@pytest.mark.parametrize("competitor", ["predicted", "max_loss"])
def test_pa_reaches_the_required_margin(margin: str, competitor: str) -> None:
    rng, decoder = np.random.default_rng(1), nr.Matching(compare)
    learner = StructuredLearner(decoder, nr.make("pa", native=False), competitor, margin)
    reached = 0
    for _ in range(40):
        x, truth = inputs(rng), EVERY[rng.integers(len(EVERY))]
        transcript = learner.play([x], [truth])
        if transcript.updated[0]:
            margins = [learner.score(x, truth) - learner.score(x, one) for one in EVERY]
            required = [MARGINS[margin](decoder.loss(truth, one)) if one != truth else 0.0 for one in EVERY]
            gaps = [
                abs(found - needed) for found, needed, one in zip(margins, required, EVERY, strict=True) if one != truth
            ]
            assert min(gaps) < 1e-9
            reached += 1
    assert reached > 10


# ---- bounds ----------------------------------------------------------------------------------------------------------


def separable(margin: str, rounds: int = 60) -> tuple[Any, list[Any], list[Any], float]:
    """Rounds in which some weights reach every required margin, and R^2 |u|^2 of the smallest such weights u."""
    rng, decoder = np.random.default_rng(2), Listed(compare)
    hidden = rng.normal(size=4)
    X: list[Any] = []
    Y: list[Any] = []
    limits = []
    while len(X) < rounds:
        x = inputs(rng)
        Phi = vectors(decoder, x)
        truth = int(np.argmax(Phi @ hidden))
        others = [place for place in range(len(EVERY)) if place != truth]
        Z = Phi[truth] - Phi[others]
        required = [MARGINS[margin](decoder.loss(EVERY[truth], EVERY[place])) for place in others]
        if np.min(Z @ hidden / required) > 0.6:
            X.append(x)
            Y.append(EVERY[truth])
            limits.append(np.column_stack((Z, required)))
    table = np.vstack(limits)
    u = solve(np.zeros(4), table[:, :4], table[:, 4], "pa")
    u *= max(1.0, float(np.max(table[:, 4] / (table[:, :4] @ u))))
    return decoder, X, Y, float((table[:, :4] ** 2).sum(axis=1).max() * (u @ u))


@pytest.mark.parametrize("competitor", ["predicted", "max_loss"])
@pytest.mark.parametrize("decoder", [Listed(compare), nr.Matching(compare)], ids=["listed", "searched"])
def test_the_losses_of_pa_with_root_margins_are_bounded(competitor: str, decoder: Any) -> None:
    """Crammer et al. 2006: the sum of the losses is at most R^2 |u|^2, where u reaches margins of the root of the loss.

    That needs a step on every wrong prediction, of at least the root of its loss: also where the search adds the loss
    itself and not its root.
    """
    _, X, Y, bound = separable("sqrt")
    learner = StructuredLearner(decoder, nr.make("pa", native=False), competitor, "sqrt")
    transcript = learner.play(X, Y)
    assert 0.0 < transcript.losses.sum() <= bound
    assert transcript.updated[transcript.mistakes].all()


@pytest.mark.parametrize("rule", ["pa", "perceptron"])
def test_mistakes_are_bounded_where_some_weights_reach_margin_1(rule: str) -> None:
    """Crammer et al. 2006 with unit margins; Collins 2002 for the perceptron."""
    decoder, X, Y, bound = separable("unit")
    transcript = StructuredLearner(decoder, nr.make(rule, native=False), "predicted", "unit").play(X, Y)
    assert 0 < np.count_nonzero(transcript.mistakes) <= bound
    assert transcript.updated.tolist() == transcript.mistakes.tolist()


def test_the_squared_hinge_losses_of_pa_are_bounded_by_its_path() -> None:
    """Each step of PA comes closer to u by at least its squared loss over R^2: the inequality behind both bounds."""
    decoder, X, Y, bound = separable("sqrt")
    learner = StructuredLearner(decoder, nr.make("pa", native=False), "max_loss", "sqrt")
    total = 0.0
    for x, y in zip(X, Y, strict=True):
        scores = [0.0 if not learner.rounds else learner.score(x, one) for one in EVERY]
        own = scores[EVERY.index(y)]
        owed = [0.0 if one == y else float(np.sqrt(decoder.loss(y, one))) for one in EVERY]
        total += max(found + needed - own for found, needed in zip(scores, owed, strict=True)) ** 2
        learner.learn_one(x, y)
    assert 0.0 < total <= bound


@pytest.mark.parametrize(("rule", "margin"), [("pa", "sqrt"), ("pa", "unit"), ("perceptron", "unit")])
@pytest.mark.parametrize("passes", [1, 3])
def test_the_bounds_are_reached_where_no_round_teaches_about_another(rule: str, margin: str, passes: int) -> None:
    """Features of their own in every round: R = 1, u has the required margin of each, and each is wrong just once."""
    losses = [1.0, 4.0, 2.25, 9.0, 0.25]
    X = [[{}, {f"right {t}": 1.0}] for t in range(len(losses))]
    Y = [[loss, 0.0] for loss in losses]
    learner = StructuredLearner(nr.Reranking(), nr.make(rule, native=False), "predicted", margin)
    transcript = learner.play(X * passes, Y * passes)
    bound = sum(MARGINS[margin](loss) ** 2 for loss in losses)
    measured = transcript.losses.sum() if margin == "sqrt" else np.count_nonzero(transcript.mistakes)
    assert measured == pytest.approx(bound)


class Searched:
    """Reranking whose candidates the learner cannot list: it must ask the searches."""

    def __init__(self) -> None:
        self.listed = nr.Reranking()
        for name in ("features", "argmax", "argmax_augmented", "loss", "same"):
            setattr(self, name, getattr(self.listed, name))


def test_a_wrong_prediction_is_a_step_also_where_the_rival_found_with_losses_is_beaten() -> None:
    """A candidate of huge loss hides the predicted one from the search that adds losses, though its root is reached."""
    learner = StructuredLearner(Searched(), nr.make("pa", native=False), "max_loss", "sqrt")
    learner.learn([[{}, {"f": 1.0}]], [1])
    assert learner.weights == pytest.approx({"f": 1.0})
    x, y = [{}, {"f": 0.5}, {"f": -60.0}], [0.0, 1.0, 100.0]
    transcript = learner.play([x], [y])
    assert (transcript.predictions[0], transcript.updated[0]) == (1, True)
    assert learner.weights == pytest.approx({"f": -2.0})
