"""Make learners: by name, from a card, or from a user's own rule."""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from noregret.errors import BadValue
from noregret.learner.registry import load_cards
from noregret.rules.card import Card
from noregret.rules.method_card import MethodCard
from noregret.rules.parameters import suggestion
from noregret.rules.registry import RESERVED
from noregret.rules.rule_card import RuleCard

if TYPE_CHECKING:
    from noregret.learner.rule_learner import RuleLearner


Arguments = ParamSpec("Arguments")
Made = TypeVar("Made")


def pass_given(
    build: Callable[[Any, dict[str, Any]], Made],
) -> Callable[[Callable[Arguments, Made]], Callable[Arguments, Made]]:
    """Replace the body of a function by `build`, which gets only the options that were given, not the defaults.

    A learner records what it was given. The signature stays that of the function, for `help` and editors.
    """

    def decorate(declared: Callable[Arguments, Made]) -> Callable[Arguments, Made]:
        @wraps(declared)
        def call(rule: Any, **options: Any) -> Made:
            return build(rule, options)

        return cast(Callable[Arguments, Made], call)

    return decorate


def make_given(rule: Any, options: dict[str, Any]) -> "RuleLearner":
    """A fresh learner with the options that were given."""
    if isinstance(rule, str) and ("(" in rule or "@" in rule):
        from noregret.learner.variants import parse

        variant = parse(rule, card_of)
        rule, options = variant.card, dict(variant.add(options, "as an option").options)
    card, reads = card_of(rule), options.pop("reads", None)
    if reads not in (None, "table"):
        raise BadValue(f'reads must be "table" or None, not {reads!r}')
    if isinstance(card, MethodCard):
        if reads is not None and "reads" not in card.options:
            raise BadValue(f"{card.name} does not take reads; give it to the learners that it is made of, if any")
        return cast("RuleLearner", card.build(**options, **({} if reads is None else {"reads": reads})))
    assert isinstance(card, RuleCard)
    from noregret.learner.config import resolve
    from noregret.learner.rule_learner import RuleLearner  # not needed to list the learners, and a tenth of a second

    if reads is not None:
        from noregret.learner.table_learner import TableLearner

        return TableLearner(resolve(card, options))
    return RuleLearner(resolve(card, options))


@pass_given(make_given)
def make(
    rule: str | Card | Any,
    *,
    task: Any = None,
    algebra: Any = None,
    bias: Any = False,
    scale: Any = False,
    transforms: Any = None,
    bits: Any = None,
    columns: Any = "fixed",
    classes: Any = None,
    class_weight: Any = None,
    cost: Any = None,
    average: Any = None,
    weight_decay: Any = None,
    covariance: Any = "diagonal",
    kernel: Any = None,
    groups: Any = None,
    seed: Any = 0,
    native: Any = True,
    reads: Any = None,
    **params: Any,
) -> "RuleLearner":
    """A fresh learner. `rule` is a name from `learners()` or a decorated rule of your own.

    A name may have options in brackets and a kernel after @: "arow(r=0.1)", "pa1@rbf(gamma=0.01, budget=500)".
    These options are shared by all rules; `help(nr.learners()["arow"])` shows the parameters of one.

    task          "binary", "multiclass", "regression", "multilabel", "ranking", "one-class" ...; by default the usual
                  one of the rule, where a third class turns binary into multiclass
    algebra       "sparse", "dense", "kernel" or "reference"; by default the first rows decide between sparse and dense
    bias          True adds a constant feature of value 1; a number above 0 is its value; "auto": as large as the
                  values of the first row
    scale         True scales features by their running mean and deviation
    transforms    a list, as in [nr.clip(3.0), nr.tf_idf()], applied in this order
    bits          feature hashing: names share 2^bits cells
    columns       "grow" lets matrices have other numbers of columns than those before: missing columns are 0
    classes       the labels, where they are known before the first round
    class_weight  {label: weight}, or "balanced" or "balanced_root" for weights by how often classes came
    cost          {(truth, prediction): cost}: what each kind of mistake costs
    average       predict with the mean of the weights; a number: over the rounds after so many
    weight_decay  forgetting: in every round all weights shrink by this share, before the step of the rule
    covariance    "diagonal", "drop" or "full", for rules that keep one
    kernel        for algebra="kernel": "rbf" (the default), "linear", "polynomial", "laplacian", "sigmoid", "cosine",
                  with gamma, coef0, degree; "spectrum" of texts, with p; "precomputed", with gram; or a function (x, z)
    budget        the most supports a kernel learner keeps; policy: "oldest", "smallest" or "random" goes
    groups        the groups of features, for rules that keep them
    seed          of everything drawn at random
    native        False runs the rule as plain Python, for a debugger
    reads         "table": rows are dicts or frames with numbers, truth values and text; a text is a category
    params        the parameters of the rule (C, eta0, loss ...) and of the task (eps, radius, competitor, labels ...)
    """
    raise AssertionError("make_given is called in its place")


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
    **dict.fromkeys(("truncated_svd", "TruncatedSVD", "lsa", "lsi"), "that is 'svd'"),
    **dict.fromkeys(("ipca", "incremental_pca", "IncrementalPCA"), "that is 'pca_incremental'"),
    **dict.fromkeys(("clustering", "k_means", "minibatch_kmeans", "MiniBatchKMeans"), "that is 'kmeans'"),
    **dict.fromkeys(("gmm", "gaussian_mixture", "GaussianMixture"), "that is 'mixture'"),
    **dict.fromkeys(("kde", "KernelDensity"), "that is 'kernel_density'"),
    **dict.fromkeys(("dictionary_learning", "MiniBatchDictionaryLearning", "sparse_coding"), "that is 'dictionary'"),
    **dict.fromkeys(("topics", "topic_model", "LatentDirichletAllocation"), "topic models are 'lda' and 'hdp'"),
    **dict.fromkeys(("matrix_factorization", "matrix_factorisation", "pmf", "rmf"), "that is 'factorisation'"),
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
        return add_help(self._cards[name] if name in self._cards else card_of(name))

    @property
    def rules(self) -> dict[str, RuleCard]:
        """The cards of rules, by name."""
        return {name: card for name, card in self._cards.items() if isinstance(card, RuleCard)}

    def __repr__(self) -> str:
        return "\n".join(f"{card.name:22} {card.about}" for card in self)


def add_help(card: Card) -> Card:
    """The card, with the text that `help` shows."""
    from noregret.learner.card_text import help_text

    if "__doc__" not in vars(card):
        object.__setattr__(card, "__doc__", help_text(card))  # a card is frozen, and this declares nothing
    return card


def learners() -> Catalog:
    """The cards of all learners, your own included."""
    return Catalog(load_cards())
