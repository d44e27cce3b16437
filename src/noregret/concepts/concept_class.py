"""Finite classes of concepts, evaluated all at once: k-disjunctions, k-conjunctions, a list, predicates of a caller."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.concepts.boolean import Feature, Threshold
from noregret.concepts.boolean_rows import check_features
from noregret.concepts.words import describe
from noregret.errors import BadValue, shown
from noregret.learner.arguments import check_integer

LARGEST = 4_000_000  # concepts of a class that is enumerated
MOST_CELLS = 40_000_000  # literals of all concepts together
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ThresholdClass:
    """Threshold functions side by side: column c holds the features and weights of concept c, and its theta.

    Concepts with fewer features than others have the number of all features in their place, with weight 0.
    """

    features: list[Feature]
    places: NDArray[np.int32]  # (most features of a concept, concepts)
    weights: NDArray[Any]
    thetas: NDArray[Any]
    recipe: Mapping[str, Any] | None = None  # how it was enumerated, for the model file
    closed: bool = True  # whether rows may have no other features

    def __len__(self) -> int:
        return int(self.thetas.size)

    def evaluate(self, active: NDArray[np.int64], among: Places) -> NDArray[np.bool_]:
        """The values of some concepts on the row in which these features are true, by their places in `features`."""
        row = np.zeros(len(self.features) + 1, self.weights.dtype)
        row[np.minimum(active, len(self.features))] = 1
        row[-1] = 0
        whole = among.size == len(self)
        sums: NDArray[Any] = np.zeros(among.size, np.float64 if self.weights.dtype.kind == "f" else np.int16)
        for places, weights in zip(self.places, self.weights, strict=True):
            sums += row[places] * weights if whole else row[places[among]] * weights[among]
        return np.asarray(sums >= (self.thetas if whole else self.thetas[among]))

    def __getitem__(self, place: int) -> Threshold:
        at = range(len(self))[place]
        used = self.places[:, at] < len(self.features)
        pairs = zip(self.places[used, at].tolist(), self.weights[used, at].tolist(), strict=True)
        return Threshold({self.features[feature]: weight for feature, weight in pairs}, self.thetas[at].item())

    def __iter__(self) -> Iterator[Threshold]:
        return (self[place] for place in range(len(self)))

    def describe(self, place: int) -> str:
        return describe(self[place])

    def __repr__(self) -> str:
        return f"<{len(self):,} concepts of {len(self.features):,} features>"


class BooleanRow(dict[Feature, int]):
    """A row as predicates see it: 1 for the features that are true, 0 for all others."""

    def __missing__(self, feature: Feature) -> int:
        return 0


@dataclass(frozen=True, eq=False)
class PredicateClass:
    """Functions of a caller: each takes a row and returns whether the concept is true."""

    functions: Mapping[str, Callable[[BooleanRow], Any]]
    features: None = None

    def __len__(self) -> int:
        return len(self.functions)

    def evaluate(self, row: BooleanRow, among: Places) -> NDArray[np.bool_]:
        """The values of some predicates on a row."""
        named = list(self.functions.items())
        found = np.zeros(among.size, bool)
        for place, at in enumerate(among.tolist()):
            name, function = named[at]
            value = function(BooleanRow(row))
            if not isinstance(value, (bool, np.bool_)) and not (isinstance(value, (int, float)) and value in (0, 1)):
                raise BadValue(f"the concept {name} must return True or False, not {shown(value)}")
            found[place] = bool(value)
        return found

    def describe(self, place: int) -> str:
        return list(self.functions)[place]

    def __repr__(self) -> str:
        return f"<{len(self)} concepts: {', '.join(itertools.islice(self.functions, 8))}>"


def concept_class(concepts: Any, features: Any = None) -> ThresholdClass | PredicateClass:
    """A finite class of a list of threshold functions, or of predicates: a dict by name, or a list of functions.

    `features` are all features that rows may have: their number, or a list of names. Without it, rows may have others
    than the threshold functions, which ignore them.
    """
    if isinstance(concepts, (ThresholdClass, PredicateClass)):
        return concepts
    if isinstance(concepts, Mapping) and all(callable(one) for one in concepts.values()) and concepts:
        if any(not isinstance(name, str) for name in concepts):
            raise BadValue("the names of concepts must be texts")
        return PredicateClass(dict(concepts))
    given = list(concepts) if isinstance(concepts, (list, tuple)) else []
    if given and all(isinstance(one, Threshold) for one in given):
        return list_thresholds(given, features)
    if given and all(callable(one) and not isinstance(one, (Threshold, type)) for one in given):
        return PredicateClass(name_functions(given))
    raise BadValue(
        "concepts must be a class such as nr.k_disjunctions(10, 2), a list of functions such as nr.any_of('a', 'b'), "
        f"or a dict of predicates by name, not {shown(concepts)}"
    )


def name_functions(functions: Sequence[Any]) -> dict[str, Any]:
    names = [getattr(one, "__name__", type(one).__name__) for one in functions]
    twice = next((name for name in names if names.count(name) > 1 or not name.isidentifier()), None)
    if twice is not None:
        raise BadValue(f"several concepts are named {twice!r}, or it is no name; give a dict of predicates by name")
    return dict(zip(names, functions, strict=True))


def list_thresholds(given: Sequence[Threshold], features: Any) -> ThresholdClass:
    """Threshold functions as a class."""
    named = list(dict.fromkeys(feature for one in given for feature in one.weights))
    known = check_features(features)
    columns = [one for one in named if isinstance(one, int)]
    if known is None and 0 < len(columns) < len(named):
        raise BadValue("give all features of the concepts by name or all by number, not some of each")
    order: list[Feature] = [*known] if known is not None else [*range(max(columns) + 1)] if columns else [*named]
    place = {feature: at for at, feature in enumerate(order)}
    unknown = next((feature for feature in named if feature not in place), None)
    if unknown is not None:
        raise BadValue(f"there is no feature {unknown!r} among the {len(order)} given")
    most = max((len(one.weights) for one in given), default=0)
    check_size(len(given), most, "the class")
    places = np.full((most, len(given)), len(order), np.int32)
    weights = np.zeros((most, len(given)))
    for number, one in enumerate(given):
        places[: len(one.weights), number] = [place[feature] for feature in one.weights]
        weights[: len(one.weights), number] = list(one.weights.values())
    thetas = np.array([one.theta for one in given], np.float64)
    return ThresholdClass(order, places, weights, thetas, closed=known is not None)


# ---- classes that are enumerated -------------------------------------------------------------------------------------


def count_k_literals(features: int, k: int, negations: bool = False, exactly: bool = False) -> int:
    """How many sets of k literals of different features there are; of up to k, unless exactly k: 2^k C(n, k)."""
    sizes = range(k if exactly else 0, k + 1)
    return sum((2**size if negations else 1) * math.comb(features, size) for size in sizes)


def k_disjunctions(features: Any, k: int, negations: bool = False, exactly: bool = False) -> ThresholdClass:
    """All disjunctions of at most k features, or of exactly k; with `negations`, of features and negated features.

    `features` is their number, or a list of names. The empty disjunction is false everywhere.
    """
    return enumerate_literals("disjunction", features, k, negations, exactly)


def k_conjunctions(features: Any, k: int, negations: bool = False, exactly: bool = False) -> ThresholdClass:
    """All conjunctions of at most k features, or of exactly k; the empty conjunction is true everywhere."""
    return enumerate_literals("conjunction", features, k, negations, exactly)


def enumerate_literals(concept: str, features: Any, k: int, negations: bool, exactly: bool) -> ThresholdClass:
    given = check_features(features)
    if given is None:
        raise BadValue("features must be their number, or a list of names")
    names: list[Feature] = list(given)
    n, k = len(names), check_integer("k", k, 0)
    k = min(k, n) if not exactly else k
    count = count_k_literals(n, k, negations, exactly)
    check_size(count, k, f"the class of {concept}s of {'exactly' if exactly else 'at most'} {k} of {n} features")
    if count == 0:
        raise BadValue(f"there is no {concept} of exactly {k} of {n} features")
    places, weights = np.full((k, count), n, np.int32), np.zeros((k, count), np.int8)
    at = 0
    for size in range(k if exactly else 0, k + 1):
        chosen = collect(itertools.combinations(range(n), size), (math.comb(n, size), size))
        signs = collect(itertools.product((1, -1)[: 1 + negations], repeat=size), ((1 + negations) ** size, size))
        stop = at + len(chosen) * len(signs)
        places[:size, at:stop] = np.repeat(chosen, len(signs), axis=0).T
        weights[:size, at:stop] = np.tile(signs, (len(chosen), 1)).T
        at = stop
    # As in `at_least`, a negated literal contributes -x and lowers the threshold by 1.
    thetas = (weights != 0).sum(axis=0) if concept == "conjunction" else np.ones(count, np.int64)
    recipe = {"concept": concept, "k": k, "negations": negations, "exactly": exactly}
    return ThresholdClass(names, places, weights, (thetas - (weights < 0).sum(axis=0)).astype(np.int16), recipe)


def collect(rows: Iterable[tuple[int, ...]], shape: tuple[int, int]) -> NDArray[np.int32]:
    """Rows as a matrix of this shape."""
    return np.fromiter(itertools.chain.from_iterable(rows), np.int32, shape[0] * shape[1]).reshape(shape)


def check_size(count: int, literals: int, what: str) -> None:
    """Refuse classes that are too large to enumerate."""
    if count > LARGEST or count * max(literals, 1) > MOST_CELLS:
        size = f"{count:,}" if count < 10**15 else f"about 10^{len(str(count)) - 1}"
        raise BadValue(f"{what} has {size} concepts, too many to enumerate (the most is {LARGEST:,}, with "
                       f"{MOST_CELLS:,} literals in all); elimination and winnow need no list of them")  # fmt: skip
