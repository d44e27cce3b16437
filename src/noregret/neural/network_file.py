"""A network in a model file: its arrays without spare room, and the checks of what is read."""

import numpy as np

from noregret.algebra.partial_features import PRIME
from noregret.data.blocks import all_finite
from noregret.learner.header_fields import LARGEST_COUNT, corrupt, read_count, read_list, read_number
from noregret.learner.model_file import Arrays, Header
from noregret.neural.memory import dump_memory, restore_memory
from noregret.neural.net import (
    ANCHORED,
    FAULT,
    GATHERED,
    LARGEST,
    RANDOM,
    REMEMBERED,
    ROUNDS,
    STEPS,
    TARGET_SQUARES,
    TARGETS,
    Floats,
)
from noregret.neural.network import COUNTERS, SEEN, UNSIGNED, Architecture, Layout, Network

MOST_INPUTS = 2**40


def dump_network(network: Network) -> tuple[Header, Arrays]:
    """The sizes, counters and arrays of a network."""
    length = network.layout.length(network.features)
    arrays = {name: values[:length].copy() for name, values in network.arrays.items()}
    if network.made.scales:
        arrays["features"] = network.seen[: SEEN * network.features].reshape(-1, SEEN).copy()
    if network.made.replay:
        arrays |= dump_memory(network.memory, remembered(network.made, network.counters[REMEMBERED]))
    counters = network.counters.copy()
    counters[FAULT] = 0.0  # of the last call: a round that was refused, or that an interrupt cut off, is no state
    header: Header = {
        "inputs": network.inputs,
        "features": network.features,
        "outputs": network.layout.outputs,
        "counters": counters.tolist(),
        "shares": network.shares.tolist(),
    }
    return header, arrays


def restore_network(made: Architecture, header: Header, arrays: Arrays, task: int, outputs: int) -> Network:
    """A network of this architecture; everything is checked before it is used."""
    inputs, features = read_count(header, "inputs", MOST_INPUTS), read_count(header, "features", MOST_INPUTS)
    if read_count(header, "outputs") != outputs:
        raise corrupt("the outputs of its network are not its classes")
    counters = [read_number(value, "counters") for value in read_list(header, "counters")]
    shares = [read_number(value, "shares") for value in read_list(header, "shares")]
    if len(counters) != COUNTERS or not are_counters(made, np.array(counters)):
        raise corrupt("the counters of its network do not fit")
    arrays, seen = dict(arrays), np.zeros((0, SEEN))
    if made.scales:
        seen = arrays.pop("features")
        sound = seen.dtype == np.float64 and seen.shape == (features, SEEN) and all_finite(seen)
        if not sound or not are_moments(seen, counters[ROUNDS]):
            raise corrupt("what its network has seen of features does not fit")
    memory = {name: arrays.pop(name) for name in list(arrays) if name.startswith("memory.")}
    if bool(memory) != bool(made.replay) or set(arrays) != {"w", *made.keeps}:
        raise corrupt("its network has other arrays than its optimizer keeps")
    length = Layout(made.hidden, made.heads, int(made.bias), outputs).length(features)
    for name, values in arrays.items():
        sound = values.dtype == np.float64 and values.shape == (length,) and all_finite(values)
        most = LARGEST * made.batch if name == "pending" else np.inf  # a sum of the gradients of a mini-batch
        if not sound or (name in UNSIGNED and (values < 0.0).any()) or (np.abs(values) > most).any():
            raise corrupt(f"the array {name} of its network does not fit")
    fits = [share >= 0.0 if head else share == 0.0 for share, head in zip(shares, made.heads, strict=False)]
    if len(shares) != len(made.heads) or not all(fits) or abs(sum(shares) - 1.0) > 1e-9:
        raise corrupt("the weights of its heads are no distribution")
    network = Network(made, inputs, outputs)
    network.weights = network.weights._replace(**{name: values.copy() for name, values in arrays.items()})
    network.features = network.room = features
    network.seen = seen.reshape(-1).copy()
    network.counters[:], network.shares[:] = counters, shares
    if made.replay:
        used = remembered(made, network.counters[REMEMBERED])
        network.memory = restore_memory(memory, made.replay, used, features, (task, outputs))
    return network


def remembered(made: Architecture, count: float) -> int:
    """How many rounds are in the memory."""
    return min(int(count), made.replay)


def are_moments(seen: Floats, rounds: float) -> bool:
    """Whether these can be the counts, means and squared deviations of values of so many rounds."""
    count, mean, spread = seen.T
    counts = ((count >= 0.0) & (count <= rounds) & (count == np.floor(count))).all()
    return bool(counts and (np.abs(mean) <= LARGEST).all() and (spread >= 0.0).all()
                and (spread <= 4.0 * LARGEST**2 * count).all())  # fmt: skip


def are_counters(made: Architecture, counters: Floats) -> bool:
    """Whether numbers can be the counters of a network."""
    whole = counters[[STEPS, GATHERED, ROUNDS, REMEMBERED, RANDOM, ANCHORED]]
    counts = np.append(whole, counters[[TARGETS, TARGET_SQUARES]])
    return bool(
        (whole == np.floor(whole)).all() and (counts >= 0.0).all() and whole.max() < LARGEST_COUNT
        and counters[GATHERED] < made.batch and 1.0 <= counters[RANDOM] < PRIME and counters[FAULT] == 0.0
        and counters[ANCHORED] <= counters[STEPS]
    )  # fmt: skip
