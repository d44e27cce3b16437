"""Make learners: by name, from a card, or from a user's own rule."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from noregret.errors import BadValue
from noregret.learner.registry import load_cards
from noregret.rules.card import Card
from noregret.rules.method_card import MethodCard
from noregret.rules.parameters import suggestion
from noregret.rules.registry import RESERVED
from noregret.rules.rule_card import RuleCard

if TYPE_CHECKING:
    from noregret.learner.rule_learner import RuleLearner


def make(rule: str | Card | Any, **options: Any) -> "RuleLearner":
    """A fresh learner. `rule` is a name from `learners()` or a decorated rule of your own.

    Options may be any parameter on the card, and task, algebra, covariance, kernel (with gamma, coef0, degree), eps,
    classes, class_weight, native, seed, bias (a constant feature), scale (by running mean and deviation), transforms
    (a list, as in [clip(3.0), tf_idf()]), average (the mean of the weights over the rounds), groups (of features, for
    rules that keep them), labels ("asked": revealed only where asked for, with `ask`), reads ("table": rows are dicts
    or frames with numbers, truth values and text; a text is a category).
    """
    card, reads = card_of(rule), options.pop("reads", None)
    if reads not in (None, "table"):
        raise BadValue(f'reads must be "table" or None, not {reads!r}')
    if isinstance(card, MethodCard):
        if reads is not None:
            raise BadValue(f"{card.name} does not take reads; give it to the learners that it is made of, if any")
        return cast("RuleLearner", card.build(**options))
    assert isinstance(card, RuleCard)
    from noregret.learner.config import resolve
    from noregret.learner.rule_learner import RuleLearner  # not needed to list the learners, and a tenth of a second

    if reads is not None:
        from noregret.learner.table_learner import TableLearner

        return TableLearner(resolve(card, options))
    return RuleLearner(resolve(card, options))


def full_information(learner: Any) -> "RuleLearner | None":
    """A fresh learner of the same rule that sees every label; None where this one does, or no rule would.

    Its mistakes on the same rounds are what partial feedback is compared with.
    """
    config = getattr(learner, "config", None)
    if config is None:
        return None
    given = {name.removeprefix("task."): value for name, value in config.given.items()}
    if config.task.queries_labels:
        return make(config.card, **{name: value for name, value in given.items() if name not in ("labels", "ask")})
    if not config.card.full_information:
        return None
    shared = {name: value for name, value in given.items() if name in RESERVED or name.startswith("kernel.")}
    options = {**shared, "task": None, **config.card.full_information}
    return make(options.pop("rule"), **options)


OTHER_NAMES = {
    "perceptron_incremental": 'repeat one over shuffled rows: nr.epochs(nr.make("perceptron"), X, y)',
    "adaline_incremental": 'repeat one over shuffled rows: nr.epochs(nr.make("adaline"), X, y)',
    "adaline_online": "that is 'adaline'",
    "lms": "that is 'adaline'",
    "nlms": "that is 'adaline_normalised'",
    "logistic": "that is 'ogd' with loss=logistic: --learner ogd --set loss=logistic",
    "logistic_regression": "that is 'ogd' with loss=logistic: --learner ogd --set loss=logistic",
    "svm": "that is 'pegasos', or 'ogd' with loss=\"hinge\"",
    "sgd": "that is 'ogd'; with an l2 penalty, 'sgd_bottou'",
    "asgd": "that is 'sgd_bottou_averaged'",
    "passive_aggressive": "that is 'pa', 'pa1' or 'pa2'",
    "fobos_l1": "that is 'fobos'",
    "fobos_elastic_net": "that is 'fobos' with lam2",
    "winnow_elimination": "that is 'winnow' with demotion=\"eliminate\"",
    "kernel_perceptron": "that is 'perceptron' with algebra=\"kernel\"",
    "perceptron_kernel": "that is 'perceptron' with algebra=\"kernel\"",
    "cw_stdev": "that is 'cw'",
    "eccw": "exact convex confidence-weighted learning is 'cw'",
    "adagrad_rda": "that is 'ada_rda'",
    "adagrad_fobos": "that is 'adagrad'",
    "batch_gradient": "that is 'gradient_batch'",
}


def card_of(rule: Any) -> Card:
    """The card that a name, a card, or a class with a card stands for."""
    if isinstance(rule, type):
        rule = getattr(rule, "card", rule)
    if isinstance(rule, Card):
        return rule
    if not isinstance(rule, str):
        raise BadValue(f"a learner is made from a name or a decorated rule, not from {rule!r}")
    known = load_cards()
    if rule not in known:
        hint = f"; {OTHER_NAMES[rule]}" if rule in OTHER_NAMES else suggestion(rule, known)
        raise BadValue(f"there is no learner {rule!r}{hint or '; `noregret learners` lists them'}")
    return known[rule]


class Catalog:
    """The cards, to go through or to look up by name."""

    def __init__(self, cards: dict[str, Card]) -> None:
        self._cards = dict(sorted(cards.items()))

    def __iter__(self) -> Iterator[Card]:
        return iter(self._cards.values())

    def __len__(self) -> int:
        return len(self._cards)

    def __contains__(self, name: object) -> bool:
        return name in self._cards

    def __getitem__(self, name: str) -> Card:
        return self._cards[name] if name in self._cards else card_of(name)

    @property
    def rules(self) -> dict[str, RuleCard]:
        """The cards of rules, by name."""
        return {name: card for name, card in self._cards.items() if isinstance(card, RuleCard)}

    def __repr__(self) -> str:
        return "\n".join(f"{card.name:22} {card.about}" for card in self)


def learners() -> Catalog:
    """The cards of all learners, your own included."""
    return Catalog(load_cards())
