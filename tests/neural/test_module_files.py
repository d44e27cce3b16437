"""Modules in model files: numbers and names, never code; a module that does not fit is refused and left as it was."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import noregret as nr
from noregret.learner.model_file import FORMAT, KEY, digest, unpack
from noregret.torch import (
    ModuleSavepoint,
    Online,
    dump_module,
    dump_optimizer,
    load,
    restore_module,
    restore_optimizer,
)
from tests.conformance.protocol import state
from tests.support import refusal, small_stream
from tests.support.cover import ALL, only_in_test_all

torch.set_num_threads(1)
nn, optim = torch.nn, torch.optim
X, Y = small_stream(rows=20)
CLASSES = ["a", "b", "c", "d"] * 5
TYPES = (torch.float32, torch.float64, torch.bfloat16)
USUAL = ("SGD", "Adam", "Adagrad", "Rprop")
EVERY = (
    "SGD", "Adam", "AdamW", "Adamax", "Adagrad", "Adadelta", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop", "Adafactor",
)  # fmt: skip


def net(outputs: int = 4, dtype: Any = torch.float32) -> Any:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Tanh(), nn.Linear(3, outputs)).to(dtype)


def teach(module: Any, optimizer: Any, seed: int = 0) -> None:
    torch.manual_seed(seed)
    for _ in range(3):
        x = torch.randn(5, 4).to(module[0].weight.dtype)
        optimizer.zero_grad()
        nn.functional.cross_entropy(module(x), torch.tensor([0, 1, 2, 3, 0])).backward()
        optimizer.step()


def numbers(module: Any, optimizer: Any) -> list[bytes]:
    _, own = dump_module(module)
    header, kept = dump_optimizer(optimizer, module)
    arrays = {**own, **kept}
    return [json.dumps(header).encode(), *(arrays[name].tobytes() for name in sorted(arrays))]


# ---- modules and optimizers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY if ALL else USUAL)
@pytest.mark.parametrize("dtype", TYPES)
def test_a_module_and_its_optimizer_go_through_headers_and_arrays(name: str, dtype: Any) -> None:
    make = getattr(optim, name)
    module = net(dtype=dtype)
    optimizer = make(module.parameters(), lr=0.01)
    teach(module, optimizer)
    header, arrays = dump_module(module)
    told, kept = dump_optimizer(optimizer, module)
    other = net(dtype=dtype)
    its = make(other.parameters())
    restore_module(other, json.loads(json.dumps(header)), arrays)
    restore_optimizer(its, other, json.loads(json.dumps(told)), kept)
    assert numbers(other, its) == numbers(module, optimizer)
    before, savepoint = numbers(module, optimizer), ModuleSavepoint(module, optimizer)
    for _ in range(2):
        teach(module, optimizer, 1)
        assert numbers(module, optimizer) != before
        savepoint.rollback()
        savepoint.rollback()
        assert numbers(module, optimizer) == before
    teach(module, optimizer, 1)
    teach(other, its, 1)
    assert numbers(other, its) == numbers(module, optimizer)


def test_tied_parameters_and_masks_are_kept_once_and_as_they_are() -> None:
    class Tied(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
            self.second.weight = self.first.weight
            self.register_buffer("mask", torch.full((2,), -float("inf")))
            self.register_buffer("scratch", torch.zeros(3), persistent=False)

    header, arrays = dump_module(Tied())
    assert sorted(arrays) == ["first.bias", "first.weight", "mask", "second.bias"]
    restore_module(Tied(), header, arrays)


def broken(header: Any, arrays: Any) -> list[tuple[Any, Any, str]]:
    """Changed headers and arrays of an optimizer, with what the error says of them."""
    one = "0.weight:exp_avg_sq"
    group = header["groups"][0]
    nameless = {**header, "groups": [{**group, "params": group["params"][::-1]}]}
    return [
        (header, {**arrays, one: arrays[one][:2]}, "shape"),
        (header, {**arrays, one: arrays[one].astype(np.float64)}, "kept as float64"),
        (header, {**arrays, one: np.full_like(arrays[one], np.nan)}, "not finite"),
        (header, {**arrays, one: -np.ones_like(arrays[one])}, "negative"),
        (header, {**arrays, "0.weight:more": arrays[one]}, "not those that its header names"),
        (header, {name: kept for name, kept in arrays.items() if name != one}, "not those that its header names"),
        ({**header, "groups": []}, arrays, "other groups"),
        (nameless, arrays, "other groups"),
        ({**header, "groups": [{**group, "options": {**group["options"], "lr": -1.0}}]}, arrays, "refused"),
        ({**header, "groups": [{**group, "options": {**group["options"], "lr": "x"}}]}, arrays, "lr"),
        ({**header, "groups": [{**group, "options": {**group["options"], "lr": True}}]}, arrays, "lr"),
        ({**header, "groups": [{**group, "options": {"lr": 0.1}}]}, arrays, "other options"),
        ({**header, "groups": [{**group, "options": {**group["options"], "betas": [0.9]}}]}, arrays, "betas"),
        ({**header, "numbers": {}}, arrays, "no parameter"),
        ({**header, "numbers": {**header["numbers"], "x": {}}}, arrays, "does not have"),
        ({**header, "numbers": {**header["numbers"], "0.weight": {"y": 1}}}, arrays, "more of 0.weight"),
        ({**header, "tensors": {**header["tensors"], one: "int64"}}, arrays, "int64"),
    ]


def test_what_a_file_says_of_an_optimizer_is_checked_before_any_of_it_is_used() -> None:
    module = net()
    optimizer = optim.Adam(module.parameters())
    teach(module, optimizer)
    before = numbers(module, optimizer)
    for header, arrays, told in broken(*dump_optimizer(optimizer, module)):
        message = refusal(lambda header=header, arrays=arrays: restore_optimizer(optimizer, module, header, arrays))  # type: ignore[misc]
        assert told in message
        assert numbers(module, optimizer) == before


# ---- learners --------------------------------------------------------------------------------------------------------


def own_loss(output: Any, target: Any) -> Any:
    return nn.functional.cross_entropy(output, target, label_smoothing=0.1)


def own_optimizer(parameters: Any) -> Any:
    return optim.SGD(parameters, lr=0.1, momentum=0.5)


def test_a_learner_is_loaded_with_a_module_of_the_same_layers(tmp_path: Path) -> None:
    path, module = tmp_path / "net.nr", net()
    groups = [{"params": module[3].parameters(), "lr": 0.2}, {"params": [*module[:2].parameters()]}]
    for optimizer, loss in ((optim.Adagrad, None), (optim.SGD(groups, lr=0.1, momentum=0.5), nn.CrossEntropyLoss())):
        learner = Online(module, loss, optimizer, batch=3).learn(X, CLASSES)
        learner.save(path)
        for given in (nr.load(path, module=net()), load(path, net()), nr.load(path, module={"Sequential": net()})):
            assert state(given) == state(learner)
        given.learn(X, CLASSES)
        assert state(given) == state(learner.copy().learn(X, CLASSES))
    assert "module=Sequential()" in refusal(lambda: nr.load(path), nr.Error)
    own = Online(net(), own_loss, own_optimizer).learn(X[:0], [])
    own.save(path)
    assert "loss 'own_loss', which is yours" in refusal(lambda: nr.load(path, module=net()), nr.Error)
    assert state(load(path, net(), own_loss, own_optimizer)) == state(own)
    nr.make("arow").learn(X, Y).save(path)
    assert "load it by nr.load" in refusal(lambda: load(path, net()))


def test_a_module_that_does_not_fit_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "net.nr"
    Online(net(), "log", "sgd", batch=4).learn(X, CLASSES).save(path)
    wider, deeper = net(5), nn.Sequential(*net(), nn.Linear(4, 4))
    given: list[tuple[Any, str]] = [
        (wider, "3.weight of the module Sequential has the shape (5, 3), and in the file (4, 3)"),
        (deeper, "the file has no '4.bias'"),
        (nn.Sequential(nn.Linear(4, 4)), "the file has '1.bias', which it has not"),
        (net(dtype=torch.float64), "is of float64, and in the file of 'float32'"),
        ({"Sequential": "text"}, "text"),
    ]
    for module, told in given:
        before = None if isinstance(module, dict) else [one.clone() for one in module.state_dict().values()]
        assert told in refusal(lambda module=module: nr.load(path, module=module), nr.Error)  # type: ignore[misc]
        if before is not None:
            assert all(torch.equal(a, b) for a, b in zip(before, module.state_dict().values(), strict=True))


def test_a_hostile_file_is_refused_and_the_module_left_as_it_was() -> None:
    learner = Online(net(), "log", "adam", batch=4, replay=4).learn(X, CLASSES)
    header, arrays = learner.dump()
    weights = arrays["module/0.weight"]
    changes: list[tuple[str, Any]] = [
        ("module/0.weight", np.full_like(weights, np.nan)), ("module/0.weight", weights.astype(np.int32)),
        ("module/0.weight", weights[:1]), ("random", np.full_like(arrays["random"], 255)),
        ("random", arrays["random"][:9]),
        ("pending.targets", arrays["pending.targets"] + 99), ("pending.x", arrays["pending.x"] * np.nan),
        ("memory.weights", -arrays["memory.weights"]), ("memory.targets", arrays["memory.targets"] - 5),
        ("memory.x", arrays["memory.x"][:, :2]), ("optimizer/0.bias:step", np.array(-1.0, np.float32)),
    ]  # fmt: skip
    module = net()
    before = [one.clone() for one in module.state_dict().values()]
    for name, changed in changes:
        parts = {**arrays, name: changed}
        text = json.dumps({"format": FORMAT, "kind": learner.kind, **header})
        content = pack_parts(text, parts)
        message = refusal(lambda content=content: unpack(content, "net.nr", module=module), nr.Error)  # type: ignore[misc]
        assert message.startswith("net.nr: ")
        assert all(torch.equal(a, b) for a, b in zip(before, module.state_dict().values(), strict=True)), name


def test_a_mini_batch_of_a_file_is_never_full() -> None:
    learner = Online(net(), "log", "adam", batch=4).learn(X[:3], CLASSES[:3])
    header, arrays = learner.dump()
    parts = ("pending.x", "pending.targets", "pending.weights")
    longer = {**arrays, **{name: np.concatenate([arrays[name], arrays[name][:1]]) for name in parts}}
    header = {"format": FORMAT, "kind": learner.kind, **header, "state": {**header["state"], "pending": 4}}
    content = pack_parts(json.dumps(header), longer)
    assert "pending must be" in refusal(lambda: unpack(content, "net.nr", module=net()), nr.Error)


def pack_parts(text: str, arrays: Any) -> bytes:
    from safetensors.numpy import save

    return bytes(save(dict(arrays), metadata={KEY: text, "sha256": digest(text, arrays)}))


WRITER = """
import sys, torch
import numpy as np
from noregret.torch import Online
torch.manual_seed(0)
learner = Online(torch.nn.Sequential(torch.nn.Linear(4, 2000), torch.nn.ReLU(), torch.nn.Linear(2000, 200)), "log")
learner.learn(np.ones((2, 4)), [0, 1])
print("ready", flush=True)
while True:
    learner.save(sys.argv[1])
"""


@only_in_test_all
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="POSIX")
def test_a_process_that_is_killed_while_it_saves_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "net.nr"
    for wait in (0.3, 0.37, 0.41):
        with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"ready\n"
            time.sleep(wait)
            os.kill(writer.pid, signal.SIGKILL)
        module = nn.Sequential(nn.Linear(4, 2000), nn.ReLU(), nn.Linear(2000, 200))
        assert load(path, module).rounds == 2


ACTS: dict[str, Callable[[Any], Any]] = {
    "a complex buffer": lambda module: module.register_buffer("z", torch.zeros(2, dtype=torch.complex64)),
}


@pytest.mark.parametrize("name", ACTS)
def test_what_cannot_be_saved_says_so(name: str, tmp_path: Path) -> None:
    module = net()
    ACTS[name](module)
    learner = Online(module, "log", partial(optim.SGD, lr=0.1))
    assert "cannot be saved" in refusal(lambda: learner.save(tmp_path / "net.nr"), nr.Error)
