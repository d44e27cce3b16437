"""Read what experts give for some rounds: losses, or predictions with the truth."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.inputs import LabelsLike, RowsLike
from noregret.errors import BadValue, shown
from noregret.experts.card import ExpertCard
from noregret.experts.expert_rows import Name, Table, as_labels, as_numbers, find_missing
from noregret.experts.prediction_losses import PREDICTION_LOSSES, compare_labels, label_of

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Advice:
    """The experts by name, what each gave, its losses in [0, 1], and who was awake."""

    names: list[Name]
    values: NDArray[Any]
    losses: Floats
    awake: Flags

    def find_differences(self) -> Flags:
        """The rounds in which the losses of the experts awake are not all the same."""
        most = np.where(self.awake, self.losses, -1.0).max(axis=1, initial=-1.0)
        least = np.where(self.awake, self.losses, 2.0).min(axis=1, initial=2.0)
        return np.asarray(most != least)


@dataclass(frozen=True)
class AdviceReader:
    """How rows are read: the loss of a prediction, the range of losses, and what a missing value means."""

    card: ExpertCard
    loss: str
    loss_range: tuple[float, float]
    missing: str

    def read_truth(self, X: RowsLike, y: LabelsLike) -> list[Any] | None:
        """The truths of the rounds; None where rows are losses."""
        given = None if y is None else list(y.to_pylist() if hasattr(y, "to_pylist") else y)
        if given is None or all(one is None for one in given):
            if self.loss != "none" and (given or (given is None and len(X))):
                raise BadValue(f'{self.card.name} with loss="{self.loss}" needs the truths y of all rounds')
            if given and len(given) != len(X):
                raise BadValue(f"there are {len(X)} rounds and {len(given)} truths; there must be as many")
            return None
        if self.loss == "none":
            raise BadValue(f'{self.card.name} takes losses, without truths; for predictions make it with '
                           'loss="zero_one", loss="squared", loss="absolute" or loss="log"')  # fmt: skip
        rounds = X.shape[0] if hasattr(X, "shape") else len(X)
        if len(given) != rounds:
            raise BadValue(f"there are {rounds} rounds and {len(given)} truths; there must be as many")
        for t, one in enumerate(given):
            if one is None or one != one or not isinstance(one, (bool, int, float, str, np.generic)):
                raise BadValue(f"round {t}: the truth must be a number or a text, not {shown(one)}", row=t)
        return [label_of(one) for one in given]

    def read(self, table: Table, truth: list[Any] | None) -> Advice:
        """Check a table, and compute the losses from it, scaled to [0, 1]."""
        names: list[Name] = list(range(table.values.shape[1])) if table.names is None else table.names
        if not names:
            raise BadValue("there are no experts: the rows have no columns")
        missing = find_missing(table.values)
        if missing.any() and self.missing != "sleep":
            t, i = (int(at) for at in np.argwhere(missing)[0])
            hint = '; with missing="sleep" it sleeps in this round' if self.card.why_awake is None else ""
            raise BadValue(f"round {t}, expert {names[i]!r}: the value is missing{hint}", row=t)
        compute, awake = PREDICTION_LOSSES[self.loss].compute, ~missing
        if self.loss == "zero_one":
            values = as_labels(table.values, missing)
            return Advice(
                names, values, compare_labels(values, truth or (), awake) if truth else np.zeros(values.shape), awake
            )
        values = as_numbers(table, missing, "a loss" if compute is None else "a prediction")
        raw = values
        if compute is not None:
            raw = compute(values, self.truth_numbers(truth)[:, None]) if truth else np.zeros(values.shape)
        return Advice(names, values, self.rescale(names, raw, awake) if truth or compute is None else raw, awake)

    def truth_numbers(self, truth: list[Any]) -> Floats:
        """The truths as numbers; of the log loss, 0 and 1."""
        for t, one in enumerate(truth):
            wrong = isinstance(one, str) or abs(one) == float("inf") or (self.loss == "log" and one not in (0, 1))
            if wrong:
                wanted = "0 or 1" if self.loss == "log" else "a finite number"
                raise BadValue(f"round {t}: the truth must be {wanted}, not {shown(one)}", row=t)
        return np.array(truth, np.float64)

    def rescale(self, names: list[Name], raw: Floats, awake: Flags) -> Floats:
        """Losses within their range, as numbers from 0 to 1; 0 where an expert sleeps."""
        low, high = self.loss_range
        wrong = awake & ~((raw >= low) & (raw <= high))
        if wrong.any():
            t, i = (int(at) for at in np.argwhere(wrong)[0])
            raise BadValue(
                f"round {t}, expert {names[i]!r}: the loss {raw[t, i]:g} is not in [{low:g}, {high:g}]; "
                f"give the lowest and the highest loss there can be as loss_range", row=t,
            )  # fmt: skip
        return np.where(awake, np.clip((raw - low) / (high - low), 0.0, 1.0), 0.0)
