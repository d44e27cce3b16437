"""Swap regret, and the player that keeps it small: one Hedge for each action (Blum and Mansour 2007)."""

import copy
import math
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noregret.errors import BadValue
from noregret.experts.expert_weights import ExpertWeights, check_losses
from noregret.games.matrix_game import is_distribution, is_numeric
from noregret.games.player import Player
from noregret.learner.arguments import check_integer
from noregret.learner.header_fields import corrupt, read_count, read_number
from noregret.learner.model_file import Arrays, FindCard, Header, register_kind
from noregret.rules.parameters import Param

Floats = NDArray[np.float64]
PAPER = "Blum and Mansour, From external to internal regret, JMLR 8, 2007"
ETA = Param(0.0, at_least=0.0, about="the learning rate; 0: sqrt(8 ln N / t) in round t")
LARGEST = 10_000  # actions in a file


def swap_regret(played: ArrayLike, losses: ArrayLike) -> float:
    """How much less the same plays would have lost, had every action been replaced by the best one for it.

    `played` holds the distribution over the actions of every round, `losses` the loss of every action.
    """
    p, given = check_plays(played, losses)
    suffered = p.T @ given  # [i, j]: what the plays of action i lose if they become j
    return float((np.diag(suffered) - suffered.min(axis=1)).sum())


def external_regret(played: ArrayLike, losses: ArrayLike) -> float:
    """The loss of the plays less that of the best single action."""
    p, given = check_plays(played, losses)
    return float((p * given).sum() - given.sum(axis=0).min())


def check_plays(played: Any, losses: Any) -> tuple[Floats, Floats]:
    if not (is_numeric(played) and is_numeric(losses)) or np.ndim(played) != 2 or np.shape(played) != np.shape(losses):
        raise BadValue("played and losses must be matrices of the same shape: a row for each round, a column for each "
                       "action")  # fmt: skip
    p = np.asarray(played, np.float64)
    for t, row in enumerate(p):
        if not is_distribution(row):
            raise BadValue(f"round {t}: what was played must be probabilities that sum to 1", row=t)
    return p, np.asarray(losses, np.float64)


def find_stationary(chain: Floats) -> Floats:
    """A distribution p with p = p Q, of a matrix Q whose rows are distributions."""
    size = len(chain)
    equations = np.vstack([chain.T - np.eye(size), np.ones(size)])
    found = np.linalg.lstsq(equations, np.append(np.zeros(size), 1.0), rcond=None)[0]
    p = np.maximum(found, 0.0)  # of several solutions, the shortest one has no negative parts but for rounding
    return np.asarray(p / p.sum())


class SwapWeights:
    """N copies of Hedge, one for each action: copy i learns by what action i should be replaced.

    The rows of a matrix Q are the weights of the copies; p = p Q is played, and copy i suffers p_i times the losses.
    """

    def __init__(self, actions: int, eta: float = 0.0, native: bool = True) -> None:
        count = check_integer("actions", actions, 1)
        rate = ETA.check("swap_hedge", "eta", eta)
        self.copies = [ExpertWeights("hedge", count, native=native, eta=rate) for _ in range(count)]
        self.squares = 0.0  # the sum over rounds of the rate times the sum of p_i^2
        self.suffered = np.zeros((count, count))  # [i, j]: what the plays of action i would have lost as j
        self.chain: Floats | None = None

    @property
    def actions(self) -> int:
        return len(self.copies)

    @property
    def rounds(self) -> int:
        return self.copies[0].rounds

    @property
    def eta(self) -> float:
        """The rate of the copies; 0 where it falls with the rounds."""
        return float(self.copies[0].params["eta"])

    def current(self) -> Floats:
        """The distribution of the next round."""
        if self.chain is None:
            self.chain = np.array([one.current() for one in self.copies])
        return find_stationary(self.chain)

    def after(self, losses: Floats, p: Floats) -> "SwapWeights":
        """The weights after a round with these losses, in which p was played."""
        new = copy.copy(self)
        new.chain, new.copies = None, [copy.copy(one) for one in self.copies]
        for share, one in zip(p, new.copies, strict=True):
            one.play((share * losses)[None])
        new.squares = self.squares + float(new.copies[0].state.n.eta) * float(p @ p)
        new.suffered = self.suffered + np.outer(p, losses)
        return new

    @property
    def swap_regret(self) -> float:
        return float((np.diag(self.suffered) - self.suffered.min(axis=1)).sum())

    @property
    def bound(self) -> float:
        """N ln N / eta_T + (sum over rounds of eta_t |p_t|^2) / 8: losses of copy i have the range p_i."""
        count = self.actions
        if not self.rounds or count == 1:
            return 0.0
        return count * math.log(count) / float(self.copies[0].state.n.eta) + self.squares / 8.0


