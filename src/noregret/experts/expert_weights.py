"""The weights of N experts under one algorithm: what pools, learners and games are built on."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noregret.algebra.partial_features import first_random
from noregret.cached_property import cached_property
from noregret.errors import BadValue
from noregret.experts.card import ARRAYS, ExpertCard, find_algorithm
from noregret.experts.expert_file import dump_state, restore_state
from noregret.experts.rounds import Floats, run_rounds
from noregret.learner.arguments import check_integer
from noregret.rules.parameters import suggestion
from noregret.rules.rule_card import Chosen


class ExpertBound(NamedTuple):
    """The value of a theorem for the rounds played: the measure it bounds is at most `value`."""

    measure: str  # "regret", "mistakes" (of the weighted vote), "expected mistakes", "expected regret"
    value: float
    comparator: str
    says: str


class ExpertWeights:
    """The state of N experts under one algorithm.

    Every round: a distribution over the experts is chosen, then the losses of all are seen, each in [0, 1]. The state
    holds for each expert the summed losses by which it is weighed (`losses`); the part of them that stands for rounds
    in which it slept (`filled`); the loss of the algorithm in these rounds (`slept`) and their number (`asleep`).
    """

    known: tuple[Any, Floats] | None = None  # a state, which is replaced and never changed, and what follows it

    def __init__(
        self, algorithm: str | ExpertCard, experts: int, seed: int = 0, native: bool = True, **params: Any
    ) -> None:
        self.card, self.seed, self.native = find_algorithm(algorithm), check_integer("seed", seed, 0), native
        self.params = check_params(self.card, params)
        self.state = make_state(self.card, check_integer("experts", experts, 1), self.seed)

    def __repr__(self) -> str:
        return f"<{self.card.name}: {self.experts} experts, {self.rounds} rounds, loss {self.loss:.6g}>"

    # ---- what happened -------------------------------------------------------------------------------------------

    @property
    def experts(self) -> int:
        """The number of experts."""
        return int(self.state.losses.size)

    @property
    def rounds(self) -> int:
        return int(self.state.n.t)

    @property
    def loss(self) -> float:
        """The loss of the algorithm: the sum over rounds of the mean loss, by its weights, of the experts awake."""
        return float(self.state.n.loss)

    @property
    def lost_votes(self) -> int:
        """The rounds in which at least half of the weight was wrong: a weighted vote is wrong in no other round."""
        return int(self.state.n.lost_votes)

    @property
    def cumulative_losses(self) -> Floats:
        """The summed losses of every expert, over the rounds in which it was awake."""
        return np.asarray(self.state.losses - self.state.filled)

    @property
    def losses_of_best(self) -> float:
        """The least summed loss of an expert, of those that were awake in all rounds."""
        whole = self.state.asleep == 0.0
        return float(self.state.losses[whole].min()) if whole.any() else float("nan")

    @property
    def regrets(self) -> Floats:
        """The loss of the algorithm less that of every expert, over the rounds in which the expert was awake."""
        return np.asarray((self.loss - self.state.slept) - self.cumulative_losses)

    @property
    def regret(self) -> float:
        """The largest of the regrets."""
        return float(self.regrets.max())

    # ---- rounds --------------------------------------------------------------------------------------------------

    def play(self, losses: ArrayLike, awake: ArrayLike | None = None) -> Floats:
        """Play a round for every row of losses, all or none; returns the distribution each round was played with.

        `awake` marks, for each round and expert, whether the expert takes part; the losses of others are ignored.
        """
        mask = None if awake is None else check_awake(self.card, awake, self.experts)
        given = check_losses(losses, self.experts, mask)
        played = np.empty_like(given)
        if len(given):
            state = copy_state(self.card, self.state)
            everyone = np.ones((1, self.experts), np.uint8)
            self.run(True, state, given, everyone if mask is None else mask, played)
            self.state = state  # in this step the rounds are played
        return played

    def current(self, awake: ArrayLike | None = None) -> Floats:
        """The distribution of the next round, over the experts that are awake."""
        if awake is None and self.known is not None and self.known[0] is self.state:
            return self.known[1].copy()
        everyone = np.ones((1, self.experts), np.uint8)
        mask = everyone if awake is None else check_awake(self.card, np.asarray(awake)[None], self.experts)
        out = np.empty((1, self.experts))
        self.run(False, self.state, np.zeros((1, self.experts)), mask, out)
        if awake is None:
            self.known = self.state, out[0].copy()
        return np.asarray(out[0])

    def run(self, learns: bool, state: Any, losses: Floats, awake: NDArray[np.uint8], out: Floats) -> None:
        numbers, picked = self.in_force
        run_rounds(self.card, picked, self.native, learns, (numbers, state, losses, awake, out))
        if not np.isfinite(out).all():
            raise BadValue(f"{self.card.name}: the weights are not finite; use a smaller eta, or an alpha above 1e-100")

    @cached_property
    def in_force(self) -> tuple[Any, Chosen]:
        """The numbers as the rounds read them, and the options that were picked."""
        numbers, chosen = self.card.in_force(self.params)
        return numbers, tuple((name, chosen[name]) for name in self.card.choices if name in self.params)

    def add(self, count: int) -> None:
        """Add experts that arrive now. Each starts with the mean of the current weights, as if it had slept so far.

        The bound then holds with N the number of experts that ever came; for a new one it counts its own rounds only.
        """
        card, old = self.card, self.experts
        check_integer("count", count, 0)
        if card.why_awake is not None:
            raise BadValue(f"{card.name} cannot take new experts: {card.why_awake}")
        if not count:
            return
        new = make_state(card, old + count, self.seed)
        for name, array in zip(new._fields[:-1], new[:-1], strict=True):
            array[:old] = getattr(self.state, name)
        for name in card.all_counters:
            new.n[name] = self.state.n[name]
        new.n.arrived += count
        if card.arrive is not None:
            new.losses[old:] = new.filled[old:] = card.arrive(card.in_force(self.params)[0], new, old)
        new.slept[old:], new.asleep[old:] = self.loss, self.rounds
        if card.admit is not None:
            card.admit(new, old)
        self.state = new

    # ---- the theorem ---------------------------------------------------------------------------------------------

    def bound(self, switches: int = 0) -> ExpertBound | None:
        """The least bound that a theorem of the algorithm gives for the rounds played; None where none holds.

        `switches`: how often the comparator may change from one expert to another, for algorithms that track it.
        """
        quantities = self.quantities() | {"switches": float(check_integer("switches", switches, 0))}
        found = [
            ExpertBound(one.bounds, one.evaluate(self.card.in_force(self.params)[0], quantities), "", one.says)
            for one in self.card.guarantees_for(self.params)
            if set(one.needs) <= set(quantities) and (switches == 0 or "switches" in one.needs)
        ]
        if not found:
            return None
        best = "the best expert" if switches == 0 else f"the best sequence of experts with {switches} switches"
        awake = " over the rounds in which it was awake" if self.state.asleep.any() else ""
        return min(found, key=lambda one: one.value)._replace(comparator=best + awake)

    def quantities(self) -> dict[str, float]:
        """What the theorems are functions of, without what they do not allow once experts slept or runs were merged."""
        s = self.state
        known = {"experts": float(self.experts), "runs": float(s.n.runs), "classes": float(self.experts)}
        counted = {"eta": "last_rate", "etas": "summed_rates", "gap": "mixability_gap"}
        known |= {to: float(s.n[name]) for name, to in counted.items() if name in self.card.counters}
        slept = bool(s.asleep.any())
        if not slept:
            known["best_expert_loss"] = self.losses_of_best
        if s.n.runs == 1.0:
            known["rounds"] = float(self.rounds)
            if "squares" in self.card.state:
                known["excess_squares"] = float(s.squares[int(np.argmax(self.regrets))])
            if "variance" in self.card.counters and not slept:
                known["loss_variance"] = float(s.n.variance)
        return known

    # ---- copies, files, merging ----------------------------------------------------------------------------------

    def copy(self) -> Self:
        """An independent copy."""
        new = object.__new__(type(self))
        vars(new).update(vars(self) | {"state": copy_state(self.card, self.state)})
        return new

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()

    def dump(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The state as a header and named arrays, for a model file."""
        return dump_state(self)

    @classmethod
    def restore(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], native: bool = True) -> Self:
        """A state from a header and named arrays, all checked."""
        return restore_state(cls, header, arrays, native)

    def merge(self, other: "ExpertWeights") -> Self:
        """The weights after the rounds of both, which were played apart, each from the start.

        The losses of the two runs are added; their bound is the sum of both bounds.
        """
        card = self.card
        if card.merge.law != "exact":
            raise BadValue(f"{card.name} cannot be merged: {card.merge.how}")
        if other.card is not card or other.params != self.params or other.experts != self.experts:
            raise BadValue(f"cannot merge {self!r} and {other!r}: algorithm, parameters and experts must be the same")
        if self.state.asleep.any() or other.state.asleep.any():
            raise BadValue(
                "weights of experts that slept or arrived later cannot be merged: their losses depend on the run"
            )
        new = self.copy()
        new.state.losses[:] += other.state.losses
        for name in card.all_counters:
            both = (float(self.state.n[name]), float(other.state.n[name]))
            new.state.n[name] = min(both) if name == "eta" else sum(both)
        return new


