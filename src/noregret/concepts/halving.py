"""Learners that keep every consistent concept of a finite class: halving goes by the majority, CON by one at random."""

import math
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.concepts.boolean_rows import BooleanReader, BooleanRows
from noregret.concepts.class_file import restore_class
from noregret.concepts.concept_class import (
    BooleanRow,
    PredicateClass,
    ThresholdClass,
    concept_class,
    enumerate_literals,
)
from noregret.concepts.concept_learner import NEGATIONS, ConceptLearner, Flags, Played
from noregret.concepts.elimination import CONCEPT
from noregret.data.inputs import LabelsLike, RowsLike
from noregret.errors import BadValue, Error, NotLearned, shown
from noregret.learner.arguments import check_integer
from noregret.learner.finder import FeatureFunction
from noregret.learner.header_fields import corrupt
from noregret.learner.model_file import Arrays, FindCard, Header, register_kind
from noregret.rules.guarantee import Guarantee
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Choice, Param, Parameter

LITTLESTONE_1988 = "Littlestone, Learning quickly when irrelevant attributes abound, Machine Learning 2, 1988"
K = Param(2, at_least=0.0, about="the most literals of a concept", untuned="it is what is known of the target")
REFUSAL = Choice(
    "refuse", {"refuse": None, "count": None}, "a round that no concept left explains is an error, or is counted in "
    "`inconsistent` and changes nothing"
)  # fmt: skip
PARAMS: dict[str, Parameter] = {"concept": CONCEPT, "negations": NEGATIONS, "k": K, "contradiction": REFUSAL}
OPTIONS = ("concepts", "classes", "features", "seed")
EXPLAINED = "a concept of the class, which has |C| of them, explains all labels"
INTERSECTION = Merge("exact", "the concepts that both have left: those left after the rounds of both")


def halving_bound(p: Any, concepts: float) -> float:
    """log2 |C|, rounded down: every mistake removes at least half of the concepts."""
    return float(math.floor(math.log2(concepts))) if concepts >= 1.0 else 0.0


def con_bound(p: Any, concepts: float) -> float:
    """|C| - 1: every mistake removes at least one concept, and the target stays."""
    return max(concepts - 1.0, 0.0)


