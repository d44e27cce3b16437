"""Small learners with every kind of state that a model file can hold."""

from collections.abc import Callable
from typing import Any

import numpy as np

import noregret as nr
from tests.attacks.unlabelled_victims import DECOMPOSITIONS, NETWORKS, TOPICS
from tests.attacks.victim import CLASSES, COUNTS, GRADES, MATRIX, NAMED, QUERIES, SETS, SIGNS, TARGETS, Victim, rule

RATED = [(f"u{number % 5}", (7 * number) % 6) for number in range(24)]
STARS = [1.0 + number % 5 for number in range(24)]


def by_label(x: dict[str, float], label: int) -> dict[str, float]:
    return {f"{label}:{name}": value for name, value in x.items()}


def piped(*steps: nr.Transform, X: Any = NAMED, **options: Any) -> Victim:
    return rule("pa1", X, transforms=list(steps), **options)


def adapted(adapt: Callable[[Any], Any], y: Any = SIGNS, name: str = "pa1", X: Any = NAMED) -> Victim:
    return Victim(lambda native: adapt(nr.make(name, native=native)), X, y)


def with_questions(learner: Any) -> Any:
    delayed = nr.delayed(learner, room=5)
    for key in ("a", 2, 3.5):
        delayed.ask(key, NAMED[0])
    return delayed


def transferred(learner: Any) -> Any:
    return nr.transfer(nr.make("pa1", native=False).learn(NAMED, SIGNS), learner)


class ByLabel(nr.EnumeratingDecoder):
    """Labels as outputs."""

    def outputs(self, x: Any) -> list[int]:
        return [-1, 0, 1]

    def features(self, x: Any, y: Any) -> dict[str, float]:
        return by_label(x, y)


OF_THE_CALLER: dict[str, Any] = {"by_label": by_label, "ByLabel": ByLabel()}  # what a model file only names


def by_decoder(learner: Any) -> Any:
    return nr.make("structured", decoder=ByLabel(), learner=learner, competitor="k_best", k=2)


def jointly(learner: Any) -> Any:
    return nr.Joint(learner, by_label, [-1, 0, 1], cost={1: {0: 2.0}}, margin="sqrt")


