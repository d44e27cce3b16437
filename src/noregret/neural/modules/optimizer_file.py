"""The state of a torch optimizer in a model file: its groups with their options, and what it keeps of each parameter.

    header, arrays = dump_optimizer(optimizer, net)
    restore_optimizer(optimizer, net, header, arrays)

Parameters are told by their names in the module. Numbers stand in the header; tensors are arrays. What an optimizer
keeps is known by letting a copy of it take a step along gradients of zero: a file can have nothing else.
"""

import copy
from typing import Any

from noregret.errors import BadValue, shown
from noregret.learner.header_fields import corrupt
from noregret.learner.model_file import Arrays, Header
from noregret.neural.modules.module_file import Module
from noregret.neural.modules.tensors import Tensor, dump_tensors, load_torch, restore_tensor

Optimizer = Any
State = dict[str, Any]
NOT_NEGATIVE = (
    "step", "exp_avg_sq", "max_exp_avg_sq", "exp_inf", "sum", "square_avg", "acc_delta", "row_var", "col_var",
    "variance", "eta", "mu",
)  # fmt: skip
HOW = ("foreach", "fused", "capturable", "differentiable")  # how steps are computed, which a file does not decide


# ---- out -------------------------------------------------------------------------------------------------------------


def name_parameters(optimizer: Optimizer, module: Module) -> dict[int, str]:
    """The names of the parameters of an optimizer, by their identity; all of them must be of the module."""
    names = {id(one): name for name, one in module.named_parameters()}
    strange = [one for group in optimizer.param_groups for one in group["params"] if id(one) not in names]
    if strange:
        raise BadValue(f"the optimizer has a parameter of shape {tuple(strange[0].shape)} that the module "
                       f"{type(module).__name__} does not have; make it of module.parameters()")  # fmt: skip
    return names


def dump_optimizer(optimizer: Optimizer, module: Module) -> tuple[Header, Arrays]:
    """The groups and the numbers of an optimizer, as a header, and the tensors it keeps."""
    names = name_parameters(optimizer, module)
    groups = [
        {
            "params": [names[id(one)] for one in group["params"]],
            "options": {
                key: to_plain(key, value) for key, value in group.items() if key not in ("params", "param_names")
            },
        }
        for group in optimizer.param_groups
    ]
    tensors: dict[str, Tensor] = {}
    numbers: dict[str, State] = {}
    for parameter, state in optimizer.state.items():
        name = names[id(parameter)]
        numbers[name] = {key: to_plain(key, one) for key, one in state.items() if not is_tensor(one)}
        tensors |= {f"{name}:{key}": one for key, one in state.items() if is_tensor(one)}
    types, arrays = dump_tensors(tensors)
    return {"groups": groups, "numbers": numbers, "tensors": types}, arrays


def is_tensor(value: Any) -> bool:
    return isinstance(value, load_torch().Tensor)


