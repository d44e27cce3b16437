"""Transforms before a learner, as in `clip(3.0) | scale() | make("arow")`.

Their statistics come from earlier rows only.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from noregret.errors import BadValue, shown
from noregret.features.conjunctions import Conjunctions
from noregret.features.derived import DerivedTransform
from noregret.features.expansions import OneHot, Pairs, Squares
from noregret.features.feature_selectors import MAX_GROUPS, FeatureSelectors, SelectorParam, selected_names
from noregret.features.fitted import FittedTransform, Runner
from noregret.features.fourier import Fourier
from noregret.features.kernel_maps import KernelMap
from noregret.features.keys import HashedKeys
from noregret.features.min_max import MinMax
from noregret.features.missing import POLICIES, Missing
from noregret.features.nystrom import Nystrom
from noregret.features.rowwise import Clip, Log1p, UnitNorm
from noregret.features.scaling import Scaling
from noregret.features.tensor_sketch import TensorSketch
from noregret.features.tf_idf import TfIdf
from noregret.rules.parameters import Choice, Param, suggestion

VALUES = (Scaling, MinMax, UnitNorm, Clip, Log1p, TfIdf, Missing)
DERIVED = (Squares, Pairs, Conjunctions, OneHot)
MAPS = (Fourier, Nystrom, TensorSketch)
KINDS: Mapping[str, type[FittedTransform]] = {kind.name: kind for kind in (*VALUES, *DERIVED, *MAPS)}


@dataclass(frozen=True)
class Transform:
    """A transform of rows with its checked parameters; joined to other transforms or a learner by |."""

    name: str
    options: tuple[tuple[str, Any], ...] = ()

    def __or__(self, other: "Transform | Pipeline") -> "Pipeline":
        return Pipeline((self,)) | other

    def __ror__(self, other: Any) -> Any:
        raise BadValue(f"a transform comes before a learner: {self!r} | learner, not after {shown(other)}")

    def __iter__(self) -> Iterator["Transform"]:
        yield self

    def __str__(self) -> str:
        params = self.kind.params
        options = ",".join(f"{name}={format_value(params[name], value)}" for name, value in self.options)
        return f"{self.name}:{options}" if options else self.name

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.options)})"

    @property
    def kind(self) -> type[FittedTransform]:
        """The class that implements this transform."""
        options = dict(self.options)
        return POLICIES[options["policy"]] if self.name == Missing.name else KINDS[self.name]

    def create_fitted(
        self, run: Runner, selectors: FeatureSelectors, keys: HashedKeys | None = None, seed: int = 0
    ) -> FittedTransform:
        """Create the stateful form of this transform; with `keys`, derived features are hashed; `seed` is for draws."""
        options, kind = dict(self.options), self.kind
        if issubclass(kind, DerivedTransform):
            return kind(options, run, selectors, keys)
        fitted = kind(options, run, selectors)
        if isinstance(fitted, KernelMap):
            fitted.seed = seed
        return fitted


@dataclass(frozen=True)
class Pipeline:
    """A sequence of transforms."""

    steps: tuple[Transform, ...]

    def __post_init__(self) -> None:
        if any(step.kind.accepts_missing for step in self.steps[1:]):
            raise BadValue("missing must be the first transform: all others need numbers")
        if len(self.group_names) > MAX_GROUPS:
            raise BadValue(f"transforms select features by {len(self.group_names)} names; the most is {MAX_GROUPS}")

    @property
    def group_names(self) -> list[str]:
        """The distinct names in the selectors of all transforms."""
        return list(dict.fromkeys(name for step in self.steps for name in selected_names(dict(step.options))))

    def __or__(self, other: "Transform | Pipeline") -> "Pipeline":
        if isinstance(other, (Transform, Pipeline)):
            return Pipeline((*self.steps, *other))
        if hasattr(other, "learn_one"):  # a learner: its __ror__ takes over
            return NotImplemented
        raise BadValue(f"a transform comes before another one or a learner, not before {shown(other)}")

    def __ror__(self, other: Any) -> Any:
        raise BadValue(f"a transform comes before a learner: {self!r} | learner, not after {shown(other)}")

    def __iter__(self) -> Iterator[Transform]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        return " | ".join(map(repr, self.steps))


def transform(name: str, **options: Any) -> Transform:
    """Create a transform by name, with checked parameters."""
    if name not in KINDS:
        hint = suggestion(name, KINDS) or f"; there are {', '.join(KINDS)}"
        raise BadValue(f"there is no transform {name!r}{hint}")
    params = KINDS[name].params
    unknown = next((key for key in options if key not in params), None)
    if unknown is not None:
        takes = f"it takes {', '.join(f'{key}=' for key in params)}" if params else "it takes none"
        raise BadValue(f"{name} has no parameter {unknown!r}; {takes}")
    checked = {key: param.check(name, key, options.get(key, param.default)) for key, param in params.items()}
    wrong = KINDS[name].check_options(checked)
    if wrong is not None:
        raise BadValue(f"{name}: {wrong}")
    return Transform(name, tuple((key, value) for key, value in checked.items() if value != ()))


def parse_transform(text: str) -> Transform:
    """Parse a transform as the command line and model files write it: name, or name:parameter=value,...

    It may be written as a call, too: name(parameter=value, ...).
    """
    name, colon, rest = text.strip().partition(":")
    if name.endswith(")") and "(" in name and not colon:
        name, colon, rest = name[:-1].partition("(")
        colon = rest.strip()
    options: dict[str, Any] = {}
    for part in rest.split(",") if colon else ():
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise BadValue(f"transform {text!r}: write name:parameter=value, as in clip:limit=3")
        param = KINDS[name.strip()].params.get(key.strip()) if name.strip() in KINDS else None
        options[key.strip()] = param.parse(value) if isinstance(param, SelectorParam) else parse_value(value.strip())
    return transform(name.strip(), **options)


def format_value(param: Param | Choice | SelectorParam, value: Any) -> Any:
    """Write the value of a parameter as `parse_transform` reads it."""
    return param.format(value) if isinstance(param, SelectorParam) else value


def parse_value(text: str) -> float | str:
    """Parse a number; anything else stays text."""
    try:
        return float(text)
    except ValueError:
        return text


def as_pipeline(given: Any) -> Pipeline:
    """Convert a transform, several joined by |, or a list of transforms or of their texts to a pipeline."""
    if given is None:
        return Pipeline(())
    items: Iterable[Any] = [given] if isinstance(given, str) else given
    if not isinstance(items, (Transform, Pipeline, Sequence)):
        raise BadValue(f"transforms must be a list such as [nr.clip(3.0), nr.scale()], not {shown(given)}")
    steps: list[Transform] = []
    for item in items:
        if isinstance(item, str):
            steps.append(parse_transform(item))
        elif isinstance(item, (Transform, Pipeline)):
            steps.extend(item)
        else:
            raise BadValue(f"transforms must be a list such as [nr.clip(3.0), nr.scale()]; {shown(item)} is none")
    return Pipeline(tuple(steps))


# ---- one function per transform; `only` selects columns or namespaces: a selects the features a, a=... and a^... ----

Names = str | int | Iterable[str | int]


def scale(only: Names = ()) -> Transform:
    """Standard scaling: subtract the mean of the feature's earlier values, divide by their standard deviation."""
    return transform("scale", only=only)


