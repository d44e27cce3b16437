"""The candidates of a search: learners with parameters to compare, those with default parameters first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from noregret.errors import BadValue, shown
from noregret.evaluation.capabilities import config_of, given_options, parameters_of
from noregret.evaluation.tuning.space import Axis, card_axes, make_points, user_axis, why_nothing
from noregret.learner.protocol import Learner
from noregret.learner.variants import Variant, write
from noregret.rules.parameters import suggestion

PASSES = "passes"  # in a search space: how often the rows are learned
OPTIONS = ("covariance", "kernel", "bias", "scale", "bits", "average")  # of learners, which the configuration knows
Make: TypeAlias = Callable[[Variant, Mapping[str, Any]], Learner]  # a learner with these parameters
Space: TypeAlias = Mapping[str, Any] | Sequence[str]


@dataclass(frozen=True)
class Candidate:
    """A learner to try.

    `settings` are the parameters that are not the defaults; `parameters` has the value of every parameter searched.
    """

    variant: Variant
    settings: Mapping[str, Any]
    parameters: Mapping[str, Any]
    make: Make

    def make_learner(self) -> Learner:
        """A fresh learner."""
        return self.make(self.variant, self.settings)

    def name(self, more: Mapping[str, Any] | None = None) -> str:
        """The canonical name, with what is set."""
        return write(self.variant.card, {**self.variant.options, **self.settings, **(more or {})})


@dataclass(frozen=True)
class Search:
    """How one learner is searched: its axes, and how learners of the variant are made."""

    variant: Variant
    axes: Sequence[Axis]
    make: Make
    by_user: frozenset[str]  # parameters whose values the user named: one that does not work is an error

    def find_candidates(self, most: int, seed: int) -> list[Candidate]:
        """At most so many candidates, the default parameters first; what a task does not allow is left out."""
        first = self.make(self.variant, {})
        defaults = {axis.name: default_value(first, axis.name) for axis in self.axes}
        found = [Candidate(self.variant, {}, defaults, self.make)]
        chosen = self.choose_settings(most, seed, defaults)
        if len(chosen) >= most:
            chosen = self.choose_settings(most - 1, seed, defaults)
        for settings in chosen:
            try:
                self.make(self.variant, settings)
            except BadValue:
                if self.by_user.issuperset(settings):
                    raise
                continue
            found.append(self.candidate(settings, found[0]))
        return found

    def choose_settings(self, most: int, seed: int, defaults: Mapping[str, Any]) -> list[dict[str, Any]]:
        """What is set at each of at most so many points, without the point of the defaults."""
        points = make_points(self.axes, most, seed)
        found = [{name: one for name, one in point.items() if not is_equal(one, defaults[name])} for point in points]
        return [settings for settings in found if settings]

    def candidate(self, settings: Mapping[str, Any], default: Candidate) -> Candidate:
        """A candidate that differs from the default in these parameters."""
        return Candidate(self.variant, settings, {**default.parameters, **settings}, self.make)


def default_value(learner: Learner, name: str) -> Any:
    """The value of a parameter or an option in a learner; None where it has none."""
    params, given = parameters_of(learner), given_options(learner)
    if name in params or name in given:
        return params[name] if name in params else given[name]
    return getattr(config_of(learner), name, None) if name in OPTIONS else None


def is_equal(value: Any, default: Any) -> bool:
    """Whether a value is the default; True and 1 are different."""
    if isinstance(value, bool) and isinstance(default, str):  # options that are yes or no
        return value == (default == "yes") and default in ("yes", "no")
    same_kind = isinstance(value, bool) == isinstance(default, bool)
    return same_kind and type(value) in (bool, int, float, str) and bool(value == default)


def make_searches(
    variants: Sequence[Variant], space: Space | None, shared: Mapping[str, Any], make: Make
) -> tuple[list[Search], list[int] | None]:
    """The search of every learner, and the numbers of passes to try where the space has some.

    `shared` holds the parameters that are set for all learners. One for which the user names no parameter is searched
    as its card says.
    """
    names = check_space(space)
    passes = check_passes(names.pop(PASSES)) if PASSES in names else None
    searches, used = [], set()
    for variant in variants:
        make(variant, {})  # an error of the options that all candidates share
        card, own, fixed = variant.card, {}, {**shared, **variant.options}
        for key, given in names.items():
            owner, dot, name = split_owner(key, variant)
            if dot and owner in (card.name, str(variant)):
                own[name] = given
            elif not dot and (key in card.params or not any(key in one.card.params for one in variants)):
                own[key] = given
            else:
                continue
            used.add(key)
        for name in own:
            if name in fixed:
                raise BadValue(f"{card.name}: {name} is set, and cannot be searched as well")
        axes = [user_axis(card, name, given) for name, given in own.items()]
        by_user = frozenset(name for name, given in own.items() if given is not None)
        axes = axes or card_axes(card, fixed)
        axes = [drop_refused(variant, axis, by_user, make) for axis in axes]
        searches.append(Search(variant, [axis for axis in axes if axis.values or axis.span], make, by_user))
    check_used(names, used, variants)
    if passes is None and not any(search.axes for search in searches):
        raise BadValue("; ".join(why_nothing(one.card) for one in variants[:2]))
    return searches, passes


def split_owner(key: str, variant: Variant) -> tuple[str, str, str]:
    """The learner and the parameter of LEARNER.NAME, where the learner may be the name of the variant."""
    whole = f"{variant}."
    return (str(variant), ".", key.removeprefix(whole)) if key.startswith(whole) else key.partition(".")


def drop_refused(variant: Variant, axis: Axis, by_user: frozenset[str], make: Make) -> Axis:
    """An axis of the card without the values that the task refuses, such as losses of other tasks."""
    if axis.span is not None or axis.name in by_user:
        return axis
    allowed = []
    for value in axis.values:
        try:
            make(variant, {axis.name: value})
        except BadValue:
            continue
        allowed.append(value)
    return replace(axis, values=tuple(allowed))


def check_space(space: Space | None) -> dict[str, Any]:
    """The search space by names; None for what the card says."""
    if space is None:
        return {}
    if isinstance(space, str) or not isinstance(space, (Mapping, list, tuple)):
        raise BadValue(f"space must be a dict from parameters to values, or a list of parameters, not {shown(space)}")
    names = dict(space) if isinstance(space, Mapping) else dict.fromkeys(space)
    if not names:
        raise BadValue("the search space is empty; leave space out to search what the card names")
    for name in names:
        if not isinstance(name, str) or not name:
            raise BadValue(f"the search space names parameters, not {shown(name)}")
    return names


def check_used(names: Mapping[str, Any], used: set[str], variants: Sequence[Variant]) -> None:
    """Refuse a name that belongs to no learner."""
    for key in names:
        if key not in used:
            known = [str(one) for one in variants]
            owner = key.partition(".")[0]
            raise BadValue(f"{key}: {owner!r} is not tuned here{suggestion(owner, known)}; it is {', '.join(known)}")


def check_passes(given: object) -> list[int]:
    """Numbers of passes, the smallest first."""
    values: list[Any] = list(given) if isinstance(given, (list, tuple)) else [given]
    if not values or any(type(value) is not int or value < 1 for value in values):
        raise BadValue(f"passes must be whole numbers of at least 1, not {shown(given)}")
    return sorted(set(values))
