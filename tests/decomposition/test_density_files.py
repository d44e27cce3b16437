"""Densities that are cut off, and files of densities and clusters that others wrote: all or nothing."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

import noregret as nr
from noregret.decomposition.matrix_rows import FARTHEST
from noregret.learner.model_file import FORMAT, KEY, digest, pack, unpack
from tests.support.cover import only_in_test_all
from tests.support.interrupts import interrupted_at_every_line

X = np.random.default_rng(1).normal(size=(30, 2)) + np.repeat([[0.0, 0.0], [9.0, 9.0]], 15, axis=0)[::-1]
MAKERS: dict[str, Callable[[], Any]] = {
    "gaussian": lambda: nr.make("gaussian", batch=8, native=False),
    "mixture": lambda: nr.make("mixture", k=2, batch=8, start=16, native=False),
    "waiting": lambda: nr.make("mixture", k=2, batch=8, start=32, native=False),
    "diagonal": lambda: nr.make("mixture", k=2, batch=8, start=16, shape="diagonal", native=False),
    "merged": lambda: nr.make("kernel_density", budget=6, batch=8, native=False),
    "sampled": lambda: nr.make("kernel_density", budget=6, batch=8, policy="random", native=False),
    "few": lambda: nr.make("kernel_density", budget=40, batch=8, policy="oldest", shape="diagonal", native=False),
    "kmeans": lambda: nr.make("kmeans", k=3, batch=8, start=16, native=False),
    "one centre": lambda: nr.make("kmeans", k=1, batch=8, start=16, native=False),
    "dictionary": lambda: nr.make("dictionary", k=3, batch=8, native=False),
    "mean": lambda: nr.make("mean_row", batch=8, native=False),
    "centred": lambda: nr.make("pca_incremental", rank=2, batch=8, native=False),
}
ACTS: dict[str, Callable[[Any], Any]] = {
    "play": lambda learner: learner.play(X[20:]),
    "flush": lambda learner: learner.flush(),
    "describe": lambda learner: learner.describe_results(),
}


@pytest.mark.thinned(2)
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


def test_centres_are_read_only_where_there_are_some() -> None:
    learner = MAKERS["kmeans"]().learn(X[:24])
    arrays = {"centres": np.zeros((0, 2)), "counts": np.zeros(0, np.int64)}
    with pytest.raises(nr.Error, match="centres"):
        learner.restore_state({"steps": 1}, arrays, 2)
    with pytest.raises(nr.Error, match="counts"):
        learner.restore_state({"steps": 1}, {"centres": np.zeros((3, 2))}, 2)


def test_rows_are_read_only_where_some_are_kept() -> None:
    learner = MAKERS["merged"]().learn(X[:24])
    arrays = {"points": np.zeros((0, 2)), "weights": np.zeros(0), "spreads": np.zeros((0, 2, 2))}
    with pytest.raises(nr.Error, match="kept"):
        learner.restore_state({"count": 0}, arrays, 2)


def broken(learner: Any, name: str, change: Callable[[Any], Any]) -> bytes:
    """A file of which one entry is another, with the right checksum."""
    header, arrays = learner.dump()
    where = next((part for part in (header["state"], header["params"]) if name in part), arrays)
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


def cut(*parts: slice) -> Callable[[Any], Any]:
    return lambda array: np.ascontiguousarray(array[parts])


def moved(weights: Any) -> Any:
    """Half a row less in the lightest support, and more in the heaviest."""
    new = weights.copy()
    new[weights.argmin()] -= 0.5
    new[weights.argmax()] += 0.5
    return new


LESS, ALL = slice(None, -1), slice(None)
CONTRADICTIONS: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("gaussian", "mean", cut(LESS)), ("gaussian", "scatter", cut(LESS)), ("gaussian", "scatter", cut(ALL, LESS)),
    ("gaussian", "scatter", changed((1, 1), -1e-9)), ("gaussian", "mean", changed(0, np.nan)),
    ("gaussian", "count", lambda it: 0), ("gaussian", "count", lambda it: 25), ("gaussian", "count", lambda it: 23.5),
    ("kmeans", "counts", changed(0, -1)), ("kmeans", "counts", lambda it: it.astype(np.float64)),
    ("kmeans", "counts", lambda it: it[:, None].copy()), ("kmeans", "counts", cut(LESS)),
    ("kmeans", "counts", lambda it: it + 1), ("kmeans", "centres", cut(LESS)), ("kmeans", "centres", cut(ALL, LESS)),
    ("kmeans", "centres", changed((0, 1), 1.1e150)), ("kmeans", "centres", changed((0, 1), -1.1e150)),
    ("kmeans", "steps", lambda it: -1), ("kmeans", "counts", lambda it: 0 * it), ("kmeans", "k", lambda it: 2),
    ("dictionary", "atoms", cut(LESS)), ("dictionary", "atoms", cut(ALL, LESS)),
    ("dictionary", "with_rows", cut(LESS)), ("dictionary", "with_rows", cut(ALL, LESS)),
    ("dictionary", "among_codes", cut(LESS)), ("dictionary", "among_codes", cut(LESS, LESS)),
    ("dictionary", "atoms", lambda it: np.tile([[1.0 + 1e-8, 0.0]], (3, 1))),
    ("dictionary", "among_codes", changed((2, 2), -1e-12)), ("dictionary", "steps", lambda it: -1),
    ("mixture", "weights", changed(0, -0.5)), ("mixture", "weights", lambda it: np.array([-0.5, 1.5])),
    ("mixture", "weights", lambda it: 2.0 * it),
    ("mixture", "weights", lambda it: np.ones(1)), ("mixture", "means", changed((0, 0), np.nan)),
    ("mixture", "means", lambda it: it[:, :1].copy()), ("mixture", "spreads", changed((0, 1, 1), -1.0)),
    ("mixture", "spreads", lambda it: it[0].copy()), ("mixture", "squares", changed(0, -1.0)),
    ("mixture", "mean", lambda it: it.astype(np.float32)), ("mixture", "waiting", lambda it: np.zeros((3, 2))),
    ("mixture", "count", lambda it: 0), ("mixture", "effective", lambda it: 1e9),
    ("mixture", "effective", lambda it: 0), ("mixture", "effective", lambda it: 1e-12),
    ("waiting", "waiting", lambda it: it[1:].copy()), ("waiting", "waiting", lambda it: it[:, :1].copy()),
    ("diagonal", "spreads", lambda it: np.zeros((2, 2, 2))), ("diagonal", "spreads", changed((1, 0), -1e-9)),
    ("merged", "weights", changed(0, 0.5)), ("merged", "weights", lambda it: it + 1.0),
    ("merged", "points", lambda it: it[:, :1].copy()), ("merged", "points", changed((0, 0), np.inf)),
    ("merged", "spreads", changed((0, 0, 0), -1.0)), ("merged", "spreads", lambda it: it[:, 0].copy()),
    ("merged", "budget", lambda it: 2), ("few", "budget", lambda it: 10), ("merged", "weights", moved),
    ("merged", "spreads", cut(ALL, LESS, LESS)), ("merged", "spreads", cut(LESS)), ("merged", "points", cut(LESS)),
    ("sampled", "spreads", lambda it: np.zeros((6, 2, 2))), ("few", "spreads", lambda it: np.zeros((24, 2))),
    ("few", "weights", changed(0, 2.0)), ("few", "count", lambda it: 25), ("few", "count", lambda it: 23),
    ("mixture", "means", cut(LESS)), ("mixture", "mean", cut(LESS)), ("mixture", "squares", cut(LESS)),
    ("mixture", "spreads", cut(ALL, LESS)), ("mixture", "spreads", cut(LESS)), ("mixture", "effective", lambda it: -1),
    ("diagonal", "spreads", cut(LESS)), ("diagonal", "spreads", cut(ALL, LESS)),
    ("mixture", "weights", lambda it: it * (1.0 + 1.1e-6)), ("mixture", "weights", lambda it: it * (1.0 - 1.1e-6)),
    ("mixture", "effective", lambda it: 24.0 * (1.0 + 1.1e-6)),
    ("merged", "count", lambda it: it + 1), ("sampled", "count", lambda it: 2),
    ("gaussian", "mean", changed(1, 1.1e150)), ("mixture", "means", changed((1, 0), -1.1e150)),
    ("mixture", "mean", changed(0, 1.1e150)), ("waiting", "waiting", changed((2, 1), -1.1e150)),
    ("merged", "points", changed((1, 1), 1.1e150)), ("merged", "points", changed((0, 1), -1.1e150)),
    ("centred", "mean", changed(0, -1.1e150)), ("centred", "squares", lambda it: 1e-6 * it),
    ("sampled", "weights", lambda it: 2.0 * it), ("sampled", "points", lambda it: it[1:].copy()),
]  # fmt: skip


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("name", "entry", "change"), CONTRADICTIONS)
def test_files_that_contradict_themselves_are_refused(name: str, entry: str, change: Callable[[Any], Any]) -> None:
    learner = MAKERS[name]().learn(X[:24])
    unpack(broken(learner, entry, lambda it: it), "m.nr")
    with pytest.raises(nr.Error, match=r"m\.nr: "):
        unpack(broken(learner, entry, change), "m.nr")


ALLOWED: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("gaussian", "scatter", lambda it: np.zeros((2, 2))), ("gaussian", "count", lambda it: 1),
    ("kmeans", "counts", lambda it: np.array([0, 1, 0])), ("kmeans", "centres", changed((0, 1), 1e150)),
    ("kmeans", "counts", changed(slice(None), 8)), ("kmeans", "steps", lambda it: 0),
    ("one centre", "steps", lambda it: it),
    ("dictionary", "atoms", lambda it: np.tile([[1.0 + 0.4e-9, 0.0]], (3, 1))),
    ("dictionary", "atoms", lambda it: np.tile([[1.0, np.sqrt(1e-9)]], (3, 1))),
    ("dictionary", "among_codes", lambda it: np.zeros((3, 3))),
    ("mixture", "spreads", lambda it: np.zeros((2, 2, 2))), ("diagonal", "spreads", lambda it: np.zeros((2, 2))),
    ("mixture", "squares", lambda it: np.zeros(2)), ("mixture", "weights", lambda it: np.array([0.0, 1.0])),
    ("mixture", "weights", lambda it: it * (1.0 + 0.9e-6)), ("mixture", "weights", lambda it: it * (1.0 - 0.9e-6)),
    ("mixture", "effective", lambda it: 24.0 * (1.0 + 0.9e-6)), ("mixture", "effective", lambda it: 1.1e-12),
    ("mixture", "effective", lambda it: 24.0 * (1.0 + 1e-6)),
    ("merged", "spreads", lambda it: 0.0 * it),
]  # fmt: skip


@pytest.mark.parametrize(("name", "entry", "change"), ALLOWED)
def test_files_at_the_border_of_what_can_be_are_read(name: str, entry: str, change: Callable[[Any], Any]) -> None:
    unpack(broken(MAKERS[name]().learn(X[:24]), entry, change), "m.nr")


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("name", "entry"), [
    ("gaussian", "mean"), ("centred", "mean"), ("kmeans", "centres"), ("merged", "points"), ("mixture", "means"),
    ("mixture", "mean"), ("waiting", "waiting"), ("mean", "mean"),
])  # fmt: skip
def test_means_are_read_as_far_away_as_rounding_can_put_them(name: str, entry: str, sign: float) -> None:
    """In both directions; rows end at 1e150 themselves."""
    learner = MAKERS[name]().learn(X[:24])
    unpack(broken(learner, entry, changed(0, sign * FARTHEST)), "m.nr")
    with pytest.raises(nr.Error, match=r"m\.nr: "):
        unpack(broken(learner, entry, changed(0, sign * np.nextafter(FARTHEST, np.inf))), "m.nr")
