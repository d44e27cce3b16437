"""Networks of files: restored as they were; what contradicts itself is refused before it is used."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.algebra.partial_features import PRIME
from noregret.errors import Error
from noregret.learner.header_fields import LARGEST_COUNT
from noregret.neural.net import (
    ANCHORED,
    BINARY,
    FAULT,
    GATHERED,
    LARGEST,
    RANDOM,
    REMEMBERED,
    ROUNDS,
    STEPS,
    TARGET_MEAN,
    TARGET_SQUARES,
    TARGETS,
)
from noregret.neural.network_file import (
    MOST_INPUTS,
    are_counters,
    are_moments,
    dump_network,
    remembered,
    restore_network,
)

X = np.random.default_rng(0).normal(size=(9, 2))
Y = [0, 1, 0] * 3


def make(**options: Any) -> Any:
    """9 rounds: 2 mini-batches and a round more; the last 3 features of the room have not come."""
    given = {"layers": [2], "batch": 4, "optimizer": "adam", "replay": 3, **options}
    return nr.make("mlp", native=False, **given).learn(X, Y)


LEARNER = make()
MADE = LEARNER.network.made


def restore(header: dict[str, Any] | None = None, made: Any = MADE, outputs: int = 1, **arrays: Any) -> Any:
    """The network of a file in which some parts are others."""
    first, second = dump_network(LEARNER.network)
    forged = {name.replace("__", "."): values for name, values in arrays.items()}
    kept = {name: values for name, values in {**second, **forged}.items() if values is not None}
    return restore_network(made, {**first, **(header or {})}, kept, BINARY, outputs)


# ---- whole networks --------------------------------------------------------------------------------------------------


def test_a_network_is_restored_as_it_was_without_its_spare_room() -> None:
    names: Any = nr.make("mlp", layers=[2], native=False, optimizer="adam")
    for number, name in enumerate("abc"):
        names.learn([{name: 1.0}], [number % 2])
    assert names.network.room > names.network.features == 3
    for network in (LEARNER.network, names.network):
        header, arrays = dump_network(network)
        assert arrays["features"].shape == (network.features, 3)
        assert arrays["w"].shape == (network.layout.length(network.features),)
        assert not any(np.shares_memory(arrays["w"], values) for values in network.weights)
        again = restore_network(network.made, header, arrays, BINARY, 1)
        assert (again.inputs, again.features, again.room) == (network.inputs, network.features, network.features)
        found_header, found = dump_network(again)
        assert found_header == header
        assert found.keys() == arrays.keys()
        for name, values in found.items():
            np.testing.assert_array_equal(values, arrays[name])
            assert not np.shares_memory(values, arrays[name])


def test_a_fault_of_the_last_call_is_in_no_file() -> None:
    network = LEARNER.network.copy()
    network.counters[FAULT] = 3.0
    assert dump_network(network)[0]["counters"][FAULT] == 0.0
    assert network.counters[FAULT] == 3.0


def test_networks_may_be_of_no_features_and_of_very_many() -> None:
    plain = replace(MADE, scales=False, replay=0, batch=1)
    none = {name: np.zeros(3 + 2) for name in ("w", "mean", "squares")}
    counters = [0.0 if at == GATHERED else value for at, value in enumerate(COUNTERS)]
    header = {"inputs": MOST_INPUTS, "features": 0, "outputs": 1, "counters": counters, "shares": [0.0, 1.0]}
    found = restore_network(plain, header, none, BINARY, 1)
    assert (found.features, found.seen.size) == (0, 0)


# ---- what is refused -------------------------------------------------------------------------------------------------


def changed(name: str, change: Callable[[Any], Any]) -> dict[str, Any]:
    values = dump_network(LEARNER.network)[1][name].copy()
    return {name.replace(".", "__"): change(values)}


def put(value: float, at: int = 0) -> Callable[[Any], Any]:
    def change(values: Any) -> Any:
        values.reshape(-1)[at] = value
        return values

    return change


COUNTERS = dump_network(LEARNER.network)[0]["counters"]
ARRAYS = ("w", "mean", "squares", "pending")


@pytest.mark.parametrize(("header", "arrays", "problem"), [
    ({"outputs": 2}, {}, "outputs"), ({"inputs": MOST_INPUTS + 1}, {}, "inputs"),
    ({"features": MOST_INPUTS + 1}, {}, "features"), ({"counters": COUNTERS[:-1]}, {}, "counters"),
    ({"counters": [*COUNTERS, 0.0]}, {}, "counters"), ({"counters": [-1.0, *COUNTERS[1:]]}, {}, "counters"),
    ({"counters": ["x", *COUNTERS[1:]]}, {}, "counters"), ({"shares": [0.0, "x"]}, {}, "shares"),
    ({}, changed("features", lambda it: it.astype(np.float32)), "features"),
    ({}, changed("features", lambda it: it[:1]), "features"),
    ({}, changed("features", lambda it: it[:, :2]), "features"),
    ({}, changed("features", put(np.inf, 1)), "features"), ({}, changed("features", put(10.0)), "features"),
    ({}, {"w": None}, "arrays"), ({}, {"mean": None}, "arrays"), ({}, {"velocity": np.zeros(9)}, "arrays"),
    ({}, {f"memory__{name}": None for name in ("idx", "val", "sizes", "y", "h")}, "arrays"),
    *(({}, changed(name, lambda it: it.astype(np.float32)), f"array {name}") for name in ARRAYS),
    *(({}, changed(name, lambda it: it[:-1]), f"array {name}") for name in ARRAYS),
    *(({}, changed(name, put(np.inf)), f"array {name}") for name in ARRAYS),
    ({}, changed("squares", put(-1e-9)), "array squares"),
    ({}, changed("pending", put(4.1 * LARGEST)), "array pending"),
    ({}, changed("pending", put(-4.1 * LARGEST)), "array pending"), ({}, changed("memory.h", put(0.0)), "remembers"),
    ({"shares": [0.0, 1.0, 0.0]}, {}, "heads"), ({"shares": [1.0]}, {}, "heads"), ({"shares": [0.5, 0.5]}, {}, "heads"),
    ({"shares": [0.0, 1.1]}, {}, "heads"), ({"shares": [0.0, 0.9]}, {}, "heads"), ({"shares": [1.0, 0.0]}, {}, "heads"),
])  # fmt: skip
def test_a_network_that_contradicts_itself_is_refused(header: Any, arrays: Any, problem: str) -> None:
    with pytest.raises(Error, match=problem):
        restore(header, **arrays)


@pytest.mark.parametrize("arrays", [
    changed("w", put(-1e300)), changed("mean", put(-1.0)), changed("squares", put(0.0)),
    changed("pending", put(4.0 * LARGEST)), changed("pending", put(-4.0 * LARGEST)), changed("features", put(9.0)),
])  # fmt: skip
def test_a_network_may_hold_what_is_just_allowed(arrays: Any) -> None:
    assert restore(**arrays).features == 2


@pytest.mark.parametrize(("shares", "fits"), [
    ([0.0, 0.25, 0.75], True), ([0.0, 1.0, 0.0], True), ([0.0, 0.25, 0.75 + 9e-10], True),
    ([0.0, 0.25, 0.75 + 2e-9], False), ([0.0, 0.25, 0.75 - 2e-9], False), ([0.0, -0.25, 1.25], False),
    ([0.5, 0.25, 0.25], False), ([0.0, 0.25, 0.25], False),
])  # fmt: skip
def test_the_weights_of_heads_are_a_distribution(shares: list[float], fits: bool) -> None:
    hbp: Any = nr.make("hbp", depth=2, units=2, native=False, from_input="no").learn(X, Y)
    header, arrays = dump_network(hbp.network)
    forged = {**header, "shares": shares}
    if fits:
        assert restore_network(hbp.network.made, forged, arrays, BINARY, 1).shares.tolist() == shares
        return
    with pytest.raises(Error, match="the weights of its heads are no distribution"):
        restore_network(hbp.network.made, forged, arrays, BINARY, 1)


def test_a_network_without_replay_remembers_nothing() -> None:
    with pytest.raises(Error, match="its network has other arrays"):
        restore(made=replace(MADE, replay=0))
    assert [remembered(MADE, count) for count in (0.0, 2.0, 3.0, 9.0)] == [0, 2, 3, 3]


# ---- counters and moments --------------------------------------------------------------------------------------------

WHOLE = (STEPS, GATHERED, ROUNDS, REMEMBERED, RANDOM, ANCHORED)


@pytest.mark.parametrize(("changes", "fits"), [
    ({}, True), ({RANDOM: PRIME - 1.0}, True), ({RANDOM: float(PRIME)}, False), ({RANDOM: 0.0}, False),
    ({GATHERED: 3.0}, True), ({GATHERED: 4.0}, False), ({ANCHORED: 5.0}, True), ({ANCHORED: 6.0}, False),
    ({FAULT: 1.0}, False), ({FAULT: -1.0}, False), ({TARGET_MEAN: -7.5}, True), ({TARGETS: 0.5}, True),
    ({TARGETS: -0.5}, False), ({TARGET_SQUARES: 0.5}, True), ({TARGET_SQUARES: -0.5}, False),
    ({ROUNDS: LARGEST_COUNT / 2.0}, True), ({ROUNDS: float(LARGEST_COUNT)}, False),
    *(({place: 1.5}, False) for place in WHOLE), *(({place: -1.0}, False) for place in WHOLE),
    *(({place: 1.0}, True) for place in WHOLE),
])  # fmt: skip
def test_counters_are_whole_numbers_within_their_limits(changes: dict[int, float], fits: bool) -> None:
    counters = np.zeros(10)
    counters[RANDOM], counters[STEPS] = 1.0, 5.0
    for place, value in changes.items():
        counters[place] = value
    assert are_counters(MADE, counters) == fits


@pytest.mark.parametrize(("moments", "fits"), [
    ([0.0, 0.0, 0.0], True), ([9.0, LARGEST, 36.0 * LARGEST**2], True), ([9.0, -LARGEST, 0.0], True),
    ([-1.0, 0.0, 0.0], False), ([10.0, 0.0, 0.0], False), ([0.5, 0.0, 0.0], False), ([9.0, 1.1 * LARGEST, 0.0], False),
    ([9.0, -1.1 * LARGEST, 0.0], False), ([9.0, 0.0, -1e-9], False), ([9.0, 0.0, 36.1 * LARGEST**2], False),
    ([2.0, 0.0, 8.1 * LARGEST**2], False),
])  # fmt: skip
def test_moments_of_a_feature_are_those_of_values_of_its_rounds(moments: list[float], fits: bool) -> None:
    assert are_moments(np.array([[1.0, 0.5, 0.5], moments]), 9.0) == fits
