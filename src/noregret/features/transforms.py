"""Transforms to put before a learner, as in `clip(3.0) | scale() | make("arow")`: fitted on the past only."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from noregret.errors import BadValue, shown
from noregret.features.derived import Derived
from noregret.features.documents import TfIdf
from noregret.features.expansions import OneHot, Pairs, Squares
from noregret.features.feature_selectors import MOST, Choosing, Chosen, names_in
from noregret.features.fitted import Runner, Running
from noregret.features.keys import HashedKeys
from noregret.features.missing import POLICIES, Missing
from noregret.features.ranges import MinMax
from noregret.features.scaling import Scaling
from noregret.features.shaping import Clip, Log1p, UnitNorm
from noregret.rules.parameters import suggestion

KINDS: Mapping[str, type[Running]] = {
    kind.name: kind for kind in (Scaling, MinMax, UnitNorm, Clip, Log1p, TfIdf, Missing, Squares, Pairs, OneHot)
}


@dataclass(frozen=True)
class Transform:
    """A step between rows and a learner, with its checked parameters; it stands before others with |."""

    name: str
    told: tuple[tuple[str, Any], ...] = ()

    def __or__(self, other: "Transform | Pipeline") -> "Pipeline":
        return Pipeline((self,)) | other

    def __ror__(self, other: Any) -> Any:
        raise BadValue(f"a transform stands before a learner: {self!r} | learner, not after {shown(other)}")

    def __iter__(self) -> Iterator["Transform"]:
        yield self

    def __str__(self) -> str:
        params = self.kind.params
        told = ",".join(f"{name}={written_by(params[name], value)}" for name, value in self.told)
        return f"{self.name}:{told}" if told else self.name

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.told)})"

    @property
    def kind(self) -> type[Running]:
        told = dict(self.told)
        return POLICIES[told["policy"]] if self.name == Missing.name else KINDS[self.name]

    def running(self, run: Runner, choosing: Choosing, keys: HashedKeys | None = None) -> Running:
        """This step at work; with `keys`, the features it makes are hashed."""
        told, kind = dict(self.told), self.kind
        return kind(told, run, choosing, keys) if issubclass(kind, Derived) else kind(told, run, choosing)


@dataclass(frozen=True)
class Pipeline:
    """Transforms, one after another."""

    steps: tuple[Transform, ...]

    def __post_init__(self) -> None:
        if any(one.kind.takes_gaps for one in self.steps[1:]):
            raise BadValue("missing must be the first transform: all others need numbers")
        if len(self.groups) > MOST:
            raise BadValue(f"transforms choose features by {len(self.groups)} names; {MOST} are the most")

    @property
    def groups(self) -> list[str]:
        """The names by which features are chosen."""
        return list(dict.fromkeys(name for step in self.steps for name in names_in(dict(step.told))))

    def __or__(self, other: "Transform | Pipeline") -> "Pipeline":
        if isinstance(other, (Transform, Pipeline)):
            return Pipeline((*self.steps, *other))
        if hasattr(other, "learn_one"):  # a learner, which knows what to do
            return NotImplemented
        raise BadValue(f"a transform stands before another one or a learner, not before {shown(other)}")

    def __ror__(self, other: Any) -> Any:
        raise BadValue(f"a transform stands before a learner: {self!r} | learner, not after {shown(other)}")

    def __iter__(self) -> Iterator[Transform]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        return " | ".join(map(repr, self.steps))


def transform(name: str, **told: Any) -> Transform:
    """A transform by its name; every error names the parameter and what it may be."""
    if name not in KINDS:
        hint = suggestion(name, KINDS) or f"; there are {', '.join(KINDS)}"
        raise BadValue(f"there is no transform {name!r}{hint}")
    params = KINDS[name].params
    strange = next((one for one in told if one not in params), None)
    if strange is not None:
        takes = f"it takes {', '.join(f'{one}=' for one in params)}" if params else "it takes none"
        raise BadValue(f"{name} has no parameter {strange!r}; {takes}")
    checked = {one: param.check(name, one, told.get(one, param.default)) for one, param in params.items()}
    return Transform(name, tuple((one, value) for one, value in checked.items() if value != ()))


def written(text: str) -> Transform:
    """A transform as it is written on the command line and in a model file: name, or name:parameter=value,..."""
    name, colon, rest = text.strip().partition(":")
    told: dict[str, Any] = {}
    for part in rest.split(",") if colon else ():
        one, equals, value = part.partition("=")
        if not equals or not one.strip():
            raise BadValue(f"transform {text!r}: say name:parameter=value, as in clip:limit=3")
        param = KINDS[name.strip()].params.get(one.strip()) if name.strip() in KINDS else None
        told[one.strip()] = param.parsed(value) if isinstance(param, Chosen) else valued(value.strip())
    return transform(name.strip(), **told)


def written_by(param: Any, value: Any) -> Any:
    return param.written(value) if isinstance(param, Chosen) else value


def valued(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def asked(told: Any) -> Pipeline:
    """The transforms that somebody asked for: one, some joined by |, or a list of them or of what is written."""
    if told is None:
        return Pipeline(())
    given: Iterable[Any] = [told] if isinstance(told, str) else told
    if not isinstance(given, (Transform, Pipeline, Sequence)):
        raise BadValue(f"transforms must be a list such as [nr.clip(3.0), nr.scale()], not {shown(told)}")
    steps: list[Transform] = []
    for one in given:
        if isinstance(one, str):
            steps.append(written(one))
        elif isinstance(one, (Transform, Pipeline)):
            steps.extend(one)
        else:
            raise BadValue(f"transforms must be a list such as [nr.clip(3.0), nr.scale()]; {shown(one)} is none")
    return Pipeline(tuple(steps))


# ---- by name; `only` chooses columns or namespaces: a stands for the features a, a=... and a^... --------------------

Names = str | int | Iterable[str | int]


def scale(only: Names = ()) -> Transform:
    """Every value measured from the mean of the feature's values before it, in their standard deviations."""
    return transform("scale", only=only)


