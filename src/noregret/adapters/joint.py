"""Joint features: classes told apart by what a row and a class have together, with one vector of weights for all."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from noregret.data.labels import check_label
from noregret.errors import BadValue, shown
from noregret.learner.rule_learner import RuleLearner

Features = Callable[[Any, Any], Any]  # a dict of features


class Joint:
    """A learner of classes over `features(x, label)`, a dict for every class.

    A round is a list with a row for each class, the right one to be ranked first: the rule steps along the difference
    between the right class and the best other one. Two classes share what they know where they share features.
    """

    def __init__(self, learner: RuleLearner, features: Features, classes: Iterable[Any]) -> None:
        if getattr(learner, "task", None) != "ranking" or learner.params["pairs"] != "worst":
            raise BadValue(f'joint features hold the right class against one other: give a learner made with '
                           f'task="ranking", pairs="worst", not {shown(learner)}')  # fmt: skip
        if not callable(features):
            raise BadValue(f"features must be a function of a row and a label, not {shown(features)}")
        self.learner, self.features = learner, features
        self.classes = list(dict.fromkeys(check_label(label) for label in classes))
        if len(self.classes) < 2:
            raise BadValue(f"classes must name at least two different labels, not {self.classes}")

    def rows(self, x: Any) -> list[dict[Any, float]]:
        """What a row has together with every class."""
        found = [self.features(x, label) for label in self.classes]
        wrong = next((one for one in found if not isinstance(one, Mapping)), None)
        if wrong is not None:
            raise BadValue(f"features must return a dict of features, not {shown(wrong)}")
        return [dict(one) for one in found]

    def learn_one(self, x: Any, y: Any, weight: float | None = None) -> "Joint":
        """Learn one round."""
        if y not in self.classes:
            raise BadValue(f"the label {y!r} is not one of the classes {self.classes}")
        right = [float(label == y) for label in self.classes]
        self.learner.learn(self.rows(x), right, weight, query=[0] * len(right))
        return self

    def learn(self, X: Sequence[Any], y: Sequence[Any]) -> "Joint":
        """Learn every round, in order; a label that is none of the classes is refused before any of them."""
        strange = next((label for label in y if label not in self.classes), None)
        if strange is not None:
            raise BadValue(f"the label {strange!r} is not one of the classes {self.classes}")
        if len(X) != len(y):
            raise BadValue(f"X has {len(X)} rows and y has {len(y)} labels; they must match")
        rows = [row for x in X for row in self.rows(x)]
        right = [float(label == truth) for truth in y for label in self.classes]
        if rows:
            self.learner.learn(rows, right, query=[t for t in range(len(y)) for _ in self.classes])
        return self

    def scores_one(self, x: Any) -> dict[Any, float]:
        """The score of every class."""
        return dict(zip(self.classes, self.learner.scores(self.rows(x)).tolist(), strict=True))

    def predict_one(self, x: Any) -> Any:
        """The class with the best score, the first of equals; None before anything was learned."""
        if self.learner.model.arrays is None:
            return None
        scores = self.scores_one(x)
        return max(self.classes, key=lambda label: scores[label])

    def predict(self, X: Sequence[Any]) -> list[Any]:
        """The class of every row."""
        return [self.predict_one(x) for x in X]

    def __repr__(self) -> str:
        return f"<joint features of {len(self.classes)} classes: {self.learner!r}>"
