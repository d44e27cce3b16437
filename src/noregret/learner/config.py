"""The configuration of a learner: every argument of `make`, checked against the card, the task and the algebra."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from noregret.algebra.given_kernels import Gram
from noregret.cached_property import cached_property
from noregret.data.class_weights import MODES
from noregret.data.labels import check_label
from noregret.errors import BadValue, check_digits, shown
from noregret.features.transforms import Pipeline, as_pipeline
from noregret.learner.columns import check_option
from noregret.learner.kernel_options import (
    BUDGET_OPTIONS,
    KERNEL_TAKES,
    SPECTRUM,
    Budget,
    KernelParams,
    check_budget,
    check_gram,
    check_kernel,
    check_kernel_params,
    refuse_given_kernel,
    usual_kernel,
)
from noregret.learner.named import Named
from noregret.learner.state_options import (
    check_algebra,
    check_average,
    check_bits,
    check_covariance,
    check_groups,
    unwrap,
)
from noregret.learner.weight_decay import add_decay, check_decay
from noregret.rules.own_functions import OwnFunction
from noregret.rules.parameters import Param, suggestion
from noregret.rules.probing import require_update_flag
from noregret.rules.registry import RESERVED
from noregret.rules.rule_card import RuleCard
from noregret.state.space import Layout, Shape, Space
from noregret.tasks import TASKS
from noregret.tasks.assemble import Plan
from noregret.tasks.binary import Binary
from noregret.tasks.costs import check_cost
from noregret.tasks.multiclass import Multiclass
from noregret.tasks.task import Task


@dataclass(frozen=True)
class Config:
    """The checked arguments of a learner; `given` is what the caller passed, to make the same learner again."""

    card: RuleCard
    task: Task
    algebra: str | None
    covariance: str
    kernel: str
    kernel_params: KernelParams
    gram: Gram | None  # the values of a precomputed kernel
    budget: Budget
    numbers: Mapping[str, float]
    choices: tuple[tuple[str, str], ...]
    classes: tuple[Any, ...] | None
    class_weight: Mapping[Any, float] | str | None
    native: bool
    seed: int
    bias: bool
    bias_value: float | None  # of the constant feature; None: as large as the values of the first row are
    scale: bool
    transforms: Pipeline
    average: int | None
    weight_decay: float | None  # by which share all weights shrink in every round
    groups: tuple[int, ...] | int
    bits: int | None
    grows: bool  # whether matrices may have new columns
    given: Mapping[str, Any]
    named: Named | None = None  # the card of a method that is this rule with options of its own

    @cached_property
    def state_shape(self) -> Shape:
        shape = self.task.state_shape(self.average)
        if self.budget.policy == "random":
            shape = shape._replace(counters={**shape.counters, "budget_random": 0.0})
        return shape if self.weight_decay is None else add_decay(shape, self.weight_decay)

    @property
    def allows_missing(self) -> bool:
        """Whether values may be missing: some transform says what to put in their place."""
        return any(step.kind.accepts_missing for step in self.transforms)

    @property
    def touches(self) -> Literal["row", "top_k", "all"]:
        """Which cells one round may change."""
        return "all" if self.budget.size else self.card.touches(self.choices)

    @property
    def params(self) -> Any:
        """The numbers of the rule, as its text reads them."""
        return self.card.parameters(*self.numbers.values() or [0.0])

    def plan(self, task: Task, algebra: str) -> Plan:
        """What the loops of this learner are specialized from, for a task it may have grown into."""
        averaged, chosen = self.average is not None, tuple(task.chosen.items())
        options = (self.covariance, self.kernel, self.choices, averaged, chosen, self.budget.policy)
        return Plan(self.card, type(task), algebra, *options)

    @property
    def rows_are_objects(self) -> bool:
        """Whether a row is a text, or the number of an object, for a kernel that compares such."""
        return self.gram is not None or self.kernel == SPECTRUM

    @property
    def own_functions(self) -> list[Any]:
        """The functions that the caller gave."""
        return [one.function for one in (self.kernel, *dict(self.choices).values()) if isinstance(one, OwnFunction)]

    @property
    def removes_supports(self) -> bool:
        """Whether rounds may remove supports."""
        verbs = self.card.verbs_with(dict(self.choices))
        return bool(self.budget.size) or any(verb.name == "remove_support" for verb in verbs)

    def space(self, algebra: str, dense: bool = False) -> Space:
        """The space of an empty state; dense: whether the supports of a kernel learner are kept as dense rows."""
        given = self.kernel.function if isinstance(self.kernel, OwnFunction) else self.gram
        layout: Layout = "slots" if self.removes_supports or self.gram is not None else "indexed"
        if (dense and self.gram is None) or isinstance(self.kernel, OwnFunction):
            layout = "dense"
        spread = self.numbers.get("random_start", 0.0)
        return Space(
            algebra, self.covariance, self.kernel, self.kernel_params,
            seed=self.seed, spread=spread, limits=self.card.start_limits(self.numbers, dict(self.choices)),
            groups=self.groups, bias=self.bias, layout=layout, budget=self.budget.size, given=given,
        )  # fmt: skip


def resolve(card: RuleCard, given: Mapping[str, Any]) -> Config:
    """Check the arguments of `make`; every error names the argument and what it may be."""
    given = {name: unwrap(value) for name, value in given.items()}
    require_update_flag(card)
    rest = dict(given)
    task_class, grows = check_task(card, rest.pop("task", None), rest)
    classes = check_classes(task_class, rest.pop("classes", None))
    if classes is not None:
        given["classes"] = classes
    algebra = check_algebra(card, rest.pop("algebra", None))
    average, decay = rest.pop("average", None), rest.pop("weight_decay", None)
    groups = check_groups(card, rest.pop("groups", None))
    if isinstance(groups, tuple) and groups:
        given["groups"] = list(groups)
    bits = check_bits(rest.pop("bits", None))
    covariance = check_covariance(card, rest.pop("covariance", None))
    if covariance == "full" and not task_class.has_blocks:
        raise BadValue(f"{card.name}: a full covariance is kept for single rows, not for {task_class.name} examples; "
                       'use covariance="diagonal"')  # fmt: skip
    kernel_name = rest.pop("kernel", None)
    if algebra is None and card.algebras == ("kernel",):
        algebra, kernel_name = "kernel", kernel_name or usual_kernel(card)
    kernel, gram = check_kernel(kernel_name, algebra), check_gram(kernel_name, rest.pop("gram", None))
    if gram is not None or isinstance(kernel, OwnFunction):
        given |= {"gram": gram} if gram is not None else {"kernel": kernel}
        refuse_given_kernel(task_class, given)
    if algebra == "kernel" and kernel == "sigmoid" and card.needs_mercer_kernel:
        raise BadValue(
            f"{card.name} measures distances, which the sigmoid kernel does not define; choose another kernel"
        )
    switches = {
        name: rest.pop(name, default) for name, default in (("native", True), ("bias", False), ("scale", False))
    }
    seed, growing = rest.pop("seed", 0), check_option(rest.pop("columns", None))
    asked = None if "budget" in card.params else rest.pop("budget", None), rest.pop("policy", None)
    transforms = as_pipeline(rest.pop("transforms", None))
    given.pop("transforms", None)
    if transforms:
        given["transforms"] = [str(step) for step in transforms]
    class_weight = rest.pop("class_weight", None)
    if card.ignores_features:
        switches |= {"bias": False, "scale": False}
        transforms, bits = as_pipeline(None), None

    for name in task_class.own_params:
        if name in rest:
            rest.setdefault(f"task.{name}", rest.pop(name))
    numbers = {
        name: param.check(card.name, name, rest.pop(name, task_class.default_number(param)))
        for name, param in card.numbers.items()
    }
    choices = {
        name: option.check(card.name, name, task_class.default_option(name, option) if value is None else value)
        for name, option in card.choices.items()
        for value in [rest.pop(name, None)]
    }
    given |= {name: option for name, option in choices.items() if isinstance(option, OwnFunction)}
    check_rule(card, task_class, algebra, numbers, choices, rest)
    averaged_after = check_average(card, task_class, average, numbers, choices)
    decay = check_decay(card, task_class, algebra, decay, choices)
    if decay is not None and (averaged_after is not None or numbers.get("random_start", 0.0) > 0.0):
        raise BadValue(f"{card.name}: weight_decay is not for an average or a random start; leave one of them out")
    cost = check_cost(rest.pop("cost", None), classes)
    task = task_class.configure(card, choices, cost, rest)
    if isinstance(task, Binary):
        task.grows = grows
    kernel_params = check_kernel_params(kernel, rest) if algebra == "kernel" else (1.0, 1.0, 3.0)
    budget = check_budget(card, algebra, numbers, *asked)
    takes = (*KERNEL_TAKES.get(kernel, ()), *BUDGET_OPTIONS) if algebra == "kernel" else ()
    refuse_unknown(card, task_class, takes, rest)
    check_classes_known(task, classes)
    if class_weight is not None:
        class_weight = check_class_weight(card, task, class_weight, classes)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise BadValue(f"seed must be a whole number that is not negative, not {shown(seed)}")
    check_digits(seed, "seed", hint="give a smaller one")
    bias_value = check_bias(switches["bias"])
    switches["bias"] = bias_value != 0.0
    for name, value in switches.items():
        if not isinstance(value, bool):
            raise BadValue(f"{name} must be True or False, not {value!r}")
    return Config(
        card=card, task=task, algebra=algebra, covariance=covariance, kernel=kernel, kernel_params=kernel_params,
        numbers=numbers, choices=tuple(choices.items()), classes=None if classes is None else tuple(classes),
        class_weight=class_weight, seed=seed, transforms=transforms, average=averaged_after, groups=groups, bits=bits,
        weight_decay=decay, budget=budget, gram=gram,
        given=given, bias_value=bias_value, grows=growing, **switches,
    )  # fmt: skip


def check_bias(bias: Any) -> float | None:
    """The value of the constant feature: 0 where there is none, None where the first row decides it."""
    if bias == "auto":
        return None
    try:
        value = float(bias) if isinstance(bias, (bool, int, float)) else -1.0
    except OverflowError:
        value = -1.0
    if not 0.0 <= value < math.inf or (value == 0.0 and bias is not False):
        raise BadValue(f'bias must be True, False, a number above 0, or "auto", not {bias!r}')
    return value


def refuse_unknown(card: RuleCard, task: type[Task], kernel_takes: Iterable[str], rest: Mapping[str, Any]) -> None:
    """An argument that nothing takes is an error with a suggestion."""
    if not rest:
        return
    name = next(iter(rest))
    if name == "random_start":
        refuse_random_start(card, card.why_no_random_start(card.defaults))
    known = [*card.params, *task.params, *task.options, *kernel_takes, *RESERVED]
    close = suggestion(name, known)
    takes = f" It takes {', '.join(known)}" if close else f"; it takes {', '.join(known)}"
    raise BadValue(f"{card.name} has no parameter {name!r}{close}{takes}")


# ---- the task --------------------------------------------------------------------------------------------------------


def check_task(card: RuleCard, name: Any, given: Mapping[str, Any]) -> tuple[type[Task], bool]:
    """The task, and whether a third class may turn binary into multiclass."""
    if name is None:
        own = str(card.usual_task)
        for task in TASKS.values():
            implied = any(option in given and option not in card.params for option in task.implied_by)
            implied |= "loss" in card.params and given.get("loss") in task.implied_by_loss
            if implied and (task.why_not(card) is None or against_the_rest(card, task, given)):
                own = task.name
        return TASKS[own], own == Binary.name
    if not isinstance(name, str) or name not in TASKS:
        raise BadValue(f"task must be one of {', '.join(TASKS)}, not {name!r}{suggestion(name, TASKS)}")
    task = TASKS[name]
    if against_the_rest(card, task, given):
        return task, False
    reason = task.why_not(card)
    if reason is not None:
        plays = f"it plays {', '.join(card.tasks)}"
        raise BadValue(f"{card.name} cannot play {name}: {f'{reason}; {plays}' if reason else plays}")
    return task, False


def against_the_rest(card: RuleCard, task: type[Task], given: Mapping[str, Any]) -> bool:
    """Whether a rule of two classes is asked to play one class against the rest."""
    return task is Multiclass and given.get("competitor") == "rest" and "binary" in card.tasks


def check_rule(
    card: RuleCard, task: type[Task], algebra: str | None, numbers: Mapping[str, float], choices: Mapping[str, str],
    given: Mapping[str, Any],
) -> None:  # fmt: skip
    """What single parameters cannot know: whether the options suit the task and the algebra, and each other."""
    reason = None if against_the_rest(card, task, given) else task.why_not(card, choices)
    if reason is not None:
        options = ", ".join(f"{name}={option!r}" for name, option in choices.items())
        raise BadValue(f"{card.name} cannot play {task.name} with {options}: {reason}")
    if algebra is not None:
        reason = card.why_not(algebra, choices)
        if reason is not None:
            raise BadValue(f"{card.name} cannot play in the {algebra} algebra: {reason}")
    remembers = any(field.kind == "reservoir" for field in card.state.values())
    if remembers and not (card.kind == "margin" and task.signed_examples):
        raise BadValue(f"{card.name} remembers rows with their classes: only a margin rule in a task of classes can")
    if numbers.get("random_start", 0.0) > 0.0:
        if algebra == "kernel":
            raise BadValue(f"{card.name}: random_start is for weights, which the kernel algebra does not have")
        refuse_random_start(card, card.why_no_random_start(choices) or task.why_no_random_start())
    wrong = None if card.check is None else card.check(numbers, choices)
    if wrong is not None:
        raise BadValue(f"{card.name}: {wrong}")


def refuse_random_start(card: RuleCard, reason: str | None) -> None:
    if reason is not None:
        raise BadValue(f"{card.name} cannot begin at random weights: {reason}; leave random_start out")


# ---- classes ---------------------------------------------------------------------------------------------------------


def check_classes(task: type[Task], classes: Any) -> list[Any] | None:
    if classes is None:
        return None
    if task.no_classes is not None:
        raise BadValue(f"{task.no_classes}; leave classes out")
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        raise BadValue(f"classes must be a list of labels, not {classes!r}")
    return [check_label(label) for label in classes]


def check_classes_known(task: Task, classes: list[Any] | None) -> None:
    """Where not every label is revealed, no class can be known by its first appearance."""
    if classes is not None:
        return
    if task.needs_classes is not None:
        raise BadValue(task.needs_classes)
    if task.queries_labels:
        raise BadValue('labels="asked" needs classes=[...]: a label that is not asked for cannot bring a new class')


def check_class_weight(card: RuleCard, task: Task, given: Any, classes: list[Any] | None) -> dict[Any, float] | str:
    """A weight for every class named, or the word for weights by how often each class came."""
    if task.no_classes is not None:
        raise BadValue(f"{task.no_classes}; leave class_weight out")
    if task.no_class_weight is not None:
        raise BadValue(task.no_class_weight)
    if not card.supports_weights:
        raise BadValue(f"{card.name} cannot weigh rounds; leave class_weight out")
    if isinstance(given, str) and given in MODES:
        if not task.full_feedback:
            raise BadValue(f"{given} weights count every label, and here not all are revealed; give them by class")
        return given
    if not isinstance(given, Mapping):
        raise BadValue(f"class_weight must map labels to weights, or be one of {', '.join(MODES)}, not {given!r}")
    limit = Param(1.0, at_least=0.0)
    found = {check_label(label): limit.check("class_weight", repr(label), value) for label, value in given.items()}
    strange = [label for label in found if classes is not None and label not in classes]
    if strange:
        raise BadValue(f"class_weight names the class {strange[0]!r}, which is not one of classes {classes}")
    return found
