"""Referees watch transcripts and keep score; they never touch a learner."""

from noregret.referees.baselines import Baselines
from noregret.referees.basic import Loss, Milestones, Mistakes, Referee, Runtime, Updates
from noregret.referees.confusion import Confusion
from noregret.referees.multilabel import Multilabel
from noregret.referees.orders import AsTheyCome, Orders

__all__ = [
    "AsTheyCome", "Baselines", "Confusion", "Loss", "Milestones", "Mistakes", "Multilabel", "Orders", "Referee",
    "Runtime", "Updates",
]  # fmt: skip
