"""The learners as scikit-learn estimators: its own checks, and what a user of it would try."""

import inspect
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.validation import has_fit_parameter

import noregret as nr
import noregret.sklearn as face
from noregret.algebra import add, sqnorm
from noregret.interop import classifier, regressor
from noregret.rules.rule_card import P, S, Z
from noregret.sklearn import AROWClassifier, PassiveAggressiveClassifier
from tests.interop.estimators import BUILT_IN, FEW, OFTEN, ONE_OF_A_KIND, every, stream
from tests.support.cover import ALL

WEIGHED_IS_NOT_REPEATED = (
    "a row of weight 2 is one round of twice the importance, a row given twice is two rounds, the second of which sees "
    "the weights the first has left; scikit-learn's SGDClassifier differs here too"
)
EQUIVALENCES = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


def expected_to_fail(estimator: Any) -> dict[str, str]:
    """The equivalences of weights and repetitions, for estimators that support weights."""
    weighs = has_fit_parameter(estimator, "sample_weight")
    found = dict.fromkeys(EQUIVALENCES, WEIGHED_IS_NOT_REPEATED) if weighs else {}
    if "BottouASGD" in str(estimator):
        found["check_class_weight_classifiers"] = "the first steps, of weight 1000, stay in the average of few rounds"
    return found


@estimator_checks.parametrize_with_checks(FEW, expected_failed_checks=expected_to_fail)  # type: ignore[untyped-decorator]
@pytest.mark.thinned(6)
def test_passes_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "estimator", [clone(one).set_params(passes=100) for one in (ONE_OF_A_KIND if ALL else OFTEN)], ids=str
)
def test_learns_as_well_as_the_checks_ask_when_it_may_see_the_rows_often(estimator: Any) -> None:
    name = type(estimator).__name__
    if name.startswith("NORMA"):
        estimator.set_params(schedule="inv_sqrt")  # constant steps, its default, follow drift and do not settle
    if is_regressor(estimator):
        estimator_checks.check_regressors_train(name, estimator)
    else:
        estimator_checks.check_classifiers_train(name, estimator)
        # A weight of 1000 makes the steps of any Adaline longer than 2 / R^2, beyond which they grow without end, and
        # those of Pegasos and NORMA, which fall as 1 / (lam t) and 1 / sqrt(t), so long that they settle only after a
        # thousand or a million times the rounds.
        if "class_weight" in estimator.get_params() and not any(one in name for one in ("Adaline", "Pegasos", "NORMA")):
            estimator_checks.check_class_weight_classifiers(name, estimator)


@pytest.mark.parametrize("estimator", ONE_OF_A_KIND, ids=str)
def test_few_say_that_they_learn_the_data_of_the_checks_poorly(estimator: Any) -> None:
    tags = clone(estimator).set_params(passes=100).__sklearn_tags__()
    poor = (tags.regressor_tags or tags.classifier_tags).poor_score
    names = ("WinnowClassifier", "EGClassifier")  # positive weights, and data that are centred
    assert poor == (type(estimator).__name__ in names)


# ---- the classes -----------------------------------------------------------------------------------------------------


def test_there_is_a_class_for_every_title_and_task_and_nothing_else() -> None:
    expected = {f"{card.title}Classifier" for card in BUILT_IN if "binary" in card.tasks and card.name != "majority"}
    expected |= {f"{card.title}Regressor" for card in BUILT_IN if "regression" in card.tasks}
    expected |= {f"{name}{kind}" for name in ("Auto", "FOGD", "NOGD") for kind in ("Classifier", "Regressor")}
    expected |= {"SoftmaxClassifier", "HBPClassifier", "MLPClassifier", "MLPRegressor"}
    assert sorted(expected) == dir(face) == list(face.__all__)
    assert {"AROWClassifier", "PassiveAggressiveRegressor", "AveragedPerceptronClassifier"} <= expected
    with pytest.raises(AttributeError, match="has no attribute 'HalvedClassifier'"):
        face.HalvedClassifier  # noqa: B018


@every
def test_says_its_parameters_paper_and_theorem(estimator: Any) -> None:
    made = type(estimator)
    assert made.__module__ == "noregret.sklearn"
    assert getattr(face, made.__qualname__) is made
    text = inspect.getdoc(made) or ""
    assert all(f"\n{name} : " in text for name in inspect.signature(made).parameters)
    card = nr.learners()[getattr(estimator, "variant", None) or estimator.fit(*stream()).learner_.card.name]
    assert card.paper in text
    no_theorem = ("adadelta", "auto", "hbp", "mlp")  # the bound of auto depends on its entries: every run reports it
    assert all(one.says in text for one in card.guarantees) if card.guarantees else card.name in no_theorem


def test_shows_only_what_was_changed() -> None:
    assert repr(AROWClassifier(r=0.5)) == "AROWClassifier(r=0.5)"
    assert "AROWClassifier" in AROWClassifier()._repr_html_()


@every
def test_takes_weights_only_where_the_rule_can_weigh(estimator: Any) -> None:
    X, y = stream()
    weighs = estimator.fit(X, y).learner_.card.supports_weights
    for method in ("fit", "partial_fit"):
        assert ("sample_weight" in inspect.signature(getattr(estimator, method)).parameters) == weighs
        if not weighs:
            with pytest.raises(TypeError, match="sample_weight"):
                getattr(estimator, method)(X, y, sample_weight=np.ones(len(y)))
    assert ("class_weight" in estimator.get_params()) == (weighs and is_classifier(estimator))


