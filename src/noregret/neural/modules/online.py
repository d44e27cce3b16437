"""Torch modules: any module, loss and optimizer of torch as an online learner."""

import time
from typing import Any, Self

from noregret.data.inputs import LabelsLike, RowsLike, WeightsLike
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, Error
from noregret.features.frames import convert_frame, labels_to_list
from noregret.features.transforms import as_pipeline
from noregret.jit.cache import seconds_waited
from noregret.learner.base_learner import BaseLearner, Transforms
from noregret.learner.change import Undo
from noregret.learner.finder import FeatureFunction, name_of
from noregret.learner.model import Model
from noregret.learner.model_file import Arrays, FindCard, Header, register_kind
from noregret.learner.outside_rounds import start_model
from noregret.learner.transcribe import transcribe
from noregret.neural.mlp import PARAMS
from noregret.neural.modules import online_file
from noregret.neural.modules.learner_savepoint import LearnerSavepoint
from noregret.neural.modules.module_losses import check_loss
from noregret.neural.modules.module_optimizers import make_optimizer
from noregret.neural.modules.module_transaction import NotFinite, OnlineTransaction, finish
from noregret.neural.modules.online_options import check_shape, first_shape, place_module, whole
from noregret.neural.modules.online_predictions import OnlinePredictions
from noregret.neural.modules.savepoint import ModuleSavepoint
from noregret.neural.modules.trained_module import Plan, TrainedModule
from noregret.rules.method_card import MethodCard, method_card
from noregret.rules.parameters import Choice, suggestion

TAKEN = ("eta", "momentum", "batch", "clip", "replay", "replays", "anchor")
ONLINE_PARAMS = {
    **{name: PARAMS[name] for name in TAKEN},
    "scale_target": Choice("no", {"yes": True, "no": False}, "whether targets are centred and scaled as they come"),
}
READER = ("task", "classes", "class_weight", "transforms", "scale", "bits", "columns", "seed", "native")
OPTIONS = ("module", "loss", "optimizer", "shape", "integers", "device", *READER)


