"""One round of a pool whose entries all have a fast path: the row is encoded once, and each entry learns it natively.

It gives the bits that a batch of one gives. Entries learn one after the other, so that an interrupt may come between
two of them; the round is then completed, as far as the first entry has learned it, and otherwise did not happen.
"""

import math
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from noregret.adapters.pool_probabilities import EVERY, FIRST
from noregret.data.blocks import SparseBlock
from noregret.errors import BadValue
from noregret.learner.encode import one_row
from noregret.learner.rule_learner import RuleLearner

if TYPE_CHECKING:
    from noregret.adapters.pool import Auto

PLAIN = (int, str, bool, float)  # types of labels; others are played as a batch
KNOWN = 2  # classes that must be known: a round that brings a new one is played as a batch


class Recalled(NamedTuple):
    """A row that was predicted after so many rounds, as entries take it, with their scores; perhaps to be learned."""

    rounds: int
    items: list[tuple[Any, Any]]
    row: Any
    said: dict[int, Any]


class OneRound:
    """A round that is learned by every entry in turn."""

    def __init__(self, pool: "Auto", x: Any, y: Any) -> None:
        self.pool, self.x, self.y = pool, x, y
        self.running, self.model = pool.running, pool.model
        self.signs = self.model.labels.signs(KNOWN) if len(self.model.labels) == KNOWN else np.ones(KNOWN)
        self.positive = int(self.signs[1] > 0.0)  # the code of the positive one of two classes
        self.learners: dict[int, RuleLearner] = {number: pool.entries[number].learner for number in self.running}  # type: ignore[misc]
        self.said: dict[int, Any] = {}  # the scores of the entries before they learned the row

    @staticmethod
    def suits(pool: "Auto", y: Any) -> bool:
        """Whether every entry has a fast path, and the round brings no new class."""
        task, labels = pool.model.task, pool.model.labels
        if pool.prunes or pool.leader is None or not (task.one_label or task.prediction == "target"):
            return False
        if task.one_label and (len(labels) < KNOWN or (type(y) not in PLAIN or y not in labels.code)):
            return False
        if not task.one_label and type(y) not in (int, float):
            return False
        return all(has_fast_path(pool.entries[number]) for number in pool.running)

    def prepare(self) -> None:
        """Note what `complete` has to know of the state before the round."""
        self.models = {number: learner.model for number, learner in self.learners.items()}
        self.counts = {number: model.counts() for number, model in self.models.items()}
        self.stopped = dict(self.pool.stopped)
        self.before = vars(self.pool).copy()
        self.first = next(number for number in self.running if self.pool.entries[number].sees == "encodes")
        self.encode()

    def encode(self) -> None:
        """The row as entries take it; as `predict` has left it where it was the last to see it, with its scores."""
        pool = self.pool
        items, recalled = list_items(self.x), pool.recalled
        if recalled is not None and items is not None and (recalled.rounds, recalled.items) == (pool.rounds, items):
            self.row, self.said = recalled.row, dict(recalled.said)
            return
        leader = pool.leader
        assert leader is not None
        known = number_known(leader, items)
        self.row = known or as_row(leader._encode(one_row(self.x, pool.allows_missing), include_unknown=True))

    def play(self) -> None:
        """Learn the row with every entry, and weigh them by what they said before."""
        leader = self.learners[self.first]
        if self.first not in self.said:
            self.said[self.first] = leader.scores_one(self.x)
        leader.learn_one(self.x, self.y)
        for number in self.running:
            if number != self.first:
                self.learn_entry(number)
        self.weigh()

    def complete(self) -> None:
        """After an interrupt, learn the row with the entries that have not, if the first has; may be done again."""
        if self.has_learned(self.first):
            for number in self.running:
                if number != self.first and not self.has_learned(number):
                    self.learn_entry(number)
            self.weigh()

    def has_learned(self, number: int) -> bool:
        """Whether an entry has learned the row."""
        return self.models[number].counts()[0] > self.counts[number][0]

    def learn_entry(self, number: int) -> None:
        learner = self.learners[number]
        try:
            if number not in self.said:
                self.said[number] = learner.scores_one(self.row)
            learner.learn_one(self.row, self.y)
        except BadValue as error:
            self.said.pop(number, None)
            self.stopped[self.pool.entries[number].name] = str(error)

    def predict(self) -> Any:
        """What the pool predicts for the row, learned by nobody."""
        pool = self.pool
        self.encode()
        shares = pool.mixture.current().tolist()
        for number in self.running:
            if shares[number] > 0.0 and number not in self.said:
                sees = pool.entries[number].sees
                self.said[number] = self.learners[number].scores_one(self.x if sees == "encodes" else self.row)
        items = list_items(self.x)
        pool.recalled = None if items is None else Recalled(pool.rounds, items, self.row, dict(self.said))
        if not pool.has_probabilities:
            each = [np.array([self.said[at]]) if at in self.said else None for at in range(len(shares))]
            return float(pool.combination().combine(each, np.array([shares]))[0])
        codes = [self.decide(self.said[number]) if number in self.said else -1 for number in range(len(shares))]
        return self.model.labels.order[self.vote(codes, shares)]

    # ---- the weights -------------------------------------------------------------------------------------------------

    def weigh(self) -> None:
        """Take over the losses of the entries; computed from the state before, so that it may be done again."""
        pool, before = self.pool, self.before
        combination = pool.combination(before["targets"])
        losses, codes = np.ones((1, len(pool.entries))), [-1] * len(pool.entries)
        order = combination.labels.order
        if pool.has_probabilities:
            right = combination.labels.code[self.y]
            for number, scores in self.said.items():
                codes[number] = self.decide(scores)
                losses[0, number] = float(codes[number] != right)
        else:
            losses[0] = combination.loss_of_targets(self.said, float(self.y), len(pool.entries))  # type: ignore[attr-defined]
        mixture = copy(before["mixture"])
        played = mixture.play(losses)
        shares, rounds = played[0].tolist(), before["rounds"]
        changes = {"mixture": mixture, "stopped": self.stopped, "rounds": rounds + 1}
        changes["history"] = before["history"].add(rounds, played)
        changes["targets"] = getattr(combination, "seen", before["targets"])
        if pool.has_probabilities:
            changes["mistakes"] = before["mistakes"] + int(order[self.vote(codes, shares)] != self.y)
            if before["rounds"] < FIRST or before["rounds"] % EVERY == 0:
                changes["odds"] = self.learn_odds(before["odds"].copy(), right)
        changes["recalled"] = None
        updated = any(self.models[number].counts()[1] > self.counts[number][1] for number in self.said)
        updated = updated or bool(losses.min() < losses.max())
        changes["updates"] = before["updates"] + int(updated)
        vars(pool).update(changes)  # in this step the round is complete

    def decide(self, scores: Any) -> int:
        """The code of the class that these scores of an entry stand for."""
        if isinstance(scores, dict):
            each = list(scores.values())
            return each.index(max(each))
        return self.positive if scores >= 0.0 else 1 - self.positive

    def vote(self, codes: list[int], shares: list[float]) -> int:
        """The code of the class with the most weight, as many rows are decided."""
        votes = [0.0] * len(self.model.labels)
        for code, share in zip(codes, shares, strict=True):
            if code >= 0:
                votes[code] += share
        if self.model.task.many:
            return votes.index(max(votes))
        return self.positive if votes[self.positive] >= votes[1 - self.positive] else 1 - self.positive

    def learn_odds(self, odds: Any, right: int) -> Any:
        """The probabilities after this round."""
        scores = np.full((1, len(self.pool.entries), len(self.model.labels)), np.nan)
        for number, one in self.said.items():
            scores[0, number] = list(one.values()) if isinstance(one, dict) else one
        if not self.model.task.many:
            scores *= 0.5 * self.signs
        odds.learn(scores, np.array([right], np.int64))
        return odds


