"""Online training of a torch module as a tutorial writes it: predict, compare, step; nothing is undone or saved."""

from collections.abc import Callable
from typing import Any

import torch

Tensor = Any


def train_online(
    module: Any, loss: Callable[..., Any], optimizer: Any, x: Tensor, y: Tensor, batch: int = 1, clip: float = 0.0
) -> list[Tensor]:
    """The prediction of every row before it was learned; a step by the mean loss of so many rows."""
    predictions = []
    waiting: list[int] = []
    for t in range(len(x)):
        module.eval()
        with torch.no_grad():
            predictions.append(module(x[t : t + 1])[0])
        module.train()
        waiting.append(t)
        if len(waiting) < batch:
            continue
        optimizer.zero_grad()
        loss(module(x[waiting]), y[waiting]).backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(module.parameters(), clip)
        optimizer.step()
        waiting = []
    module.eval()
    return predictions


def numeric_gradient(module: Any, loss: Callable[[], Any], size: float = 1e-6) -> list[Tensor]:
    """The gradient of a loss by every parameter, by central differences."""
    found = []
    for parameter in module.parameters():
        gradient = torch.zeros_like(parameter)
        flat, values = gradient.view(-1), parameter.data.view(-1)
        for j in range(len(values)):
            kept = values[j].item()
            values[j] = kept + size
            above = loss().item()
            values[j] = kept - size
            flat[j] = (above - loss().item()) / (2.0 * size)
            values[j] = kept
        found.append(gradient)
    return found
