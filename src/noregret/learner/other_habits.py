"""What users of scikit-learn and River look for in a learner, and what it is called here."""

from typing import TYPE_CHECKING, Any

SAME_HERE = {
    "fit": "learn(X, y)",
    "partial_fit": "learn(X, y)",
    "learn_many": "learn(X, y)",
    "fit_transform": "learn(X).transform(X)",
    "fit_predict": "learn(X).predict(X)",
    "predict_many": "predict(X)",
    "transform_many": "transform(X)",
    "decision_function": "scores(X)",
    "score_samples": "log_density(X)",
    "cluster_centers_": "centres",
    "labels_": "predict(X)",
    "inertia_": "inertia(X)",
    "coef_": "weights",
    "n_features_in_": "features",
    "feature_names_in_": "feature_names",
    "classes_": "classes",
}


class OtherHabits:
    """An attribute that is missing is an error, which says what it is called here."""

    if not TYPE_CHECKING:  # checkers of types know which attributes there are

        def __getattr__(self, name: str) -> Any:
            text = f"{type(self).__name__!r} object has no attribute {name!r}"
            here = SAME_HERE.get(name) or (name.removesuffix("_") if name.endswith("_") else "")
            first = here.partition("(")[0]
            if first and not first.startswith("_") and (hasattr(type(self), first) or first in vars(self)):
                text += f"; here it is {here}"
            raise AttributeError(text, name=name, obj=self)
