"""An estimator of every class and variant, and rows for them to learn."""

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier

import noregret.sklearn as face
from tests.conformance.plays import ALL, CARDS

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


def kind(estimator: Any) -> tuple[Any, ...]:
    """What of its card decides how an estimator behaves where scikit-learn looks."""
    card = estimator._member
    hooks = tuple(hook is not None for hook in (card.score, card.weight, card.final))
    positive = any(field.law == "multiply" for field in card.state.values())
    tasks = tuple(task in card.tasks for task in ("multiclass", "regression"))
    return is_classifier(estimator), card.kind, hooks, tasks, card.supports_weights, card.keeps_covariance, positive


ESTIMATORS = list(variants())
ONE_OF_A_KIND = ESTIMATORS if ALL else list({kind(estimator): estimator for estimator in ESTIMATORS}.values())
OF_MANY = [estimator for estimator in ONE_OF_A_KIND if "multiclass" in estimator._member.tasks]
CLASSIFIERS = [estimator for estimator in OF_MANY if is_classifier(estimator)]
every = pytest.mark.parametrize("estimator", OF_MANY, ids=str)
every_classifier = pytest.mark.parametrize("estimator", CLASSIFIERS, ids=str)


def stream(classes: int = 2, rows: int = 120) -> tuple[Any, Any]:
    """Noisy rows of the given classes, all of them among the first rows."""
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(rows, 6)) * (rng.random((rows, 6)) < 0.7)
    y = np.argmax(X @ rng.normal(size=(6, classes)) + 0.3 * rng.normal(size=(rows, classes)), axis=1)
    y[:classes] = np.arange(classes)
    return X, y