def list_items(x: Any) -> list[tuple[Any, Any]] | None:
    """The names and values of a dict, in its order, by which it is known again; None for other rows."""
    return list(x.items()) if type(x) is dict else None


def number_known(leader: RuleLearner, items: list[tuple[Any, Any]] | None) -> dict[int, float] | None:
    """The row that encoding makes of names which are known and of finite floats, where nothing else is done to rows."""
    model = leader.model
    if not items or model.names.mode != "names" or model.algebra != "sparse":
        return None
    if model.transforms or model.selectors.bits or model.config.bias:
        return None
    known = model.names.known
    if not all(type(name) is str and name in known and type(value) is float for name, value in items):
        return None
    row = {known[name]: value for name, value in items}
    return row if math.isfinite(sum(row.values())) else None


def has_fast_path(entry: Any) -> bool:
    """Whether an entry sees encoded rows, or encodes them, and learns single rows natively."""
    learner = entry.learner
    if entry.sees == "given" or not isinstance(learner, RuleLearner):
        return False
    return learner._loops.fast_path is not None or learner._open_fast_path() is not None


def as_row(block: Any) -> Any:
    """The only row of a block, as learners take one: a dict by column numbers, or numbers."""
    if not isinstance(block, SparseBlock):
        return block.val[0]
    size = int(block.indptr[1])
    return dict(zip(block.idx[:size].tolist(), block.val[:size].tolist(), strict=True))
