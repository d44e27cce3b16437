"""Optimizers of torch: by name, as a class, as a function of the parameters, or one that is made already."""

from collections.abc import Callable
from typing import Any, NamedTuple

from noregret.errors import BadValue, shown
from noregret.learner.finder import name_of
from noregret.learner.header_fields import corrupt
from noregret.neural.modules.module_file import Module
from noregret.neural.modules.optimizer_file import Optimizer, name_parameters
from noregret.neural.modules.tensors import load_torch
from noregret.rules.parameters import suggestion

Options = dict[str, Any]


class Named(NamedTuple):
    """An optimizer by name: its class, its usual rate (that of `mlp`, where that has it), and its options."""

    made: str
    eta: float
    options: Callable[[float], Options]


NAMES = {
    "sgd": Named("SGD", 0.01, lambda momentum: {}),
    "momentum": Named("SGD", 0.001, lambda momentum: {"momentum": momentum}),
    "nesterov": Named("SGD", 0.001, lambda momentum: {"momentum": momentum, "nesterov": True}),
    "adagrad": Named("Adagrad", 0.02, lambda momentum: {"eps": 1e-8}),
    "adadelta": Named("Adadelta", 1.0, lambda momentum: {"rho": 0.95}),
    "adam": Named("Adam", 0.001, lambda momentum: {"betas": (momentum, 0.999)}),
    "adamw": Named("AdamW", 0.001, lambda momentum: {"betas": (momentum, 0.999)}),
    "nadam": Named("NAdam", 0.002, lambda momentum: {"betas": (momentum, 0.999)}),
    "radam": Named("RAdam", 0.001, lambda momentum: {"betas": (momentum, 0.999)}),
    "rmsprop": Named("RMSprop", 0.01, lambda momentum: {}),
}
# A number that is not finite stays in their parameters or their state, whatever comes later.
SPREADING = ("SGD", "Adagrad", "Adadelta", "Adam", "AdamW", "NAdam", "RAdam", "RMSprop", "Adamax", "ASGD")
TRIES = ("LBFGS",)  # torch's optimizers that evaluate the loss more than once in a step


def make_optimizer(given: Any, module: Module, eta: float, momentum: float) -> Optimizer:
    """The optimizer of a module, which moves all parameters that are to be learned."""
    torch = load_torch()
    own = torch.optim.Optimizer
    trainable = [one for one in module.parameters() if one.requires_grad]
    if not trainable:
        raise BadValue("no parameter of the module requires a gradient, so there is nothing to learn")
    if isinstance(given, str):
        if given not in NAMES:
            raise BadValue(f"optimizer must be a torch optimizer or one of {', '.join(NAMES)}, not {given!r}"
                           f"{suggestion(given, NAMES)}")  # fmt: skip
        named = NAMES[given]
        made = getattr(torch.optim, named.made)(trainable, lr=eta or named.eta, **named.options(momentum))
    elif isinstance(given, own):
        made = given
    elif callable(given):
        made = call_factory(given, trainable, eta)
    else:
        raise BadValue("optimizer must be a name such as 'adam', a class such as torch.optim.Adam, or a function of "
                       f"the parameters, not {shown(given)}")  # fmt: skip
    if eta and not isinstance(given, (str, type)):
        raise BadValue("eta is for optimizers by name or by class; give yours its rate where you make it")
    check_optimizer(made, module)
    return made


def call_factory(given: Any, trainable: list[Any], eta: float) -> Any:
    """Make an optimizer by a class or a function of the caller."""
    try:
        made = given(trainable, lr=eta) if eta and isinstance(given, type) else given(trainable)
    except Exception as error:
        raise BadValue(f"the optimizer {name_of(given)} cannot be made of the parameters: {error}") from error
    if not isinstance(made, load_torch().optim.Optimizer):
        raise BadValue(f"optimizer must make a torch optimizer, and {name_of(given)} made {shown(made)}")
    return made


def check_optimizer(optimizer: Optimizer, module: Module) -> None:
    """Refuse an optimizer that does not move all that is to be learned, or not in one step."""
    moved = name_parameters(optimizer, module)
    inside = {id(one) for group in optimizer.param_groups for one in group["params"]}
    trainable = {name: one for name, one in module.named_parameters() if one.requires_grad}
    skipped = [name for name, one in trainable.items() if id(one) not in inside]
    if skipped and moved:
        raise BadValue(f"the optimizer skips {len(skipped)} of {len(trainable)} parameters, {skipped[0]} among them; "
                       "give it all of them, or freeze those by requires_grad_(False)")  # fmt: skip
    if type(optimizer).__name__ in TRIES:
        raise BadValue(f"{type(optimizer).__name__} evaluates the loss several times in a step, and a round has one; "
                       "use another optimizer, such as 'adam'")  # fmt: skip


def keeps_faults(optimizer: Optimizer) -> bool:
    """Whether a number that is not finite would still be found after later steps."""
    made = type(optimizer)
    return made.__module__.startswith("torch.optim") and made.__name__ in SPREADING


# ---- in model files --------------------------------------------------------------------------------------------------


def describe_optimizer(given: Any) -> Any:
    """What a header says of the optimizer: its name, the class of torch, or the name of a function of the caller."""
    if isinstance(given, str):
        return given
    made = given if isinstance(given, type) else type(given)
    torch = load_torch()
    if issubclass(made, torch.optim.Optimizer) and getattr(torch.optim, made.__name__, None) is made:
        return {"class" if isinstance(given, type) else "instance": made.__name__}
    return {"own": name_of(given)}


def find_class(name: str) -> type[Any]:
    """A class of optimizers of torch by its name."""
    base = load_torch().optim.Optimizer
    made = getattr(load_torch().optim, name, None) if name.isidentifier() else None
    if not (isinstance(made, type) and issubclass(made, base) and made is not base):
        raise corrupt("its optimizer is none of torch")
    return made


def rebuild_optimizer(name: Any, groups: Any, module: Module) -> Optimizer:
    """An optimizer of a class of torch, with the groups of parameters that a header tells of."""
    made, by_name = find_class(name), dict(module.named_parameters())
    if not isinstance(groups, list) or not groups:
        raise corrupt("the groups of its optimizer must be tables")
    found = []
    for group in groups:
        names = group.get("params") if isinstance(group, dict) else None
        if (
            not isinstance(names, list)
            or not names
            or not all(isinstance(one, str) and one in by_name for one in names)
        ):
            raise BadValue("the optimizer of the model moves other parameters than the module given has; give one of "
                           "the same layers")  # fmt: skip
        found.append({"params": [by_name[one] for one in names]})
    try:
        return made(found)
    except (TypeError, ValueError) as error:
        raise corrupt(f"its optimizer cannot be made: {error}") from None
