"""Multilayer perceptron: online backpropagation (Rumelhart, Hinton and Williams 1986)."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from noregret.errors import BadValue
from noregret.learner.model_file import register_kind
from noregret.neural.activations import ACTIVATIONS
from noregret.neural.network import INITS, Architecture, NetworkSavepoint
from noregret.neural.network_learner import SHARED, NetworkLearner
from noregret.neural.optimizers import OPTIMIZERS, Numbers, find_optimizer
from noregret.neural.sizes import Sizes, read_sizes
from noregret.rules.merge_law import NO_MERGE
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Choice, Param, Parameter

RUMELHART_1986 = "Rumelhart, Hinton and Williams, Learning representations by back-propagating errors, Nature 323, 1986"
MOST_ROWS = 1 << 20

ACTIVATION = Choice("relu", ACTIVATIONS, "the activation function of hidden units")
OPTIMIZER = Choice(
    "adagrad", OPTIMIZERS, "how far a weight moves along its gradient", search=("sgd", "adagrad", "adam")
)
ETA = Param(
    0.0, at_least=0.0, at_most=1e6, about="the learning rate; 0 stands for the usual one of the optimizer",
    search=(1e-4, 1.0, "log"),
)  # fmt: skip
DECAY = Param(
    0.9, at_least=0.0, below=1.0, about="momentum: the share of the last step that is repeated; of Adam, the decay of "
    "the mean gradient", search=(0.5, 0.99, "linear"),
)  # fmt: skip
BATCH = Param(
    1, at_least=1, at_most=MOST_ROWS, about="rounds of a mini-batch: after so many, one step by their mean gradient",
    grid=(1, 8, 32),
)  # fmt: skip
CLIP = Param(0.0, at_least=0.0, about="the largest norm of a gradient; 0 allows any", grid=(0.0, 1.0, 5.0))
INIT = Choice(
    "fan_in", dict.fromkeys(INITS), "the first weights from n to m units: up to 1 / root(n), root(6 / (n + m)) "
    "(Glorot) or root(6 / n) (He)",
)  # fmt: skip
OUTPUTS = Choice("drawn", {"drawn": True, "zero": False}, "the first weights of outputs: drawn as all others are, or 0")
TARGET = Choice("yes", {"yes": True, "no": False}, "whether targets are centred and scaled as they come")
PARAMS: dict[str, Parameter] = {
    "layers": Sizes("100-100", dict.fromkeys(("none", "100", "100-100")), "the sizes of the hidden layers"),
    "activation": ACTIVATION,
    "optimizer": OPTIMIZER,
    "eta": ETA,
    "momentum": DECAY,
    "batch": BATCH,
    "clip": CLIP,
    "init": INIT,
    "outputs": OUTPUTS,
    "replay": Param(0, at_least=0, at_most=MOST_ROWS, about="rounds that are remembered and replayed", grid=(0, 1000)),
    "replays": Param(1, at_least=1, at_most=1000, about="how many of them are learned after each round", grid=(1, 4)),
    "anchor": Param(
        0.0, at_least=0.0, at_most=1e6, about="the strength of the pull to the weights that `consolidate` kept",
        grid=(0.0, 1.0, 100.0),
    ),
    "scale_target": TARGET,
}  # fmt: skip


@register_kind
@method_card(
    paper=RUMELHART_1986,
    kind="mlp",
    name="mlp",
    title="MLP",
    tasks=("binary", "multiclass", "regression"),
    params=PARAMS,
    options=SHARED,
    weights=True,
    merge=NO_MERGE,
)
class MultilayerPerceptron(NetworkLearner):
    """Online backpropagation: every round is one step down the gradient of its loss, through all layers."""

    kind = "mlp"
    earlier: ClassVar[Mapping[str, Any]] = {"init": "fan_in"}

    def __init__(self, **given: Any) -> None:
        shared = {name: given.pop(name) for name in SHARED if name in given}
        super().__init__(given, shared)

    def design(self) -> Architecture:
        """What the network is made of."""
        p = self.given_params
        optimizer, hidden = find_optimizer(p["optimizer"], p["anchor"] > 0.0), read_sizes(p["layers"])
        return Architecture(
            hidden=hidden,
            activation=ACTIVATIONS[p["activation"]],
            heads=(*(False for _ in hidden), True),
            bias=self.has_bias,
            init=p["init"],
            drawn_outputs=p["outputs"] == "drawn",
            optimizer=optimizer,
            numbers=Numbers(p["eta"] or optimizer.eta, p["momentum"], optimizer.rho, optimizer.delta, p["anchor"]),
            batch=self.whole("batch"),
            hedge=(1.0, 0.0, p["clip"]),
            prior=1.0,
            rescale=0,
            scales=self.scales,
            scales_target=self.reads_targets and p["scale_target"] == "yes",
            replay=self.whole("replay"),
            replays=self.whole("replays") if p["replay"] else 0,
            seed=self.reader.config.seed,
        )

    def consolidate(self) -> Self:
        """Keep the weights of now as the anchor that later rounds are pulled to, as strong as each weight mattered.

        Call it where a task ends (elastic weight consolidation); it needs anchor= above 0.
        """
        if not self.given_params["anchor"]:
            raise BadValue("mlp: consolidate needs anchor= above 0, the strength of the pull to the weights it keeps")
        with self._lock:
            self._change.settle()
            network = self.require_network()
            self._change.save_and_run(lambda: NetworkSavepoint(network, None).rollback, network.consolidate)
            return self
