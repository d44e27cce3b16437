"""Modules that fail: the round is named, and the module, its optimizer and torch's random numbers are as before."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

import noregret as nr
from noregret.torch import Online
from tests.attacks.cut_off import check_calls_are_kept
from tests.conformance.protocol import state
from tests.support import refusal, refused, small_stream
from tests.support.cover import only_in_test_all
from tests.support.interrupts import interrupted_at_every_line

torch.set_num_threads(1)
nn, optim = torch.nn, torch.optim
X, Y = small_stream(rows=20)
CLASSES = ["a", "b", "c", "d"] * 5


def net(outputs: int = 4, *extra: Any) -> Any:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 3), *extra, nn.Tanh(), nn.Linear(3, outputs))


class Exploding(torch.nn.Module):  # type: ignore[misc]
    """Its output or its gradient is not finite on rows whose first value is this."""

    count: Any

    def __init__(self, at: float, how: str) -> None:
        super().__init__()
        self.body, self.at, self.how = net(), at, how
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: Any) -> Any:
        self.count = self.count + 1.0  # another tensor
        out = self.body(x)
        if not (x[:, 0] == self.at).any():
            return out
        if self.how == "error":
            raise RuntimeError("the module has had enough")
        if self.how == "gradient":
            return out + torch.sqrt(out * 0.0).nan_to_num()  # 0, whose slope is infinite
        return out * {"nan": float("nan"), "inf": float("inf")}[self.how]


# ---- what is not finite ----------------------------------------------------------------------------------------------


@pytest.mark.thinned(2)
@pytest.mark.parametrize("optimizer", ["sgd", "adam", optim.Rprop])
@pytest.mark.parametrize(
    ("how", "told"), [("nan", "the loss is nan"), ("gradient", "gradient of body"), ("error", "had enough")]
)
def test_a_round_that_fails_is_named_and_the_call_undone(how: str, told: str, optimizer: Any) -> None:
    rows = X.copy()
    rows[7, 0] = 3.0
    learner = Online(Exploding(3.0, how), "log", optimizer, shape=4).learn(X, CLASSES)
    random = torch.get_rng_state()
    message = refused(learner, lambda: learner.learn(rows, CLASSES))
    assert message.startswith("round 28 (row 7 of this call): ")
    assert told in message
    assert "nothing of this call was learned" in message
    assert torch.equal(random, torch.get_rng_state())
    assert "round 21 (row 0 of this call)" in refused(learner, lambda: learner.learn_one(rows[7], "a"))
    learner.learn(X, CLASSES)


def test_a_step_that_is_too_large_is_named() -> None:
    learner = Online(net(), "cross_entropy", "sgd", eta=1e6, scale=False)
    learner.learn(X, CLASSES)
    message = refused(learner, lambda: learner.learn(1e37 * X, CLASSES))
    assert message.startswith("round 2")
    assert "clip=1" in message


def test_what_an_optimizer_keeps_must_stay_finite() -> None:
    steep = lambda output, target: 1e25 * nn.functional.cross_entropy(output, target)  # noqa: E731
    learner = Online(net(), steep, "adam")
    assert "exp_avg_sq of 0.weight in the optimizer is no longer finite" in refused(
        learner, lambda: learner.learn(X, CLASSES)
    )


def test_predictions_that_are_not_finite_name_the_row() -> None:
    learner = Online(net(), "log", "sgd").learn(X, CLASSES)
    assert "row 2: an output" in refused(learner, lambda: learner.predict(np.array([*X[:2], [1e300] * 4])))


# ---- interrupts ------------------------------------------------------------------------------------------------------


def trained() -> Any:
    module = net(4, nn.BatchNorm1d(3), nn.Dropout(0.5))
    learner = Online(module, "log", "adam", batch=2, replay=3, anchor=1.0, native=False)
    return learner.learn(X[:3], CLASSES[:3])


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "file",
    [
        pytest.param("modules/module_transaction.py", marks=only_in_test_all),
        pytest.param("modules/trained_module.py", marks=only_in_test_all),
        pytest.param("modules/consolidation.py", marks=only_in_test_all),
        pytest.param("modules/savepoint.py", marks=only_in_test_all),
        pytest.param("modules/module_rounds.py", marks=only_in_test_all),
        pytest.param("torch/optim/adam.py", marks=only_in_test_all),
        "modules/remembered_rounds.py",
        "modules/learner_savepoint.py",
    ],
)
@pytest.mark.parametrize("error", [KeyboardInterrupt, pytest.param(MemoryError, marks=only_in_test_all)])
def test_a_call_that_is_cut_off_changes_all_or_nothing(file: str, error: type[BaseException]) -> None:
    random: list[Any] = []

    def prepare() -> tuple[Any, Any]:
        learner = trained()
        random[:] = [torch.get_rng_state()]
        return learner, lambda: learner.learn(X[3:5], CLASSES[3:5])  # a new class, a step, and replays

    allowed = {state(trained()), state(trained().learn(X[3:5], CLASSES[3:5]))}
    assert len(allowed) == 2
    count = 0
    for learner in interrupted_at_every_line(prepare, file, error):
        count += 1
        assert state(learner) in allowed, f"line {count}"
        assert torch.equal(torch.get_rng_state(), random[0]), f"line {count}"
        learner.learn(X[3:5], CLASSES[3:5])
    assert count > 5


def test_an_interrupt_inside_a_step_of_the_optimizer_is_undone() -> None:
    class Torn(torch.optim.SGD):  # type: ignore[misc]
        def step(self, closure: Any = None) -> None:
            with torch.no_grad():
                self.param_groups[0]["params"][0].add_(1.0)
            raise KeyboardInterrupt

    learner = Online(net(), "log", partial(Torn, lr=0.1))
    before = state(learner)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            learner.learn(X, CLASSES)
        assert state(learner) == before


# ---- what does not fit -----------------------------------------------------------------------------------------------

MAKING: list[tuple[Callable[[], Any], str]] = [
    (lambda: Online(None), "module must be a torch.nn.Module"),
    (lambda: nr.make("torch_module"), "give it module="),
    (lambda: Online(nn.Flatten()), "nothing to learn"),
    (lambda: Online(net(), "cross"), "did you mean 'cross_entropy'"),
    (lambda: Online(net(), nn.CrossEntropyLoss), "such as torch.nn.CrossEntropyLoss()"),
    (lambda: Online(net(), "mse"), "does not suit classes, with 4 outputs"),
    (lambda: Online(net(1), "cross_entropy"), "does not suit classes, with 1 output"),
    (lambda: Online(net(1), lambda output, target: output.flatten().repeat(2)), "must return one number"),
    (lambda: Online(net(4), task="regression"), "must have one output, not 4"),
    (lambda: Online(net(), "log", "adom"), "did you mean 'adam'"),
    (lambda: Online(net(), "log", 3), "optimizer must be"),
    (lambda: Online(net(), "log", lambda parameters: parameters), "must make a torch optimizer"),
    (lambda: Online(net(), "log", optim.LBFGS), "several times in a step"),
    (lambda: Online(net(), "log", optim.SGD(net().parameters())), "that the module Sequential does not have"),
    (lambda: Online(net(), "log", lambda p: optim.SGD(p[:2])), "skips 2 of 4 parameters, 2.weight among them"),
    (lambda: Online(net(), "log", partial(optim.SGD, lr=1.0), eta=0.1), "give yours its rate"),
    (lambda: Online(net(), "log", partial(optim.SGD, lr=-1.0)), "Invalid learning rate"),
    (lambda: Online(nn.LazyLinear(3)), "lazy parameters"),
    (lambda: Online(nn.Linear(3, 2, dtype=torch.complex64)), "complex"),
    (lambda: Online(net(), shape=5), "does not take a row of shape (5,)"),
    (lambda: Online(net(), shape=(2, 4)), "tensor of shape (1, outputs), not a tensor of shape (1, 2, 4)"),
    (lambda: Online(net(), shape=0), "shape must be"),
    (lambda: Online(net(), shape="x"), "shape must be"),
    (lambda: Online(net(), shape=10**14), "do not fit in memory"),
    (lambda: Online(net(), integers=2), "integers must be True or False"),
    (lambda: Online(net(), integers=True), "dtype"),
    (lambda: Online(net(), device="tpu"), 'device must be "cpu", "cuda" or "auto"'),
    (lambda: Online(net(), device="meta"), 'device must be "cpu", "cuda" or "auto"'),
    (lambda: Online(net(), batch=2.5), "batch must be a whole number"),
    (lambda: Online(net(), batch=0), "batch"),
    (lambda: Online(net(), layers=3), "no parameter 'layers'"),
    (lambda: Online(net(1), task="multiclass", classes=[1, 2]).learn(X, [1] * 20), "multiclass needs a module with"),
    (lambda: Online(nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2).double())), "module.float()"),
    (lambda: Online(net(), task="ranking"), "ranking"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(MAKING)))
def test_what_cannot_be_trained_is_refused_when_it_is_made(number: int) -> None:
    act, told = MAKING[number]
    assert told in refusal(act)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_refused_and_auto_does_without() -> None:
    assert "finds no GPU" in refusal(lambda: Online(net(), device="cuda"))
    assert Online(net(), device="auto").net.device.type == "cpu"


def test_rows_that_do_not_fit_the_module_are_named() -> None:
    wide = np.concatenate([X, X[:, :1]], axis=1)
    assert "the row has 5 columns, and the module takes rows of 4" in refusal(lambda: Online(net()).learn(wide, Y))
    learner = Online(net(), "log").learn(X, CLASSES)
    assert "4" in refused(learner, lambda: learner.learn(wide, CLASSES))
    named = [{f"f{j}": 1.0 for j in range(size)} for size in (1, 3, 5)]
    learner = Online(net(), "log")
    message = refused(learner, lambda: learner.learn(named, ["a", "b", "c"]))
    assert message.startswith("round 3 (row 2 of this call): feature 'f4' is number 5, and the module takes rows of 4")
    assert "round 1 (row 0 of this call): it has feature 4" in refusal(lambda: Online(net()).learn(csr_array(wide), Y))
    custom = Exploding(0.0, "nan")
    assert "give shape=" in refusal(lambda: Online(custom).learn(named, ["a", "b", "c"]))
    assert "give shape=" in refusal(lambda: Online(custom).learn(wide, Y))
    assert Online(net(), columns="grow").learn(X[:, :3], Y).rounds == 20


def test_a_class_that_the_module_has_no_output_for_names_the_round() -> None:
    learner = Online(net(3), "log").learn(X[:3], CLASSES[:3])
    message = refused(learner, lambda: learner.learn(X[:5], ["a", "b", "c", "a", "d"]))
    assert message.startswith("round 8 (row 4 of this call): 'd' is class number 4, and the module has 3 outputs")
    one = Online(net(1), "log").learn(X[:2], ["a", "b"])
    assert "'c' is class number 3, and the module has 1 output;" in refused(one, lambda: one.learn_one(X[0], "c"))
    assert "class number 5" in refusal(lambda: Online(net(4), classes=list("abcde")).learn(X[:1], ["a"]))


def test_batch_normalization_of_single_rows_has_a_hint() -> None:
    learner = Online(net(4, nn.BatchNorm1d(3)), "log")
    message = refused(learner, lambda: learner.learn(X, CLASSES))
    assert "round 1 (row 0 of this call)" in message
    assert "use batch=8, or GroupNorm or LayerNorm" in message
    assert Online(net(4, nn.BatchNorm1d(3)), "log", batch=8).learn(X, CLASSES).rounds == 20


def test_consolidate_needs_an_anchor() -> None:
    assert "anchor= above 0" in refusal(lambda: Online(net(), "log").learn(X, CLASSES).consolidate())


def test_what_is_learned_just_before_a_change_begins_is_kept() -> None:
    def call(learner: Any) -> None:
        learner.learn_one(X[0], "a")

    def make() -> Any:
        return Online(net(), "log", "sgd", anchor=1.0).learn(X[:3], CLASSES[:3])

    check_calls_are_kept(make, call, lambda learner: learner.learn(X[3:5], CLASSES[3:5]))
    check_calls_are_kept(make, call, lambda learner: learner.consolidate())
