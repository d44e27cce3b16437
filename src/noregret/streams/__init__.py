"""Sources of rounds: files, data sets, synthetic streams and data in memory, as batches in order."""

from noregret.data.batch import Batch
from noregret.streams.composed import Cursor
from noregret.streams.read_options import ReadOptions
from noregret.streams.source import Source
from noregret.streams.sources import blocks, open_source

__all__ = ["Batch", "Cursor", "ReadOptions", "Source", "blocks", "open_source"]
