"""Streams: where rounds come from. Every source becomes blocks of (X, y) in order."""

from noregret.streams.sources import blocks

__all__ = ["blocks"]
