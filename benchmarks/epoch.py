"""One epoch over a sparse matrix in memory: PA-I and AROW compared with scikit-learn's PA-I."""

import warnings
from typing import Any

import numpy as np
from sklearn import linear_model

import noregret
from benchmarks.measure import Act, Prepare, Row, best, in_turn, rate
from benchmarks.stream import Text, text

TITLE = "One epoch in memory, sparse (200 000 rows, 61 non-zeros, 47 236 features)"
PEER = "scikit-learn SGDClassifier pa1"
USUAL = "the same with its defaults (intercept, shuffled)"
LEGACY = "scikit-learn PassiveAggressiveClassifier"
LIKE_THE_PEER: dict[Any, dict[str, float]] = {"pa1": {"C": 1.0}}  # whose eta0 is 1


def sgd() -> Any:
    """scikit-learn's PA-I: the same update in the same order, once over the rows."""
    return linear_model.SGDClassifier(
        loss="hinge",
        penalty=None,
        learning_rate="pa1",
        eta0=1.0,
        fit_intercept=False,
        shuffle=False,
        max_iter=1,
        tol=None,
    )


def usual() -> Any:
    """scikit-learn's PA-I as most people call it: with an intercept, and the rows shuffled first."""
    return linear_model.SGDClassifier(loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0, max_iter=1, tol=None)


def passive_aggressive() -> Any:
    """The older class, which scikit-learn removes in 1.10."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return linear_model.PassiveAggressiveClassifier(
            C=1.0, loss="hinge", fit_intercept=False, shuffle=False, max_iter=1, tol=None
        )


def peers(data: Text) -> dict[str, Prepare]:
    """What scikit-learn offers here."""

    def fitting(make: Any) -> Prepare:
        def prepare() -> Act:
            model = make()
            return lambda: quietly(model, data)

        return prepare

    contestants: dict[str, Prepare] = {PEER: fitting(sgd), USUAL: fitting(usual)}
    if hasattr(linear_model, "PassiveAggressiveClassifier"):
        contestants[LEGACY] = fitting(passive_aggressive)
    return contestants


def quietly(model: Any, data: Text) -> Any:
    """Fit, without the warnings about convergence and deprecation."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(data.X, data.y)


def ours(rule: Any, data: Text) -> Prepare:
    """One `learn` on a fresh learner."""

    def prepare() -> Act:
        learner = noregret.make(rule, **LIKE_THE_PEER.get(rule, {}))
        return lambda: learner.learn(data.X, data.y)

    return prepare


def warm(rule: Any, data: Text) -> None:
    """Compile before the clock starts."""
    noregret.make(rule, **LIKE_THE_PEER.get(rule, {})).learn(data.X[:100], data.y[:100])


def same_model(data: Text) -> str:
    """The share of equal predictions after the epoch, which shows that both did the same work."""
    peer = quietly(sgd(), data)
    learner = noregret.make("pa1", **LIKE_THE_PEER["pa1"])
    learner.learn(data.X, data.y)
    some = data.X[:20_000]
    agreement = np.mean(np.asarray(learner.predict(some)) == peer.predict(some))
    return f"{100.0 * agreement:.2f} % the same predictions"


def run() -> list[Row]:
    data = text()
    contestants = peers(data)
    for rule in ("pa1", "arow"):
        warm(rule, data)
        contestants[rule] = ours(rule, data)
    times = in_turn(contestants, repeats=7)
    rows = data.X.shape[0]

    def against(rule: str, peer: str, at_least: float | None, note: str = "") -> Row:
        return Row(
            work=f"{rule}{note}",
            ours=rate(rows, best(times, rule)),
            peer=f"{peer} {rate(rows, best(times, peer))}",
            figure=best(times, peer) / best(times, rule),
            unit="x",
            at_least=at_least,
            seconds={name: times[name] for name in (rule, peer)},
        )

    table = [against("pa1", PEER, 2.5, f" ({same_model(data)})"), against("arow", PEER, 1.5)]
    table += [against("pa1", USUAL, None), against("arow", USUAL, None)]
    if LEGACY in times:
        table.append(against("pa1", LEGACY, None))
    return table