@register_kind
class SwapPlayer(Player):
    """Plays one of N actions so that no replacement of its actions would have been much better: small swap regret.

    `play` draws an action, `observe` takes the losses of all actions, from 0 to 1. With rounds=T the learning rate is
    the best for T rounds, and the swap regret at most sqrt(T N ln N / 2).
    """

    kind: ClassVar[str] = "swap_player"

    def __init__(
        self, actions: int, *, rounds: int | None = None, eta: float = 0.0, seed: int = 0, native: bool = True
    ) -> None:
        super().__init__(seed)
        if rounds is not None:
            if eta:
                raise BadValue("give rounds, for the best learning rate of so many rounds, or eta, not both")
            eta = best_rate(check_integer("actions", actions, 1), check_integer("rounds", rounds, 1))
        self.weights = SwapWeights(actions, eta, bool(native))

    def __repr__(self) -> str:
        return (
            f"<swap_player: {self.weights.actions} actions, {self.rounds} rounds, swap regret {self.swap_regret:.6g}>"
        )

    @property
    def chances(self) -> Floats:
        """The probabilities of the actions in this round."""
        return self.weights.current()

    def play(self) -> int:
        """The action of this round, drawn by the probabilities; the same until `observe` ends the round."""
        return self.draw_from(self.weights.current())

    def observe(self, losses: ArrayLike) -> Self:
        """End the round with the losses of all actions, each from 0 to 1."""
        given = check_losses(losses, self.weights.actions)
        if len(given) != 1:
            raise BadValue(f"a round has {self.weights.actions} losses, one for each action, not {given.size}")
        with self._lock:
            self._change.settle()
            self._change.save_and_run(self._own_state, lambda: self._learn(given[0]))
        return self

    def _learn(self, losses: Floats) -> None:
        self.weights = self.weights.after(losses, self.weights.current())
        self.rounds = self.weights.rounds

    @property
    def swap_regret(self) -> float:
        """The swap regret of the probabilities so far."""
        return self.weights.swap_regret

    @property
    def bound(self) -> float:
        """The theorem: what the swap regret is at most."""
        return self.weights.bound

    def dump(self) -> tuple[Header, Arrays]:
        """The state of every copy."""
        with self._lock:
            self._change.settle()
            w, arrays = self.weights, {"suffered": self.weights.suffered.copy()}
            for number, one in enumerate(w.copies):
                arrays |= {f"{number}/{name}": array for name, array in one.dump()[1].items()}
            header = {"actions": w.actions, "rounds": self.rounds, "seed": self.seed, "squares": w.squares}
            return {**header, "eta": w.eta, "native": w.copies[0].native}, arrays

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """A player from a header and arrays, all checked."""
        native, actions = header.get("native"), read_count(header, "actions", LARGEST, 1)
        if not isinstance(native, bool) or len(arrays) != 1 + actions * len(state_names()):
            raise corrupt("native must be true or false, and there must be the weights of every action")
        new = cls(actions, eta=read_rate(header), seed=read_count(header, "seed"), native=native)
        w, rounds = new.weights, read_count(header, "rounds")
        for number, one in enumerate(w.copies):
            own = {name: arrays[f"{number}/{name}"] for name in state_names() if f"{number}/{name}" in arrays}
            w.copies[number] = ExpertWeights.restore(one.dump()[0], own, native)
        suffered, w.squares = arrays.get("suffered"), read_number(header.get("squares"), "squares")
        if suffered is None or suffered.dtype != np.float64 or suffered.shape != (actions, actions):
            raise corrupt(f"suffered must be {actions} x {actions} numbers")
        if not np.isfinite(suffered).all() or suffered.min() < 0.0 or w.squares < 0.0:
            raise corrupt("suffered and squares must be numbers that are not negative")
        if any(one.rounds != rounds for one in w.copies):
            raise corrupt("the weights contradict the rounds")
        w.suffered, new.rounds = suffered.copy(), rounds
        return new


def state_names() -> tuple[str, ...]:
    return tuple(ExpertWeights("hedge", 1).dump()[1])


def read_rate(header: Header) -> float:
    rate = read_number(header.get("eta"), "eta")
    if rate < 0.0:
        raise corrupt("eta must not be negative")
    return rate


def best_rate(actions: int, rounds: int) -> float:
    """The rate for which the bound after so many rounds is sqrt(T N ln N / 2)."""
    return math.sqrt(8.0 * actions * math.log(max(actions, 2)) / rounds)
