"""An estimator of every class and variant, and rows for them to learn."""

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor

import noregret as nr
import noregret.sklearn as face
from tests.conformance.plays import CARDS
from tests.support.cover import ALL, cover

BUILT_IN = CARDS


def variants(**told: Any) -> Iterator[Any]:
    """An estimator of every class, and of every variant where there are some."""
    for name in dir(face):
        made = getattr(face, name)
        if "variant" not in inspect.signature(made).parameters:
            yield made(**told)
            continue
        title = name.removesuffix("Classifier").removesuffix("Regressor")
        yield from (made(variant=card.name, **told) for card in BUILT_IN if card.title == title)


def traits(estimator: Any) -> list[tuple[bool, str, Any]]:
    """What of its card the code of an estimator looks at, one by one, for classifiers and for regressors."""
    card = estimator._member
    found = {
        "many classes": "multiclass" in card.tasks,
        "weights": card.supports_weights,
        "nonnegative": getattr(card, "nonnegative", False),
        "score": getattr(card, "score", None) is not None,
        "final": getattr(card, "final", None) is not None,
        "covariance": getattr(card, "keeps_covariance", False),
        "groups": getattr(card, "keeps_groups", False),
        "kernel only": card.algebras == ("kernel",),
        "variants": "variant" in estimator.get_params(),
    }
    return [(is_classifier(estimator), name, value) for name, value in found.items()]


ESTIMATORS = list(variants())
ONE_OF_A_KIND = ESTIMATORS if ALL else cover(ESTIMATORS, traits)
# For what the code that all share promises, and for many passes, which only compiled loops play quickly.
FEW = ESTIMATORS if ALL else cover(ESTIMATORS, lambda one: [*(trait[1:] for trait in traits(one)), is_classifier(one)])
OFTEN = [
    face.AROWClassifier(),
    face.PassiveAggressiveClassifier(variant="pa1"),
    face.PassiveAggressiveRegressor(variant="pa1"),
]
OF_MANY = [estimator for estimator in FEW if "multiclass" in estimator._member.tasks]
CLASSIFIERS = [estimator for estimator in OF_MANY if is_classifier(estimator)]
every = pytest.mark.parametrize("estimator", OF_MANY, ids=str)
every_classifier = pytest.mark.parametrize("estimator", CLASSIFIERS, ids=str)


def adds_up(fitted: Any) -> bool:
    """Whether its score is a weighted sum of the features: `auto` averages such sums, but in classification votes."""
    card = fitted.learner_.card
    if isinstance(card, nr.RuleCard):
        return card.score is None and bool(fitted.learner_.algebra != "kernel")
    if card.name == "softmax":  # AdaGrad by another name, without transforms
        return True
    return bool(card.name == "auto") and is_regressor(fitted)


def stream(classes: int = 2, rows: int = 120) -> tuple[Any, Any]:
    """Noisy rows of the given classes, all of them among the first rows."""
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(rows, 6)) * (rng.random((rows, 6)) < 0.7)
    y = np.argmax(X @ rng.normal(size=(6, classes)) + 0.3 * rng.normal(size=(rows, classes)), axis=1)
    y[:classes] = np.arange(classes)
    return X, y
