"""Losses of torch modules: by name, or a torch loss of the caller; and what they compare an output with."""

from collections.abc import Callable
from typing import Any, NamedTuple

from noregret.errors import BadValue, shown
from noregret.neural.modules.tensors import Tensor, load_torch
from noregret.rules.parameters import suggestion

INDEX, ZERO_ONE, SIGN, REAL = "index", "zero_one", "sign", "real"  # what a loss compares an output with


class Loss(NamedTuple):
    """A loss, what it compares an output with, and its name where it has one."""

    function: Callable[[Tensor, Tensor], Tensor]
    target: str
    name: str | None


def hinge(output: Tensor, target: Tensor) -> Tensor:
    """The hinge loss of one output, whose target is -1 or 1."""
    return (1.0 - target * output).clamp(min=0.0).mean()


NAMES = {  # by name: the function of torch, and its target
    "cross_entropy": ("cross_entropy", INDEX),
    "nll": ("nll_loss", INDEX),
    "multi_margin": ("multi_margin_loss", INDEX),
    "binary_cross_entropy": ("binary_cross_entropy_with_logits", ZERO_ONE),
    "soft_margin": ("soft_margin_loss", SIGN),
    "mse": ("mse_loss", REAL),
    "l1": ("l1_loss", REAL),
    "huber": ("huber_loss", REAL),
    "smooth_l1": ("smooth_l1_loss", REAL),
}
CLASSES = {  # of torch.nn, which mean these names where they have no options
    "CrossEntropyLoss": "cross_entropy", "NLLLoss": "nll", "MultiMarginLoss": "multi_margin",
    "BCEWithLogitsLoss": "binary_cross_entropy", "SoftMarginLoss": "soft_margin", "MSELoss": "mse", "L1Loss": "l1",
    "HuberLoss": "huber", "SmoothL1Loss": "smooth_l1",
}  # fmt: skip
BY_OUTPUTS = {"log": ("binary_cross_entropy", "cross_entropy"), "hinge": ("hinge", "multi_margin")}
EVERY = (*NAMES, *BY_OUTPUTS)


def check_loss(given: Any) -> Any:
    """A name, or a function of an output and a target; None stands for the usual loss of the task."""
    if given is None or (isinstance(given, str) and given in EVERY):
        return given
    if isinstance(given, str):
        raise BadValue(
            f"loss must be a torch loss or one of {', '.join(EVERY)}, not {given!r}{suggestion(given, EVERY)}"
        )
    if isinstance(given, type) or not callable(given):
        raise BadValue(f"loss must be a torch loss such as torch.nn.CrossEntropyLoss(), not {shown(given)}")
    name = name_of_torch(given)
    if name is None and isinstance(given, load_torch().nn.Module) and list(given.parameters()):
        raise BadValue("the loss has parameters of its own; put them into the module, so that they are learned")
    return given if name is None else name


def name_of_torch(given: Any) -> str | None:
    """The name of a loss that is one of torch's own, without options."""
    torch = load_torch()
    for name, (function, _) in NAMES.items():
        if given is getattr(torch.nn.functional, function):
            return name
    made = type(given).__name__
    if made not in CLASSES or type(given) is not getattr(torch.nn, made):
        return None
    return CLASSES[made] if vars(given) == vars(type(given)()) | {"training": given.training} else None


def choose_loss(given: Any, real: bool, outputs: int) -> Loss:
    """The loss of a module with so many outputs; `real` where targets are numbers and no classes."""
    if given is None:
        given = "mse" if real else "log"
    if given in BY_OUTPUTS and not real:
        given = BY_OUTPUTS[given][outputs > 1]
    usual = REAL if real else INDEX if outputs > 1 else ZERO_ONE
    if given == "hinge":
        return Loss(hinge, SIGN, "hinge")
    if not isinstance(given, str):
        signs = ("SoftMarginLoss", "HingeEmbeddingLoss")
        return Loss(given, SIGN if usual == ZERO_ONE and type(given).__name__ in signs else usual, None)
    function, target = NAMES.get(given, ("", ""))
    if target != usual and not (target == SIGN and usual == ZERO_ONE):
        fits = {REAL: "targets", INDEX: "classes, with an output for each", ZERO_ONE: "two classes, with one output"}
        needed = "regression" if real else f"classes, with {outputs} output{'s' if outputs > 1 else ''}"
        raise BadValue(f"the loss {given!r} does not suit {needed}; for {fits[usual]} there are "
                       f"{', '.join(suitable(usual))}")  # fmt: skip
    return Loss(getattr(load_torch().nn.functional, function), target, given)


def suitable(target: str) -> list[str]:
    """The names of losses for outputs of a kind."""
    found = [name for name, (_, one) in NAMES.items() if one == target or (one == SIGN and target == ZERO_ONE)]
    return found if target == REAL else [*BY_OUTPUTS, *found]
