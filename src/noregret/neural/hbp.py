"""Hedge backpropagation: a classifier on every layer of a deep network, mixed by Hedge."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.learner.model_file import register_kind
from noregret.neural.activations import ACTIVATIONS
from noregret.neural.mlp import ACTIVATION, CLIP, DECAY, ETA, INIT, OPTIMIZER, OUTPUTS
from noregret.neural.net import CLIPPED, NONE, SPREAD
from noregret.neural.network import Architecture
from noregret.neural.network_learner import SHARED, NetworkLearner
from noregret.neural.optimizers import Numbers, find_optimizer
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Choice, Param, Parameter

SAHOO_2018 = "Sahoo, Pham, Lu and Hoi, Online deep learning: learning deep neural networks on the fly, IJCAI 2018"
SCALINGS = {"none": NONE, "clip": CLIPPED, "min_max": SPREAD}
SHOWN = 5  # classifiers whose weights are told
PARAMS: dict[str, Parameter] = {
    "depth": Param(20, at_least=0, at_most=1000, about="the number of hidden layers", grid=(2, 8, 20)),
    "units": Param(100, at_least=1, at_most=1 << 16, about="the units of every hidden layer", grid=(32, 100)),
    "activation": ACTIVATION,
    "optimizer": Choice("adam", OPTIMIZER.among, OPTIMIZER.about, search=OPTIMIZER.search),
    "eta": ETA,
    "momentum": DECAY,
    "beta": Param(
        0.95, above=0.0, at_most=1.0, about="a classifier of loss l keeps beta^l of its weight",
        search=(0.9, 0.999, "linear"),
    ),
    "smoothing": Param(
        0.05, at_least=0.0, below=1.0, about="no weight is below smoothing / depth", search=(0.01, 0.5, "log")
    ),
    "from_input": Choice("yes", {"yes": True, "no": False}, "whether there is a classifier on the inputs"),
    "loss_scaling": Choice("min_max", SCALINGS, "how the losses that Hedge sees are brought into [0, 1]"),
    "prior": Param(
        0.7, above=0.0, at_most=1.0, about="the first weight of a classifier, as a share of that of the one below it",
        grid=(0.5, 0.7, 1.0),
    ),
    "clip": CLIP,
    "init": Choice("glorot", INIT.among, INIT.about),
    "outputs": OUTPUTS,
}  # fmt: skip


@register_kind
@method_card(
    paper=SAHOO_2018,
    kind="hbp",
    name="hbp",
    title="HBP",
    tasks=("binary", "multiclass"),
    params=PARAMS,
    options=SHARED,
    weights=True,
)
class HedgeBackpropagation(NetworkLearner):
    """A deep network with a classifier on every layer; Hedge gives weight to the depth that predicts best."""

    kind = "hbp"
    earlier: ClassVar[Mapping[str, Any]] = {"init": "fan_in", "prior": 1.0}

    def __init__(self, **given: Any) -> None:
        shared = {name: given.pop(name) for name in SHARED if name in given}
        super().__init__(given, shared)

    def design(self) -> Architecture:
        """What the network is made of."""
        p, depth = self.given_params, self.whole("depth")
        optimizer = find_optimizer(p["optimizer"])
        first = p["from_input"] == "yes" or depth == 0
        return Architecture(
            hidden=(self.whole("units"),) * depth,
            activation=ACTIVATIONS[p["activation"]],
            heads=(first, *(True for _ in range(depth))),
            bias=self.has_bias,
            init=p["init"],
            drawn_outputs=p["outputs"] == "drawn",
            optimizer=optimizer,
            numbers=Numbers(p["eta"] or optimizer.eta, p["momentum"], optimizer.rho, optimizer.delta, 0.0),
            batch=1,
            hedge=(p["beta"], p["smoothing"] / max(depth, 1), p["clip"]),
            prior=p["prior"],
            rescale=SCALINGS[p["loss_scaling"]],
            scales=self.scales,
            scales_target=False,
            replay=0,
            replays=0,
            seed=self.reader.config.seed,
        )

    def describe_results(self) -> list[str]:
        """The sizes of the network, and how much each of its classifiers weighs."""
        lines = super().describe_results()
        if self.network is None:
            return lines
        shares = self.layer_weights
        largest = np.argsort(-shares, kind="stable")[:SHOWN].tolist()
        told = [f"{shares[at]:.2f} {f'after layer {at}' if at else 'on the inputs'}" for at in largest]
        return [*lines, f"mixture     {', '.join(told)}"]

    @property
    def layer_weights(self) -> NDArray[np.float64]:
        """The weight of every classifier, from the one on the inputs to that of the last layer."""
        with self._lock:
            self._change.settle()
            return np.array(self.require_network().shares)
