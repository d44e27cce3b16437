"""Certify a stream: a separator of largest margin or the proof that none exists, and the mistake bounds that follow."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from noregret.data.batch import Batch
from noregret.errors import BadValue, shown
from noregret.evaluation.bounds import Theorem
from noregret.evaluation.capabilities import accepted_options, config_of, parameters_of
from noregret.evaluation.certified_rows import Prepared, prepare, read_batches
from noregret.evaluation.concept_bounds import smallest_concept_bound
from noregret.evaluation.hindsight import Fixed, Played
from noregret.evaluation.hinge_sum import HingeSum, approach_hinge_sum, find_hinge_sum, trace_comparators
from noregret.evaluation.invariants import Invariants, trace_invariants
from noregret.evaluation.mistake_bounds import MistakeBound, has_mistake_bound, smallest_mistake_bound
from noregret.evaluation.option_names import refuse_misspelt
from noregret.evaluation.play import READING, open_for_tasks, play_batch
from noregret.evaluation.race import ALL, NEUTRAL, all_cards, check_distinct, check_entrants
from noregret.evaluation.separability import Separability, find_separator
from noregret.learner.config import Config
from noregret.learner.factory import make
from noregret.learner.protocol import Learner
from noregret.learner.variants import Variant, find_named, name_learner
from noregret.streams import Source
from noregret.tasks.task import Task

MaybeNone: TypeAlias = Any  # None where the rows are not separable; a type checker need not insist
EXPANSIONS = (("squares",), ("pairs",), ("squares", "pairs"))
UNDERSTOOD = ("algebra", "classes", "competitor", "covariance", "task")  # options that theorems allow for
PREPARING = ("transforms", "bias", "scale", "bits")  # options of learners that change the rows they see


@dataclass(frozen=True)
class Attempt:
    """Other features for rows that are not separable: whether they are now, and the smallest sum of hinge losses."""

    title: str
    features: int = 0
    separable: bool | None = None
    margin: float = 0.0
    hinge: float | None = None
    why_not: str | None = None  # why it was not tried


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is proved about the rows of a source, and what it means for learners."""

    name: str
    rows: int
    features: int
    labels: Sequence[Any]
    codes: Sequence[int]  # the label of every row, as its number among the labels
    radius: float
    separability: Separability
    separator: MaybeNone  # weights by feature, and by class where there are many
    hinge: HingeSum | None
    learners: Sequence[MistakeBound] = ()
    attempts: Sequence[Attempt] = ()
    invariants: Invariants | None = None

    @property
    def separable(self) -> bool | None:
        """Whether some weights separate the rows; None where floats cannot decide it."""
        return self.separability.separable

    @property
    def margin(self) -> float:
        """The margin gamma of the separator, as checked on every row; 0 where there is none."""
        return self.separability.margin

    def __getitem__(self, learner: str) -> MistakeBound:
        return self.learners[find_named(learner, [one.learner for one in self.learners])]

    def __str__(self) -> str:
        from noregret.evaluation.certificate_text import describe

        return describe(self)

    __repr__ = __str__

    def report(self) -> dict[str, Any]:
        """The certificate for programs: plain values that JSON can hold."""
        from noregret.evaluation.certificate_text import report_certificate

        return report_certificate(self)


def certify(
    source: object,
    learners: Sequence[object] | str | None = None,
    *,
    invariants: bool = False,
    expansions: bool = True,
    **options: Any,
) -> Certificate:
    """Find the largest margin of a source, or prove that nothing separates it, and bound the mistakes of learners.

    `learners` holds names, rules or cards; without it, those whose cards bound mistakes with their default parameters.
    The rows are taken as read: bias=True adds a constant feature of 1; `transforms` and scale=True are applied as in a
    learner. Options of `open_source` (label="churn", limit=1000) say how the source is read; others go to every
    learner. With `invariants`, the updates of the perceptron are listed with what they add to u.w and |w|^2. Rows that
    are not separable are tried again with a constant feature, squares and pairs, unless `expansions` is False.
    """
    if not isinstance(expansions, bool):
        raise BadValue(f"expansions must be True or False, not {shown(expansions)}")
    return run_certify(source, Request(learners, invariants, expansions=expansions), options)


