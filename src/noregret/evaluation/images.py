"""Pictures as arrays: PGM and PPM files without any library, other formats by pillow (an extra)."""

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue, Error, import_extra, shown

PLAIN = (".pgm", ".ppm", ".pnm")
KINDS = {b"P2": (1, False), b"P3": (3, False), b"P5": (1, True), b"P6": (3, True)}  # channels, whether binary
MOST_PIXELS = 1 << 26
REASONS = {
    "UnidentifiedImageError": "it is no picture of a known format",
    "DecompressionBombError": f"it has more than {MOST_PIXELS:,} pixels",
}
"""Errors of pillow in other words."""
Picture = NDArray[np.float64]


def read_image(path: str) -> Picture:
    """A picture with values from 0 to 255, of shape (height, width) where it is grey, else (height, width, 3)."""
    try:
        if Path(path).suffix.lower() in PLAIN:
            return parse_plain(Path(path).read_bytes(), path)
        pillow = import_extra("PIL.Image", "plots", f"{Path(path).suffix or 'this'} pictures")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pillow.DecompressionBombWarning)  # refused below if it is too large
            with pillow.open(path) as picture:
                return convert(picture, path)
    except Exception as error:  # pillow has many for damaged pictures
        if isinstance(error, Error):
            raise
        reason = getattr(error, "strerror", None) or REASONS.get(type(error).__name__, error)
        raise BadValue(f"{path}: the picture cannot be read: {reason}") from None


def convert(picture: Any, path: str) -> Picture:
    """A picture of pillow as an array; what is transparent lies on white, 16 bits become numbers from 0 to 255."""
    if picture.width * picture.height > MOST_PIXELS:
        raise BadValue(f"{path}: the picture cannot be read: it has more than {MOST_PIXELS:,} pixels")
    if picture.mode[:1] in ("I", "F"):
        values = np.array(picture, np.float64)
        if not np.isfinite(values).all():
            raise BadValue(f"{path}: the picture cannot be read: not every value is a finite number")
        deep = picture.mode.startswith("I;16") or (picture.mode == "I" and values.max() > 255.0)
        return values / 257.0 if deep else values
    if picture.has_transparency_data:
        ground = picture.convert("RGBA")
        white = import_extra("PIL.Image", "plots", "pictures").new("RGBA", ground.size, "white")
        white.alpha_composite(ground)
        return np.array(white.convert("L" if picture.mode == "LA" else "RGB"), np.float64)
    return np.array(picture.convert("L" if picture.mode in ("1", "L") else "RGB"), np.float64)


def parse_plain(content: bytes, path: str) -> Picture:
    """The picture in the content of a PGM or PPM file."""
    words, place = list[bytes](), 0
    while len(words) < 4 and place < len(content):
        end = place
        if content[place : place + 1] == b"#":
            place = (content.find(b"\n", place) + 1) or len(content)
            continue
        while end < len(content) and not content[end : end + 1].isspace():
            end += 1
        words += [content[place:end]] if end > place else []
        place = end + 1
    if len(words) < 4 or words[0] not in KINDS or not all(word.isdigit() and len(word) < 9 for word in words[1:]):
        raise BadValue(f"{path}: not a PGM or PPM picture")
    (channels, binary), (width, height, most) = KINDS[words[0]], map(int, words[1:])
    if not 0 < width * height <= MOST_PIXELS or not 0 < most < 65536:
        raise BadValue(f"{path}: a picture of {width} x {height} pixels with values up to {most} cannot be read")
    count = width * height * channels
    if binary:
        kind = np.dtype(np.uint8 if most < 256 else ">u2")
        values = np.frombuffer(content[place:][: count * kind.itemsize], kind).astype(np.float64)
    else:
        values = np.array([read_value(word, path) for word in content[place:].split()[:count]])
    if (values > most).any():
        raise BadValue(
            f"{path}: a value of the picture is {values.max():g}, and the file says that {most} is the largest"
        )
    if values.size != count:
        raise BadValue(f"{path}: the picture is cut off")
    shape = (height, width) if channels == 1 else (height, width, 3)
    return np.asarray(values.reshape(shape) * (255.0 / most))


def read_value(word: bytes, path: str) -> float:
    """A value of a picture written as text."""
    if not word.isdigit() or len(word) > 8:
        raise BadValue(f"{path}: a value of the picture is {shown(word.decode('latin-1'))}, and not a whole number")
    return float(word)


def check_suffix(path: str) -> None:
    """Refuse, before any work is done, a file whose extension is no format of pictures that can be written."""
    suffix = Path(path).suffix.lower()
    if suffix in PLAIN:
        return
    pillow: Any = import_extra("PIL.Image", "plots", f"{suffix or 'this'} pictures")
    if pillow.registered_extensions().get(suffix) not in pillow.SAVE:
        what = f"{suffix} is" if suffix else "a name without an extension is"
        raise BadValue(
            f"{path}: the picture cannot be written: {what} not a format of pictures; use .png, .jpg or .pgm"
        )


def write_image(path: str, picture: Picture) -> None:
    """Write a picture in the format that its extension names; whatever was there stays until the file is complete."""
    pixels = np.clip(np.rint(picture), 0, 255).astype(np.uint8)
    suffix, target = Path(path).suffix.lower(), Path(path)
    beside = target.with_name(f".{target.stem}.{os.getpid()}{suffix}")
    check_suffix(path)
    try:
        if suffix in PLAIN:
            kind = b"P5" if pixels.ndim == 2 else b"P6"
            head = b"%s\n%d %d\n255\n" % (kind, pixels.shape[1], pixels.shape[0])
            beside.write_bytes(head + pixels.tobytes())
        else:
            pillow: Any = import_extra("PIL.Image", "plots", f"{suffix or 'this'} pictures")
            pillow.fromarray(pixels).save(beside)
        os.replace(beside, target)
    except (OSError, ValueError, KeyError) as error:
        beside.unlink(missing_ok=True)
        reason = getattr(error, "strerror", None) or error
        raise BadValue(f"{path}: the picture cannot be written: {reason}") from None