def min_max(only: Names = ()) -> Transform:
    """Every value by its place between the smallest and the largest before it, from 0 to 1; a first one is 0."""
    return transform("min_max", only=only)


def unit_norm(p: float = 2.0, only: Names = ()) -> Transform:
    """Every row divided by its p-norm."""
    return transform("unit_norm", p=p, only=only)


def clip(limit: float = 3.0, only: Names = ()) -> Transform:
    """Every value cut off at -limit and +limit."""
    return transform("clip", limit=limit, only=only)


def log1p(only: Names = ()) -> Transform:
    """sign(x) log(1 + |x|)."""
    return transform("log1p", only=only)


def tf_idf(sublinear: bool | str = False, only: Names = ()) -> Transform:
    """Every count times log((1 + n) / (1 + df)) + 1: n rows before this one, df of them with the feature."""
    return transform("tf_idf", sublinear=sublinear, only=only)


def missing(policy: str = "zero") -> Transform:
    """What NaN and None mean: "zero", the "mean" of the values before, or an "indicator" feature; it comes first."""
    return transform("missing", policy=policy)


def squares(only: Names = ()) -> Transform:
    """Every feature, and its square."""
    return transform("squares", only=only)


def pairs(limit: float = 200.0, between: Iterable[tuple[str | int, str | int]] = ()) -> Transform:
    """Every feature, and the product of every two features of a row, which may have at most `limit` features.

    With between=[("user", "ad")], only of those of which one belongs to user, a column or namespace, the other to ad.
    """
    return transform("pairs", limit=limit, between=between)


def one_hot(only: Names = ()) -> Transform:
    """Every number as a category: the feature j with the value v becomes j=v, which is 1."""
    return transform("one_hot", only=only)
