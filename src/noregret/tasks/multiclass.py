"""Multiclass classification: z = Psi(x, truth) - Psi(x, rival), margin = w . z; the rival is another class.

Where a mistake costs more than 1 the required margin is larger, and the rule is given a margin smaller by as much.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.internal_verbs import class_block, difference, row, scaled_by
from noregret.algebra.verbs import sqnorm, unbound
from noregret.data.inputs import LabelsLike
from noregret.data.labels import Labels, as_array
from noregret.errors import BadValue
from noregret.rules.losses import loss_at
from noregret.rules.parameters import Choice
from noregret.rules.probing import is_loss_driven
from noregret.rules.rule_card import RuleCard
from noregret.state.space import Space
from noregret.tasks.classes import Classification, refuse_universum, universum_rows
from noregret.tasks.costs import Costs, cost_matrix
from noregret.tasks.hooks import take_steps, weighed
from noregret.tasks.label_queries import ASK, LABELS, lead
from noregret.tasks.outcome import Outcome, Segment
from noregret.tasks.softmax import check_all_scores, play_softmax, softmax_losses
from noregret.tasks.task import Flags, Floats, G, P, R, S

scores = update = finals = rule = rival_of = required = revealed = unbound
final_differs: Any = unbound  # whether predictions use other weights than training does


def play(p: P, g: G, s: S, X: R, y: Floats, h: Floats, out: Floats, updated: Flags, aux: Floats) -> None:
    for t in range(y.size):
        x = row(X, t)
        f = g.scores[: out.shape[1]] if final_differs else out[t]
        scores(p, s, x, X.stride, f)
        if final_differs:
            finals(p, s, x, X.stride, out[t])
        truth = int(y[t])
        rival = rival_of(g, f, truth)
        if final_differs:
            aux[t] = math.inf if rival < 0 else f[truth] - f[rival] - (required(g, truth, rival) - 1.0)
        if h[t] > 0.0 and revealed(g, s, lead(f)):
            s.n.t += 1.0
            if rival >= 0:
                margin = f[truth] - f[rival] - (required(g, truth, rival) - 1.0)
                updated[t] = update(p, s, difference(x, truth, rival, X.stride), margin, h[t])


def play_prototypes(p: P, g: G, s: S, X: R, y: Floats, h: Floats, out: Floats, updated: Flags, aux: Floats) -> None:
    """The rule says how far each class moves along the row."""
    for t in range(y.size):
        x = row(X, t)
        f = g.scores[: out.shape[1]] if final_differs else out[t]
        scores(p, s, x, X.stride, f)
        if final_differs:
            finals(p, s, x, X.stride, out[t])
        truth = int(y[t])
        size = sqnorm(x)
        if h[t] > 0.0 and revealed(g, s, lead(f)):
            s.n.t += 1.0
            if size > 0.0:
                steps, owed = g.steps[: f.size], g.owed[: f.size]
                for c in range(f.size):
                    steps[c] = 0.0
                    owed[c] = required(g, truth, c)
                updated[t] = rule(weighed(p, h[t]), s, steps, f, owed, truth, size)
                take_steps(s, x, steps, X.stride)


def play_rest(p: P, g: G, s: S, X: R, y: Floats, h: Floats, out: Floats, updated: Flags, aux: Floats) -> None:
    """One against the rest: every class is a binary task of its own, z = x in its block with the sign of its label."""
    for t in range(y.size):
        x = row(X, t)
        f = g.scores[: out.shape[1]] if final_differs else out[t]
        scores(p, s, x, X.stride, f)
        if final_differs:
            finals(p, s, x, X.stride, out[t])
        if h[t] > 0.0 and revealed(g, s, lead(f)):
            s.n.t += 1.0
            any_updated = False
            for c in range(f.size):
                sign = 1.0 if c == int(y[t]) else -1.0
                any_updated = (
                    update(p, s, class_block(scaled_by(x, sign), c, X.stride), sign * f[c], h[t]) or any_updated
                )
            updated[t] = any_updated


def score_rows(p: P, g: G, s: S, X: R, out: Floats) -> None:
    for t in range(out.shape[0]):
        finals(p, s, row(X, t), X.stride, out[t])


# ---- against whom, and by how much -----------------------------------------------------------------------------------


def runner_up(g: Any, f: Any, truth: Any) -> Any:
    """The best other class."""
    rival = -1
    for c in range(f.size):
        if c != truth and (rival < 0 or f[c] > f[rival]):
            rival = c
    return rival


def predicted(g: Any, f: Any, truth: Any) -> Any:
    """The class that was predicted, unless it is the right one."""
    best = 0
    for c in range(1, f.size):
        if f[c] > f[best]:
            best = c
    return best if best != truth else -1


def max_loss(g: Any, f: Any, truth: Any) -> Any:
    """The class whose required margin is missed by most."""
    rival = -1
    most = -math.inf
    for c in range(f.size):
        if c != truth:
            missing = f[c] + required(g, truth, c)
            if missing > most:
                rival, most = c, missing
    return rival


def one(g: Any, truth: Any, rival: Any) -> Any:
    return 1.0


def by_cost(g: Any, truth: Any, rival: Any) -> Any:
    return g.costs[truth, rival]


RIVALS = {
    "runner_up": runner_up,
    "predicted": predicted,
    "max_loss": max_loss,
    "rest": None,  # no single one: one against the rest
    "softmax": None,  # no single one: all together, each by its probability
}
MARGINS = {"unit": one, "loss": by_cost, "sqrt": by_cost}


class Multiclass(Classification):
    """A block of weights, and a score, for every class. aux is the margin that the rule was given, as in binary."""

    name = "multiclass"
    about = "one of many classes"
    params = {"ask": ASK}
    options = {
        "labels": LABELS,
        "competitor": Choice("runner_up", RIVALS, "the class that the right one must beat", binds="rival_of"),
        "margin": Choice("unit", MARGINS, "by how much: 1, the cost, or its square root", binds="required"),
    }
    arrays = ("steps", "owed", "costs", "scores")
    many = True
    implied_by = ("competitor", "margin", "cost")
    implied_by_loss = ("softmax",)
    play, score_rows = staticmethod(play), staticmethod(score_rows)

    @classmethod
    def select_loop(cls, card: RuleCard, chosen: Mapping[str, str]) -> Callable[..., Any]:
        if card.kind == "prototype":
            return play_prototypes
        return {"rest": play_rest, "softmax": play_softmax}.get(chosen["competitor"], play)

    @classmethod
    def check_options(
        cls, card: RuleCard, rule_options: Mapping[str, str], cost: Costs | None, given: dict[str, Any]
    ) -> dict[str, str]:
        """Where no costs are given every mistake costs 1, and so does the required margin."""
        competitor, margin = cls.take(given, "competitor"), cls.take(given, "margin")
        if card.kind == "prototype":
            if competitor is not None:
                raise BadValue(f"{card.name} moves all classes at once; leave competitor out")
            competitor = "max_loss"
        competitor = check_all_scores(card, rule_options, competitor, cost is not None or margin is not None)
        if margin is None and cost is not None:
            margin = "loss"
        chosen = {
            "labels": cls.check_option("labels", cls.take(given, "labels")),
            "competitor": cls.check_option("competitor", competitor),
            "margin": cls.check_option("margin", margin),
        }
        if chosen["competitor"] == "rest":
            reason = card.why_no_one_vs_rest(rule_options)
            if reason is not None:
                raise BadValue(f"{card.name} cannot play each class against the rest: {reason}")
            if cost is not None or chosen["margin"] != "unit":
                raise BadValue('competitor="rest" compares no class with another; leave cost and margin out')
        if cost is None:
            chosen["margin"] = "unit"
        elif card.kind == "margin" and not is_loss_driven(card, tuple(rule_options.items())):
            raise BadValue(
                f"{card.name} does not support cost=: it updates only on mistakes. Use class_weight, or a rule "
                "that is driven by the loss, such as pa1"
            )
        return chosen

    @property
    def one_vs_rest(self) -> bool:
        return self.chosen["competitor"] == "rest"

    @property
    def scores_are_log_odds(self) -> bool:
        return (super().scores_are_log_odds and self.one_vs_rest) or self.loss.of_all_scores

    def encode(self, labels: Labels, y: LabelsLike, rows: int) -> tuple[Any, list[Segment]]:
        refuse_universum(universum_rows(y), "it belongs to neither of two classes, and this learner has many")
        return super().encode(labels, y, rows)

    def make_arrays(self, space: Space, labels: Labels) -> list[NDArray[Any]]:
        room = space.class_room
        return [np.zeros(room), np.zeros(room), self.required_margins(labels, room), np.zeros(room)]

    def required_margins(self, labels: Labels, room: int) -> Floats:
        """By how much the class of a row must beat that of a column; one cell where all it takes is 1."""
        if self.chosen["margin"] == "unit":
            return np.ones((1, 1))
        costs = cost_matrix(self.cost, labels.order, room)
        return np.sqrt(costs) if self.chosen["margin"] == "sqrt" else costs

    def hide_unknown(self, outcome: Outcome) -> None:
        if outcome.known_at_first < outcome.segment.known:
            outcome.hidden[0] = outcome.scores[0, int(outcome.truth[0])]  # not 0 where weights do not begin at 0
            outcome.scores[0, outcome.known_at_first :] = -np.inf

    def decide(self, labels: Labels, scores: Floats) -> NDArray[Any]:
        return np.asarray(as_array(labels.order)[np.argmax(scores, axis=1)])

    def mistakes(self, labels: Labels, outcome: Outcome) -> NDArray[np.bool_]:
        wrong = np.argmax(outcome.scores, axis=1) != outcome.truth
        wrong[np.isneginf(outcome.scores).all(axis=1)] = True
        return np.asarray(wrong)

    def predictions(self, labels: Labels, outcome: Outcome) -> NDArray[Any]:
        f, known = outcome.scores, labels.order[: outcome.segment.known]
        nothing = np.atleast_1d(np.isneginf(f).all(axis=1))
        if nothing.any():
            return as_array([None if none else known[c] for none, c in zip(nothing, np.argmax(f, axis=1), strict=True)])
        return np.asarray(as_array(known)[np.argmax(f, axis=1)])

    def training_margins(self, outcome: Outcome) -> Floats | None:
        one_rival = self.card.kind != "prototype" and RIVALS[self.chosen["competitor"]] is not None
        return outcome.aux if one_rival else None

    def margins(self, labels: Labels, outcome: Outcome) -> Floats:
        f, truth, k = outcome.scores, outcome.truth.astype(int), outcome.scores.shape[1]
        rounds = np.arange(len(truth))
        if k == 1:
            return np.full(len(truth), np.inf)
        own = np.where(np.isneginf(f), outcome.hidden[0], f)[rounds, truth]
        others = f.copy()
        others[rounds, truth] = -np.inf
        owed = np.broadcast_to(self.required_margins(labels, k), (k, k))[truth]
        rival = np.argmax(others + owed if self.chosen["competitor"] == "max_loss" else others, axis=1)
        margin = own - others[rounds, rival] - (owed[rounds, rival] - 1.0)
        if self.chosen["competitor"] == "predicted":
            margin[np.argmax(f, axis=1) == truth] = np.inf
        return np.asarray(margin)

    def losses(self, labels: Labels, outcome: Outcome) -> Floats:
        """Of one rival its loss; one against the rest, the sum over the classes."""
        f = np.where(np.isneginf(outcome.scores), outcome.hidden[0], outcome.scores)
        if self.loss.of_all_scores:
            return softmax_losses(f, outcome.truth.astype(int))
        if self.chosen["competitor"] != "rest":
            return super().losses(labels, outcome)
        own = np.arange(f.shape[1]) == outcome.truth[:, None]
        return np.asarray(loss_at(self.loss.value, np.where(own, f, -f)).sum(axis=1))
