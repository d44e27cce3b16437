"""Expert algorithms side by side over the same rounds: losses, regret and bounds, also against sequences of experts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.transcript import Transcript
from noregret.errors import BadValue
from noregret.evaluation.tables import table
from noregret.experts.card import find_algorithm, list_algorithms
from noregret.experts.expert_learner import ExpertLearner
from noregret.experts.expert_rows import read_table
from noregret.learner.variants import as_variant, write
from noregret.metrics.tracking import Sequence as BestSequence
from noregret.metrics.tracking import best_sequences

DEFAULT = ("hedge", "adahedge", "squint", "fixed_share", "weighted_majority", "follow_the_leader")
Floats = NDArray[np.float64]


@dataclass
class ExpertRace:
    """Algorithms that have played the same rounds."""

    learners: dict[str, ExpertLearner]
    transcripts: dict[str, Transcript]
    losses: Floats | None  # of every round and expert, where none slept: what sequences are compared by
    sequences: list[BestSequence] = field(default_factory=list)

    @property
    def first(self) -> ExpertLearner:
        return next(iter(self.learners.values()))

    def regret_to_sequences(self, name: str) -> list[dict[str, Any]]:
        """The regret of an algorithm to the best sequence with 1, 2, ... switches, and its bound where one is known."""
        learner, found = self.learners[name], []
        for switches, one in enumerate(self.sequences):
            bound = learner.bound(switches) if switches else None
            if switches:
                found.append(
                    {
                        "switches": switches,
                        "loss": one.loss,
                        "regret": learner.loss - one.loss,
                        "bound": None if bound is None else bound.value,
                    }
                )
        return found

    def report(self) -> dict[str, Any]:
        """All of it, for JSON."""
        names = self.first.names or []
        return {
            "rounds": self.first.rounds,
            "loss": self.first.loss_name,
            "experts": [
                {"name": name, "loss": loss, "rounds": self.first.rounds - int(slept)}
                for (name, loss), slept in zip(
                    self.first.losses.items(), self.first.require_state()[1].state.asleep, strict=True
                )
            ],
            "sequences": [
                {"switches": k, "loss": one.loss, "parts": [[start + 1, names[at]] for start, at in one.parts]}
                for k, one in enumerate(self.sequences)
            ],
            "algorithms": [self.report_one(name) for name in self.learners],
        }

    def report_one(self, name: str) -> dict[str, Any]:
        learner = self.learners[name]
        bound = learner.bound()
        return {
            "name": name,
            "params": learner.params,
            "loss": learner.loss,
            "mistakes": learner.mistakes if learner.loss_name == "zero_one" else None,
            "best_expert": learner.best_expert,
            "regret": learner.regret,
            "bound": None if bound is None else bound._asdict(),
            "weights": learner.weights,
            "sequences": self.regret_to_sequences(name),
        }

    def __str__(self) -> str:
        voted = self.first.loss_name == "zero_one"
        head = ["algorithm", "loss", *(["mistakes"] if voted else []), "regret", "bound", "on", "heaviest expert"]
        rows = []
        for name, learner in sorted(self.learners.items(), key=lambda pair: pair[1].loss):
            bound, (heaviest, weight) = learner.bound(), next(iter(learner.weights.items()))
            said = ["none", ""] if bound is None else [f"{bound.value:.4g}", bound.measure]
            counts = [f"{learner.mistakes}"] if voted else []
            rows.append(
                [name, f"{learner.loss:.4g}", *counts, f"{learner.regret:.4g}", *said, f"{heaviest} {weight:.3f}"]
            )
        return "\n".join([table(head, rows), "", *self.describe_best()])

    def describe_best(self) -> list[str]:
        """The best expert and the best sequences in hindsight, with the regret of algorithms that track them."""
        losses, best = self.first.losses, self.first.best_expert
        lines = [f"best expert in hindsight: {best}, loss {losses[best]:.4g} of {self.first.rounds:,} rounds"]
        names, least = self.first.names or [], np.inf
        for switches, one in enumerate(self.sequences):
            if switches and one.loss < least:
                parts = ", then ".join(
                    f"{names[at]}{f' from round {start + 1:,}' if start else ''}" for start, at in one.parts
                )
                lines.append(
                    f"best sequence with {switches} switch{'es' * (switches > 1)}: loss {one.loss:.4g} ({parts})"
                )
                for name, learner in self.learners.items():
                    bound = learner.bound(switches)
                    if bound is not None:
                        lines.append(
                            f"  regret of {name} to it: {learner.loss - one.loss:.4g}, bound {bound.value:.4g}"
                        )
            least = min(least, one.loss)
        return lines


def race_experts(
    X: Any,
    y: Any = None,
    algorithms: Sequence[Any] | None = None,
    *,
    switches: int = 3,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    **options: Any,
) -> ExpertRace:
    """Play the same rounds with several expert algorithms: losses X, or predictions X with the truths y.

    `algorithms` are names, as in "hedge(eta=0.5)", or cards; `settings` the parameters of each by name; other
    options (loss="squared", missing="sleep", loss_range=(0, 4), names, seed, native) go to all. With `switches`,
    their regret is also computed against the best sequences of experts that change so often.
    """
    if y is not None and "loss" not in options:
        options["loss"] = "zero_one"
    variants = [as_variant(one, find_algorithm) for one in (DEFAULT if algorithms is None else algorithms)]
    if not variants:
        raise BadValue(f"name at least one algorithm of {', '.join(list_algorithms())}")
    given: dict[str, ExpertLearner] = {}
    for variant in variants:
        card: Any = variant.card
        if algorithms is None and options.get("missing") == "sleep" and card.why_awake is not None:
            continue
        own = {**(settings or {}).get(card.name, {}), **variant.options}
        if (name := write(card, own)) in given:
            raise BadValue(f"an algorithm is named twice: {name!r}; leave one out, or give it other parameters")
        given[name] = card.build(**{**options, **own})
    transcripts = {name: learner.play(X, y) for name, learner in given.items()}
    race = ExpertRace(given, transcripts, None)
    first = race.first
    if not first.rounds:
        raise BadValue("there are no rounds to play")
    if switches and not first.require_state()[1].state.asleep.any():
        scaled = first.reader.read(read_table(X, first.names), first.reader.read_truth(X, y)).losses
        race.losses = first.loss_range[0] + first.width * scaled
        race.sequences = best_sequences(np.ascontiguousarray(race.losses.T), switches)
    return race
