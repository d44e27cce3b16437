"""Densities that are cut off, and files of densities that others wrote: all or nothing."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

import noregret as nr
from noregret.learner.model_file import FORMAT, KEY, digest, pack, unpack
from tests.support.cover import only_in_test_all
from tests.support.interrupts import interrupted_at_every_line

X = np.random.default_rng(1).normal(size=(30, 2)) + np.repeat([[0.0, 0.0], [9.0, 9.0]], 15, axis=0)[::-1]
MAKERS: dict[str, Callable[[], Any]] = {
    "mixture": lambda: nr.make("mixture", k=2, batch=8, start=16, native=False),
    "waiting": lambda: nr.make("mixture", k=2, batch=8, start=32, native=False),
    "diagonal": lambda: nr.make("mixture", k=2, batch=8, start=16, shape="diagonal", native=False),
    "merged": lambda: nr.make("kernel_density", budget=6, batch=8, native=False),
    "sampled": lambda: nr.make("kernel_density", budget=6, batch=8, policy="random", native=False),
}
ACTS: dict[str, Callable[[Any], Any]] = {
    "play": lambda learner: learner.play(X[20:]),
    "flush": lambda learner: learner.flush(),
    "describe": lambda learner: learner.describe_results(),
}


@pytest.mark.parametrize(("name", "act", "file"), [
    ("mixture", "play", "gaussian_components.py"), ("sampled", "play", "kernel_supports.py"),
    ("waiting", "describe", "mixture.py"),
    pytest.param("merged", "play", "kernel_supports.py", marks=only_in_test_all),
    pytest.param("waiting", "flush", "gaussian_components.py", marks=only_in_test_all),
    pytest.param("diagonal", "play", "gaussian_scores.py", marks=only_in_test_all),
    pytest.param("mixture", "play", "mixture.py", marks=only_in_test_all),
    pytest.param("sampled", "play", "kernel_density.py", marks=only_in_test_all),
    pytest.param("merged", "play", "density_learner.py", marks=only_in_test_all),
])  # fmt: skip
def test_a_call_that_is_cut_off_changes_all_or_nothing(name: str, act: str, file: str) -> None:
    before = MAKERS[name]().learn(X[:26])

    def prepare() -> tuple[Any, Callable[[], Any]]:
        learner = before.copy()
        return learner, lambda: ACTS[act](learner)

    whole, does = prepare()
    does()
    for learner in interrupted_at_every_line(prepare, f"decomposition/{file}", KeyboardInterrupt):
        assert pack(learner) in (pack(before), pack(whole))
        learner.learn(X)


def broken(learner: Any, name: str, change: Callable[[Any], Any]) -> bytes:
    """A file of which one entry is another, with the right checksum."""
    header, arrays = learner.dump()
    where = header["state"] if name in header["state"] else arrays
    key = name if where is not arrays else f"state.{name}"
    where[key] = change(where[key])
    text = json.dumps({"format": FORMAT, "kind": learner.kind, **header})
    content: bytes = save(dict(arrays), metadata={KEY: text, "sha256": digest(text, arrays)})
    return content


def changed(at: Any, value: float) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        new = array.copy()
        new[at] = value
        return new

    return change


CONTRADICTIONS: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("mixture", "weights", changed(0, -0.5)), ("mixture", "weights", lambda it: 2.0 * it),
    ("mixture", "weights", lambda it: np.ones(1)), ("mixture", "means", changed((0, 0), np.nan)),
    ("mixture", "means", lambda it: it[:, :1].copy()), ("mixture", "spreads", changed((0, 1, 1), -1.0)),
    ("mixture", "spreads", lambda it: it[0].copy()), ("mixture", "squares", changed(0, -1.0)),
    ("mixture", "mean", lambda it: it.astype(np.float32)), ("mixture", "waiting", lambda it: np.zeros((3, 2))),
    ("mixture", "count", lambda it: 0), ("mixture", "effective", lambda it: 1e9),
    ("mixture", "effective", lambda it: 0),
    ("waiting", "waiting", lambda it: it[1:].copy()), ("waiting", "waiting", lambda it: it[:, :1].copy()),
    ("diagonal", "spreads", lambda it: np.zeros((2, 2, 2))), ("diagonal", "spreads", changed((1, 0), -1e-9)),
    ("merged", "weights", changed(0, 0.5)), ("merged", "weights", lambda it: it + 1.0),
    ("merged", "points", lambda it: it[:, :1].copy()), ("merged", "points", changed((0, 0), np.inf)),
    ("merged", "spreads", changed((0, 0, 0), -1.0)), ("merged", "spreads", lambda it: it[:, 0].copy()),
    ("merged", "count", lambda it: it + 1), ("sampled", "count", lambda it: 2),
    ("sampled", "weights", lambda it: 2.0 * it), ("sampled", "points", lambda it: it[1:].copy()),
]  # fmt: skip


@pytest.mark.parametrize(("name", "entry", "change"), CONTRADICTIONS)
def test_files_that_contradict_themselves_are_refused(name: str, entry: str, change: Callable[[Any], Any]) -> None:
    learner = MAKERS[name]().learn(X[:26])
    unpack(broken(learner, entry, lambda it: it), "m.nr")
    with pytest.raises(nr.Error, match=r"m\.nr: "):
        unpack(broken(learner, entry, change), "m.nr")
