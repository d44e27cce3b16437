"""A translator in a model file: its arrays, and the checks of what is read."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue
from noregret.learner.header_fields import corrupt, read_count
from noregret.learner.model_file import Arrays, Header
from noregret.neural.translation.adaptation import Adaptation, State
from noregret.neural.translation.sizes import Sizes
from noregret.neural.translation.tensors import torch
from noregret.neural.translation.updates import UNSIGNED
from noregret.neural.translation.vocabulary import Vocabulary


def dump_state(sizes: Sizes, state: State, vocabulary: Vocabulary) -> tuple[Header, Arrays]:
    """Sizes and steps; the weights, what the optimizer keeps of them, and the vocabulary."""
    arrays: Arrays = {"weights": state.vector.numpy(), "vocabulary": vocabulary.dump()}
    if state.steps:  # before the first step all that is kept is 0
        arrays |= {f"kept.{name}": one.numpy() for name, one in state.kept.items()}
    return {"sizes": sizes.as_header(), "steps": state.steps}, arrays


def restore_sizes(header: Header) -> Sizes:
    """The sizes of the network."""
    sizes = header.get("sizes")
    if not isinstance(sizes, dict) or set(sizes) != set(Sizes.__dataclass_fields__):
        raise corrupt("the sizes of its network do not fit")
    try:
        return Sizes(**sizes)
    except BadValue as error:
        raise corrupt(str(error)) from None


def restore_state(sizes: Sizes, adaptation: Adaptation, header: Header, arrays: Arrays) -> State:
    """The weights and what the optimizer keeps, all checked."""
    steps = read_count(header, "steps")
    keeps = adaptation.optimizer.keeps if steps else ()
    if set(arrays) != {"weights", "vocabulary", *(f"kept.{name}" for name in keeps)}:
        raise corrupt("its network has other arrays than its optimizer keeps")
    kept = {name: arrays[f"kept.{name}"] for name in keeps}
    for name, values in {"weights": arrays["weights"], **kept}.items():
        sound = values.dtype == np.float32 and values.shape == (sizes.count,) and bool(np.isfinite(values).all())
        if not sound or (name in UNSIGNED and (values < 0.0).any()):
            raise corrupt(f"the array {name} of its network does not fit")
    vector = as_tensor(arrays["weights"])
    if not steps:
        return State.begin(vector, adaptation)
    return State(vector, {name: as_tensor(one) for name, one in kept.items()}, steps)


def as_tensor(values: NDArray[Any]) -> Any:
    """A tensor in memory of its own."""
    return torch().from_numpy(values.copy())