WEIGHTS = {-1: 0.5, 1: 2.0}
VICTIMS: dict[str, Victim] = {
    "plain": rule("pa1"),
    "plain, numbered": rule("perceptron", MATRIX, algebra="sparse", bias=True),
    "plain, dense": rule("pa1", MATRIX, CLASSES),
    "plain, reference": rule("pa1", MATRIX, CLASSES, algebra="reference"),
    "plain, classes": rule("pa1", y=CLASSES),
    "positive": rule("winnow", COUNTS),
    "counts": rule("perceptron_averaged", y=CLASSES),
    "random start": rule("perceptron", random_start=0.1, seed=3),
    "average": rule("pa1", average=True),
    "average, classes": rule("arow", MATRIX, CLASSES, average=True),
    "scaled": rule("pegasos"),
    "scaled, classes": rule("romma", y=CLASSES),
    "scaled, norm": rule("alma", MATRIX),
    "lazy": rule("fobos"),
    "lazy, classes": rule("truncated_gradient", y=CLASSES),
    "lazy groups": rule("fobos_group", MATRIX, groups=2),
    "lazy groups, listed": rule("fobos_group", MATRIX, CLASSES, groups=[0, 1, 1, 0, 2]),
    "grouped": rule("group_lasso", MATRIX, groups=2),
    "grouped, sparse": rule("multitask", MATRIX, CLASSES, algebra="sparse"),
    "top k": rule("ofs", B=3),
    "top k, dense": rule("perceptron_truncated", MATRIX, CLASSES, B=4),
    "top k, partial": rule("ofs_partial", B=2, seed=5),
    "top k, partial, classes": rule("ofs_partial", MATRIX, CLASSES, B=2),
    "log weights": rule("eg_signed"),
    "log weights, dense": rule("mirror_descent", COUNTS, CLASSES),
    "log weights, pairs": rule("winnow_duplicated", COUNTS),
    "snapshot": rule("perceptron_batch", batch=5),
    "snapshot, gathered": rule("gradient_batch", y=CLASSES, batch=5),
    "reservoir": rule("perceptron_pocket", reservoir=6),
    "reservoir, classes": rule("perceptron_pocket", MATRIX, CLASSES, reservoir=6),
    "diagonal": rule("arow", y=CLASSES),
    "dropped": rule("sop", MATRIX, covariance="drop"),
    "full": rule("arow", MATRIX, covariance="full"),
    "full, classes": rule("cw", MATRIX, CLASSES, covariance="full"),
    "full, reference": rule("arow", MATRIX, covariance="full", algebra="reference"),
    "ellipsoid": rule("iellip", MATRIX),
    "kernel": rule("pa1", algebra="kernel", kernel="rbf"),
    "kernel, classes": rule("perceptron_averaged", MATRIX, CLASSES, algebra="kernel", kernel="polynomial"),
    "kernel, scaled": rule("pegasos", MATRIX, algebra="kernel", kernel="linear"),
    "kernel, voted": rule("perceptron_voted"),
    "kernel, budget": rule("perceptron", algebra="kernel", kernel="rbf", budget=5, policy="random"),
    "kernel, dense": rule("pa1", MATRIX, algebra="kernel", kernel="laplacian", budget=6),
    "kernel, matrix": rule("pa1", np.arange(24), algebra="kernel", kernel="precomputed",
                           gram=MATRIX @ MATRIX.T),
    "kernel, basis": rule("projectron", MATRIX, kernel="rbf", eta=0.3, budget=6),
    "kernel, neighbours": rule("budgeted_pa", MATRIX, kernel="rbf", method="nearest", budget=5),
    "kernel, all others": rule("budgeted_pa", MATRIX, kernel="rbf", method="full", budget=5),
    "projected": rule("ogd", MATRIX, CLASSES, onto="simplex"),
    "adaptive": rule("adadelta", y=CLASSES),
    "regression": rule("pa1", y=TARGETS, task="regression"),
    "regression, kernel": rule("adaline", MATRIX, TARGETS, task="regression", algebra="kernel", kernel="rbf"),
    "multilabel": rule("pa1", y=SETS, task="multilabel"),
    "ranking": rule("pa1", MATRIX, GRADES, QUERIES, task="ranking"),
    "one class": rule("pa1", MATRIX, None, task="one-class"),
    "bandit": rule("banditron", y=CLASSES, classes=["red", "green", "blue"]),
    "bandit, exponential": rule("exp3", MATRIX, CLASSES, classes=["red", "green", "blue"]),
    "structured": rule("arow", MATRIX, np.abs(TARGETS), task="structured"),
    "convex": rule("ogd", MATRIX, None, task="convex", dimension=5),
    "class weights": rule("pa1", class_weight=WEIGHTS, classes=[-1, 1]),
    "balanced": rule("pa1", class_weight="balanced"),
    "asked": rule("pa1", labels="asked", classes=[-1, 1]),
    "hashed": rule("pa1", bits=6),
    "hashed, scaled": rule("arow", bits=5, scale=True, bias=True, y=CLASSES),
    "scale": rule("pa1", scale=True, bias=True),
    "transforms": piped(nr.clip(2.0), nr.scale(only="f1"), nr.unit_norm()),
    "min max": piped(nr.log1p(), nr.min_max()),
    "tf idf": piped(nr.tf_idf()),
    "missing mean": piped(nr.missing("mean")),
    "missing indicator": piped(nr.missing("indicator"), nr.scale()),
    "squares": piped(nr.squares(), X=MATRIX),
    "pairs": piped(nr.pairs(), nr.min_max()),
    "one hot": piped(nr.one_hot()),
    "conjunctions": piped(nr.one_hot(only="f0"), nr.conjunctions(3, negate="f0")),
    "hashed pairs": piped(nr.pairs(between=[("f0", "f1")]), bits=6),
    "ratings": rule("factorisation", RATED, STARS, k=3),
    "ratings, averages": rule("factorisation", RATED, STARS, k=2, model="rmf", method="da"),
    "ratings, ranks": rule("factorisation", RATED, STARS, k=2, model="rmf", biases="no"),
    "ratings, mean": rule("rating_mean", RATED, STARS),
    "ratings, biases": rule("rating_biases", RATED, STARS),
    "delayed": adapted(with_questions),
    "transfer": adapted(transferred, name="arow"),
    "self training": adapted(nr.self_training, [None if number % 3 == 1 else y for number, y in enumerate(SIGNS)]),
    "joint": adapted(jointly),
    "structured output": adapted(by_decoder),
    "delayed joint": adapted(lambda learner: nr.delayed(jointly(learner))),
    **DECOMPOSITIONS,
    **TOPICS,
    **NETWORKS,
}  # fmt: skip
