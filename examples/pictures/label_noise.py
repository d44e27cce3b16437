"""Confidence-weighted learners when some labels are turned over: errors on clean rounds, mistakes while learning."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import noregret as nr
from figures import COLOURS, show

C = 0.03  # how much a round may move; with C = 1 PA-I is as hard as CW, AROW's r hardly matters, CW has no such thing
LEARNERS: dict[str, dict[str, float]] = {"cw": {}, "arow": {}, "scw1": {"C": C}, "scw2": {"C": C}, "pa1": {"C": C}}
NOISE = (0.0, 0.05, 0.1, 0.2)


class Row(NamedTuple):
    """One learner under one share of wrong labels; shares of rounds, means over several streams."""

    learner: str
    noise: float
    clean_error: float
    online_mistakes: float


def stream(rounds: int, features: int, seed: int) -> tuple[Any, Any]:
    """Gaussian rows whose features differ in size, labelled by a hidden plane."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, features)) * np.linspace(0.2, 1.0, features)
    return X, np.where(X @ rng.normal(size=features) > 0.0, 1, -1)


def measure(
    noise: Sequence[float] = NOISE, rounds: int = 4000, features: int = 30, streams: int = 8, tested: int = 4000
) -> list[Row]:
    """Learn rounds of which some labels lie, then predict others of which none does."""
    rows = []
    for learner, told in LEARNERS.items():
        for share in noise:
            errors, mistakes = [], []
            for seed in range(streams):
                X, y = stream(rounds + tested, features, seed)
                lies = np.random.default_rng([seed, 1]).random(rounds) < share
                m = nr.make(learner, **told).learn(X[:rounds], np.where(lies, -y[:rounds], y[:rounds]))
                errors.append(float(np.mean(m.predict(X[rounds:]) != y[rounds:])))
                mistakes.append(m.mistakes / rounds)
            rows.append(Row(learner, share, float(np.mean(errors)), float(np.mean(mistakes))))
    return rows


def draw(axes: Any, rows: Sequence[Row]) -> None:
    for learner, colour in zip(LEARNERS, COLOURS, strict=True):
        mine = [row for row in rows if row.learner == learner]
        noise = [100.0 * row.noise for row in mine]
        axes[0].plot(noise, [100.0 * row.clean_error for row in mine], "o-", color=colour, label=learner)
        axes[1].plot(noise, [100.0 * row.online_mistakes for row in mine], "o-", color=colour, label=learner)
    axes[1].plot(noise, noise, ":", color="grey", label="the lies themselves")
    axes[0].set(xlabel="labels turned over, %", ylabel="errors on clean rounds, %")
    axes[1].set(xlabel="labels turned over, %", ylabel="mistakes while learning, %")
    axes[1].legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))


if __name__ == "__main__":
    measured = measure()
    show("label_noise", Row._fields, measured, lambda axes: draw(axes, measured), panels=2)
