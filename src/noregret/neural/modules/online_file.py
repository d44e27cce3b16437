"""A learner that trains a module in the model file: its numbers and names; the module is given again to load it."""

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from noregret.algebra.partial_features import PRIME
from noregret.errors import BadValue
from noregret.features.transforms import as_pipeline
from noregret.learner.finder import name_of
from noregret.learner.header_fields import LARGEST_COUNT, corrupt, read_count, read_list, read_number
from noregret.learner.model import Model
from noregret.learner.model_file import Arrays, FindCard, Header
from noregret.learner.outside_rounds import dump_outside, restore_outside
from noregret.neural.modules.module_file import check_module, dump_module, read_module
from noregret.neural.modules.module_losses import EVERY
from noregret.neural.modules.module_optimizers import describe_optimizer, find_class, rebuild_optimizer
from noregret.neural.modules.optimizer_file import dump_optimizer, read_optimizer
from noregret.neural.modules.random_numbers import dump_random, restore_random
from noregret.neural.modules.remembered_rounds import (
    RememberedRounds,
    Round,
    as_rounds,
    dump_rounds,
    restore_rounds,
)
from noregret.neural.modules.tensors import load_torch
from noregret.neural.modules.trained_module import Floats, TrainedModule
from noregret.neural.net import ANCHORED, RANDOM, REMEMBERED, STEPS, TARGET_SQUARES, TARGETS
from noregret.neural.network import COUNTERS

if TYPE_CHECKING:
    from noregret.neural.modules.online import Online

Learner = TypeVar("Learner", bound="Online")
TABLES = ("params", "options", "reader", "state", "module", "optimizer")
READERS = ("classes", "class_weight")  # options that the file has in what it says of the reader


# ---- out -------------------------------------------------------------------------------------------------------------


def dump(learner: "Online") -> tuple[Header, Arrays]:
    """The header and the arrays of a learner."""
    net, loss = learner.net, learner.given_loss
    reader, of_reader = dump_outside(learner.reader)
    module, of_module = dump_module(net.module)
    optimizer, of_optimizer = dump_optimizer(net.optimizer, net.module)
    options = {name: value for name, value in learner.reader_options.items() if name not in READERS}
    if "transforms" in options:
        options["transforms"] = [str(step) for step in as_pipeline(options["transforms"])]
    shape = learner.own_options["shape"]
    header: Header = {
        "module": {"name": name_of(net.module), **module},
        "loss": loss if loss is None or isinstance(loss, str) else {"own": name_of(loss)},
        "optimizer": {"made": describe_optimizer(learner.given_optimizer), **optimizer},
        "params": learner.given_params,
        "options": {**options, "integers": learner.own_options["integers"], "shape": shape and list(shape)},
        "reader": reader,
        "state": {
            "shape": None if net.shape is None else list(net.shape),
            "sign": net.sign,
            "counters": net.counters.tolist(),
            "pending": len(net.pending),
        },
        **learner.dump_counts(),
    }
    parts = {"reader": of_reader, "module": of_module, "optimizer": of_optimizer}
    if net.consolidation is not None:
        header["anchor"], parts["anchor"] = net.consolidation.dump(net.names)
    arrays = {f"{part}/{name}": values for part, found in parts.items() for name, values in found.items()}
    arrays |= dump_random(net.random) | dump_rounds("pending", list(net.pending))
    return header, arrays | dump_rounds("memory", as_rounds(net.memory, remembered(net)))


def remembered(net: TrainedModule) -> int:
    """How many rounds are in the memory."""
    return min(int(net.counters[REMEMBERED]), net.plan.replay)


# ---- in --------------------------------------------------------------------------------------------------------------


def restore(cls: type[Learner], header: Header, arrays: Arrays, find_card: FindCard) -> Learner:
    """A learner with the module of the caller, which takes the numbers of the file when all are checked."""
    params, options, saved, state, described, made = (read_table(header, name) for name in TABLES)
    reader = restore_outside(cls.card.name, saved, part_of(arrays, "reader/"), find_card)
    own = {name: value for name, value in reader.config.given.items() if name in READERS}
    module = check_module(find_card.find_module(described.get("name")))
    values = read_module(module, described, part_of(arrays, "module/"))
    loss, optimizer = find_loss(header.get("loss"), find_card), find_optimizer(made, module, find_card)
    try:
        new: Learner = cls(module, loss, optimizer, **params, **options, **own)
    except TypeError as error:
        raise corrupt(str(error)) from None
    if new.reader.config.given != reader.config.given or new.params != params:
        raise corrupt("its reader is not that of its options")
    new.reader = reader
    new.restore_counts(header)
    if (new.rounds, new.updates, new.mistakes) != reader.counts():
        raise corrupt("its counts do not agree")
    net = new.net
    before = read_optimizer(net.optimizer, module, made, part_of(arrays, "optimizer/"))
    restore_net(net, reader, state, arrays)
    if net.consolidation is not None:
        net.consolidation.restore(net.names, header.get("anchor"), part_of(arrays, "anchor/"))
    values.write()
    before.write()
    return new


