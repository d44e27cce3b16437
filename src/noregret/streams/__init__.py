"""Streams: where rounds come from. Every source gives batches of rounds in order."""

from noregret.streams.source import Batch, Reading, Source
from noregret.streams.sources import blocks, open_source

__all__ = ["Batch", "Reading", "Source", "blocks", "open_source"]
