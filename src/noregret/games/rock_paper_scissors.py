"""A player of rock-paper-scissors: an expert algorithm over predictors of the opponent."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from noregret.errors import BadValue
from noregret.experts.card import find_algorithm
from noregret.experts.expert_weights import ExpertBound, ExpertWeights
from noregret.games.move_predictors import NAMES, Predictors
from noregret.games.moves import LOSSES, MOVES, compare, read_move
from noregret.games.player import Floats, Player
from noregret.learner.change import Undo
from noregret.learner.header_fields import corrupt, read_count
from noregret.learner.model_file import Arrays, FindCard, Header, register_kind

DEFAULTS: Mapping[str, Mapping[str, float]] = {"fixed_share": {"eta": 0.5, "alpha": 0.001}}


@register_kind
class RockPaperScissors(Player):
    """Plays rock-paper-scissors: `play` gives a move, `observe` takes the move of the opponent.

    19 experts predict the opponent and answer with the move that wins: constant moves, Markov chains over the last
    moves of the opponent and of both, second guesses. An expert algorithm weighs them; the move is drawn by the weights
    or, with deterministic=True, the most probable one. The loss of a round is 0 for a win, 1/2 for a draw, 1 for a
    loss; since one of the constant moves loses at most T/2 in T rounds, no opponent can win more than the bound.
    """

    kind: ClassVar[str] = "rock_paper_scissors"

    def __init__(
        self,
        algorithm: str = "fixed_share",
        *,
        seed: int = 0,
        deterministic: bool = False,
        native: bool = True,
        **params: Any,
    ) -> None:
        super().__init__(seed)
        if not isinstance(deterministic, bool):
            raise BadValue("deterministic must be True or False")
        self.deterministic = deterministic
        card = find_algorithm(algorithm)
        given = {**DEFAULTS.get(card.name, {}), **params}
        self.weights = ExpertWeights(card, len(NAMES), self.seed, bool(native), **given)
        self.wins = self.draws = self.losses = 0
        self.predictors = Predictors()
        self._next: tuple[int, Floats, int] | None = None  # the round, the advice for it and the move chosen

    def __repr__(self) -> str:
        score = f"{self.wins} wins, {self.draws} draws, {self.losses} losses"
        return f"<rock_paper_scissors by {self.weights.card.name}: {self.rounds} rounds, {score}>"

    # ---- rounds --------------------------------------------------------------------------------------------------

    def play(self) -> str:
        """The move of this round; the same until `observe` ends the round."""
        with self._lock:
            self._change.settle()
            return MOVES[self._choose()[2]]

    def _choose(self) -> tuple[int, Floats, int]:
        if self._next is None or self._next[0] != self.rounds:
            advice = self.predictors.advice()
            chances = self.weights.current() @ advice
            move = int(np.argmax(chances)) if self.deterministic else self.draw_from(chances)
            self._next = self.rounds, advice, move
        return self._next

    def observe(self, move: Any) -> Self:
        """End the round with the move of the opponent: "rock", "paper" or "scissors", also "r", "p" or "s"."""
        theirs = read_move(move)
        with self._lock:
            self._change.settle()
            self._change.save_and_run(self._save, lambda: self._learn(theirs))
        return self

    def _save(self) -> Undo:
        saved, undo_own = self.predictors.savepoint(), self._own_state()

        def undo() -> None:
            undo_own()
            saved.roll_back()

        return undo

    def _learn(self, theirs: int) -> None:
        _, advice, mine = self._choose()
        weights = self.weights.copy()
        weights.play((advice @ LOSSES[:, theirs])[None])
        self.predictors.add(mine, theirs)
        result = compare(mine, theirs)
        self.weights, self._next = weights, None
        self.wins, self.draws, self.losses = (
            self.wins + (result == 1), self.draws + (result == 0), self.losses + (result == -1),
        )  # fmt: skip
        self.rounds += 1

    # ---- what happened -------------------------------------------------------------------------------------------

    @property
    def chances(self) -> dict[str, float]:
        """The probability of each move in this round."""
        with self._lock:
            self._change.settle()
            found = self.weights.current() @ self.predictors.advice()
            return dict(zip(MOVES, found.tolist(), strict=True))

    @property
    def expert_weights(self) -> dict[str, float]:
        """The weights of the experts, the largest first."""
        found = zip(NAMES, self.weights.current().tolist(), strict=True)
        return dict(sorted(found, key=lambda pair: -pair[1]))

    @property
    def moves(self) -> list[str]:
        """The moves it played."""
        return [MOVES[move] for move in self.predictors.mine]

    @property
    def opponent_moves(self) -> list[str]:
        """The moves of the opponent."""
        return [MOVES[move] for move in self.predictors.theirs]

    @property
    def net_wins(self) -> int:
        """Wins less losses."""
        return self.wins - self.losses

    @property
    def expected_loss(self) -> float:
        """The sum over rounds of the mean loss by the probabilities of the moves: what the theorem is about."""
        return self.weights.loss

    @property
    def best_expert(self) -> str:
        """The expert with the least loss in hindsight."""
        return NAMES[int(np.argmin(self.weights.cumulative_losses))]

    @property
    def regret(self) -> float:
        """The expected loss less that of the best expert."""
        return self.weights.regret

    def bound(self, switches: int = 0) -> ExpertBound | None:
        """The theorem for the rounds played; `switches`: against the best sequence of experts that changes so often."""
        return self.weights.bound(switches)

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump(self) -> tuple[Header, Arrays]:
        """The moves of both players and the weights of the experts."""
        with self._lock:
            self._change.settle()
            header, arrays = self.weights.dump()
            own: Header = {"seed": self.seed, "rounds": self.rounds, "weights": header}
            own |= {"deterministic": self.deterministic, "native": self.weights.native}
            arrays = {f"weights/{name}": array for name, array in arrays.items()}
            arrays["mine"] = np.array(self.predictors.mine, np.uint8)
            arrays["theirs"] = np.array(self.predictors.theirs, np.uint8)
            return own, arrays

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """A player from a header and arrays; the predictors see all moves again."""
        weights, deterministic, native = (header.get(name) for name in ("weights", "deterministic", "native"))
        if not isinstance(weights, dict) or not isinstance(deterministic, bool) or not isinstance(native, bool):
            raise corrupt("weights must be a header, deterministic and native true or false")
        rounds, seed = read_count(header, "rounds"), read_count(header, "seed")
        played = [arrays.get(name) for name in ("mine", "theirs")]
        for moves in played:
            if moves is None or moves.dtype != np.uint8 or moves.shape != (rounds,) or (moves > 2).any():
                raise corrupt(f"mine and theirs must be {rounds} moves each, from 0 to 2")
        own = {name.removeprefix("weights/"): array for name, array in arrays.items() if name.startswith("weights/")}
        new = cls(seed=seed, deterministic=deterministic, native=native)
        new.weights = ExpertWeights.restore(weights, own, native)
        if (new.weights.experts, new.weights.rounds, new.weights.seed) != (len(NAMES), rounds, seed):
            raise corrupt("the weights contradict the rounds, the seed or the number of experts")
        for mine, theirs in zip(*(moves.tolist() for moves in played if moves is not None), strict=True):
            new.predictors.add(mine, theirs)
            result = compare(mine, theirs)
            new.wins += result == 1
            new.draws += result == 0
            new.losses += result == -1
        new.rounds = rounds
        return new