def read_table(header: Header, name: str) -> Header:
    found = header.get(name)
    if not isinstance(found, dict):
        raise corrupt(f"{name} must be a table")
    return found


def part_of(arrays: Arrays, start: str) -> Arrays:
    """The arrays under a name."""
    return {name.removeprefix(start): values for name, values in arrays.items() if name.startswith(start)}


def find_loss(saved: Any, find_card: FindCard) -> Any:
    """The loss by its name, or the function of the caller."""
    if saved is None or (isinstance(saved, str) and saved in EVERY):
        return saved
    if not isinstance(saved, dict) or not isinstance(saved.get("own"), str):
        raise corrupt("its loss must be a name")
    return find_card.find_given("loss", saved["own"])


def find_optimizer(saved: Header, module: Any, find_card: FindCard) -> Any:
    """The optimizer by its name, a class of torch, or the function of the caller."""
    made = saved.get("made")
    if isinstance(made, str):
        return made
    if not isinstance(made, dict) or len(made) != 1 or not isinstance(next(iter(made.values())), str):
        raise corrupt("its optimizer must be a name")
    how, name = next(iter(made.items()))
    if how == "own":
        return find_card.find_given("optimizer", name)
    return rebuild_optimizer(name, saved.get("groups"), module) if how == "instance" else find_class(name)


def restore_net(net: TrainedModule, reader: Model, state: Header, arrays: Arrays) -> None:
    """What is kept of rounds, all checked."""
    learned = reader.space is not None
    counters = np.array([read_number(value, "counters") for value in read_list(state, "counters")])
    if not are_counters(counters):
        raise corrupt("the counters of its module do not fit")
    sign, shape = state.get("sign"), state.get("shape")
    if sign not in (1.0, -1.0) or isinstance(sign, bool):
        raise corrupt("the sign of its output must be 1 or -1")
    if net.shape is None and shape is not None:
        from noregret.neural.modules.online_options import check_shape

        if not isinstance(shape, list) or len(shape) != 1 or check_shape(shape) is None:
            raise corrupt("the shape of its rows does not fit")
        net.set_up(shape[0])
    if learned and (not net.outputs or reader.algebra not in ("sparse", "dense")):
        raise corrupt("it has learned, and the shape of its rows is missing")
    net.counters, net.sign = counters, float(sign)
    net.random = restore_random(arrays, net.plan.seed, net.device)
    if not net.outputs:
        return
    if len(reader.labels) > max(net.outputs, 2) or (reader.task.many and net.outputs < 2):
        raise BadValue(f"the model has {len(reader.labels)} classes, and the module given has {net.outputs} outputs")
    if learned and reader.known_space.features > net.features:
        raise BadValue(f"the model has {reader.known_space.features} features, and the module takes {net.features}")
    restore_kept_rounds(net, state, arrays)


def restore_kept_rounds(net: TrainedModule, state: Header, arrays: Arrays) -> None:
    """The rounds of the incomplete mini-batch, and those that are remembered."""
    torch = load_torch()
    x = torch.zeros((1, *(net.shape or ())), dtype=net.dtype, device=net.device)
    like = Round(x, torch.zeros((1, *net.target_shape), dtype=net.target_dtype, device=net.device), 1.0)
    count = read_count(state, "pending", net.plan.batch - 1)
    net.pending = tuple(restore_rounds("pending", arrays, count, like, net.outputs))
    rounds = restore_rounds("memory", arrays, remembered(net), like, net.outputs)
    if rounds:
        net.memory = RememberedRounds(net.plan.replay, like)
        for place, one in enumerate(rounds):
            net.memory.put(place, one)
        net.memory.overwritten = []


def are_counters(counters: Floats) -> bool:
    """Whether numbers can be the counters of a module."""
    if len(counters) != COUNTERS:
        return False
    whole = counters[[STEPS, REMEMBERED, RANDOM, ANCHORED]]
    return bool(
        (whole == np.floor(whole)).all() and (counters[[TARGETS, TARGET_SQUARES]] >= 0.0).all() and whole.min() >= 0.0
        and whole.max() < LARGEST_COUNT and 1.0 <= counters[RANDOM] < PRIME and counters[ANCHORED] <= counters[STEPS]
    )  # fmt: skip