def min_max(only: Names = ()) -> Transform:
    """Min-max scaling to [0, 1] by the feature's smallest and largest earlier value; the first value becomes 0."""
    return transform("min_max", only=only)


def unit_norm(p: float = 2.0, only: Names = ()) -> Transform:
    """Divide every row by its p-norm."""
    return transform("unit_norm", p=p, only=only)


def clip(limit: float = 3.0, only: Names = ()) -> Transform:
    """Clip every value to [-limit, limit]."""
    return transform("clip", limit=limit, only=only)


def log1p(only: Names = ()) -> Transform:
    """Replace every value x by sign(x) log(1 + |x|)."""
    return transform("log1p", only=only)


def tf_idf(sublinear: bool | str = False, only: Names = ()) -> Transform:
    """TF-IDF: multiply every count by log((1 + n) / (1 + df)) + 1, with n earlier rows, df of them with the feature."""
    return transform("tf_idf", sublinear=sublinear, only=only)


def missing(policy: str = "zero") -> Transform:
    """Replace missing values (NaN, None) by "zero" or the "mean" of earlier values, or add an "indicator" feature.

    It must be the first transform.
    """
    return transform("missing", policy=policy)


def squares(only: Names = ()) -> Transform:
    """Add the square of every feature."""
    return transform("squares", only=only)


def pairs(limit: float = 200.0, between: Iterable[tuple[str | int, str | int]] = ()) -> Transform:
    """Add the product of every two features of a row (interactions); a row may have at most `limit` features.

    With between=[("user", "ad")], only features of the column or namespace user are multiplied with those of ad.
    """
    return transform("pairs", limit=limit, between=between)


def conjunctions(order: float = 2, limit: float = 20_000.0, negate: Names = (), only: Names = ()) -> Transform:
    """Add the products of 2 to `order` distinct features of a row; a row may become at most `limit` features.

    With negate=["a"], add also the feature "not a", which is 1 where a is 0 or absent, and its products.
    """
    return transform("conjunctions", order=order, limit=limit, negate=negate, only=only)


def one_hot(only: Names = ()) -> Transform:
    """One-hot encode: the feature j with the value v becomes the feature j=v with the value 1."""
    return transform("one_hot", only=only)


def fourier(features: float = 1000, gamma: float = 0.0, kernel: str = "rbf") -> Transform:
    """Random Fourier features of the kernel "rbf", exp(-gamma |x - z|^2), or "laplacian", exp(-gamma |x - z|_1).

    With gamma=0, the first 256 rows decide it. The row becomes `features` features, whatever it had.
    """
    return transform("fourier", features=features, gamma=gamma, kernel=kernel)


def nystrom(
    features: float = 200,
    gamma: float = 0.0,
    kernel: str = "rbf",
    coef0: float = 1.0,
    degree: float = 3,
    novelty: float = 0.1,
) -> Transform:
    """Nystrom features of a kernel: "rbf", "laplacian", "polynomial", "cosine" or "linear".

    Up to `features` of the first rows become landmarks: those of whose kernel more than the share `novelty` is not
    explained by the landmarks before. With gamma=0, the first 256 rows decide it.
    """
    return transform(
        "nystrom", features=features, gamma=gamma, kernel=kernel, coef0=coef0, degree=degree, novelty=novelty
    )


def tensor_sketch(features: float = 1024, gamma: float = 0.0, coef0: float = 1.0, degree: float = 2) -> Transform:
    """Hashed features of the polynomial kernel (gamma x.z + coef0)^degree; with gamma=0, the first 256 rows decide."""
    return transform("tensor_sketch", features=features, gamma=gamma, coef0=coef0, degree=degree)
