"""UTF-8 validation: plain Python that is also compiled."""

from typing import Any

from noregret.streams.number_text import Buffer, byte_at


def continues(byte: int) -> Any:
    """Return whether a byte is a continuation byte of UTF-8."""
    return 0x80 <= byte <= 0xBF


def check_utf8(buffer: Buffer, i: int, last: int) -> Any:
    """Return `last`, or the first position before it where the bytes are not UTF-8 (RFC 3629)."""
    while i < last:
        lead = byte_at(buffer, i)
        if lead < 0x80:
            i += 1
            continue
        follow = byte_at(buffer, i + 1)  # the byte behind the text is never a continuation byte
        low, high = 0x80, 0xBF
        if lead == 0xE0:
            low = 0xA0
        elif lead == 0xED:
            high = 0x9F
        elif lead == 0xF0:
            low = 0x90
        elif lead == 0xF4:
            high = 0x8F
        if lead < 0xC2 or lead > 0xF4 or follow < low or follow > high:
            return i
        size = 2
        if lead >= 0xE0:
            if not continues(byte_at(buffer, i + 2)):
                return i
            size = 3
        if lead >= 0xF0:
            if not continues(byte_at(buffer, i + 3)):
                return i
            size = 4
        i += size
    return last
