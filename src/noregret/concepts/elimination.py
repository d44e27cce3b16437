"""Elimination: begin with all literals, and drop those that an example rules out."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.concepts.boolean import Feature, Threshold, at_least, negation
from noregret.concepts.boolean_rows import BooleanRows
from noregret.concepts.concept_learner import NEGATIONS, ConceptLearner, Flags, Played
from noregret.concepts.words import join_literals, name_literal
from noregret.data.inputs import LabelsLike, RowLike, RowsLike
from noregret.data.labels import as_array
from noregret.errors import BadValue
from noregret.learner.encode import one_row
from noregret.learner.header_fields import corrupt
from noregret.learner.model_file import Arrays, FindCard, Header, register_kind
from noregret.rules.guarantee import Guarantee
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Choice

VALIANT_1984 = "Valiant, A theory of the learnable, Communications of the ACM 27, 1984"
LARGEST = 1 << 28  # features, a byte for each
FIRST = 16  # rounds that are evaluated together after a mistake; twice as many each time there is none
CONCEPT = Choice(
    "conjunction", {"conjunction": None, "disjunction": None}, "what is learned: an AND or an OR of literals"
)
CONTRADICTION = Choice(
    "count",
    {"count": None, "refuse": None},
    "a round that contradicts the class: counted as `inconsistent`, or refused",
)
EXPLAINED = "x in {{0,1}}^n; the labels are a {} of features{}"


def monotone_bound(p: Any, features: float) -> float:
    """n: every mistake removes a feature."""
    return features


def literals_bound(p: Any, features: float) -> float:
    """n + 1: the first mistake removes one literal of each of the n pairs, every other at least one."""
    return features + 1.0


@register_kind
@method_card(
    paper=VALIANT_1984,
    kind="elimination",
    tasks=("binary",),
    boolean_rows=True,
    params={"concept": CONCEPT, "negations": NEGATIONS, "contradiction": CONTRADICTION},
    options=("classes", "features"),
    guarantees=(
        Guarantee(
            "mistakes", "mistakes <= n", EXPLAINED.format("conjunction", ""), monotone_bound, comparator="concept",
            options={"concept": ("conjunction",), "negations": ("no",)},
            assumes="the n features are known before the first round; otherwise one more mistake is possible",
        ),
        Guarantee(
            "mistakes", "mistakes <= n", EXPLAINED.format("disjunction", ""), monotone_bound, comparator="concept",
            options={"concept": ("disjunction",), "negations": ("no",)},
        ),
        Guarantee(
            "mistakes", "mistakes <= n + 1", EXPLAINED.format("conjunction (disjunction)", " and negated features"),
            literals_bound, options={"negations": ("yes",)}, comparator="concept",
        ),
    ),
    merge=Merge("exact", "the literals that both have left: those left after the rounds of both"),
)  # fmt: skip
class Elimination(ConceptLearner):
    """Predict with all literals of a conjunction or disjunction that no example has ruled out.

    A conjunction drops the literals that are false in a positive example, a disjunction those that are true in a
    negative one. The hypothesis of a conjunction is the most specific consistent one, so it errs on positive examples
    only; that of a disjunction errs on negative ones only. A round costs its true features.

    Features that are absent from a row are false. Where features are not known beforehand, one that appears later was
    false until then.
    """

    # Literals that an example rules out where their feature is true are stored as those that are gone (`cut`), for a
    # feature that is still to come has not been ruled out. Literals that it rules out where their feature is false are
    # stored as those that are left (`kept`): a feature still to come was false, so its literal is gone after the first
    # such example. Before it all are left, and `kept` is None where their number is not known.

    kind: ClassVar[str] = "elimination"
    conservative: ClassVar[bool] = True  # rounds without a mistake change nothing

    def __init__(
        self,
        concept: str = "conjunction",
        negations: str = "no",
        contradiction: str = "count",
        classes: Any = None,
        features: Any = None,
    ) -> None:
        super().__init__(classes, features)
        self.conjunction, self.negated, self.refuses = (
            concept == "conjunction", negations == "yes", contradiction == "refuse"
        )  # fmt: skip
        self.cut = np.zeros(1, np.uint8)
        self.kept: NDArray[np.int32] | None = None
        self.kept_mark = 1  # of the features that are kept: to drop all others costs nothing
        self.kept_count = 0
        self.changed: list[tuple[NDArray[np.int64], NDArray[np.int64], int]] = []  # by the call under way, for its undo
        self.make_room()

    @property
    def params(self) -> dict[str, Any]:
        return {
            "concept": "conjunction" if self.conjunction else "disjunction",
            "negations": "yes" if self.negated else "no",
            "contradiction": "refuse" if self.refuses else "count",
        }

    @property
    def bound(self) -> float:
        """The most mistakes, for the features known now; one more where their number was not known beforehand."""
        open_ended = self.conjunction and not self.negated and self.reader.universe is None
        return float(self.card.bound(self.params, features=self.features)) + open_ended

    def explains(self, X: RowsLike, y: LabelsLike) -> bool:
        """Whether the hypothesis explains rounds that were learned; where it does not, no concept of the class does."""
        return not self.inconsistent and all(self.predict(X) == as_array(self.labels.as_list(y)))

    # ---- the literals that are left ----------------------------------------------------------------------------------

    @property
    def uses_cut(self) -> bool:
        return self.negated or not self.conjunction

    @property
    def uses_kept(self) -> bool:
        return self.negated or self.conjunction

    def left(self) -> tuple[list[Feature], list[Feature]]:
        """The features, and the negated ones, of the known features that are left."""
        names = self.reader.all_names()
        uncut = self.find_uncut() if self.uses_cut else np.zeros(0, np.int64)
        kept = self.find_kept() if self.uses_kept else np.zeros(0, np.int64)
        positive, negated = (kept, uncut) if self.conjunction else (uncut, kept)
        return [names[at] for at in positive.tolist()], [names[at] for at in negated.tolist()]

    def find_uncut(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.cut[: self.features] == 0)

    def find_kept(self) -> NDArray[np.int64]:
        return np.arange(self.features) if self.kept is None else np.flatnonzero(self.kept == self.kept_mark)

    @property
    def literals(self) -> list[str]:
        """The literals left of the features known, in words."""
        positive, negated = self.left()
        return [*map(name_literal, positive), *(name_literal(one, True) for one in negated)]

    @property
    def hypothesis(self) -> Threshold:
        """The hypothesis as a threshold function of the features known."""
        positive, negated = self.left()
        found = [Threshold({one: 1}, 1) for one in positive] + [negation(Threshold({one: 1}, 1)) for one in negated]
        return at_least(len(found) if self.conjunction else 1, *found)

    @property
    def words(self) -> str:
        if self.uses_kept and self.kept is None:
            return "always false" if self.conjunction else "always true"
        return join_literals(self.literals, self.conjunction)

    @property
    def weights(self) -> dict[Feature, float]:
        """The weights of the hypothesis as a threshold function: 1 for a feature, -1 for a negated one."""
        return dict(self.hypothesis.weights)

    def explain_one(self, x: RowLike) -> dict[str, bool]:
        """The literals that decide the prediction for a row, with their values.

        These are the true literals of a disjunction that is true, and the false ones of a conjunction that is false;
        otherwise all of them.
        """
        with self._lock:
            self._change.settle()
            reader, active = self.reader, self.reader.read(one_row(x), learn=False).row(0)
            names = reader.all_names()
            true = {names[at] for at in active.tolist() if at < len(names)}
            positive, negated = self.left()
        values = {name_literal(one): one in true for one in positive}
        values |= {name_literal(one, True): one not in true for one in negated}
        decisive = {one: value for one, value in values.items() if value != self.conjunction}
        return decisive or values

    # ---- rounds ------------------------------------------------------------------------------------------------------

    def savepoint(self) -> Callable[[], None]:
        changed: list[tuple[NDArray[np.int64], NDArray[np.int64], int]] = []
        self.changed = changed
        before, cut, kept = super().savepoint(), self.cut, self.kept

        def undo() -> None:
            for gone, marked, mark in reversed(changed):
                cut[gone[gone < cut.size]] = 0
                if kept is not None:
                    kept[marked] = mark
            before()

        return undo

    def make_room(self) -> None:
        """Room for all features seen, and a cell past them that belongs to no feature."""
        size = self.reader.size + 1
        if size > LARGEST:
            raise BadValue(f"feature number {size - 2} is too large for elimination; use feature names (strings)")
        if self.cut.size < size:
            grown = np.zeros(max(size, 2 * self.cut.size), np.uint8)
            grown[: self.cut.size] = self.cut
            self.cut = grown
        if self.uses_kept and self.kept is None and self.reader.universe is not None:
            self.kept, self.kept_count = np.ones(self.reader.universe, np.int32), self.reader.universe

    def play_values(self, rows: BooleanRows, truth: Flags) -> Played:
        self.make_room()
        values, updated = np.zeros(rows.rows, bool), np.zeros(rows.rows, bool)
        at, size = 0, FIRST
        while at < rows.rows:
            stop = min(at + size, rows.rows)
            found = self.find_values(rows, at, stop)
            errs = np.flatnonzero((found != truth[at:stop]) & (truth[at:stop] == self.conjunction))
            if errs.size:  # only up to the first mistake that changes the hypothesis are the values those of the play
                stop = at + int(errs[0]) + 1
                updated[stop - 1] = True
                self.eliminate(rows.row(stop - 1))
            values[at:stop] = found[: stop - at]
            at, size = stop, FIRST if errs.size else 2 * size
        contradicted = np.flatnonzero((values != truth) & ~updated)
        if contradicted.size and self.refuses:
            row = int(contradicted[0])
            raise BadValue(f"row {row}: no {self.params['concept']} is consistent with it and with the rounds before; "
                           'contradiction="count" goes on', row)  # fmt: skip
        self.count_inconsistent(contradicted)
        return Played(np.where(values, 1.0, -1.0), values, updated)

    def find_values(self, rows: BooleanRows, start: int, stop: int) -> Flags:
        """The values of the hypothesis for some rows."""
        first, last = int(rows.indptr[start]), int(rows.indptr[stop])
        active, ends = rows.active[first:last], rows.indptr[start : stop + 1] - first
        hit = np.zeros(stop - start, bool)  # a disjunction with a true literal, a conjunction with a false one
        if self.uses_cut:
            hit |= count_marked(self.cut[np.minimum(active, self.cut.size - 1)] == 0, ends) > 0
        if self.kept is not None:
            hit |= count_marked(self.find_marked(active), ends) < self.kept_count
        elif self.uses_kept:
            hit[:] = True
        return np.asarray(hit != self.conjunction)

    def find_marked(self, active: NDArray[np.int64]) -> Flags:
        """Which of these features are kept."""
        assert self.kept is not None
        marks = np.zeros(active.size, bool)
        inside = active < self.kept.size
        marks[inside] = self.kept[active[inside]] == self.kept_mark
        return marks

    def eliminate(self, active: NDArray[np.int64]) -> None:
        """Drop the literals that an example rules out: true ones of a disjunction, false ones of a conjunction."""
        mark = self.kept_mark
        gone = active[self.cut[active] == 0] if self.uses_cut else active[:0]
        marked = active[:0] if self.kept is None else active[self.find_marked(active)]
        self.changed.append((gone, marked, mark))
        self.cut[gone] = 1
        if self.kept is not None:
            self.kept[marked] = mark + 1
            self.kept_mark, self.kept_count = mark + 1, marked.size
        elif self.uses_kept:
            kept = np.zeros(self.reader.size, np.int32)
            kept[active] = mark
            self.kept, self.kept_count = kept, active.size

    def evaluate_rows(self, rows: BooleanRows) -> NDArray[np.float64]:
        return np.where(self.find_values(rows, 0, rows.rows), 1.0, -1.0)

    # ---- merging and files -------------------------------------------------------------------------------------------

    def merge(self, other: Any) -> Self:
        """A learner with the literals that both have left: those left after the rounds of both, in any order."""
        self.check_mergeable(other)
        new, theirs = self.copy(), other.copy()
        numbers = new.reader.adopt(theirs.reader)
        new.make_room()
        gone = np.flatnonzero(theirs.cut[: theirs.features])
        new.cut[numbers[gone]] = 1
        if theirs.kept is not None:
            left = numbers[theirs.find_kept()]
            if new.kept is None:
                kept = np.zeros(new.reader.size, np.int32)
                kept[left] = new.kept_mark
                new.kept, new.kept_count = kept, left.size
            else:
                new.eliminate_kept(left)
        new.merge_counts(theirs)
        return new

    def eliminate_kept(self, left: NDArray[np.int64]) -> None:
        """Keep only these features."""
        assert self.kept is not None
        marked = left[self.find_marked(left)]
        self.kept[marked] = self.kept_mark + 1
        self.kept_mark, self.kept_count = self.kept_mark + 1, marked.size

    def dump(self) -> tuple[Header, Arrays]:
        """The options, the features and the literals that are left, as bits."""
        with self._lock:
            self._change.settle()
            arrays = {}
            if self.uses_cut:
                arrays["cut"] = np.packbits(self.cut[: self.features])
            if self.kept is not None:
                kept = np.zeros(self.features, np.uint8)
                kept[self.find_kept()] = 1
                arrays["kept"] = np.packbits(kept)
            return {**self.params, **self.dump_rounds()}, arrays

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """The learner of a header and arrays, all checked."""
        given = {name: header.get(name) for name in ("concept", "negations", "contradiction", "classes", "features")}
        try:
            new: Self = cls.card.build(**given)  # type: ignore[attr-defined]
        except (BadValue, TypeError) as error:
            raise corrupt(str(error)) from None
        new.restore_rounds(header)
        cut = read_bits(arrays, "cut", new.features) if new.uses_cut else np.zeros(0, np.uint8)
        kept = read_bits(arrays, "kept", new.features) if new.uses_kept and "kept" in arrays else None
        if new.uses_kept and kept is None and (new.updates or new.reader.universe is not None):
            raise corrupt("the literals that are left are missing")
        new.make_room()
        new.cut[: cut.size] = cut
        if kept is not None:
            new.kept, new.kept_count = kept.astype(np.int32), int(kept.sum())
        return new


def count_marked(marks: Flags, ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of marks in each row."""
    sums = np.concatenate(([0], np.cumsum(marks)))
    return np.asarray(sums[ends[1:]] - sums[ends[:-1]])


def read_bits(arrays: Arrays, name: str, size: int) -> NDArray[np.uint8]:
    """Bits of a model file, one for each feature."""
    packed = arrays.get(name)
    if packed is None or packed.dtype != np.uint8 or packed.shape != ((size + 7) // 8,):
        raise corrupt(f"{name} must have a bit for each of {size} features")
    bits = np.unpackbits(packed)
    if bits[size:].any():
        raise corrupt(f"{name} has bits past the last feature")
    return bits[:size]
