"""What a learner was asked to be: every argument of `make`, checked against the card, the task and the algebra."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from noregret.algebra import TYPES
from noregret.algebra.kernel import BANKS
from noregret.data.class_weights import MODES
from noregret.data.labels import check_label
from noregret.errors import BadValue, shown
from noregret.features.hashing import MAX_BITS
from noregret.features.transforms import Pipeline, as_pipeline
from noregret.rules.card import RESERVED, Card, Choice, Param, loss_driven, must_say_whether_it_moved, suggestion
from noregret.rules.losses import LOSSES
from noregret.state.growth import Shape, Space
from noregret.tasks.costs import Costs, asked_cost
from noregret.tasks.loops.assembly import Plan
from noregret.tasks.loops.table import ASKING, TASK_TABLE

COVARIANCES = ("diagonal", "drop", "full")
SIGNED = (("margin", "binary"), ("margin", "multiclass"))  # where an example tells its class
CLASSLESS = {
    "regression": "regression has targets, not classes",
    "ranking": "ranking has relevances, not classes",
    "one-class": "one-class has a single class",
}
LARGEST = 1 << 53  # whole numbers below it are floats, too
MANY_ONLY = [name for name in TASK_TABLE["multiclass"].choices if name not in TASK_TABLE["binary"].choices]
KERNEL_PARAMS = {
    "gamma": Param(1.0, above=0.0, about="how fast the kernel falls with distance, or the factor of the product"),
    "coef0": Param(1.0, at_least=0.0, about="the constant of the polynomial kernel"),
    "degree": Param(3.0, at_least=1.0, about="the power of the polynomial kernel"),
}
KERNEL_TAKES = {"linear": (), "polynomial": ("gamma", "coef0", "degree"), "rbf": ("gamma",)}


@dataclass(frozen=True)
class Settings:
    """The checked arguments of a learner."""

    card: Card
    task: str
    auto: bool
    algebra: str | None
    covariance: str
    kernel: str
    shape: tuple[float, float, float]
    numbers: Mapping[str, float]
    choices: tuple[tuple[str, str], ...]
    setting: Mapping[str, float]
    setup: tuple[tuple[str, str], ...]
    cost: Costs | None
    classes: tuple[Any, ...] | None
    class_weight: Mapping[Any, float] | str | None
    native: bool
    seed: int
    bias: bool
    scale: bool
    transforms: Pipeline
    average: int | None
    groups: tuple[int, ...] | int
    bits: int | None
    told: Mapping[str, Any]

    @property
    def state_shape(self) -> Shape:
        if self.task == "one-class":
            return self.card.around(self.setting["radius"] if dict(self.setup)["learn_radius"] == "yes" else 0.0)
        fields, counters = self.card.shaped(self.average)
        return Shape(fields, {**counters, **TASK_TABLE[self.task].counters, **(ASKING if self.asks else {})})

    @property
    def asks(self) -> bool:
        """Whether labels are told only when they are asked for."""
        return dict(self.setup).get("labels") == "asked"

    @property
    def accepts_missing(self) -> bool:
        """Whether values may be missing: the first transform says what stands in their place."""
        return any(step.kind.accepts_missing for step in self.transforms)

    @property
    def touches(self) -> str:
        """Which cells one round may change."""
        return self.card.touches(self.choices)

    @property
    def params(self) -> Any:
        return self.card.parameters(*self.numbers.values() or [0.0])

    def setting_of(self, task: str) -> dict[str, float]:
        """The numbers of a task: as told, or by default where another was asked for and this one came of it."""
        return {name: self.setting.get(name, param.default) for name, param in TASK_TABLE[task].params.items()}

    def setup_of(self, task: str) -> tuple[tuple[str, str], ...]:
        """The options of a task, likewise."""
        told = dict(self.setup)
        return tuple((name, told.get(name, choice.default)) for name, choice in TASK_TABLE[task].choices.items())

    def plan(self, task: str, algebra: str) -> Plan:
        averaged, setup = self.average is not None, self.setup_of(task)
        return Plan(self.card, task, algebra, self.covariance, self.kernel, self.choices, averaged, setup)

    def space(self, algebra: str) -> Space:
        spread = self.numbers.get("random_start", 0.0)
        return Space(
            algebra, self.covariance, self.kernel, self.shape,
            seed=self.seed, spread=spread, groups=self.groups, bias=self.bias,
        )  # fmt: skip


def settle(card: Card, told: Mapping[str, Any]) -> Settings:
    """Check what was told; every error names the parameter and what it may be."""
    told = {name: unwrapped(value) for name, value in told.items()}
    must_say_whether_it_moved(card)
    rest = dict(told)
    task, auto = asked_task(card, rest.pop("task", None), rest)
    classes = asked_classes(task, rest.pop("classes", None))
    if classes is not None:
        told["classes"] = classes
    algebra = asked_algebra(card, rest.pop("algebra", None))
    asked_mean = rest.pop("average", None)
    groups = asked_groups(card, rest.pop("groups", None))
    bits = asked_bits(rest.pop("bits", None))
    if isinstance(groups, tuple) and groups:
        told["groups"] = list(groups)
    covariance = rest.pop("covariance", None)
    kernel = rest.pop("kernel", None)
    if algebra is None and card.algebras == ("kernel",):  # it remembers rows; whoever names no kernel means x.z
        algebra, kernel = "kernel", kernel or "linear"
    if covariance is not None and not card.keeps_covariance:
        raise BadValue(f"{card.name} keeps no covariance; leave covariance={covariance!r} out")
    if covariance not in (None, *COVARIANCES):
        raise BadValue(f"covariance must be one of {', '.join(COVARIANCES)}, not {covariance!r}")
    if kernel is not None and algebra != "kernel":
        raise BadValue(f'kernel={kernel!r} needs algebra="kernel"')
    if kernel not in (None, *BANKS):
        raise BadValue(f"kernel must be one of {', '.join(BANKS)}, not {kernel!r}{suggestion(kernel, BANKS)}")
    kernel = kernel or "rbf"
    native = rest.pop("native", True)
    seed = rest.pop("seed", 0)
    bias, scale = rest.pop("bias", False), rest.pop("scale", False)
    transforms = as_pipeline(rest.pop("transforms", None))
    told.pop("transforms", None)
    if transforms:
        told["transforms"] = [str(step) for step in transforms]
    class_weight = rest.pop("class_weight", None)
    if card.ignores_features:
        bias, scale, transforms, bits = False, False, as_pipeline(None), None

    if task == "one-class" and "radius" in rest:  # that of a set to stay in has no place where rows have a centre
        rest.setdefault("task.radius", rest.pop("radius"))
    numbers = {
        name: param.check(card.name, name, rest.pop(name, param.default)) for name, param in card.numbers.items()
    }
    choices = {
        name: option.check(card.name, name, default_option(name, option, task) if asked is None else asked)
        for name, option in card.choices.items()
        for asked in [rest.pop(name, None)]
    }
    if rest.get("competitor") != "rest" or task != "multiclass":
        must_play(card, task, choices)
    check_together(card, task, algebra, numbers, choices)
    average = asked_average(card, asked_mean, numbers, choices)
    if average is not None and task == "one-class":
        raise BadValue("a centre cannot be averaged; leave average out")
    setting = settle_task(card, task, choices, rest)
    cost = asked_cost(rest.pop("cost", None), classes)
    setup = settle_setup(card, task, choices, cost, rest)
    if dict(setup).get("labels") == "all":
        setting.pop("ask")
        if {"ask", "task.ask"} & set(told):
            raise BadValue(f'{card.name}: ask is for labels that are asked for; say labels="asked", or leave it out')
    shape = settle_kernel(kernel, rest) if algebra == "kernel" else (1.0, 1.0, 3.0)
    if rest:
        name = next(iter(rest))
        known = [
            *card.params,
            *TASK_TABLE[task].params,
            *TASK_TABLE[task].choices,
            *(KERNEL_TAKES[kernel] if algebra == "kernel" else ()),
            *RESERVED,
        ]
        close = suggestion(name, known)
        takes = f" It takes {', '.join(known)}" if close else f"; it takes {', '.join(known)}"
        raise BadValue(f"{card.name} has no parameter {name!r}{close}{takes}")
    must_know_classes(task, dict(setup), classes)
    if class_weight is not None:
        class_weight = checked_class_weight(card, task, class_weight, classes)
        if isinstance(class_weight, str) and (task == "bandit" or dict(setup).get("labels") == "asked"):
            raise BadValue(f"{class_weight} weights count every label, and here not all are told; give them by class")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise BadValue(f"seed must be a whole number that is not negative, not {seed!r}")
    for name, value in (("native", native), ("bias", bias), ("scale", scale)):
        if not isinstance(value, bool):
            raise BadValue(f"{name} must be True or False, not {value!r}")
    return Settings(
        card,
        task,
        auto,
        algebra,
        covariance or "diagonal",
        kernel,
        shape,
        numbers,
        tuple(choices.items()),
        setting,
        setup,
        cost,
        None if classes is None else tuple(classes),
        class_weight,
        native,
        seed,
        bias,
        scale,
        transforms,
        average,
        groups,
        bits,
        told,
    )


def unwrapped(value: Any) -> Any:
    """A numpy scalar as the plain value it stands for: it can be compared, shown and saved like one."""
    return value.item() if hasattr(value, "dtype") and getattr(value, "shape", None) == () else value


def asked_classes(task: str, classes: Any) -> list[Any] | None:
    if classes is None:
        return None
    if task in CLASSLESS:
        raise BadValue(f"{CLASSLESS[task]}; leave classes out")
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        raise BadValue(f"classes must be a list of labels, not {classes!r}")
    return [check_label(label) for label in classes]


def must_know_classes(task: str, setup: Mapping[str, str], classes: list[Any] | None) -> None:
    """Where not every label is told, no class can be known by its first appearance."""
    if classes is not None:
        return
    if task == "bandit":
        raise BadValue("the bandit task needs classes=[...]: a class that is never played could not be known")
    if setup.get("labels") == "asked":
        raise BadValue('labels="asked" needs classes=[...]: a label that is not asked for cannot bring a new class')


def asked_task(card: Card, task: Any, told: Mapping[str, Any]) -> tuple[str, bool]:
    """The task, and whether it may become another when a third class appears."""
    if task is None:
        own = next((one for one in ("binary", *card.tasks) if one in card.tasks), "binary")
        many = [name for name in (*MANY_ONLY, "cost") if name in told and name not in card.params]
        if many and ("multiclass" in card.tasks or told.get("competitor") == "rest"):
            own = "multiclass"
        return own, own == "binary"
    if not isinstance(task, str) or task not in TASK_TABLE:
        raise BadValue(f"task must be one of {', '.join(TASK_TABLE)}, not {task!r}{suggestion(task, TASK_TABLE)}")
    if task == "multiclass" and "binary" in card.tasks and told.get("competitor") == "rest":
        return task, False
    if task not in card.tasks:
        reason = "it"
        if task == "one-class":
            reason = "its weights do not only move by steps toward a row, or it moves on mistakes; it"
        elif task in card.plays:
            reason = "it moves on mistakes, not on losses; it"
        raise BadValue(f"{card.name} cannot play {task}: {reason} plays {', '.join(card.tasks)}")
    return task, False


def asked_algebra(card: Card, algebra: Any) -> str | None:
    if algebra is None:
        return None
    if not isinstance(algebra, str) or algebra not in TYPES:
        raise BadValue(f"algebra must be one of {', '.join(TYPES)}, not {algebra!r}{suggestion(algebra, TYPES)}")
    reason = card.why_not(algebra)
    if reason is not None:
        raise BadValue(f"{card.name} cannot play in the {algebra} algebra: {reason}")
    return str(algebra)


def asked_average(card: Card, average: Any, numbers: Mapping[str, float], choices: Mapping[str, str]) -> int | None:
    """After how many rounds the mean of the weights begins: 0 for True, None when no mean is asked for."""
    if average is None or average is False:
        return None
    if average is not True and (not isinstance(average, int) or not 0 <= average < LARGEST):
        raise BadValue(f"average must be True, or the number of rounds to leave out before it begins, not {average!r}")
    reason = card.why_no_average(choices)
    if numbers.get("random_start", 0.0) > 0.0:
        reason = "a mean begins at weights of zero, not at random ones"
    if reason is not None:
        raise BadValue(f"{card.name} cannot be averaged: {reason}")
    return 0 if average is True else average


def asked_bits(bits: Any) -> int | None:
    """How many cells names are hashed to, as a power of two; None where names are kept."""
    if bits is not None and (type(bits) is not int or not 1 <= bits <= MAX_BITS):
        raise BadValue(f"bits must be a whole number from 1 to {MAX_BITS}, not {shown(bits)}")
    return bits


def asked_groups(card: Card, groups: Any) -> tuple[int, ...] | int:
    """The group of every feature by its number; or how many features in a row make one group."""
    grouped = card.keeps_groups
    if groups is None:
        return 1 if grouped else ()
    if not grouped:
        raise BadValue(f"{card.name} keeps no groups; leave groups out")
    if isinstance(groups, int) and not isinstance(groups, bool) and groups >= 1:
        return groups
    listed = groups.tolist() if hasattr(groups, "tolist") else groups
    listed = [unwrapped(group) for group in listed] if isinstance(listed, (list, tuple)) else None
    if listed and all(
        isinstance(group, int) and not isinstance(group, bool) and abs(group) < LARGEST for group in listed
    ):
        return tuple(listed)
    raise BadValue(
        f"{card.name}: groups must be how many features in a row make a group, or a list with the group number of each "
        f"feature, not {shown(groups)}"
    )


def must_play(card: Card, task: str, choices: Mapping[str, str]) -> None:
    """Refuse choices with which a rule cannot play the task."""
    if task not in card.tasks_with(choices):
        told = ", ".join(f"{name}={option!r}" for name, option in choices.items())
        steps, moves = "its weights then do not only move by steps", "it then moves on mistakes, not on losses"
        raise BadValue(f"{card.name} cannot play {task} with {told}: {steps if task == 'one-class' else moves}")


def check_together(
    card: Card, task: str, algebra: str | None, numbers: Mapping[str, float], choices: Mapping[str, str]
) -> None:
    """What single parameters cannot know: whether the choices suit the task and the algebra, and each other."""
    reason = None if algebra is None else card.why_not(algebra, choices)
    if reason is not None:
        raise BadValue(f"{card.name} cannot play in the {algebra} algebra: {reason}")
    if algebra == "kernel" and task == "ranking":
        raise BadValue("the kernel algebra has no differences of rows, which ranking learns from; leave algebra out")
    if algebra == "kernel" and numbers.get("random_start", 0.0) > 0.0:
        raise BadValue(f"{card.name}: random_start is for weights, which the kernel algebra does not have")
    if any(field.kind == "reservoir" for field in card.state.values()) and (card.kind, task) not in SIGNED:
        raise BadValue(f"{card.name} remembers rows with their classes: only a margin rule in a task of classes can")
    wrong = None if card.check is None else card.check(numbers, choices)
    if wrong is not None:
        raise BadValue(f"{card.name}: {wrong}")


def default_option(name: str, option: Choice, task: str) -> str:
    """The hinge loss of the margin is the eps-insensitive loss of regression: one default, two names."""
    if name == "loss" and task not in LOSSES[option.default].tasks:
        return "hinge" if task == "one-class" else "eps_insensitive"
    return option.default


def settle_task(card: Card, task: str, choices: Mapping[str, str], rest: dict[str, Any]) -> dict[str, float]:
    loss = choices.get("loss")
    if loss is not None and task not in LOSSES[loss].tasks:
        fits = [name for name, one in LOSSES.items() if task in one.tasks]
        raise BadValue(f"{card.name}: the loss {loss!r} does not fit {task}; use one of {', '.join(fits)}")
    setting: dict[str, float] = {}
    for name, param in TASK_TABLE[task].params.items():
        asked = rest.pop(f"task.{name}", rest.pop(name, None))
        if name == "eps" and loss is not None and not LOSSES[loss].insensitive:
            if asked is not None:
                raise BadValue(f"{card.name}: eps belongs to the eps_insensitive loss, not to {loss}")
            setting[name] = 0.0
        else:
            setting[name] = param.check(f"task {task}", name, param.default if asked is None else asked)
    return setting


def settle_setup(
    card: Card, task: str, choices: Mapping[str, str], cost: Costs | None, rest: dict[str, Any]
) -> tuple[tuple[str, str], ...]:
    """The options of the task; where no costs are told every mistake costs 1, and so does the required margin."""
    found = {}
    for name, choice in TASK_TABLE[task].choices.items():
        asked = rest.pop(f"task.{name}", rest.pop(name, None))
        if name == "competitor" and card.kind == "prototype":
            if asked is not None:
                raise BadValue(f"{card.name} moves all classes at once; leave competitor out")
            asked = "max_loss"
        if asked is None and name == "margin" and cost is not None:
            asked = "loss"
        found[name] = choice.check(f"task {task}", name, choice.default if asked is None else asked)
    if found.get("competitor") == "rest":
        reason = card.why_no_rest(choices)
        if reason is not None:
            raise BadValue(f"{card.name} cannot play each class against the rest: {reason}")
        if cost is not None or found["margin"] != "unit":
            raise BadValue('competitor="rest" holds no class against another; leave cost and margin out')
    if cost is None:
        if "margin" in found:
            found["margin"] = "unit"
    elif "margin" not in found:
        raise BadValue(f'the {task} task has no costs; leave cost out, or ask for task="multiclass"')
    elif card.kind == "margin" and not loss_driven(card, tuple(choices.items())):
        raise BadValue(
            f"{card.name} cannot include_unknown costs: it moves on mistakes, not on losses. Use class_weight, or pa1"
        )
    return tuple(found.items())


def settle_kernel(kernel: str, rest: dict[str, Any]) -> tuple[float, float, float]:
    values = {
        name: param.check(
            f"kernel {kernel}",
            name,
            rest.pop(f"kernel.{name}", rest.pop(name, param.default))
            if name in KERNEL_TAKES[kernel]
            else param.default,
        )
        for name, param in KERNEL_PARAMS.items()
    }
    return values["gamma"], values["coef0"], values["degree"]


def checked_class_weight(card: Card, task: str, given: Any, classes: list[Any] | None) -> dict[Any, float] | str:
    """A weight for every class named, or the word for weights by how often each class came."""
    if task in CLASSLESS:
        raise BadValue(f"{CLASSLESS[task]}; leave class_weight out")
    if task == "multilabel":
        raise BadValue("a row has several labels, so class_weight cannot weigh it; leave it out, and use weight")
    if not card.weighs:
        raise BadValue(f"{card.name} cannot weigh rounds; leave class_weight out")
    if isinstance(given, str) and given in MODES:
        return given
    if not isinstance(given, Mapping):
        raise BadValue(f"class_weight must map labels to weights, or be one of {', '.join(MODES)}, not {given!r}")
    limit = Param(1.0, at_least=0.0)
    found = {check_label(label): limit.check("class_weight", repr(label), value) for label, value in given.items()}
    strange = [label for label in found if classes is not None and label not in classes]
    if strange:
        raise BadValue(f"class_weight names the class {strange[0]!r}, which is not one of classes {classes}")
    return found