class VersionSpaceLearner(ConceptLearner):
    """A learner with a list of the concepts that are consistent with all rounds: its version space."""

    shared: ClassVar[tuple[str, ...]] = ("concepts",)

    def __init__(
        self, params: dict[str, Any], concepts: Any = None, classes: Any = None, features: Any = None, seed: Any = 0
    ) -> None:
        super().__init__(classes, None)
        self.options, self.seed = params, check_integer("seed", seed, 0)
        k = params["k"]
        if not float(k).is_integer():
            raise BadValue(f"{self.card.name}: k must be a whole number, not {k!r}")
        self.concepts: ThresholdClass | PredicateClass | None = None
        self.alive = np.zeros(0, np.int64)
        if concepts is not None:
            self.begin(concept_class(concepts, features))
        elif features is not None:
            self.begin(self.enumerate(features))

    def enumerate(self, features: Any) -> ThresholdClass:
        """The class of the parameters, over these features."""
        options = self.options
        return enumerate_literals(options["concept"], features, int(options["k"]), options["negations"] == "yes", False)

    def begin(self, concepts: ThresholdClass | PredicateClass) -> None:
        """Start with all concepts of a class."""
        self.concepts, self.alive = concepts, np.arange(len(concepts))
        if isinstance(concepts, ThresholdClass):
            columns = not concepts.features or not isinstance(concepts.features[0], str)
            closed: Any = len(concepts.features) if columns else list(concepts.features)
            self.reader = BooleanReader(closed if concepts.closed else None)
            self.reader.expect(concepts.features)

    @property
    def params(self) -> dict[str, Any]:
        return dict(self.options)

    @property
    def bound(self) -> float:
        return float(self.card.bound(self.params, concepts=len(self.require_class())))

    @property
    def needs_names(self) -> bool:
        return isinstance(self.concepts, PredicateClass)

    def require_class(self) -> ThresholdClass | PredicateClass:
        if self.concepts is None:
            raise NotLearned(
                f"the class of {self.card.name} is not known yet; learn a matrix, or give features= or concepts="
            )
        return self.concepts

    def explains(self, X: RowsLike, y: LabelsLike) -> bool:
        """Whether the concepts left explain all rounds that were learned."""
        return not self.inconsistent

    @property
    def version_space(self) -> list[str]:
        """The concepts that are left, in words."""
        known = self.require_class()
        return [known.describe(place) for place in self.alive.tolist()]

    def __len__(self) -> int:
        """The number of concepts that are left."""
        return int(self.alive.size)

    def __bool__(self) -> bool:
        return True

    @property
    def words(self) -> str:
        if self.concepts is None:
            return "no class yet"
        if self.alive.size == 1:
            return self.concepts.describe(int(self.alive[0]))
        return f"{self.alive.size:,} of {len(self.concepts):,} concepts left"

    # ---- rounds ------------------------------------------------------------------------------------------------------

    def play_rounds(self, X: Any, y: Any, began: float) -> Any:
        if self.concepts is None and not (isinstance(X, (list, tuple)) and not X):
            self.begin(self.enumerate(find_columns(X, self.card.name)))
        return super().play_rounds(X, y, began)

    def play_values(self, rows: BooleanRows, truth: Flags) -> Played:
        scores, updated = np.zeros(rows.rows), np.zeros(rows.rows, bool)
        contradicted = []
        for t, seen in enumerate(self.view(rows)):
            values = self.find_values(seen, t)
            scores[t] = self.score(values, self.rounds + t)
            left = self.alive[values == truth[t]]
            if not left.size:
                if self.options["contradiction"] == "refuse":
                    raise BadValue(f"row {t}: none of the {self.alive.size:,} concepts left is consistent with its "
                                   'label; the class does not contain the target, or the label is wrong: contradiction='
                                   '"count" goes on', t)  # fmt: skip
                contradicted.append(t)
                continue
            updated[t] = left.size < self.alive.size
            self.alive = left
        self.count_inconsistent(np.array(contradicted, np.int64))
        return Played(scores, scores > 0.0, updated)

    def view(self, rows: BooleanRows) -> Iterator[Any]:
        """The rows as the concepts take them: the numbers of the true features, or for predicates a dict of them."""
        if isinstance(self.concepts, ThresholdClass):
            return iter(rows)
        names = dict(enumerate(rows.names))
        return (BooleanRow({names.get(at, at): 1 for at in active.tolist()}) for active in rows)

    def find_values(self, seen: Any, row: int = 0) -> Flags:
        """The values of the concepts that are left on a row."""
        try:
            return self.require_class().evaluate(seen, self.alive)
        except BadValue as error:
            raise BadValue(f"row {row}: {error}", row) from None

    def score(self, values: Flags, rounds: int) -> float:
        """The score of a row by the values of the concepts that are left, in the round after so many."""
        raise NotImplementedError

    def evaluate_rows(self, rows: BooleanRows) -> NDArray[np.float64]:
        self.require_class()
        found = [self.score(self.find_values(seen, t), self.rounds) for t, seen in enumerate(self.view(rows))]
        return np.array(found, np.float64)

    # ---- merging and files -------------------------------------------------------------------------------------------

    def merge(self, other: Any) -> Self:
        """A learner with the concepts that both have left: those left after the rounds of both, in any order."""
        self.check_mergeable(other)
        mine, theirs = self.require_class(), other.require_class()
        if not same_class(mine, theirs):
            raise BadValue("the learners have different classes of concepts; they cannot be merged")
        new = self.copy()
        new.alive = np.intersect1d(self.alive, other.alive)
        if not new.alive.size:
            raise BadValue("no concept of the class is consistent with the rounds of both learners")
        new.reader.adopt(other.reader)
        new.merge_counts(other)
        return new

    def functions(self) -> dict[str, FeatureFunction]:
        """The predicates of the caller."""
        known: Any = self.concepts.functions if isinstance(self.concepts, PredicateClass) else {}
        return dict(known)

    def dump(self) -> tuple[Header, Arrays]:
        """The options, the class (predicates by name) and the concepts that are left."""
        with self._lock:
            self._change.settle()
            header: Header = {**self.options, "seed": self.seed, "class": None, **self.dump_rounds()}
            if self.concepts is None:
                return header, {}
            arrays: Arrays = {"alive": self.alive}
            known = self.concepts
            if isinstance(known, PredicateClass):
                unnamed = next((name for name in known.functions if not name.isidentifier()), None)
                if unnamed is not None:
                    raise Error(f"a concept must have a name that is an identifier to be saved, not {shown(unnamed)}")
                return {**header, "class": "predicates", "functions": list(known.functions)}, arrays
            header["class_features"] = [*known.features]
            if known.recipe is not None:
                return {
                    **header,
                    "class": "literals",
                    **{f"class_{key}": one for key, one in known.recipe.items()},
                }, arrays
            header["class_closed"] = known.closed
            arrays |= {"places": known.places, "weights": known.weights, "thetas": known.thetas}
            return {**header, "class": "thresholds"}, arrays

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """The learner of a header and arrays, all checked."""
        params = {name: header.get(name) for name in PARAMS}
        try:
            options = {"classes": header.get("classes"), "seed": header.get("seed")}
            new: Self = cls.card.build(**params, **options)  # type: ignore[attr-defined]
        except (BadValue, TypeError) as error:
            raise corrupt(str(error)) from None
        known = restore_class(header, arrays, find_card)
        if known is not None:
            try:
                new.begin(known)
            except BadValue as error:
                raise corrupt(str(error)) from None
            alive = arrays.get("alive")
            if alive is None or alive.dtype != np.int64 or alive.ndim != 1 or not alive.size:
                raise corrupt("alive must be the numbers of the concepts that are left")
            if alive[0] < 0 or alive[-1] >= len(known) or (np.diff(alive) <= 0).any():
                raise corrupt("alive must be increasing numbers of concepts")
            new.alive = alive.copy()
        new.restore_rounds(header)
        if known is None and new.rounds:
            raise corrupt("there are rounds, but no class of concepts")
        return new


