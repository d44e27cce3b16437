"""Learners as other libraries expect them: estimator classes generated from the cards."""

from noregret.interop.class_factory import classifier, regressor

__all__ = ["classifier", "regressor"]