@every
def test_a_parameter_outside_its_limits_is_named_when_fitting(estimator: Any) -> None:
    X, y = stream()
    lower = {"r", "C", "eta", "eta0", "gamma", "lam", "alpha", "theta", "eps", "passes"}
    others = {name for card in estimator._family.cards for name in card.params} - set(estimator._member.params)
    others |= set() if getattr(estimator._member, "keeps_groups", False) else {"groups"}
    for name in sorted(set(estimator.get_params()) - others - {"random_state", "class_weight"}):
        broken = clone(estimator).set_params(**{name: -1.0 if name in lower else "no such thing"})
        with pytest.raises(ValueError, match=rf"\b{name}\b"):
            broken.fit(X, y)
        with pytest.raises(NotFittedError):
            broken.predict(X)


def test_class_weights_outside_their_limits_are_named() -> None:
    X, y = stream()
    for bad in ({1: -1.0}, {0: "much"}, "unbalanced", 3):
        with pytest.raises(ValueError, match="class_weight"):
            AROWClassifier(class_weight=bad).fit(X, y)
    with pytest.raises(ValueError, match="balanced"):
        AROWClassifier(class_weight="balanced").partial_fit(X, y)
    with pytest.raises(ValueError, match="class_weight must be None: pa does not support weights"):
        PassiveAggressiveClassifier(variant="pa", class_weight={1: 2.0}).fit(X, y)


def test_a_variant_may_change_together_with_what_only_it_takes() -> None:
    estimator = PassiveAggressiveClassifier(variant="pa")
    estimator.set_params(class_weight={1: 2.0}, variant="pa2", C=0.5)
    assert estimator.get_params()["class_weight"] == {1: 2.0}
    assert estimator.fit(*stream()).learner_.card.name == "pa2"


# ---- in company ------------------------------------------------------------------------------------------------------


@pytest.mark.thinned(3)
@every
def test_survives_pickling_and_goes_on_learning(estimator: Any) -> None:
    X, y = stream(3)
    fitted = clone(estimator).set_params(random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(again.partial_fit(X, y + 1).predict(X), fitted.partial_fit(X, y + 1).predict(X))
    assert not hasattr(clone(fitted), "learner_")


def test_works_in_pipelines_searches_and_cross_validation() -> None:
    X, y = stream(3)
    pipeline = make_pipeline(StandardScaler(), AROWClassifier(random_state=0))
    search = GridSearchCV(pipeline, {"arowclassifier__r": [0.1, 10.0], "arowclassifier__covariance": ["full", "drop"]})
    assert search.fit(X, y).best_score_ > 0.7
    assert min(cross_validate(pipeline, X, y)["test_score"]) > 0.6
    grid = [{"variant": ["pa"]}, {"variant": ["pa1", "pa2"], "C": [0.1, 1.0], "class_weight": [None, "balanced"]}]
    search = GridSearchCV(PassiveAggressiveClassifier(random_state=0), grid, error_score="raise")
    assert len(search.fit(X, y).cv_results_["params"]) == 9


def test_names_of_columns_are_kept_and_their_order_is_checked() -> None:
    import pandas

    X, y = stream()
    table = pandas.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])
    fitted = AROWClassifier().fit(table, y)
    assert fitted.feature_names_in_.tolist() == list(table.columns)
    assert fitted.n_features_in_ == X.shape[1]
    with pytest.raises(ValueError, match="order"):
        fitted.predict(table[table.columns[::-1]])


# ---- a rule of one's own ---------------------------------------------------------------------------------------------


@nr.margin_rule(
    paper="mine, here, 2026",
    state={"w": nr.plain},
    params={"C": nr.Param(0.7, above=0.0, about="cap")},
    weight_param="C",
)
def halved(p: P, s: S, z: Z, margin: float) -> bool:
    """Half a passive-aggressive step, capped."""
    if margin < 1.0:
        add(s.w, min(p.C, 0.5 * (1.0 - margin) / sqnorm(z)), z)
        return True
    return False


@nr.margin_rule(paper="mine, here, 2026", state={"w": nr.plain}, params={"passes": nr.Param(1.0)}, title="Clash")
def clashing(p: P, s: S, z: Z, margin: float) -> bool:
    """Moves on mistakes; its parameter has the name of one that every estimator has."""
    return False


HalvedClassifier = classifier(halved)
HalvedRegressor = regressor(halved)


def test_a_rule_of_ones_own_is_an_estimator_like_any_other() -> None:
    X, y = stream(3)
    fitted = HalvedClassifier(C=0.2, passes=3).fit(X, y)
    assert repr(fitted) == "HalvedClassifier(C=0.2, passes=3)"
    assert fitted.score(X, y) > 0.7
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))
    assert HalvedRegressor().fit(X, y).predict(X).shape == y.shape
    assert classifier(halved) is HalvedClassifier
    assert "HalvedClassifier" not in dir(face)
    with pytest.raises(nr.BadValue, match="C must be above 0"):
        HalvedClassifier(C=-1.0).fit(X, y)


def test_says_why_a_rule_cannot_be_an_estimator() -> None:
    with pytest.raises(nr.BadValue, match=r"from noregret\.sklearn import AROWClassifier"):
        classifier(nr.learners().rules["arow"])
    with pytest.raises(nr.BadValue, match="cannot play regression"):
        regressor(clashing)
    with pytest.raises(nr.BadValue, match="passes is a parameter that every estimator has"):
        classifier(clashing)