@dataclass(frozen=True)
class Request:
    """What a certificate is to contain.

    `add` gives learners more options, also those that are chosen by the task. `begin` is called with the learners
    and the first batch before anything is played, `tell` with what is done next.
    """

    learners: Sequence[object] | str | None = None
    invariants: bool = False
    expansions: bool = True
    add: Callable[[Sequence[Variant]], Sequence[Variant]] | None = None
    begin: Callable[[Sequence[Learner], Batch], None] | None = None
    tell: Callable[[str], None] | None = None


def run_certify(source: object, request: Request, options: Mapping[str, Any]) -> Certificate:
    """Read the source, find what separates it, and bound the mistakes of the learners."""
    refuse_misspelt("certify", options, ("learners", "invariants", "expansions"), request.learners)
    variants = check_variants(request.learners)
    reading = {name: value for name, value in options.items() if name in READING}
    given = {name: value for name, value in options.items() if name not in (*READING, *PREPARING)}
    preparing = {name: value for name, value in options.items() if name in PREPARING}
    opened = open_for_tasks(source, [Task], reading)
    batches = read_batches(opened)
    prepared = prepare(opened.name, batches, preparing)
    if variants is None:
        cards = [card for card in all_cards(prepared.task) if request.learners == ALL or has_mistake_bound(card)]
        variants = [Variant(card) for card in cards]
    variants = variants if request.add is None else list(request.add(variants))
    shared = {**preparing, "classes": list(prepared.labels), "task": prepared.task, **given}
    made = [make(one.card, **{**accepted_options(one.card, shared), **one.options}) for one in variants]
    check_distinct([name_learner(learner, one.options) for one, learner in zip(variants, made, strict=True)])
    if request.begin is not None:
        request.begin(made, batches[0])
    tell = request.tell or (lambda text: None)
    tell("looking for the largest margin")
    found = find_separator(prepared.examples)
    if not found.separable:
        tell("no separator; computing the smallest hinge sum")
    hinge = None if found.separable else sum_hinge_losses(prepared)
    tell("playing the learners and evaluating their theorems")
    invariants = follow_proof(opened, batches, prepared, found, shared) if request.invariants else None
    comparators = find_comparators(prepared, found, hinge)
    tries = request.expansions and not found.separable
    return Certificate(
        name=opened.name, rows=prepared.examples.rounds, features=prepared.X.shape[1], labels=prepared.labels,
        codes=prepared.codes.tolist(),
        radius=prepared.examples.radius, separability=found, separator=prepared.name_weights(found.weights),
        hinge=hinge, learners=[bound_learner(one, opened, batches, prepared, comparators) for one in made],
        attempts=try_expansions(opened.name, batches, preparing, tell) if tries else [],
        invariants=invariants,
    )  # fmt: skip


def check_variants(learners: Sequence[object] | str | None) -> list[Variant] | None:
    """The learners named; None where the task decides them."""
    entrants = check_entrants(learners)
    if entrants is None:
        return None
    if not entrants:
        raise BadValue("name at least one learner, or none to have all that have a mistake bound")
    if any(not isinstance(one, Variant) for one in entrants):
        raise BadValue("certify makes its learners itself; give their names or rules, and parameters as options")
    return [one for one in entrants if isinstance(one, Variant)]


def find_comparators(prepared: Prepared, found: Separability, hinge: HingeSum | None) -> list[Fixed]:
    """Comparators for bounds: separators, the weights with the smallest hinge sum, and trades of norm for losses."""
    named = {"largest margin": found.weights, "largest margin relative to |x|": found.scaled_weights}
    if hinge is not None:
        named["smallest hinge sum"] = hinge.weights
    chosen = [prepared.fix(name, u) for name, u in named.items() if u is not None]
    traced = [prepared.fix("a trade of norm for losses", u.T.reshape(-1)) for u in trace_comparators(prepared.rounds)]
    return [*(prepared.rounds.scale(one, 1.0 / one.least) if one.separates else one for one in chosen), *traced]


def sum_hinge_losses(prepared: Prepared) -> HingeSum:
    """The smallest hinge sum: exactly by a linear program, where it is solved."""
    return find_hinge_sum(prepared.examples) or approach_hinge_sum(prepared.rounds)


