"""Expert algorithms drawn: how the weights move from expert to expert, and the regret beside its bound."""

import numpy as np

from noregret.errors import BadValue
from noregret.evaluation.experts import ExpertRace
from noregret.experts.expert_learner import ExpertLearner
from noregret.plots.figure import COLOURS, GREY, Axes, Figure, literal, make_figure

NAMED = 9  # experts with a line of their own: those that end with the most weight


def experts(race: ExpertRace, algorithm: str | None = None) -> Figure:
    """The weights of the experts under one algorithm, by default that with the least loss, and the regret of all."""
    name = algorithm or min(race.learners, key=lambda one: race.learners[one].loss)
    if name not in race.learners:
        raise BadValue(f"there is no algorithm {name!r} in this race; there are {', '.join(race.learners)}")
    figure, (left, right) = make_figure(2)
    draw_weights(left, race.learners[name], np.asarray(race.transcripts[name].scores))
    left.set_title(f"{name}: weights", fontsize=10)
    draw_regret(right, race)
    return figure


def draw_weights(panel: Axes, learner: ExpertLearner, weights: np.ndarray) -> None:
    rounds = np.arange(1, len(weights) + 1)
    names = learner.names or []
    for colour, name in zip(COLOURS, list(learner.weights)[:NAMED], strict=False):
        panel.plot(rounds, weights[:, names.index(name)], color=colour, label=literal(name), linewidth=1.4)
    panel.set_xlabel("round")
    panel.set_ylabel("weight")
    panel.set_ylim(-0.02, 1.02)
    panel.legend(fontsize=8, frameon=False)


def draw_regret(panel: Axes, race: ExpertRace) -> None:
    """The regret to the best expert of all rounds, round by round; at the end, the bound."""
    for colour, (name, learner) in zip(COLOURS, race.learners.items(), strict=False):
        if race.losses is not None:
            own = (np.asarray(race.transcripts[name].scores) * race.losses).sum(axis=1)
            best = race.losses[:, (learner.names or []).index(learner.best_expert)]
            panel.plot(np.arange(1, len(own) + 1), np.cumsum(own - best), color=colour, label=name, linewidth=1.4)
        else:
            panel.plot(learner.rounds, learner.regret, "o", color=colour, label=name)
        bound = learner.bound()
        if bound is not None and bound.measure == "regret":
            panel.plot(learner.rounds, bound.value, "_", color=colour, markersize=14)
    panel.axhline(0.0, color=GREY, linewidth=0.8)
    panel.set_xlabel("round")
    panel.set_title("regret to the best expert; dashes: bounds", fontsize=10)
    panel.legend(fontsize=8, frameon=False)
