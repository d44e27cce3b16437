"""Choosing, where nobody knows the truth: a class is drawn and played, and later it is told how good it was."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from noregret.algebra.partial_features import next_random
from noregret.data.blocks import verify
from noregret.data.labels import as_array
from noregret.errors import BadValue, shown
from noregret.rules.card import bindings
from noregret.rules.specialize import grafting, rebound
from noregret.state.growth import enlarged, make
from noregret.tasks.bandit import told_of_plays
from noregret.tasks.loops.bandit import drawn

if TYPE_CHECKING:
    from noregret.learner.rule_learner import Learner


class Chosen(NamedTuple):
    """A class that was chosen and the chance it had; of several rows, an array of each."""

    label: Any
    chance: Any


class Chooser:
    """What a learner of the bandit task does in life: choose, and be told later."""

    @cached_property
    def _chances(self) -> Callable[..., None]:
        card, settings = learner_of(self).card, learner_of(self).settings
        assert card.chances is not None
        return grafting(bindings(card.choices, dict(settings.choices)), rebound, "chosen")(card.chances)

    def choose(self, X: Any) -> Chosen:
        """A class for every row, drawn by chance, and the chances they had. Nothing is learned from it."""
        played, chance = self._draw(X)
        return Chosen(as_array(learner_of(self).labels.order)[played], chance)

    def choose_one(self, x: Any = None) -> Chosen:
        """A class for one row, drawn by chance, and the chance it had. Nothing is learned from it."""
        played, chance = self._draw(learner_of(self).one(x))
        return Chosen(learner_of(self).labels.order[played[0]], float(chance[0]))

    def _draw(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the classes drawn, and their chances; only the random numbers go on."""
        learner = learner_of(self)
        with learner._lock:
            must_play_bandit(learner)
            scores = first_scores(learner, X) if learner.state is None else learner.scores(X)
            played, chance = np.zeros(len(scores), int), np.zeros(len(scores))
            if not len(scores):
                return played, chance
            n, odds = learner.state.n, np.zeros(scores.shape[1])
            for t, f in enumerate(scores):
                self._chances(learner.settings.params, learner.state, f, odds)
                n.random = next_random(float(n.random))
                played[t] = drawn(odds, n.random)
                chance[t] = odds[played[t]]
            return played, chance

    def reward(self, X: Any, chosen: Any, right: Any = None, *, loss: Any = None) -> "Learner":
        """Learn how good the classes chosen for some rows were: whether each was right, or its loss from 0 to 1."""
        learner = learner_of(self)
        with learner._lock:
            must_play_bandit(learner)
            label, chance = pair(chosen)
            if isinstance(label, (str, bytes)) or not hasattr(label, "__len__"):
                raise BadValue(f"the labels chosen must be a list or an array, not {shown(label)}")
            played = np.array([code_of(learner, one) for one in label], float)
            suffered = losses(learner, right, loss, len(played))
            learner._rounds(X, told_of_plays(played, chances(chance, len(played)), suffered), None)
        return learner

    def reward_one(self, x: Any, chosen: Any, right: Any = None, *, loss: Any = None) -> "Learner":
        """Learn how good the class chosen for one row was: whether it was right, or its loss from 0 to 1."""
        label, chance = pair(chosen)
        single = [None if one is None else [one] for one in (right, loss)]
        return self.reward(learner_of(self).one(x), Chosen([label], [chance]), single[0], loss=single[1])

    @property
    def asked(self) -> int:
        """How many labels were asked for; where all of them are told, all rounds."""
        learner = learner_of(self)
        if not learner.settings.asks:
            return learner.rounds
        return 0 if learner.state is None else int(learner.state.n.asked)


def learner_of(chooser: Any) -> "Learner":
    return cast("Learner", chooser)


def must_play_bandit(learner: "Learner") -> None:
    if learner.task != "bandit":
        raise BadValue(f"{learner.card.name} is told the truth: use predict and learn. Choosing is for the bandit task")


def first_scores(learner: "Learner", X: Any) -> np.ndarray:
    """The scores before any round: all zero, of a state that knows no feature yet."""
    algebra, mode = learner.algebra, learner.names.mode
    try:
        block = verify(learner.block(X, grow=False))
        if not block.rows:
            return np.zeros((0, len(learner.labels)))
        space = enlarged(learner.settings.space(learner.settled_algebra(block)), 0, len(learner.labels))
        learner.state = make(learner.shape, space)
    except BaseException:
        learner.algebra, learner.names.mode = algebra, mode
        raise
    learner.space = space
    learner.rebind()
    return np.zeros((block.rows, len(learner.labels)))


def pair(chosen: Any) -> tuple[Any, Any]:
    """The label and the chance of what was chosen."""
    if not isinstance(chosen, (tuple, list)) or len(chosen) != 2:
        raise BadValue(f"what was chosen is a pair of a label and its chance, as choose gives it, not {shown(chosen)}")
    return chosen[0], chosen[1]


def code_of(learner: "Learner", label: Any) -> int:
    label = label.item() if isinstance(label, np.generic) else label
    known = learner.labels.code.get(label) if isinstance(label, (bool, int, float, str)) else None
    if known is None:
        raise BadValue(f"the label {shown(label)} is not one of the classes {learner.labels.order}")
    return known


def numbers(what: str, given: Any, rows: int) -> np.ndarray:
    """One finite number for every row."""
    try:
        found = np.asarray(given)
    except ValueError:
        found = np.asarray(None)
    if found.dtype.kind not in "fiub" or found.shape != (rows,) or not np.isfinite(found).all():
        raise BadValue(f"{what} must be one number for every row, {rows} in all, not {shown(given)}")
    return found.astype(float)


def chances(given: Any, rows: int) -> np.ndarray:
    found = numbers("the chance of what was chosen", given, rows)
    if not ((found > 0.0) & (found <= 1.0)).all():
        raise BadValue(f"the chance of what was chosen must be above 0 and at most 1, not {shown(given)}")
    return found


def losses(learner: "Learner", right: Any, loss: Any, rows: int) -> np.ndarray:
    """What was suffered: 0 where right and 1 where not, or as told."""
    if (right is None) == (loss is None):
        raise BadValue("say whether what was chosen was right (right=True), or its loss (loss=0.3): one of both")
    if loss is None:
        truths = right.tolist() if hasattr(right, "tolist") else list(right) if hasattr(right, "__len__") else [right]
        if len(truths) != rows or not all(isinstance(one, bool) for one in truths):
            raise BadValue(f"right must be True or False for every row, {rows} in all, not {shown(right)}")
        return np.array([0.0 if one else 1.0 for one in truths])
    found = numbers("loss", loss, rows)
    if not ((found >= 0.0) & (found <= 1.0)).all():
        raise BadValue(f"a loss must be from 0 to 1, not {shown(loss)}")
    if not learner.card.graded and not np.isin(found, (0.0, 1.0)).all():
        raise BadValue(f"{learner.card.name} knows right and wrong only: a loss must be 0 or 1, not {shown(loss)}")
    return found
