"""Images in the idx format of MNIST: a file of pixels, and a file of labels next to it.

The labels of train-images-idx3-ubyte are in train-labels-idx1-ubyte. Pixels are scaled to [0, 1].
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from noregret.data.batch import Batch, Position
from noregret.data.blocks import DenseBlock, Rows, to_sparse
from noregret.errors import BadValue
from noregret.streams.files import TextFile, Unreadable
from noregret.streams.read_options import ReadOptions
from noregret.streams.source import Source, read_position

ROWS = 4096
LARGEST = 1 << 26  # pixels of an image, and of the images of a batch
PART = 1 << 20  # bytes read at a time
BYTES = 8  # the type code of unsigned bytes, the only type of images


class Idx(Source):
    """Rows of pixels, with labels from the file next to it."""

    kind = "idx"

    def __init__(self, path: str, options: ReadOptions) -> None:
        super().__init__()
        self.path, self.name, self.options = path, path, options

    def __iter__(self) -> Iterator[Batch]:
        self.begin()
        first = read_position(self.start, "row")
        with TextFile(self.path) as images:
            count, *shape = read_header(images)
            if not shape:
                raise BadValue(f"{self.name}: holds labels, not images; give the file of the images")
            width = int(np.prod(shape))
            self.rows, labels = count, self.read_labels(count)
            images.skip_bytes(first * width, first * width)
            rows = max(1, min(ROWS, LARGEST // width))
            for start in range(first, count, rows):
                stop = min(start + rows, count)
                pixels = np.frombuffer(read_exactly(images, (stop - start) * width), np.uint8).reshape(-1, width)
                X = Rows(to_sparse(DenseBlock(pixels / 255.0)))
                position: Position = {"row": stop}
                y = None if labels is None else labels[start:stop]
                yield Batch(X, y, np.arange(start, stop), stop / count, position=position)
        self.check_not_empty(count)

    def read_labels(self, count: int) -> NDArray[np.int64] | None:
        """Read the labels from the file next to the images; None if there is none and labels may be missing."""
        path = Path(self.path)
        beside = path.with_name(path.name.replace("images", "labels").replace("idx3", "idx1"))
        if beside == path or not beside.is_file():
            if not self.options.labelled:
                return None
            wanted = "its labels" if beside == path else str(beside)
            raise BadValue(f"{self.name}: there is no file {wanted} beside it; name the two ...images-idx3... and "
                           "...labels-idx1...")  # fmt: skip
        with TextFile(str(beside)) as file:
            size, *more = read_header(file)
            if more or size != count:
                raise BadValue(f"{beside}: holds {size:,} labels in {1 + len(more)} dimensions for {count:,} images")
            return np.frombuffer(read_exactly(file, size), np.uint8).astype(np.int64)


def read_header(file: TextFile) -> list[int]:
    """Read the sizes of the array in an idx file."""
    magic = read_exactly(file, 4)
    zero, kind, dimensions = magic[:2], magic[2], magic[3]
    if zero != b"\0\0" or kind != BYTES or not 1 <= dimensions <= 4:
        raise BadValue(f"{file.name}: this is not an idx file of bytes")
    sizes = np.frombuffer(read_exactly(file, 4 * dimensions), ">u4").astype(np.int64).tolist()
    if not 1 <= np.prod(sizes[1:], dtype=float) <= LARGEST:
        raise BadValue(f"{file.name}: says that an image has {sizes[1:]} pixels; the file may be damaged")
    return [int(size) for size in sizes]


def read_exactly(file: TextFile, size: int) -> bytes:
    """Read so many bytes; fewer are an error, which takes no more memory than there are."""
    parts, left = [], size
    buffer = bytearray(min(size, PART))
    while left:
        more = file.readinto(memoryview(buffer)[:left])
        if not more:
            raise Unreadable(file.name, "ends too early; the file may be damaged or cut off; get it again")
        parts.append(bytes(memoryview(buffer)[:more]))
        left -= more
    return b"".join(parts)
