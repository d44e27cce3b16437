"""Referees watch transcripts and keep score; they never touch a learner."""

from noregret.referees.baselines import Baselines
from noregret.referees.basic import Loss, Milestones, Mistakes, Referee, Runtime, Updates
from noregret.referees.confusion import Confusion

__all__ = ["Baselines", "Confusion", "Milestones", "Loss", "Mistakes", "Referee", "Runtime", "Updates"]
