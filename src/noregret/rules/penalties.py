"""Penalties that the objective of a rule adds to the loss of each round, as functions of the norms of the weights."""

from typing import Any


def l1_penalty(p: Any, norm: float, norm_1: float) -> float:
    """lam |u|_1"""
    return float(p.lam * norm_1)


def squared_penalty(p: Any, norm: float, norm_1: float) -> float:
    """lam |u|^2 / 2"""
    return float(0.5 * p.lam * norm**2)
