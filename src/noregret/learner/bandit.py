"""Bandit feedback in live use: choose a class for a row, act on it, and report later how good it was."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.partial_features import next_random
from noregret.cached_property import cached_property
from noregret.data.blocks import verify
from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.data.labels import as_array
from noregret.errors import BadValue, shown
from noregret.learner.change import Change
from noregret.learner.encode import encode_rows
from noregret.learner.engine import Loops
from noregret.learner.model import Model
from noregret.rules.parameters import bindings
from noregret.rules.specialize import rebind, specializer
from noregret.state.growth import make
from noregret.state.space import enlarge
from noregret.tasks.bandit import Bandit, past_plays
from noregret.tasks.bandit import drawn as drawn


class Chosen(NamedTuple):
    """A class that was chosen and the chance it had; of several rows, an array of each."""

    label: Any
    chance: Any


class BanditFeedback:
    """What a learner of the bandit task does in live use: choose now, learn the reward later."""

    model: Model
    _loops: Loops
    _lock: threading.RLock
    _change: Change

    @cached_property
    def _chances(self) -> Callable[..., None]:
        card, config = self.model.card, self.model.config
        assert card.chances is not None
        return specializer(bindings(card.choices, dict(config.choices)), rebind, "chosen")(card.chances)

    def choose(self, X: RowsLike) -> Chosen:
        """A class for every row, drawn at random, and the probability each had. Nothing is learned from it."""
        played, chance = self._draw(X)
        return Chosen(as_array(self.model.labels.order)[played], chance)

    def choose_one(self, x: RowLike = None) -> Chosen:
        """A class for one row, drawn at random, and the probability it had. Nothing is learned from it."""
        played, chance = self._draw(self._one(x))
        return Chosen(self.model.labels.order[played[0]], float(chance[0]))

    def _draw(self, X: RowsLike) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The numbers of the classes drawn, and their probabilities; only the random numbers go on."""
        with self._lock:
            self._change.settle()
            require_bandit(self.model)
            scores = self._first_scores(X) if self.model.arrays is None else self.scores(X)
            played, chance = np.zeros(len(scores), np.int64), np.zeros(len(scores))
            if not len(scores):
                return played, chance

            def draw() -> None:
                n, odds = self.model.arrays.n, np.zeros(scores.shape[1])
                random = float(n.random)
                for t, f in enumerate(scores):
                    self._chances(self.model.config.params, self.model.arrays, f, odds)
                    random = next_random(random)
                    played[t] = drawn(odds, random)
                    chance[t] = odds[played[t]]
                n.random = random  # in this step the random numbers have gone on

            self._change.run(draw, lambda: None)
            return played, chance

    def _first_scores(self, X: RowsLike) -> NDArray[np.float64]:
        """The scores before any round: all zero, of a state that knows no feature yet."""
        model = self.model

        def start() -> int:
            block = verify(encode_rows(model, X, grow=False, include_unknown=model.scores_unknown))
            if block.rows and model.arrays is None:  # a call may have come just before the change
                space = enlarge(model.empty_space(model.choose_algebra(block)), 0, len(model.labels))
                model.arrays, model.space = make(model.shape, space), space
                self._loops.bind(model)
            return block.rows

        rows = self._change.save_and_run(lambda: self._loops.save(model), start)
        return self.scores(X) if model.rounds else np.zeros((rows, len(model.labels)))

    def reward(self, X: RowsLike, chosen: Any, right: Any = None, *, loss: Any = None) -> Self:
        """Learn how good the classes chosen for some rows were: whether each was right, or its loss from 0 to 1."""
        with self._lock:
            self._change.settle()
            require_bandit(self.model)
            label, chance = split_choice(chosen)
            if isinstance(label, (str, bytes)) or not hasattr(label, "__len__"):
                raise BadValue(f"the labels chosen must be a list or an array, not {shown(label)}")
            played = np.array([check_class(self.model, one) for one in label], float)
            loss_values = check_losses(self.model, right, loss, len(played))
            self._play(X, past_plays(played, check_chances(chance, len(played)), loss_values), None)
        return self

    def reward_one(self, x: RowLike, chosen: Any, right: Any = None, *, loss: Any = None) -> Self:
        """Learn how good the class chosen for one row was: whether it was right, or its loss from 0 to 1."""
        label, chance = split_choice(chosen)
        single = [None if one is None else [one] for one in (right, loss)]
        return self.reward(self._one(x), Chosen([label], [chance]), single[0], loss=single[1])

    @property
    def asked(self) -> int:
        """How many labels were asked for; where all of them are revealed, all rounds."""
        if not self.model.task.queries_labels:
            return self.model.rounds
        return 0 if self.model.arrays is None else int(self.model.arrays.n.asked)

    if TYPE_CHECKING:  # what the learner has

        def scores(self, X: RowsLike) -> NDArray[np.float64]: ...
        def _one(self, x: RowLike) -> Any: ...
        def _play(self, X: RowsLike, y: LabelsLike, weight: WeightsLike) -> Any: ...


def require_bandit(model: Model) -> None:
    if not isinstance(model.task, Bandit):
        raise BadValue(f"{model.card.name} sees the truth: use predict and learn. Choosing is for the bandit task")


def split_choice(chosen: Any) -> tuple[Any, Any]:
    """The label and the chance of what was chosen."""
    if not isinstance(chosen, (tuple, list)) or len(chosen) != 2:
        raise BadValue(f"what was chosen is a pair of a label and its chance, as choose gives it, not {shown(chosen)}")
    return chosen[0], chosen[1]


def check_class(model: Model, label: Any) -> int:
    label = label.item() if isinstance(label, np.generic) else label
    known = model.labels.code.get(label) if isinstance(label, (bool, int, float, str)) else None
    if known is None:
        raise BadValue(f"the label {shown(label)} is not one of the classes {model.labels.order}")
    return known


def check_numbers(what: str, given: Any, rows: int) -> np.ndarray:
    """One finite number for every row."""
    try:
        found = np.asarray(given)
    except ValueError:
        found = np.asarray(None)
    if found.dtype.kind not in "fiub" or found.shape != (rows,) or not np.isfinite(found).all():
        raise BadValue(f"{what} must be one number for every row, {rows} in all, not {shown(given)}")
    return found.astype(float)


def check_chances(given: Any, rows: int) -> np.ndarray:
    found = check_numbers("the chance of what was chosen", given, rows)
    if not ((found > 0.0) & (found <= 1.0)).all():
        raise BadValue(f"the chance of what was chosen must be above 0 and at most 1, not {shown(given)}")
    return found


def check_losses(model: Model, right: Any, loss: Any, rows: int) -> np.ndarray:
    """The losses of the choices: 0 where right and 1 where wrong, or the losses given."""
    if (right is None) == (loss is None):
        raise BadValue("say whether what was chosen was right (right=True), or its loss (loss=0.3): one of both")
    if loss is None:
        truths = right.tolist() if hasattr(right, "tolist") else list(right) if hasattr(right, "__len__") else [right]
        if len(truths) != rows or not all(isinstance(one, bool) for one in truths):
            raise BadValue(f"right must be True or False for every row, {rows} in all, not {shown(right)}")
        return np.array([0.0 if one else 1.0 for one in truths])
    found = check_numbers("loss", loss, rows)
    if not ((found >= 0.0) & (found <= 1.0)).all():
        raise BadValue(f"a loss must be from 0 to 1, not {shown(loss)}")
    if not model.card.real_valued_losses and not np.isin(found, (0.0, 1.0)).all():
        raise BadValue(f"{model.card.name} knows right and wrong only: a loss must be 0 or 1, not {shown(loss)}")
    return found
