"""Streams: where rounds come from. Every source gives batches of rounds in order."""

from noregret.data.batch import Batch
from noregret.streams.composed import ReadPosition
from noregret.streams.read_options import Reading
from noregret.streams.source import Source
from noregret.streams.sources import blocks, open_source

__all__ = ["Batch", "ReadPosition", "Reading", "Source", "blocks", "open_source"]
