"""Referees watch transcripts and keep score; they never touch a learner."""

from noregret.referees.baselines import Baselines
from noregret.referees.basic import Loss, Milestones, Mistakes, Referee, Runtime, Updates
from noregret.referees.multilabel import Multilabel

__all__ = ["Baselines", "Milestones", "Loss", "Mistakes", "Multilabel", "Referee", "Runtime", "Updates"]
