"""Words in a model file: a list as JSON in an array of bytes, and arrays of their numbers, all checked."""

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.learner.header_fields import corrupt
from noregret.learner.model_file import Arrays


def dump_words(words: Iterable[str]) -> NDArray[np.uint8]:
    """Words as bytes."""
    return np.frombuffer(json.dumps(list(words)).encode(), np.uint8)


def read_words(arrays: Arrays, name: str) -> list[str]:
    """Different words, none of them empty."""
    found = arrays.get(name)
    if found is None or found.dtype != np.uint8 or found.ndim != 1:
        raise corrupt(f"{name} must be words")
    try:
        words: Any = json.loads(found.tobytes())
    except (ValueError, UnicodeDecodeError, RecursionError):
        raise corrupt(f"{name} must be words") from None
    if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
        raise corrupt(f"{name} must be a list of words")
    if len(set(words)) != len(words):
        raise corrupt(f"{name} must be different words")
    return words


def read_numbers(arrays: Arrays, name: str, shape: tuple[int, ...], below: int, least: int = 0) -> NDArray[np.int64]:
    """Whole numbers from `least` to below `below`."""
    found = arrays.get(name)
    if found is None or found.dtype != np.int64 or found.shape != shape:
        raise corrupt(f"{name} must be whole numbers, in an array of shape {shape}")
    if found.size and (found.min() < least or found.max() >= below):
        raise corrupt(f"{name} must be from {least} to {below - 1}")
    return found


def read_amounts(arrays: Arrays, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Finite numbers that are not negative."""
    found = arrays.get(name)
    if found is None or found.dtype != np.float64 or found.shape != shape:
        raise corrupt(f"{name} must be numbers, in an array of shape {shape}")
    if not np.isfinite(found).all() or (found < 0.0).any():
        raise corrupt(f"{name} must be finite and not negative")
    return found


def count_rows(arrays: Arrays, name: str) -> int:
    """How many rows an array has."""
    found = arrays.get(name)
    if found is None or not found.ndim:
        raise corrupt(f"{name} is missing")
    return int(found.shape[0])