def bound_learner(
    learner: Learner, source: Source, batches: Sequence[Batch], prepared: Prepared, comparators: Sequence[Fixed]
) -> MistakeBound:
    """Play one pass, and evaluate the theorems of the learner."""
    try:
        played = play_once(learner, source, batches)
    except BadValue as error:
        if not learner.card.boolean_rows:
            raise
        return MistakeBound(name_learner(learner), 0, 0, why_not=str(error))  # it plays only rows that suit it
    counts = MistakeBound(name_learner(learner), int(played.mistakes.sum()), int(played.updated.sum()))
    config = config_of(learner)
    options = {**parameters_of(learner), **({} if config is None else {"covariance": config.covariance})}
    other = None if config is None else find_other_option(config)
    if other is not None:
        return replace(counts, why_not=f"its theorem is not about learners made with {other}")
    theorem = Theorem(learner.card, options, prepared.rounds.kind)
    try:
        found = smallest_concept_bound(learner, theorem, prepared.rounds, batches)
        guarantee, at_most, name = found or smallest_mistake_bound(theorem, prepared.rounds, played, comparators)
    except BadValue as error:
        return replace(counts, why_not=str(error))
    bounds = "updates" if guarantee.bounds == "updates" else "mistakes"
    observed = float(counts.updates if bounds == "updates" else counts.mistakes)
    return replace(counts, at_most=at_most, bounds=bounds, observed=observed, says=guarantee.says, comparator=name,
                   assumes=guarantee.assumes)  # fmt: skip


def find_other_option(config: Config) -> str | None:
    """An option that changes what is learned in a way that theorems of cards do not speak of, such as class weights."""
    for name, value in config.given.items():
        if name not in (*config.card.params, *PREPARING, *NEUTRAL, *UNDERSTOOD) or value in ("kernel", "rest"):
            return f"{name}={value}"
    return None


def play_once(learner: Learner, source: Source, batches: Sequence[Batch]) -> Played:
    """Play all batches."""
    transcripts = [play_batch(learner, source, batch) for batch in batches]
    return Played(
        np.concatenate([one.losses for one in transcripts]),
        np.concatenate([one.mistakes for one in transcripts]),
        np.concatenate([one.updated for one in transcripts]).astype(bool),
    )


def follow_proof(
    source: Source, batches: Sequence[Batch], prepared: Prepared, found: Separability, shared: Mapping[str, Any]
) -> Invariants:
    """The invariants of a perceptron on these rows, against the separator."""
    if found.weights is None:
        raise BadValue(f"{source.name}: the invariants need a separator, and these rows are not known to have one; "
                       "bias, or the transforms squares and pairs, may make them separable")  # fmt: skip
    if len(prepared.labels) > 2:
        raise BadValue(f"{source.name}: the invariants are shown for two classes, not {len(prepared.labels)}")
    kept = {name: value for name, value in shared.items() if name in (*PREPARING, *NEUTRAL, "classes", "task")}
    played = play_once(make("perceptron", **kept), source, batches)
    return trace_invariants(prepared.examples, played.updated, found.weights, found.margin)


def try_expansions(
    name: str, batches: Sequence[Batch], preparing: Mapping[str, Any], tell: Callable[[str], None]
) -> list[Attempt]:
    """A constant feature, squares, and products of pairs: whether the rows become separable by them."""
    before = list(preparing.get("transforms") or [])
    bias = preparing.get("bias") or True
    tries: list[tuple[str, list[Any]]] = [] if preparing.get("bias") else [("a constant feature", [])]
    tries += [(f"{' and '.join(added)}, with a constant feature", list(added)) for added in EXPANSIONS]
    found = []
    for title, added in tries:
        tell(f"trying {title}")
        found.append(try_features(name, batches, {**preparing, "bias": bias, "transforms": [*before, *added]}, title))
    return found


def try_features(name: str, batches: Sequence[Batch], preparing: Mapping[str, Any], title: str) -> Attempt:
    """Whether the rows are separable with these features."""
    try:
        prepared = prepare(name, batches, preparing)
    except BadValue as error:
        return Attempt(title, why_not=str(error))
    found = find_separator(prepared.examples)
    hinge = None if found.separable else sum_hinge_losses(prepared)
    total = 0.0 if hinge is None else hinge.total
    return Attempt(title, prepared.X.shape[1], found.separable, found.margin, total)
