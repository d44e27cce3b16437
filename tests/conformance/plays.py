"""Every way to play every built-in learner, found by asking the cards, with its twin and streams to play on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.algebra.kernel_functions import KERNELS as KERNEL_NAMES
from noregret.learner.kernel_options import KERNEL_TAKES
from noregret.learner.state_options import COVARIANCES
from noregret.rules.losses import LOSSES
from noregret.rules.parameters import Param
from noregret.state.growth import settle
from tests import naive
from tests.naive import streams
from tests.naive.kernels import Kernel
from tests.naive.rules import Array
from tests.naive.tasks import Binary, Multiclass, Regression, TaskRow
from tests.support.cover import ALL as ALL
from tests.support.cover import cover

EVERY = [card for card in nr.learners().rules.values() if card.built_in]
TASK_TABLE = ("binary", "multiclass", "regression")  # those in which a row has one label, or one target
CARDS = [card for card in EVERY if set(TASK_TABLE) & set(card.tasks)]  # others have tests of their own
NAMES = [card.name for card in CARDS]
KERNELS = {name: Kernel(name, gamma=0.4, coef0=0.5, degree=2) for name in KERNEL_NAMES}
CLASSES = 4
Menu = dict[str, list[str]]  # what each option can be
LARGE = 40.0  # streams have fewer features than this: what may be kept of them must be fewer still


def kind(card: nr.RuleCard) -> tuple[Any, ...]:
    """What of a card decides the texts around its rule: learners of one kind are served by the same."""
    hooks = tuple(hook is not None for hook in (card.score, card.weight, card.final))
    return card.kind, hooks, tuple(sorted({(field.kind, field.law) for field in card.state.values()}))


def can_play(card: nr.Card, algebra: str) -> bool:
    """Whether a learner and its twin play in an algebra: the twins of prototypes keep weights."""
    return algebra in card.algebras and (card.kind != "prototype" or algebra != "kernel")


def traits(card: nr.RuleCard) -> set[tuple[Any, ...]]:
    """What of a card the code around its rule looks at, one by one: the kind of rule, its hooks, its stores."""
    hooks = {(hook,) for hook in ("score", "weight", "final") if getattr(card, hook) is not None}
    stores = {("store", field.kind, field.law) for field in card.state.values()}
    return {("kind", card.kind), ("weights", card.supports_weights), *hooks, *stores}


ONE_OF_A_KIND = NAMES if ALL else list({kind(card): card.name for card in CARDS}.values())
# Where each learner costs a loop to compile, and in an algebra that shares all but its verbs with the sparse one.
FEW = NAMES if ALL else [card.name for card in cover(CARDS, traits)]
FEW_IN = {
    algebra: {card.name for card in cover([card for card in CARDS if can_play(card, algebra)], traits)}
    for algebra in ("sparse", "dense", "kernel", "reference")
}


def engine_names(value: str | bool) -> str:
    """The engines by name in the names of tests."""
    return value if isinstance(value, str) else "compiled" if value else "plain"


EITHER = {False: ONE_OF_A_KIND, True: [*FEW, "pa1", "perceptron"]}  # with what tests take as just any learner
either_engine = pytest.mark.parametrize(
    ("name", "native"),
    [(name, native) for name in NAMES for native in (False, True) if name in EITHER[native]],
    ids=engine_names,
)


@dataclass(frozen=True)
class Play:
    """One rule in one task and one algebra, with one choice of every option."""

    name: str
    task: str
    algebra: str
    options: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return "-".join([self.name, self.task, self.algebra, *(option for _, option in self.options)])

    @property
    def card(self) -> nr.RuleCard:
        return nr.learners().rules[self.name]

    @property
    def full(self) -> bool:
        """Whether whole matrices are kept."""
        return dict(self.options).get("covariance") == "full"

    @property
    def shape(self) -> dict[str, float]:
        """What the kernel is told, if there is one."""
        kernel = dict(self.options).get("kernel", "linear")
        return {name: getattr(KERNELS[kernel], name) for name in KERNEL_TAKES[kernel]}

    @property
    def needed(self) -> dict[str, float]:
        """Numbers without which these options are refused."""
        defaults = {name: param.default for name, param in self.card.numbers.items()}
        return {} if possible(self, defaults) else unusual(self.card, self.algebra, self.options)

    def make(self, **told: Any) -> nr.RuleLearner:
        """A learner of the plain text, unless it is told to be native."""
        chosen: dict[str, Any] = {"native": False, **self.needed, **dict(self.options), **self.shape, **told}
        return nr.make(self.name, task=self.task, algebra=self.algebra, **chosen)

    def twin(self, numbers: Mapping[str, float], fixed: bool = False, eps: float = 0.1) -> TaskRow:
        options = dict(self.options)
        kernel = options.pop("kernel", None)
        rule = naive.rule(self.name, **numbers, **options)
        if kernel is not None:
            rule = naive.with_kernel(rule, KERNELS[kernel])
        if self.task == "multiclass":
            competitor = "softmax" if options.get("loss") == "softmax" else "runner_up"
            return Multiclass(rule, CLASSES, fixed, competitor)
        return Regression(rule, eps, scaled=True) if self.task == "regression" else Binary(rule)


def starred(menus: list[list[str]]) -> list[tuple[str, ...]]:
    """The first of every menu, then each other one alone."""
    first = tuple(menu[0] for menu in menus)
    return [first, *((*first[:m], one, *first[m + 1 :]) for m, menu in enumerate(menus) for one in menu[1:])]


def ways(card: nr.RuleCard, task: str, algebra: str, every: bool) -> Iterator[Play]:
    """The options that fit: the defaults first, then each other option alone; or every combination.

    Unless every combination is asked for, kernels take turns, and each option of a rule is tried in one algebra and in
    the first task that has it: options are texts of their own, which know nothing of algebras and tasks.
    """
    menu = options_of(card, task)
    fitting = (one for one in product(*menu.values()) if fits(card, task, algebra, tuple(zip(menu, one, strict=True))))
    first = next(fitting, None)
    if first is None:
        return
    options = [first, *fitting] if every else few_ways(card, task, algebra, menu, first)
    if algebra == "kernel":
        menu["kernel"] = kernels = [name for name in KERNEL_NAMES if name != "sigmoid" or not card.needs_mercer_kernel]
        turns = range(max(len(options), len(kernels)))
        in_turn = [(*options[i % len(options)], kernels[i % len(kernels)]) for i in turns]
        options = [(*one, kernel) for one in options for kernel in kernels] if every else in_turn
    for chosen in options:
        yield Play(card.name, task, algebra, tuple(zip(menu, chosen, strict=True)))


def few_ways(card: nr.RuleCard, task: str, algebra: str, menu: Menu, first: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Options that fit, then with each other option alone, where it is tried."""
    few = starred([sorted(menu[name], key=lambda one: one != usual) for name, usual in zip(menu, first, strict=True)])
    tried = [one for one in few if all(tried_here(card, task, algebra, *new) for new in changed(menu, first, one))]
    return [one for one in tried if fits(card, task, algebra, tuple(zip(menu, one, strict=True)))]


