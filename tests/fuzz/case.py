"""A case: one learner with its parameters, and the stream it is played on; it can be written down as Python."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import noregret as nr
from tests import naive
from tests.conformance.plays import KERNELS, Play
from tests.naive.rules import Array
from tests.naive.tasks import Binary, Multiclass, Regression, TaskRow


@dataclass(frozen=True)
class Stream:
    """Rounds: rows, a label or a target for each, and importance weights or None."""

    X: Array
    y: list[Any]
    weight: list[float] | None = None
    kind: str = "array"  # how rows are handed over: array, csr, dicts

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, some: slice) -> "Stream":
        weight = None if self.weight is None else self.weight[some]
        return Stream(self.X[some], self.y[some], weight, self.kind)

    @property
    def told(self) -> dict[str, Any]:
        """What play and learn are told beside rows and labels."""
        return {} if self.weight is None else {"weight": self.weight}

    def rows(self, X: Array) -> Any:
        if self.kind == "csr":
            return csr_array(X)
        if self.kind == "dicts":
            return [{int(j): float(x[j]) for j in np.flatnonzero(x)} for x in X]
        return X

    @property
    def handed(self) -> Any:
        return self.rows(self.X)


@dataclass(frozen=True)
class Case:
    """One learner on one stream; `cut` is the round at which calls are cut, models saved and bad calls made."""

    play: Play
    numbers: Mapping[str, float]
    stream: Stream
    cut: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)  # eps, groups, bias
    auto: bool = False  # the task is left out, so that a third class turns two into many

    def told(self, native: bool, algebra: str | None = None) -> dict[str, Any]:
        """Every argument of make."""
        told: dict[str, Any] = {**self.numbers, **dict(self.play.options), **self.play.shape, **self.extra}
        told["algebra"] = algebra or self.play.algebra
        if not self.auto:
            told["task"] = self.play.task
        return {**told, "native": native}

    def make(self, native: bool = False, algebra: str | None = None) -> nr.RuleLearner:
        return nr.make(self.play.name, **self.told(native, algebra))

    def twin(self, classes: int) -> TaskRow:
        options = dict(self.play.options)
        kernel = options.pop("kernel", None)
        groups = {name: value for name, value in self.extra.items() if name == "groups"}
        rule = naive.rule(self.play.name, **self.numbers, **options, **groups)
        if kernel is not None:
            rule = naive.with_kernel(rule, KERNELS[kernel])
        if self.play.task == "multiclass":
            return Multiclass(rule, classes, fixed=False)
        if self.play.task == "regression":
            return Regression(rule, self.extra.get("eps", 0.0))
        return Binary(rule)

    def upto(self, rounds: int) -> "Case":
        """The same with only its first rounds."""
        return replace(self, stream=self.stream[:rounds], cut=min(self.cut, rounds))

    def text(self) -> str:
        """A program that plays this case."""
        told = "".join(f", {name}={value!r}" for name, value in self.told(False).items())
        rows = ",\n".join(f"    {x.tolist()!r}" for x in self.stream.X)
        handed = {"csr": "csr_array(X)", "dicts": "[{j: v for j, v in enumerate(x) if v} for x in X.tolist()]"}
        lines = [
            "import noregret as nr",
            "import numpy as np",
            *(["from scipy.sparse import csr_array"] if self.stream.kind == "csr" else []),
            "",
            f"X = np.array([\n{rows},\n]).reshape({self.stream.X.shape})",
            f"y = {self.stream.y!r}",
            f'learner = nr.make("{self.play.name}"{told})',
            f"print(learner.play({handed.get(self.stream.kind, 'X')}, y"
            + "".join(f", {name}={value!r}" for name, value in self.stream.told.items())
            + "))",
            f"# calls cut at round {self.cut}",
        ]
        return "\n".join(lines)