@register_kind
@method_card(
    paper="Robbins and Monro, A stochastic approximation method, Annals of Mathematical Statistics 22, 1951",
    kind="module",
    name="torch_module",
    title="TorchModule",
    tasks=("binary", "multiclass", "regression"),
    params=ONLINE_PARAMS,
    options=OPTIONS,
    weights=True,
    needs=("module",),
)
class Online(OnlinePredictions, BaseLearner):
    """Any torch module, trained online: every round is predicted, then learned by a step of a torch optimizer.

    module     a torch.nn.Module; it is trained in place. For a batch of one row it returns (1, outputs): an output for
               every class, or one for two classes and for regression
    loss       a torch loss such as torch.nn.CrossEntropyLoss(), a function of an output and a target, or a name:
               "log" (cross-entropy of one output or many, the default), "hinge", "mse" (the default of regression) ...
    optimizer  a name ("adam", "sgd", "adagrad" ...), a class such as torch.optim.SGD, a function of the parameters, or
               an optimizer that is made already
    shape      of one row as the module takes it, as in (1, 28, 28); by default rows are vectors
    integers   True gives the module whole numbers, as torch.nn.Embedding takes them
    device     "cpu", "cuda", or "auto" for the GPU where there is one; by default the module stays where it is

    The parameters batch, clip, replay, replays, anchor and the options of rows and labels are those of `mlp`; features
    are scaled only with scale=True. Train one module by one learner only.
    """

    kind = "module"

    def __init__(self, module: Any = None, loss: Any = None, optimizer: Any = "adam", **given: Any) -> None:
        super().__init__()
        assert isinstance(self.card, MethodCard)
        options = {name: given.pop(name) for name in OPTIONS if name in given}
        check_task(self.card, options.get("task"))
        self.given_params = check_params(self.card, given)
        self.reader_options = {name: value for name, value in options.items() if name in READER}
        self.given_module, self.given_loss, self.given_optimizer = module, check_loss(loss), optimizer
        self.own_options = {"shape": check_shape(options.get("shape")), "integers": options.get("integers", False)}
        self.reader = self.make_reader()
        self.spare: ModuleSavepoint | None = None  # memory for the next savepoint
        self.net = self.make_net(place_module(module, options.get("device")))

    def make_reader(self) -> Model:
        """The model that reads rows and labels and turns scores into predictions."""
        options = dict(self.reader_options)
        if options.get("task") == "regression":
            options["scale_target"] = self.given_params["scale_target"]
        return start_model(self.card.name, options)

    def make_net(self, module: Any) -> TrainedModule:
        """The module with an optimizer of its own, and nothing learned."""
        p, own = self.given_params, self.own_options
        if not isinstance(own["integers"], bool):
            raise BadValue(f"integers must be True or False, not {own['integers']!r}")
        shape = own["shape"] or first_shape(module)
        optimizer = make_optimizer(self.given_optimizer, module, p["eta"], p["momentum"])
        plan = Plan(
            loss=self.given_loss,
            real=self.reader.task.real,
            shape=shape,
            integers=own["integers"],
            scales_target=p["scale_target"] == "yes",
            batch=whole("batch", p["batch"]),
            clip=p["clip"],
            replay=whole("replay", p["replay"]),
            replays=whole("replays", p["replays"]),
            anchor=p["anchor"],
            seed=self.reader.config.seed,
        )
        net = TrainedModule(module, optimizer, plan)
        if shape is not None:
            net.set_up(0)
        return net

    @property
    def module(self) -> Any:
        """The module, as trained so far."""
        return self.net.module

    @property
    def optimizer(self) -> Any:
        return self.net.optimizer

    def __repr__(self) -> str:
        counts = f"{self.task}, {self.rounds} rounds, {self.mistakes} mistakes"
        return f"<{self.card.name} {type(self.module).__name__}: {counts}>"

    def put_behind(self, steps: Transforms) -> Self:
        if self.rounds or self.reader.space is not None:
            raise BadValue(f"{self.card.name} has learned already; cannot add transforms to a trained learner. "
                           "Create a new one")  # fmt: skip
        before = [*as_pipeline(steps), *as_pipeline(self.reader_options.get("transforms"))]
        return type(self)(**{**self.all_given(), "transforms": before})

    def all_given(self) -> dict[str, Any]:
        """All that it was made with."""
        given = {"module": self.module, "loss": self.given_loss, "optimizer": self.given_optimizer}
        return {**given, **self.own_options, **self.given_params, **self.reader_options}

    # ---- rounds ------------------------------------------------------------------------------------------------------

    def play(
        self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None
    ) -> Transcript:
        """Predict, then learn, every round; all of them, or none. Losses are those of the torch loss."""
        began, y = time.perf_counter() - seconds_waited(), labels_to_list(y)
        with self._lock:
            self._change.settle()
            call, outcomes, y = self._run(X, y, weight, query, True)
            found = transcribe(self.reader, outcomes, y, time.perf_counter() - seconds_waited() - began)
            return finish(found, call)

    def learn(self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None) -> Self:
        """Learn every round, in order, as `learn_one` in a loop does; all of them, or none."""
        y = labels_to_list(y)
        with self._lock:
            self._change.settle()
            self._run(X, y, weight, query, False)
        return self

    def _run(self, X: RowsLike, y: Any, weight: WeightsLike, query: Any, keep: bool) -> tuple[Any, list[Any], Any]:
        y = self.reader.task.accept(y, query)
        X = convert_frame(X, self.reader.config.allows_missing)
        for careful in (not self.net.spreads, True):
            call = OnlineTransaction(self, X, y, weight, careful)
            call.keeps_outcomes = keep
            try:
                return call, call.run(self._change), y
            except NotFinite:
                continue  # the same again, with every step checked, to name the round
            except MemoryError:
                raise Error(f"{self.card.name} has no memory left for these rows; nothing of this call was learned. "
                            "Learn fewer rows in a call") from None  # fmt: skip
        raise Error("a number was not finite, and was when the call was repeated; nothing of this call was learned. "
                    "Some step of the module depends on more than its input, its parameters and the seed")  # fmt: skip

    def consolidate(self) -> Self:
        """Keep the parameters of now as the anchor that later rounds are pulled to, as strong as each mattered.

        Call it where a task ends (elastic weight consolidation); it needs anchor= above 0.
        """
        if not self.given_params["anchor"]:
            raise BadValue(f"{self.card.name}: consolidate needs anchor= above 0, the strength of the pull to the "
                           "parameters it keeps")  # fmt: skip
        with self._lock:
            self._change.settle()
            self._change.save_and_run(lambda: LearnerSavepoint(self).rollback, self.net.consolidate)
            return self

    # ---- copies and files --------------------------------------------------------------------------------------------

    def copy(self) -> Self:
        """An independent learner in the same state, with a copy of the module."""
        with self._lock:
            self._change.settle()
            new = object.__new__(type(self))
            vars(new).update({name: value for name, value in vars(self).items() if name not in ("_lock", "_change")})
            new._make_lock()
            new.reader, new.net, new.spare = self.reader.copy(), self.net.copy(), None
            new.source = None if self.source is None else dict(self.source)
            return new

    def revert_to(self, saved: Self) -> None:
        """Take the state of a copy made earlier; the module stays the same object and takes its values."""
        with self._lock:
            self._change.settle()

            def save() -> Undo:
                undo, reader = LearnerSavepoint(self), self.reader

                def go_back() -> None:
                    self.reader = reader
                    undo.rollback()

                return go_back

            def act() -> None:
                self.net.take(saved.net)
                self.reader = saved.reader
                self.rounds, self.updates, self.mistakes = saved.rounds, saved.updates, saved.mistakes

            self._change.save_and_run(save, act)

    def functions(self) -> dict[str, FeatureFunction]:
        """The module, and the functions of the caller, which a model file only names."""
        found = {name_of(self.module): self.module}
        for one in (self.given_loss, self.given_optimizer):
            if one is not None and not isinstance(one, str):
                found[name_of(one)] = one
        return found

    def dump(self) -> tuple[Header, Arrays]:
        with self._lock:
            self._change.settle()
            return online_file.dump(self)

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        return online_file.restore(cls, header, arrays, find_card)


def check_task(card: MethodCard, task: Any) -> None:
    if task is not None and task not in card.tasks:
        raise BadValue(f"{card.name} cannot play {task}: it plays {', '.join(card.tasks)}")


def check_params(card: MethodCard, given: dict[str, Any]) -> dict[str, Any]:
    """The numbers and choices, each checked, with defaults for those not given."""
    for name in given:
        if name not in card.params:
            known = [*card.params, *card.options]
            raise BadValue(
                f"{card.name} has no parameter {name!r}{suggestion(name, known)}; it takes {', '.join(known)}"
            )
    return {name: param.check(card.name, name, given.get(name, param.default)) for name, param in card.params.items()}
