"""Images as MNIST keeps them: a file of pixels, and beside it a file of labels, both in the idx format.

The labels of train-images-idx3-ubyte stand in train-labels-idx1-ubyte. Pixels are scaled to at most 1.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from noregret.data.batch import Batch, Position
from noregret.data.blocks import DenseBlock, Rows, to_sparse
from noregret.errors import BadValue
from noregret.streams.files import TextFile, Unreadable
from noregret.streams.read_options import Reading
from noregret.streams.source import Source, number_in

ROWS = 4096
BYTES = 8  # the code of unsigned bytes, the only ones images come in


class Idx(Source):
    """Rows of pixels with the labels that stand beside."""

    kind = "idx"

    def __init__(self, path: str, reading: Reading) -> None:
        super().__init__()
        self.path, self.name, self.reading = path, path, reading

    def __iter__(self) -> Iterator[Batch]:
        self.claim()
        first = number_in(self.start, "row")
        with TextFile(self.path) as images:
            count, *shape = head(images)
            if not shape:
                raise BadValue(f"{self.name}: holds labels, not images; give the file of the images")
            width = int(np.prod(shape))
            self.rows, labels = count, self.labels(count)
            images.leave_out(first * width, first * width)
            for start in range(first, count, ROWS):
                stop = min(start + ROWS, count)
                pixels = np.frombuffer(exactly(images, (stop - start) * width), np.uint8).reshape(-1, width)
                X = Rows(to_sparse(DenseBlock(pixels / 255.0)))
                position: Position = {"row": stop}
                y = None if labels is None else labels[start:stop]
                yield Batch(X, y, np.arange(start, stop), stop / count, position=position)
        self.must_hold(count)

    def labels(self, count: int) -> np.ndarray | None:
        """The labels beside the images; None where rows without any are welcome."""
        path = Path(self.path)
        beside = path.with_name(path.name.replace("images", "labels").replace("idx3", "idx1"))
        if beside == path or not beside.is_file():
            if not self.reading.labelled:
                return None
            wanted = "its labels" if beside == path else str(beside)
            raise BadValue(f"{self.name}: there is no file {wanted} beside it; name the two ...images-idx3... and "
                           "...labels-idx1...")  # fmt: skip
        with TextFile(str(beside)) as file:
            size, *more = head(file)
            if more or size != count:
                raise BadValue(f"{beside}: holds {size:,} labels in {1 + len(more)} dimensions for {count:,} images")
            return np.frombuffer(exactly(file, size), np.uint8).astype(np.int64)


def head(file: TextFile) -> list[int]:
    """The sizes that an idx file says it has."""
    magic = exactly(file, 4)
    zero, kind, dimensions = magic[:2], magic[2], magic[3]
    if zero != b"\0\0" or kind != BYTES or not 1 <= dimensions <= 4:
        raise BadValue(f"{file.name}: this is not an idx file of bytes")
    sizes = np.frombuffer(exactly(file, 4 * dimensions), ">u4").astype(np.int64).tolist()
    if int(np.prod(sizes[1:], dtype=float)) > 1 << 26:
        raise BadValue(f"{file.name}: says that an image has {sizes[1:]} pixels; the file may be damaged")
    return [int(size) for size in sizes]


def exactly(file: TextFile, size: int) -> bytes:
    """So many bytes."""
    room = bytearray(size)
    view, got = memoryview(room), 0
    while got < size:
        more = file.readinto(view[got:])
        if not more:
            raise Unreadable(file.name, "ends too early; the file may be damaged or cut off; get it again")
        got += more
    return bytes(room)
