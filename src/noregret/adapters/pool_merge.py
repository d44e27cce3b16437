"""Merge two pools that learned different rounds: entry by entry, by their own laws, and the losses of Hedge added."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from noregret.adapters.pool_history import ShareHistory
from noregret.adapters.pool_probabilities import CURVATURE, OFFSET, OFFSET_CURVATURE, SLOPE, ProbabilityMixture
from noregret.adapters.pool_sleep import Sleep
from noregret.errors import BadValue
from noregret.learner.merge import merge_models
from noregret.learner.rule_learner import RuleLearner

if TYPE_CHECKING:
    from noregret.adapters.pool import Auto

Targets = tuple[int, float, float, float]


def merge_pools(a: "Auto", b: "Auto") -> "Auto":
    """A new pool that has learned the rounds of both."""
    if [(one.name, one.sees) for one in a.entries] != [(one.name, one.sees) for one in b.entries]:
        raise BadValue("only pools with the same entries can be merged")
    if not (a.rounds and b.rounds):
        return (a if a.rounds else b).copy()
    new = a.copy()
    order = column_order(a, b)
    entries = []
    for mine, other in zip(a.entries, b.entries, strict=True):
        learner: Any = mine.learner
        if mine.sees == "encoded" and isinstance(learner, RuleLearner):
            merged = merge_models(learner.copy().model, other.learner.copy().model, order)  # type: ignore[attr-defined]
            entries.append(replace(mine, learner=RuleLearner.of(merged)))
        elif hasattr(learner, "merge"):
            entries.append(replace(mine, learner=learner.merge(other.learner)))
        else:
            raise BadValue(f"{mine.name} cannot be merged, and so this pool cannot")
    new.mixture = a.mixture.merge(b.mixture)
    new.entries, new.stopped = tuple(entries), {**a.stopped, **b.stopped}
    new.sleep, new.targets = Sleep.none(len(entries)), merge_targets(a.targets, b.targets)
    codes = [new.model.labels.code[label] for label in b.model.labels.order]
    new.odds = merge_odds(a.odds, b.odds, codes, len(new.model.labels))
    new.history = ShareHistory.empty(len(entries))  # no order of the rounds of both has these weights
    new.rounds, new.mistakes, new.updates = a.rounds + b.rounds, a.mistakes + b.mistakes, a.updates + b.updates
    return new


def column_order(a: "Auto", b: "Auto") -> list[int] | None:
    """Where the columns that the second pool encodes stand among those of the first; None where they are the same."""
    mine, other = a.leader, b.leader
    if mine is None or other is None or mine.model.names.mode != "names" or mine.config.bits is not None:
        return None
    bias = int(mine.config.bias)
    known = {name: place for place, name in enumerate(mine.model.names.as_list())}
    places = []
    for name in other.model.names.as_list():
        known.setdefault(name, len(known))
        places.append(known[name] + bias)
    return [*range(bias), *places]


def merge_targets(a: Targets, b: Targets) -> Targets:
    """The sums of the targets of both, measured from the first of the first."""
    if not (a[0] and b[0]):
        return a if a[0] else b
    shift = b[1] - a[1]
    squares = b[3] + 2.0 * shift * b[2] + b[0] * shift**2
    return a[0] + b[0], a[1], a[2] + b[2] + b[0] * shift, a[3] + squares


def merge_odds(a: ProbabilityMixture, b: ProbabilityMixture, codes: list[int], classes: int) -> ProbabilityMixture:
    """Slopes and offsets by how much is known of each, sums added; `codes`: those of the classes of the second."""
    new, other = a.copy(), b.copy()
    new.widen(classes)
    width = len(codes)
    mine, its = 1.0 + new.entries[CURVATURE], 1.0 + other.entries[CURVATURE]
    slopes = (mine * new.entries[SLOPE] + its * other.entries[SLOPE]) / (mine + its)
    new.entries += other.entries
    new.entries[SLOPE] = slopes
    if width:
        known, more = 1.0 + new.classes[OFFSET_CURVATURE][:, codes], 1.0 + other.classes[OFFSET_CURVATURE][:, :width]
        offsets = known * new.classes[OFFSET][:, codes] + more * other.classes[OFFSET][:, :width]
        new.classes[OFFSET][:, codes] = offsets / (known + more)
        new.classes[OFFSET_CURVATURE][:, codes] += other.classes[OFFSET_CURVATURE][:, :width]
    new.total += other.total
    return new