def fits(card: nr.RuleCard, task: str, algebra: str, options: tuple[tuple[str, str], ...]) -> bool:
    """Whether a rule can be played in a task and an algebra with these options."""
    of_rule = {name: one for name, one in options if name in card.choices}
    if card.why_not(algebra, of_rule) is not None or task not in card.tasks_with(dict(options)):
        return False
    return possible(Play(card.name, task, algebra, options), unusual(card, algebra, options))


def options_of(card: nr.RuleCard, task: str) -> Menu:
    """What every option can be in a task, the default first."""
    menu: Menu = {}
    for name, choice in card.choices.items():
        known = [one for one in choice.among if name != "loss" or task in LOSSES[one].tasks]
        menu[name] = sorted(known, key=lambda one: one != choice.default)
    if any(field.kind == "covariance" for field in card.state.values()):
        menu["covariance"] = list(COVARIANCES)
    return menu


def changed(menu: Iterable[str], first: tuple[str, ...], chosen: tuple[str, ...]) -> list[tuple[str, str]]:
    """The options that are not as they were first."""
    return [(name, one) for name, usual, one in zip(menu, first, chosen, strict=True) if one != usual]


def tried_here(card: nr.RuleCard, task: str, algebra: str, name: str, option: str) -> bool:
    """Whether an option is varied in a task and an algebra: once, but for matrices, which tasks and algebras touch."""
    having = [one for one in TASK_TABLE if one in card.tasks and option in options_of(card, one).get(name, ())]
    first_task, first_algebra = task == having[0], algebra == card.algebras[0]
    return (first_task or first_algebra) if name == "covariance" else (first_task and first_algebra)


def possible(play: Play, numbers: Mapping[str, float]) -> bool:
    """Whether the options of a play can be had with these numbers."""
    check = play.card.check
    return check is None or check(numbers, dict(play.options)) is None


def plays(tasks: Iterable[str] | None = None, algebras: Iterable[str] | None = None, every: bool = ALL) -> list[Play]:
    """The plays of all built-in learners in these tasks and algebras, with every combination of options or few."""
    return [
        play
        for play in all_plays(every)
        if (tasks is None or play.task in tasks) and (algebras is None or play.algebra in algebras)
    ]


@cache
def all_plays(every: bool) -> tuple[Play, ...]:
    return tuple(
        play
        for card in CARDS
        for task in card.tasks
        for algebra in card.algebras
        if task in TASK_TABLE and can_play(card, algebra)
        for play in ways(card, task, algebra, every)
    )


def firsts(several: Sequence[Play]) -> list[Play]:
    """One play, that of the defaults, for every rule, task and algebra."""
    return list({(play.name, play.task, play.algebra): play for play in reversed(several)}.values())[::-1]


