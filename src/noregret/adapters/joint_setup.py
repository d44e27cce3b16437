"""The classes, costs and options of joint features, checked, and the learner that plays them."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from noregret.data.labels import as_array, check_label
from noregret.errors import BadValue, shown
from noregret.learner.all_constraints import check_rule
from noregret.learner.arguments import as_rule_learner
from noregret.learner.factory import make
from noregret.learner.rule_learner import RuleLearner

Floats = NDArray[np.float64]
COMPETITORS = {"runner_up": "worst", "max_loss": "max_loss", "all": "worst"}  # and the pairs of a list they learn from
OWN_OPTIONS = ("task", "pairs", "task.pairs", "classes", "cost", "margin", "competitor")


class JointSetup:
    """Classes, costs and options. A multiclass learner of the same rule, never trained, checks and defines them."""

    def __init__(self, rule: RuleLearner, classes: list[Any], given: Mapping[str, Any]) -> None:
        self.classes, self.given = classes, dict(given)
        self.competitor: str = given["competitor"]
        rival = "max_loss" if self.competitor == "all" else self.competitor
        options = {name: given[name] for name in ("cost", "margin") if given[name] is not None}
        shared = {name: value for name, value in rule.config.given.items() if name not in OWN_OPTIONS}
        shared = {name: value for name, value in shared.items() if name not in ("scale", "transforms", "average")}
        alike = make(rule.card, **shared, task="multiclass", classes=classes, competitor=rival, **options)
        self.multiclass = cast(Any, alike.model.task)  # a Multiclass
        self.labels = alike.model.labels
        size = len(classes)
        self.required: Floats = np.broadcast_to(self.multiclass.required_margins(self.labels, size), (size, size))

    @property
    def options(self) -> dict[str, Any]:
        """The options in force, for reports."""
        return {"cost": self.costs, "margin": self.multiclass.chosen["margin"], "competitor": self.competitor}

    @property
    def costs(self) -> list[list[Any]] | None:
        return None if self.multiclass.cost is None else [list(entry) for entry in self.multiclass.cost]

    def dump(self) -> dict[str, Any]:
        """The options as given, for the model file."""
        return {"cost": self.costs, "margin": self.given["margin"], "competitor": self.competitor}

    def encode(self, y: Any, rows: int) -> NDArray[np.int64]:
        """The number of the class of every row."""
        if y is None or isinstance(y, (str, bytes, Mapping)) or not hasattr(y, "__len__"):
            raise BadValue(f"y must be a list or an array of labels, not {shown(y)}")
        if len(y) != rows:
            raise BadValue(f"X has {rows} rows and y has {len(y)} labels; they must match")
        code = {label: number for number, label in enumerate(self.classes)}
        codes = np.zeros(rows, np.int64)
        for row, label in enumerate(y):
            plain = label.item() if isinstance(label, np.generic) else label
            if not isinstance(plain, (bool, int, float, str)) or plain not in code:
                raise BadValue(f"row {row}: the label {shown(plain)} is not one of the classes {self.classes}", row)
            codes[row] = code[plain]
        return codes

    def decide(self, scores: Floats) -> NDArray[Any]:
        """The class with the highest score, the first of equals."""
        return np.asarray(as_array(self.classes)[np.argmax(scores, axis=1)]) if len(scores) else np.zeros(0)

    def losses(self, scores: Floats, truth: NDArray[np.int64]) -> Floats:
        """The loss of every round: that of the margin over the competitor, or of the margin missed by most."""
        rounds = np.arange(len(truth))
        required = self.required[truth]
        others = scores.copy()
        others[rounds, truth] = -np.inf
        rival = np.argmax(others if self.competitor == "runner_up" else others + required, axis=1)
        margins = scores[rounds, truth] - others[rounds, rival] - (required[rounds, rival] - 1.0)
        with np.errstate(over="ignore"):
            return np.asarray(self.multiclass.loss.value(margins), np.float64)


def prepare(learner: Any, classes: Iterable[Any], given: Mapping[str, Any]) -> tuple[JointSetup, RuleLearner]:
    """The options, checked, and a learner that plays them: the one given if it fits, else a fresh one like it."""
    rule = as_rule_learner(learner, "joint", "its rule steps along differences of features")
    competitor = given["competitor"]
    if not isinstance(competitor, str) or competitor not in COMPETITORS:
        raise BadValue(f"competitor must be one of {', '.join(COMPETITORS)}, not {shown(competitor)}")
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        raise BadValue(f"classes must be a list of labels, not {shown(classes)}")
    labels = list(dict.fromkeys(check_label(label) for label in classes))
    if len(labels) < 2:
        raise BadValue(f"classes must name at least two different labels, not {labels}")
    pairs = COMPETITORS[competitor]
    fits = rule.model.task.needs_query and rule.params["pairs"] == pairs
    if rule.rounds and not fits:
        raise BadValue(f'joint features with competitor="{competitor}" need a fresh learner, or one that has learned '
                       f'with task="ranking", pairs="{pairs}", not {shown(rule)}')  # fmt: skip
    shared = {name: value for name, value in rule.config.given.items() if name not in OWN_OPTIONS}
    if competitor == "all":  # the limit of a step must be known before the step is
        shared = {name: one.measured for name, one in rule.card.numbers.items() if one.per_size is not None} | shared
    player = rule if fits else make(rule.card, **shared, task="ranking", pairs=pairs)
    if competitor == "all":
        check_rule(player, 'competitor="all"')
    return JointSetup(rule, labels, given), player
