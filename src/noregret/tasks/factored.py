"""Structured output by parts: z = Phi(x, y) - Phi(x, rival), where the features of an output are the sum of its parts.

A round is a group of rows. Every row and class is a part with a score; a decoder finds the best output, a choice of
parts, and the best one with its loss added. The rule learns from the difference of the parts of the right output and of
that rival, by a required margin that is the loss. See `decoders` for what outputs there are.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.internal_verbs import collect, row
from noregret.algebra.verbs import unbound
from noregret.data.blocks import Block, SparseBlock, verify
from noregret.data.group_truth import GroupTruth
from noregret.data.inputs import LabelsLike
from noregret.data.labels import Labels
from noregret.errors import BadValue
from noregret.rules.parameters import Choice
from noregret.rules.probing import is_loss_driven
from noregret.rules.rule_card import RuleCard
from noregret.state.space import Space, physical_memory
from noregret.tasks import crf
from noregret.tasks.costs import Costs
from noregret.tasks.decoders import DECODERS, functions_of
from noregret.tasks.decoders.layout import (
    AFTER,
    CHOSEN,
    COLUMNS,
    KNOWN,
    LENGTH,
    LOSS,
    ROWS,
    TRUTH,
    TRUTH2,
    WIDTH,
    WRONG,
)
from noregret.tasks.outcome import Outcome, Segment
from noregret.tasks.softmax import check_all_scores
from noregret.tasks.task import Flags, Floats, G, P, R, S, Task

scores = finals = update = search = tally = loss = align = augment = required = suffered = unbound
final_differs: Any = unbound  # whether predictions use other weights than training does


def play(p: P, g: G, s: S, X: R, y: Floats, h: Floats, out: Floats, updated: Flags, aux: Floats) -> None:
    work = aux[out.shape[0] :]
    first = 0
    while first < out.shape[0]:
        last = first + int(y[first, ROWS])
        y[first, WIDTH] = out.shape[1]
        for i in range(first, last):
            finals(p, s, row(X, i), X.stride, out[i])
            y[i, CHOSEN] = -1.0
        if y[first, KNOWN] > 0.0:
            search(out, y, work, first, int(y[first, KNOWN]), 0.0)
        for i in range(first, last):
            aux[i] = y[i, CHOSEN]
        y[first, WRONG] = loss(y, first)
        y[first, LOSS] = suffered(out, y, work, first)
        if h[first] > 0.0:
            s.n.t += 1.0
            if final_differs:
                for i in range(first, last):
                    scores(p, s, row(X, i), X.stride, out[i])
            updated[first] = learn_group(p, g, s, X, y, h[first], out, work, first)
        first = last


def wrong_parts(f: Floats, y: Floats, work: Floats, first: int) -> Any:
    """The loss of the decoder."""
    return y[first, WRONG]


def learn_group(p: P, g: G, s: S, X: R, y: Floats, h: float, f: Floats, work: Floats, first: int) -> Any:
    """One step along the difference of the right output and its rival."""
    size, width = int(y[first, ROWS]), f.shape[1]
    align(f, y, work, first)
    if final_differs or augment() > 0.0 or y[first, AFTER] > y[first, KNOWN]:  # not what was found to predict
        search(f, y, work, first, int(y[first, AFTER]), augment())
    counts = work[: size * width]
    for k in range(size * width):
        counts[k] = 0.0
    tally(y, counts, first, TRUTH, 1.0)
    tally(y, counts, first, CHOSEN, -1.0)
    margin = 0.0
    for i in range(size):
        for c in range(width):
            if counts[i * width + c] != 0.0:
                margin += counts[i * width + c] * f[first + i, c]
    z = collect(X, counts, first, size, g.places, g.sums, g.values)
    return update(p, s, z, margin - (required(loss(y, first)) - 1.0), h)


def score_rows(p: P, g: G, s: S, X: R, out: Floats) -> None:
    for t in range(out.shape[0]):
        finals(p, s, row(X, t), X.stride, out[t])


# ---- the rival, and by how much it must be beaten --------------------------------------------------------------------


def max_loss() -> float:
    return 1.0


def predicted() -> float:
    return 0.0


def by_loss(suffered: Any) -> Any:
    return suffered


def by_root(suffered: Any) -> Any:
    return math.sqrt(suffered)


def by_one(suffered: Any) -> Any:
    return 1.0 if suffered > 0.0 else 0.0


BY_FEATURE = ("log_weights", "grouped", "lazy_groups")  # kinds of vectors that look at features and classes apart
RIVALS = {"max_loss": max_loss, "predicted": predicted, "softmax": predicted}  # softmax: all, by their probability
MARGINS = {"loss": by_loss, "sqrt": by_root, "unit": by_one}


class Factored(Task):
    """Predictions are codes of rows: aux is the code of each, before the scratch of the decoder."""

    name = "factored"
    about = "structured output, chosen part by part"
    follows_rows = False
    options = {
        "decoder": Choice("sequence", dict.fromkeys(DECODERS), "what an output is, and how the best one is found"),
        "competitor": Choice("max_loss", RIVALS, "the output that the right one must beat", binds="augment"),
        "margin": Choice("loss", MARGINS, "by how much: its loss, the square root of it, or 1", binds="required"),
    }
    arrays = ("places", "sums", "values")
    many = True
    has_blocks = False
    implied_by_loss = ("crf",)
    truth_dimensions = 2
    needs_query = True
    from_source = False
    bias_by_default = False
    no_class_weight = "the rounds of structured output have more than one class; leave class_weight out"
    play, score_rows = staticmethod(play), staticmethod(score_rows)

    # ---- options -----------------------------------------------------------------------------------------------------

    @classmethod
    def why_not(cls, card: RuleCard, rule_options: Mapping[str, str] | None = None) -> str | None:
        tasks = card.tasks if rule_options is None else card.tasks_with(rule_options)
        if "structured" not in tasks:
            return "it does not learn from single signed examples"
        if any(field.kind in BY_FEATURE for field in card.state.values()):
            return "its weights depend on the features and classes of a part, and an example is a sum of many parts"
        return None

    @classmethod
    def check_options(
        cls, card: RuleCard, rule_options: Mapping[str, str], cost: Costs | None, given: dict[str, Any]
    ) -> dict[str, str]:
        driven = card.kind != "margin" or is_loss_driven(card, tuple(rule_options.items()))
        if not driven:
            given.setdefault("competitor", "predicted")
        given["competitor"] = check_all_scores(card, rule_options, given.get("competitor"), "margin" in given)
        chosen = super().check_options(card, rule_options, cost, given)
        if chosen["competitor"] == "softmax" and DECODERS[chosen["decoder"]].expect is None:
            found = f"{card.name}: the crf loss needs expectations, which the decoder {chosen['decoder']!r} has not"
            raise BadValue(f"{found}; use another loss")
        if chosen["competitor"] == "max_loss" and chosen["margin"] != "loss":
            raise BadValue(f'competitor="max_loss" searches by the loss itself: margin={chosen["margin"]!r} needs '
                           'competitor="predicted"')  # fmt: skip
        return chosen

    @classmethod
    def functions(cls, chosen: Mapping[str, str]) -> dict[str, Any]:
        likely = chosen["competitor"] == "softmax"
        own = {"suffered": crf.minus_log_p, "learn_group": crf.learn_likelihood} if likely else {}
        return {**functions_of(chosen["decoder"]), "suffered": wrong_parts, "learn_group": learn_group, **own}

    @property
    def scores_are_log_odds(self) -> bool:
        return self.loss.of_all_scores

    # ---- outputs in --------------------------------------------------------------------------------------------------

    def accept(self, y: LabelsLike, query: Any) -> Any:
        if not isinstance(y, GroupTruth):
            raise BadValue("structured output is learned by its own learners, such as tagger; "
                           'make("tagger", learner=...)')  # fmt: skip
        return y

    def encode(self, labels: Labels, y: LabelsLike, rows: int) -> tuple[Any, list[Segment]]:
        assert isinstance(y, GroupTruth)
        before = labels.committed
        codes = self.encode_labels(labels, y)
        table = self.tabulate(y, codes, before)
        known = self.decoder.classes or len(labels)
        return table, [Segment(0, rows, known)] if rows else []

    def encode_labels(self, labels: Labels, y: GroupTruth) -> NDArray[np.int64]:
        """The code of every row that has a label."""
        if y.labels is None:
            return np.full(len(y.at), -1, np.int64)
        if self.decoder.classes:
            labels.encode(list(range(self.decoder.classes)))  # all are known from the first round on
            codes = np.asarray(y.labels, np.int64)
            if codes.size and not 0 <= int(codes.min()) <= int(codes.max()) < self.decoder.classes:
                raise BadValue(f"the labels of these outputs are 0 to {self.decoder.classes - 1}")
            return codes
        before = labels.committed
        codes = labels.encode(y.labels)
        labels.refuse_new(before, codes)
        return codes

    @property
    def decoder(self) -> Any:
        return DECODERS[self.chosen["decoder"]]

    def tabulate(self, y: GroupTruth, codes: NDArray[np.int64], before: int) -> Floats:
        """The truth as the loop reads it, all sizes checked; `before` classes were known before the call."""
        table = np.zeros((len(y), COLUMNS))
        if len(codes) != len(y.at) or (len(y.at) and not 0 <= int(y.at.min()) <= int(y.at.max()) < len(y)):
            raise BadValue("the labels of structured output do not fit its rows")
        if not len(y.sizes):
            return table
        starts = y.starts
        fixed = self.decoder.classes
        highest = np.full(len(y.sizes), -1)
        np.maximum.at(highest, np.searchsorted(starts, y.at, "right") - 1, codes)
        after = np.maximum.accumulate(np.maximum(highest + 1, fixed or before))
        known = np.concatenate(([fixed or before], after[:-1]))
        at = starts[:-1]
        for size, length, classes in {*zip(y.sizes.tolist(), y.lengths.tolist(), after.tolist(), strict=True)}:
            if length < 1 or size != self.decoder.rows(length, classes):
                raise BadValue(f"a round of {length} positions and {classes} classes cannot have {size} rows")
        for column, values in ((ROWS, y.sizes), (LENGTH, y.lengths), (KNOWN, known), (AFTER, after)):
            table[at, column] = values
        table[:, (TRUTH, CHOSEN, TRUTH2)] = -1.0
        table[y.at, TRUTH] = codes
        if y.labels is not None:
            labelled = np.array([self.decoder.labelled(length) for length in y.lengths.tolist()])
            each = np.arange(labelled.sum()) + np.repeat(at - (np.cumsum(labelled) - labelled), labelled)
            if (table[each, TRUTH] < 0.0).any():
                raise BadValue("every position of a structured output needs a label")
        if y.second is not None:
            table[y.at, TRUTH2] = y.second
        return table

    def arrange(self, block: Block) -> Block:
        """All rows are checked before: several are read for one example."""
        return verify(block._replace(ready=False)) if isinstance(block, SparseBlock) else block

    def check_weights(self, h: Floats, codes: Any) -> Floats:
        return h

    def boundaries(self, y: Any) -> Sequence[int]:
        ends: list[int] = y.starts.tolist()
        return ends

    def make_arrays(self, space: Space, labels: Labels) -> list[NDArray[Any]]:
        cells = space.room * space.class_room
        if cells >= 1 << 32:
            raise BadValue(f"{space.room:,} features and {space.class_room:,} classes are too many for structured "
                           "output; hash the features (bits=20)")  # fmt: skip
        return [np.zeros(cells, np.uint32), np.zeros(cells), np.zeros(cells)]

    def make_aux(self, y: Floats, out: Floats) -> Floats:
        """A code for every row, then the scratch of the decoder for the largest group."""
        first, width = np.flatnonzero(y[:, ROWS]), out.shape[1]
        sizes = {*zip(y[first, ROWS].astype(int).tolist(), y[first, LENGTH].astype(int).tolist(), strict=True)}
        work = [size * width + self.decoder.scratch(size, length, width) for size, length in sizes]
        if 8 * max(work, default=0) > physical_memory() // 2:
            raise BadValue("an input is too long: the search for its best output does not fit in memory; split it")
        return np.zeros(len(y) + max(work, default=0))

    # ---- outputs out -------------------------------------------------------------------------------------------------

    def report_truth(self, labels: Labels, y: LabelsLike) -> Any:
        return y

    def groups(self, y: Any) -> NDArray[np.int64] | None:
        return np.repeat(np.arange(len(y.sizes)), y.sizes)

    def decide(self, labels: Labels, scores: Floats) -> NDArray[Any]:
        raise BadValue("the rows of structured output are not predicted one by one")

    def predictions(self, labels: Labels, outcome: Outcome) -> NDArray[Any]:
        """The label of every row in the output predicted; None where it has none."""
        codes = outcome.aux[: len(outcome.truth)].astype(np.int64)
        if self.decoder.classes:
            return codes
        known = np.empty(len(labels) + 1, object)
        known[:-1] = labels.order
        return np.asarray(known[codes])

    def first_rows(self, outcome: Outcome) -> NDArray[np.int64]:
        return np.flatnonzero(outcome.truth[:, ROWS])

    def updated(self, outcome: Outcome) -> NDArray[np.bool_]:
        return np.asarray(outcome.updated[self.first_rows(outcome)], bool)

    def mistakes(self, labels: Labels, outcome: Outcome) -> NDArray[np.bool_]:
        return np.asarray(outcome.truth[self.first_rows(outcome), WRONG] > 0.0)

    def losses(self, labels: Labels, outcome: Outcome) -> Floats:
        return np.asarray(outcome.truth[self.first_rows(outcome), LOSS])