@register_kind
@method_card(
    paper=LITTLESTONE_1988,
    kind="halving",
    tasks=("binary",),
    boolean_rows=True,
    params=PARAMS,
    options=OPTIONS,
    guarantees=(
        Guarantee("mistakes", "mistakes <= log2 |C|", EXPLAINED, halving_bound, comparator="concept"),
    ),
    merge=INTERSECTION,
)  # fmt: skip
class Halving(VersionSpaceLearner):
    """Predict by the majority of all concepts of a finite class that are consistent with the rounds so far.

    `concepts` is the class: nr.k_disjunctions(10, 2), a list of functions such as nr.any_of("a", "b"), or predicates by
    name. Without it, the class is that of all conjunctions (disjunctions) of at most k features, which are the columns
    of the first matrix, or those that `features` gives. A tie predicts false. Predicates take a row as a dict with the
    features that are true; they are given again when a model is loaded: nr.load(path, functions={...}).
    """

    kind: ClassVar[str] = "halving"

    def __init__(self, concept: str = "conjunction", negations: str = "no", k: float = 2,
                 contradiction: str = "refuse", **options: Any) -> None:  # fmt: skip
        params = {"concept": concept, "negations": negations, "k": k, "contradiction": contradiction}
        super().__init__(params, **options)

    @property
    def hypothesis(self) -> list[str]:
        """The concepts that vote."""
        return self.version_space

    def score(self, values: Flags, rounds: int) -> float:
        """The share of true less that of false."""
        return float(2 * np.count_nonzero(values) - values.size) / max(values.size, 1)


@register_kind
@method_card(
    paper=LITTLESTONE_1988,
    kind="con",
    name="con",
    title="ConsistentConcept",
    tasks=("binary",),
    boolean_rows=True,
    params=PARAMS,
    options=OPTIONS,
    guarantees=(Guarantee("mistakes", "mistakes <= |C| - 1", EXPLAINED, con_bound, comparator="concept"),),
    merge=INTERSECTION,
)
class Con(VersionSpaceLearner):
    """Predict by a random one of all concepts of a finite class that are consistent with the rounds so far.

    The class is given as for `halving`. Each round draws a concept by the seed and the number of the round.
    """

    kind: ClassVar[str] = "con"

    def __init__(self, concept: str = "conjunction", negations: str = "no", k: float = 2,
                 contradiction: str = "refuse", **options: Any) -> None:  # fmt: skip
        params = {"concept": concept, "negations": negations, "k": k, "contradiction": contradiction}
        super().__init__(params, **options)

    @property
    def hypothesis(self) -> str:
        """The concept that predicts the next round."""
        return self.require_class().describe(int(self.alive[self.draw(self.rounds)]))

    def draw(self, rounds: int) -> int:
        """The place of the concept that predicts the round after so many."""
        return int(np.random.default_rng([self.seed, rounds]).integers(self.alive.size))

    def score(self, values: Flags, rounds: int) -> float:
        return 1.0 if values[self.draw(rounds)] else -1.0


def find_columns(X: Any, name: str) -> int:
    """The number of columns of a matrix."""
    width = getattr(X, "shape", (0, 0))
    if isinstance(X, (list, tuple)) and len(X) and isinstance(X[0], (list, tuple, np.ndarray)):
        return len(X[0])
    if len(width) == 2 and width[1] and not hasattr(X, "columns"):
        return int(width[1])
    raise BadValue(
        f"{name} must know the features before the first round; give a matrix, features=[names] or concepts="
    )


def same_class(one: Any, other: Any) -> bool:
    """Whether two classes have the same concepts in the same order."""
    if type(one) is not type(other) or len(one) != len(other) or one.features != other.features:
        return False
    if isinstance(one, PredicateClass):
        return list(one.functions) == list(other.functions)
    pairs = ((one.places, other.places), (one.weights, other.weights), (one.thetas, other.thetas))
    return all(np.array_equal(a, b) for a, b in pairs)