def some(several: Sequence[Play]) -> list[Play]:
    """Of these, one rule of a kind, with its defaults; beside the sparse algebra few rules."""
    return [play for play in firsts(several) if ALL or play.name in (ONE_OF_A_KIND if leads(play) else few_like(play))]


def few(several: Sequence[Play]) -> list[Play]:
    """Of these, as few as together have every kind of rule and store in every algebra, and every task there.

    For what the code around a rule promises, whatever the rule computes.
    """

    def has(play: Play) -> set[tuple[Any, ...]]:
        in_algebra = {(trait, play.algebra) for trait in traits(play.card)}
        return {*in_algebra, (play.task, play.algebra), (play.task, play.card.kind)}

    return firsts(several) if ALL else cover(some(several), has)


def leads(play: Play) -> bool:
    """Whether it is in the first algebra of its rule: the sparse one, if it can play there."""
    return play.algebra == play.card.algebras[0]


def few_like(play: Play) -> set[str]:
    """The few rules that are tried in an algebra beside the first."""
    return FEW_IN[play.algebra]


def in_first_task(play: Play) -> bool:
    return play.task == next(task for task in TASK_TABLE if task in play.card.tasks)


def can_begin_at_random(card: nr.RuleCard, algebra: str, options: Iterable[tuple[str, str]]) -> bool:
    """Whether the weights of a rule may begin at random while features and classes come.

    In the kernel algebra there are none that could; the reference algebra shrinks only those that it has cells for.
    """
    chosen = {**card.defaults, **dict(options)}
    if algebra == "kernel" or (algebra == "reference" and card.shrinks_start(chosen)):
        return False
    return card.why_no_random_start(chosen) is None


def unusual(card: nr.RuleCard, algebra: str = "", options: Iterable[tuple[str, str]] = ()) -> dict[str, float]:
    """A number other than the default for every parameter: near the limit from which it counts, and never large.

    Weights begin at random where they can. Where only whole numbers do, it is the next.
    """

    def number(param: Param) -> float:
        limit = max(param.above, param.at_least)
        usual = param.default if param.measured is None else min(param.default, param.measured)
        usual = min(usual, LARGE)
        return limit + 0.1 * (usual - limit) + 0.05

    found = {
        name: param.default
        if name == "random_start" and not can_begin_at_random(card, algebra, options)
        else number(param)
        for name, param in card.numbers.items()
    }
    refused = card.check is not None and "whole" in (card.check(found, card.defaults) or "")
    return {name: float(np.ceil(value)) for name, value in found.items()} if refused else found


def stream(task: str, dense: bool, seed: int = 0, rounds: int = 40) -> tuple[Array, Any]:
    """Noisy rounds for a task, a row of zeros among them; classes appear in the order 0, 1, 2, 3."""
    X, y = streams.dense(rounds, 6, seed) if dense else streams.sparse(rounds, 12, density=0.3, seed=seed)
    X[7] = 0.0
    if task == "multiclass":
        U = np.random.default_rng(seed).normal(size=(CLASSES, X.shape[1]))
        labels = streams.relabel(np.argmax(X @ U.T, axis=1), CLASSES, rate=0.3, seed=seed)
        X[1, -1], labels[1] = 1.0, (labels[0] + 1) % CLASSES  # with one class only, a round leaves no trace
        return X, by_appearance(labels)
    if task == "regression":
        u = np.random.default_rng(seed).normal(size=X.shape[1])
        return X, X @ u + 0.3 * y
    return X, y


def by_appearance(labels: Any) -> Any:
    """The same labels, numbered in the order they first appear."""
    order = list(dict.fromkeys(labels.tolist()))
    return np.array([order.index(label) for label in labels.tolist()])


def rows_of(X: Array) -> list[dict[str, float]]:
    """The rows as dicts of named features, without the zeros."""
    return [{f"f{j}": float(x[j]) for j in np.flatnonzero(x)} for x in X]


def arrays(learner: nr.RuleLearner) -> dict[str, Any]:
    """All that a learner keeps between rounds, as it is written to a model file, every array whole."""
    return dict(learner.dump()[1])


def state(learner: nr.RuleLearner) -> dict[str, Any]:
    """The fields of the rule's state, with nothing left to multiply; the first axis is the class."""
    rest = learner.copy()
    settle(rest.model.arrays)
    whole = rest.dump()[1]  # a model file may keep an array in two parts
    return {name.removeprefix("state."): found for name, found in whole.items() if name.startswith("state.")}


def same_bits(a: Any, b: Any) -> bool:
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return bool(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())


def near(found: Any, expected: Any, tolerance: float = 1e-10) -> None:
    """Equal up to rounding, relative to each number and to the largest of them."""
    expected = np.asarray(expected, dtype=float)
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=0.01 * tolerance * scale)
