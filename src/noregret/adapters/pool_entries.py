"""The entries of a pool: which learners play side by side, with which parameters, and under which names."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from noregret.errors import BadValue, shown
from noregret.features.transforms import as_pipeline
from noregret.learner.factory import card_of, make
from noregret.learner.named import made_with
from noregret.learner.protocol import Learner
from noregret.learner.rule_learner import RuleLearner
from noregret.learner.variants import as_variant, name_learner, split_names
from noregret.rules.card import Card
from noregret.rules.method_card import MethodCard
from noregret.rules.rule_card import RuleCard

PREPARATION = ("scale", "bias", "bits", "transforms", "columns", "reads")  # options that the first entry takes for all
UNNAMED = ("task", "transforms", "native", "seed")  # options of a learner that its name as an entry leaves out
MOST = 1000  # entries; each is a learner with weights of its own

Setting = tuple[str, Mapping[str, Any]]  # the name of a learner, and the parameters that are not its defaults

CLASSIFIERS: tuple[Setting, ...] = (
    ("pa1", {"C": 1.0}), ("pa1", {"C": 0.1}), ("pa1", {"C": 0.01}), ("pa2", {"C": 1.0}), ("pa2", {"C": 0.1}),
    ("arow", {"r": 0.01}), ("arow", {"r": 0.1}), ("arow", {"r": 1.0}), ("arow", {"r": 10.0}), ("arow", {"r": 100.0}),
    ("scw1", {"C": 0.1}), ("scw1", {"C": 1.0}), ("scw1", {"C": 10.0}), ("scw1", {"eta": 0.6}), ("cw", {"eta": 0.55}),
    ("nherd", {}), ("nherd", {"C": 0.1}),
    ("adagrad", {"eta": 0.1}), ("adagrad", {"eta": 0.5}),
    ("adagrad", {"eta": 0.1, "loss": "logistic"}), ("adagrad", {"eta": 0.5, "loss": "logistic"}),
    ("ogd", {"eta0": 1.0, "loss": "logistic"}), ("sop", {}), ("perceptron_averaged", {}),
)  # fmt: skip
REGRESSORS: tuple[Setting, ...] = (
    ("pa1", {"C": 1.0}), ("pa1", {"C": 0.1}), ("pa1", {"C": 0.01}), ("pa1", {"C": 0.004}),
    ("arow", {"r": 0.1}), ("arow", {"r": 1.0}), ("arow", {"r": 10.0}), ("arow", {"r": 100.0}), ("arow", {"r": 1000.0}),
    ("adagrad", {"eta": 0.004}), ("adagrad", {"eta": 0.02}), ("adagrad", {"eta": 0.1}), ("adagrad", {"eta": 0.5}),
    ("adagrad", {"eta": 2.5}),
    ("ogd", {"eta0": 0.001}), ("ogd", {"eta0": 0.01}), ("ogd", {"eta0": 0.1}), ("ogd", {"eta0": 1.0}),
    ("ftrl", {"alpha": 0.02, "l1": 0.001}), ("ftrl", {"alpha": 0.1, "l1": 0.001}),
    ("ftrl", {"alpha": 0.5, "l1": 0.001}),
    ("nherd", {"C": 0.1}), ("adaline_normalised", {"rho": 0.1}),
)  # fmt: skip
RANKERS: tuple[Setting, ...] = tuple(one for one in CLASSIFIERS if one[0] != "sop")
POOLS: Mapping[str | None, tuple[Setting, ...]] = {
    None: CLASSIFIERS, "binary": CLASSIFIERS, "multiclass": CLASSIFIERS, "multilabel": CLASSIFIERS, "ranking": RANKERS,
    "regression": REGRESSORS,
}  # fmt: skip
"""The learners of `auto` by task, with values spread over the search ranges of their cards. The first entry prepares
the rows for all, and must be one that no row makes overflow."""


@dataclass(frozen=True)
class Entry:
    """A learner of a pool.

    `sees` says which rows: those given, which it encodes itself and for others ("encodes") or for itself alone
    ("given"), or those that the entry which encodes has made of them, by column numbers ("encoded").
    """

    name: str
    learner: Learner
    sees: Literal["encodes", "encoded", "given"]


def make_entries(pool: Iterable[Any] | None, options: Mapping[str, Any]) -> list[Entry]:
    """The entries of a pool: the usual ones of the task where none are given.

    An entry given by name or as a card, alone or with parameters, gets the options of the pool; a learner stays as it
    is. Of those that are made here the first prepares the rows for the others.
    """
    parts = list(POOLS[options.get("task")]) if pool is None else check_pool(pool)
    own = {name: value for name, value in options.items() if name not in PREPARATION}
    entries: list[Entry] = []
    encoded, refusal = False, BadValue("the pool is empty")
    for part in parts:
        if not isinstance(part, type) and isinstance(part, Learner):
            entries.append(Entry(name_given(part), part.copy(), "given"))
            continue
        variant = as_variant(part, card_of)
        card, settings = variant.card, variant.options
        if not isinstance(card, RuleCard) or card.ignores_features:
            entries.append(Entry(str(variant), make(card, **{**whole_task(card, options), **settings}), "given"))
            continue
        try:
            learner = make(card, **{**(own if encoded else options), **settings})
        except BadValue as error:
            if pool is not None:
                raise
            refusal = error  # one of the usual learners cannot do what is asked, such as weigh classes
            continue
        entries.append(Entry(name_learner(learner, settings), learner, "encoded" if encoded else "encodes"))
        encoded = True
    if not entries:
        raise refusal
    check_names([entry.name for entry in entries])
    check_tasks(entries)
    check_rule(entries)
    return entries


def whole_task(card: Card, options: Mapping[str, Any]) -> dict[str, Any]:
    """The task of the pool and its classes, for an entry that takes them and is no rule."""
    takes = card.options if isinstance(card, MethodCard) else ()
    return {name: options[name] for name in ("task", "classes") if name in takes and name in options}


def check_pool(pool: Any) -> list[Any]:
    """The parts of a pool: names (also in a text, with commas), cards, pairs of these with parameters, or learners."""
    if isinstance(pool, str):
        pool = split_names(pool)
    if isinstance(pool, (bytes, Mapping)) or not isinstance(pool, Iterable):
        raise BadValue(f"pool must be a list of names, rules or learners, not {shown(pool)}")
    parts = list(pool)
    if not parts:
        raise BadValue("the pool is empty; name at least one learner, or leave pool out for the usual ones")
    if len(parts) > MOST:
        raise BadValue(f"the pool has {len(parts)} entries; it may have at most {MOST}")
    return parts


def name_given(learner: Learner) -> str:
    """The name of a learner that was made elsewhere: its transforms, and the parameters it was made with."""
    config = getattr(learner, "config", None)
    if config is None:
        return name_learner(learner)
    given = made_with(config)
    steps = "".join(f"{step} | " for step in as_pipeline(given.get("transforms")))
    return steps + name_learner(learner, set(given) - {*UNNAMED})


def check_names(names: Sequence[str]) -> None:
    """Refuse two entries with one name: a report could not tell them apart."""
    for number, name in enumerate(names):
        if name in names[:number]:
            raise BadValue(f"two entries of the pool are called {name!r}; give one of them other parameters")


def check_rule(entries: Sequence[Entry]) -> None:
    """Some entry must be a rule learner: its task and labels are those of the pool."""
    if not any(isinstance(entry.learner, RuleLearner) for entry in entries):
        raise BadValue('a pool needs at least one rule learner, such as "arow": its labels are those of the pool')


def check_tasks(entries: Sequence[Entry]) -> None:
    """All entries must play one task."""
    tasks = {entry.learner.task: entry.name for entry in entries}
    if len(tasks) > 1:
        (first, one), (second, other) = list(tasks.items())[:2]
        raise BadValue(f"{one} plays {first}, and {other} plays {second}; the entries of a pool must play one task")
