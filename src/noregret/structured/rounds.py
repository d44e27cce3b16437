"""One round of structured output: what the decoder is asked, and the signed example that the rule learns from."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from noregret.data.blocks import flatten_dicts
from noregret.errors import BadValue, is_quit, shown
from noregret.learner.all_constraints import combine, tabulate
from noregret.learner.rule_learner import RuleLearner
from noregret.structured.decoder import Features, Weights, same_output
from noregret.structured.learned_weights import LearnedWeights
from noregret.structured.setup import TOGETHER, Setup

Example = tuple[dict[Any, float], float]
NOTHING: Example = ({}, 0.0)  # the outputs have the same features: a round without a step


class Round:
    """An input, its number in the call, and the answers of the decoder, checked. Errors name the round."""

    def __init__(self, setup: Setup, learner: RuleLearner, number: int, x: Any) -> None:
        self.setup, self.learner, self.number, self.x = setup, learner, number, x
        self.final = LearnedWeights(learner)
        averaged = learner.config.card.final is not None or learner.config.average is not None
        self.training = LearnedWeights(learner, True) if averaged else self.final

    def ask(self, method: str, *given: Any) -> Any:
        """What a method of the decoder returns."""
        try:
            return getattr(self.setup.decoder, method)(*given)
        except BadValue as error:
            raise self.renumber(error, f"{self.setup.name}.{method}: ") from error
        except Exception as error:
            if is_quit(error):
                raise
            text = f"row {self.number}: {self.setup.name}.{method} raised {type(error).__name__}: {error}"
            raise BadValue(text, self.number) from error

    def has(self, method: str) -> bool:
        return callable(getattr(self.setup.decoder, method, None))

    def check(self, y: Any) -> None:
        """Refuse an output that the input cannot have, where the decoder can tell."""
        if self.has("check"):
            self.ask("check", self.x, y)

    def predict(self, w: Weights) -> Any:
        return self.ask("argmax", w, self.x)

    def loss(self, y: Any, output: Any) -> float:
        """The loss of an output, a finite number of at least 0."""
        found = self.ask("loss", y, output)
        try:
            loss = float(found)
        except (TypeError, ValueError, OverflowError):
            loss = math.nan
        if not 0.0 <= loss < math.inf:
            raise BadValue(f"row {self.number}: {self.setup.name}.loss must return a finite number of at least 0, not "
                           f"{shown(found)}", self.number)  # fmt: skip
        return loss

    def is_right(self, y: Any, output: Any) -> bool:
        """Whether an output is the right one, or as good."""
        return bool(self.ask("same", y, output)) if self.has("same") else same_output(y, output)

    def features(self, output: Any) -> Features:
        found = self.ask("features", self.x, output)
        if not isinstance(found, Mapping):
            raise BadValue(f"row {self.number}: {self.setup.name}.features must return a dict of features, not "
                           f"{shown(found)}", self.number)  # fmt: skip
        return found

    # ---- the example ---------------------------------------------------------------------------------------------

    def example(self, y: Any, predicted: Any, weight: float) -> Example:
        """z = Phi(x, y) - Phi(x, rival) and the required margin; of several rivals, the mean of their constraints."""
        rivals = [rival for rival in self.rivals(y, predicted) if not self.is_right(y, rival)]
        if not rivals:
            return NOTHING
        truth = self.features(y)
        examples = [self.difference(truth, self.features(rival)) for rival in rivals]
        required = [self.setup.required(self.loss(y, rival)) for rival in rivals]
        if self.setup.competitor not in TOGETHER:
            return examples[0], required[0]
        different = [place for place, z in enumerate(examples) if z]
        if not different:
            return NOTHING
        names, Z = tabulate([examples[place] for place in different])
        owed = np.array([required[place] for place in different])
        missing = owed - self.training.dots([examples[place] for place in different])
        return combine(self.learner, names, Z, owed, missing, weight)

    def rivals(self, y: Any, predicted: Any) -> list[Any]:
        """The outputs that the right one must beat; `predicted` is that of the weights that predict."""
        competitor, w = self.setup.competitor, self.training
        if competitor == "all":
            return list(self.ask("outputs", self.x))
        if competitor == "k_best":
            return list(self.ask("k_best", w, self.x, y, self.setup.k))
        best = predicted if w is self.final else self.predict(w)
        return [best] if competitor == "predicted" else [self.max_loss(y, best)]

    def max_loss(self, y: Any, best: Any) -> Any:
        """The output whose required margin is missed by most.

        The search of a decoder adds the loss itself. Where the margin is another function of the loss, all outputs are
        tried or, where there are too many, the output found and the best one without losses.
        """
        if self.setup.margin == "loss" and self.has("argmax_augmented"):
            return self.ask("argmax_augmented", self.training, self.x, y)
        if self.has("outputs"):
            candidates = list(self.ask("outputs", self.x))
        elif self.has("argmax_augmented"):
            candidates = [self.ask("argmax_augmented", self.training, self.x, y), best]
        else:
            candidates = [*self.ask("k_best", self.training, self.x, y, self.setup.k), best]
        found = self.training.dots([self.features(output) for output in candidates])
        owed = [0.0 if self.is_right(y, output) else self.setup.required(self.loss(y, output)) for output in candidates]
        return candidates[int(np.argmax(found + owed))]

    def difference(self, truth: Features, rival: Features) -> dict[Any, float]:
        """The features in which two outputs differ, and by how much."""
        try:
            flatten_dicts([truth, rival])  # which refuses what is no finite number
        except BadValue as error:
            raise self.renumber(error, f"{self.setup.name}.features: ") from None
        z = dict(truth)
        for name, value in rival.items():
            z[name] = z.get(name, 0.0) - value
        return {name: float(value) for name, value in z.items() if value != 0.0}

    def step(self, example: Example, weight: float | None) -> bool:
        """Learn the example; says whether the rule updated."""
        try:
            updated = self.learner.step(*example, weight)
        except BadValue as error:
            raise self.renumber(error) from error
        return updated and bool(example[0])

    def renumber(self, error: BadValue, where: str = "") -> BadValue:
        """The error with the number of this round, in place of that of a row which the caller never saw."""
        text = str(error).removeprefix(f"row {error.row}, ").removeprefix(f"row {error.row}: ")
        return BadValue(f"row {self.number}: {where}{text}", self.number)