def to_plain(key: str, value: Any) -> Any:
    """A number, a truth value, None, or a list of such."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [to_plain(key, one) for one in value]
    raise BadValue(f"the optimizer keeps {shown(value)} as {key!r}, which cannot be saved; numbers and tensors can")


# ---- in --------------------------------------------------------------------------------------------------------------


def restore_optimizer(optimizer: Optimizer, module: Module, header: Any, arrays: Arrays) -> None:
    """Give an optimizer of this module the state of a file, all checked before any of it is set."""
    read_optimizer(optimizer, module, header, arrays).write()


class ReadOptimizer:
    """What was read for an optimizer; `write` sets it."""

    def __init__(self, optimizer: Optimizer, options: list[State], states: dict[Tensor, State]) -> None:
        self.optimizer, self.options, self.states = optimizer, options, states

    def write(self) -> None:
        """Set the options of all groups, and what is kept of every parameter."""
        for group, options in zip(self.optimizer.param_groups, self.options, strict=True):
            group.update(options)
        self.optimizer.state.clear()
        self.optimizer.state.update(self.states)


def read_optimizer(optimizer: Optimizer, module: Module, header: Any, arrays: Arrays) -> ReadOptimizer:
    """What a file says of an optimizer, checked and not yet set."""
    names = name_parameters(optimizer, module)
    if not isinstance(header, dict) or not isinstance(header.get("numbers"), dict):
        raise corrupt("the header of its optimizer must be a table")
    options = read_groups(optimizer, names, header.get("groups"))
    numbers, types = header["numbers"], header.get("tensors")
    if not isinstance(types, dict) or set(types) != set(arrays):
        raise corrupt("the tensors of its optimizer are not those that its header names")
    by_name = {name: one for name, one in module.named_parameters() if id(one) in names}
    if not numbers:
        if types:
            raise corrupt("its optimizer keeps tensors of no parameter")
        return ReadOptimizer(optimizer, options, {})
    expected = take_empty_step(optimizer, module, options)
    states: dict[Tensor, State] = {}
    used: set[str] = set()
    for name in by_name:  # in the order of the module: a file made of the state again is the same
        if name not in numbers:
            continue
        if name not in expected:
            raise corrupt(f"its optimizer keeps something of {name}, which it does not change")
        states[by_name[name]], keys = read_state(name, numbers[name], types, arrays, expected[name])
        used |= keys
    if used != set(types) or len(states) != len(numbers):
        raise corrupt("its optimizer keeps something of a parameter that it does not have")
    return ReadOptimizer(optimizer, options, states)


def read_groups(optimizer: Optimizer, names: dict[int, str], saved: Any) -> list[State]:
    """The options of every group: as many groups, of the same parameters, with options of the same types."""
    groups = optimizer.param_groups
    if not isinstance(saved, list) or not all(isinstance(one, dict) for one in saved):
        raise corrupt("the groups of its optimizer must be tables")
    given = [[names[id(one)] for one in group["params"]] for group in groups]
    if [one.get("params") for one in saved] != given:
        raise BadValue(f"the optimizer {type(optimizer).__name__} has its parameters in other groups than the one that "
                       "was saved; make it in the same way")  # fmt: skip
    found = []
    for group, one in zip(groups, saved, strict=True):
        own = {key: value for key, value in group.items() if key not in ("params", "param_names")}
        options = one.get("options")
        if not isinstance(options, dict) or set(options) != set(own):
            raise BadValue(f"the optimizer {type(optimizer).__name__} has other options than the one that was saved; "
                           "make it in the same way, with the same version of torch")  # fmt: skip
        found.append({
            key: value if key in HOW else read_option(key, options[key], value) for key, value in own.items()
        })  # fmt: skip
    check_options(optimizer, found)
    return found


def read_option(key: str, value: Any, like: Any) -> Any:
    """An option of a group, of the type of the option in use."""
    if isinstance(like, (list, tuple)):
        if not isinstance(value, list) or len(value) != len(like):
            raise corrupt(f"the option {key} of its optimizer must be {len(like)} numbers")
        return type(like)(read_option(key, one, other) for one, other in zip(value, like, strict=True))
    if isinstance(like, bool) or like is None:
        fits = value is None or isinstance(value, bool)
    else:
        fits = not isinstance(value, bool) and isinstance(value, (int, float)) and abs(value) < float("inf")
    if not fits:
        raise corrupt(f"the option {key} of its optimizer cannot be {shown(value)}")
    return value


def check_options(optimizer: Optimizer, options: list[State]) -> None:
    """Let the optimizer itself check the options, where it is one of torch's own."""
    import inspect

    made = type(optimizer)
    if made.__module__.partition(".")[0] != "torch":
        return
    takes = inspect.signature(made).parameters
    for one in options:
        try:
            made([load_torch().zeros(1)], **{key: value for key, value in one.items() if key in takes})
        except (ValueError, TypeError, RuntimeError) as error:
            raise corrupt(f"the options of its optimizer are refused: {error}") from None


def take_empty_step(optimizer: Optimizer, module: Module, options: list[State]) -> dict[str, State]:
    """What an optimizer with these options keeps of every parameter after a step along gradients of zero."""
    torch = load_torch()
    twin_module, twin = copy.deepcopy((module, optimizer))
    for group, one in zip(twin.param_groups, options, strict=True):
        group.update(one)
    twin.state.clear()
    by_name = dict(twin_module.named_parameters())
    for parameter in by_name.values():
        parameter.grad = torch.zeros_like(parameter)
    try:
        twin.step()
    except Exception as error:  # torch checks some options only here
        raise corrupt(f"the options of its optimizer are refused: {error}") from None
    return {name: dict(twin.state[one]) for name, one in by_name.items() if one in twin.state}


def read_state(name: str, numbers: Any, types: State, arrays: Arrays, like: State) -> tuple[State, set[str]]:
    """What is kept of one parameter, and the names of the tensors that were used for it."""
    if not isinstance(numbers, dict):
        raise corrupt(f"what its optimizer keeps of {name} must be a table")
    found: State = {}
    used: set[str] = set()
    for key, one in like.items():
        if is_tensor(one):
            full = f"{name}:{key}"
            if full not in types:
                raise corrupt(f"its optimizer has no {key} of {name}")
            used.add(full)
            made = restore_tensor(full, types[full], arrays[full], one, "the optimizer")
            wrong = key in NOT_NEGATIVE and bool((made < 0).any())
        else:
            if key not in numbers:
                raise corrupt(f"its optimizer has no {key} of {name}")
            made = read_option(key, numbers[key], one)
            wrong = key in NOT_NEGATIVE and made is not None and made < 0
        if wrong:
            raise corrupt(f"{key} of {name} in its optimizer is negative")
        found[key] = made
    if not set(numbers) <= set(like):
        raise corrupt(f"its optimizer keeps more of {name} than it can")
    return found, used