# ---- states and checks -------------------------------------------------------------------------------------------


def make_state(card: ExpertCard, experts: int, seed: int) -> Any:
    """A fresh state."""
    record = np.zeros(1, dtype=[(name, "f8") for name in card.all_counters]).view(np.recarray)
    for name, first in card.all_counters.items():
        record[name] = first_random(seed) if name == "random" else first
    arrays = [np.zeros(experts) for _ in ARRAYS] + [np.full(experts, first) for first in card.state.values()]
    state = card.state_class(*arrays, record[0])
    if card.admit is not None:
        card.admit(state, 0)
    return state


def copy_state(card: ExpertCard, state: Any) -> Any:
    """An independent copy of a state."""
    record = np.array([state.n], dtype=state.n.dtype).view(np.recarray)
    return card.state_class(*(array.copy() for array in state[:-1]), record[0])


def check_params(card: ExpertCard, given: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of an algorithm, checked; those that are not given have their defaults."""
    own = card.algorithm_params
    for name in given:
        if name not in own:
            takes = ", ".join(own) or "none"
            raise BadValue(f"{card.name} has no parameter {name!r}{suggestion(name, own)}; it takes {takes}")
    return {name: param.check(card.name, name, given.get(name, param.default)) for name, param in own.items()}


def check_awake(card: ExpertCard, awake: Any, experts: int) -> NDArray[np.uint8]:
    """The mask of the experts that are awake, or an error that names the round in which none is."""
    if card.why_awake is not None:
        raise BadValue(f"{card.name} does not support experts that sleep: {card.why_awake}")
    mask = np.asarray(awake)
    if mask.ndim != 2 or mask.shape[1] != experts or mask.dtype != np.bool_:
        raise BadValue(f"awake must be a boolean matrix with a column for each of {experts} experts")
    nobody = np.flatnonzero(~mask.any(axis=1))
    if nobody.size:
        raise BadValue(f"round {nobody[0]}: all experts sleep; at least one must be awake", row=int(nobody[0]))
    return mask.astype(np.uint8, order="C")  # the layout that compiled code reads


def check_losses(losses: Any, experts: int, awake: NDArray[np.uint8] | None = None) -> Floats:
    """The losses as rounds read them; or an error that names the first round and expert at fault.

    Where an expert sleeps, they are 0, in a copy: rounds write there.
    """
    try:
        given = np.array(losses, np.float64, order="C", ndmin=2, copy=None if awake is None else True)
    except (TypeError, ValueError):
        raise BadValue("losses must be a matrix of numbers: a row for each round, a column for each expert") from None
    if given.ndim != 2 or (given.shape[1] != experts and given.size):
        found = "x".join(map(str, given.shape))
        raise BadValue(f"losses must have a row for each round and a column for each of {experts} experts, not {found}")
    given = given.reshape(-1, experts)
    if awake is not None:
        if len(awake) != len(given):
            raise BadValue(f"awake has {len(awake)} rounds, losses have {len(given)}; there must be as many")
        given[awake == 0] = 0.0
    if given.size and not (given.min() >= 0.0 and given.max() <= 1.0):
        t, i = (int(at) for at in np.argwhere(~((given >= 0.0) & (given <= 1.0)))[0])
        hint = "give a number" if np.isnan(given[t, i]) else "rescale the losses"
        raise BadValue(f"round {t}, expert {i}: the loss must be in [0, 1], not {given[t, i]:g}; {hint}", row=t)
    return given
