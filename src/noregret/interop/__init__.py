"""Faces: the learners as other libraries expect them, generated from the cards."""

from noregret.interop.building import classifier, regressor

__all__ = ["classifier", "regressor"]
